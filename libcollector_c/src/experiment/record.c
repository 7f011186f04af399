/* record.c -- a record on its way into a frame: alone, or with others of a batch */
#include "experiment/record.h"

#include <errno.h>

#include "base/os.h"
#include "base/sparse.h"
#include "experiment/log_writer.h"

#define SMALL_BYTES 1024u /* on the stack of a handler */
#define BATCH_BYTES (64u << 10)

static struct {
    uint32_t batch_thread; /* who gathers; 0: nobody. The rest is that thread's */
    bool is_batch_busy;    /* a record is being added: a handler that comes between goes its own way */
    size_t batch_bytes;
} self;

static uint8_t batch[BATCH_BYTES] COL_SPARSE;

static void put_head(struct col_msgpack *out, struct col_event_head head, enum col_kind kind, uint32_t field_count)
{
    col_msgpack_array(out, 3 + field_count);
    col_msgpack_uint(out, kind);
    col_msgpack_uint(out, head.time_ns);
    col_msgpack_uint(out, head.thread);
}

static void put_numbers(struct col_msgpack *out, const uint64_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        col_msgpack_uint(out, numbers[i]);
}

size_t col_record_encode(const struct col_record *record, void *start, size_t capacity)
{
    struct col_msgpack out = col_msgpack_over(start, capacity);
    put_head(&out, record->head, record->kind, record->field_count);
    if (record->put != NULL)
        record->put(&out, record->fields);
    else
        put_numbers(&out, record->fields, record->field_count);
    return out.bytes;
}

int col_record_write_in_place(const struct col_record *record, size_t bytes)
{
    struct col_log_frame frame;
    int error =
        col_log_writer_begin(&frame, bytes, record->kind == COL_KIND_PCSAMPLE ? COL_LOG_SAMPLES : COL_LOG_RECORDS);
    if (error != 0)
        return error;
    if (col_record_encode(record, frame.payload, bytes) != bytes) {
        col_log_writer_abandon(&frame);
        return -EAGAIN;
    }
    col_log_writer_finish(&frame);
    return 0;
}

static int append_alone(const struct col_record *record)
{
    uint8_t small[SMALL_BYTES];
    size_t bytes = col_record_encode(record, small, sizeof small);
    return bytes <= sizeof small ? col_log_writer_append(small, bytes) : col_record_write_in_place(record, bytes);
}

static bool is_my_batch(void)
{
    uint32_t thread = __atomic_load_n(&self.batch_thread, __ATOMIC_RELAXED);
    return thread != 0 && thread == col_os_thread_id() && !self.is_batch_busy;
}

static int flush_batch(void)
{
    size_t bytes = self.batch_bytes;
    self.batch_bytes = 0;
    return bytes != 0 ? col_log_writer_append(batch, bytes) : 0;
}

static int add_to_batch(const struct col_record *record)
{
    int error = 0;
    size_t bytes = col_record_encode(record, batch + self.batch_bytes, BATCH_BYTES - self.batch_bytes);
    if (bytes > BATCH_BYTES - self.batch_bytes) {
        error = flush_batch();
        bytes = col_record_encode(record, batch, BATCH_BYTES);
    }
    if (error != 0)
        return error;
    if (bytes > BATCH_BYTES)
        return append_alone(record);
    self.batch_bytes += bytes;
    return 0;
}

int col_record_write(const struct col_record *record)
{
    if (!is_my_batch())
        return append_alone(record);
    self.is_batch_busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    int error = add_to_batch(record);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self.is_batch_busy = false;
    return error;
}

void col_record_batch_begin(void)
{
    uint32_t nobody = 0, busy = UINT32_MAX;
    if (!__atomic_compare_exchange_n(&self.batch_thread, &nobody, busy, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    self.batch_bytes = 0;
    self.is_batch_busy = false;
    __atomic_store_n(&self.batch_thread, col_os_thread_id(), __ATOMIC_RELEASE);
}

int col_record_batch_finish(void)
{
    if (!is_my_batch())
        return 0;
    self.is_batch_busy = true;
    int error = flush_batch();
    __atomic_store_n(&self.batch_thread, 0, __ATOMIC_RELEASE);
    return error;
}

/* record.c -- a record on its way into a frame: alone, or with others of a batch */
#include "experiment/record.h"

#include <errno.h>

#include "base/os.h"
#include "experiment/log_writer.h"

#define SMALL_BYTES 1024u /* on the stack of a handler */
#define BATCH_BYTES (64u << 10)

static struct {
    uint32_t batch_thread; /* who gathers; 0: nobody. The rest is that thread's */
    bool is_batch_busy;    /* a record is being added: a handler that comes between goes its own way */
    uint8_t *batch;
    size_t batch_bytes;
} self;

static void put_head(struct col_msgpack *out, struct col_event_head head, enum col_kind kind, uint32_t field_count)
{
    col_msgpack_array(out, 3 + field_count);
    col_msgpack_uint(out, kind);
    col_msgpack_uint(out, head.time_ns);
    col_msgpack_uint(out, head.thread);
}

size_t col_record_encode(const struct col_record *record, void *start, size_t capacity)
{
    struct col_msgpack out = col_msgpack_over(start, capacity);
    put_head(&out, record->head, record->kind, record->field_count);
    record->put(&out, record->fields);
    return out.bytes;
}

int col_record_write_in_place(const struct col_record *record, size_t bytes)
{
    struct col_log_frame frame;
    int error = col_log_writer_begin(&frame, bytes);
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
    return bytes != 0 ? col_log_writer_append(self.batch, bytes) : 0;
}

static int add_to_batch(const struct col_record *record)
{
    int error = 0;
    size_t bytes = col_record_encode(record, self.batch + self.batch_bytes, BATCH_BYTES - self.batch_bytes);
    if (bytes > BATCH_BYTES - self.batch_bytes) {
        error = flush_batch();
        bytes = col_record_encode(record, self.batch, BATCH_BYTES);
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
    uint8_t *memory = col_os_map_memory(BATCH_BYTES);
    uint32_t nobody = 0, busy = UINT32_MAX;
    if (memory == NULL)
        return;
    if (!__atomic_compare_exchange_n(&self.batch_thread, &nobody, busy, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        col_os_unmap(memory, BATCH_BYTES);
        return;
    }
    self.batch = memory;
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
    uint8_t *memory = self.batch;
    __atomic_store_n(&self.batch_thread, 0, __ATOMIC_RELEASE);
    col_os_unmap(memory, BATCH_BYTES);
    return error;
}

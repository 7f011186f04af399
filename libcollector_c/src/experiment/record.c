/* record.c -- a record on its way into a frame: alone, or with others of a batch */
#include "experiment/record.h"

#include <errno.h>
#include <string.h>

#include "base/os.h"
#include "base/sparse.h"
#include "experiment/event_fields.h"
#include "experiment/log_writer.h"

#define SMALL_BYTES 128u /* on the stack of a handler */
#define BATCH_BYTES (64u << 10)
#define TEXTS_BYTES (COL_FRAME_MAX_BYTES / 4) /* most that one array of texts may take */

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

static uint64_t number_at(const void *member)
{
    uint64_t number;
    memcpy(&number, member, sizeof number);
    return number;
}

static const void *pointer_at(const void *member)
{
    const void *pointer;
    memcpy(&pointer, member, sizeof pointer);
    return pointer;
}

/* What stands behind the pointer of TEXTS and DATA. */
static size_t count_at(const char *member)
{
    size_t count;
    memcpy(&count, member + sizeof(void *), sizeof count);
    return count;
}

static bool is_nil(const struct col_event_field *field, const char *fields)
{
    if (field->type == COL_FIELD_UINT)
        return number_at(fields + field->offset) == UINT64_MAX;
    if (field->type <= COL_FIELD_FLAGGED_INT)
        return !*(const bool *)(fields + field->flag);
    return field->type == COL_FIELD_NIL || pointer_at(fields + field->offset) == NULL;
}

/* What is longer than a frame is as long as one, and so finds no room. */
static void put_data(struct col_msgpack *out, const char *member)
{
    size_t count = count_at(member);
    col_msgpack_binary(out, pointer_at(member), count < COL_FRAME_MAX_BYTES ? (uint32_t)count : COL_FRAME_MAX_BYTES);
}

static void put_number(struct col_msgpack *out, const struct col_event_field *field, const char *fields)
{
    uint64_t number = number_at(fields + field->offset);
    bool is_flagged = field->type != COL_FIELD_UINT;
    if (is_flagged ? !*(const bool *)(fields + field->flag) : number == UINT64_MAX)
        col_msgpack_nil(out);
    else if (field->type == COL_FIELD_FLAGGED_INT)
        col_msgpack_int(out, (int64_t)number);
    else
        col_msgpack_uint(out, number);
}

/* By comparisons, most frequent first: a jump through a table costs more than the rest of a field. */
static void put_field(struct col_msgpack *out, const struct col_event_field *field, const char *fields)
{
    const char *member = fields + field->offset;
    if (field->type <= COL_FIELD_FLAGGED_INT)
        put_number(out, field, fields);
    else if (field->type == COL_FIELD_NIL || pointer_at(member) == NULL)
        col_msgpack_nil(out);
    else if (field->type == COL_FIELD_TEXT)
        col_msgpack_text(out, pointer_at(member));
    else if (field->type == COL_FIELD_DATA)
        put_data(out, member);
    else
        col_msgpack_texts(out, pointer_at(member), count_at(member), TEXTS_BYTES);
}

/* Fields at the end that are nil are left out. */
static uint32_t count_fields(const struct col_record *record)
{
    if (record->put != NULL)
        return record->field_count;
    uint32_t count = col_event_field_counts[record->kind];
    while (count > 0 && is_nil(&col_event_fields[record->kind][count - 1], record->fields))
        count--;
    return count;
}

size_t col_record_encode(const struct col_record *record, void *start, size_t capacity)
{
    struct col_msgpack out = col_msgpack_over(start, capacity);
    uint32_t count = count_fields(record);
    put_head(&out, record->head, record->kind, count);
    if (record->put != NULL)
        record->put(&out, record->fields);
    else
        for (uint32_t i = 0; i < count; i++)
            put_field(&out, &col_event_fields[record->kind][i], record->fields);
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

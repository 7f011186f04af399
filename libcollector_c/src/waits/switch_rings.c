/* switch_rings.c -- rings of context switches, one for each processor, read in the order of time */
#include "waits/switch_rings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"

#define MOST_DATA_BYTES (256u << 10)
#define LEAST_DATA_BYTES (16u << 10)
#define S_NS 1000000000u

static int open_event(pid_t pid, int cpu, size_t data_bytes)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
                                   .disabled = 1,
                                   .inherit = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .mmap = 1,
                                   .comm = 1,
                                   .comm_exec = 1,
                                   .task = 1,
                                   .enable_on_exec = 1,
                                   .watermark = 1,
                                   .sample_id_all = 1,
                                   .use_clockid = 1,
                                   .context_switch = 1,
                                   .wakeup_watermark = (uint32_t)data_bytes / 2,
                                   .clockid = CLOCK_MONOTONIC};
    long fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

/* A processor that is not there gives ENODEV: it has no ring. */
static int open_ring(struct col_switch_ring *ring, pid_t pid, int cpu, size_t data_bytes)
{
    *ring = (struct col_switch_ring){.fd = open_event(pid, cpu, data_bytes)};
    if (ring->fd < 0)
        return ring->fd;
    void *start = mmap(NULL, col_os_page_bytes() + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (start == MAP_FAILED) {
        int error = -errno;
        close(ring->fd);
        return error;
    }
    ring->start = start;
    return 0;
}

static int open_all(struct col_switch_rings *rings, pid_t pid, int cpu_count)
{
    int error = 0;
    for (int cpu = 0; cpu < cpu_count && error == 0; cpu++) {
        error = open_ring(&rings->rings[rings->count], pid, cpu, rings->data_bytes);
        rings->count += error == 0;
        if (error == -ENODEV)
            error = 0;
    }
    return error == 0 && rings->count == 0 ? -ENODEV : error;
}

int col_switch_rings_open(struct col_switch_rings *rings, pid_t pid)
{
    int cpu_count = (int)sysconf(_SC_NPROCESSORS_CONF), error = -ENOMEM;
    for (size_t bytes = MOST_DATA_BYTES; bytes >= LEAST_DATA_BYTES; bytes /= 2) {
        *rings =
            (struct col_switch_rings){.rings = calloc((size_t)cpu_count, sizeof *rings->rings), .data_bytes = bytes};
        error = rings->rings != NULL ? open_all(rings, pid, cpu_count) : -ENOMEM;
        if (error == 0)
            return 0;
        col_switch_rings_close(rings);
        if (error != -EPERM && error != -ENOMEM) /* these two also mean: too much locked memory */
            break;
    }
    return error;
}

void col_switch_rings_close(struct col_switch_rings *rings)
{
    for (size_t i = 0; i < rings->count; i++) {
        munmap(rings->rings[i].start, col_os_page_bytes() + rings->data_bytes);
        close(rings->rings[i].fd);
    }
    free(rings->rings);
    *rings = (struct col_switch_rings){0};
}

static void copy_out(const struct col_switch_rings *rings, const struct col_switch_ring *ring, uint64_t at, void *to,
                     size_t bytes)
{
    const uint8_t *data = ring->start + col_os_page_bytes();
    size_t offset = (size_t)(at & (rings->data_bytes - 1)), first = rings->data_bytes - offset;
    if (first > bytes)
        first = bytes;
    memcpy(to, data + offset, first);
    memcpy((uint8_t *)to + first, data, bytes - first);
}

/* At the end of each record but LOST's own fields, since sample_id_all is on. */
struct sample_id {
    uint32_t pid, tid;
    uint64_t time_ns;
};

/* A record is copied, whatever its place, and never read where it lies: the kernel writes bytes of no type there. */
struct raw_record {
    struct perf_event_header header;
    union {
        struct {
            uint32_t pid, ppid, tid, ptid;
        } task; /* FORK and EXIT */
        struct {
            uint64_t id, count;
        } lost;
    } body; /* the first 16 bytes of it */
    struct sample_id id;
};

static void read_record(const struct col_switch_rings *rings, const struct col_switch_ring *ring,
                        struct raw_record *raw)
{
    size_t bytes = raw->header.size;
    memset(&raw->body, 0, sizeof raw->body);
    memset(&raw->id, 0, sizeof raw->id);
    if (bytes >= sizeof raw->header + sizeof raw->body)
        copy_out(rings, ring, ring->read + sizeof raw->header, &raw->body, sizeof raw->body);
    if (bytes >= sizeof raw->header + sizeof raw->id)
        copy_out(rings, ring, ring->read + bytes - sizeof raw->id, &raw->id, sizeof raw->id);
}

/* False: it is of no interest. */
static bool understand(const struct raw_record *raw, struct col_switch_record *record)
{
    const struct perf_event_header *header = &raw->header;
    *record = (struct col_switch_record){.time_ns = raw->id.time_ns, .pid = raw->id.pid, .tid = raw->id.tid};
    switch (header->type) {
    case PERF_RECORD_SWITCH:
        record->kind = !(header->misc & PERF_RECORD_MISC_SWITCH_OUT)        ? COL_SWITCH_RUNNING
                       : header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? COL_SWITCH_PREEMPTED
                                                                            : COL_SWITCH_BLOCKED;
        return true;
    case PERF_RECORD_COMM:
        record->kind = COL_SWITCH_EXEC;
        return header->misc & PERF_RECORD_MISC_COMM_EXEC;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        record->kind = header->type == PERF_RECORD_FORK ? COL_SWITCH_FORK : COL_SWITCH_EXIT;
        record->pid = raw->body.task.pid;
        record->tid = raw->body.task.tid;
        return true;
    case PERF_RECORD_MMAP:
        record->kind = COL_SWITCH_CODE_MAPPED;
        return true;
    case PERF_RECORD_LOST:
        record->kind = COL_SWITCH_LOST;
        record->lost_count = raw->body.lost.count;
        return true;
    default:
        return false;
    }
}

/* Tells the kernel how far its data were read, so that it may write there. */
static void give_back(const struct col_switch_ring *ring)
{
    __atomic_store_n(&((struct perf_event_mmap_page *)ring->start)->data_tail, ring->read, __ATOMIC_RELEASE);
}

static void advance(const struct col_switch_rings *rings, struct col_switch_ring *ring)
{
    struct raw_record raw;
    ring->has_next = false;
    while (!ring->has_next && ring->end - ring->read >= sizeof raw.header) {
        copy_out(rings, ring, ring->read, &raw.header, sizeof raw.header);
        if (raw.header.size < sizeof raw.header ||
            raw.header.size > ring->end - ring->read) { /* never, or all is lost */
            ring->next =
                (struct col_switch_record){.time_ns = col_clock_now(), .kind = COL_SWITCH_LOST, .lost_count = 1};
            ring->read = ring->end;
            ring->has_next = true;
        } else {
            read_record(rings, ring, &raw);
            ring->read += raw.header.size;
            ring->has_next = understand(&raw, &ring->next);
        }
    }
    if (!ring->has_next)
        give_back(ring);
}

void col_switch_rings_look(struct col_switch_rings *rings)
{
    for (size_t i = 0; i < rings->count; i++) {
        struct col_switch_ring *ring = &rings->rings[i];
        ring->end = __atomic_load_n(&((struct perf_event_mmap_page *)ring->start)->data_head, __ATOMIC_ACQUIRE);
        if (!ring->has_next)
            advance(rings, ring);
    }
}

bool col_switch_rings_next(struct col_switch_rings *rings, struct col_switch_record *record)
{
    struct col_switch_ring *first = NULL;
    for (size_t i = 0; i < rings->count; i++) {
        struct col_switch_ring *ring = &rings->rings[i];
        if (ring->has_next && (first == NULL || ring->next.time_ns < first->next.time_ns))
            first = ring;
    }
    if (first == NULL)
        return false;
    *record = first->next;
    advance(rings, first);
    return true;
}

bool col_switch_rings_wait(struct col_switch_rings *rings, int other, uint64_t until_ns)
{
    uint64_t now_ns = col_clock_now(), wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    struct timespec timeout = {(time_t)(wait_ns / S_NS), (long)(wait_ns % S_NS)};
    struct pollfd files[rings->count + 1];
    files[0] = (struct pollfd){.fd = other, .events = POLLIN};
    for (size_t i = 0; i < rings->count; i++)
        files[i + 1] = (struct pollfd){.fd = rings->rings[i].is_over ? -1 : rings->rings[i].fd, .events = POLLIN};
    int count = ppoll(files, rings->count + 1, &timeout, NULL);
    for (size_t i = 0; i < rings->count && count > 0; i++)
        rings->rings[i].is_over |= (files[i + 1].revents & POLLHUP) != 0;
    return count > 0 && files[0].revents != 0;
}

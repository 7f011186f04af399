/* liburing.c -- waits by liburing for a kernel thread that takes requests from the ring: how many completions came, and how many waits were interrupted */
#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <unistd.h>

static void compute(void)
{
    for (volatile int i = 0; i < 10000; i++)
        ;
}

int main(void)
{
    struct io_uring ring;
    struct io_uring_params params = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 50};
    int pipes[2], byte_count = 0, interrupted_count = 0;
    if (io_uring_queue_init_params(64, &ring, &params) != 0 || pipe(pipes) != 0)
        return 77;
    for (int round = 0; round < 3000; round++) {
        char byte;
        struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
        io_uring_prep_write(entry, pipes[1], "x", 1, 0);
        entry->flags |= IOSQE_IO_LINK;
        io_uring_prep_read(io_uring_get_sqe(&ring), pipes[0], &byte, 1, 0);
        io_uring_submit(&ring);
        for (int i = 0; i < 2; i++) {
            struct io_uring_cqe *answer;
            while (io_uring_wait_cqe(&ring, &answer) == -EINTR)
                interrupted_count++;
            byte_count += answer->res;
            io_uring_cqe_seen(&ring, answer);
        }
        compute();
    }
    printf("%d bytes, interrupted %d times\n", byte_count, interrupted_count);
    return 0;
}

/* collected.c -- five threads and a child make garbage that Boehm's collector takes away: it stops threads by signals and reads their stacks */
#define GC_THREADS
#include <gc.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

struct node {
    struct node *left, *right;
};

static struct node *grow(int depth)
{
    struct node *node = GC_MALLOC(sizeof *node);
    if (depth > 0) {
        node->left = grow(depth - 1);
        node->right = grow(depth - 1);
    }
    return node;
}

static long count(const struct node *node)
{
    return node ? 1 + count(node->left) + count(node->right) : 0;
}

static void *work(void *unused)
{
    long sum = 0;
    (void)unused;
    for (int i = 0; i < 30; i++)
        sum += count(grow(12));
    return (void *)(intptr_t)sum;
}

int main(void)
{
    pthread_t threads[4];
    int status;
    GC_INIT();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    long sum = (long)(intptr_t)work(NULL);
    for (int i = 0; i < 4; i++) {
        void *part;
        pthread_join(threads[i], &part);
        sum += (long)(intptr_t)part;
    }
    printf("%ld nodes, collected %d\n", sum, GC_get_gc_no() > 0);
    fflush(stdout);
    if (fork() == 0)
        _exit((long)(intptr_t)work(NULL) == 30 * 8191 ? 5 : 6);
    wait(&status);
    printf("child %d\n", WEXITSTATUS(status));
    return 0;
}

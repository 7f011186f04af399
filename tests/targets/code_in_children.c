/* code_in_children.c -- makes a function, tells of it, and forks: the child runs it, unloads it, and runs it once more; prints the CPU time of each in the child */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcollector.h"
#include "made_code.h"

int main(int argc, char **argv)
{
    int64_t ms = argc > 1 ? atoi(argv[1]) : 100;
    char *room = make_room(4096);
    int bytes = make_function(room, 1);
    collector_func_load("inherited", NULL, NULL, room, bytes, 0, NULL);
    if (fork() == 0) {
        printf("inherited %ld\n", (long)run_code(room, ms));
        collector_func_unload(room);
        printf("unnamed %ld\n", (long)run_code(room, ms));
        return 0;
    }
    wait(NULL);
    return 0;
}

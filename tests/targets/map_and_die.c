/* map_and_die.c -- makes two functions, lists them in /tmp/perf-PID.map, runs them one and two parts of the time, and kills itself; prints the CPU time of each */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "made_code.h"

int main(int argc, char **argv)
{
    int64_t ms = argc > 1 ? atoi(argv[1]) : 100;
    char *room = make_room(8192), path[64];
    int bytes = make_function(room, 1);
    make_function(room + 4096, 1);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    if (map == NULL)
        return 1;
    fprintf(map, "%lx %x first of the map\n%lx %x second of the map\n", (long)room, (unsigned)bytes, (long)room + 4096, (unsigned)bytes);
    fclose(map);
    printf("first %ld\n", (long)run_code(room, ms));
    printf("second %ld\n", (long)run_code(room + 4096, 2 * ms));
    fflush(stdout);
    kill(getpid(), SIGKILL);
    return 1;
}

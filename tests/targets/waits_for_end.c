/* waits_for_end.c -- truth: prints `ready`, reads until its input is closed, and exits with status 3; takes no time worth a sample */
#include <unistd.h>

int main(void)
{
    char bytes[64];
    if (write(STDOUT_FILENO, "ready\n", 6) != 6)
        return 1;
    while (read(STDIN_FILENO, bytes, sizeof bytes) > 0)
        ;
    return 3;
}

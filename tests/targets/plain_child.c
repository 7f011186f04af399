/* plain_child.c -- truth: says that it ran, and, unless it can be recorded, what it finds in LD_PRELOAD; its status is 5 */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
#ifdef IS_RECORDABLE
    const char *preload = NULL;
#else
    const char *preload = getenv("LD_PRELOAD");
#endif
    printf("child, preload %s\n", preload != NULL ? preload : "none");
    return 5;
}

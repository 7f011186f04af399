/* soaked_library.c -- the library that soak.c loads and unloads: a function that works */
#include "measured_work.h"

int soaked_work(int us);

int soaked_work(int us)
{
    work(us);
    return us;
}

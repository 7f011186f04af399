/*
 * tables_gone_library.c -- functions that touch nothing but their registers and the stack, for tables_gone.c
 */
#define SPIN(n)                                                               \
    __attribute__((noinline)) static void spin_##n(void (*back)(void))        \
    {                                                                         \
        for (unsigned long i = 0; i < 10000000 + n; i++)                      \
            __asm__ volatile("");                                             \
        if (back)                                                             \
            back();                                                           \
        __asm__ volatile("");                                                 \
    }
#define SPIN4(t) SPIN(t##1) SPIN(t##2) SPIN(t##3) SPIN(t##4)
#define CALL4(t, back) spin_##t##1(back), spin_##t##2(back), spin_##t##3(back), spin_##t##4(back)

SPIN4(1)
SPIN4(2)
SPIN4(3)
SPIN4(4)

void work_in_library(void (*back)(void));
void work_in_library(void (*back)(void))
{
    CALL4(1, 0);
    CALL4(2, back);
    CALL4(3, 0);
    CALL4(4, back);
}

/*
 * unwind_realigned.c -- a function that realigns its stack is entered and left a thousand times
 *
 * Truth: main > realigned at each of its instructions, the last ones included: there rbp, by which the table says where
 * all is saved, is main's again, and holds what is no address.
 */
__attribute__((noinline, noclone)) int realigned(int n, int p, int q, int r, int s, int t, int u, int v)
{
    _Alignas(64) volatile float wide[16];
    volatile char many[n];
    wide[n % 16] = 1;
    many[n - 1] = 1;
    return many[n - 1] + (int)wide[n % 16] + p + q + r + s + t + u + v;
}

int main(void)
{
    register long count __asm__("rbp") = 0;
    int sum = 0;
    for (; count < 1000; count++) {
        __asm__ volatile("" : "+r"(count));
        sum += realigned(10 + (int)count % 5, 1, 2, 3, 4, 5, 6, 7);
    }
    return sum == 0;
}

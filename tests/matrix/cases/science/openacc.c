/* openacc.c -- OpenACC where the host is the only device */
#include <math.h>
#include <openacc.h>
#include <stdio.h>

#pragma acc routine seq
static double wave(double at, int steps)
{
    for (int i = 0; i < steps; i++)
        at = sin(at) + .5;
    return at;
}

int main(void)
{
    double at[64], sum = 0;
#pragma acc data copy(at)
    {
#pragma acc parallel loop
        for (int i = 0; i < 64; i++)
            at[i] = wave(i, 50000);
#pragma acc kernels
        for (int i = 0; i < 64; i++)
            at[i] *= 2;
#pragma acc parallel loop reduction(+ : sum)
        for (int i = 0; i < 64; i++)
            sum += at[i];
    }
    printf("%.6f %d\n", sum, acc_get_device_type() == acc_device_host);
    return 0;
}

/* first.c -- a spin in .init, before anything of the program: with .text at 0x900000 no table says anything of its pc */
#include <stdio.h>

__asm__(".section .init\n"
        "    mov $60000000, %ecx\n"
        "1:  dec %ecx\n"
        "    jnz 1b\n"
        ".text\n");

int main(void)
{
    puts("after .init");
    return 0;
}

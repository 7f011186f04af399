/* made_code.h -- machine code that is made at run time: loops that take as long as they are asked to */
#ifndef MADE_CODE_H
#define MADE_CODE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MADE_LOOP_TURNS 100000u

#if defined(__x86_64__)
#define MADE_LOOP_BYTES 9
static unsigned char *put_loop(unsigned char *at, uint32_t turns)
{
    *at++ = 0xb9; /* mov $turns, %ecx */
    memcpy(at, &turns, 4);
    memcpy(at + 4, "\xff\xc9\x75\xfc", 4); /* 1: dec %ecx; jne 1b */
    return at + 8;
}
static unsigned char *put_return(unsigned char *at)
{
    *at = 0xc3;
    return at + 1;
}
#elif defined(__aarch64__)
#define MADE_LOOP_BYTES 16
static unsigned char *put_word(unsigned char *at, uint32_t word)
{
    memcpy(at, &word, 4);
    return at + 4;
}
static unsigned char *put_loop(unsigned char *at, uint32_t turns)
{
    at = put_word(at, 0x52800009u | (turns & 0xffff) << 5);  /* movz w9, #low */
    at = put_word(at, 0x72a00009u | (turns >> 16) << 5);     /* movk w9, #high, lsl 16 */
    at = put_word(at, 0x71000529u);                          /* 1: subs w9, w9, #1 */
    return put_word(at, 0x54ffffe1u);                        /* b.ne 1b */
}
static unsigned char *put_return(unsigned char *at)
{
    return put_word(at, 0xd65f03c0u);
}
#endif

/* `loops` loops and a return; answers the bytes they take. */
static __attribute__((unused)) int make_function(void *at, int loops)
{
    unsigned char *end = at;
    for (int i = 0; i < loops; i++)
        end = put_loop(end, MADE_LOOP_TURNS);
    end = put_return(end);
    __builtin___clear_cache((char *)at, (char *)end);
    return (int)(end - (unsigned char *)at);
}

static __attribute__((unused)) char *make_room(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Calls the code until that much CPU time has passed; answers how much it was. */
static __attribute__((noinline, unused)) int64_t run_code(const void *code, int64_t ms)
{
    int64_t begun = cpu_ns(), passed;
    void (*function)(void) = (void (*)(void))(uintptr_t)code;
    while ((passed = cpu_ns() - begun) < ms * 1000000)
        function();
    return passed;
}

#endif

/* code.c -- code that no file or table describes: made at run time, without unwind tables, on stacks of its own */
#include "matrix.h"
#include <setjmp.h>
#include <ucontext.h>

static int (*make(const unsigned char *bytes, size_t size))(int)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, bytes, size);
    return (int (*)(int))page;
}
static const unsigned char loop[] = {0x89, 0xf9, 0x31, 0xc0, 0xff, 0xc0, 0xff, 0xc9, 0x75, 0xfa, 0xc3}; /* counts to its argument */
CASE(made_code, 1, "runs a loop that it wrote at run time") { int (*run)(int) = make(loop, sizeof loop); say("%d", run(60000000)); burn(); }
CASE(made_and_freed, 1, "makes, runs and unmaps code 500 times") { int sum = 0; for (int i = 0; i < 500; i++) { int (*run)(int) = make(loop, sizeof loop); sum += run(100000); munmap((void *)run, 4096); } burn(); say("%d", sum); }
static const unsigned char odd[] = {0x55, 0x31, 0xed, 0x89, 0xf9, 0x31, 0xc0, 0xff, 0xc0, 0xff, 0xc9, 0x75, 0xfa, 0x5d, 0xc3}; /* with rbp = 0 */
CASE(wild_frame_pointer, 1, "made code that keeps 0 in the frame pointer") { int (*run)(int) = make(odd, sizeof odd); say("%d", run(60000000)); burn(); }
static const unsigned char noncanonical[] = {0x55, 0x48, 0xbd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x89, 0xf9, 0x31, 0xc0, 0xff, 0xc0, 0xff, 0xc9, 0x75, 0xfa, 0x5d, 0xc3};
CASE(noncanonical_frame_pointer, 1, "made code with an address in the frame pointer that cannot be") { int (*run)(int) = make(noncanonical, sizeof noncanonical); say("%d", run(60000000)); burn(); }
static void *saved_stack;
static char *edge;
CASE(stack_at_edge, 0, "spins with the stack pointer at the first byte of a mapping, nothing below and nothing above")
{
    edge = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(edge + 4096, 4096, PROT_READ | PROT_WRITE);
    char *other = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)other;
    spin(1000000);
    /* A red zone and a signal frame must fit: the top of one page with only a page below it would not do natively either. */
    char *top = mmap(NULL, 65536 + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(top, 65536, PROT_READ | PROT_WRITE);
    __asm__ volatile("mov %%rsp, %0\n mov %1, %%rsp\n mov $60000000, %%ecx\n 1: dec %%ecx\n jnz 1b\n mov %0, %%rsp\n"
                     : "+m"(saved_stack) : "r"(top + 65536) : "rcx", "memory", "cc");
    say("back");
}
static ucontext_t here, there;
static char room[4][65536];
static int switches;
static void coroutine(void) { for (;;) { spin(20000); switches++; swapcontext(&there, &here); } }
CASE(ucontexts, 1, "2,000 switches between ucontexts")
{
    getcontext(&there);
    there.uc_stack.ss_sp = room[0];
    there.uc_stack.ss_size = sizeof room[0];
    makecontext(&there, coroutine, 0);
    for (int i = 0; i < 2000; i++) swapcontext(&here, &there);
    burn();
    say("switches %d", switches);
}
static jmp_buf back;
CASE(longjmps, 1, "100,000 longjmps") { volatile int count = 0; setjmp(back); if (++count < 100000) longjmp(back, 1); burn(); say("%d", count); }
CASE(moves_stack, 0, "switches to a stack of its own by hand, and works there, fork included")
{
    static char own[1 << 18] __attribute__((aligned(16)));
    getcontext(&there);
    there.uc_stack.ss_sp = own;
    there.uc_stack.ss_size = sizeof own;
    there.uc_link = &here;
    void inside(void) { spin(20000000); pid_t pid = fork(); if (pid == 0) _exit(6); say_end(pid); }
    makecontext(&there, inside, 0);
    swapcontext(&here, &there);
    say("back");
}
__attribute__((noinline)) static int recurses(int depth) { volatile char pad[64]; pad[0] = (char)depth; if (depth == 0) { burn(); return 0; } return recurses(depth - 1) + pad[0] * 0 + 1; }
CASE(deep_recursion, 1, "works 50,000 calls deep") { say("%d", recurses(50000)); }
static int slow(void) { spin(1000); return 1; }
static int (*resolve(void))(void) { spin(20000000); return slow; }
int chosen(void) __attribute__((ifunc("resolve")));
CASE(ifunc, 1, "an IFUNC resolver that works before anything is relocated") { burn(); say("%d", chosen()); }

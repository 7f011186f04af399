/* modes.c -- modes and places of execution that compilers do not make
 */
#include "matrix.h"
#include <asm/ldt.h>
#include <asm/prctl.h>
#include <ucontext.h>

/* Runs `work` on a stack of its own, from which it may come back. */
static ucontext_t first, second;
static void run_elsewhere(void (*work)(void), int flags)
{
    enum { BYTES = 1 << 18 };
    char *stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    getcontext(&second);
    second.uc_stack.ss_sp = stack;
    second.uc_stack.ss_size = BYTES;
    second.uc_link = &first;
    makecontext(&second, work, 0);
    swapcontext(&first, &second);
}

static char *first_low;
static size_t first_bytes;
static void find_first_stack(void)
{
    char line[512];
    unsigned long low = 0, high = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "[stack]"))
            sscanf(line, "%lx-%lx", &low, &high);
    fclose(maps);
    first_low = (char *)low;
    first_bytes = high - low;
}

static void *burns_in_thread(void *unused)
{
    burn();
    return unused;
}
static void unmap_first_stack(void)
{
    char *words[] = {"true", NULL}, *variables[] = {"A=B", NULL};
    TELL(munmap(first_low, first_bytes));
    burn();
    burn_in_child(3);
    pid_t child = fork();
    if (child == 0) {
        execve("/bin/true", words, variables);
        _exit(4);
    }
    say_end(child);
    pthread_t thread;
    pthread_create(&thread, NULL, burns_in_thread, NULL);
    pthread_join(thread, NULL);
    _exit(5);
}
CASE(unmaps_first_stack, 3, "goes on on a stack of its own and unmaps the one it began on, with its arguments and its environment")
{
    find_first_stack();
    run_elsewhere(unmap_first_stack, 0);
}

static void protect_first_stack(void)
{
    TELL(mprotect(first_low, first_bytes, PROT_NONE));
    burn();
    burn_in_child(3);
    TELL(mprotect(first_low, first_bytes, PROT_READ | PROT_WRITE));
}
CASE(protects_first_stack, 2, "protects the stack it began on while it is on another, and goes back to it")
{
    find_first_stack();
    run_elsewhere(protect_first_stack, 0);
    say("back");
}

/* 32-bit code: a loop, then back by a far return to the 64-bit segment. */
static void *low_page(void)
{
    return mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
}
static void run_narrow(unsigned char *page, const unsigned char *body, size_t size)
{
    static struct { uint32_t offset; uint16_t segment; } __attribute__((packed)) target;
    memcpy(page, body, size);
    page[size] = 0xcb; /* lret, of 32-bit operands */
    target.offset = (uint32_t)(uintptr_t)page;
    target.segment = 0x23;
    void *stack = page + 32768;
    static const unsigned char enter[] = {0x49, 0x89, 0xe4, 0x48, 0x89, 0xfc, 0xff, 0x1e, 0x4c, 0x89, 0xe4, 0xc3}; /* rsp to r12, rdi to rsp, lcall *(%rsi), rsp back */
    memcpy(page + 4096, enter, sizeof enter);
    void *at = &target, *entry = page + 4096;
    __asm__ volatile("call *%%rax" : "+S"(at), "+D"(stack), "+a"(entry)::"rbx", "rcx", "rdx", "r12", "memory", "cc");
}

CASE(narrow_code, 1, "far calls into 32-bit code that computes, as emulators do")
{
    unsigned char *page = low_page();
    static const unsigned char body[] = {0xb9, 0x00, 0x5a, 0x62, 0x02, /* mov $40000000, %ecx */
                                         0x49, 0x75, 0xfd};            /* dec %ecx; jnz */
    for (int i = 0; i < 5; i++) run_narrow(page, body, sizeof body);
    burn();
    say("back");
}

CASE(narrow_code_selectors, 0, "32-bit code that computes with selectors of its own in ds, es, fs and gs")
{
    unsigned char *page = low_page();
    struct user_desc entry = {.entry_number = 1, .base_addr = (unsigned)(uintptr_t)page, .limit = 0xffff, .seg_32bit = 1, .limit_in_pages = 0, .useable = 1};
    if (syscall(SYS_modify_ldt, 1, &entry, sizeof entry) != 0) { say("this system has no LDT"); exit(77); }
    unsigned long fs, gs;
    syscall(SYS_arch_prctl, ARCH_GET_FS, &fs);
    static const unsigned char body[] = {0xb8, 0x0f, 0, 0, 0, 0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xe0, 0x8e, 0xe8, /* mov $15, %eax; ds es fs gs */
                                         0xb9, 0x00, 0x5a, 0x62, 0x02, 0x49, 0x75, 0xfd,
                                         0x8c, 0xe3, 0x8c, 0xda, /* mov %fs, %ebx; mov %ds, %edx */
                                         0xb8, 0x2b, 0, 0, 0, 0x8e, 0xd8, 0x8e, 0xc0};
    for (int i = 0; i < 5; i++) {
        run_narrow(page, body, sizeof body);
        long result;
        __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(fs) : "rcx", "r11", "memory");
    }
    say("back");
}

/* ---- the stack pointer as any other register ---- */

/* As oneDNN's products of matrices do: it points at the beginning of a buffer, and what lies below that is somebody else's. */
static void *borrows_pointer(void *unused)
{
    enum { BELOW = 32768, ABOVE = 4096, RED_ZONE = 128 };
    unsigned char *room = malloc(BELOW + ABOVE);
    unsigned long top = ((unsigned long)room + BELOW) & ~63UL;
    int changed = 0;
    memset(room, 0x5a, BELOW + ABOVE);
    for (int i = 0; i < 20; i++) {
#ifdef __x86_64__
        long count = 10000000;
        __asm__ volatile("mov %%rsp, %%r12\n\tmov %1, %%rsp\n1:\tdec %0\n\tjnz 1b\n\tmov %%r12, %%rsp" : "+r"(count) : "r"(top) : "r12", "cc", "memory");
#else
        (void)top;
        spin(10000000);
#endif
    }
    for (unsigned char *at = room; at < (unsigned char *)top - RED_ZONE; at++)
        changed += *at != 0x5a;
    say("%d bytes below were changed", changed);
    free(room);
    return unused;
}

CASE(stack_pointer_borrowed, 1, "the stack pointer points at a buffer of the heap while a loop runs, in the main thread and in two others")
{
    pthread_t threads[2];
    borrows_pointer(NULL);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, borrows_pointer, NULL);
        pthread_join(threads[i], NULL);
    }
    burn();
}

static void coroutine_of_2_kib(void)
{
    spin(100000000);
}

CASE(coroutine_small, 1, "a coroutine on 2 KiB in the middle of a buffer; the bytes below it stay")
{
    enum { BELOW = 32768, BYTES = 2048 };
    char *room = malloc(BELOW + BYTES);
    int changed = 0;
    memset(room, 0x5a, BELOW + BYTES);
    getcontext(&second);
    second.uc_stack.ss_sp = room + BELOW;
    second.uc_stack.ss_size = BYTES;
    second.uc_link = &first;
    makecontext(&second, coroutine_of_2_kib, 0);
    swapcontext(&first, &second);
    for (int i = 0; i < BELOW; i++)
        changed += room[i] != 0x5a;
    say("%d bytes below were changed", changed);
    burn();
}

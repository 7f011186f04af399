/* java_runtime.c -- the HotSpot in this process, if there is one */
#include "target/java_runtime.h"

#include <stddef.h>
#include <string.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/safe_read.h"
#include "base/sparse.h"
#include "experiment/event.h"

enum { MOST_ATTEMPTS = 3, VERSION_BYTES = 24 };

static struct {
    bool is_noted; /* atomic: there is one, at */
    uintptr_t bias, dynamic;
    bool is_looking, is_known; /* atomic: somebody reads its layout; what he found is complete */
    bool is_ready;             /* atomic: its frames can be read */
    unsigned attempts;
    struct col_java_runtime found;
    const char *obstacle; /* NULL: its methods are recorded */
    char version[VERSION_BYTES];
} self COL_SPARSE;

const struct col_java_runtime *col_java_runtime(void)
{
    return __atomic_load_n(&self.is_ready, __ATOMIC_ACQUIRE) ? &self.found : NULL;
}

/* Up to what its builder adds: "17.0.15". */
static void read_version(void)
{
    uintptr_t text = 0;
    if (!col_java_has(&self.found.layout, COL_JAVA_RELEASE) ||
        !col_safe_read_word(self.found.layout.fields[COL_JAVA_RELEASE].at, &text) ||
        !col_safe_read_bytes(text, self.version, sizeof self.version - 1))
        self.version[0] = '\0';
    self.version[strspn(self.version, "0123456789.")] = '\0';
}

static void tell(void)
{
    col_event_interpreter((struct col_event_head){col_clock_now(), 0},
                          &(struct col_event_interpreter){.name = "HotSpot",
                                                          .version = self.version,
                                                          .start = self.found.low,
                                                          .end = self.found.high,
                                                          .detail = self.obstacle});
}

/* What tells the layout is complete when the constructors of the library have run: a tick may come before. */
void col_java_runtime_look(void)
{
    if (!__atomic_load_n(&self.is_noted, __ATOMIC_ACQUIRE) || __atomic_load_n(&self.is_known, __ATOMIC_ACQUIRE) ||
        __atomic_exchange_n(&self.is_looking, true, __ATOMIC_ACQUIRE))
        return;
    bool is_readable =
        COL_ARCH_HAS_JAVA_FRAMES && col_java_layout_read(&self.found.layout, NULL, self.bias, self.dynamic);
    if (is_readable || ++self.attempts == MOST_ATTEMPTS) {
        self.obstacle = is_readable                ? NULL
                        : COL_ARCH_HAS_JAVA_FRAMES ? "this version does not tell where they are"
                                                   : "their frames are not known on this processor";
        read_version();
        __atomic_store_n(&self.is_known, true, __ATOMIC_RELEASE);
        __atomic_store_n(&self.is_ready, is_readable, __ATOMIC_RELEASE);
        tell();
    }
    __atomic_store_n(&self.is_looking, false, __ATOMIC_RELEASE);
}

void col_java_runtime_meet(const char *path, uintptr_t low, uintptr_t high, uintptr_t bias, uintptr_t dynamic)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(slash != NULL ? slash + 1 : path, "libjvm.so") != 0)
        return;
    if (__atomic_load_n(&self.is_known, __ATOMIC_ACQUIRE) && self.found.low == low) /* of another log */
        tell();
    if (self.found.low != 0 && self.found.low != low)
        return; /* of several the first */
    self.found.low = low;
    self.found.high = high;
    self.bias = bias;
    self.dynamic = dynamic;
    __atomic_store_n(&self.is_noted, true, __ATOMIC_RELEASE);
    col_java_runtime_look();
}

/* allinea_memory.c -- what metric plugins call instead of malloc(3) */
#include "entry/interpose.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "allinea_safe_malloc.h"
#include "base/signal_heap.h"

COL_EXPORT void *allinea_safe_malloc(size_t size)
{
    void *memory = col_signal_heap_allocate(size);
    if (memory == NULL)
        errno = ENOMEM;
    return memory;
}

COL_EXPORT void allinea_safe_free(void *ptr)
{
    col_signal_heap_free(ptr);
}

COL_EXPORT void *allinea_safe_calloc(size_t nmemb, size_t size)
{
    if (size != 0 && nmemb > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    void *memory = allinea_safe_malloc(nmemb * size);
    return memory != NULL ? memset(memory, 0, nmemb * size) : NULL;
}

COL_EXPORT void *allinea_safe_realloc(void *ptr, size_t size)
{
    if (ptr != NULL && size == 0) {
        col_signal_heap_free(ptr);
        return NULL;
    }
    size_t old_size = ptr != NULL ? col_signal_heap_size(ptr) : 0;
    if (ptr != NULL && size <= old_size && size > old_size / 4)
        return ptr;
    void *memory = allinea_safe_malloc(size);
    if (memory != NULL && ptr != NULL) {
        memcpy(memory, ptr, old_size < size ? old_size : size);
        col_signal_heap_free(ptr);
    }
    return memory;
}

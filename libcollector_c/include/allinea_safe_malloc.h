/* allinea_safe_malloc.h -- memory for metric plugins, also while a signal handler runs */
#ifndef ALLINEA_SAFE_MALLOC_H
#define ALLINEA_SAFE_MALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * CALLABLE FROM ANYWHERE, signal handlers included. As malloc(3) and its kin: memory is aligned for any type, NULL with errno ENOMEM when there is none.
 * What one of these gave only these may take back: it is unknown to free(3), and what malloc(3) gave is unknown here.
 */
void *allinea_safe_malloc(size_t size);
void allinea_safe_free(void *ptr);
void *allinea_safe_calloc(size_t nmemb, size_t size);
void *allinea_safe_realloc(void *ptr, size_t size);

#ifdef __cplusplus
}
#endif

#endif

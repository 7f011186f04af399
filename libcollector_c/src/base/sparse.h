/* sparse.h -- where large tables lie, so that small variables lie together */
#ifndef COL_BASE_SPARSE_H
#define COL_BASE_SPARSE_H

/*
 * For a large table of which most processes touch little or nothing. The linker sorts sections by name, so that such tables come behind all other variables: these
 * then share a few pages, where they would lie between the tables and take one each. Each page that a process touches costs it several microseconds at its start, and
 * each fork child again. Each table begins a page, so that one of which only the beginning is used has no second one.
 */
#define COL_SPARSE __attribute__((section(".bss.sparse"), aligned(4096)))

#endif

/* caller_scope.h -- the function that a caller would have reached without us */
#ifndef COL_ENTRY_CALLER_SCOPE_H
#define COL_ENTRY_CALLER_SCOPE_H

/* The object that code belongs to, as the dynamic linker lists it; NULL: none. */
const struct link_map *col_caller_scope_object(const void *code);

/*
 * For functions that are not the C library's: an object that was loaded for itself alone brings libraries along that only it sees. So the function is looked for where the
 * caller would have found it: in the program's libraries, else in those of the caller's own object. NULL: there is none but `ours`. Ordinary code.
 */
void *col_caller_scope_find(const char *name, const void *caller, const void *ours);

/* In that library, if it is loaded. */
void *col_caller_scope_find_in(const char *library, const char *name);

#endif

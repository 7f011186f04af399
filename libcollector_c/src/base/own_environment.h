/* own_environment.h -- reading many variables of the environment in a row */
#ifndef COL_BASE_OWN_ENVIRONMENT_H
#define COL_BASE_OWN_ENVIRONMENT_H

/* In between, memory that one getenv has proved readable is not asked for by the next: nothing of the program's runs, and one thread is all there is. */
void col_own_environment_begin(void);
void col_own_environment_end(void);

#endif

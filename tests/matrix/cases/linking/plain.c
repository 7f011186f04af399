/* plain.c -- a program with a thread and a child, to be built in every way there is */
#include "matrix.h"

static void *works(void *unused) { burn(); return unused; }
PART(all)
{
    pthread_t thread;
    burn();
    pthread_create(&thread, NULL, works, NULL);
    pthread_join(thread, NULL);
    burn_in_child(5);
}
PART(one) { burn(); say("one"); }

/* metric_parts.c -- the ground of metric plugins: text against printf's, memory against a ledger, the table against its lines. Ends with 0 if all agree */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/signal_heap.h"
#include "base/text_format.h"
#include "sample/metric_table.h"

#ifndef LARGEST
#define LARGEST 300000 /* a mapping of its own; a race detector takes memory that the kernel gives out again for the same memory */
#endif

static int failures;

#define SAME(...)                                                                              \
    do {                                                                                       \
        char theirs[400], ours[400];                                                           \
        snprintf(theirs, sizeof theirs, __VA_ARGS__);                                          \
        col_text_print_into(ours, sizeof ours, __VA_ARGS__);                                   \
        if (strcmp(theirs, ours) != 0) {                                                       \
            printf("%s: printf [%s], ours [%s]\n", #__VA_ARGS__, theirs, ours);                \
            failures++;                                                                        \
        }                                                                                      \
    } while (0)

static void check(int is_true, const char *what)
{
    if (!is_true) {
        printf("%s\n", what);
        failures++;
    }
}

static void test_text(void)
{
    SAME("plain, %%, %c, %s, [%8s], [%-8s], [%.3s]", 'x', "text", "right", "left", "cutoff");
    SAME("%d %i %5d|%-5d|%05d|%+d|% d|%.4d", 1, -2, 3, 4, -5, 6, 7, 8);
    SAME("%u %x %X %#x %o %#o", 4000000000u, 48879u, 48879u, 48879u, 8u, 8u);
    SAME("%hhd %hd %ld %lld %zu %jd %td", 300, 70000, -5L, (long long)INT64_MIN, (size_t)7, (intmax_t)-8, (ptrdiff_t)9);
    SAME("%lu %llx", 18446744073709551615UL, 0xfedcba9876543210ULL);
    SAME("%*d|%-*d|%.*s", 6, 42, 6, 42, 2, "abc");
    SAME("%f %.0f %.3f %9.2f|%-9.1f|%09.2f|%+.1f", 1.5, 3.7, 3.14159, -2.345, 7.0, -1.25, 2.0);
    SAME("%e %.2e %E %e", 12345.678, 9.999, 0.00012, 0.0);
    SAME("%g %g %g %g %g %g %g", 0.0001, 0.00001, 100000.0, 1000000.0, 0.1, 123456789.0, 100.0);
    SAME("%g %G %f %f", (double)INFINITY, -(double)INFINITY, (double)NAN, (double)INFINITY);
    SAME("%p", (void *)0x1234abcd);
    char text[64], *nobodys = (char *)1;
    col_text_print_into(text, sizeof text, "%d %m %s|%Lf %s", 1, "two", 3.0L, nobodys);
    check(strcmp(text, "1 %m two|%Lf %s") == 0, "nothing is taken behind an unknown conversion");
    col_text_print_into(text, sizeof text, "%2$s %1$d", 1, "two");
    check(strcmp(text, "%2$s %1$d") == 0, "places of arguments are unknown");
    char small[5];
    col_text_print_into(small, sizeof small, "%s", "longer than that");
    check(strcmp(small, "long") == 0, "text is cut to its room");
    col_text_print_into(small, 1, "x");
    check(small[0] == '\0', "a room of one is the zero");
}

/* Each piece is filled with a byte of its own; whoever else writes into it is found out. */
static void *use_heap(void *argument)
{
    enum { PIECES = 200 };
    static __thread unsigned char *pieces[PIECES];
    static __thread size_t sizes[PIECES];
    unsigned seed = *(unsigned *)argument;
    for (int turn = 0; turn < 20000; turn++) {
        int place = rand_r(&seed) % PIECES;
        for (size_t i = 0; pieces[place] != NULL && i < sizes[place]; i += 61)
            check(pieces[place][i] == (unsigned char)place, "memory of one was changed by another");
        col_signal_heap_free(pieces[place]);
        sizes[place] = (size_t)rand_r(&seed) % (rand_r(&seed) % 50 == 0 ? LARGEST : 2000);
        pieces[place] = col_signal_heap_allocate(sizes[place]);
        check(pieces[place] != NULL && (uintptr_t)pieces[place] % 16 == 0 && col_signal_heap_size(pieces[place]) >= sizes[place], "memory is aligned and large enough");
        memset(pieces[place], place, sizes[place]);
    }
    return argument;
}

static void test_heap(void)
{
    pthread_t threads[4];
    unsigned seeds[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, use_heap, &seeds[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    check(col_signal_heap_allocate(SIZE_MAX) == NULL, "no memory is no crash");
    col_signal_heap_free(NULL);
}

static void test_table(const char *path)
{
    check(col_metric_table_read("/nowhere", COL_METRICS_OF_PROCESS) != 0 && col_metric_table()->metric_count == 0, "no file is an empty table");
    check(col_metric_table_read(path, COL_METRICS_OF_PROCESS | COL_METRICS_OF_NODE) == 0, "the table is read");
    const struct col_metric_table *table = col_metric_table();
    check(table->plugin_count == 2 && table->metric_count == 2, "lines that are short, unknown, or of no plugin are passed over");
    if (failures != 0)
        return;
    const struct col_metric *first = &table->metrics[0], *second = &table->metrics[1];
    check(table->interval_ns == 5000000, "the interval");
    check(strcmp(first->id, "a.b") == 0 && strcmp(first->custom_data, "tab\t line\n back\\slash \\t") == 0, "words are unescaped");
    check(first->is_real && first->is_divided && !first->is_per_node && first->is_backfilled, "flags");
    check(first->attribute_count == 2 && strcmp(first->attributes[1], "title=x y") == 0, "attributes");
    check(!second->is_real && second->attribute_count == 0 && second->plugin == &table->plugins[1] && second->is_per_node, "the second one");
    check(first->is_wanted && first->plugin->is_wanted && second->is_wanted && second->plugin->is_wanted, "both scopes are wanted");
    second->plugin->is_loaded = first->plugin->is_loaded = true;
    col_metric_table_leave_node();
    check(first->is_wanted && first->plugin->is_loaded && !second->is_wanted && !second->plugin->is_loaded, "metrics of the node, and their plugins, are left");
    check(col_metric_table_metric(col_metric_table_metric_id(second)) == second, "handles lead back");
    check(col_metric_table_metric(0) == NULL && col_metric_table_plugin(UINTPTR_MAX) == NULL, "what is no handle leads nowhere");
    col_metric_table_fail_metric(12345, 1, NULL);
    col_metric_table_fail_plugin(0, 0, "nobody");
    col_metric_table_fail_metric(col_metric_table_metric_id(first), 2, "a reason");
    check(first->is_disabled && !second->is_disabled && !first->plugin->is_disabled, "a metric's error ends that metric");
}

int main(int argc, char **argv)
{
    test_text();
    test_heap();
    test_table(argc > 1 ? argv[1] : "");
    return failures != 0;
}

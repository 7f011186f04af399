/* python_locations.c -- shortens the tables that it reads, a line of hexadecimal bytes each */
#include "target/python_locations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    static char line[2 << 20];
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t bytes = strlen(line) / 2;
        uint8_t *table = malloc(bytes), *to = malloc(bytes + COL_PYTHON_LOCATIONS_MORE); /* as long as they have to be: a sanitizer sees what goes beyond */
        for (size_t i = 0; i < bytes; i++)
            sscanf(line + 2 * i, "%2hhx", &table[i]);
        size_t length = col_python_locations_shorten(table, bytes, to);
        for (size_t i = 0; i < length; i++)
            printf("%02x", to[i]);
        putchar('\n');
        free(table);
        free(to);
    }
    return 0;
}

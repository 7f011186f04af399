/* unwind_loader_plugin.c -- what unwind_loader loads: calls many functions for the first time */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

int plugin_work(int x);

int plugin_work(int x)
{
    char text[40] = "plugin";
    wchar_t wide[8] = L"abc";
    time_t now = 0;
    struct tm date;
    gmtime_r(&now, &date);
    x += (int)strtol("12", NULL, 10) + toupper(x) + (int)wcslen(wide) + (int)strcspn(text, "n") + date.tm_year;
    x += (int)strspn(text, "plu") + strcoll(text, "plugin") + (int)strtod("1.5", NULL) + abs(rand()) % 2;
    return x + (int)mbstowcs(wide, text, 3) + atoi("4") + strcasecmp(text, "PLUGIN");
}

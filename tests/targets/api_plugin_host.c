/* api_plugin_host.c -- truth: loads the plugin named by its argument, privately, and calls its entry once */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    void *symbol = plugin ? dlsym(plugin, "plugin_entry") : NULL;
    void (*entry)(void);
    if (!symbol)
        return 1;
    memcpy(&entry, &symbol, sizeof entry);
    entry();
    puts("done");
    return 3;
}

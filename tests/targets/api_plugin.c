/* api_plugin.c -- truth: a plugin whose entry samples "plugin" */
#include "libcollector.h"

__attribute__((visibility("default"))) void plugin_entry(void);

void plugin_entry(void)
{
    collector_sample("plugin");
}

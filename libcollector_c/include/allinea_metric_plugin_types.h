/* allinea_metric_plugin_types.h -- the two handles that go between a metric plugin and the recorder */
#ifndef ALLINEA_METRIC_PLUGIN_TYPES_H
#define ALLINEA_METRIC_PLUGIN_TYPES_H

#if defined(__cplusplus) && __cplusplus >= 201103L
#include <cstdint>
#endif
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A loaded plugin. Opaque: given to the plugin's functions, and given back by them when they report an error. */
typedef uintptr_t plugin_id_t;

/* One metric of a plugin. Opaque; several metrics may share a getter and are told apart by it. */
typedef uintptr_t metric_id_t;

#ifdef __cplusplus
}
#endif

#endif

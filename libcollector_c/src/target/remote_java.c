/* remote_java.c -- the HotSpot in another process, if there is one */
#include "target/remote_java.h"

#include "base/arch.h"
#include "target/exported_symbols.h"
#include "target/remote_modules.h"

bool col_remote_java_find(struct col_remote_memory *memory, uint64_t owner, struct col_java_runtime *found)
{
    struct col_remote_object object;
    for (size_t index = 0; COL_ARCH_HAS_JAVA_FRAMES && col_remote_modules_next_object(memory, &index, &object);) {
        if (col_exported_symbols_find(memory, object.bias, object.dynamic, "gHotSpotVMStructs") == 0)
            continue;
        *found = (struct col_java_runtime){.low = object.low, .high = object.high, .owner = owner};
        return col_java_layout_read(&found->layout, memory, object.bias, object.dynamic);
    }
    return false;
}

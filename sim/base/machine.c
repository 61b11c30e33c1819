/* machine.c: see machine.h. */
#include "machine.h"

#include <stdint.h>
#include <unistd.h>

size_t machine_memory_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0 || (size_t)pages > SIZE_MAX / (size_t)page)
        return SIZE_MAX;
    return (size_t)pages * (size_t)page;
}

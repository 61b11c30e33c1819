/* machine.h: what this machine has. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stddef.h>

/* Physical memory in bytes; SIZE_MAX: unknown. */
size_t machine_memory_bytes(void);

#endif

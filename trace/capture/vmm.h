/* vmm.h: the driver's virtual memory calls, as callbacks of CUPTI's: PyTorch's expandable segments and others map memory
 * that no activity record tells of. */
#ifndef VMM_H
#define VMM_H

#include <stddef.h>
#include <stdint.h>

/* Runs on the program's thread, at the end of each call. */
void vmm_callback(void *user, int domain, uint32_t id, const void *data);
/* The calls that are listened to, by number; 0 after the last. */
uint32_t vmm_call(size_t index);

#endif

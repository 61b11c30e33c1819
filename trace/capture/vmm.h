/* vmm.h: the driver's virtual memory calls, as callbacks of CUPTI's: PyTorch's expandable segments and others map memory
 * that no activity record tells of. */
#ifndef VMM_H
#define VMM_H

#include <stdint.h>

/* Runs on the program's thread, at the end of each call. */
void vmm_callback(void *user, int domain, uint32_t id, const void *data);
extern const uint32_t vmm_calls[]; /* ended by 0 */

#endif

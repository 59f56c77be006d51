/* A kernel of one's own as a strategy, so that judge, race and plans take it like any other. */
#ifndef TSL_TOOL_LAB_LAB_STRATEGY_H
#define TSL_TOOL_LAB_LAB_STRATEGY_H

#include "lab/lab_kernel.h"
#include "strategy/strategy.h"

/* Makes the strategy of the kernel, the only one of this process, which keeps the pointer. `library`: of a
 * kernel in C its shared object, else NULL. TESELA_BUILD_FAILED if the object lacks the function. */
tesela_status tsl_lab_strategy_make(const tsl_lab_kernel *kernel, const char *library,
                                    const tsl_strategy **strategy);
/* Appends the text that the device's compiler gets: CUDA kernels become extern "C". */
void tsl_lab_add_source(const tsl_lab_kernel *kernel, tsl_text *out);

#endif

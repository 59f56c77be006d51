/* Contexts of the process: one for each number of threads, never freed, because calls may still use them. */
#ifndef TSL_INTERPOSE_CONTEXTS_H
#define TSL_INTERPOSE_CONTEXTS_H

#include <tesela/tesela.h>

/* Returns the context with at most `threads` threads (0: all) on the device that the user requests, else on
 * the cpu; NULL: no memory, and the next call tries again. */
tesela_context *tsl_interpose_context(int threads);
/* Drops the parent's contexts in the child of a fork: a missing thread may hold their locks. */
void tsl_interpose_forget_contexts(void);

#endif

/* Host memory that a run needs for a moment. The process keeps the block that was given back last, so that runs in
 * a row neither ask the system for pages nor wait until it has cleared them: that costs as much as a small product.
 */
#ifndef TSL_BASE_SCRATCH_H
#define TSL_BASE_SCRATCH_H

#include <stddef.h>
#include <tesela/tesela.h>

/* Takes at least `bytes` bytes, aligned to a cache line, with anything in them. Safe from many threads at once: one
 * gets the block that was kept, if it is large enough, the others new ones. The sentence of a failure says how much
 * was asked for and `what` for. */
tesela_status tsl_scratch_take(size_t bytes, const char *what, void **out);
/* Gives a block back, from any thread; it is kept, and the one kept before is freed. NULL is allowed. */
void tsl_scratch_give(void *block);

#endif

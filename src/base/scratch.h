/* Host memory that a run needs for a moment. The process keeps two blocks that were given back, so that runs
 * in a row, which may need another one inside of the first, neither ask the system for pages nor wait until
 * it has cleared them: that costs as much as a small product.
 */
#ifndef TSL_BASE_SCRATCH_H
#define TSL_BASE_SCRATCH_H

#include <stddef.h>
#include <tesela/tesela.h>

/* Takes at least `bytes` bytes, aligned to a cache line, with anything in them. Safe from many threads at
 * once: one or two get the blocks that were kept, if they are large enough, the others new ones. The sentence
 * of a failure says how much was asked for and `what` for. */
tesela_status tsl_scratch_take(size_t bytes, const char *what, void **out);
/* Bytes that a run may take beside its operands, in all of the process: strategies that need more are
 * refused. UINT64_MAX, which a process begins with: no limit. */
void tsl_scratch_set_limit(uint64_t bytes);
uint64_t tsl_scratch_limit(void);
/* Gives a block back, from any thread; it is kept, and one that was kept before may be freed. NULL is
 * allowed. */
void tsl_scratch_give(void *block);

#endif

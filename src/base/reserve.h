/* Memory that is taken ahead of work that must not fail for the lack of it. */
#ifndef TSL_BASE_RESERVE_H
#define TSL_BASE_RESERVE_H

#include <stddef.h>
#include <tesela/tesela.h>

/* Blocks lie in a reserve as in a stack: one that is freed is free again once all blocks above it are. */
typedef struct tsl_reserve {
  unsigned char *memory;
  size_t bytes, top, last; /* what is in use ends at `top`; the highest block's note is at `last` */
} tsl_reserve;

/* Takes memory for `blocks` blocks of `bytes` bytes together. */
tesela_status tsl_reserve_take(size_t bytes, size_t blocks, const char *what, tsl_reserve *out);
/* Lets this thread's tsl_alloc() take from a reserve what the system does not give. NULL ends that, once all
 * such blocks are freed. */
void tsl_reserve_use(tsl_reserve *reserve);
/* Frees a reserve that no thread uses. */
void tsl_reserve_free(tsl_reserve *reserve);

#endif

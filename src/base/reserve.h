/* Memory that is reserved before work that must not fail by lack of memory. */
#ifndef TSL_BASE_RESERVE_H
#define TSL_BASE_RESERVE_H

#include <stddef.h>
#include <tesela/tesela.h>

/* Reserve, used as a stack: a freed block becomes available when all blocks above it are freed. */
typedef struct tsl_reserve {
  unsigned char *memory;
  size_t bytes, top, last; /* end of the used part, and position of the highest block's header */
} tsl_reserve;

/* Reserves memory for `blocks` blocks of `bytes` bytes in total. */
tesela_status tsl_reserve_take(size_t bytes, size_t blocks, const char *purpose, tsl_reserve *out);
/* Lets this thread's tsl_alloc() use a reserve when the system has no memory. NULL ends that; first
 * free all blocks of the reserve. */
void tsl_reserve_use(tsl_reserve *reserve);
/* Frees a reserve that no thread uses. */
void tsl_reserve_free(tsl_reserve *reserve);

#endif

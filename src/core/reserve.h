#ifndef TSL_CORE_RESERVE_H
#define TSL_CORE_RESERVE_H

#include <stddef.h>
#include <tesela/tesela.h>

/* Memory for work that must not fail, used as a stack: a block is free when all above it are freed. */
typedef struct tsl_reserve {
  unsigned char *memory;
  size_t bytes, top, /* bytes of the memory; end of the used bytes */
      last;          /* offset of the highest block, after its header; 0: no block */
} tsl_reserve;

/* Reserves memory for `blocks` blocks of `bytes` bytes in total. */
tesela_status tsl_reserve_create(size_t bytes, size_t blocks, const char *purpose, tsl_reserve *out);
/* Lets this thread's tsl_alloc() use a reserve when memory runs out; NULL: stops, all blocks being freed. */
void tsl_reserve_use(tsl_reserve *reserve);
/* Frees a reserve that no thread uses. */
void tsl_reserve_free(tsl_reserve *reserve);

/* Reserves room for one more item of a list for free(), whose address is at `list`: doubles *capacity if it
 * is `count`. TESELA_OUT_OF_MEMORY names `items`. */
tesela_status tsl_list_reserve(void *list, int count, int *capacity, size_t size, const char *items);

#endif

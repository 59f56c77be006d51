/* Chooses the sizes of blocks of C and of parts of k for files that are larger than memory.
 * The result depends on sizes alone.
 *
 *        A (m x k)           B (k x n)        C (m x n)
 *        +-------+           +--+----+        +--+----+
 *   rows |#|     |     depth |##|    |   rows |##|    |
 *        +-+-----+           +--+----+        +--+----+
 *        |depth  |           |  |    |        |  |    |
 *        +-------+           +--+----+        +--+----+
 *                             cols             cols
 *
 * Each step multiplies a piece of A (rows x depth) by a piece of B (depth x cols) and adds to a block of C.
 * Memory holds two pieces of A and two of B: one is read while the other is multiplied.
 * Memory holds two blocks of C: one is summed while the other is written.
 *
 * Of S words of memory, most go to C. About 2 m n k / sqrt(S / 2) words are then read, which is near the
 * lower bound (Hong, Kung 1981; Kwasniewski et al. 2019). Where k is not cut, a piece stays in memory for
 * all blocks that use it. */
#ifndef TSL_TOOL_PRODUCT_BLOCK_SIZE_H
#define TSL_TOOL_PRODUCT_BLOCK_SIZE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsl_block_wish {
  int64_t m, n, k; /* k = 0 means a transpose: a piece of A has as many elements as a block of C */
  int64_t step;    /* k is cut at about multiples of this step; 0: k must not be cut */
  int64_t a_bytes, b_bytes,
      /* bytes of an element in memory; c_beside: bytes per element of all blocks kept in addition
       * to C's two */
      c_bytes;
  int64_t c_beside;
  /* the lines that lie contiguously in the file run along k (of a transpose: along n) */
  bool a_along_k, b_along_k;
  uint64_t memory;
  double most_elements; /* the largest number of elements in a block, so that no block takes too long */
} tsl_block_wish;

typedef struct tsl_block_size {
  int64_t rows, cols, depth;
  /* true: blocks go down the columns of C, and pieces of B are reused; false: along the rows of C */
  bool down_first;
  uint64_t memory; /* bytes that the blocks and pieces take */
  double read;     /* elements that are read from files in total */
} tsl_block_size;

/* Chooses the cheapest block size; returns false if no block fits. */
bool tsl_block_choose(const tsl_block_wish *wish, tsl_block_size *size);
/* Sets the largest depth, and its memory, for the given rows and cols; returns false if they do not
 * fit. */
bool tsl_block_fit(const tsl_block_wish *wish, tsl_block_size *size);

#endif

/* How large blocks of C are, and parts of k, where files are larger than memory: a function of sizes alone.
 *
 *        A (m x k)           B (k x n)        C (m x n)
 *        +-------+           +--+----+        +--+----+     for each block of C, for each part of k: a piece
 * of A and one of rows |#|     |     depth |##|    |   rows |##|    |     B are read while those before them
 * are multiplied. Two of each
 *        +-+-----+           +--+----+        +--+----+     are in memory, and two blocks of C: one that is
 * summed, one that is |depth  |           |  |    |        |  |    |     written
 *        +-------+           +--+----+        +--+----+
 *                             cols             cols
 *
 * Of S words, most go to C: then about 2 m n k / sqrt(S / 2) words are read, near the least that is possible
 * (Hong, Kung 1981; Kwasniewski et al. 2019). Where k is in one part, a piece stays as long as blocks use it.
 */
#ifndef TSL_TOOL_PRODUCT_BLOCK_SIZE_H
#define TSL_TOOL_PRODUCT_BLOCK_SIZE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsl_block_wish {
  int64_t m, n, k; /* k = 0: a transpose; a piece of A has as many elements as a block of C */
  int64_t step;    /* where k may be cut: at about multiples of this; 0: it may not */
  int64_t a_bytes, b_bytes,
      c_bytes; /* of an element in memory; with that of all blocks that are kept beside C's two */
  int64_t c_beside;
  bool a_along_k, b_along_k; /* lines of the file, which are read one after the other, go along k; of a
                                transpose, along n */
  uint64_t memory;
  double most_elements; /* of a block: none is to take too long */
} tsl_block_wish;

typedef struct tsl_block_size {
  int64_t rows, cols, depth;
  bool down_first; /* blocks go down C's columns, where B's pieces stay; else along its rows */
  uint64_t memory; /* that they take */
  double read;     /* elements of files that are read */
} tsl_block_size;

/* False where no block fits. */
bool tsl_block_choose(const tsl_block_wish *wish, tsl_block_size *size);
/* The deepest part of k, and its memory, for blocks of given sizes; false where they do not fit. */
bool tsl_block_fit(const tsl_block_wish *wish, tsl_block_size *size);

#endif

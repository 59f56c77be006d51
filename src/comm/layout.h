/* Distribution of a matrix over ranks. A patch is a set of rows and a set of columns (comm/intervals.h): a
 * rank's part, a panel or a block. A message holds the intersection of two patches, in an agreed order. */
#ifndef TSL_COMM_LAYOUT_H
#define TSL_COMM_LAYOUT_H

#include "comm/intervals.h"

#include <stddef.h>
#include <tesela/tesela_layout.h>

/* Element (r, c) lies offset + r * row_stride + c * col_stride elements after the operand's data. */
typedef struct tsl_patch {
  tsl_dim rows, cols;
  int64_t offset, row_stride, col_stride;
} tsl_patch;

/* Returns the number of elements in the intersection. */
int64_t tsl_patch_common(const tsl_patch *a, const tsl_patch *b);
int64_t tsl_patch_total(const tsl_patch *patch);

/* Order of a message: runs along rows, or along columns. Runs should be contiguous in memory. */
typedef enum tsl_order { TSL_ROWS, TSL_COLUMNS } tsl_order;

/* Copies the intersection from a's memory to a dense message. Returns the element count. `size`: bytes. */
int64_t tsl_patch_pack(const tsl_patch *a, const void *data, const tsl_patch *b, tsl_order order, size_t size,
                       void *message);
/* Copies the intersection from a dense message to b's memory. Returns the element count. */
int64_t tsl_patch_unpack(const tsl_patch *a, const tsl_patch *b, void *data, tsl_order order, size_t size,
                         const void *message);
/* Copies the intersection from a's memory to b's. Returns the element count. */
int64_t tsl_patch_copy(const tsl_patch *a, const void *from, const tsl_patch *b, void *dst, tsl_order order,
                       size_t size);
/* Block of an intersection, as lines along the order. Element j of line i stands in three places:
 *
 *   in a's memory     at a_at + i * a_line + j * a_step
 *   in b's memory     at b_at + i * b_line + j * b_step
 *   in the message    at before + i * length + j, after `before` elements of other blocks
 */
typedef struct tsl_common_block {
  int64_t lines, length;
  int64_t a_at, a_line, a_step, b_at, b_line, b_step, before;
} tsl_common_block;
typedef void (*tsl_block_function)(void *user, const tsl_common_block *block);
/* Calls `function` for each block of the intersection. Returns the element count. */
int64_t tsl_patch_walk(const tsl_patch *a, const tsl_patch *b, tsl_order order, tsl_block_function function,
                       void *user);

typedef struct tsl_rank_layout {
  int ranks;
  int64_t rows, cols;
  /* BLOCKS and CYCLIC: lists of the process grid, and the mapping of ranks to positions. */
  int grid_rows, grid_cols;
  int *position_of_rank; /* by rank: i * grid_cols + j before any transpose; -1: none */
  int *rank_at_position;
  tsl_dim *row_lists, *col_lists;
  bool is_transposed;
  /* RECTANGLES: rank r has the patches from rectangles_begin[r] to before rectangles_begin[r + 1]. */
  tsl_patch *rectangles;
  int64_t *rectangles_begin;
  tsl_span *spans;
  int64_t own_row_stride, own_col_stride; /* of the calling rank's local array */
} tsl_rank_layout;

/* First row and column, numbers of rows and columns. */
typedef struct tsl_bare_rectangle {
  int64_t row, col, rows, cols;
} tsl_bare_rectangle;

/* Checks what one rank can check alone. TESELA_BAD_CALL; the message begins with `name`. */
tesela_status tsl_layout_check(const tesela_layout *layout, const char *name, int ranks, int64_t rows,
                               int64_t cols);
/* Makes the layout of all ranks as rank `rank` sees it, with the strides of its local array. A layout of
 * rectangles uses the `corners` and `counts` of all ranks. TESELA_OUT_OF_MEMORY; TESELA_BAD_CALL, on all
 * ranks, if rectangles do not tile the matrix. The caller frees *out even after a failure. */
tesela_status tsl_layout_make(const tesela_layout *layout, const char *name, int ranks, int rank,
                              int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride,
                              const tsl_bare_rectangle *const *corners, const int64_t *counts,
                              tsl_rank_layout *out);
void tsl_layout_free(tsl_rank_layout *layout);
void tsl_layout_transpose(tsl_rank_layout *layout);

/* Returns how many patches (a set of rows by a set of columns) a rank owns: block layouts have one. */
int64_t tsl_layout_patch_count(const tsl_rank_layout *layout, int rank);
/* Returns a patch. Strides and offset are valid only for the rank that made the layout. */
tsl_patch tsl_layout_patch(const tsl_rank_layout *layout, int rank, int64_t index);
int64_t tsl_layout_count_owned_in_patch(const tsl_rank_layout *layout, int rank, const tsl_patch *patch);
int64_t tsl_layout_count_owned(const tsl_rank_layout *layout, int rank);
/* Returns the direction in which a rank's memory is contiguous. */
tsl_order tsl_layout_order(const tsl_rank_layout *layout, int rank);

#endif

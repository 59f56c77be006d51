/* Who holds which elements of a matrix, and what two holders have in common: the one description from which
 * all messages follow.
 *
 * A patch is a set of rows and a set of columns (comm/intervals.h): what a rank has of a matrix (one patch,
 * or one for each rectangle), or what a product needs of it (a panel, a block). A message is what two patches
 * have in common, element by element in an order that both sides know, so that nothing but the elements
 * travels. */
#ifndef TSL_COMM_LAYOUT_H
#define TSL_COMM_LAYOUT_H

#include "comm/intervals.h"

#include <stddef.h>
#include <tesela/tesela_layout.h>

/* Element in places (r, c) lies offset + r * row_stride + c * col_stride elements after the operand's data.
 */
typedef struct tsl_patch {
  tsl_dim rows, cols;
  int64_t offset, row_stride, col_stride;
} tsl_patch;

/* How many elements two patches have in common. */
int64_t tsl_patch_common(const tsl_patch *a, const tsl_patch *b);
int64_t tsl_patch_total(const tsl_patch *patch);

/* In which order the elements of a message are: runs along rows, or along columns. What is contiguous in
 * memory should be a run. */
typedef enum tsl_order { TSL_ROWS, TSL_COLUMNS } tsl_order;

/* What a and b have in common, from a's memory into a dense message; from the message into b's memory; from
 * the one's memory into the other's. `size` is an element's. Each returns the number of elements. */
int64_t tsl_patch_pack(const tsl_patch *a, const void *data, const tsl_patch *b, tsl_order order, size_t size,
                       void *message);
int64_t tsl_patch_unpack(const tsl_patch *a, const tsl_patch *b, void *data, tsl_order order, size_t size,
                         const void *message);
int64_t tsl_patch_copy(const tsl_patch *a, const void *from, const tsl_patch *b, void *dst, tsl_order order,
                       size_t size);
/* Calls `block` for each block of what they have in common: rows x cols elements, places in a and in b, and
 * how many elements of the message come before. Within a block the message runs along `order`. */
typedef void (*tsl_patch_block)(void *user, int64_t rows, int64_t cols, int64_t a_at, int64_t b_at,
                                int64_t before);
int64_t tsl_patch_walk(const tsl_patch *a, const tsl_patch *b, tsl_order order, tsl_patch_block block,
                       void *user);

/* A layout as it is for all ranks. */
typedef struct tsl_rank_layout {
  int ranks;
  int64_t rows, cols;
  /* BLOCKS, CYCLIC: lists of the grid's rows and columns, and where a rank stands (-1: nowhere). */
  int grid_rows, grid_cols;
  int *place;   /* of a rank: i * grid_cols + j as it was given, or -1 */
  int *rank_at; /* of a place */
  tsl_dim *row_lists, *col_lists;
  bool turned; /* rows and columns have changed places */
  /* RECTANGLES: the patches of rank r are [first[r], first[r + 1]). */
  tsl_patch *rectangles;
  int64_t *first;
  tsl_span *spans;
  int64_t own_row_stride, own_col_stride; /* of the calling rank's local array */
} tsl_rank_layout;

/* What all ranks know of a rectangle. */
typedef struct tsl_corner {
  int64_t row, col, rows, cols;
} tsl_corner;

/* Checks what one rank can check by itself: TESELA_BAD_CALL, "layout_a: ..." by `name`. */
tesela_status tsl_layout_check(const tesela_layout *layout, const char *name, int ranks, int64_t rows,
                               int64_t cols);
/* Makes it, for rank `value` of `ranks`. Strides are those of the operand. `corners` are all ranks'
 * rectangles, `counts` how many each has. TESELA_OUT_OF_MEMORY; TESELA_BAD_CALL where rectangles are not the
 * matrix, the same sentence on all ranks. Free it in any case. */
tesela_status tsl_layout_make(const tesela_layout *layout, const char *name, int ranks, int value,
                              int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride,
                              const tsl_corner *const *corners, const int64_t *counts, tsl_rank_layout *out);
void tsl_layout_free(tsl_rank_layout *layout);
/* The layout of the transpose. */
void tsl_layout_turn(tsl_rank_layout *layout);

/* How many patches a rank has, and each. Strides and offsets are right for the rank that made the layout. */
int64_t tsl_layout_count(const tsl_rank_layout *layout, int rank);
tsl_patch tsl_layout_patch(const tsl_rank_layout *layout, int rank, int64_t index);
/* How many elements a rank has of a patch; of everything. */
int64_t tsl_layout_common(const tsl_rank_layout *layout, int rank, const tsl_patch *patch);
int64_t tsl_layout_held(const tsl_rank_layout *layout, int rank);
/* How the calling rank's memory runs. */
tsl_order tsl_layout_order(const tsl_rank_layout *layout, int value);

#endif

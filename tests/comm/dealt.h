/* Matrices of whole numbers, distributed over ranks in any layout, and the check of a result. */
#ifndef TESTS_COMM_DEALT_H
#define TESTS_COMM_DEALT_H

#include <stdbool.h>
#include <stdint.h>
#include <tesela/tesela_layout.h>

/* Distributions of a matrix over ranks. */
typedef enum dealt_kind {
  DEALT_BLOCKS, /* blocks of rows, the default */
  DEALT_GRID,   /* blocks of a nearly square grid */
  /* cyclic blocks of 3 x 5, not starting at the first process, ranks in another order, column-major */
  DEALT_CYCLIC,
  DEALT_WINDOW,     /* block-cyclic, a window of a larger matrix */
  DEALT_RECTANGLES, /* stripes of columns, some empty, cut in two */
  DEALT_ONE,        /* all on one rank */
  DEALT_DENSE,      /* cyclic blocks of 3 x 5, row-major without gaps, described by strides of 0 */
  DEALT_KINDS
} dealt_kind;

typedef struct dealt {
  tesela_layout layout;
  void *data;                     /* this rank's elements */
  int64_t row_stride, col_stride; /* strides in the description */
  int64_t down, across;           /* actual strides in memory */
  int64_t elements;               /* number of elements of data */
  int ranks[64];
  tesela_rectangle rectangles[8];
  tesela_type type;
} dealt;

/* Element (i, j) of a matrix by its seed: a small whole number, with an imaginary part where the type is
 * complex. */
void dealt_value(uint64_t seed, tesela_type type, int64_t i, int64_t j, double value[2]);

/* Makes rank `rank`'s part (of `ranks`) of a rows x cols matrix. Fills it by the seed where `fill`
 * is true, otherwise with NaN (77 in types without NaN). dealt_free frees it. */
bool dealt_make(dealt *out, dealt_kind kind, int ranks, int rank, int64_t rows, int64_t cols,
                tesela_type type, uint64_t seed, bool fill);
void dealt_free(dealt *d);
/* Calls `look` for each element that the rank has. */
typedef void (*dealt_look)(void *user, int64_t i, int64_t j, const double value[2]);
void dealt_walk(const dealt *d, dealt_kind kind, int ranks, int rank, int64_t rows, int64_t cols,
                dealt_look look, void *user);
/* Checks that elements of data outside the matrix are unchanged. */
bool dealt_gaps_untouched(const dealt *d, dealt_kind kind, int ranks, int rank, int64_t rows, int64_t cols);

#endif

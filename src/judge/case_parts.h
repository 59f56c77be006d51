#ifndef TSL_JUDGE_CASE_PARTS_H
#define TSL_JUDGE_CASE_PARTS_H

#include "judge/case.h"

/* Layouts of an operand. X(NAME, row stride, column stride) of rows x cols with `pad` extra elements. Layouts
 * from REPEATED_ROWS on visit elements more than once and are for A and B only. */
#define TSL_LAYOUT_LIST(X)                                                                                   \
  X(DENSE, cols, 1)                                                                                          \
  X(PADDED, cols + pad, 1)                                                                                   \
  X(WHOLE_LINES, (cols + 63) / 64 * 64, 1)                                                                   \
  X(TRANSPOSED, 1, rows)                                                                                     \
  X(TRANSPOSED_PADDED, 1, rows + pad)                                                                        \
  X(SPREAD, 3 * cols + pad, 3)                                                                               \
  X(SPREAD_TRANSPOSED, 2, 2 * rows + pad)                                                                    \
  X(UPSIDE_DOWN, -cols - pad, 1)                                                                             \
  X(MIRRORED, cols, -1)                                                                                      \
  X(ROTATED, -cols - pad, -1)                                                                                \
  X(ROTATED_TRANSPOSED, -1, -rows - pad)                                                                     \
  X(REPEATED_ROWS, 0, 1)                                                                                     \
  X(REPEATED_COLS, 1, 0)                                                                                     \
  X(DIAGONALS, 1, 1)

enum {
#define TSL_LAYOUT_MEMBER(name, row, col) TSL_LAYOUT_##name,
  TSL_LAYOUT_LIST(TSL_LAYOUT_MEMBER)
#undef TSL_LAYOUT_MEMBER
      TSL_LAYOUTS,
  TSL_LAYOUTS_OF_C = TSL_LAYOUT_REPEATED_ROWS
};

/* Sets the strides of a shape to layout TSL_LAYOUT_...; `pad` is the extra elements of padded layouts. */
void tsl_case_set_layout(tsl_shape *shape, int layout, int64_t pad);
/* Sets the layouts of A, B and C, each with a different pad. */
void tsl_case_set_layouts(tsl_case *out, int a, int b, int c, int64_t pad);
/* Sets the real parts of alpha and beta, and rounds the scalars to the problem's types. */
void tsl_case_set_scalars(tsl_case *out, double alpha, double beta);

void tsl_case_replace_unsupported_structures(tsl_case *out);

/* Replaces scales and an epilogue that the case does not support; may change the type of C. */
void tsl_case_replace_unsupported_epilogue(tsl_case *out);

typedef struct tsl_case_group {
  int count;                                                /* cases of the group; 0 ends a list of groups */
  void (*make)(int index, tesela_type type, tsl_case *out); /* sets *out to case `index`, from 0 */
} tsl_case_group;

typedef struct tsl_dice {
  uint64_t seed, next; /* next: number of rolls so far */
} tsl_dice;

/* Returns a random number from 0 to sides - 1. */
int64_t tsl_dice_roll(tsl_dice *dice, int64_t sides);
/* Returns a random size, mostly near tile sizes, sometimes tiny, sometimes hundreds. */
int64_t tsl_dice_roll_size(tsl_dice *dice);
/* Returns one of ten values from -1.3 to 2. */
double tsl_dice_roll_scalar(tsl_dice *dice);

typedef struct tsl_case_lists {
  const tsl_case_group *groups;
  void (*random)(tsl_dice *dice, tesela_type type, tsl_case *out); /* sets *out to a random case */
} tsl_case_lists;

extern const tsl_case_lists tsl_cases_gemm, tsl_cases_dot, tsl_cases_transpose, tsl_cases_solve;

#endif

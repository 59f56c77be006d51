/* The lists of cases. Standard cases are groups, each a rule that makes its cases from their index. */
#include "plan/check.h"

/* --- layouts --- */

/* How an operand lies in memory. X(NAME, row stride, column stride) of rows x cols with `pad` to spare.
 * Layouts from REPEATED_ROWS on visit elements more than once and are for A and B only. */
#define LAYOUT_LIST(X)                                                                                       \
  X(DENSE, cols, 1)                                                                                          \
  X(PADDED, cols + pad, 1)                                                                                   \
  X(WHOLE_LINES, (cols + 63) / 64 * 64, 1)                                                                   \
  X(TRANSPOSED, 1, rows)                                                                                     \
  X(TRANSPOSED_PADDED, 1, rows + pad)                                                                        \
  X(SPREAD, 3 * cols + pad, 3)                                                                               \
  X(SPREAD_TRANSPOSED, 2, 2 * rows + pad)                                                                    \
  X(UPSIDE_DOWN, -cols - pad, 1)                                                                             \
  X(MIRRORED, cols, -1)                                                                                      \
  X(TURNED, -cols - pad, -1)                                                                                 \
  X(TURNED_TRANSPOSED, -1, -rows - pad)                                                                      \
  X(REPEATED_ROWS, 0, 1)                                                                                     \
  X(REPEATED_COLS, 1, 0)                                                                                     \
  X(DIAGONALS, 1, 1)

enum {
#define LAYOUT_MEMBER(name, row, col) name,
  LAYOUT_LIST(LAYOUT_MEMBER)
#undef LAYOUT_MEMBER
      LAYOUTS,
  LAYOUTS_OF_C = REPEATED_ROWS
};

static void lay_out(tsl_shape *shape, int layout, int64_t pad) {
  const int64_t rows = shape->rows, cols = shape->cols;
  const int64_t strides[LAYOUTS][2] = {
#define LAYOUT_STRIDES(name, row, col) {row, col},
      LAYOUT_LIST(LAYOUT_STRIDES)
#undef LAYOUT_STRIDES
  };
  shape->row_stride = strides[layout][0];
  shape->col_stride = strides[layout][1];
}

static void lay_out_all(tsl_case *out, int a, int b, int c, int64_t pad) {
  lay_out(&out->problem.a, a, pad);
  lay_out(&out->problem.b, b, pad + 1);
  lay_out(&out->problem.c, c, pad + 2);
}

static void set_scalars(tsl_case *out, double alpha, double beta) {
  out->problem.alpha[0] = alpha;
  out->problem.beta[0] = beta;
}

/* --- the standard list --- */

static void zeros_and_ones(int index, tesela_type type, tsl_case *out) {
  static const int64_t sizes[] = {0, 1, 7};
  out->problem = tsl_problem_gemm(sizes[index / 9], sizes[index / 3 % 3], sizes[index % 3], type);
  out->data = index % 2 ? TSL_DATA_INTEGER : TSL_DATA_NORMAL;
  set_scalars(out, 1.5, index % 4 < 2 ? 0 : -0.5);
}

enum { EDGES = 12 };
static const int64_t edges[EDGES] = {7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};

static void cubes(int index, tesela_type type, tsl_case *out) {
  out->problem = tsl_problem_gemm(edges[index], edges[index], edges[index], type);
}

static void tile_edges(int index, tesela_type type, tsl_case *out) {
  out->problem = tsl_problem_gemm(edges[index], edges[(index + 5) % EDGES], edges[(index + 7) % EDGES], type);
  out->data = TSL_DATA_INTEGER;
  set_scalars(out, -0.5, 1.5);
}

static const int64_t uneven[][3] = {
    {1, 1, 1000},  {1, 257, 3},     {257, 1, 3},  {3, 2, 1000}, {2, 3, 2049}, {127, 1, 127},
    {1, 127, 127}, {101, 103, 107}, {13, 17, 19}, {200, 3, 5},  {3, 200, 5},  {5, 7, 400},
    {129, 65, 33}, {64, 256, 1},    {256, 64, 2}, {48, 80, 96}, {2, 2, 2},    {71, 73, 2},
};
enum { UNEVEN = sizeof uneven / sizeof *uneven };

static void uneven_sizes(int index, tesela_type type, tsl_case *out) {
  const int64_t *size = uneven[index / 2];
  out->problem = tsl_problem_gemm(size[0], size[1], size[2], type);
  out->data = index % 2 ? TSL_DATA_INTEGER : TSL_DATA_GRADED;
  set_scalars(out, 1, index % 4 < 2 ? 0 : 1);
}

/* Each layout alone in A, in B and in C, and then in all three, mixed. */
static void layouts(int index, tesela_type type, tsl_case *out) {
  out->problem = tsl_problem_gemm(21, 34, 19, type);
  set_scalars(out, 1.5, index % 3 ? -0.5 : 0);
  out->data = index % 2 ? TSL_DATA_INTEGER : TSL_DATA_NORMAL;
  if (index < LAYOUTS)
    lay_out_all(out, index, DENSE, DENSE, 3);
  else if (index < 2 * LAYOUTS)
    lay_out_all(out, DENSE, index - LAYOUTS, DENSE, 3);
  else if (index < 2 * LAYOUTS + LAYOUTS_OF_C)
    lay_out_all(out, DENSE, DENSE, index - 2 * LAYOUTS, 3);
  else
    lay_out_all(out, index % LAYOUTS, (index + 3) % LAYOUTS, (index + 7) % LAYOUTS_OF_C, 16);
}
enum { LAYOUT_CASES = 3 * LAYOUTS + LAYOUTS_OF_C };

static void scalars(int index, tesela_type type, tsl_case *out) {
  static const double values[] = {0, 1, -0.5, 1.5};
  out->problem = tsl_problem_gemm(18, 20, 33, type);
  set_scalars(out, values[index % 4], values[index / 4 % 4]);
  out->data = index < 16 ? TSL_DATA_NORMAL : TSL_DATA_SPECIAL;
  lay_out_all(out, DENSE, TRANSPOSED, PADDED, 2);
}

static void kinds_of_data(int index, tesela_type type, tsl_case *out) {
  static const int64_t sizes[][3] = {{16, 16, 16}, {37, 29, 70}, {64, 48, 130}, {40, 50, 1}};
  const int64_t *size = sizes[index / TSL_DATA_COUNT % 4];
  const int layout = index < 4 * TSL_DATA_COUNT ? DENSE : TRANSPOSED_PADDED;
  out->problem = tsl_problem_gemm(size[0], size[1], size[2], type);
  out->data = (tsl_data)(index % TSL_DATA_COUNT);
  out->repeats = 3;
  lay_out_all(out, layout, layout, layout, 4);
  set_scalars(out, 1, layout == DENSE ? 0 : 1.5);
}

typedef struct case_group {
  int count;
  void (*make)(int index, tesela_type type, tsl_case *out);
} case_group;

static const case_group groups[] = {
    {27, zeros_and_ones},
    {EDGES, cubes},
    {EDGES, tile_edges},
    {2 * UNEVEN, uneven_sizes},
    {LAYOUT_CASES, layouts},
    {32, scalars},
    {8 * TSL_DATA_COUNT, kinds_of_data},
};

bool tsl_case_standard(int index, tesela_type type, tsl_case *out) {
  *out = (tsl_case){.seed = (uint64_t)index + 1};
  if (index < 0)
    return false;
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    if (index < groups[i].count) {
      groups[i].make(index, type, out);
      return true;
    }
    index -= groups[i].count;
  }
  return false;
}

/* --- random cases --- */

/* Draws from a case's own sequence. */
typedef struct sequence {
  uint64_t seed, next;
} sequence;

static int64_t roll(sequence *dice, int64_t sides) {
  return (int64_t)(tsl_random_u64(dice->seed, dice->next++) % (uint64_t)sides);
}

/* Mostly near the sizes of tiles, sometimes tiny, sometimes hundreds. */
static int64_t roll_size(sequence *dice) {
  const int64_t kind = roll(dice, 8);
  return kind == 0 ? roll(dice, 4) : kind < 5 ? 1 + roll(dice, 70) : 1 + roll(dice, 300);
}

static double roll_scalar(sequence *dice) {
  static const double values[] = {0, 1, 1, -1, 0.5, -0.5, 1.5, 2, 0.7, -1.3};
  return values[roll(dice, sizeof values / sizeof *values)];
}

void tsl_case_random(uint64_t seed, uint64_t index, tesela_type type, tsl_case *out) {
  enum { MOST_PRODUCTS = 1000000 };
  sequence dice = {.seed = tsl_random_u64(seed, index)};
  const int64_t m = roll_size(&dice), n = roll_size(&dice);
  int64_t k = roll_size(&dice);
  if (m * n * k > MOST_PRODUCTS)
    k = MOST_PRODUCTS / (m * n);
  *out = (tsl_case){.seed = dice.seed, .repeats = 1 + (int)roll(&dice, 2)};
  out->problem = tsl_problem_gemm(m, n, k, type);
  out->data = (tsl_data)roll(&dice, TSL_DATA_COUNT);
  const int a = (int)roll(&dice, LAYOUTS), b = (int)roll(&dice, LAYOUTS), c = (int)roll(&dice, LAYOUTS_OF_C);
  lay_out_all(out, a, b, c, roll(&dice, 20));
  const double alpha = roll_scalar(&dice);
  set_scalars(out, alpha, roll_scalar(&dice));
}

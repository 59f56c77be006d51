#include "core/call_sample.h"

#include <math.h>

enum { SAMPLES = 48 };

typedef struct sampled_matrix {
  const void *data;
  int64_t row, col;
  bool is_single; /* elements are f32 */
} sampled_matrix;

static double element(const sampled_matrix *matrix, int64_t i, int64_t j) {
  const int64_t at = i * matrix->row + j * matrix->col;
  return matrix->is_single ? (double)((const float *)matrix->data)[at] : ((const double *)matrix->data)[at];
}

/* Returns a number below `limit`; a linear congruential generator (Knuth). */
static int64_t draw(uint64_t *state, int64_t limit) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)((*state >> 33) % (uint64_t)limit);
}

/* Structure of a square matrix, as the properties of A. */
static unsigned structure_of(const sampled_matrix *matrix, int64_t n) {
  uint64_t state = 1;
  unsigned seen = TSL_SEEN_A_SYMMETRIC | TSL_SEEN_A_LOWER | TSL_SEEN_A_UPPER;
  bool has_lower = false, has_upper = false;
  for (int s = 0; s < SAMPLES && seen; s++) {
    const int64_t i = draw(&state, n), j = draw(&state, n);
    if (i == j)
      continue;
    const double low = element(matrix, i > j ? i : j, i > j ? j : i),
                 high = element(matrix, i > j ? j : i, i > j ? i : j);
    seen &= low == high ? ~0U : ~(unsigned)TSL_SEEN_A_SYMMETRIC;
    seen &= high == 0 ? ~0U : ~(unsigned)TSL_SEEN_A_LOWER;
    seen &= low == 0 ? ~0U : ~(unsigned)TSL_SEEN_A_UPPER;
    has_lower |= low != 0;
    has_upper |= high != 0;
  }
  if (!has_lower)
    seen &= ~(unsigned)(TSL_SEEN_A_LOWER | TSL_SEEN_A_SYMMETRIC);
  return has_upper ? seen : seen & ~(unsigned)TSL_SEEN_A_UPPER;
}

static bool is_transposed(const tsl_calls_factors *factors, const sampled_matrix *a,
                          const sampled_matrix *b) {
  uint64_t state = 2;
  bool has_number = false;
  if (factors->size[0] != factors->size[1])
    return false;
  for (int s = 0; s < SAMPLES; s++) {
    const int64_t i = draw(&state, factors->size[0]), p = draw(&state, factors->size[2]);
    const double number = element(a, i, p);
    if (number != element(b, p, i))
      return false;
    has_number |= number != 0;
  }
  return has_number;
}

static bool has_single_numbers(const sampled_matrix *matrix, int64_t rows, int64_t cols) {
  uint64_t state = 3;
  bool has_number = false;
  for (int s = 0; s < SAMPLES; s++) {
    const double number = element(matrix, draw(&state, rows), draw(&state, cols));
    if (fabs(number) > 0x1.fffffep127 || (double)(float)number != number)
      return false;
    has_number |= number != 0;
  }
  return has_number;
}

unsigned tsl_calls_sample(const void *argument) {
  const tsl_calls_factors *factors = argument;
  const bool is_single = factors->type == TESELA_F32;
  const sampled_matrix a = {factors->a, factors->a_row, factors->a_col, is_single},
                       b = {factors->b, factors->b_row, factors->b_col, is_single};
  unsigned seen = 0;
  if (!is_single && factors->type != TESELA_F64)
    return 0;
  if (factors->size[0] == factors->size[2])
    seen |= structure_of(&a, factors->size[0]);
  if (factors->size[1] == factors->size[2]) {
    const unsigned of_b = structure_of(&b, factors->size[1]);
    seen |= (of_b & TSL_SEEN_A_SYMMETRIC ? TSL_SEEN_B_SYMMETRIC : 0U) |
            (of_b & TSL_SEEN_A_LOWER ? TSL_SEEN_B_LOWER : 0U) |
            (of_b & TSL_SEEN_A_UPPER ? TSL_SEEN_B_UPPER : 0U);
  }
  if (is_transposed(factors, &a, &b))
    seen |= TSL_SEEN_TRANSPOSED;
  if (!is_single && has_single_numbers(&a, factors->size[0], factors->size[2]) &&
      has_single_numbers(&b, factors->size[2], factors->size[1]))
    seen |= TSL_SEEN_SINGLE;
  return seen;
}

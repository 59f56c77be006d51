/* TESELA_BITS=rows: a row of C has the same bits from a product of this row alone. Transposes and the number
 * of columns differ. */
#include "blas/names.h"
#include "unit/unit.h"

#include <string.h>

enum { NON_UNIT = 131, LEFT = 141 };
void cblas_dtrmm(int order, int side, int uplo, int transpose, int diagonal, int32_t m, int32_t n,
                 double alpha, const double *a, int32_t lda, double *b, int32_t ldb);
void cblas_dtrsm(int order, int side, int uplo, int transpose, int diagonal, int32_t m, int32_t n,
                 double alpha, const double *a, int32_t lda, double *b, int32_t ldb);

enum { ROWS = 37, COLS = 45, DEPTH = 700 };
static double a[ROWS * DEPTH], b[DEPTH * COLS], turned_a[DEPTH * ROWS], turned_b[COLS * DEPTH];
static float a32[ROWS * DEPTH], b32[DEPTH * COLS], turned_a32[DEPTH * ROWS], turned_b32[COLS * DEPTH];

static void fill(void) {
  uint64_t state = 3;
  for (int i = 0; i < ROWS * DEPTH + DEPTH * COLS; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double value = (double)(int64_t)(state >> 20) * 0x1p-43 - 1;
    *(i < ROWS * DEPTH ? &a[i] : &b[i - ROWS * DEPTH]) = value;
  }
  for (int i = 0; i < ROWS; i++)
    for (int l = 0; l < DEPTH; l++) {
      a32[i * DEPTH + l] = turned_a32[l * ROWS + i] = (float)a[i * DEPTH + l];
      turned_a[l * ROWS + i] = a[i * DEPTH + l];
    }
  for (int l = 0; l < DEPTH; l++)
    for (int j = 0; j < COLS; j++) {
      b32[l * COLS + j] = turned_b32[j * DEPTH + l] = (float)b[l * COLS + j];
      turned_b[j * DEPTH + l] = b[l * COLS + j];
    }
}

/* A row of A by the first n columns of B, for each pair of transposes. */
static void rows_alone(void **state) {
  static const int columns[] = {COLS, COLS - 1, 16, 3, 1};
  static double all[ROWS * COLS], row[COLS];
  static float all32[ROWS * COLS], row32[COLS];
  (void)state;
  cblas_dgemm(ROW, N, N, ROWS, COLS, DEPTH, 0.75, a, DEPTH, b, COLS, 0, all, COLS);
  cblas_sgemm(ROW, N, N, ROWS, COLS, DEPTH, 0.75f, a32, DEPTH, b32, COLS, 0, all32, COLS);
  for (int i = 0; i < ROWS; i++)
    for (int way = 0; way < 4; way++) {
      const int n = columns[(i + way) % 5], by_a = way & 1, by_b = way >> 1;
      cblas_dgemm(ROW, by_a ? T : N, by_b ? T : N, 1, n, DEPTH, 0.75, by_a ? turned_a + i : a + i * DEPTH,
                  by_a ? ROWS : DEPTH, by_b ? turned_b : b, by_b ? DEPTH : COLS, 0, row, COLS);
      cblas_sgemm(ROW, by_a ? T : N, by_b ? T : N, 1, n, DEPTH, 0.75f,
                  by_a ? turned_a32 + i : a32 + i * DEPTH, by_a ? ROWS : DEPTH, by_b ? turned_b32 : b32,
                  by_b ? DEPTH : COLS, 0, row32, COLS);
      assert_memory_equal(row, all + i * COLS, (size_t)n * sizeof *row);
      assert_memory_equal(row32, all32 + i * COLS, (size_t)n * sizeof *row32);
    }
}

/* Columns of a triangular product and of a solve, both in place. */
static void triangles(void **state) {
  enum { SIZE = ROWS };
  static double lower[SIZE * SIZE], x[SIZE * COLS], all[2][SIZE * COLS];
  (void)state;
  for (int i = 0; i < SIZE * SIZE; i++)
    lower[i] = a[i] + (i % (SIZE + 1) == 0 ? 8 : 0);
  for (int n = COLS; n > 0; n -= 7)
    for (int solves = 0; solves < 2; solves++) {
      memcpy(x, b, sizeof x);
      if (solves)
        cblas_dtrsm(ROW, LEFT, LOWER, N, NON_UNIT, SIZE, n, 1, lower, SIZE, x, COLS);
      else
        cblas_dtrmm(ROW, LEFT, LOWER, N, NON_UNIT, SIZE, n, 1, lower, SIZE, x, COLS);
      if (n == COLS)
        memcpy(all[solves], x, sizeof x);
      for (int i = 0; i < SIZE; i++)
        assert_memory_equal(x + i * COLS, all[solves] + i * COLS, (size_t)n * sizeof *x);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_alone), cmocka_unit_test(triangles)};
  fill();
  return cmocka_run_group_tests(tests, NULL, NULL);
}

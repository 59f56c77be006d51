/* Transposes and changes of layout by ranks that are threads: every pair of layouts, types, factors, to the
 * bit on whole numbers. */
#include "unit/unit.h"

#include "comm/comm_call.h"
#include "comm/comm_threads.h"
#include "comm/dealt.h"
#include "core/types.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 23, COLS = 41, RANKS_MOST = 9 };

typedef struct transposing {
  dealt_kind a, b;
  tesela_type type;
  bool transpose_a, transpose_b, conjugate;
  double alpha[2], beta[2];
  tesela_status status[RANKS_MOST];
  int64_t wrong[RANKS_MOST], seen[RANKS_MOST];
} transposing;

typedef struct looking {
  const transposing *t;
  int64_t wrong, seen;
} looking;

static void times(const double x[2], double y[2]) {
  const double real = x[0] * y[0] - x[1] * y[1], imaginary = x[0] * y[1] + x[1] * y[0];
  y[0] = real;
  y[1] = imaginary;
}

/* Compares element (i, j) of the stored B with the expected value. B is COLS x ROWS: the transpose
 * of A, which is ROWS x COLS. */
static void look(void *user, int64_t i, int64_t j, const double got[2]) {
  looking *l = user;
  const transposing *t = l->t;
  const int64_t row = t->transpose_b ? j : i, col = t->transpose_b ? i : j;
  double x[2], before[2];
  /* Element (col, row) of A. */
  dealt_value(5, t->type, t->transpose_a ? row : col, t->transpose_a ? col : row, x);
  dealt_value(6, t->type, i, j, before);
  x[1] = t->conjugate ? -x[1] : x[1];
  times(t->alpha, x);
  times(t->beta, before);
  l->seen++;
  l->wrong += got[0] != x[0] + before[0] || got[1] != x[1] + before[1];
}

static void body(tsl_ranks *ranks, void *user) {
  transposing *t = user;
  const int rank = ranks->rank;
  dealt a, b;
  /* With its transpose set, A is stored as COLS x ROWS, and B as ROWS x COLS. */
  const int64_t a_rows = t->transpose_a ? COLS : ROWS, b_rows = t->transpose_b ? ROWS : COLS;
  const bool reads = t->beta[0] != 0 || t->beta[1] != 0;
  if (!dealt_make(&a, t->a, ranks->size, rank, a_rows, ROWS + COLS - a_rows, t->type, 5, true) ||
      !dealt_make(&b, t->b, ranks->size, rank, b_rows, ROWS + COLS - b_rows, t->type, 6, reads))
    abort();
  const tesela_mpi_transpose_desc desc = {.rows = ROWS,
                                          .cols = COLS,
                                          .a = {.data = a.data,
                                                .row_stride = a.row_stride,
                                                .col_stride = a.col_stride,
                                                .transpose = t->transpose_a,
                                                .conjugate = t->conjugate,
                                                .type = t->type},
                                          .b = {.data = b.data,
                                                .row_stride = b.row_stride,
                                                .col_stride = b.col_stride,
                                                .transpose = t->transpose_b,
                                                .type = t->type},
                                          .alpha = t->alpha,
                                          .beta = t->beta,
                                          .layout_a = a.layout,
                                          .layout_b = b.layout};
  t->status[rank] = tsl_ranks_transpose(ranks, NULL, &desc, NULL, sizeof desc, 0);
  looking l = {t, 0, 0};
  dealt_walk(&b, t->b, ranks->size, rank, b_rows, ROWS + COLS - b_rows, look, &l);
  t->wrong[rank] = l.wrong + !dealt_gaps_untouched(&b, t->b, ranks->size, rank, b_rows, ROWS + COLS - b_rows);
  t->seen[rank] = l.seen;
  dealt_free(&a);
  dealt_free(&b);
}

static void run_ranks(int ranks) {
  static const tesela_type types[] = {TESELA_F64, TESELA_F32, TESELA_C128, TESELA_C64, TESELA_BF16,
                                      TESELA_F16, TESELA_I32, TESELA_I8,   TESELA_U8};
  static const double factors[][2] = {{1, 0}, {0, 0}, {2, 0}, {-1, 1}};
  for (int number = 0; number < 108; number++) {
    transposing t = {.a = (dealt_kind)(number % DEALT_KINDS),
                     .b = (dealt_kind)(number / DEALT_KINDS % DEALT_KINDS),
                     .type = types[number % 9],
                     .transpose_a = number / 2 % 2,
                     .transpose_b = number / 5 % 3 == 0,
                     .conjugate = number / 4 % 2};
    const bool bytes = t.type == TESELA_I8 || t.type == TESELA_U8, is_complex = tsl_type(t.type)->is_complex;
    for (int i = 0; i < 2; i++) {
      t.alpha[i] = bytes ? i == 0 : factors[number / 3 % 4][i];
      t.beta[i] = bytes ? 0 : factors[(number / 7 + 1) % 4][i];
    }
    if (!is_complex)
      t.alpha[1] = t.beta[1] = 0;
    assert_int_equal(tsl_threads_run(ranks, body, &t), TESELA_OK);
    int64_t seen = 0;
    for (int r = 0; r < ranks; r++) {
      if (t.status[r] != TESELA_OK || t.wrong[r] != 0)
        fail_msg("case %d, %d ranks, rank %d: %lld wrong, %s", number, ranks, r, (long long)t.wrong[r],
                 tesela_last_error());
      seen += t.seen[r];
    }
    assert_int_equal(seen, ROWS * COLS);
  }
}

static void ranks_1(void **state) {
  (void)state;
  run_ranks(1);
}
static void ranks_4(void **state) {
  (void)state;
  run_ranks(4);
}
static void ranks_9(void **state) {
  (void)state;
  run_ranks(9);
}

/* Types of A and B differ; whole numbers of 8 bits have no factors; B lies in A's memory, or its elements in
 * each other's; A or B is in shards. */
static void wrong_body(tsl_ranks *ranks, void *user) {
  tesela_status *status = user;
  double data[4] = {0};
  tesela_mpi_transpose_desc desc = {
      .rows = 2, .cols = 2, .a = {.data = data}, .b = {.data = data, .type = TESELA_F64}};
  status[0] = tsl_ranks_transpose(ranks, NULL, &desc, NULL, sizeof desc, 0);
  desc.a.type = desc.b.type = TESELA_I8;
  desc.alpha = (const double[]){2};
  status[1] = tsl_ranks_transpose(ranks, NULL, &desc, NULL, sizeof desc, 0);
  status[2] = tsl_ranks_transpose(ranks, NULL, NULL, NULL, sizeof desc, 0);
  status[3] = tsl_ranks_transpose(ranks, NULL, &desc, NULL, 8, 0);
  double result[4] = {0};
  desc = (tesela_mpi_transpose_desc){.rows = 2,
                                     .cols = 2,
                                     .a = {.data = data, .type = TESELA_F64},
                                     .b = {.data = result, .type = TESELA_F64}};
  status[4] = tsl_ranks_transpose(ranks, NULL, &desc, NULL, sizeof desc, 0); /* is right */
  desc.b.data = data;
  status[5] = tsl_ranks_transpose(ranks, NULL, &desc, NULL, sizeof desc, 0);
  desc.b = (tesela_result){.data = result, .type = TESELA_F64, .row_stride = 1, .col_stride = 1};
  status[6] = tsl_ranks_transpose(ranks, NULL, &desc, NULL, sizeof desc, 0);
  desc.b = (tesela_result){.data = result, .type = TESELA_F64, .shards = &(tesela_shards){0}};
  status[7] = tsl_ranks_transpose(ranks, NULL, &desc, NULL, sizeof desc, 0);
  desc.b.shards = NULL;
  desc.a.shards = &(tesela_shards){0};
  status[8] = tsl_ranks_transpose(ranks, NULL, &desc, NULL, sizeof desc, 0);
}

static void refused(void **state) {
  (void)state;
  enum { CALLS = 9 };
  tesela_status status[CALLS];
  assert_int_equal(tsl_threads_run(1, wrong_body, status), TESELA_OK);
  for (int i = 0; i < CALLS; i++)
    assert_int_equal(status[i], i == 4 ? TESELA_OK : i < 7 ? TESELA_BAD_CALL : TESELA_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_1), cmocka_unit_test(ranks_4),
                                     cmocka_unit_test(ranks_9), cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

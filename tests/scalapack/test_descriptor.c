/* ScaLAPACK's descriptors: which are accepted, and their meaning. */
#include "unit/unit.h"

#include "scalapack/descriptor.h"
#include "scalapack/scalapack_route.h"

#include <string.h>

/* NUMROC against counting. */
static void test_local(void **state) {
  (void)state;
  for (int processes = 1; processes <= 4; processes++)
    for (int block = 1; block <= 5; block++)
      for (int size = 0; size <= 23; size++)
        for (int first = 0; first < processes; first++)
          for (int process = 0; process < processes; process++) {
            int count = 0;
            for (int i = 0; i < size; i++)
              count += (first + i / block) % processes == process;
            assert_int_equal(tsl_scalapack_local_size(size, block, process, first, processes), count);
          }
}

enum { DTYPE, CTXT, M, N, MB, NB, RSRC, CSRC, LLD };
static const int64_t plain[] = {1, 7, 20, 30, 4, 5, 1, 2, 12};
static const tsl_scalapack_position here = {.rows = 2, .cols = 3, .row = 1, .col = 2};

static void test_plain(void **state) {
  (void)state;
  tsl_scalapack_matrix of;
  assert_int_equal(tsl_scalapack_field_count(1), 9);
  tsl_scalapack_describe(plain, 3, 6, &of);
  assert_int_equal(of.context, 7);
  assert_int_equal(of.rows, 20);
  assert_int_equal(of.cols, 30);
  assert_int_equal(of.row_block, 4);
  assert_int_equal(of.col_block, 5);
  assert_int_equal(of.first_row, 1);
  assert_int_equal(of.first_col, 2);
  assert_int_equal(of.leading, 12);
  assert_int_equal(of.row, 2);
  assert_int_equal(of.col, 5);
  assert_int_equal(tsl_scalapack_virtual_offset(&of, &here), 0);
  assert_null(tsl_scalapack_refuse(&of, 18, 25, &here));
}

/* One integer or size at a time is wrong. */
static void test_refused(void **state) {
  (void)state;
  static const struct {
    int field;
    int64_t value;
    int64_t i, j, rows, cols;
    const char *piece;
  } cases[] = {{DTYPE, 3, 1, 1, 1, 1, "type"},         {DTYPE, -1, 1, 1, 1, 1, "type"},
               {MB, 0, 1, 1, 1, 1, "blocks"},          {NB, -2, 1, 1, 1, 1, "blocks"},
               {RSRC, 2, 1, 1, 1, 1, "first block"},   {RSRC, -1, 1, 1, 1, 1, "first block"},
               {CSRC, 3, 1, 1, 1, 1, "first block"},   {CSRC, -1, 1, 1, 1, 1, "first block"},
               {M, 20, 0, 1, 1, 1, "outside"},         {M, 20, 1, 0, 1, 1, "outside"},
               {M, 20, 3, 1, 19, 1, "outside"},        {N, 30, 1, 30, 1, 2, "outside"},
               {M, -20, 1, 1, 1, 1, "outside"},        {M, 20, INT64_MAX, 1, 1, 1, "outside"},
               {M, 20, 1, 1, INT64_MAX, 1, "outside"}, {LLD, 11, 1, 1, 1, 1, "leading"},
               {LLD, 0, 1, 1, 1, 1, "leading"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    int64_t fields[11] = {0};
    tsl_scalapack_matrix of;
    for (int i = 0; i <= LLD; i++)
      fields[i] = plain[i];
    fields[cases[c].field] = cases[c].value;
    tsl_scalapack_describe(fields, cases[c].i, cases[c].j, &of);
    const char *why = tsl_scalapack_refuse(&of, cases[c].rows, cases[c].cols, &here);
    assert_non_null(why);
    assert_non_null(strstr(why, cases[c].piece));
  }
}

/* Only a process that has columns needs a valid leading dimension. */
static void test_leading(void **state) {
  (void)state;
  static const int64_t narrow[] = {1, 0, 20, 5, 4, 5, 0, 0, 1};
  tsl_scalapack_matrix of;
  tsl_scalapack_describe(narrow, 1, 1, &of);
  assert_null(tsl_scalapack_refuse(&of, 1, 1, &here));
  const tsl_scalapack_position first = {.rows = 2, .cols = 3};
  assert_non_null(tsl_scalapack_refuse(&of, 1, 1, &first));
}

/* First blocks of their own size: rows 3 + 4 + 4 ..., columns 1 + 5 + 5 ... */
static void test_first_block(void **state) {
  (void)state;
  int64_t fields[] = {2, 7, 19, 26, 3, 1, 4, 5, 1, 2, 11};
  tsl_scalapack_matrix of;
  assert_int_equal(tsl_scalapack_field_count(2), 11);
  tsl_scalapack_describe(fields, 3, 6, &of);
  assert_int_equal(of.rows, 20);
  assert_int_equal(of.cols, 30);
  assert_int_equal(of.row, 3);
  assert_int_equal(of.col, 9);
  assert_null(tsl_scalapack_refuse(&of, 17, 21, &here));
  assert_non_null(tsl_scalapack_refuse(&of, 18, 21, &here));
  /* This process would have 12 of 20 rows, one of which is missing, and four columns of its first
   * block. */
  assert_int_equal(tsl_scalapack_virtual_offset(&of, &here), 1 + 4 * 11);
  const tsl_scalapack_position other = {.rows = 2, .cols = 3};
  assert_int_equal(tsl_scalapack_virtual_offset(&of, &other), 0);
  fields[10] = 10;
  tsl_scalapack_describe(fields, 3, 6, &of);
  assert_non_null(tsl_scalapack_refuse(&of, 1, 1, &here));
  fields[10] = 11;
  fields[4] = 5; /* larger than the others */
  tsl_scalapack_describe(fields, 3, 6, &of);
  assert_non_null(strstr(tsl_scalapack_refuse(&of, 1, 1, &here), "first block is larger"));
  fields[4] = 0;
  tsl_scalapack_describe(fields, 3, 6, &of);
  assert_non_null(tsl_scalapack_refuse(&of, 1, 1, &here));
}

/* The size decides which library computes: sizes on either side of the measured limit. Without
 * another library, tesela computes everything. */
static void routes(void **state) {
  (void)state;
  assert_false(tsl_scalapack_takes_gemm(1000, 1000, 1000, 2, true));
  assert_false(tsl_scalapack_takes_gemm(4096, 4096, 128, 4, true));
  assert_true(tsl_scalapack_takes_gemm(2048, 2048, 2048, 2, true));
  assert_true(tsl_scalapack_takes_gemm(500, 500, 50000, 4, true));
  assert_true(tsl_scalapack_takes_gemm(8192, 8192, 8192, 16, true));
  assert_true(tsl_scalapack_takes_gemm(10, 10, 10, 2, false));
  assert_false(tsl_scalapack_takes_transpose(true));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_local),       cmocka_unit_test(test_plain),
                                     cmocka_unit_test(test_refused),     cmocka_unit_test(test_leading),
                                     cmocka_unit_test(test_first_block), cmocka_unit_test(routes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

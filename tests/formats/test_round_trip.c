/* Written files are read back: every format, type and layout, as a whole and in parts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/expected.h"
#include "io/io.h"

static const char *const endings[] = {"npy", "mtx", "csv", "tsv", "txt"};
enum { ENDINGS = sizeof endings / sizeof endings[0] };

static bool holds_complex(const char *ending) {
  return strcmp(ending, "npy") == 0 || strcmp(ending, "mtx") == 0;
}

/* Bits that look random (Marsaglia's xorshift64). */
static uint64_t next_bits(void) {
  static uint64_t bits = 88172645463325252u;
  bits ^= bits << 13;
  bits ^= bits >> 7;
  bits ^= bits << 17;
  return bits;
}

/* Any bits at all, NaN, infinities and subnormal numbers among them, except where two NaN could differ. */
static void fill(const area *where) {
  for (int64_t i = 0; i < where->rows; i++) {
    for (int64_t j = 0; j < where->cols; j++) {
      const uint64_t bits[2] = {next_bits(), next_bits()};
      memcpy(area_at(where, i, j), bits, where->size);
    }
  }
}

static tesela_status write_all(const char *path, const area *where, int64_t step) {
  tsl_writer *writer;
  tesela_status status = tsl_writer_open(path, NULL, where->rows, where->cols, where->type, &writer);
  if (status != TESELA_OK)
    return status;
  for (int64_t i = 0; status == TESELA_OK && i < where->rows; i += step) {
    const int64_t rows = where->rows - i < step ? where->rows - i : step;
    status = tsl_writer_rows(writer, rows, area_at(where, i, 0), where->row_stride, where->col_stride);
  }
  if (status == TESELA_OK)
    status = tsl_writer_commit(writer);
  tsl_writer_close(writer);
  return status;
}

static tesela_status read_all(const char *path, const area *where) {
  tsl_reader *reader;
  tesela_status status = tsl_reader_open(path, NULL, &reader);
  if (status == TESELA_OK) {
    assert_int_equal(tsl_reader_info(reader)->rows, where->rows);
    assert_int_equal(tsl_reader_info(reader)->cols, where->cols);
    status =
        tsl_reader_rows(reader, where->rows, where->type, where->first, where->row_stride, where->col_stride);
  }
  tsl_reader_close(reader);
  return status;
}

static void check_same(const area *wrote, const area *got, const char *what) {
  for (int64_t i = 0; i < wrote->rows; i++) {
    for (int64_t j = 0; j < wrote->cols; j++) {
      double a[2], b[2];
      tsl_type_load(wrote->type, area_at(wrote, i, j), a);
      tsl_type_load(got->type, area_at(got, i, j), b);
      if (!same_value(a, b))
        fail_msg("%s as %s: (%d, %d) is %a%+ai where %a%+ai was written", what, tsl_type(wrote->type)->name,
                 (int)i, (int)j, b[0], b[1], a[0], a[1]);
    }
  }
  area_check_gaps(got);
}

static void round_trip(const char *ending, tesela_type type, int64_t rows, int64_t cols, int layout,
                       int64_t step) {
  area wrote, got;
  char name[64];
  snprintf(name, sizeof name, "matrix.%s", ending);
  const char *const path = scratch_file(name);
  area_make(&wrote, rows, cols, type, layout);
  area_make(&got, rows, cols, type, (layout + 1) % LAYOUTS);
  fill(&wrote);
  const tesela_status status = write_all(path, &wrote, step);
  const bool held = (holds_complex(ending) || !tsl_type(type)->is_complex) &&
                    (rows * cols > 0 || (strcmp(ending, "csv") != 0 && strcmp(ending, "tsv") != 0));
  if (held && status != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_int_equal(status, held ? TESELA_OK : TESELA_BAD_CALL);
  if (held) {
    if (read_all(path, &got) != TESELA_OK)
      fail_msg("%s", tesela_last_error());
    check_same(&wrote, &got, ending);
    unlink(path);
  }
  assert_int_equal(count_scratch_files(), 0);
  area_free(&wrote);
  area_free(&got);
}

static void test_every_type(void **state) {
  (void)state;
  const tsl_type_info *type;
  for (int e = 0; e < ENDINGS; e++)
    for (int t = 0; (type = tsl_type_at(t)) != NULL; t++)
      for (int layout = 0; layout < LAYOUTS; layout++)
        for (int64_t step = 2; step <= 5; step += 3)
          round_trip(endings[e], type->type, 5, 7, layout, step);
}

static void test_shapes(void **state) {
  (void)state;
  static const int64_t shapes[][2] = {{1, 1}, {1, 9}, {9, 1}, {0, 3}, {3, 0}, {0, 0}};
  for (int e = 0; e < ENDINGS; e++)
    for (int n = 0; n < 6; n++)
      for (int layout = 0; layout < LAYOUTS; layout++)
        round_trip(endings[e], TESELA_F64, shapes[n][0], shapes[n][1], layout, 4);
}

/* Larger than the blocks of a MiB in which files are read and written. */
static void test_large(void **state) {
  (void)state;
  for (int e = 0; e < ENDINGS; e++) {
    round_trip(endings[e], TESELA_F64, 401, 503, PADDED, 100);
    round_trip(endings[e], TESELA_F32, 2, 90001, BY_ROWS, 2);
    round_trip(endings[e], TESELA_I8, 400001, 1, REVERSED, 123456);
  }
  round_trip("npy", TESELA_C128, 300, 401, BY_ROWS, 300);
}

/* A column-major .npy as NumPy writes it: our bytes of the transpose, with the header's word changed. */
static void test_large_fortran(void **state) {
  (void)state;
  enum { ROWS = 70001, COLS = 3 };
  area wrote, got;
  char bytes[128];
  const char *const path = scratch_file("fortran.npy");
  area_make(&wrote, ROWS, COLS, TESELA_F32, BY_COLUMNS);
  area_make(&got, ROWS, COLS, TESELA_F32, PADDED);
  fill(&wrote);
  FILE *const file = fopen(path, "wb");
  assert_non_null(file);
  snprintf(bytes, sizeof bytes, "{'descr': '<f4', 'fortran_order': True, 'shape': (%d, %d), }\n", ROWS, COLS);
  fwrite("\x93NUMPY\x01\x00", 1, 8, file);
  fputc((int)strlen(bytes), file);
  fputc(0, file);
  fputs(bytes, file);
  fwrite(wrote.first, 4, (size_t)ROWS * COLS, file);
  fclose(file);

  assert_int_equal(read_all(path, &got), TESELA_OK);
  check_same(&wrote, &got, "fortran");
  tsl_reader *reader;
  assert_int_equal(tsl_reader_open(path, NULL, &reader), TESELA_OK);
  for (int64_t i = 0; i < ROWS; i += 35000) {
    const int64_t rows = ROWS - i < 35000 ? ROWS - i : 35000;
    memset(area_at(&got, i, 0), 0, 4);
    assert_int_equal(
        tsl_reader_rows(reader, rows, TESELA_F32, area_at(&got, i, 0), got.row_stride, got.col_stride),
        TESELA_OK);
  }
  tsl_reader_close(reader);
  check_same(&wrote, &got, "fortran in panels");
  unlink(path);
  area_free(&wrote);
  area_free(&got);
}

/* Columns of rows that are so long that they are read in pieces. */
static void test_long_rows_by_columns(void **state) {
  (void)state;
  enum { ROWS = 7, COLS = 20011, STEP = 9001 };
  area wrote, got;
  tsl_reader *reader;
  const char *const path = scratch_file("wide.npy");
  area_make(&wrote, ROWS, COLS, TESELA_F32, BY_ROWS);
  area_make(&got, ROWS, COLS, TESELA_F32, BY_COLUMNS);
  fill(&wrote);
  assert_int_equal(write_all(path, &wrote, ROWS), TESELA_OK);
  assert_int_equal(tsl_reader_open(path, NULL, &reader), TESELA_OK);
  for (int64_t j = 0; j < COLS; j += STEP)
    assert_int_equal(tsl_reader_columns(reader, j, COLS - j < STEP ? COLS - j : STEP, TESELA_F32,
                                        area_at(&got, 0, j), got.row_stride, got.col_stride),
                     TESELA_OK);
  tsl_reader_close(reader);
  check_same(&wrote, &got, "columns");
  unlink(path);
  area_free(&wrote);
  area_free(&got);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_type),
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_large),
      cmocka_unit_test(test_large_fortran),
      cmocka_unit_test(test_long_rows_by_columns),
  };
  return cmocka_run_group_tests(tests, group_make_folder, group_remove_folder);
}

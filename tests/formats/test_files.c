/* Every good file of tests/data, read as every type, into every layout, whole and in panels. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/expected.h"
#include "io/io.h"

typedef struct good_file {
  const char *name;
  const char *format;
  int64_t rows, cols;
  tesela_type type;
  expected what;
} good_file;

#define REAL                                                                                                 \
  { real_value, false, GENERAL }
#define WHOLE                                                                                                \
  { whole_value, false, GENERAL }
#define COUNT                                                                                                \
  { count_value, false, GENERAL }
#define BIT                                                                                                  \
  { bit_value, false, GENERAL }
#define COMPLEX                                                                                              \
  { complex_value, false, GENERAL }

static const good_file files[] = {
    {"npy/f2.npy", "npy", 5, 7, TESELA_F16, REAL},
    {"npy/f4.npy", "npy", 5, 7, TESELA_F32, REAL},
    {"npy/f8.npy", "npy", 5, 7, TESELA_F64, REAL},
    {"npy/i1.npy", "npy", 5, 7, TESELA_I8, WHOLE},
    {"npy/i2.npy", "npy", 5, 7, TESELA_F64, WHOLE},
    {"npy/i4.npy", "npy", 5, 7, TESELA_I32, WHOLE},
    {"npy/i8.npy", "npy", 5, 7, TESELA_F64, WHOLE},
    {"npy/u1.npy", "npy", 5, 7, TESELA_U8, COUNT},
    {"npy/u2.npy", "npy", 5, 7, TESELA_F64, COUNT},
    {"npy/u4.npy", "npy", 5, 7, TESELA_F64, COUNT},
    {"npy/u8.npy", "npy", 5, 7, TESELA_F64, COUNT},
    {"npy/b1.npy", "npy", 5, 7, TESELA_F64, BIT},
    {"npy/c8.npy", "npy", 5, 7, TESELA_C64, COMPLEX},
    {"npy/c16.npy", "npy", 5, 7, TESELA_C128, COMPLEX},
    {"npy/f2_big.npy", "npy", 5, 7, TESELA_F16, REAL},
    {"npy/f4_big.npy", "npy", 5, 7, TESELA_F32, REAL},
    {"npy/f8_big.npy", "npy", 5, 7, TESELA_F64, REAL},
    {"npy/i2_big.npy", "npy", 5, 7, TESELA_F64, WHOLE},
    {"npy/i4_big.npy", "npy", 5, 7, TESELA_I32, WHOLE},
    {"npy/i8_big.npy", "npy", 5, 7, TESELA_F64, WHOLE},
    {"npy/u2_big.npy", "npy", 5, 7, TESELA_F64, COUNT},
    {"npy/u4_big.npy", "npy", 5, 7, TESELA_F64, COUNT},
    {"npy/u8_big.npy", "npy", 5, 7, TESELA_F64, COUNT},
    {"npy/c8_big.npy", "npy", 5, 7, TESELA_C64, COMPLEX},
    {"npy/c16_big.npy", "npy", 5, 7, TESELA_C128, COMPLEX},
    {"npy/f8_fortran.npy", "npy", 5, 7, TESELA_F64, REAL},
    {"npy/f4_big_fortran.npy", "npy", 5, 7, TESELA_F32, REAL},
    {"npy/c16_fortran.npy", "npy", 5, 7, TESELA_C128, COMPLEX},
    {"npy/i2_fortran.npy", "npy", 5, 7, TESELA_F64, WHOLE},
    {"npy/version2.npy", "npy", 5, 7, TESELA_F64, REAL},
    {"npy/version3.npy", "npy", 5, 7, TESELA_F64, REAL},
    {"npy/one_dimension.npy", "npy", 9, 1, TESELA_F32, REAL},
    {"npy/no_dimension.npy", "npy", 1, 1, TESELA_F64, REAL},
    {"npy/empty_rows.npy", "npy", 0, 3, TESELA_F64, REAL},
    {"npy/empty_cols.npy", "npy", 3, 0, TESELA_F32, REAL},
    {"npy/empty_one_dimension.npy", "npy", 0, 1, TESELA_F64, REAL},
    {"npy/order_of_keys.npy", "npy", 2, 3, TESELA_F64, REAL},
    {"npy/many_blanks.npy", "npy", 2, 3, TESELA_F64, REAL},
    {"npy/named_wrongly.dat", "npy", 5, 7, TESELA_F64, REAL},

    {"mtx/array_real.mtx", "mtx", 6, 4, TESELA_F64, REAL},
    {"mtx/array_integer.mtx", "mtx", 6, 4, TESELA_F64, WHOLE},
    {"mtx/array_complex.mtx", "mtx", 6, 4, TESELA_C128, COMPLEX},
    {"mtx/coordinate_real.mtx", "mtx", 6, 4, TESELA_F64, {real_value, true, GENERAL}},
    {"mtx/array_unsigned.mtx", "mtx", 6, 4, TESELA_F64, COUNT},
    {"mtx/coordinate_integer.mtx", "mtx", 6, 4, TESELA_F64, {whole_value, true, GENERAL}},
    {"mtx/coordinate_complex.mtx", "mtx", 6, 4, TESELA_C128, {complex_value, true, GENERAL}},
    {"mtx/coordinate_pattern.mtx", "mtx", 6, 4, TESELA_F64, {one_value, true, GENERAL}},
    {"mtx/array_symmetric_real.mtx", "mtx", 5, 5, TESELA_F64, {real_value, false, SYMMETRIC}},
    {"mtx/array_symmetric_integer.mtx", "mtx", 5, 5, TESELA_F64, {whole_value, false, SYMMETRIC}},
    {"mtx/array_symmetric_complex.mtx", "mtx", 5, 5, TESELA_C128, {complex_value, false, SYMMETRIC}},
    {"mtx/array_skew_real.mtx", "mtx", 5, 5, TESELA_F64, {real_value, false, SKEW}},
    {"mtx/array_skew_complex.mtx", "mtx", 5, 5, TESELA_C128, {complex_value, false, SKEW}},
    {"mtx/array_hermitian_complex.mtx", "mtx", 5, 5, TESELA_C128, {complex_value, false, HERMITIAN}},
    {"mtx/coordinate_symmetric_real.mtx", "mtx", 5, 5, TESELA_F64, {real_value, true, SYMMETRIC}},
    {"mtx/coordinate_symmetric_integer.mtx", "mtx", 5, 5, TESELA_F64, {whole_value, true, SYMMETRIC}},
    {"mtx/coordinate_symmetric_complex.mtx", "mtx", 5, 5, TESELA_C128, {complex_value, true, SYMMETRIC}},
    {"mtx/coordinate_symmetric_pattern.mtx", "mtx", 5, 5, TESELA_F64, {one_value, true, SYMMETRIC}},
    {"mtx/coordinate_skew_real.mtx", "mtx", 5, 5, TESELA_F64, {real_value, true, SKEW}},
    {"mtx/coordinate_skew_complex.mtx", "mtx", 5, 5, TESELA_C128, {complex_value, true, SKEW}},
    {"mtx/coordinate_hermitian_complex.mtx", "mtx", 5, 5, TESELA_C128, {complex_value, true, HERMITIAN}},
    {"mtx/by_hand.mtx", "mtx", 2, 3, TESELA_F64, REAL},
    {"mtx/duplicates.mtx", "mtx", 2, 3, TESELA_F64, REAL},
    {"mtx/empty_array.mtx", "mtx", 0, 3, TESELA_F64, REAL},

    {"csv/numpy.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/comma.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/semicolon.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/tab.tsv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/blanks_around.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/crlf.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/header.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/header_quoted.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/quoted.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/byte_order_mark.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/no_last_line_end.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/blank_lines_at_end.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/decimal_comma.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/one_column.csv", "csv", 9, 1, TESELA_F64, REAL},
    {"csv/one_row.csv", "csv", 1, 9, TESELA_F64, REAL},
    {"csv/exponents.csv", "csv", 4, 3, TESELA_F64, REAL},
    {"csv/named_wrongly.dat", "csv", 4, 3, TESELA_F64, REAL},

    {"txt/plain.txt", "txt", 4, 3, TESELA_F64, REAL},
    {"txt/crlf.txt", "txt", 4, 3, TESELA_F64, REAL},
    {"txt/any_lines.txt", "txt", 4, 3, TESELA_F64, REAL},
    {"txt/fortran.txt", "txt", 4, 3, TESELA_F64, REAL},
    {"txt/empty.txt", "txt", 0, 5, TESELA_F64, REAL},
    {"txt/named_wrongly.dat", "txt", 4, 3, TESELA_F64, REAL},

    {"packed/f8.npy.gz", "npy", 5, 7, TESELA_F64, REAL},
    {"packed/named_plainly.npy", "npy", 5, 7, TESELA_F64, REAL},
    {"packed/comma.csv.gz", "csv", 4, 3, TESELA_F64, REAL},
    {"packed/members.csv.gz", "csv", 4, 3, TESELA_F64, REAL},
    {"packed/coordinate_hermitian_complex.mtx.gz",
     "mtx",
     5,
     5,
     TESELA_C128,
     {complex_value, true, HERMITIAN}},
    {"packed/plain.txt.gz", "txt", 4, 3, TESELA_F64, REAL},
    {"packed/nameless.gz", "txt", 4, 3, TESELA_F64, REAL},
    {"packed/stored.npz", "npy", 5, 7, TESELA_F64, REAL},
    {"packed/deflated.npz", "npy", 5, 7, TESELA_F64, REAL},
};
enum { FILE_COUNT = sizeof files / sizeof files[0] };

static bool all_fit(const good_file *file, tesela_type type) {
  for (int64_t i = 0; i < file->rows; i++) {
    for (int64_t j = 0; j < file->cols; j++) {
      double value[2];
      expected_value(&file->what, i, j, value);
      if (!fits(value, type))
        return false;
    }
  }
  return true;
}

/* A number as a type holds it. */
static void through(tesela_type type, double value[2]) {
  unsigned char element[16];
  tsl_type_store(type, element, value);
  tsl_type_load(type, element, value);
}

static void check_values(const good_file *file, const area *where) {
  for (int64_t i = 0; i < file->rows; i++) {
    for (int64_t j = 0; j < file->cols; j++) {
      double want[2], got[2];
      expected_value(&file->what, i, j, want);
      through(where->type, want); /* 9 is 8 in e5m2 */
      tsl_type_load(where->type, area_at(where, i, j), got);
      if (!same_value(want, got))
        fail_msg("%s as %s: (%d, %d) is %g%+gi where %g%+gi should be", file->name,
                 tsl_type(where->type)->name, (int)i, (int)j, got[0], got[1], want[0], want[1]);
    }
  }
  area_check_gaps(where);
}

/* Reads `step` rows at a time. */
static tesela_status read_all(const char *name, const area *where, int64_t step) {
  tsl_reader *reader;
  tesela_status status = tsl_reader_open(data_file(name), NULL, &reader);
  for (int64_t i = 0; status == TESELA_OK && (i < where->rows || i == 0); i += step) {
    const int64_t rows = where->rows - i < step ? where->rows - i : step;
    status = tsl_reader_rows(reader, rows, where->type, rows > 0 ? area_at(where, i, 0) : where->first,
                             where->row_stride, where->col_stride);
  }
  tsl_reader_close(reader);
  return status;
}

static void test_shapes(void **state) {
  (void)state;
  for (int n = 0; n < FILE_COUNT; n++) {
    tsl_reader *reader;
    if (tsl_reader_open(data_file(files[n].name), NULL, &reader) != TESELA_OK)
      fail_msg("%s", tesela_last_error());
    const tsl_file_info *const info = tsl_reader_info(reader);
    assert_string_equal(info->format, files[n].format);
    assert_int_equal(info->rows, files[n].rows);
    assert_int_equal(info->cols, files[n].cols);
    assert_int_equal(info->type, files[n].type);
    assert_int_equal(info->by_rows, strcmp(info->format, "mtx") != 0);
    assert_int_equal(info->text, strcmp(info->format, "npy") != 0);
    assert_int_equal(info->header, strncmp(files[n].name, "csv/header", 10) == 0);
    tsl_reader_close(reader);
  }
}

static void test_values(void **state) {
  (void)state;
  for (int n = 0; n < FILE_COUNT; n++) {
    const tsl_type_info *type;
    for (int t = 0; (type = tsl_type_at(t)) != NULL; t++) {
      for (int layout = 0; layout < LAYOUTS; layout++) {
        area where;
        area_make(&where, files[n].rows, files[n].cols, type->type, layout);
        const tesela_status status = read_all(files[n].name, &where, files[n].rows + 1);
        if (all_fit(&files[n], type->type)) {
          if (status != TESELA_OK)
            fail_msg("as %s: %s", type->name, tesela_last_error());
          check_values(&files[n], &where);
        } else {
          assert_int_equal(status, TESELA_BAD_INPUT);
          assert_non_null(strstr(tesela_last_error(), "does not fit"));
        }
        area_free(&where);
      }
    }
  }
}

static void test_panels(void **state) {
  (void)state;
  for (int n = 0; n < FILE_COUNT; n++) {
    for (int64_t step = 1; step <= 3; step += 2) {
      area where;
      area_make(&where, files[n].rows, files[n].cols, TESELA_C128, PADDED);
      const tesela_status status = read_all(files[n].name, &where, step);
      const bool whole_only = strcmp(files[n].format, "mtx") == 0 && files[n].rows > step;
      assert_int_equal(status, whole_only ? TESELA_BAD_CALL : TESELA_OK);
      if (!whole_only)
        check_values(&files[n], &where);
      area_free(&where);
    }
  }
}

/* Columns in any order, of files that can be read again; afterwards rows begin with the first. */
static void test_columns(void **state) {
  (void)state;
  int by_columns = 0;
  for (int n = 0; n < FILE_COUNT; n++) {
    area where;
    tsl_reader *reader;
    assert_int_equal(tsl_reader_open(data_file(files[n].name), NULL, &reader), TESELA_OK);
    const int64_t rows = files[n].rows, cols = files[n].cols;
    area_make(&where, rows, cols, TESELA_C128, n % 2 ? PADDED : BY_COLUMNS);
    if (!tsl_reader_info(reader)->by_columns) {
      assert_int_equal(tsl_reader_columns(reader, 0, cols, TESELA_C128, where.first, 1, rows),
                       TESELA_BAD_CALL);
    } else {
      by_columns++;
      assert_int_equal(tsl_reader_columns(reader, 0, cols + 1, TESELA_C128, where.first, 1, 1),
                       TESELA_BAD_CALL);
      for (int64_t first = cols - 1 - (cols - 1) % 3; first >= 0; first -= 3) {
        const int64_t count = cols - first < 3 ? cols - first : 3;
        if (tsl_reader_columns(reader, first, count, TESELA_C128, rows > 0 ? area_at(&where, 0, first) : NULL,
                               where.row_stride, where.col_stride) != TESELA_OK)
          fail_msg("%s: %s", files[n].name, tesela_last_error());
      }
      check_values(&files[n], &where);
      area_free(&where);
      area_make(&where, rows, cols, TESELA_C128, BY_ROWS);
      assert_int_equal(
          tsl_reader_rows(reader, rows, TESELA_C128, where.first, where.row_stride, where.col_stride),
          TESELA_OK);
      check_values(&files[n], &where);
    }
    tsl_reader_close(reader);
    area_free(&where);
  }
  assert_true(by_columns > 50);
}

/* The reader's report on the format of printed numbers, used to judge other numbers. */
static void test_printed(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double value, half;
  } prints[] = {
      {"1 3\n1.50 20.25 300.00\n", 20.25, 0.005}, /* %.2f */
      {"1 3\n1.50 20.25 300.00\n", 0, 0.005},
      {"1 3\n1.5 20.25 300\n", 20.25, 0.005},                /* the same without zeros at the end */
      {"1 3\n1.5 20.25 300\n", 300, 0.05},                   /* or four digits, of which two are such zeros */
      {"1 3\n1.234e+05 -2.000e-7 1.500e+00\n", 1.234e5, 50}, /* %.3e */
      {"1 3\n1.234e+05 -2.000e-7 1.500e+00\n", -2e-7, 0.5e-10},
      {"1 3\n123.457 0.00123457 1.5\n", 123.457, 0.0005}, /* %g */
      {"1 3\n123.457 0.00123457 1.5\n", 0.00123457, 0.5e-8},
      {"1 3\n123.457 0.00123457 1.5\n", 1.5, 0.5e-5},
      {"1 3\n0.1 0.30000000000000004 7\n", 0.1, 0.5e-17}, /* as many as it takes */
      {"1 3\n12 -7 1000000\n", 12, 0},                    /* whole numbers are exact */
      {"1 3\n12 -7 2.0\n", 12, 0.05},
      {"1 3\n0.00 0.00 0.00\n", 0, 0.005},
  };
  for (size_t i = 0; i < sizeof prints / sizeof prints[0]; i++) {
    const char *const path = scratch_file("printed.txt");
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(prints[i].text, file);
    fclose(file);
    double values[3];
    tsl_reader *reader;
    assert_int_equal(tsl_reader_open(path, NULL, &reader), TESELA_OK);
    assert_int_equal(tsl_reader_rows(reader, 1, TESELA_F64, values, 3, 1), TESELA_OK);
    const double half = tsl_printed_half_unit(tsl_reader_printed(reader), prints[i].value);
    if (!(fabs(half - prints[i].half) <= 1e-12 * prints[i].half))
      fail_msg("%sthe last digit of %g is half a unit of %g, not %g", prints[i].text, prints[i].value,
               prints[i].half, half);
    tsl_reader_close(reader);
    unlink(path);
  }
}

/* Infinities, NaN, the sign of zero and the smallest double come through as they are. */
static void test_special(void **state) {
  (void)state;
  static const char *const names[] = {"npy/special.npy", "csv/special.csv", "txt/special.txt"};
  const double want[6] = {INFINITY, -INFINITY, NAN, 0, -0.0, 0x1p-1074};
  for (int n = 0; n < 3; n++) {
    area where;
    area_make(&where, 2, 3, TESELA_F64, BY_ROWS);
    assert_int_equal(read_all(names[n], &where, 2), TESELA_OK);
    for (int i = 0; i < 6; i++) {
      double got[2];
      tsl_type_load(TESELA_F64, where.first + i * 8, got);
      assert_true(same_value((const double[2]){want[i], 0}, got));
    }
    area_free(&where);
    area_make(&where, 2, 3, TESELA_I32, BY_ROWS);
    assert_int_equal(read_all(names[n], &where, 2), TESELA_BAD_INPUT);
    area_free(&where);
  }
}

/* Copies a file into a pipe from another process, which ends by itself. */
static pid_t feed(const char *from, const char *pipe_path) {
  const pid_t child = fork();
  if (child != 0)
    return child;
  char bytes[65536];
  FILE *const source = fopen(from, "rb"), *const target = fopen(pipe_path, "wb");
  if (source != NULL && target != NULL)
    fwrite(bytes, 1, fread(bytes, 1, sizeof bytes, source), target);
  if (target != NULL)
    fclose(target);
  _exit(0);
}

/* All comes from a pipe as well, columns of a Fortran file as a whole only. */
static void test_pipes(void **state) {
  (void)state;
  static const char *const names[] = {"npy/f8_big.npy", "npy/f8_fortran.npy", "mtx/coordinate_real.mtx",
                                      "txt/plain.txt",  "csv/header.csv",     "packed/comma.csv.gz"};
  for (int n = 0; n < 6; n++) {
    const good_file *file = files;
    while (strcmp(file->name, names[n]) != 0)
      file++;
    char path[4096];
    snprintf(path, sizeof path, "%s", scratch_file(strrchr(names[n], '/') + 1));
    assert_int_equal(mkfifo(path, 0600), 0);
    const pid_t child = feed(data_file(names[n]), path);
    area where;
    area_make(&where, file->rows, file->cols, file->type, PADDED);
    tsl_reader *reader;
    assert_int_equal(tsl_reader_open(path, NULL, &reader), TESELA_OK);
    assert_int_equal(tsl_reader_info(reader)->by_rows, n == 0 || n >= 3);
    assert_int_equal(tsl_reader_info(reader)->by_columns, n >= 4); /* kept in a file without a name */
    assert_int_equal(
        tsl_reader_rows(reader, file->rows, file->type, where.first, where.row_stride, where.col_stride),
        TESELA_OK);
    check_values(file, &where);
    tsl_reader_close(reader);
    area_free(&where);
    waitpid(child, NULL, 0);
    unlink(path);
  }
}

/* An archive's table of contents is at its end, which a pipe does not reach. */
static void test_archive_from_pipe(void **state) {
  (void)state;
  char path[4096];
  tsl_reader *reader;
  snprintf(path, sizeof path, "%s", scratch_file("pipe.npz"));
  assert_int_equal(mkfifo(path, 0600), 0);
  const pid_t child = feed(data_file("packed/stored.npz"), path);
  assert_int_equal(tsl_reader_open(path, NULL, &reader), TESELA_BAD_INPUT);
  assert_non_null(strstr(tesela_last_error(), "pipe"));
  waitpid(child, NULL, 0);
  unlink(path);
}

/* A coordinate file without entries is zero everywhere, whatever was in memory. */
static void test_no_entries(void **state) {
  (void)state;
  area where;
  area_make(&where, 2, 3, TESELA_F32, PADDED);
  assert_int_equal(read_all("mtx/empty_coordinate.mtx", &where, 2), TESELA_OK);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      assert_memory_equal(area_at(&where, i, j), "\0\0\0\0", 4);
  area_check_gaps(&where);
  area_free(&where);
}

static void test_wrong_calls(void **state) {
  (void)state;
  tsl_reader *reader;
  double values[12];
  assert_int_equal(tsl_reader_open(data_file("csv/comma.csv"), NULL, &reader), TESELA_OK);
  assert_int_equal(tsl_reader_rows(reader, 5, TESELA_F64, values, 3, 1), TESELA_BAD_CALL);
  assert_int_equal(tsl_reader_rows(reader, -1, TESELA_F64, values, 3, 1), TESELA_BAD_CALL);
  assert_int_equal(tsl_reader_rows(reader, 1, TESELA_TYPE_DEFAULT, values, 3, 1), TESELA_BAD_CALL);
  assert_int_equal(tsl_reader_rows(reader, 1, TESELA_I8, values, 3, 1), TESELA_BAD_INPUT);
  assert_int_equal(tsl_reader_rows(reader, 1, TESELA_F64, values, 3, 1), TESELA_BAD_CALL);
  tsl_reader_close(reader);
  tsl_reader_close(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shapes),     cmocka_unit_test(test_values),
      cmocka_unit_test(test_panels),     cmocka_unit_test(test_special),
      cmocka_unit_test(test_no_entries), cmocka_unit_test(test_wrong_calls),
      cmocka_unit_test(test_pipes),      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_printed),    cmocka_unit_test(test_archive_from_pipe),
  };
  return cmocka_run_group_tests(tests, group_make_folder, group_remove_folder);
}

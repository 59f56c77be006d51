/* Every bad file of tests/data/bad: the status, and a word that the sentence must contain in
 * addition to the file's name. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/expected.h"
#include "io/io.h"

static const struct {
  const char *name;
  const char *word;
} files[] = {
    {"empty.npy", "NUMPY"},
    {"magic.npy", "NUMPY"},
    {"version.npy", "version 4.0"},
    {"cut_version.npy", "truncated inside its header"},
    {"cut_length.npy", "truncated inside its header"},
    {"cut_header.npy", "truncated inside its header"},
    {"long_header.npy", "2147483648 bytes"},
    {"truncated.npy", "truncated"},
    {"no_values.npy", "truncated"},
    {"oversized.npy", "oversized"},
    {"structured.npy", "structured"},
    {"text.npy", "'U2'"},
    {"object.npy", "'|O'"},
    {"time.npy", "'<M8[s]'"},
    {"void.npy", "'V8'"},
    {"long_double.npy", "'f16'"},
    {"three_dimensions.npy", "3 dimensions, (2, 3, 4)"},
    {"huge_shape.npy", "4611686018427387904 x 4"},
    {"huge_size.npy", "larger than any memory"},
    {"large_shape.npy", "truncated"},
    {"negative_shape.npy", "tuple of sizes"},
    {"number_shape.npy", "tuple of sizes"},
    {"list_shape.npy", "not a tuple"},
    {"order.npy", "neither True nor False"},
    {"no_shape.npy", "'shape'"},
    {"two_shapes.npy", "second time"},
    {"unknown_key.npy", "unknown key"},
    {"open_dictionary.npy", "missing"},
    {"open_string.npy", "does not end"},
    {"more_header.npy", "more text"},
    {"no_dictionary.npy", "'{'"},
    {"no_colon.npy", "':'"},
    {"no_comma.npy", "','"},
    {"large_i8.npy", "row 2, column 2: holds an integer beyond 2^53"},
    {"large_u8.npy", "row 1, column 1: holds an integer beyond 2^53"},

    {"empty.mtx", "%%MatrixMarket"},
    {"banner.mtx", "%%MatrixMarket"},
    {"vector.mtx", "'vector'"},
    {"format.mtx", "array, coordinate"},
    {"field.mtx", "'quaternion'"},
    {"symmetry.mtx", "skew-symmetric"},
    {"short_banner.mtx", "line 1 says ''"},
    {"long_banner.mtx", "fifth word"},
    {"array_pattern.mtx", "array pattern general"},
    {"skew_pattern.mtx", "coordinate pattern skew-symmetric"},
    {"no_shape.mtx", "before the line with the shape"},
    {"shape_words.mtx", "line 2 has 'two'"},
    {"shape_short.mtx", "rows columns entries"},
    {"shape_long.mtx", "line 2 has '4'"},
    {"negative_shape.mtx", "line 2 has '-2'"},
    {"huge_shape.mtx", "larger than any memory"},
    {"large_shape.mtx", "truncated"},
    {"large_entries.mtx", "truncated"},
    {"not_square.mtx", "line 2 says 2 x 3"},
    {"truncated.mtx", "after 3 of 4 entries"},
    {"oversized.mtx", "line 7"},
    {"non_numeric.mtx", "line 5 has 'x3'"},
    {"two_values.mtx", "line 4"},
    {"few_entries.mtx", "after 2 of 3 entries"},
    {"many_entries.mtx", "line 4"},
    {"row_zero.mtx", "line 3 names row 0"},
    {"row_beyond.mtx", "line 4 names row 3"},
    {"column_beyond.mtx", "line 3 names column 3"},
    {"index_word.mtx", "line 3"},
    {"index_fraction.mtx", "line 3"},
    {"no_value.mtx", "line 3"},
    {"pattern_value.mtx", "line 3"},
    {"half_complex.mtx", "line 3"},
    {"fraction.mtx", "line 4"},
    {"integer_point.mtx", "line 4 has '1.0', which is no integer"},
    {"integer_exponent.mtx", "line 4 has '1e2', which is no integer"},
    {"integer_tiny.mtx", "line 4 has '1e-4006', which is no integer"},
    {"integer_inf.mtx", "line 4 has 'inf', which is no integer"},
    {"integer_beyond_f64.mtx", "line 4 has '-9007199254740993', an integer beyond 2^53"},
    {"integer_beyond_64.mtx", "larger than any 64-bit integer"},
    {"unsigned_negative.mtx", "line 4 has '-1', which is no unsigned integer"},
    {"unsigned_point.mtx", "line 4 has '1.0', which is no unsigned integer"},
    {"unsigned_beyond_f64.mtx", "line 4 has '18446744073709551615', an integer beyond 2^53"},
    {"unsigned_beyond_64.mtx", "larger than any 64-bit unsigned integer"},
    {"skew_diagonal.mtx", "line 3"},
    {"hermitian_diagonal.mtx", "line 3"},
    {"too_large.mtx", "line 4 has '1e400'"},
    {"sum_too_large.mtx", "line 4"},

    {"empty.csv", "is empty"},
    {"only_blank.csv", "is empty"},
    {"header_only.csv", "no line of numbers"},
    {"ragged_short.csv", "line 2 has 2 cells where the first line has 3"},
    {"ragged_long.csv", "line 2 has 4 cells where the first line has 3"},
    {"ragged_header.csv", "line 2 has 3 cells where the first line has 2"},
    {"trailing_separator.csv", "line 1 has an empty cell 3"},
    {"empty_cell.csv", "line 2 has an empty cell 2"},
    {"non_numeric.csv", "line 3 has 'nine' in cell 3"},
    {"first_line_typo.csv", "line 1 has '2x' in cell 2"},
    {"first_line_missing.csv", "line 1 has 'NA' in cell 2"},
    {"first_line_letter.csv", "line 1 has 'O' in cell 2 and numbers in other cells"},
    {"first_line_names.csv", "line 1 has 'x' in cell 1 and numbers in other cells"},
    {"first_line_large.csv", "line 1 has 'x' in cell 1 and numbers in other cells"},
    {"complex_first.csv", "line 1 has '1+2i' in cell 1, but csv holds real numbers only"},
    {"complex.csv", "line 2 has '-1.5e3-2.5e-1i' in cell 2, but csv holds real numbers only"},
    {"blank_line.csv", "line 2 is blank"},
    {"decimal_comma.csv", "line 1 has '1,5'"},
    {"both_marks.csv", "line 2 has a decimal '.' where line 1 has ','"},
    {"open_quote.csv", "line 2 has a quote"},
    {"after_quote.csv", "line 2 has text after a closing quote"},
    {"utf16.csv", "UTF-16"},
    {"binary.csv", "line 2"},
    {"blanks_between.csv", "line 1 has '1 2 3'"},
    {"too_large.csv", "line 2 has '-1e999'"},
    {"hexadecimal.csv", "line 2 has '0x10'"},

    {"empty.txt", "rows columns"},
    {"no_shape.txt", "rows columns"},
    {"one_size.txt", "rows columns"},
    {"three_sizes.txt", "alone"},
    {"negative.txt", "'-2'"},
    {"fraction_shape.txt", "'2.0'"},
    {"huge_shape.txt", "'99999999999999999999'"},
    {"large_shape.txt", "larger than any memory"},
    {"truncated.txt", "after 3 of 4 values"},
    {"oversized.txt", "line 4"},
    {"non_numeric.txt", "line 3 has 'four'"},
    {"commas.txt", "line 2 has '1,2'"},
    {"complex.txt", "line 2 has '2j', but txt holds real numbers only"},
    {"long_word.txt", "line 2 has a word of more than 16384"},

    {"truncated.csv.gz", "is truncated inside its gzip data"},
    {"check.csv.gz", "its gzip data cannot be unpacked"},
    {"block.csv.gz", "its gzip data cannot be unpacked"},
    {"behind.csv.gz", "other bytes follow its gzip data"},
    {"two_arrays.npz", "2 arrays (a.npy, b.npy)"},
    {"no_arrays.npz", "without arrays"},
    {"cut.npz", "table of contents is not at its end"},
    {"cut_early.npz", "cut off"},
    {"check.npz", "its array has another checksum"},
    {"check_stored.npz", "its array has another checksum"},
    {"text.npz", "NUMPY"},
    {"place.npz", "not where its table of contents says"},
    {"method.npz", "neither stored nor deflated"},

    {"unknown.dat", "npy, .mtx, .csv, .txt"},
    {"zero_byte.dat", "npy, .mtx, .csv, .txt"},
};
enum { FILE_COUNT = sizeof files / sizeof files[0] };

/* Opens a file and, where that works, reads it as its own type. */
static tesela_status read_file(const char *path) {
  tsl_reader *reader;
  tesela_status status = tsl_reader_open(path, NULL, &reader);
  if (status != TESELA_OK) {
    assert_null(reader);
    return status;
  }
  const tsl_file_info *const info = tsl_reader_info(reader);
  assert_in_range(info->rows, 0, 100);
  assert_in_range(info->cols, 0, 100);
  void *const values = calloc((size_t)(info->rows * info->cols) + 1, tsl_type(info->type)->size);
  assert_non_null(values);
  status = tsl_reader_rows(reader, info->rows, info->type, values, info->cols, 1);
  free(values);
  tsl_reader_close(reader);
  return status;
}

static void test_bad(void **state) {
  (void)state;
  for (int n = 0; n < FILE_COUNT; n++) {
    char name[256];
    snprintf(name, sizeof name, "bad/%s", files[n].name);
    const tesela_status status = read_file(data_file(name));
    const char *const sentence = tesela_last_error();
    if (status != TESELA_BAD_INPUT)
      fail_msg("%s: status %s: %s", name, tesela_status_name(status), sentence);
    if (strncmp(sentence, data_file(name), strlen(data_file(name))) != 0)
      fail_msg("%s: the sentence does not begin with the file: %s", name, sentence);
    if (strstr(sentence + strlen(data_file(name)), files[n].word) == NULL)
      fail_msg("%s: the sentence has no \"%s\": %s", name, files[n].word, sentence);
    if (strchr(sentence, '\n') != NULL || sentence[strlen(sentence) - 1] == '.')
      fail_msg("%s: the sentence ends with a full stop or has a line end: %s", name, sentence);
  }
}

/* No file of the folder is left out of the table. */
static void test_table_is_complete(void **state) {
  (void)state;
  DIR *const folder = opendir(data_file("bad"));
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    bool known = entry->d_name[0] == '.';
    for (int n = 0; n < FILE_COUNT && !known; n++)
      known = strcmp(files[n].name, entry->d_name) == 0;
    if (!known)
      fail_msg("tests/data/bad/%s is in no row of the table", entry->d_name);
  }
  closedir(folder);
}

static void test_no_file(void **state) {
  (void)state;
  assert_int_equal(read_file("/no/such/folder/a.npy"), TESELA_IO_FAILED);
  assert_non_null(strstr(tesela_last_error(), "/no/such/folder/a.npy"));
  assert_int_equal(read_file(data_file("bad")), TESELA_IO_FAILED);
  assert_non_null(strstr(tesela_last_error(), "folder"));
}

/* A file without permission to read. Root may read it, so root changes its user meanwhile. */
static void test_unreadable(void **state) {
  (void)state;
  const uid_t user = geteuid();
  const char *const path = scratch_file("secret.csv");
  FILE *const file = fopen(path, "w");
  assert_non_null(file);
  fputs("1,2\n", file);
  fclose(file);
  assert_int_equal(chmod(path, 0), 0);
  assert_int_equal(seteuid(user == 0 ? 65534 : user), 0);
  const tesela_status status = read_file(path);
  assert_int_equal(seteuid(user), 0);
  assert_int_equal(status, TESELA_IO_FAILED);
  assert_non_null(strstr(tesela_last_error(), "cannot be opened"));
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bad),
      cmocka_unit_test(test_table_is_complete),
      cmocka_unit_test(test_no_file),
      cmocka_unit_test(test_unreadable),
  };
  return cmocka_run_group_tests(tests, group_make_folder, group_remove_folder);
}

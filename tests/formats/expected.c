#include "formats/expected.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void real_value(int64_t i, int64_t j, double value[2]) {
  value[0] = (double)((7 * i + 3 * j) % 11 - 4) / 4;
  value[1] = 0;
}

void whole_value(int64_t i, int64_t j, double value[2]) {
  value[0] = (double)((7 * i + 3 * j) % 11 - 4);
  value[1] = 0;
}

void count_value(int64_t i, int64_t j, double value[2]) {
  value[0] = (double)((7 * i + 3 * j) % 11);
  value[1] = 0;
}

void bit_value(int64_t i, int64_t j, double value[2]) {
  value[0] = (double)((i + j) % 2);
  value[1] = 0;
}

void one_value(int64_t i, int64_t j, double value[2]) {
  (void)i, (void)j;
  value[0] = 1;
  value[1] = 0;
}

void complex_value(int64_t i, int64_t j, double value[2]) {
  real_value(i, j, value);
  value[1] = (double)((i + 2 * j) % 5 - 2) / 2;
}

void expected_value(const expected *what, int64_t i, int64_t j, double value[2]) {
  const bool mirrored = what->symmetry != GENERAL && i < j;
  const int64_t row = mirrored ? j : i, col = mirrored ? i : j;
  value[0] = value[1] = 0;
  if (what->symmetry == SKEW && i == j)
    return;
  if (!what->sparse || (row + 2 * col) % 3 == 0)
    what->base(row, col, value);
  if (mirrored && what->symmetry == SKEW && value[0] != 0)
    value[0] = -value[0];
  if (mirrored && what->symmetry != SYMMETRIC && value[1] != 0)
    value[1] = -value[1];
  if (what->symmetry == HERMITIAN && i == j)
    value[1] = 0;
}

enum { GAP = 0xa5, MARGIN = 5 };

void area_make(area *where, int64_t rows, int64_t cols, tesela_type type, int layout) {
  *where = (area){.rows = rows, .cols = cols, .type = type, .size = tsl_type(type)->size};
  int64_t first = MARGIN;
  where->row_stride = cols;
  where->col_stride = 1;
  int64_t elements = rows * cols;
  if (layout == BY_COLUMNS) {
    where->row_stride = 1;
    where->col_stride = rows;
  } else if (layout == PADDED) {
    where->row_stride = 2 * cols + 3;
    where->col_stride = 2;
    elements = rows * where->row_stride;
  } else if (layout == REVERSED) {
    where->row_stride = -cols;
    where->col_stride = -1;
    first += elements > 0 ? elements - 1 : 0;
  }
  where->elements = (size_t)elements + 2 * MARGIN;
  where->bytes = malloc(where->elements * where->size);
  assert_non_null(where->bytes);
  memset(where->bytes, GAP, where->elements * where->size);
  where->first = where->bytes + (size_t)first * where->size;
}

void area_free(area *where) {
  free(where->bytes);
}

unsigned char *area_at(const area *where, int64_t i, int64_t j) {
  return where->first + (i * where->row_stride + j * where->col_stride) * (int64_t)where->size;
}

void area_check_gaps(const area *where) {
  bool *used = calloc(where->elements, sizeof *used);
  assert_non_null(used);
  for (int64_t i = 0; i < where->rows; i++)
    for (int64_t j = 0; j < where->cols; j++)
      used[(size_t)(area_at(where, i, j) - where->bytes) / where->size] = true;
  for (size_t element = 0; element < where->elements; element++)
    for (size_t byte = 0; byte < where->size && !used[element]; byte++)
      assert_int_equal(where->bytes[element * where->size + byte], GAP);
  free(used);
}

static bool same_part(double a, double b) {
  return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

bool same_value(const double a[2], const double b[2]) {
  return same_part(a[0], b[0]) && same_part(a[1], b[1]);
}

void rounded(const double value[2], tesela_type type, double out[2]) {
  unsigned char bytes[16];
  tsl_type_store(type, bytes, value);
  tsl_type_load(type, bytes, out);
}

bool fits(const double value[2], tesela_type type) {
  const tsl_type_info *const info = tsl_type(type);
  double back[2];
  rounded(value, type, back);
  if (info->is_integer)
    return back[0] == value[0] && value[1] == 0;
  if (!info->is_complex && value[1] != 0)
    return false;
  return isfinite(back[0]) == isfinite(value[0]) && isfinite(back[1]) == isfinite(value[1]);
}

const char *data_file(const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/tests/data/%s", TESELA_SOURCE_DIR, name);
  return path;
}

static char folder[1024];

int group_make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "%s/test_files_XXXXXX", TESELA_BINARY_DIR);
  /* Tests of permissions come as another user. */
  return mkdtemp(folder) != NULL && chmod(folder, 0777) == 0 ? 0 : -1;
}

int group_remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

const char *scratch_file(const char *name) {
  enum { PATHS = 4 };
  static char paths[PATHS][2048];
  static int next;
  char *const path = paths[next++ % PATHS];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

int count_scratch_files(void) {
  DIR *const files = opendir(folder);
  assert_non_null(files);
  int count = -2; /* "." and ".." */
  while (readdir(files) != NULL)
    count++;
  closedir(files);
  return count;
}

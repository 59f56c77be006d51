/* Writes a matrix of every type in every format into a folder, for check.py to read with NumPy and SciPy:
 * <type>_<layout>.<ending>. Not a test by itself. */
#include <stdio.h>
#include <string.h>

#include "formats/expected.h"
#include "io/io.h"

enum { ROWS = 5, COLS = 7 };

static base_function values_for(const tsl_type_info *type) {
  return type->is_complex ? complex_value : type->is_integer ? whole_value : real_value;
}

static tesela_status write_sample(const char *path, const tsl_type_info *type, int layout) {
  const expected what = {.base = values_for(type)};
  area where;
  area_make(&where, ROWS, COLS, type->type, layout);
  for (int64_t i = 0; i < ROWS; i++) {
    for (int64_t j = 0; j < COLS; j++) {
      double value[2];
      expected_value(&what, i, j, value);
      tsl_type_store(type->type, area_at(&where, i, j), value);
    }
  }
  tsl_writer *writer;
  tesela_status status = tsl_writer_open(path, NULL, ROWS, COLS, type->type, &writer);
  if (status == TESELA_OK)
    status = tsl_writer_rows(writer, 2, area_at(&where, 0, 0), where.row_stride, where.col_stride);
  if (status == TESELA_OK)
    status = tsl_writer_rows(writer, ROWS - 2, area_at(&where, 2, 0), where.row_stride, where.col_stride);
  if (status == TESELA_OK)
    status = tsl_writer_commit(writer);
  tsl_writer_close(writer);
  area_free(&where);
  return status;
}

int main(int argc, char **argv) {
  static const char *const endings[] = {"npy", "mtx", "csv", "tsv", "txt"};
  if (argc != 2)
    return 2;
  const tsl_type_info *type;
  for (int e = 0; e < 5; e++) {
    for (int t = 0; (type = tsl_type_at(t)) != NULL; t++) {
      for (int layout = 0; layout < LAYOUTS && (e < 2 || !type->is_complex); layout++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s_%d.%s", argv[1], type->name, layout, endings[e]);
        if (write_sample(path, type, layout) != TESELA_OK) {
          fprintf(stderr, "%s\n", tesela_last_error());
          return 1;
        }
      }
    }
  }
  return 0;
}

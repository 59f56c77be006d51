/* Expected contents of the files in tests/data: functions of row and column, from 0, as in
 * tests/data/make.py. Also helpers that the tests of matrix files share. */
#ifndef TESTS_FORMATS_EXPECTED_H
#define TESTS_FORMATS_EXPECTED_H

#include "unit/unit.h"

#include <stdbool.h>

#include "core/types.h"

typedef void (*base_function)(int64_t i, int64_t j, double value[2]);

void real_value(int64_t i, int64_t j, double value[2]);
void whole_value(int64_t i, int64_t j, double value[2]);
void count_value(int64_t i, int64_t j, double value[2]);
void bit_value(int64_t i, int64_t j, double value[2]);
void one_value(int64_t i, int64_t j, double value[2]);
void complex_value(int64_t i, int64_t j, double value[2]);

typedef enum symmetry { GENERAL, SYMMETRIC, SKEW, HERMITIAN } symmetry;

typedef struct expected {
  base_function base;
  bool sparse; /* zero but for every third element */
  symmetry symmetry;
} expected;

void expected_value(const expected *what, int64_t i, int64_t j, double value[2]);

/* A matrix in memory with strides, surrounded by and interleaved with bytes that must not be
 * written. */
typedef struct area {
  int64_t rows, cols, row_stride, col_stride;
  tesela_type type;
  size_t size;     /* bytes of an element */
  size_t elements; /* of the whole area, the gaps included */
  unsigned char *bytes;
  unsigned char *first; /* element (0, 0) */
} area;

/* The layouts that area_make() knows. */
enum { BY_ROWS, BY_COLUMNS, PADDED, REVERSED, LAYOUTS };

void area_make(area *where, int64_t rows, int64_t cols, tesela_type type, int layout);
void area_free(area *where);
unsigned char *area_at(const area *where, int64_t i, int64_t j);
/* Fails the test when a byte outside the elements was written. */
void area_check_gaps(const area *where);

/* Returns true when two values are equal and of equal sign, or both NaN. */
bool same_value(const double a[2], const double b[2]);
/* Returns true when the type can store the value, as io.h defines it. */
bool fits(const double value[2], tesela_type type);
/* The value as it comes back from an element of a type. */
void rounded(const double value[2], tesela_type type, double out[2]);

/* Path of a file of tests/data; valid until the next call. */
const char *data_file(const char *name);
/* A fresh folder, for setup functions; group_remove_folder() removes it and fails when it is not empty. */
int group_make_folder(void **state);
int group_remove_folder(void **state);
/* Path of a file in it; valid until the fourth call after it. */
const char *scratch_file(const char *name);
/* How many files there are in it. */
int count_scratch_files(void);

#endif

/* The header of a .npy file: "\x93NUMPY", a version, a length, and a Python dictionary as text, e.g.
 * {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }. */
#ifndef TSL_IO_NPY_HEADER_H
#define TSL_IO_NPY_HEADER_H

#include <stdbool.h>

#include "io/input.h"

#define TSL_NPY_MAGIC "\x93NUMPY"
#define TSL_NPY_MAGIC_LENGTH 6

typedef struct tsl_npy_header {
  char order;   /* '<', '>', '=' or '|' */
  char kind;    /* 'f', 'i', 'u', 'c', 'b' */
  int size;     /* bytes of an element */
  bool fortran; /* column by column */
  int64_t rows, cols;
} tsl_npy_header;

/* Reads up to the first byte of the values. Kind and size are as the file says them: which of them are
 * matrices is for the caller to know. TESELA_BAD_INPUT says what is wrong with the header. */
tesela_status tsl_npy_header_read(tsl_input *in, tsl_npy_header *header);

/* NumPy has no bf16, e4m3 or e5m2; f32 holds each of their values. */
tesela_type tsl_npy_stored_type(tesela_type type);
/* The header of a file of that type as tesela writes it: version 1, C order. Returns its length. Both are in
 * format_npy.c. */
#define TSL_NPY_HEADER_MOST 192
size_t tsl_npy_header_print(tesela_type type, int64_t rows, int64_t cols, char header[TSL_NPY_HEADER_MOST]);

#endif

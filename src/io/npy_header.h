/* "\x93NUMPY", version, length, dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }. */
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
  bool fortran; /* stored by columns */
  int64_t rows, cols;
} tsl_npy_header;

/* Reads up to the first value; kind and size are not checked. TESELA_BAD_INPUT for an error in the header. */
tesela_status tsl_npy_header_read(tsl_input *in, tsl_npy_header *header);

/* Returns the type in files: f32 for bf16, e4m3 and e5m2, which NumPy lacks. */
tesela_type tsl_npy_stored_type(tesela_type type);
#define TSL_NPY_HEADER_MAX 192
/* Writes a header of version 1 in C order for tsl_npy_stored_type(type). Returns its length. */
size_t tsl_npy_header_print(tesela_type type, int64_t rows, int64_t cols, char header[TSL_NPY_HEADER_MAX]);

#endif

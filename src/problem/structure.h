#ifndef TSL_STRATEGY_STRUCTURE_H
#define TSL_STRATEGY_STRUCTURE_H

#include "problem/problem.h"

typedef struct tsl_stored {
  enum { TSL_ELEMENT_STORED, TSL_ELEMENT_ZERO, TSL_ELEMENT_ONE } what;
  int64_t row, col; /* of the stored element */
  bool conjugate;   /* the value is the complex conjugate of the stored element */
  bool real;        /* only the real part is read; the imaginary part is 0 */
} tsl_stored;
/* Returns the location of element (row, col) of A or B. */
tsl_stored tsl_shape_element(const tsl_shape *shape, int64_t row, int64_t col);
/* Returns true if an element is stored; for C, if it is computed. A unit diagonal is not stored. */
bool tsl_shape_stores(const tsl_shape *shape, int64_t row, int64_t col);
/* Copies the stored elements; `from` and `dst` are addresses of element (0, 0). Other memory, which another
 * thread may write, is neither read nor written. */
void tsl_shape_copy_stored(const tsl_shape *shape, const unsigned char *from, unsigned char *dst);

/* Appends "symmetric_lower" or "unit_upper"; "lower" for a triangle of C; nothing for a general matrix. */
void tsl_structure_print(tesela_structure structure, tesela_triangle triangle, tsl_text *text);
/* Reads the words of tsl_structure_print(); false: none of them. */
bool tsl_structure_parse(const char *value, tesela_structure *structure, tesela_triangle *triangle);

/* Returns the bytes from element (0, 0) to element (row, col). */
static inline int64_t tsl_shape_offset(const tsl_shape *shape, int64_t row, int64_t col) {
  return (row * shape->row_stride + col * shape->col_stride) * (int64_t)tsl_type(shape->type)->size;
}

/* Returns the address of element (row, col); `base` is the address of element (0, 0). */
static inline const unsigned char *tsl_shape_at(const tsl_shape *shape, const void *base, int64_t row,
                                                int64_t col) {
  return (const unsigned char *)base + tsl_shape_offset(shape, row, col);
}

#endif

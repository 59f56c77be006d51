/* What the structure of an operand says of its elements, and its words. */
#ifndef TSL_STRATEGY_STRUCTURE_H
#define TSL_STRATEGY_STRUCTURE_H

#include "strategy/problem.h"

/* Where the value of an element is. */
typedef struct tsl_stored {
  enum { TSL_ELEMENT_STORED, TSL_ELEMENT_ZERO, TSL_ELEMENT_ONE } what;
  int64_t row, col; /* of what is stored: where */
  bool conjugate;   /* the value is the complex conjugate of that */
  bool real;        /* only its real part is read, the imaginary one being 0 */
} tsl_stored;
/* Of a factor. */
tsl_stored tsl_shape_element(const tsl_shape *shape, int64_t row, int64_t col);
/* Whether an element is stored: of C, whether it is computed. A diagonal of ones is not. */
bool tsl_shape_stores(const tsl_shape *shape, int64_t row, int64_t col);

/* Appends "symmetric_lower", "unit_upper", or "lower" where a triangle of C is meant; nothing of a plain
 * matrix. Reads the same; false: it is none of these. */
void tsl_structure_print(tesela_structure structure, tesela_triangle triangle, tsl_text *text);
bool tsl_structure_parse(const char *value, tesela_structure *structure, tesela_triangle *triangle);

#endif

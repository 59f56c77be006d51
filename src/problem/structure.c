#include "problem/structure.h"

#include <string.h>

/* Returns true if the element lies strictly in the triangle that is not stored. */
static bool is_in_other_triangle(const tsl_shape *shape, int64_t row, int64_t col) {
  return (shape->triangle == TESELA_LOWER && row < col) || (shape->triangle == TESELA_UPPER && row > col);
}

bool tsl_shape_stores(const tsl_shape *shape, int64_t row, int64_t col) {
  return !is_in_other_triangle(shape, row, col) &&
         !(shape->structure == TESELA_UNIT_TRIANGULAR && row == col);
}

void tsl_shape_copy_stored(const tsl_shape *shape, const unsigned char *from, unsigned char *dst) {
  const size_t size = tsl_type(shape->type)->size;
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++) {
      const int64_t at = tsl_shape_offset(shape, i, j);
      if (tsl_shape_stores(shape, i, j))
        memcpy(dst + at, from + at, size);
    }
}

tsl_stored tsl_shape_element(const tsl_shape *shape, int64_t row, int64_t col) {
  const bool is_hermitian = tsl_is_hermitian(shape->structure);
  if (shape->structure == TESELA_UNIT_TRIANGULAR && row == col)
    return (tsl_stored){.what = TSL_ELEMENT_ONE};
  if (!is_in_other_triangle(shape, row, col))
    return (tsl_stored){.row = row, .col = col, .real = is_hermitian && row == col};
  if (tsl_is_triangular(shape->structure))
    return (tsl_stored){.what = TSL_ELEMENT_ZERO};
  return (tsl_stored){.row = col, .col = row, .conjugate = is_hermitian};
}

static const char *const structure_words[TESELA_STRUCTURES] = {
    "", "symmetric", "hermitian", "triangular", "unit", "symmetric_sum", "hermitian_sum"};
static const char *const triangle_words[TESELA_TRIANGLES] = {"", "lower", "upper"};

void tsl_structure_print(tesela_structure structure, tesela_triangle triangle, tsl_text *text) {
  tsl_text_add(text, "%s%s%s", structure_words[structure], structure == TESELA_GENERAL ? "" : "_",
               triangle_words[triangle]);
}

bool tsl_structure_parse(const char *value, tesela_structure *structure, tesela_triangle *triangle) {
  const char *gap = strrchr(value, '_'), *last = gap ? gap + 1 : value;
  const size_t length = gap ? (size_t)(gap - value) : 0;
  int first = gap ? TESELA_GENERAL + 1 : TESELA_GENERAL, second = TESELA_LOWER;
  for (; gap && first < TESELA_STRUCTURES; first++)
    if (strlen(structure_words[first]) == length && strncmp(structure_words[first], value, length) == 0)
      break;
  while (second < TESELA_TRIANGLES && strcmp(triangle_words[second], last) != 0)
    second++;
  if (first == TESELA_STRUCTURES || second == TESELA_TRIANGLES)
    return false;
  *structure = (tesela_structure)first;
  *triangle = (tesela_triangle)second;
  return true;
}

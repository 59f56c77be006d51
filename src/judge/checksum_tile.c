#include "judge/checksum_tile.h"

#include "host/int_math.h"
#include "judge/judge_element.h"
#include "problem/structure.h"

#include <string.h>

static int count_parts(const tsl_checksum_source *source) {
  return tsl_type(source->shape.type)->is_complex ? 2 : 1;
}

void tsl_checksum_load_as(const tsl_checksum_source *source, int64_t row, int rows, int64_t col, int cols,
                          tesela_type target, void *tile, int64_t pitch) {
  const tsl_shape *shape = &source->shape;
  const tsl_type_info *type = tsl_type(shape->type), *component = tsl_type(type->component);
  const int64_t size = (int64_t)type->size, target_size = (int64_t)tsl_type(target)->size,
                parts = count_parts(source);
  for (int part = 0; part < parts; part++) {
    const unsigned char *from =
        tsl_shape_at(&source->shape, source->base, row, col) + part * (int64_t)component->size;
    unsigned char *first = (unsigned char *)tile + part * target_size;
    if (tsl_abs(shape->col_stride) <= tsl_abs(shape->row_stride) || rows == 1)
      for (int i = 0; i < rows; i++)
        tsl_type_convert(component->type, from + i * shape->row_stride * size, shape->col_stride * parts,
                         target, first + i * pitch * target_size, parts, (size_t)cols);
    else
      for (int j = 0; j < cols; j++)
        tsl_type_convert(component->type, from + j * shape->col_stride * size, shape->row_stride * parts,
                         target, first + j * parts * target_size, pitch, (size_t)rows);
  }
}

static const double *load_general(const tsl_checksum_source *source, int64_t row, int rows, int64_t col,
                                  int cols, double *tile, int64_t *pitch) {
  const tsl_shape *shape = &source->shape;
  const tsl_type_info *type = tsl_type(shape->type);
  const unsigned char *from = tsl_shape_at(&source->shape, source->base, row, col);
  const int parts = count_parts(source);
  const bool is_f32 = type->component == TESELA_F32, is_bf16 = type->type == TESELA_BF16;
  *pitch = TSL_CHECKSUM_COLUMNS * parts;
  if (shape->col_stride == 1 && type->component == TESELA_F64) {
    *pitch = shape->row_stride * parts;
    return (const double *)(const void *)from;
  }
  for (int i = 0; i < rows && shape->col_stride == 1 && (is_f32 || is_bf16); i++)
    (is_f32 ? source->kernels->widen_f32 : source->kernels->widen_bf16)(
        cols * parts, from + i * shape->row_stride * (int64_t)type->size, tile + i * *pitch);
  if (shape->col_stride != 1 || !(is_f32 || is_bf16))
    tsl_checksum_load_as(source, row, rows, col, cols, TESELA_F64, tile, *pitch);
  return tile;
}

/* Multiplies columns by their scales, which is exact: factors of scaled products have at most 24 bits. */
static void multiply_columns(const tsl_checksum_source *source, int rows, int64_t col, int cols, double *tile,
                             int64_t pitch) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      tile[i * pitch + j] *= source->scale[col + j];
}

/* Loads elements one by one. */
static void load_by_definition(const tsl_checksum_source *source, int64_t row, int rows, int64_t col,
                               int cols, double *tile, int64_t pitch) {
  const int parts = count_parts(source);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      const tsl_stored stored = tsl_shape_element(&source->shape, row + i, col + j);
      double value[2] = {stored.what == TSL_ELEMENT_ONE, 0};
      if (stored.what == TSL_ELEMENT_STORED)
        tsl_type_load(source->shape.type, tsl_shape_at(&source->shape, source->base, stored.row, stored.col),
                      value);
      value[1] = stored.real ? 0 : stored.conjugate ? -value[1] : value[1];
      memcpy(tile + i * pitch + j * parts, value, (size_t)parts * sizeof *tile);
    }
}

/* Loads a tile on the other side of the diagonal than the stored triangle. */
static void load_mirrored(const tsl_checksum_source *source, int64_t row, int rows, int64_t col, int cols,
                          double *tile, int64_t pitch) {
  const int parts = count_parts(source);
  tsl_checksum_source mirrored = *source;
  mirrored.shape.row_stride = source->shape.col_stride;
  mirrored.shape.col_stride = source->shape.row_stride;
  if (tsl_is_triangular(source->shape.structure)) {
    memset(tile, 0, (size_t)(rows * pitch) * sizeof *tile);
    return;
  }
  tsl_checksum_load_as(&mirrored, row, rows, col, cols, TESELA_F64, tile, pitch);
  for (int i = 0; i < rows && parts == 2 && tsl_is_hermitian(source->shape.structure); i++)
    for (int j = 0; j < cols; j++)
      tile[i * pitch + j * parts + 1] *= -1;
}

const double *tsl_checksum_load_tile(const tsl_checksum_source *source, int64_t row, int rows, int64_t col,
                                     int cols, double *tile, int64_t *pitch) {
  const bool is_below = row >= col + cols, is_above = row + rows <= col,
             is_lower = source->shape.triangle == TESELA_LOWER;
  if (source->shape.structure == TESELA_GENERAL || (is_lower ? is_below : is_above)) {
    const double *loaded = load_general(source, row, rows, col, cols, tile, pitch);
    if (source->scale)
      multiply_columns(source, rows, col, cols, tile, *pitch);
    return loaded;
  }
  *pitch = (int64_t)TSL_CHECKSUM_COLUMNS * count_parts(source);
  (is_below || is_above ? load_mirrored : load_by_definition)(source, row, rows, col, cols, tile, *pitch);
  return tile;
}

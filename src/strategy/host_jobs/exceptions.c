#include "strategy/host_jobs/exceptions.h"

#include "host/int_math.h"

#include <string.h>

typedef struct exceptions_found {
  /* has_nan: an element is NaN; has_large: an element is NaN, infinite or the largest number */
  bool has_nan, has_large;
} exceptions_found;

typedef struct exceptions_format {
  size_t size;
  uint64_t magnitude, infinity; /* mask of all bits except the sign; bits of infinity */
} exceptions_format;

static const exceptions_format *format_of(tesela_type component) {
  static const exceptions_format f64 = {8, UINT64_C(0x7fffffffffffffff), UINT64_C(0x7ff0000000000000)},
                                 f32 = {4, 0x7fffffff, 0x7f800000}, f16 = {2, 0x7fff, 0x7c00},
                                 bf16 = {2, 0x7fff, 0x7f80};
  return component == TESELA_F64    ? &f64
         : component == TESELA_F32  ? &f32
         : component == TESELA_F16  ? &f16
         : component == TESELA_BF16 ? &bf16
                                    : NULL;
}

static uint64_t exceptions_bits_at(const unsigned char *src, size_t size) {
  uint64_t whole;
  uint32_t single;
  uint16_t half;
  if (size == 8) {
    memcpy(&whole, src, size);
    return whole;
  }
  if (size == 4) {
    memcpy(&single, src, size);
    return single;
  }
  memcpy(&half, src, size);
  return half;
}

/* Sets the found flags for `count` elements, `stride_bytes` apart, of `components` numbers each. */
static inline void exceptions_look_at(const unsigned char *src, int64_t count, int64_t stride_bytes,
                                      int components, const exceptions_format *format,
                                      exceptions_found *out) {
  bool has_nan = false, has_large = false;
  for (int64_t i = 0; i < count; i++, src += stride_bytes)
    for (int part = 0; part < components; part++) {
      const uint64_t bits =
          exceptions_bits_at(src + (size_t)part * format->size, format->size) & format->magnitude;
      has_nan |= bits > format->infinity;
      has_large |= bits >= format->infinity - 1;
    }
  out->has_nan |= has_nan;
  out->has_large |= has_large;
}

/* Inspects the elements of row `i` of C that are computed: all, or the part in C's triangle. */
static void look_at_row(const tsl_shape *shape, const unsigned char *row, int64_t i, int64_t col_stride,
                        const exceptions_format *format, exceptions_found *out) {
  const tsl_type_info *type = tsl_type(shape->type);
  const int64_t first = shape->triangle == TESELA_UPPER ? i : 0,
                end = shape->triangle == TESELA_LOWER ? tsl_min(i + 1, shape->cols) : shape->cols,
                stride_bytes = col_stride * (int64_t)type->size;
  if (first < end)
    exceptions_look_at(row + first * stride_bytes, end - first, stride_bytes, type->is_complex ? 2 : 1,
                       format, out);
}

/* Returns the raised flags without flags that no element of C confirms. Reads C until it finds a NaN. */
static tsl_floats remove_unconfirmed(tsl_floats raised, const tsl_problem *problem,
                                     const tsl_operands *operands) {
  const tsl_shape *shape = &problem->c;
  const tsl_type_info *type = tsl_type(shape->type);
  const exceptions_format *format = format_of(type->component);
  const int64_t size = (int64_t)type->size;
  exceptions_found out = {false, false};
  for (int64_t product = 0; format && product < tsl_problem_batch(problem); product++)
    for (int64_t i = 0; i < shape->rows && !out.has_nan; i++)
      look_at_row(shape,
                  (const unsigned char *)operands->c.host +
                      (product * operands->c.batch_step + i * operands->c.row_stride) * size,
                  i, operands->c.col_stride, format, &out);
  if (!out.has_nan)
    raised &= ~TSL_FLOATS_INVALID;
  if (!out.has_large && !out.has_nan)
    raised &= ~(TSL_FLOATS_OVERFLOW | TSL_FLOATS_DIVISION);
  return problem->op == TSL_OP_SOLVE ? raised : raised & ~TSL_FLOATS_DIVISION;
}

void tsl_exceptions_settle(tsl_floats before, const tsl_problem *problem, const tsl_operands *operands) {
  const tsl_floats checked = TSL_FLOATS_INVALID | TSL_FLOATS_DIVISION | TSL_FLOATS_OVERFLOW;
  tsl_floats raised = tsl_floats_read() & TSL_FLOATS_FLAGS & ~before;
  if (raised & checked)
    raised = remove_unconfirmed(raised, problem, operands);
  tsl_floats_write(before | raised);
}

/* Dispatch key of a description. Inline, since a known product takes less time than a few calls. */
#ifndef TSL_API_GEMM_KEY_H
#define TSL_API_GEMM_KEY_H

#include "api/api.h"
#include "dispatch/call_cache.h"

/* Returns true if the description has properties that a key cannot express. */
static inline bool tsl_gemm_has_more(const tesela_gemm_desc *desc) {
  return desc->epilogue ||
         ((int)desc->structure.a | (int)desc->structure.a_triangle | (int)desc->structure.b |
          (int)desc->structure.b_triangle | (int)desc->structure.c | (int)desc->structure.c_triangle |
          desc->structure.in_place) != 0;
}

/* CBLAS's constants, by which keys express layouts. */
enum {
  TSL_KEY_ROW_MAJOR = 101,
  TSL_KEY_COLUMN_MAJOR = 102,
  TSL_KEY_AS_IT_IS = 111,
  TSL_KEY_TRANSPOSED = 112,
  /* Added to the order if the call names a device; other devices have no key. */
  TSL_KEY_NAMES_CPU = 2,
  TSL_KEY_NAMES_AUTO = 4,
  TSL_KEY_NAMES_OTHER = -1
};

/* Returns the number that a key's order gets from the device that the call names; NULL: none. */
static inline int tsl_gemm_key_device(const char *device) {
  return !device                       ? 0
         : strcmp(device, "cpu") == 0  ? TSL_KEY_NAMES_CPU
         : strcmp(device, "auto") == 0 ? TSL_KEY_NAMES_AUTO
                                       : TSL_KEY_NAMES_OTHER;
}

/* Writes *by_row (rows are contiguous) and the leading dimension; false: no key can express the matrix. */
static inline bool tsl_gemm_key_lies(const tesela_matrix *matrix, int64_t rows, int64_t cols, bool *by_row,
                                     int64_t *distance) {
  int64_t row, col;
  tsl_api_strides(matrix, rows, cols, &row, &col);
  *by_row = col == 1;
  *distance = *by_row ? row : col;
  return (row == 1 || col == 1) && !matrix->buffer && !matrix->packed && !matrix->conjugate;
}

static inline tesela_type tsl_gemm_key_type(tesela_type type, tesela_type fallback) {
  return type == TESELA_TYPE_DEFAULT ? fallback : type;
}

/* Fills the key of a call with one real type, on the cpu, "auto" or an unnamed device. Returns false if the
 * call has no key. Errors are not checked: only correct calls are stored. */
static inline bool tsl_gemm_key(const tesela_context *context, const tesela_gemm_desc *desc,
                                tsl_dispatch_key *key) {
  static const double none = 0, one = 1;
  bool a_by_row, b_by_row, c_by_row;
  const tesela_matrix c = tsl_api_as_matrix(&desc->c);
  const tesela_type type = tsl_gemm_key_type(desc->a.type, TESELA_F32);
  const int device = tsl_gemm_key_device(desc->options.device);
  const uint64_t number = atomic_load_explicit(&context->number, memory_order_acquire);
  if ((type != TESELA_F32 && type != TESELA_F64) || tsl_gemm_key_type(desc->b.type, type) != type ||
      tsl_gemm_key_type(desc->c.type, type) != type || desc->options.strategy || number == 0 ||
      desc->options.tuning_seconds != 0 || desc->options.accuracy || desc->options.reproducibility ||
      desc->options.measure_error != 0 || desc->options.verify || tsl_api_has_checks(context->checks) ||
      tsl_gemm_has_more(desc) || desc->a.shards || desc->b.shards || desc->c.shards ||
      desc->c.reserved != 0 || device == TSL_KEY_NAMES_OTHER ||
      !tsl_gemm_key_lies(&desc->a, desc->m, desc->k, &a_by_row, &key->lda) ||
      !tsl_gemm_key_lies(&desc->b, desc->k, desc->n, &b_by_row, &key->ldb) ||
      !tsl_gemm_key_lies(&c, desc->m, desc->n, &c_by_row, &key->ldc))
    return false;
  key->m = desc->m;
  key->n = desc->n;
  key->k = desc->k;
  key->alpha = tsl_dispatch_bits(TESELA_F64, desc->alpha ? desc->alpha : &one);
  key->beta = tsl_dispatch_bits(TESELA_F64, desc->beta ? desc->beta : &none);
  key->kind = tsl_dispatch_kind(type, number);
  key->order = (c_by_row ? TSL_KEY_ROW_MAJOR : TSL_KEY_COLUMN_MAJOR) + device;
  key->trans_a = a_by_row == c_by_row ? TSL_KEY_AS_IT_IS : TSL_KEY_TRANSPOSED;
  key->trans_b = b_by_row == c_by_row ? TSL_KEY_AS_IT_IS : TSL_KEY_TRANSPOSED;
  return true;
}

#endif

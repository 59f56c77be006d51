/* Reference loops for types narrower than their sums. The sequential strategies compile them unoptimized. */
#ifndef TSL_STRATEGY_LOW_PRECISION_LOOPS_H
#define TSL_STRATEGY_LOW_PRECISION_LOOPS_H

#include "strategy/strategy.h"

#include <string.h>

typedef float load_function(const void *src);
typedef void store_function(void *data, float value);
typedef int32_t load_integer_function(const void *src);

static float load_f32(const void *src) {
  return *(const float *)src;
}

static float load_f16(const void *src) {
  return (float)tsl_f16_to_f64(*(const uint16_t *)src);
}

static float load_bf16(const void *src) {
  return (float)tsl_bf16_to_f64(*(const uint16_t *)src);
}

static float load_e4m3(const void *src) {
  return (float)tsl_e4m3_to_f64(*(const uint8_t *)src);
}

static float load_e5m2(const void *src) {
  return (float)tsl_e5m2_to_f64(*(const uint8_t *)src);
}

static int32_t load_i8(const void *src) {
  return *(const int8_t *)src;
}

static int32_t load_u8(const void *src) {
  return *(const uint8_t *)src;
}

static void store_f32(void *data, float value) {
  *(float *)data = value;
}

static void store_f16(void *data, float value) {
  *(uint16_t *)data = tsl_f16_from_f64((double)value);
}

static void store_bf16(void *data, float value) {
  *(uint16_t *)data = tsl_bf16_from_f64((double)value);
}

static load_function *const loads[] = {[TESELA_F32] = load_f32,
                                       [TESELA_F16] = load_f16,
                                       [TESELA_BF16] = load_bf16,
                                       [TESELA_E4M3] = load_e4m3,
                                       [TESELA_E5M2] = load_e5m2};
static store_function *const stores[] = {
    [TESELA_F32] = store_f32, [TESELA_F16] = store_f16, [TESELA_BF16] = store_bf16};
static load_integer_function *const integer_loads[] = {[TESELA_I8] = load_i8, [TESELA_U8] = load_u8};

/* Returns the address of element (row, col); `size`: bytes of an element. */
static const char *element_of(const tsl_operand *operand, int64_t size, int64_t row, int64_t col) {
  return (const char *)operand->host + (row * operand->row_stride + col * operand->col_stride) * size;
}

/* Multiplies f16, bf16, e4m3 and e5m2 with sums in f32, rounded to C once. */
static void multiply_narrow(const tsl_problem *problem, const tsl_operands *operands) {
  const tsl_operand *const a = &operands->a, *const b = &operands->b, *const c = &operands->c;
  load_function *const load_a = loads[problem->a.type], *const load_b = loads[problem->b.type],
                       *const load_c = loads[problem->c.type];
  store_function *const store_c = stores[problem->c.type];
  const int64_t size = (int64_t)tsl_type(problem->c.type)->size,
                factor = (int64_t)tsl_type(problem->a.type)->size;
  const float alpha = (float)problem->alpha[0], beta = (float)problem->beta[0];
  const int64_t k = alpha == 0 ? 0 : problem->k;
  for (int64_t i = 0; i < problem->m; i++) {
    for (int64_t j = 0; j < problem->n; j++) {
      char *element = (char *)c->host + (i * c->row_stride + j * c->col_stride) * size;
      float sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += load_a(element_of(a, factor, i, l)) * load_b(element_of(b, factor, l, j));
      const float scaled = k == 0 ? 0 : alpha * sum;
      store_c(element, beta == 0 ? scaled : scaled + beta * load_c(element));
    }
  }
}

/* Multiplies 8-bit integers with sums modulo 2^32. */
static void multiply_integers(const tsl_problem *problem, const tsl_operands *operands) {
  const tsl_operand *const a = &operands->a, *const b = &operands->b, *const c = &operands->c;
  load_integer_function *const load_a = integer_loads[problem->a.type], *const load_b =
                                                                            integer_loads[problem->b.type];
  const uint32_t alpha = (uint32_t)(int64_t)problem->alpha[0], beta = (uint32_t)(int64_t)problem->beta[0];
  const int64_t k = alpha == 0 ? 0 : problem->k;
  for (int64_t i = 0; i < problem->m; i++) {
    for (int64_t j = 0; j < problem->n; j++) {
      uint32_t *element = (uint32_t *)c->host + i * c->row_stride + j * c->col_stride;
      uint32_t sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += (uint32_t)(load_a(element_of(a, 1, i, l)) * load_b(element_of(b, 1, l, j)));
      *element = beta == 0 ? alpha * sum : alpha * sum + beta * *element;
    }
  }
}

#endif

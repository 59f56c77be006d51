#include "comm/reduce.h"

#include <string.h>

typedef void (*adder)(void *dst, const void *from, int64_t count);

/* Steps are in elements. */
typedef struct reduce_run {
  const tsl_scaled_store *scaled_store;
  const void *x;
  int64_t x_step;
  void *c;
  int64_t c_step, count;
} reduce_run;

static uint32_t modulo_2_32(double value) {
  return (uint32_t)(int64_t)value;
}

/* Defines the loops of a type: reduce_add_NAME() adds, reduce_store_NAME() stores c = alpha x + beta c.
 * Integers are computed modulo 2^32. */
#define LOOPS(name, number, number_of)                                                                       \
  static void reduce_add_##name(void *dst, const void *from, int64_t count) {                                \
    number *restrict a = dst;                                                                                \
    const number *restrict b = from;                                                                         \
    for (int64_t i = 0; i < count; i++)                                                                      \
      a[i] += b[i];                                                                                          \
  }                                                                                                          \
  static void reduce_store_##name(const reduce_run *r) {                                                     \
    const number *x = r->x, alpha = number_of(r->scaled_store->alpha[0]),                                    \
                 beta = number_of(r->scaled_store->beta[0]);                                                 \
    number *c = r->c;                                                                                        \
    if (beta == 0)                                                                                           \
      for (int64_t i = 0; i < r->count; i++)                                                                 \
        c[i * r->c_step] = alpha * x[i * r->x_step];                                                         \
    else                                                                                                     \
      for (int64_t i = 0; i < r->count; i++)                                                                 \
        c[i * r->c_step] = alpha * x[i * r->x_step] + beta * c[i * r->c_step];                               \
  }
LOOPS(f64, double, )
LOOPS(f32, float, (float))
LOOPS(i32, uint32_t, modulo_2_32)
#undef LOOPS

void tsl_tree_add(tesela_type type, void *sums, int slots, int64_t count) {
  const tsl_type_info *info = tsl_type(type);
  const adder add = info->component == TESELA_F64   ? reduce_add_f64
                    : info->component == TESELA_F32 ? reduce_add_f32
                                                    : reduce_add_i32;
  const int64_t numbers = count * (info->is_complex ? 2 : 1);
  const size_t bytes = (size_t)count * info->size;
  for (int step = 1; step < slots; step *= 2)
    for (int slot = 0; slot + step < slots; slot += 2 * step)
      add((char *)sums + (size_t)slot * bytes, (const char *)sums + (size_t)(slot + step) * bytes, numbers);
}

static bool complex_is_one(const double value[2]) {
  return value[0] == 1 && value[1] == 0;
}
static bool complex_is_zero(const double value[2]) {
  return value[0] == 0 && value[1] == 0;
}

/* Multiplies a complex value. A factor of 1 changes nothing: 1 * (inf + i y) must not become inf - 0 y. */
static void reduce_times(const double factor[2], double value[2]) {
  if (complex_is_one(factor))
    return;
  const double real = factor[0] * value[0] - (factor[1] != 0 ? factor[1] * value[1] : 0);
  const double imaginary = factor[0] * value[1] + (factor[1] != 0 ? factor[1] * value[0] : 0);
  value[0] = real;
  value[1] = imaginary;
}

/* Computes in double, which rounds narrower types once more. */
static void store_in_double(const reduce_run *r) {
  const tsl_scaled_store *f = r->scaled_store;
  const bool add = !complex_is_zero(f->beta);
  for (int64_t i = 0; i < r->count; i++) {
    double x[2], before[2] = {0, 0};
    char *c = (char *)r->c + i * r->c_step * (int64_t)f->to->size;
    tsl_type_load(f->from->type, (const char *)r->x + i * r->x_step * (int64_t)f->from->size, x);
    x[1] = f->conjugate ? -x[1] : x[1];
    reduce_times(f->alpha, x);
    if (add) {
      tsl_type_load(f->to->type, c, before);
      reduce_times(f->beta, before);
      x[0] += before[0];
      x[1] += before[1];
    }
    tsl_type_store(f->to->type, c, x);
  }
}

/* Stores c = alpha x + beta c, by a loop of the types if there is one, else in double. */
static void store_run(const reduce_run *r) {
  const tsl_scaled_store *f = r->scaled_store;
  const tesela_type type = f->to->type;
  const bool same = f->from == f->to;
  if (same && complex_is_one(f->alpha) && complex_is_zero(f->beta) && !(f->conjugate && f->to->is_complex))
    tsl_type_convert(type, r->x, r->x_step, type, r->c, r->c_step, (size_t)r->count);
  else if (same && type == TESELA_F64)
    reduce_store_f64(r);
  else if (same && type == TESELA_F32)
    reduce_store_f32(r);
  else if (same && type == TESELA_I32)
    reduce_store_i32(r);
  else
    store_in_double(r);
}

static void store_block(void *user, const tsl_common_block *block) {
  const tsl_scaled_store *f = user;
  for (int64_t i = 0; i < block->lines; i++) {
    const int64_t x_at = f->is_message ? block->before + i * block->length : block->a_at + i * block->a_line;
    const reduce_run r = {f,
                          (const char *)f->sums + x_at * (int64_t)f->from->size,
                          f->is_message ? 1 : block->a_step,
                          (char *)f->c + (block->b_at + i * block->b_line) * (int64_t)f->to->size,
                          block->b_step,
                          block->length};
    store_run(&r);
  }
}

int64_t tsl_scaled_store_run(const tsl_scaled_store *scaled_store, const tsl_patch *a, const tsl_patch *b) {
  tsl_scaled_store store = *scaled_store;
  return tsl_patch_walk(a, b, store.order, store_block, &store);
}

#include "core/types.h"

#include "core/fp16_bulk.h"

#include <string.h>

/* Numbers at any address, part of any object. */
typedef float any_f32 __attribute__((aligned(1), may_alias));
typedef double any_f64 __attribute__((aligned(1), may_alias));

enum { HALVES_AT_ONCE = 256 };

/* Becomes a vectorised loop when inlined with constant sizes and steps. The index is first multiplied by the
 * step, so that a single element may have any step. */
static inline void copy_strided(const char *restrict source, int64_t source_step, char *restrict target,
                                int64_t target_step, size_t count, size_t size) {
  for (size_t i = 0; i < count; i++)
    memcpy(target + (int64_t)i * target_step * (int64_t)size,
           source + (int64_t)i * source_step * (int64_t)size, size);
}

static inline void widen_f32_to_f64(const any_f32 *restrict source, int64_t source_step,
                                    any_f64 *restrict target, int64_t target_step, size_t count) {
  for (size_t i = 0; i < count; i++)
    target[(int64_t)i * target_step] = source[(int64_t)i * source_step];
}

static inline void narrow_f64_to_f32(const any_f64 *restrict source, int64_t source_step,
                                     any_f32 *restrict target, int64_t target_step, size_t count) {
  for (size_t i = 0; i < count; i++)
    target[(int64_t)i * target_step] = (float)source[(int64_t)i * source_step];
}

static void copy_equal_types(const char *source, int64_t source_step, char *target, int64_t target_step,
                             size_t count, size_t size) {
  if (source_step == 1 && target_step == 1)
    memcpy(target, source, count * size);
  else if (size == 1)
    copy_strided(source, source_step, target, target_step, count, 1);
  else if (size == 2)
    copy_strided(source, source_step, target, target_step, count, 2);
  else if (size == 4)
    copy_strided(source, source_step, target, target_step, count, 4);
  else if (size == 8)
    copy_strided(source, source_step, target, target_step, count, 8);
  else
    copy_strided(source, source_step, target, target_step, count, size);
}

static bool is_half(tesela_type type) {
  return type == TESELA_F16 || type == TESELA_BF16;
}

/* Widens f16 or bf16 to f64 through f32, which holds both exactly. */
static void widen_halves(bool is_f16, const char *source, int64_t source_step, any_f64 *target,
                         int64_t target_step, size_t count) {
  float wide[HALVES_AT_ONCE];
  for (size_t done = 0; done < count; done += HALVES_AT_ONCE) {
    const size_t now = count - done < HALVES_AT_ONCE ? count - done : HALVES_AT_ONCE;
    const int64_t at = (int64_t)done;
    tsl_halves_widen(is_f16, source + at * source_step * 2, source_step, wide, 1, now);
    if (target_step == 1)
      widen_f32_to_f64(wide, 1, target + at, 1, now);
    else
      widen_f32_to_f64(wide, 1, target + at * target_step, target_step, now);
  }
}

/* Converts numbers one by one; steps are in elements. */
static void convert_through_f64(tesela_type from, const char *source, int64_t source_step, tesela_type type,
                                char *target, int64_t target_step, size_t count) {
  const int64_t source_size = (int64_t)tsl_type(from)->size, target_size = (int64_t)tsl_type(type)->size;
  for (size_t i = 0; i < count; i++) {
    double value[2];
    tsl_type_load(from, source + (int64_t)i * source_step * source_size, value);
    tsl_type_store(type, target + (int64_t)i * target_step * target_size, value);
  }
}

void tsl_type_convert(tesela_type from, const void *source, int64_t source_step, tesela_type type,
                      void *target, int64_t target_step, size_t count) {
  if (count == 0)
    return;
  const tsl_type_info *const source_info = tsl_type(from), *const target_info = tsl_type(type);
  const bool dense = source_step == 1 && target_step == 1;
  if (from == type)
    copy_equal_types(source, source_step, target, target_step, count, source_info->size);
  else if (dense && source_info->is_complex && target_info->is_complex)
    tsl_type_convert(source_info->component, source, 1, target_info->component, target, 1, 2 * count);
  else if (from == TESELA_F32 && type == TESELA_F64 && dense)
    widen_f32_to_f64(source, 1, target, 1, count);
  else if (from == TESELA_F32 && type == TESELA_F64)
    widen_f32_to_f64(source, source_step, target, target_step, count);
  else if (from == TESELA_F64 && type == TESELA_F32 && dense)
    narrow_f64_to_f32(source, 1, target, 1, count);
  else if (from == TESELA_F64 && type == TESELA_F32)
    narrow_f64_to_f32(source, source_step, target, target_step, count);
  else if (is_half(from) && type == TESELA_F32)
    tsl_halves_widen(from == TESELA_F16, source, source_step, target, target_step, count);
  else if (is_half(from) && type == TESELA_F64)
    widen_halves(from == TESELA_F16, source, source_step, target, target_step, count);
  else if (from == TESELA_F32 && is_half(type))
    tsl_halves_narrow(type == TESELA_F16, source, source_step, target, target_step, count);
  else
    convert_through_f64(from, source, source_step, type, target, target_step, count);
}

#include "base/types.h"

#include <string.h>

/* Element `i` of a run: multiplied in this order, a single element may have any step. */
static inline const char *source_at(const char *source, size_t i, int64_t step, size_t size) {
  return source + (int64_t)i * step * (int64_t)size;
}

static inline char *target_at(char *target, size_t i, int64_t step, size_t size) {
  return target + (int64_t)i * step * (int64_t)size;
}

/* Loops over one size or pair of types. Inlined into callers with constant sizes and steps, they become plain
 * loops that the compiler turns into vector code. */
static inline void copy(const char *restrict source, int64_t source_step, char *restrict target,
                        int64_t target_step, size_t count, size_t size) {
  for (size_t i = 0; i < count; i++)
    memcpy(target_at(target, i, target_step, size), source_at(source, i, source_step, size), size);
}

static inline void widen(const char *restrict source, int64_t source_step, char *restrict target,
                         int64_t target_step, size_t count) {
  for (size_t i = 0; i < count; i++) {
    float from;
    memcpy(&from, source_at(source, i, source_step, sizeof from), sizeof from);
    const double to = from;
    memcpy(target_at(target, i, target_step, sizeof to), &to, sizeof to);
  }
}

static inline void narrow(const char *restrict source, int64_t source_step, char *restrict target,
                          int64_t target_step, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double from;
    memcpy(&from, source_at(source, i, source_step, sizeof from), sizeof from);
    const float to = (float)from;
    memcpy(target_at(target, i, target_step, sizeof to), &to, sizeof to);
  }
}

/* Bits as they are. */
static void convert_same(const char *source, int64_t source_step, char *target, int64_t target_step,
                         size_t count, size_t size) {
  if (source_step == 1 && target_step == 1)
    memcpy(target, source, count * size);
  else if (size == 1)
    copy(source, source_step, target, target_step, count, 1);
  else if (size == 2)
    copy(source, source_step, target, target_step, count, 2);
  else if (size == 4)
    copy(source, source_step, target, target_step, count, 4);
  else if (size == 8)
    copy(source, source_step, target, target_step, count, 8);
  else
    copy(source, source_step, target, target_step, count, size);
}

static void convert_any(tesela_type from, const char *source, int64_t source_step, tesela_type to,
                        char *target, int64_t target_step, size_t count) {
  const size_t source_size = tsl_type(from)->size, target_size = tsl_type(to)->size;
  for (size_t i = 0; i < count; i++) {
    double value[2];
    tsl_type_load(from, source_at(source, i, source_step, source_size), value);
    tsl_type_store(to, target_at(target, i, target_step, target_size), value);
  }
}

void tsl_type_convert(tesela_type from, const void *source, int64_t source_step, tesela_type to, void *target,
                      int64_t target_step, size_t count) {
  if (count == 0)
    return;
  const tsl_type_info *const source_info = tsl_type(from), *const target_info = tsl_type(to);
  const bool dense = source_step == 1 && target_step == 1;
  if (from == to)
    convert_same(source, source_step, target, target_step, count, source_info->size);
  else if (dense && source_info->is_complex && target_info->is_complex)
    tsl_type_convert(source_info->component, source, 1, target_info->component, target, 1, 2 * count);
  else if (from == TESELA_F32 && to == TESELA_F64 && dense)
    widen(source, 1, target, 1, count);
  else if (from == TESELA_F32 && to == TESELA_F64)
    widen(source, source_step, target, target_step, count);
  else if (from == TESELA_F64 && to == TESELA_F32 && dense)
    narrow(source, 1, target, 1, count);
  else if (from == TESELA_F64 && to == TESELA_F32)
    narrow(source, source_step, target, target_step, count);
  else
    convert_any(from, source, source_step, to, target, target_step, count);
}

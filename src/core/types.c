#include "core/types.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Loads a number as (value, 0). memcpy() makes loads and stores independent of alignment. */
static void load_f64(const void *src, double value[2]) {
  memcpy(&value[0], src, sizeof(double));
  value[1] = 0;
}

static void store_f64(void *data, const double value[2]) {
  memcpy(data, &value[0], sizeof(double));
}

static void load_f32(const void *src, double value[2]) {
  float number;
  memcpy(&number, src, sizeof number);
  value[0] = number;
  value[1] = 0;
}

static void store_f32(void *data, const double value[2]) {
  const float number = (float)value[0];
  memcpy(data, &number, sizeof number);
}

#define NARROW(name, bits_type)                                                                              \
  static void load_##name(const void *src, double value[2]) {                                                \
    bits_type bits;                                                                                          \
    memcpy(&bits, src, sizeof bits);                                                                         \
    value[0] = tsl_##name##_to_f64(bits);                                                                    \
    value[1] = 0;                                                                                            \
  }                                                                                                          \
  static void store_##name(void *data, const double value[2]) {                                              \
    const bits_type bits = tsl_##name##_from_f64(value[0]);                                                  \
    memcpy(data, &bits, sizeof bits);                                                                        \
  }
NARROW(f16, uint16_t)
NARROW(bf16, uint16_t)
NARROW(e4m3, uint8_t)
NARROW(e5m2, uint8_t)
#undef NARROW

/* Rounds to nearest even, as rint() does in the default rounding mode, and clamps. NaN becomes 0. */
static double round_and_clamp(double min, double value, double max) {
  if (isnan(value))
    return 0;
  return value <= min ? min : value >= max ? max : rint(value);
}

#define WHOLE(name, number_type, min, max)                                                                   \
  static void load_##name(const void *src, double value[2]) {                                                \
    number_type number;                                                                                      \
    memcpy(&number, src, sizeof number);                                                                     \
    value[0] = number;                                                                                       \
    value[1] = 0;                                                                                            \
  }                                                                                                          \
  static void store_##name(void *data, const double value[2]) {                                              \
    const number_type number = (number_type)round_and_clamp(min, value[0], max);                             \
    memcpy(data, &number, sizeof number);                                                                    \
  }
WHOLE(i8, int8_t, INT8_MIN, INT8_MAX)
WHOLE(u8, uint8_t, 0, UINT8_MAX)
WHOLE(i32, int32_t, INT32_MIN, INT32_MAX)
#undef WHOLE

static void load_c64(const void *src, double value[2]) {
  float halves[2];
  memcpy(halves, src, sizeof halves);
  value[0] = halves[0];
  value[1] = halves[1];
}

static void store_c64(void *data, const double value[2]) {
  const float halves[2] = {(float)value[0], (float)value[1]};
  memcpy(data, halves, sizeof halves);
}

static void load_c128(const void *src, double value[2]) {
  memcpy(value, src, 2 * sizeof(double));
}

static void store_c128(void *data, const double value[2]) {
  memcpy(data, value, 2 * sizeof(double));
}

/* X(TYPE, name, kernel name, size, component, sums, complex, integer, u, largest, smallest), in enum
 * order. */
#define TYPE_LIST(X)                                                                                         \
  X(F64, f64, "double", 8, F64, F64, false, false, 0x1p-53, DBL_MAX, 0x1p-1074)                              \
  X(F32, f32, "float", 4, F32, F32, false, false, 0x1p-24, FLT_MAX, 0x1p-149)                                \
  X(F16, f16, NULL, 2, F16, F32, false, false, 0x1p-11, 65504, 0x1p-24)                                      \
  X(BF16, bf16, NULL, 2, BF16, F32, false, false, 0x1p-8, 0x1.fep127, 0x1p-133)                              \
  X(I8, i8, "char", 1, I8, I32, false, true, 0, INT8_MAX, 0)                                                 \
  X(I32, i32, "int", 4, I32, I32, false, true, 0, INT32_MAX, 0)                                              \
  X(C64, c64, NULL, 8, F32, C64, true, false, 0x1p-24, FLT_MAX, 0x1p-149)                                    \
  X(C128, c128, NULL, 16, F64, C128, true, false, 0x1p-53, DBL_MAX, 0x1p-1074)                               \
  X(U8, u8, "uchar", 1, U8, I32, false, true, 0, UINT8_MAX, 0)                                               \
  X(E4M3, e4m3, NULL, 1, E4M3, F32, false, false, 0x1p-4, 448, 0x1p-9)                                       \
  X(E5M2, e5m2, NULL, 1, E5M2, F32, false, false, 0x1p-3, 57344, 0x1p-16)

static const struct {
  tsl_type_info info;
  void (*load)(const void *src, double value[2]);
  void (*store)(void *data, const double value[2]);
} table[] = {
#define ROW(TYPE, name, kernel, size, component, sums, is_complex, is_integer, roundoff, largest, smallest)  \
  [TESELA_##TYPE - 1] = {{TESELA_##TYPE, #name, kernel, size, TESELA_##component, TESELA_##sums, is_complex, \
                          is_integer, roundoff, largest, smallest},                                          \
                         load_##name,                                                                        \
                         store_##name},
    TYPE_LIST(ROW)
#undef ROW
};

enum { TYPE_COUNT = sizeof table / sizeof table[0] };

const tsl_type_info *tsl_type_at(int index) {
  return index >= 0 && index < TYPE_COUNT ? &table[index].info : NULL;
}

const tsl_type_info *tsl_type(tesela_type type) {
  return tsl_type_at((int)type - 1);
}

tesela_type tsl_type_of_products(tesela_type type) {
  const tsl_type_info *info = tsl_type(type);
  return info && info->size == 1 ? info->sums : type;
}

tesela_type tsl_type_parse(const char *name) {
  for (int i = 0; i < TYPE_COUNT; i++)
    if (strcmp(table[i].info.name, name) == 0)
      return table[i].info.type;
  return TESELA_TYPE_DEFAULT;
}

const char *tsl_type_names(void) {
#define NAME(TYPE, name, ...) ", " #name
  static const char names[] = TYPE_LIST(NAME);
#undef NAME
  return names + strlen(", ");
}

void tsl_type_load(tesela_type type, const void *src, double value[2]) {
  table[type - 1].load(src, value);
}

void tsl_type_store(tesela_type type, void *data, const double value[2]) {
  table[type - 1].store(data, value);
}

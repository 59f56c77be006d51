#include "core/types.h"

#include "unit/unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_table(void **state) {
  (void)state;
  int count = 0;
  for (const tsl_type_info *info; (info = tsl_type_at(count)); count++) {
    assert_int_equal(info->type, count + 1);
    assert_ptr_equal(tsl_type(info->type), info);
    assert_int_equal(tsl_type_parse(info->name), info->type);
    assert_non_null(strstr(tsl_type_names(), info->name));
    const tsl_type_info *const component = tsl_type(info->component);
    assert_int_equal(info->size, (info->is_complex ? 2 : 1) * component->size);
    assert_false(component->is_complex);
    assert_true(info->unit_roundoff == component->unit_roundoff);
    assert_true(info->largest == component->largest && info->smallest == component->smallest);
    assert_int_equal(info->is_integer, info->unit_roundoff == 0);
  }
  assert_int_equal(count, 11);
  assert_null(tsl_type_at(-1));
  assert_null(tsl_type(TESELA_TYPE_DEFAULT));
  assert_null(tsl_type((tesela_type)12));
  assert_null(tsl_type((tesela_type)-1));
  assert_int_equal(tsl_type_parse("F32"), TESELA_TYPE_DEFAULT);
  assert_int_equal(tsl_type_parse(""), TESELA_TYPE_DEFAULT);
  assert_int_equal(tsl_type_parse("f3"), TESELA_TYPE_DEFAULT);
  assert_string_equal(tsl_type_names(), "f64, f32, f16, bf16, i8, i32, c64, c128, u8, e4m3, e5m2");
}

/* The table's limits agree with the conversions: the largest number converts exactly, a slightly
 * larger one does not; and so on. */
static void test_limits(void **state) {
  (void)state;
  for (int i = 0; tsl_type_at(i); i++) {
    const tsl_type_info *const info = tsl_type_at(i);
    char element[16];
    double value[2] = {info->type == TESELA_U8 ? info->largest : -info->largest,
                       info->is_complex ? info->largest : 0},
           back[2];
    tsl_type_store(info->type, element, value);
    tsl_type_load(info->type, element, back);
    assert_true(back[0] == value[0] && back[1] == value[1]);
    if (info->is_integer)
      continue;
    value[0] = info->smallest;
    tsl_type_store(info->type, element, value);
    tsl_type_load(info->type, element, back);
    assert_true(back[0] == info->smallest);
    value[0] = info->smallest / 2;
    tsl_type_store(info->type, element, value);
    tsl_type_load(info->type, element, back);
    assert_true(back[0] == 0);
    /* 1 + u is a tie, which goes to 1, and a little more does not. */
    value[0] = 1 + 2 * info->unit_roundoff;
    tsl_type_store(info->type, element, value);
    tsl_type_load(info->type, element, back);
    assert_true(back[0] == value[0]);
    value[0] = 1 + info->unit_roundoff;
    tsl_type_store(info->type, element, value);
    tsl_type_load(info->type, element, back);
    assert_true(back[0] == 1);
  }
}

typedef struct half_type {
  uint16_t (*from)(double);
  double (*to)(uint16_t);
  uint16_t infinity, quiet;
  double largest, smallest;
} half_type;

static const half_type half_types[] = {
    {tsl_f16_from_f64, tsl_f16_to_f64, 0x7c00, 0x0200, 65504, 0x1p-24},
    {tsl_bf16_from_f64, tsl_bf16_to_f64, 0x7f80, 0x0040, 0x1.fep127, 0x1p-133},
};

/* Every pattern comes back; NaN comes back quiet. */
static void test_half_round_trip(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const half_type *const half = &half_types[t];
    for (unsigned bits = 0; bits < 0x10000; bits++) {
      const double value = half->to((uint16_t)bits);
      const bool is_nan = (bits & 0x7fff) > half->infinity;
      assert_int_equal(isnan(value) != 0, is_nan);
      assert_int_equal(signbit(value) != 0, bits >> 15);
      assert_int_equal(half->from(value), is_nan ? bits | half->quiet : bits);
    }
  }
}

/* Positive patterns are ordered as their values. Between two neighbours the middle goes to the even one, and
 * the smallest step off the middle decides: so nothing is rounded twice. */
static void test_half_rounding(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const half_type *const half = &half_types[t];
    for (unsigned bits = 0; bits + 1 < half->infinity; bits++) {
      const double low = half->to((uint16_t)bits), high = half->to((uint16_t)(bits + 1));
      assert_true(low < high);
      const double middle = low + (high - low) / 2;
      assert_int_equal(half->from(middle), bits + (bits & 1));
      assert_int_equal(half->from(nextafter(middle, low)), bits);
      assert_int_equal(half->from(nextafter(middle, high)), bits + 1);
      assert_int_equal(half->from(-middle), 0x8000 | (bits + (bits & 1)));
      assert_int_equal(half->from(nextafter(-middle, -high)), 0x8000 | (bits + 1));
    }
  }
}

static void test_half_edges(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const half_type *const half = &half_types[t];
    const uint16_t largest = (uint16_t)(half->infinity - 1);
    assert_true(half->to(largest) == half->largest);
    assert_true(half->to(1) == half->smallest);
    /* The middle between the largest number and what would come next. */
    const double next = half->largest + (half->largest - half->to((uint16_t)(largest - 1)));
    const double middle = half->largest + (next - half->largest) / 2;
    assert_int_equal(half->from(nextafter(middle, 0)), largest);
    assert_int_equal(half->from(middle), half->infinity);
    assert_int_equal(half->from(-middle), 0x8000 | half->infinity);
    assert_int_equal(half->from(1.75 * half->largest), half->infinity);
    assert_int_equal(half->from(-3.5 * half->largest), 0x8000 | half->infinity);
    assert_int_equal(half->from(DBL_MAX), half->infinity);
    assert_int_equal(half->from(INFINITY), half->infinity);
    assert_int_equal(half->from(-INFINITY), 0x8000 | half->infinity);
    assert_int_equal(half->from(0.0), 0);
    assert_int_equal(half->from(-0.0), 0x8000);
    assert_int_equal(half->from(DBL_TRUE_MIN), 0);
    assert_int_equal(half->from(-DBL_MIN), 0x8000);
    assert_int_equal(half->from(half->smallest / 4), 0);
    assert_true(half->from(NAN) % 0x8000 > half->infinity);
  }
  /* Known patterns. */
  assert_int_equal(tsl_f16_from_f64(1), 0x3c00);
  assert_int_equal(tsl_f16_from_f64(-2), 0xc000);
  assert_int_equal(tsl_f16_from_f64(1.0 / 3), 0x3555);
  assert_int_equal(tsl_f16_from_f64(0x1p-14), 0x0400);
  assert_int_equal(tsl_bf16_from_f64(1), 0x3f80);
  assert_int_equal(tsl_bf16_from_f64(3.140625), 0x4049);
  /* NaN whose low bits alone are set stays NaN. */
  const uint64_t bits = UINT64_C(0x7ff0000000000001);
  double nan;
  memcpy(&nan, &bits, sizeof nan);
  assert_int_equal(tsl_f16_from_f64(nan), 0x7e00);
  assert_int_equal(tsl_bf16_from_f64(nan), 0x7fc0);
}

/* Types of one byte: every pattern. `last` is the pattern of the largest number, `beyond` the
 * pattern that larger numbers become. */
static const struct byte_type {
  uint8_t (*from)(double);
  double (*to)(uint8_t);
  uint8_t last, beyond;
  tesela_type type;
} byte_types[] = {{tsl_e4m3_from_f64, tsl_e4m3_to_f64, 0x7e, 0x7f, TESELA_E4M3},
                  {tsl_e5m2_from_f64, tsl_e5m2_to_f64, 0x7b, 0x7c, TESELA_E5M2}};

static void test_bytes(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const struct byte_type *const of = &byte_types[t];
    for (unsigned bits = 0; bits <= of->last; bits++) {
      const double value = of->to((uint8_t)bits);
      assert_true(isfinite(value) && of->to((uint8_t)(bits | 0x80)) == -value);
      assert_int_equal(of->from(value), bits);
      assert_int_equal(of->from(-value), bits | 0x80);
      if (bits == of->last)
        break;
      const double high = of->to((uint8_t)(bits + 1)), middle = value + (high - value) / 2;
      assert_true(value < high);
      assert_int_equal(of->from(middle), bits + (bits & 1));
      assert_int_equal(of->from(nextafter(middle, value)), bits);
      assert_int_equal(of->from(nextafter(-middle, -high)), 0x80 | (bits + 1));
    }
    const double largest = of->to(of->last), step = largest - of->to((uint8_t)(of->last - 1)),
                 middle = largest + step / 2;
    assert_true(largest == tsl_type(of->type)->largest && of->to(1) == tsl_type(of->type)->smallest);
    /* A tie goes to the even one of the largest number and what would come next. */
    assert_int_equal(of->from(middle), of->last % 2 == 0 ? of->last : of->beyond);
    assert_int_equal(of->from(nextafter(middle, INFINITY)), of->beyond);
    assert_int_equal(of->from(-DBL_MAX), 0x80 | of->beyond);
    assert_int_equal(of->from(INFINITY), of->beyond);
    assert_true(isnan(of->to(of->from(NAN))) && isnan(of->to(0x7f)) && isnan(of->to(0xff)));
    assert_int_equal(of->from(DBL_TRUE_MIN), 0);
    assert_int_equal(of->from(-DBL_MIN), 0x80);
  }
  assert_true(tsl_e5m2_to_f64(0xfc) == -INFINITY && isnan(tsl_e5m2_to_f64(0x7d)));
  /* Known patterns. */
  assert_int_equal(tsl_e4m3_from_f64(1), 0x38);
  assert_int_equal(tsl_e4m3_from_f64(-448), 0xfe);
  /* The mantissa carries past the last number of the format. */
  assert_int_equal(tsl_e4m3_from_f64(510), 0x7f);
  assert_int_equal(tsl_e4m3_from_f64(-510), 0xff);
  assert_int_equal(tsl_e5m2_from_f64(1), 0x3c);
  assert_int_equal(tsl_e5m2_from_f64(57344), 0x7b);
}

static double through(tesela_type type, double real) {
  const double value[2] = {real, 5};
  double back[2] = {7, 7};
  char element[17];
  tsl_type_store(type, element + 1, value);
  tsl_type_load(type, element + 1, back);
  assert_true(back[1] == (tsl_type(type)->is_complex ? 5 : 0));
  return back[0];
}

static void test_integers(void **state) {
  (void)state;
  assert_true(through(TESELA_I8, 126.5) == 126);
  assert_true(through(TESELA_I8, 125.5) == 126);
  assert_true(through(TESELA_I8, -0.5) == 0);
  assert_true(through(TESELA_I8, -1.5) == -2);
  assert_true(through(TESELA_I8, 127.4) == 127);
  assert_true(through(TESELA_I8, 128) == 127);
  assert_true(through(TESELA_I8, -128.5) == -128);
  assert_true(through(TESELA_I8, -INFINITY) == -128);
  assert_true(through(TESELA_I8, NAN) == 0);
  assert_true(through(TESELA_U8, 254.5) == 254);
  assert_true(through(TESELA_U8, 255.5) == 255);
  assert_true(through(TESELA_U8, -0.6) == 0);
  assert_true(through(TESELA_U8, NAN) == 0);
  assert_true(through(TESELA_I32, 2147483646.5) == 2147483646);
  assert_true(through(TESELA_I32, 2147483647.5) == 2147483647);
  assert_true(through(TESELA_I32, 1e300) == 2147483647);
  assert_true(through(TESELA_I32, -2147483649.0) == -2147483648.0);
  assert_true(through(TESELA_I32, -NAN) == 0);
}

static void test_floats(void **state) {
  (void)state;
  assert_true(through(TESELA_F32, 0.1) == (double)0.1f);
  assert_true(through(TESELA_F32, 1e300) == INFINITY);
  assert_true(through(TESELA_C64, 0.1) == (double)0.1f);
  assert_true(through(TESELA_F64, 0.1) == 0.1);
  assert_true(through(TESELA_C128, 0.1) == 0.1);
  assert_true(isnan(through(TESELA_F32, NAN)));
  assert_true(isnan(through(TESELA_BF16, NAN)));
}

/* Compares every pair of types and several steps with conversions of single elements. Elements
 * between the steps are unchanged. */
static void check_pair(const tsl_type_info *from, const tsl_type_info *info, int64_t source_step,
                       int64_t target_step) {
  enum { COUNT = 37, ROOM = COUNT * 3 };
  /* One byte in front makes everything unaligned. */
  char source[1 + ROOM * 16], target[sizeof source], expected[sizeof source];
  memset(source, 0, sizeof source);
  memset(target, 0x5a, sizeof target);
  memset(expected, 0x5a, sizeof expected);
  for (int i = 0; i < ROOM; i++) {
    const double value[2] = {(i - 50) * 1.37, (30 - i) * 0.71};
    tsl_type_store(from->type, source + 1 + (size_t)i * from->size, value);
  }
  const int64_t source_first = source_step < 0 ? -source_step * (COUNT - 1) : 0;
  const int64_t target_first = target_step < 0 ? -target_step * (COUNT - 1) : 0;
  for (int i = 0; i < COUNT; i++) {
    const char *const at = source + 1 + (source_first + i * source_step) * (int64_t)from->size;
    char *const to_at = expected + 1 + (target_first + i * target_step) * (int64_t)info->size;
    double value[2];
    tsl_type_load(from->type, at, value);
    if (from == info)
      memcpy(to_at, at, info->size);
    else
      tsl_type_store(info->type, to_at, value);
  }
  tsl_type_convert(from->type, source + 1 + source_first * (int64_t)from->size, source_step, info->type,
                   target + 1 + target_first * (int64_t)info->size, target_step, COUNT);
  if (memcmp(target, expected, sizeof target) != 0)
    fail_msg("%s by %d to %s by %d", from->name, (int)source_step, info->name, (int)target_step);
}

static void test_convert(void **state) {
  (void)state;
  static const int64_t steps[] = {1, -1, 2, 3, -3};
  for (int i = 0; tsl_type_at(i); i++)
    for (int j = 0; tsl_type_at(j); j++)
      for (int s = 0; s < 5; s++)
        for (int t = 0; t < 5; t++)
          check_pair(tsl_type_at(i), tsl_type_at(j), steps[s], steps[t]);
}

static void test_convert_edges(void **state) {
  (void)state;
  /* No elements: nothing is touched. One element: any step. Step 0 repeats a source. */
  tsl_type_convert(TESELA_F32, NULL, 1, TESELA_F32, NULL, 1, 0);
  tsl_type_convert(TESELA_F32, NULL, 5, TESELA_F16, NULL, -5, 0);
  const double one = 1.5;
  float narrow = 0;
  tsl_type_convert(TESELA_F64, &one, INT64_MAX, TESELA_F32, &narrow, INT64_MIN, 1);
  assert_true(narrow == 1.5f);
  double same = 0;
  tsl_type_convert(TESELA_F64, &one, INT64_MAX, TESELA_F64, &same, INT64_MIN, 1);
  assert_true(same == 1.5);
  float repeated[5] = {0};
  tsl_type_convert(TESELA_F64, &one, 0, TESELA_F32, repeated, 1, 5);
  for (int i = 0; i < 5; i++)
    assert_true(repeated[i] == 1.5f);
  /* Equal types keep the bits of a signalling NaN. */
  const uint32_t signalling[2] = {0x7f800001, 0xff812345};
  uint32_t copied[4] = {0};
  tsl_type_convert(TESELA_F32, signalling, 1, TESELA_F32, copied, 2, 2);
  assert_int_equal(copied[0], signalling[0]);
  assert_int_equal(copied[2], signalling[1]);
}

/* Conversions of many halves from and to f32 have the same bits as conversions of single elements.
 * Tests all halves, and the f32 numbers around each half and around each midpoint of two halves. */
static void test_halves(void **state) {
  enum { ALL = 1 << 16 };
  static const tesela_type types[] = {TESELA_F16, TESELA_BF16};
  static uint16_t halves[ALL], narrow[ALL], backwards[ALL];
  static float wide[ALL], near[ALL];
  static double wider[ALL], apart[2 * ALL];
  (void)state;
  for (int i = 0; i < ALL; i++)
    halves[i] = (uint16_t)i;
  for (int t = 0; t < 2; t++) {
    tsl_type_convert(types[t], halves, 1, TESELA_F32, wide, 1, ALL);
    tsl_type_convert(types[t], halves, 1, TESELA_F64, wider, 1, ALL);
    tsl_type_convert(types[t], halves + ALL - 1, -1, TESELA_F64, apart + 2 * (ALL - 1), -2, ALL);
    for (int i = 0; i < ALL; i++) {
      double value[2];
      tsl_type_load(types[t], &halves[i], value);
      const float expected = (float)value[0];
      if (memcmp(&wide[i], &expected, sizeof expected) != 0)
        fail_msg("%s %04x becomes %a, not %a", tsl_type(types[t])->name, (unsigned)i, (double)wide[i],
                 (double)expected);
      if (memcmp(&wider[i], &value[0], sizeof value[0]) != 0 ||
          memcmp(&apart[2 * i], &value[0], sizeof value[0]) != 0)
        fail_msg("%s %04x becomes %a and %a, not %a", tsl_type(types[t])->name, (unsigned)i, wider[i],
                 apart[2 * i], value[0]);
    }
    for (int step = -2; step <= 4; step++) {
      for (int i = 0; i < ALL; i++) {
        uint32_t bits;
        memcpy(&bits, &wide[i], sizeof bits);
        /* Distance to the midpoint of two halves, also of f16's small numbers, and numbers next to
         * both. */
        const uint32_t half = types[t] == TESELA_BF16 ? 0x8000 : 0x1000;
        bits += step > 1 ? half + (uint32_t)(step - 3) : (uint32_t)step;
        memcpy(&near[i], &bits, sizeof bits);
      }
      tsl_type_convert(TESELA_F32, near, 1, types[t], narrow, 1, ALL);
      tsl_type_convert(TESELA_F32, near + ALL - 1, -1, types[t], backwards + ALL - 1, -1, ALL);
      for (int i = 0; i < ALL; i++) {
        uint16_t expected;
        tsl_type_store(types[t], &expected, (const double[2]){(double)near[i], 0});
        if (narrow[i] != expected || backwards[i] != expected)
          fail_msg("%a becomes %04x and %04x in %s, not %04x", (double)near[i], (unsigned)narrow[i],
                   (unsigned)backwards[i], tsl_type(types[t])->name, (unsigned)expected);
      }
    }
    /* Middles of f16's small numbers, which its bits do not say. */
    for (int i = 0; i < 2048; i++) {
      const float middle = ((float)i + 0.5f) * 0x1p-24f;
      uint16_t one, expected;
      tsl_type_store(types[t], &expected, (const double[2]){(double)middle, 0});
      tsl_type_convert(TESELA_F32, &middle, 1, types[t], &one, 1, 1);
      assert_int_equal(one, expected);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),           cmocka_unit_test(test_limits),
      cmocka_unit_test(test_half_round_trip), cmocka_unit_test(test_half_rounding),
      cmocka_unit_test(test_half_edges),      cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_integers),        cmocka_unit_test(test_floats),
      cmocka_unit_test(test_convert),         cmocka_unit_test(test_convert_edges),
      cmocka_unit_test(test_halves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

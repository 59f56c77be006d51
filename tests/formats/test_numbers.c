/* Numbers as text: exactly rounded when read, shortest when written. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/expected.h"
#include "io/io_number.h"

static double read_good(const char *text, int flags) {
  double value = -12345;
  if (tsl_number_read(text, strlen(text), flags, &value) != TSL_NUMBER_READ)
    fail_msg("'%s' is not read", text);
  return value;
}

static void test_read(void **state) {
  (void)state;
  /* Decimals on both sides of what the fast way takes; strtod() in the C locale is the judge. */
  static const char *const decimals[] = {"0",
                                         "-0",
                                         "+7",
                                         ".5",
                                         "5.",
                                         "007.25",
                                         "1e5",
                                         "1E+05",
                                         "1e-5",
                                         "123456789012345",
                                         "9007199254740992",
                                         "9007199254740993",
                                         "1e22",
                                         "1e23",
                                         "123e-22",
                                         "123e-23",
                                         "0.1",
                                         "0.30000000000000004",
                                         "3.14159265358979323846264338327950288",
                                         "1.7976931348623157e308",
                                         "2.2250738585072011e-308",
                                         "4.9e-324",
                                         "2.4e-324",
                                         "1e-400",
                                         "0e99999999999999999999",
                                         "0.000000000000000000000000000000001",
                                         "1000000000000000000000000000000000",
                                         "179769313486231580793e288",
                                         "8.5e-1"};
  for (size_t i = 0; i < sizeof decimals / sizeof decimals[0]; i++) {
    const double want[2] = {strtod(decimals[i], NULL), 0}, got[2] = {read_good(decimals[i], 0), 0};
    if (!same_value(want, got))
      fail_msg("'%s' is %.17g, not %.17g", decimals[i], want[0], got[0]);
  }
  assert_true(read_good("inf", 0) == INFINITY && read_good("+Infinity", 0) == INFINITY);
  assert_true(read_good("-INF", 0) == -INFINITY);
  assert_true(isnan(read_good("nan", 0)) && isnan(read_good("-NaN", 0)));
  assert_true(read_good("1d5", TSL_NUMBER_FORTRAN) == 1e5);
  assert_true(read_good("-1.25D-300", TSL_NUMBER_FORTRAN) == -1.25e-300);
  assert_true(read_good("1,5", TSL_NUMBER_COMMA) == 1.5);
  assert_true(read_good("1234567890,12345678901234567890", TSL_NUMBER_COMMA) ==
              1234567890.12345678901234567890);
}

static void test_read_refuses(void **state) {
  (void)state;
  static const char *const wrong[] = {"",    "+",    "-",   ".",    "e5",       "1e",       "1e+",    "1.2.3",
                                      "1,5", "0x10", "1d5", "1 2",  "1e5.0",    "infi",     "nan(1)", "--1",
                                      "+-1", "one",  "1f",  "1e5x", "\xc3\xa9", "infinity1"};
  double value;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    if (tsl_number_read(wrong[i], strlen(wrong[i]), 0, &value) != TSL_NUMBER_NONE)
      fail_msg("'%s' is read as a number", wrong[i]);
  assert_int_equal(tsl_number_read("1.5", 3, TSL_NUMBER_COMMA, &value), TSL_NUMBER_NONE);
  assert_int_equal(tsl_number_read("1e309", 5, 0, &value), TSL_NUMBER_TOO_LARGE);
  assert_int_equal(tsl_number_read("-1e99999999999999999999", 23, 0, &value), TSL_NUMBER_TOO_LARGE);
}

static void test_read_whole(void **state) {
  (void)state;
  int64_t value;
  assert_int_equal(tsl_number_read_whole("9223372036854775807", 19, &value), TSL_NUMBER_READ);
  assert_true(value == INT64_MAX);
  assert_int_equal(tsl_number_read_whole("-12", 3, &value), TSL_NUMBER_READ);
  assert_int_equal(value, -12);
  assert_int_equal(tsl_number_read_whole("9223372036854775808", 19, &value), TSL_NUMBER_TOO_LARGE);
  assert_int_equal(tsl_number_read_whole("99999999999999999999", 20, &value), TSL_NUMBER_TOO_LARGE);
  assert_int_equal(tsl_number_read_whole("1.0", 3, &value), TSL_NUMBER_NONE);
  assert_int_equal(tsl_number_read_whole("", 0, &value), TSL_NUMBER_NONE);
  assert_int_equal(tsl_number_read_whole("-", 1, &value), TSL_NUMBER_NONE);
}

static void check_text(tesela_type type, double value, const char *want) {
  char text[TSL_NUMBER_MAX + 1];
  text[tsl_number_write(type, value, text)] = '\0';
  assert_string_equal(text, want);
}

static void test_write(void **state) {
  (void)state;
  check_text(TESELA_F64, 0, "0");
  check_text(TESELA_F64, -0.0, "-0");
  check_text(TESELA_F64, 1.5, "1.5");
  check_text(TESELA_F64, 0.1, "0.1");
  check_text(TESELA_F64, -1234.5, "-1234.5");
  check_text(TESELA_F64, 0.00001, "0.00001");
  check_text(TESELA_F64, 0.000001, "1e-6");
  check_text(TESELA_F64, 1e15, "1000000000000000");
  check_text(TESELA_F64, 1e16, "1e16");
  check_text(TESELA_F64, 0x1p-1074, "5e-324");
  check_text(TESELA_F64, 0x1p-1022, "2.2250738585072014e-308");
  check_text(TESELA_F64, 0x1.fffffffffffffp1023, "1.7976931348623157e308");
  check_text(TESELA_F64, 9007199254740993e3, "9.007199254740993e18");
  check_text(TESELA_F64, INFINITY, "inf");
  check_text(TESELA_F64, -INFINITY, "-inf");
  check_text(TESELA_F64, NAN, "nan");
  check_text(TESELA_F32, 0.1f, "0.1");
  check_text(TESELA_F32, 0x1p-149, "1e-45");
  check_text(TESELA_F32, 0x1.fffffep127, "3.4028235e38");
  check_text(TESELA_F16, 0.0999755859375, "0.1");
  check_text(TESELA_F16, 65504, "65504");
  check_text(TESELA_I32, -2147483648.0, "-2147483648");
}

/* Bits that look random (Marsaglia's xorshift64). */
static uint64_t next_bits(void) {
  static uint64_t bits = 88172645463325252u;
  bits ^= bits << 13;
  bits ^= bits >> 7;
  bits ^= bits << 17;
  return bits;
}

/* Digits of the shortest printf() text that reads back. */
static int fewest_digits(double value) {
  char text[64];
  int digits = 1;
  for (; digits < 17; digits++) {
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    if (strtod(text, NULL) == value)
      break;
  }
  return digits;
}

static int count_digits(const char *text) {
  int count = 0, zeros = 0;
  for (; *text != '\0' && *text != 'e'; text++) {
    if (*text < '0' || *text > '9' || (count == 0 && *text == '0'))
      continue;
    count++;
    zeros = *text == '0' ? zeros + 1 : 0;
  }
  return count - zeros;
}

static void check_shortest(double value) {
  char text[TSL_NUMBER_MAX + 1];
  if (!isfinite(value))
    return;
  text[tsl_number_write(TESELA_F64, value, text)] = '\0';
  const double back[2] = {strtod(text, NULL), 0}, want[2] = {value, 0}, ours[2] = {read_good(text, 0), 0};
  if (!same_value(want, back) || !same_value(want, ours) ||
      (value != 0 && count_digits(text) > fewest_digits(value)))
    fail_msg("%a is written as %s; %d digits are enough", value, text, fewest_digits(value));
}

static void test_write_random(void **state) {
  (void)state;
  for (int i = 0; i < 100000; i++) {
    const uint64_t bits = next_bits();
    double value;
    memcpy(&value, &bits, sizeof value);
    check_shortest(value);
    check_shortest(round(ldexp((double)(bits >> 11), -40)) / 1000);
  }
  /* Powers of two, where the gap below is half the gap above, and their neighbours. */
  for (int e = -1074; e <= 1023; e++) {
    check_shortest(ldexp(1, e));
    check_shortest(nextafter(ldexp(1, e), INFINITY));
    check_shortest(nextafter(ldexp(1, e), 0));
  }
  for (int e = -320; e <= 308; e++) {
    char text[16];
    snprintf(text, sizeof text, "1e%d", e);
    check_shortest(strtod(text, NULL));
  }
}

/* Every number of the 16-bit types, and many f32, come back from their text. */
static void test_write_narrow(void **state) {
  (void)state;
  static const tesela_type types[] = {TESELA_F16, TESELA_BF16, TESELA_F32};
  for (int t = 0; t < 3; t++) {
    for (uint32_t i = 0; i < 0x20000; i++) {
      char text[TSL_NUMBER_MAX];
      const uint32_t bits = t < 2 ? i : (uint32_t)next_bits();
      double want[2], got[2] = {0, 0};
      tsl_type_load(types[t], &bits, want);
      const size_t length = tsl_number_write(types[t], want[0], text);
      assert_int_equal(tsl_number_read(text, length, 0, &got[0]), TSL_NUMBER_READ);
      rounded(got, types[t], got);
      if (!same_value(want, got) || length > 17)
        fail_msg("%a is written as %.*s", want[0], (int)length, text);
    }
  }
}

/* A locale with decimal commas changes nothing. */
static void test_locale(void **state) {
  (void)state;
  static const char *const names[] = {"de_DE.UTF-8", "de_DE", "es_ES.UTF-8", "hu_HU.UTF-8", "sl_SI.UTF-8"};
  const char *found = NULL;
  for (int i = 0; i < 5 && found == NULL; i++)
    found = setlocale(LC_ALL, names[i]);
  if (found == NULL) {
    print_message("skipped: no locale with decimal commas is installed\n");
    skip();
  }
  assert_true(read_good("0.30000000000000004", 0) == 0.1 + 0.2);
  check_text(TESELA_F64, 0.5, "0.5");
  setlocale(LC_ALL, "C");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read),   cmocka_unit_test(test_read_refuses), cmocka_unit_test(test_read_whole),
      cmocka_unit_test(test_write),  cmocka_unit_test(test_write_random), cmocka_unit_test(test_write_narrow),
      cmocka_unit_test(test_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

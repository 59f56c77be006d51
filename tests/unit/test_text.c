#include "core/text.h"

#include "core/json_writer.h"
#include "core/status.h"
#include "unit/unit.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_growth(void **state) {
  (void)state;
  tsl_text text = {0};
  assert_string_equal(tsl_text_get(&text), "");
  assert_int_equal(tsl_text_status(&text), TESELA_OK);
  tsl_text_add(&text, "%s", "");
  assert_string_equal(tsl_text_get(&text), "");
  /* Pieces of every length around the first and later sizes. */
  size_t length = 0;
  for (int piece = 0; piece < 300; piece++) {
    tsl_text_add(&text, "%0*d", piece + 1, 7);
    length += (size_t)piece + 1;
    assert_int_equal(text.length, length);
    assert_int_equal(strlen(text.data), length);
    assert_true(text.capacity > length);
    assert_int_equal(text.data[length - 1], '7');
  }
  tsl_text_add_bytes(&text, "ab\0cd", 5);
  assert_int_equal(text.length, length + 5);
  assert_memory_equal(text.data + length, "ab\0cd", 6);
  tsl_text_add_bytes(&text, NULL, 0);
  assert_int_equal(text.length, length + 5);
  tsl_text_free(&text);
  assert_null(text.data);
  tsl_text_free(&text);
}

static void test_take(void **state) {
  (void)state;
  tsl_text text = {0};
  char *taken = tsl_text_take(&text);
  assert_string_equal(taken, "");
  free(taken);
  tsl_text_add(&text, "gemm %s", "element");
  taken = tsl_text_take(&text);
  assert_string_equal(taken, "gemm element");
  assert_null(text.data);
  assert_int_equal(text.length, 0);
  free(taken);
}

static void test_failure(void **state) {
  (void)state;
  tsl_text text = {0};
  tsl_text_add(&text, "kept");
  /* More than any machine has. */
  tsl_text_add_bytes(&text, "", SIZE_MAX);
  assert_true(text.failed);
  tsl_text_add(&text, " more");
  tsl_text_add_bytes(&text, "x", 1);
  tsl_text_add_double(&text, 1);
  assert_string_equal(tsl_text_get(&text), "kept");
  assert_int_equal(tsl_text_status(&text), TESELA_OUT_OF_MEMORY);
  assert_non_null(strstr(tesela_last_error(), "out of memory"));
  assert_null(tsl_text_take(&text));
  assert_false(text.failed);
  tsl_text_add_bytes(&text, "", SIZE_MAX / 2 + 2);
  assert_true(text.failed);
  assert_string_equal(tsl_text_get(&text), "");
  tsl_text_free(&text);
}

static void expect_double(double value, const char *expected) {
  tsl_text text = {0};
  tsl_text_add_double(&text, value);
  assert_string_equal(tsl_text_get(&text), expected);
  tsl_text_free(&text);
}

static void test_doubles(void **state) {
  (void)state;
  expect_double(0, "0");
  expect_double(-0.0, "-0");
  expect_double(1, "1");
  expect_double(-1.5, "-1.5");
  expect_double(0.1, "0.1");
  expect_double(1.0 / 3, "0.3333333333333333");
  expect_double(0.1 + 0.2, "0.30000000000000004");
  expect_double(1e22, "1e+22");
  expect_double(123456789012345678.0, "1.2345678901234568e+17");
  expect_double(DBL_MAX, "1.7976931348623157e+308");
  expect_double(DBL_MIN, "2.2250738585072014e-308");
  expect_double(DBL_TRUE_MIN, "5e-324");
  expect_double(INFINITY, "inf");
  expect_double(-INFINITY, "-inf");
  expect_double(NAN, "nan");
  expect_double(-NAN, "nan");
}

static void test_doubles_come_back(void **state) {
  (void)state;
  uint64_t random = 1;
  for (int i = 0; i < 20000; i++) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
    uint64_t bits = random ^ random >> 29;
    /* Some of the numbers are near the subnormals, some are short decimals. */
    if (i % 4 == 0)
      bits &= ~(UINT64_C(0x7ff) << 52);
    double value, back = 0;
    memcpy(&value, &bits, sizeof value);
    if (i % 4 == 1)
      value = (double)(bits % 1000000) / 1000;
    if (isnan(value))
      continue;
    tsl_text text = {0};
    tsl_text_add_double(&text, value);
    assert_true(tsl_parse_double(tsl_text_get(&text), &back));
    assert_memory_equal(&back, &value, sizeof value);
    if (i % 4 == 1)
      assert_true(text.length <= 7);
    tsl_text_free(&text);
  }
}

static void test_parse_i64(void **state) {
  (void)state;
  static const struct {
    const char *word;
    int64_t value;
  } good[] = {{"0", 0},
              {"-0", 0},
              {"+7", 7},
              {"007", 7},
              {"-42", -42},
              {"9223372036854775807", INT64_MAX},
              {"-9223372036854775808", INT64_MIN}};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    int64_t value = 99;
    assert_true(tsl_parse_i64(good[i].word, &value));
    assert_true(value == good[i].value);
  }
  static const char *const bad[] = {"",
                                    "-",
                                    "+",
                                    "+-1",
                                    "--1",
                                    " 1",
                                    "1 ",
                                    "1.0",
                                    "0x10",
                                    "1e3",
                                    "1,000",
                                    "ten",
                                    "9223372036854775808",
                                    "-9223372036854775809",
                                    "99999999999999999999999",
                                    "1\n",
                                    "\xd9\xa1"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    int64_t value = 99;
    if (tsl_parse_i64(bad[i], &value))
      fail_msg("\"%s\" was taken", bad[i]);
    assert_true(value == 99);
  }
}

static void test_parse_double(void **state) {
  (void)state;
  static const struct {
    const char *word;
    double value;
  } good[] = {{"0", 0},
              {"1.5", 1.5},
              {"-1.5e3", -1500},
              {"+2E-2", 0.02},
              {".5", 0.5},
              {"5.", 5},
              {"-.5", -0.5},
              {"inf", INFINITY},
              {"-INF", -INFINITY},
              {"Infinity", INFINITY},
              {"1.7976931348623157e308", DBL_MAX},
              {"4.9e-324", DBL_TRUE_MIN},
              {"1e-999", 0},
              {"1e-310", 1e-310}};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    double value = 99;
    errno = 0;
    if (!tsl_parse_double(good[i].word, &value) || value != good[i].value)
      fail_msg("\"%s\" gave %g", good[i].word, value);
    assert_int_equal(errno, 0);
  }
  double nan = 0;
  assert_true(tsl_parse_double("nan", &nan) && isnan(nan));
  assert_true(tsl_parse_double("-NaN", &nan) && isnan(nan));
  static const char *const bad[] = {"",     "-",     "+",      ".",   "e5",   "-e5",  " 1",    "1 ",
                                    "1,5",  "0x1p3", "0X10",   "1e",  "1e+",  "1.5f", "1e999", "-1e999",
                                    "nano", "infi",  "nan(1)", "--1", "+-1",  "1..2", "1.2.3", "\t1",
                                    "1\n",  "i",     "n",      "1d5", "1_000"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    double value = 99;
    if (tsl_parse_double(bad[i], &value))
      fail_msg("\"%s\" was taken", bad[i]);
    assert_true(value == 99);
  }
}

static void test_parse_bytes(void **state) {
  (void)state;
  static const struct {
    const char *word;
    uint64_t value;
  } good[] = {{"0", 0},
              {"64", 64},
              {"64B", 64},
              {"16KiB", 16384},
              {"16k", 16384},
              {"1.5GiB", UINT64_C(1610612736)},
              {"2G", UINT64_C(2147483648)},
              {"256MiB", 268435456},
              {"3T", UINT64_C(3) << 40},
              {"0.1K", 102},
              {"2.000P", UINT64_C(2) << 50},
              {"15.5E", UINT64_C(31) << 59},
              {"18446744073709551615", UINT64_MAX}};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    uint64_t value = 99;
    if (!tsl_parse_bytes(good[i].word, &value) || value != good[i].value)
      fail_msg("\"%s\" gave %llu", good[i].word, (unsigned long long)value);
  }
  static const char *const bad[] = {"",
                                    "-1",
                                    "+1",
                                    " 1",
                                    "1 ",
                                    "1.5",
                                    "1.5B",
                                    "1.",
                                    ".5K",
                                    "1.K",
                                    "K",
                                    "KiB",
                                    "1KB",
                                    "1Ki",
                                    "1KiBs",
                                    "1iB",
                                    "1X",
                                    "1KK",
                                    "16E",
                                    "0x10",
                                    "1e3",
                                    "1,5K",
                                    "18446744073709551616",
                                    "17179869184G",
                                    "99999999999999999999K"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    uint64_t value = 99;
    if (tsl_parse_bytes(bad[i], &value))
      fail_msg("\"%s\" was taken", bad[i]);
    assert_true(value == 99);
  }
}

static void test_format_bytes(void **state) {
  (void)state;
  static const struct {
    uint64_t bytes;
    const char *text;
  } rows[] = {{0, "0 B"},
              {12, "12 B"},
              {1023, "1023 B"},
              {1024, "1 KiB"},
              {1536, "1.5 KiB"},
              {655360, "640 KiB"},
              {1023 * 1024, "1023 KiB"},
              {1048575, "1 MiB"},
              {UINT64_C(1610612736), "1.5 GiB"},
              {UINT64_C(1024) << 30, "1 TiB"},
              {UINT64_MAX, "16 EiB"}};
  char text[32];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_string_equal(tsl_format_bytes(rows[i].bytes, text, sizeof text), rows[i].text);
  /* A short buffer is not overrun. */
  char small[4] = "zzz";
  assert_string_equal(tsl_format_bytes(1536, small, 3), "1.");
  assert_ptr_equal(tsl_format_bytes(1536, small, 0), small);
  assert_string_equal(small, "1.");
}

static void test_format_seconds(void **state) {
  (void)state;
  static const struct {
    double seconds;
    const char *text;
  } rows[] = {{0, "0 s"},           {1.234, "1.23 s"},   {0.0456, "45.6 ms"}, {789e-6, "789 us"},
              {12e-9, "12 ns"},     {0.9999, "1 s"},     {0.9994, "999 ms"},  {1e-3, "1 ms"},
              {1e-6, "1 us"},       {1e-12, "0.001 ns"}, {999.4, "999 s"},    {123456, "123456 s"},
              {-0.0025, "-2.5 ms"}, {INFINITY, "inf s"}, {NAN, "-"}};
  char text[32];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_string_equal(tsl_format_seconds(rows[i].seconds, text, sizeof text), rows[i].text);
}

/* Chooses a locale whose decimal point is a comma: one of the machine's, else one made in the build folder.
 */
static bool choose_comma_locale(void) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "es_ES.UTF-8", "de_DE"};
  static const char folder[] = TESELA_BINARY_DIR "/locales";
  for (int made = 0; made < 2; made++) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
      if (setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ",") == 0)
        return true;
    if (made || setenv("LOCPATH", folder, 1) != 0 ||
        system("mkdir -p '" TESELA_BINARY_DIR "/locales' && { test -d '" TESELA_BINARY_DIR
               "/locales/de_DE.UTF-8' || localedef -i de_DE -f UTF-8 '" TESELA_BINARY_DIR
               "/locales/de_DE.UTF-8'; } >/dev/null 2>&1") != 0)
      return false;
  }
  return false;
}

static void test_comma_locale(void **state) {
  (void)state;
  /* The tests before this one have printed and read numbers, and the thread's locale is as it was. */
  assert_true(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
  if (!choose_comma_locale()) {
    print_message("skipped: no locale with a decimal comma is installed, and localedef cannot make one\n");
    setlocale(LC_ALL, "C");
    skip();
  }
  char plain[16];
  snprintf(plain, sizeof plain, "%g", 1.5);
  assert_string_equal(plain, "1,5");
  tsl_text text = {0};
  tsl_text_add(&text, "%g ", 2.25);
  tsl_text_add_double(&text, 0.1);
  assert_string_equal(tsl_text_get(&text), "2.25 0.1");
  tsl_text_free(&text);
  double value = 0;
  assert_true(tsl_parse_double("1.5", &value) && value == 1.5);
  assert_false(tsl_parse_double("1,5", &value));
  uint64_t bytes = 0;
  assert_true(tsl_parse_bytes("1.5K", &bytes) && bytes == 1536);
  char formatted[32];
  assert_string_equal(tsl_format_bytes(1536, formatted, sizeof formatted), "1.5 KiB");
  assert_string_equal(tsl_format_seconds(1.5, formatted, sizeof formatted), "1.5 s");
  tsl_fail(TESELA_BAD_CALL, "alpha is %g", 0.5);
  assert_string_equal(tesela_last_error(), "alpha is 0.5");
  snprintf(plain, sizeof plain, "%g", 1.5);
  assert_string_equal(plain, "1,5");
  setlocale(LC_ALL, "C");
}

static void json_is(const char *expected, tsl_text *text) {
  assert_string_equal(tsl_text_get(text), expected);
  tsl_text_free(text);
}

static void test_json_brackets(void **state) {
  (void)state;
  tsl_text text = {0}, word = {0}, empty = {0};
  tsl_json json = {.out = &text};
  tsl_text_add(&word, "x=1");
  tsl_json_add(&json, "{a:s, b:[], c:{}, *:[l", "text", "from 2", INT64_MIN);
  for (int i = 0; i < 2; i++)
    tsl_json_add(&json, "{i:d}", i);
  tsl_json_add(&json, "], yes:b, no:b, none:n, null:s, word:o, out:o, text:t, empty:t}", true, false,
               (const char *)NULL, "w", "", &word, &empty);
  assert_int_equal(json.depth, 0);
  assert_null(word.data);
  json_is("{\n  \"a\": \"text\",\n  \"b\": [],\n  \"c\": {},\n  \"from 2\": [\n"
          "    -9223372036854775808,\n    {\n      \"i\": 0\n    },\n    {\n      \"i\": 1\n    }\n  ],\n"
          "  \"yes\": true,\n  \"no\": false,\n  \"none\": null,\n  \"null\": null,\n  \"word\": \"w\",\n"
          "  \"out\": null,\n  \"text\": \"x=1\",\n  \"empty\": null\n}",
          &text);
  tsl_text failed = {.failed = true};
  tsl_json_add(&json, "t", &failed);
  assert_int_equal(tsl_text_status(&text), TESELA_OUT_OF_MEMORY);
  tsl_text_free(&text);
}

static void test_json_numbers(void **state) {
  (void)state;
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0, "0.0"},
               {-0.0, "-0.0"},
               {3, "3.0"},
               {0.1, "0.1"},
               {1e20, "1e20"},
               {1.5e-7, "1.5e-7"},
               {-1e-100, "-1e-100"},
               {1e15, "1e15"},
               {1e14, "100000000000000.0"},
               {1.0 / 3, "0.333333333333333"},
               {NAN, "null"},
               {-INFINITY, "null"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_text text = {0};
    tsl_json_add(&(tsl_json){.out = &text}, "r", cases[i].value);
    json_is(cases[i].text, &text);
  }
}

static void test_json_escapes(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"", "\"\""},
      {"a \"b\" \\ / '", "\"a \\\"b\\\" \\\\ / '\""},
      {"\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001F\x7f\""},
      {"\xce\xb1\xe2\x80\x93\xf0\x9f\x94\xb7\xc2\x85", "\"\xce\xb1\xe2\x80\x93\xf0\x9f\x94\xb7\xc2\x85\""},
      {"\xff\xc0\xbc\xed\xa0\x80",
       "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
      {"\xe2\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_text text = {0};
    tsl_json_add(&(tsl_json){.out = &text}, "s", cases[i][0]);
    json_is(cases[i][1], &text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_growth),
      cmocka_unit_test(test_take),
      cmocka_unit_test(test_failure),
      cmocka_unit_test(test_doubles),
      cmocka_unit_test(test_doubles_come_back),
      cmocka_unit_test(test_parse_i64),
      cmocka_unit_test(test_parse_double),
      cmocka_unit_test(test_parse_bytes),
      cmocka_unit_test(test_format_bytes),
      cmocka_unit_test(test_format_seconds),
      cmocka_unit_test(test_comma_locale),
      cmocka_unit_test(test_json_brackets),
      cmocka_unit_test(test_json_numbers),
      cmocka_unit_test(test_json_escapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "core/text.h"

#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>

static void expect_bad(const char *line, const char *in_message) {
  tsl_record record = {.count = 99};
  assert_int_equal(tsl_record_parse(line, &record), TESELA_BAD_INPUT);
  if (!strstr(tesela_last_error(), in_message))
    fail_msg("\"%s\" is not in \"%s\"", in_message, tesela_last_error());
  assert_int_equal(record.count, 0);
  assert_null(record.fields);
  assert_null(record.storage);
}

static void test_words_and_keys(void **state) {
  (void)state;
  tsl_record record;
  assert_int_equal(tsl_record_parse("gemm tile_local tile=16 items=8x8 note=a=b", &record), TESELA_OK);
  assert_int_equal(record.count, 5);
  assert_string_equal(tsl_record_word(&record, 0), "gemm");
  assert_string_equal(tsl_record_word(&record, 1), "tile_local");
  assert_null(tsl_record_word(&record, 2));
  assert_null(tsl_record_word(&record, -1));
  assert_string_equal(tsl_record_get(&record, "tile"), "16");
  assert_string_equal(tsl_record_get(&record, "items"), "8x8");
  assert_string_equal(tsl_record_get(&record, "note"), "a=b");
  assert_null(tsl_record_get(&record, "gemm"));
  assert_null(tsl_record_get(&record, "til"));
  assert_null(tsl_record_get(&record, ""));
  tsl_record_free(&record);
  tsl_record_free(&record);
}

static void test_blanks(void **state) {
  (void)state;
  static const char *const empty[] = {"", " ", "\t", " \t  "};
  tsl_record record;
  for (int i = 0; i < 4; i++) {
    assert_int_equal(tsl_record_parse(empty[i], &record), TESELA_OK);
    assert_int_equal(record.count, 0);
    assert_null(tsl_record_word(&record, 0));
    assert_null(tsl_record_get(&record, "a"));
    tsl_record_free(&record);
  }
  assert_int_equal(tsl_record_parse("  a \t b  c=1\t", &record), TESELA_OK);
  assert_int_equal(record.count, 3);
  assert_string_equal(tsl_record_word(&record, 1), "b");
  assert_string_equal(tsl_record_get(&record, "c"), "1");
  tsl_record_free(&record);
}

static void test_odd_values(void **state) {
  (void)state;
  tsl_record record;
  assert_int_equal(tsl_record_parse("a= b== \xc3\xb1=\xe2\x82\xac A=1", &record), TESELA_OK);
  assert_string_equal(tsl_record_get(&record, "a"), "");
  assert_string_equal(tsl_record_get(&record, "b"), "=");
  assert_string_equal(tsl_record_get(&record, "\xc3\xb1"), "\xe2\x82\xac");
  assert_string_equal(tsl_record_get(&record, "A"), "1");
  tsl_record_free(&record);
}

static void test_bad_lines(void **state) {
  (void)state;
  expect_bad("gemm =16", "\"=16\" has no key");
  expect_bad("=", "\"=\" has no key");
  expect_bad("gemm tile=16 tile=32", "\"tile\" is given twice");
  expect_bad("a= a=", "\"a\" is given twice");
  expect_bad("gemm tile=16 fast", "\"fast\" stands after key=value");
  expect_bad("gemm\ntile=16", "0x0a at column 5");
  expect_bad("gemm tile=16\r\n", "0x0d at column 13");
  expect_bad("a\x7f", "0x7f at column 2");
  expect_bad("\x01", "0x01 at column 1");
}

static void test_long_lines(void **state) {
  (void)state;
  const size_t words = 1024;
  char *const line = malloc(2 * words + 8);
  assert_non_null(line);
  for (size_t i = 0; i < words; i++)
    memcpy(line + 2 * i, "w ", 3);
  tsl_record record;
  assert_int_equal(tsl_record_parse(line, &record), TESELA_OK);
  assert_int_equal(record.count, (int)words);
  tsl_record_free(&record);
  strcat(line, "w");
  expect_bad(line, "more than 1024 words");
  free(line);
  /* A word of a megabyte is a word; in a message it is cut. */
  const size_t length = 1 << 20;
  char *const word = malloc(length + 1);
  assert_non_null(word);
  memset(word, 'k', length);
  word[length] = '\0';
  assert_int_equal(tsl_record_parse(word, &record), TESELA_OK);
  assert_string_equal(tsl_record_word(&record, 0), word);
  tsl_record_free(&record);
  word[0] = '=';
  expect_bad(word, "\"=kkkk");
  assert_true(strlen(tesela_last_error()) < 200);
  free(word);
}

/* A record that was read and is written again reads the same, for random lines of significant
 * characters. */
static void test_random_lines(void **state) {
  (void)state;
  static const char letters[] = "ab=  \t1,:\n\xff";
  uint64_t random = 12345;
  int taken = 0;
  for (int round = 0; round < 20000; round++) {
    char line[24];
    size_t length = 0;
    for (; length < sizeof line - 1; length++) {
      random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
      line[length] = letters[(random >> 33) % sizeof letters];
      if (!line[length])
        break;
    }
    line[length] = '\0';
    tsl_record record, again;
    const tesela_status status = tsl_record_parse(line, &record);
    if (status != TESELA_OK) {
      assert_int_equal(status, TESELA_BAD_INPUT);
      continue;
    }
    tsl_text text = {0};
    for (int i = 0; i < record.count; i++)
      tsl_text_add(&text, "%s%s%s%s", i ? " " : "", record.fields[i].key ? record.fields[i].key : "",
                   record.fields[i].key ? "=" : "", record.fields[i].value);
    assert_int_equal(tsl_record_parse(tsl_text_get(&text), &again), TESELA_OK);
    assert_int_equal(again.count, record.count);
    for (int i = 0; i < record.count; i++) {
      assert_int_equal(again.fields[i].key == NULL, record.fields[i].key == NULL);
      if (again.fields[i].key)
        assert_string_equal(again.fields[i].key, record.fields[i].key);
      assert_string_equal(again.fields[i].value, record.fields[i].value);
    }
    taken++;
    tsl_text_free(&text);
    tsl_record_free(&record);
    tsl_record_free(&again);
  }
  assert_true(taken > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words_and_keys), cmocka_unit_test(test_blanks),
      cmocka_unit_test(test_odd_values),     cmocka_unit_test(test_bad_lines),
      cmocka_unit_test(test_long_lines),     cmocka_unit_test(test_random_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

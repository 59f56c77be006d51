#include "core/suggest.h"

#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

static void test_nearest(void **state) {
  (void)state;
  static const char types[] = "f64, f32, f16, bf16, tf32, i8, u8, i32", verbs[] = "list clear prefill export",
                    devices[] = "cpu, opencl:1, cuda:1, auto";
  static const struct {
    const char *word, *names, *nearest; /* nearest: "" where no name is near */
  } cases[] = {
      {"f23", types, "f32"},     /* swapped neighbours */
      {"fp16", types, "f16"},    /* a letter too many */
      {"b16", types, "bf16"},    /* a letter too few */
      {"F64", types, "f64"},     /* another case */
      {"clera", verbs, "clear"}, /* blanks separate names */
      {"pre", verbs, "prefill"}, /* the beginning of a name */
      {"opncel:1", devices, "opencl:1"},
      {"pencl:1", devices, "opencl:1"}, /* the first letter left out */
      {"gpu", devices, ""},             /* not cpu: another first letter */
      {"gpu:1", devices, ""},
      {"f99", types, ""},
      {"double", types, ""},
      {"", types, ""},
      {"x", "", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char suggestion[TSL_SUGGESTION_BYTES], expected[TSL_SUGGESTION_BYTES] = "";
    if (*cases[i].nearest)
      snprintf(expected, sizeof expected, "; did you mean %s?", cases[i].nearest);
    assert_string_equal(tsl_suggest(cases[i].word, cases[i].names, suggestion), expected);
  }
}

/* Tests words and names that are longer than the compared and the printed part. */
static void test_long_words(void **state) {
  (void)state;
  char suggestion[TSL_SUGGESTION_BYTES], longest[300];
  memset(longest, 'a', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  assert_true(strlen(tsl_suggest(longest, longest, suggestion)) < sizeof suggestion);
  assert_string_equal(tsl_suggest(longest, "b", suggestion), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nearest),
      cmocka_unit_test(test_long_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

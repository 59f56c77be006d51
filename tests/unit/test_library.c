/* Libraries loaded at run time: the mathematics library, and everything that can be wrong with one. */
#include "unit/unit.h"

#include <string.h>

#include "core/library.h"
#include "scratch.h"

typedef struct math_table {
  double (*cosine)(double x);
  double (*missing)(double x);
  double (*sine)(double x);
} math_table;

static const tsl_library_symbol right[] = {
    {"cos", offsetof(math_table, cosine), 0},
    {"tsl_test_missing", offsetof(math_table, missing), 1},
    {"sin", offsetof(math_table, sine), 0},
};
static const tsl_library_symbol wrong[] = {
    {"cos", offsetof(math_table, cosine), 0},
    {"tsl_test_missing", offsetof(math_table, missing), 0},
    {"sin", offsetof(math_table, sine), 0},
};
static const char *const math[] = {"libm.so.6", "libm.so", NULL};

/* The sentence has every one of `words`, and no newline. */
static void expect_sentence(const char *const *words) {
  for (; *words; words++)
    if (!strstr(tesela_last_error(), *words))
      fail_msg("\"%s\" is not in \"%s\"", *words, tesela_last_error());
  assert_null(strchr(tesela_last_error(), '\n'));
}
#define EXPECT_SENTENCE(...) expect_sentence((const char *const[]){__VA_ARGS__, NULL})

static void expect_mathematics(const math_table *table) {
  assert_true(table->cosine(0) == 1);
  assert_true(table->sine(0) == 0);
  assert_null(table->missing);
}

static void loads_and_fills_the_table(void **state) {
  (void)state;
  math_table table;
  memset(&table, 0xff, sizeof table); /* a missing symbol is set to NULL, not left */
  assert_int_equal(tsl_library_load("mathematics", NULL, math, right, 3, &table), TESELA_OK);
  expect_mathematics(&table);
}

static void the_file_is_named(void **state) {
  (void)state;
  math_table table;
  void (*function)(void);
  char file[256], cut[4];
  assert_int_equal(tsl_library_load("mathematics", NULL, math, right, 3, &table), TESELA_OK);
  memcpy(&function, &table.cosine, sizeof function);
  tsl_library_file(function, file, sizeof file);
  assert_int_equal(file[0], '/');
  assert_non_null(strstr(file, "libm"));
  tsl_library_file(function, cut, sizeof cut);
  assert_memory_equal(cut, file, 3);
  assert_int_equal(cut[3], '\0');
}

static void later_names_are_tried(void **state) {
  (void)state;
  static const char *const names[] = {"libtsl-test-none.so.1", "libm.so.6", NULL};
  math_table table = {0};
  assert_int_equal(tsl_library_load("mathematics", NULL, names, right, 3, &table), TESELA_OK);
  expect_mathematics(&table);
}

static void chosen_is_tried_alone(void **state) {
  (void)state;
  static const char *const none[] = {"libtsl-test-none.so.1", NULL};
  math_table table = {0};
  assert_int_equal(tsl_library_load("mathematics", "libm.so.6", none, right, 3, &table), TESELA_OK);
  expect_mathematics(&table);
  assert_int_equal(tsl_library_load("mathematics", "/no/such/libm.so", math, right, 3, &table),
                   TESELA_NO_DEVICE);
  EXPECT_SENTENCE("mathematics", "/no/such/libm.so");
  assert_null(strstr(tesela_last_error(), "libm.so.6"));
  /* An empty variable chooses nothing. */
  assert_int_equal(tsl_library_load("mathematics", "", math, right, 3, &table), TESELA_OK);
}

static void none_opens_nothing(void **state) {
  (void)state;
  math_table table = {0};
  assert_int_equal(tsl_library_load("mathematics", "none", math, right, 3, &table), TESELA_NO_DEVICE);
  EXPECT_SENTENCE("mathematics", "none");
  assert_null(table.cosine);
}

static void absent_libraries(void **state) {
  (void)state;
  static const char *const names[] = {"libtsl-test-none.so.1", "libtsl-test-none.so", NULL};
  math_table table = {0};
  assert_int_equal(tsl_library_load("mathematics", NULL, names, right, 3, &table), TESELA_NO_DEVICE);
  assert_string_equal(tesela_last_error(),
                      "mathematics is not installed: tried libtsl-test-none.so.1, libtsl-test-none.so");
}

static void missing_symbol(void **state) {
  (void)state;
  math_table table = {0};
  assert_int_equal(tsl_library_load("mathematics", NULL, math, wrong, 3, &table), TESELA_NO_DEVICE);
  EXPECT_SENTENCE("mathematics", "libm.so.6", "tsl_test_missing");
  assert_null(table.cosine);
  assert_null(table.sine);
}

static void not_a_library(void **state) {
  (void)state;
  scratch folder;
  scratch_create(&folder);
  scratch_write(&folder, "libtext.so", "this is no library\n");
  const char *const names[] = {"libtsl-test-none.so.1", scratch_path(&folder, "libtext.so"), NULL};
  math_table table = {0};
  assert_int_equal(tsl_library_load("mathematics", NULL, names, right, 3, &table), TESELA_NO_DEVICE);
  EXPECT_SENTENCE("mathematics does not load", "libtsl-test-none.so.1 (not there)", "libtext.so (");
  scratch_remove(&folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_and_fills_the_table),
      cmocka_unit_test(the_file_is_named),
      cmocka_unit_test(later_names_are_tried),
      cmocka_unit_test(chosen_is_tried_alone),
      cmocka_unit_test(none_opens_nothing),
      cmocka_unit_test(absent_libraries),
      cmocka_unit_test(missing_symbol),
      cmocka_unit_test(not_a_library),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

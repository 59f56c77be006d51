/* tesela_explain(): the JSON that the tool prints, of the context that is asked. */
#include "unit/calls.h"

#include <tesela/tesela.h>

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static tesela_context *context;

static int open_context(void **state) {
  (void)state;
  return tesela_context_create(NULL, &context) != TESELA_OK;
}

static int close_context(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

/* Takes the text. */
static json_t *read_text(tesela_status status, char *text) {
  json_error_t error;
  if (status != TESELA_OK)
    fail_msg("%s: %s", tesela_status_name(status), tesela_last_error());
  json_t *object = json_loads(text, 0, &error);
  if (!object)
    fail_msg("line %d: %s", error.line, error.text);
  tesela_text_free(text);
  return object;
}

static json_t *explain(const tesela_gemm_desc *desc) {
  char *text;
  const tesela_status status = tesela_explain(context, desc, &text);
  return read_text(status, text);
}

static const char *word(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static const json_t *chosen_of(const json_t *object) {
  size_t i;
  const json_t *one, *chosen = NULL;
  json_array_foreach(json_object_get(object, "candidates"), i, one) {
    if (json_is_true(json_object_get(one, "chosen"))) {
      assert_null(chosen);
      chosen = one;
    }
  }
  return chosen;
}

static bool is_null(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return value && json_is_null(value);
}

static void structures_are_told(void **state) {
  (void)state;
  tesela_gemm_desc desc = {.m = 100, .n = 100, .k = 70, .structure.c_triangle = TESELA_UPPER};
  json_t *object = explain(&desc);
  assert_true(is_null(object, "a_is") && is_null(object, "b_is"));
  assert_string_equal(word(object, "c_is"), "upper");
  assert_true(json_is_false(json_object_get(object, "in_place")));
  json_decref(object);
  desc = (tesela_gemm_desc){.m = 30,
                            .n = 70,
                            .k = 70,
                            .structure.b = TESELA_UNIT_TRIANGULAR,
                            .structure.b_triangle = TESELA_LOWER,
                            .structure.in_place = 1};
  object = explain(&desc);
  assert_true(is_null(object, "a_is") && is_null(object, "c_is"));
  assert_string_equal(word(object, "b_is"), "unit_lower");
  assert_true(json_is_true(json_object_get(object, "in_place")));
  json_decref(object);
  char *text;
  const tesela_solve_desc solve = {.rows = 50, .cols = 20, .triangle = TESELA_UPPER};
  const tesela_status status = tesela_explain_solve(context, &solve, &text);
  object = read_text(status, text);
  assert_string_equal(word(object, "a_is"), "triangular_upper");
  assert_true(json_is_string(json_object_get(object, "plan")));
  json_decref(object);
}

static void it_says_what_a_plan_is(void **state) {
  (void)state;
  tesela_gemm_desc desc = {.m = 100, .n = 30, .k = 70, .a = {.type = TESELA_F64}, .b = {.type = TESELA_F64}};
  tesela_plan *plan;
  desc.options.device = "cpu";
  assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
  json_t *object = explain(&desc);
  assert_string_equal(word(object, "plan"), tesela_plan_describe(plan));
  assert_int_equal(json_integer_value(json_object_get(object, "m")), 100);
  assert_int_equal(json_integer_value(json_object_get(object, "host_bytes")),
                   8 * (100 * 70 + 70 * 30 + 100 * 30));
  assert_string_equal(word(object, "type"), "f64");
  const json_t *chosen = chosen_of(object);
  assert_non_null(chosen);
  assert_string_equal(word(chosen, "device"), "cpu");
  assert_true(json_real_value(json_object_get(chosen, "predicted_seconds")) > 0);
  assert_true(json_is_object(json_object_get(chosen, "account")));
  json_decref(object);
  tesela_plan_destroy(plan);
  desc.options.strategy = "element";
  object = explain(&desc);
  assert_int_equal(json_array_size(json_object_get(object, "candidates")), 1);
  json_decref(object);
}

static void it_knows_the_contexts_wisdom(void **state) {
  (void)state;
  const tesela_gemm_desc desc = {.m = 48,
                                 .n = 48,
                                 .k = 48,
                                 .options.device = "cpu",
                                 .options.strategy = "sequential",
                                 .options.tuning_seconds = 5};
  tesela_plan *plan;
  json_t *object = explain(&desc); /* measures nothing */
  assert_string_equal(word(chosen_of(object), "predicted_by"), "model");
  json_decref(object);
  assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
  object = explain(&desc);
  assert_string_equal(word(chosen_of(object), "predicted_by"), "wisdom");
  const double predicted = json_real_value(json_object_get(chosen_of(object), "predicted_seconds"));
  assert_true(fabs(predicted / tesela_plan_seconds(plan) - 1) < 1e-12); /* 15 digits */
  json_decref(object);
  tesela_plan_destroy(plan);
}

static void that_nothing_can_run_is_told(void **state) {
  (void)state;
  const tesela_gemm_desc desc = {.m = 8,
                                 .n = 8,
                                 .k = 8,
                                 .options.device = "cpu",
                                 .options.strategy = "register_tile"}; /* has kernels alone */
  json_t *object = explain(&desc);
  assert_true(json_is_null(json_object_get(object, "plan")));
  const json_t *list = json_object_get(object, "candidates");
  assert_int_equal(json_array_size(list), 1);
  assert_true(strlen(word(json_array_get(list, 0), "refusal")) > 0);
  json_decref(object);
}

static void dots_and_transposes_are_explained(void **state) {
  (void)state;
  char *text;
  tesela_status status =
      tesela_explain_dot(context, &(tesela_dot_desc){.n = 1000, .options.device = "cpu"}, &text);
  json_t *object = read_text(status, text);
  assert_non_null(strstr(word(object, "plan"), "dot "));
  assert_int_equal(json_integer_value(json_object_get(object, "k")), 1000);
  json_decref(object);
  status = tesela_explain_transpose(
      context, &(tesela_transpose_desc){.rows = 20, .cols = 30, .options.device = "cpu"}, &text);
  object = read_text(status, text);
  assert_non_null(strstr(word(object, "plan"), "transpose "));
  assert_int_equal(json_integer_value(json_object_get(object, "m")), 30);
  json_decref(object);
}

static void wrong_calls_are_refused(void **state) {
  (void)state;
  char untouched[] = "", *text = untouched;
  tesela_gemm_desc desc = {.m = -1};
  expect(tesela_explain(context, &desc, NULL), TESELA_BAD_CALL, "text is NULL");
  expect(tesela_explain(NULL, &desc, &text), TESELA_BAD_CALL, "context is NULL");
  assert_null(text);
  expect(tesela_explain(context, NULL, &text), TESELA_BAD_CALL, "desc is NULL");
  expect(tesela_explain(context, &desc, &text), TESELA_BAD_CALL, "desc.m is -1");
  desc = (tesela_gemm_desc){.m = 1, .n = 1, .k = 1, .options.strategy = "nonsense"};
  expect(tesela_explain(context, &desc, &text), TESELA_BAD_INPUT, "nonsense");
  expect(tesela_explain_sized(context, TESELA_GEMM, &desc, &text, 8), TESELA_BAD_CALL, "desc");
  expect(tesela_explain_dot(context, NULL, &text), TESELA_BAD_CALL, "desc is NULL");
  expect(tesela_explain_transpose(context, NULL, &text), TESELA_BAD_CALL, "desc is NULL");
  assert_null(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(it_says_what_a_plan_is, open_context, close_context),
      cmocka_unit_test_setup_teardown(structures_are_told, open_context, close_context),
      cmocka_unit_test_setup_teardown(it_knows_the_contexts_wisdom, open_context, close_context),
      cmocka_unit_test_setup_teardown(that_nothing_can_run_is_told, open_context, close_context),
      cmocka_unit_test_setup_teardown(dots_and_transposes_are_explained, open_context, close_context),
      cmocka_unit_test_setup_teardown(wrong_calls_are_refused, open_context, close_context)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Constants of the models: rows by device, names, and values out of range. */
#include "unit/unit.h"

#include "strategy/model_constants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void devices_without_a_row_use_the_first(void **state) {
  (void)state;
  tsl_device device = {.label = "a device without measurements"};
  const tsl_model_constants *first = tsl_model_constants_of(&device);
  snprintf(device.label, sizeof device.label, "%s", first->label);
  assert_ptr_equal(tsl_model_constants_of(&device), first);
}

static void processors_use_the_row_of_their_instruction_set(void **state) {
  (void)state;
  static const struct {
    unsigned capabilities;
    const char *label;
  } sets[] = {{TSL_CAN_AVX2, "AVX2"},
              {TSL_CAN_AVX2 | TSL_CAN_AVX512 | TSL_CAN_AVX512_PAIRS, "AVX-512-with-two-multiply-adds"}};
  tsl_device device = {.label = "a device without measurements"};
  const tsl_model_constants *first = tsl_model_constants_of(&device);
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    device.capabilities = sets[i].capabilities;
    assert_string_equal(tsl_model_constants_of(&device)->label, sets[i].label);
  }
  device.capabilities = TSL_CAN_AVX2 | TSL_CAN_AVX512;
  assert_ptr_equal(tsl_model_constants_of(&device), first);
}

static void constants_have_names_and_values(void **state) {
  (void)state;
  const tsl_device device = {.label = ""};
  int count = 0;
  for (; tsl_model_constant_at(count).name; count++) {
    const tsl_model_constant constant = tsl_model_constant_at(count);
    const double value = tsl_model_constant_value(&device, count);
    assert_non_null(strchr(constant.name, '.'));
    if (!(value >= 0) || (constant.max > 0 && value > constant.max))
      fail_msg("%s=%g is out of range", constant.name, value);
  }
  assert_true(count > 100);
  assert_null(tsl_model_constant_at(-1).name);
}

static void a_constant_is_set_by_its_name(void **state) {
  (void)state;
  const tsl_device device = {.label = ""};
  const double before = tsl_model_constants_of(&device)->dmma.cache_bytes,
               other = tsl_model_constants_of(&device)->mma.cache_bytes;
  assert_true(tsl_model_constants_set("dmma.cache_bytes", 2 * before));
  assert_true(tsl_model_constants_of(&device)->dmma.cache_bytes == 2 * before);
  assert_true(tsl_model_constants_of(&device)->mma.cache_bytes == other);
  assert_true(tsl_model_constants_set("dmma.cache_bytes", before));
}

static void wrong_values_change_nothing(void **state) {
  (void)state;
  const tsl_device device = {.label = ""};
  const double before = tsl_model_constants_of(&device)->wgmma.memory_part;
  assert_false(tsl_model_constants_set("wgmma.memory_part", 1.5)); /* a fraction */
  assert_false(tsl_model_constants_set("wgmma.memory_part", -1));
  assert_false(tsl_model_constants_set("wgmma.memory_part", NAN));
  assert_false(tsl_model_constants_set("memory_part", 0.5));
  assert_true(tsl_model_constants_of(&device)->wgmma.memory_part == before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_without_a_row_use_the_first),
      cmocka_unit_test(processors_use_the_row_of_their_instruction_set),
      cmocka_unit_test(constants_have_names_and_values),
      cmocka_unit_test(a_constant_is_set_by_its_name),
      cmocka_unit_test(wrong_values_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* NVRTC itself, without a GPU: targets, options, errors, and a named library. */
#include "unit/unit.h"

#include "core/status.h"
#include "cuda/mock.h"
#include "device/cuda/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char plain[] = "extern \"C\" __global__ void f(float *a) { a[threadIdx.x] += FACTOR; }\n";

static void targets(void **state) {
  (void)state;
  tsl_nvrtc_target target;
  assert_int_equal(tsl_nvrtc_target_for(80, &target), TESELA_OK);
  assert_string_equal(target.name, "sm_80");
  assert_false(target.is_ptx);
  if (tsl_nvrtc_version() >= 12000) {
    assert_int_equal(tsl_nvrtc_target_for(90, &target), TESELA_OK);
    assert_string_equal(target.name, "sm_90a");
    mock_compile(&target, "plain", plain, "-DFACTOR=2");
  }
  /* A device that this NVRTC does not know gets PTX. A device that is too old is refused. */
  assert_int_equal(tsl_nvrtc_target_for(9999, &target), TESELA_OK);
  assert_true(target.is_ptx && strncmp(target.name, "compute_", 8) == 0);
  assert_null(strchr(target.name, 'a'));
  mock_compile(&target, "plain", plain, "-DFACTOR=2");
  assert_int_equal(tsl_nvrtc_target_for(13, &target), TESELA_UNSUPPORTED);
  assert_non_null(strstr(tesela_last_error(), "sm_13"));
}

static void options(void **state) {
  (void)state;
  tsl_nvrtc_target target;
  assert_int_equal(tsl_nvrtc_target_for(80, &target), TESELA_OK);
  mock_compile(&target, "plain", "#if ONE != 1 || TWO != 2\n#error not given\n#endif\n",
               "-DONE=1  --ftz=true\t-DTWO=2 ");
  const tsl_build wrong = {.name = "plain", .text = plain, .options = "-DFACTOR=1 --no-such-option"};
  tsl_binary binary;
  assert_int_equal(tsl_nvrtc_compile("nvrtc", &target, &wrong, &binary), TESELA_BUILD_FAILED);
  assert_null(binary.data);
  assert_non_null(strstr(tesela_last_log(), "no-such-option"));
}

static void errors(void **state) {
  (void)state;
  tsl_nvrtc_target target;
  tsl_binary binary;
  const tsl_build build = {.name = "broken",
                           .text = "#line 17 \"where.cl\"\n__global__ void f() { no_such_word(); }\n",
                           .options = ""};
  assert_int_equal(tsl_nvrtc_target_for(80, &target), TESELA_OK);
  assert_int_equal(tsl_nvrtc_compile("cuda:0", &target, &build, &binary), TESELA_BUILD_FAILED);
  assert_null(binary.data);
  print_message("  %s\n", tesela_last_error());
  assert_int_equal(strncmp(tesela_last_error(), "cuda:0: broken ", 15), 0);
  assert_non_null(strstr(tesela_last_error(), "where.cl(17)"));
  assert_non_null(strstr(tesela_last_log(), "no_such_word"));
}

static void described(void **state) {
  (void)state;
  tsl_nvrtc_target target;
  tsl_text text = {0};
  assert_int_equal(tsl_nvrtc_target_for(80, &target), TESELA_OK);
  tsl_nvrtc_describe(&target, &text);
  print_message("  %s\n", tsl_text_get(&text));
  assert_non_null(strstr(tsl_text_get(&text), "NVRTC"));
  assert_non_null(strstr(tsl_text_get(&text), "sm_80"));
  tsl_text_free(&text);
}

/* A library that is named and is not there is a reason, also after another was loaded. */
static void named_library(void **state) {
  (void)state;
  const char *given = getenv("TESELA_NVRTC");
  char *kept = given ? strdup(given) : NULL;
  setenv("TESELA_NVRTC", "/nowhere/libnvrtc.so", 1);
  assert_int_equal(tsl_nvrtc_load(0), TESELA_NO_DEVICE);
  assert_non_null(strstr(tesela_last_error(), "/nowhere/libnvrtc.so"));
  setenv("TESELA_NVRTC", "none", 1);
  assert_int_equal(tsl_nvrtc_load(0), TESELA_NO_DEVICE);
  if (kept)
    setenv("TESELA_NVRTC", kept, 1);
  else
    unsetenv("TESELA_NVRTC");
  free(kept);
  assert_int_equal(tsl_nvrtc_load(12040), TESELA_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(targets),   cmocka_unit_test(options),       cmocka_unit_test(errors),
      cmocka_unit_test(described), cmocka_unit_test(named_library),
  };
  if (tsl_nvrtc_load(0) != TESELA_OK) {
    printf("skipped: %s\n", tesela_last_error());
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}

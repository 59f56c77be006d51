/* Enables code for sm_90a in the PTX of NVIDIA's OpenCL compiler, and rejects other texts. */
#include "unit/unit.h"

#include <string.h>

#include "device/opencl/opencl.h"
#include "device/source.h"

static void comments_become_code(void **state) {
  (void)state;
  static const struct {
    const char *binary, *opened;
  } cases[] = {
      {".version 9.0\n.target sm_90, texmode_independent\n\t//sm_90a wgmma.fence;\n\tadd;\n//sm_90a wait;\n",
       ".version 9.0\n.target sm_90a, texmode_independent\n\twgmma.fence;\n\tadd;\nwait;\n"},
      {".target sm_90a\n//sm_90a x;//sm_90a ", ".target sm_90a\nx;"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_text text = {0};
    assert_int_equal(tsl_opencl_enable_sm90a("gemm/some", cases[i].binary, &text), TESELA_OK);
    assert_string_equal(tsl_text_get(&text), cases[i].opened);
    tsl_text_free(&text);
  }
}

/* Another architecture, another format, no code: such a kernel would run without its
 * multiplications. */
static void other_binaries_are_refused(void **state) {
  (void)state;
  static const char *const binaries[] = {"", "\177ELF", ".target sm_90\n\tadd;\n",
                                         ".target sm_80\n//sm_90a wait;\n"};
  for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
    tsl_text text = {0};
    assert_int_equal(tsl_opencl_enable_sm90a("gemm/some", binaries[i], &text), TESELA_BUILD_FAILED);
    assert_non_null(strstr(tesela_last_error(), "gemm/some has code for sm_90a"));
    tsl_text_free(&text);
  }
}

/* The kernel's included text decides whether sm_90a is required. */
static void kernels_ask_for_it(void **state) {
  (void)state;
  tsl_text text = {0};
  const char *folders[] = {"kernel", "device/opencl/include", NULL};
  assert_int_equal(
      tsl_source_flatten("strategy/gemm/portable/opencl_mma/opencl_mma_group.cl", folders, &text), TESELA_OK);
  assert_true(tsl_opencl_has_sm90a(tsl_text_get(&text)));
  tsl_text_free(&text);
  assert_int_equal(tsl_source_flatten("strategy/gemm/portable/opencl_mma/opencl_mma.cl", folders, &text),
                   TESELA_OK);
  assert_false(tsl_opencl_has_sm90a(tsl_text_get(&text)));
  tsl_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(comments_become_code),
                                     cmocka_unit_test(other_binaries_are_refused),
                                     cmocka_unit_test(kernels_ask_for_it)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* NVRTC without a GPU: every kernel of every strategy compiles for each architecture that this NVRTC knows, in
 * those of both types that it takes; and with every parameter value for one of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/source.h"
#include "base/status.h"
#include "device/cuda/nvrtc.h"
#include "strategy/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int architectures[] = {70, 75, 80, 90};
static const tesela_type types[] = {TESELA_F32, TESELA_F64};
static const char *const folders[] = {"kernel", "device/cuda/include", NULL};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Compiles, checks that what comes out is of the target's kind, and returns its size. */
static size_t compile(const tsl_nvrtc_target *target, const char *name, const char *text,
                      const char *options) {
  const tsl_build build = {.name = name, .text = text, .options = options};
  tsl_binary binary = {NULL, 0};
  if (tsl_nvrtc_compile("nvrtc", target, &build, &binary) != TESELA_OK)
    fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
  assert_true(binary.bytes > 16);
  const char *data = binary.data;
  if (target->is_ptx)
    assert_true(strstr(data, ".version") && data[binary.bytes - 1] == 0);
  else
    assert_memory_equal(data,
                        "\x7f"
                        "ELF",
                        4);
  const size_t bytes = binary.bytes;
  free(binary.data);
  return bytes;
}

/* --- every kernel --- */

/* The strategy in whose folder a source lies: "strategy/<op>/<name>/<file>". */
static const tsl_strategy *owner(const char *path) {
  char op[32], name[64];
  if (sscanf(path, "strategy/%31[^/]/%63[^/]/", op, name) != 2)
    return NULL;
  for (int i = 0; i < TSL_OP_COUNT; i++)
    if (strcmp(tsl_op_name((tsl_op)i), op) == 0)
      return tsl_strategy_find((tsl_op)i, name);
  return NULL;
}

static bool takes(const tsl_strategy *strategy, tesela_type type) {
  tsl_types taken;
  for (int i = 0; tsl_strategy_types(strategy, i, &taken); i++)
    if (taken.c == type)
      return true;
  return false;
}

/* A device that has everything, so that a probe which it refuses is not for this type. */
static const tsl_device any_device = {.name = "paper",
                                      .capabilities = ~0u & ~(unsigned)TSL_CAN_HOST,
                                      .local_bytes = 48 << 10,
                                      .memory_bytes = 1u << 30,
                                      .allocation_max = 1u << 30,
                                      .group_items_max = 1024,
                                      .group_size_max = {1024, 1024, 64},
                                      .group_count_max = {INT32_MAX, 65535, 65535}};

static bool is_for(const tsl_strategy *strategy, const tsl_config *config, tesela_type type) {
  const tsl_problem problem = tsl_problem_of(strategy->op, 256, 256, 256, type);
  return !strategy->probes || !tsl_strategy_refuse(strategy, &problem, config, &any_device);
}

/* The targets share a strategy's configs: target number `turn` of `turns` takes the first one, which all take, and
 * every config whose turn it is. */
static int compile_source(const tsl_nvrtc_target *target, int turn, int turns, const char *path,
                          const tsl_strategy *strategy) {
  int count = 0;
  tsl_config config;
  for (size_t t = 0; t < LENGTH(types); t++)
    for (int i = 0; takes(strategy, types[t]) && tsl_strategy_probe(strategy, i, &config); i++) {
      tsl_text text = {0};
      if ((i != 0 && i % turns != turn) || !is_for(strategy, &config, types[t]))
        continue;
      tsl_launch_defines(types[t], strategy, &config, &text);
      if (tsl_source_flatten(path, folders, &text) != TESELA_OK)
        fail_msg("%s", tesela_last_error());
      assert_int_equal(tsl_text_status(&text), TESELA_OK);
      compile(target, path, tsl_text_get(&text), "");
      tsl_text_free(&text);
      count++;
    }
  return count;
}

/* What this NVRTC does not know is said, and left out. */
static bool target_for(int architecture, tsl_nvrtc_target *target) {
  if (tsl_nvrtc_target_for(architecture, target) == TESELA_OK)
    return true;
  print_message("  sm_%d left out: %s\n", architecture, tesela_last_error());
  return false;
}

/* All sources of strategies for one of the targets; returns how many there are. */
static int compile_strategies(const tsl_nvrtc_target *target, int turn, int turns) {
  const tsl_source_file *file;
  int sources = 0;
  for (int i = 0; (file = tsl_source_at(i)) != NULL; i++) {
    const char *dot = strrchr(file->path, '.');
    if (strncmp(file->path, "strategy/", 9) != 0 || !dot ||
        (strcmp(dot, ".cl") != 0 && strcmp(dot, ".cu") != 0))
      continue;
    const tsl_strategy *strategy = owner(file->path);
    if (!strategy)
      fail_msg("%s lies in no strategy's folder", file->path);
    const int count = compile_source(target, turn, turns, file->path, strategy);
    print_message("  %s %s: %d builds\n", target->name, file->path, count);
    assert_true(count > 0);
    sources++;
  }
  return sources;
}

static void every_kernel(void **state) {
  (void)state;
  tsl_nvrtc_target targets[LENGTH(architectures)];
  int count = 0;
  for (size_t a = 0; a < LENGTH(architectures); a++)
    if (target_for(architectures[a], &targets[count]))
      count++;
  assert_true(count > 0);
  for (int turn = 0; turn < count; turn++)
    assert_true(compile_strategies(&targets[turn], turn, count) > 0);
}

/* The kernels that measure roofs are no strategy's. In PTX it shows that aligned vectors move sixteen bytes at once. */
static void roofs(void **state) {
  (void)state;
  static const char *const paths[] = {"plan/roofs/memory.cl", "plan/roofs/fma.cl"};
  static const char *const moves[] = {"ld.global.nc.v4.f32", "st.global.v4.f32"};
  for (size_t i = 0; i < LENGTH(paths); i++)
    for (size_t t = 0; t < LENGTH(types); t++) {
      tsl_nvrtc_target target;
      tsl_text text = {0};
      tsl_binary binary;
      tsl_launch_defines(types[t], NULL, NULL, &text);
      tsl_text_add(&text,
                   "#define TSL_PARAM_ITEMS 256\n#define TSL_PARAM_LANES 4\n#define TSL_PARAM_FLIGHT 4\n"
                   "#define TSL_PARAM_CHAINS 4\n#define TSL_PARAM_ROUND 16\n");
      assert_int_equal(tsl_source_flatten(paths[i], folders, &text), TESELA_OK);
      if (target_for(90, &target))
        compile(&target, paths[i], tsl_text_get(&text), "");
      assert_int_equal(tsl_nvrtc_target_for(9999, &target), TESELA_OK); /* PTX */
      const tsl_build build = {.name = paths[i], .text = tsl_text_get(&text), .options = ""};
      assert_int_equal(tsl_nvrtc_compile("nvrtc", &target, &build, &binary), TESELA_OK);
      for (size_t m = 0; i == 0 && types[t] == TESELA_F32 && m < LENGTH(moves); m++)
        assert_non_null(strstr(binary.data, moves[m]));
      free(binary.data);
      tsl_text_free(&text);
    }
}

/* The kernel that uses every word of the dialect, with each vector length. Its includes are put in front. */
static void add_words(int width, tsl_text *text) {
  static char words[1 << 18];
  FILE *file = fopen(TESELA_SOURCE_DIR "/tests/dialect/words.cl", "rb");
  assert_non_null(file);
  const size_t length = fread(words, 1, sizeof words - 1, file);
  fclose(file);
  words[length] = 0;
  for (char *at = words; (at = strstr(at, "#include")) != NULL;)
    memcpy(at, "//", 2);
  tsl_text_add(text, "#define TSL_PARAM_WIDTH %d\n#define TSL_PARAM_IMAGES 1\n", width);
  assert_int_equal(tsl_source_flatten("kernel/epilogue.h", folders, text), TESELA_OK);
  assert_int_equal(tsl_source_flatten("kernel/gemm.h", folders, text), TESELA_OK);
  tsl_text_add(text, "\n#line 1 \"tests/dialect/words.cl\"\n%s", words);
  assert_int_equal(tsl_text_status(text), TESELA_OK);
}

static void every_word(void **state) {
  (void)state;
  for (size_t a = 0; a < LENGTH(architectures); a++) {
    tsl_nvrtc_target target;
    if (!target_for(architectures[a], &target))
      continue;
    for (size_t t = 0; t < LENGTH(types); t++)
      for (int width = 2; width <= 16; width *= 2) {
        tsl_text text = {0};
        tsl_launch_defines(types[t], NULL, NULL, &text);
        add_words(width, &text);
        compile(&target, "words", tsl_text_get(&text), "");
        tsl_text_free(&text);
      }
  }
}

/* --- the compiler itself --- */

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
    compile(&target, "plain", plain, "-DFACTOR=2");
  }
  /* A device that this NVRTC has never heard of gets PTX; one that is too old is refused. */
  assert_int_equal(tsl_nvrtc_target_for(9999, &target), TESELA_OK);
  assert_true(target.is_ptx && strncmp(target.name, "compute_", 8) == 0);
  assert_null(strchr(target.name, 'a'));
  compile(&target, "plain", plain, "-DFACTOR=2");
  assert_int_equal(tsl_nvrtc_target_for(13, &target), TESELA_UNSUPPORTED);
  assert_non_null(strstr(tesela_last_error(), "sm_13"));
}

static void options(void **state) {
  (void)state;
  tsl_nvrtc_target target;
  assert_int_equal(tsl_nvrtc_target_for(80, &target), TESELA_OK);
  compile(&target, "plain", "#if ONE != 1 || TWO != 2\n#error not given\n#endif\n",
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
      cmocka_unit_test(described), cmocka_unit_test(every_kernel),  cmocka_unit_test(every_word),
      cmocka_unit_test(roofs),     cmocka_unit_test(named_library),
  };
  if (tsl_nvrtc_load(0) != TESELA_OK) {
    printf("skipped: %s\n", tesela_last_error());
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}

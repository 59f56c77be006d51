/* Compiles subgroup_mma's kernel without a device: clang for AMD's architectures, ocloc for
 * Intel's, where they are installed. The text is the text that the strategy gives to a device. The
 * machine code must have as many matrix instructions as a panel has. It has none if the compiler did not
 * accept a builtin. It has fewer if loops were not unrolled, as with Intel's compiler when registers run
 * out. A missing compiler is reported; without any compiler the test is skipped. */
#include "unit/config.h"
#include "unit/unit.h"

#include "core/status.h"
#include "device/devices.h"
#include "kernel.h"
#include "strategy/strategy.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES TESELA_BINARY_DIR "/fragments_compile"

/* One architecture: a builtin that its compiler must have, and how many instructions make a step of 16 bits
 * and of 8. */
typedef struct target {
  tsl_fragments_index fragments;
  const char *architecture, *builtin, *mnemonic;
  int per_step_16, per_step_8;
  const char *config_16, *config_8;
} target;

#define LARGE "tile_m=128 tile_n=128 sub_m=64 sub_n=64 depth=64"
#define WIDE "tile_m=128 tile_n=128 sub_m=32 sub_n=64 depth=64"
#define HALF "tile_m=64 tile_n=128 sub_m=32 sub_n=32 depth=64"
#define TALL_8 "tile_m=128 tile_n=64 sub_m=8 sub_n=32 depth=64"
#define TALL_16 "tile_m=128 tile_n=64 sub_m=16 sub_n=32 depth=64"
#define EVEN "tile_m=64 tile_n=64 sub_m=32 sub_n=32 depth=64"
#define PLAIN "tile_m=64 tile_n=64 sub_m=16 sub_n=32 depth=64"
#define FLAT "tile_m=64 tile_n=64 sub_m=8 sub_n=32 depth=64"
static const target targets[] = {
    {TSL_FRAGMENTS_MFMA_908, "gfx908", "__builtin_amdgcn_mfma_f32_16x16x8bf16", "v_mfma_", 4, 4, EVEN, LARGE},
    {TSL_FRAGMENTS_MFMA_90A, "gfx90a", "__builtin_amdgcn_mfma_f32_16x16x16bf16_1k", "v_mfma_", 2, 4, LARGE,
     EVEN},
    {TSL_FRAGMENTS_MFMA_940, "gfx942", "__builtin_amdgcn_mfma_i32_16x16x32_i8", "v_mfma_", 2, 2, LARGE, EVEN},
    {TSL_FRAGMENTS_WMMA_11, "gfx1100", "__builtin_amdgcn_wmma_f32_16x16x16_bf16_w32", "v_wmma_", 1, 2, HALF,
     WIDE},
    {TSL_FRAGMENTS_WMMA_12, "gfx1200", "__builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12", "v_wmma_", 1, 2,
     WIDE, HALF},
    {TSL_FRAGMENTS_DPAS_8, "dg2", NULL, "dpas", 1, 1, FLAT, TALL_8},
    {TSL_FRAGMENTS_DPAS_16, "pvc", NULL, "dpas", 1, 1, PLAIN, TALL_16},
};

static const tsl_strategy *strategy;
static tsl_devices *devices;

/* --- compilers --- */

/* Runs a command whose output goes to FILES/log; true where it exits with 0. */
static bool runs(const char *format, ...) {
  char command[2048], all[2200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  snprintf(all, sizeof all, "(%s) >" FILES "/log 2>&1", command);
  return system(all) == 0;
}

static void write_file(const char *name, const char *first, const char *second) {
  char path[512];
  snprintf(path, sizeof path, FILES "/%s", name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%s%s", first, second);
  assert_int_equal(fclose(file), 0);
}

/* Returns the number of lines of FILES/out.s that contain the word. Stores the number after
 * ".vgpr_spill_count:" in `spilled`, or -1 where there is none. */
static int lines_with(const char *word, int *spilled) {
  char line[4096];
  int count = 0;
  FILE *file = fopen(FILES "/out.s", "r");
  *spilled = -1;
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    const char *at = strstr(line, ".vgpr_spill_count:");
    count += strstr(line, word) != NULL;
    if (at)
      *spilled = atoi(at + strlen(".vgpr_spill_count:"));
  }
  fclose(file);
  return count;
}

/* The functions of AMD's device libraries that the kernel uses: unresolved calls would cost
 * registers. */
static const char amd_library[] =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "#define get_local_id(d) __builtin_amdgcn_workitem_id_x()\n"
    "#define get_group_id(d) __builtin_amdgcn_workgroup_id_x()\n"
    "#define get_num_groups(d) 64\n"
    "#define barrier(x) (__builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"), "
    "__builtin_amdgcn_s_barrier(), __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\"))\n"
    "#define fma(a, b, c) ((a) * (b) + (c))\n"
    "#define vload_half(offset, at) ((float)*(at))\n"
    "#define vstore_half_rte(x, offset, at) (*(at) = (half)(x))\n";

/* The newest clang that has the architecture and the builtin; NULL: none. */
static const char *clang_for(const target *target_in) {
  static const char *const names[] = {"clang-21", "clang-20", "clang-19", "clang-18",
                                      "clang-17", "clang-16", "clang-15", "clang"};
  char text[256];
  snprintf(text, sizeof text, "#if !__has_builtin(%s)\n#error it has no such builtin\n#endif\n",
           target_in->builtin);
  write_file("has.cl", text, "");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (runs("%s -target amdgcn-amd-amdhsa -mcpu=%s -x cl -nogpulib -fsyntax-only " FILES "/has.cl", names[i],
             target_in->architecture))
      return names[i];
  return NULL;
}

/* Intel's functions, declared as the extension's text has them: not every build of its compiler brings them
 * along. */
static void declare_dpas(int size, char *out, size_t bytes) {
  static const struct {
    const char *name, *a, *b, *sums;
  } rows[] = {{"bf16_bf16_matrix_mad_k16", "", "", "float"}, {"f16_f16_matrix_mad_k16", "", "", "float"},
              {"i8_i8_matrix_mad_k32", "", "", "int"},       {"i8_u8_matrix_mad_k32", "", "u", "int"},
              {"u8_i8_matrix_mad_k32", "u", "", "int"},      {"u8_u8_matrix_mad_k32", "u", "u", "int"}};
  size_t length = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    length += (size_t)snprintf(out + length, bytes - length,
                               "__attribute__((overloadable)) %s8 intel_sub_group_%s(%s%s8, %sint8, %s8);\n",
                               rows[i].sums, rows[i].name, rows[i].a, size == 8 ? "int" : "short", rows[i].b,
                               rows[i].sums);
}

/* Writes the instructions to FILES/out.s; false where there is no compiler, and why in *none. */
static bool compile(const target *target_in, const char *text, const char **none) {
  if (target_in->builtin) {
    const char *clang = clang_for(target_in);
    *none = "no clang has it";
    if (!clang)
      return false;
    write_file("in.cl", amd_library, text);
    if (!runs("%s -target amdgcn-amd-amdhsa -mcpu=%s -x cl -cl-std=CL1.2 -nogpulib -Xclang "
              "-finclude-default-header "
              "-O2 -w -S -o " FILES "/out.s " FILES "/in.cl",
              clang, target_in->architecture))
      fail_msg("%s for %s does not take the kernel: " FILES "/log", clang, target_in->architecture);
    print_message("  %s, %s: ", target_in->architecture, clang);
    return true;
  }
  char declared[2048];
  *none = "there is no ocloc";
  if (!runs("ocloc compile --help"))
    return false;
  declare_dpas(tsl_fragments_all[target_in->fragments].items, declared, sizeof declared);
  write_file("in.cl", declared, text);
  if (!runs("cd " FILES
            " && rm -rf made && mkdir made && ocloc compile -file in.cl -device %s -options '-cl-std=CL1.2' "
            "-out_dir made && ocloc disasm -file made/*.bin -device %s -dump made && cat made/*.asm > out.s",
            target_in->architecture, target_in->architecture))
    fail_msg("ocloc for %s does not take the kernel: " FILES "/log", target_in->architecture);
  print_message("  %s, ocloc: ", target_in->architecture);
  return true;
}

/* --- texts for the compilers --- */

static const char *text_for(const target *target_in, const tsl_problem *problem, const tsl_config *config) {
  tsl_device *device = NULL;
  for (int i = 0; (device = tsl_devices_at(devices, i)); i++)
    if (device->fragments == &tsl_fragments_all[target_in->fragments])
      break;
  assert_non_null(device);
  const char *why = tsl_strategy_refuse(strategy, problem, config, device);
  if (why)
    fail_msg("%s: %s", target_in->architecture, why);
  tsl_work work = {.strategy = strategy, .problem = *problem, .config = *config, .device = device};
  if (strategy->build(&work) == TESELA_OK) /* as C, where there is such a form */
    strategy->release(&work);
  return fragments_text();
}

static void check(const target *target_in, tesela_type ab, tesela_type c, int per_step, const char *chosen,
                  int *compiled) {
  const tsl_fragments *fragments = &tsl_fragments_all[target_in->fragments];
  const tsl_config config = config_of(strategy, chosen);
  tsl_problem problem = tsl_problem_gemm(512, 512, 512, c);
  const char *none;
  int spilled;
  problem.a.type = problem.b.type = ab;
  if (!compile(target_in, text_for(target_in, &problem, &config), &none)) {
    print_message("  %s left out: %s\n", target_in->architecture, none);
    return;
  }
  const int64_t *value = config.value;
  const int steps = (int)value[4] / fragments->bytes,
            wanted = (int)(value[2] / fragments->rows * (value[3] / fragments->cols)) * steps * per_step;
  const int found = lines_with(target_in->mnemonic, &spilled);
  print_message("%s in %s: %d of %s", chosen, tsl_type(ab)->name, found, target_in->mnemonic);
  if (spilled >= 0)
    print_message(", %d registers spilled", spilled);
  print_message("\n");
  assert_int_equal(found, wanted);
  ++*compiled;
}

static void every_compiler(void **state) {
  int compiled = 0;
  (void)state;
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    check(&targets[i], TESELA_BF16, TESELA_BF16, targets[i].per_step_16, targets[i].config_16, &compiled);
    check(&targets[i], TESELA_I8, TESELA_I32, targets[i].per_step_8, targets[i].config_8, &compiled);
  }
  assert_true(compiled > 0);
}

/* Returns true when at least one compiler is installed. */
static bool any_compiler(void) {
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (targets[i].builtin ? clang_for(&targets[i]) != NULL : runs("ocloc compile --help"))
      return true;
  return false;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_compiler)};
  setenv("TESELA_CACHE_SIZE", "0", 1);
  if (system("mkdir -p " FILES) != 0)
    return 1;
  if (!any_compiler()) {
    printf("skipped: there is no clang with AMD's architectures and no ocloc\n");
    return 77;
  }
  tsl_device_kind_add(&fragments_kind);
  strategy = tsl_strategy_find(TSL_OP_GEMM, "subgroup_mma");
  if (tsl_devices_create(&devices) != TESELA_OK)
    return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tsl_devices_destroy(devices);
  return failed;
}

/* subgroup_mma without a device that has its instructions. Its kernel's text is compiled as C, once
 * for each instruction and several types, and run with a thread for each item. The instructions
 * follow the vendors' documents (instructions.c). The judge checks the results of the strategy's host
 * code: odd sizes, every layout, guard bands, NaN in a C that is not read, equal bits. The test finds a
 * number, sum, line or byte in a wrong place, and items that disagree. */
#include "unit/config.h"
#include "unit/sanitizers.h"
#include "unit/unit.h"

#include "judge/check.h"
#include "kernel.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tsl_devices *devices;
static const tsl_strategy *strategy;

static tsl_device *device_of(const tsl_fragments *fragments) {
  tsl_device *device;
  for (int i = 0; (device = tsl_devices_at(devices, i)); i++)
    if (device->fragments == fragments)
      return device;
  return NULL;
}

static tsl_types types_of(const fragments_kernel *kernel) {
  static const tesela_type narrow[] = {TESELA_F32, TESELA_F16, TESELA_BF16};
  if (kernel->type_ab == 3)
    return (tsl_types){kernel->signed_a ? TESELA_I8 : TESELA_U8, kernel->signed_b ? TESELA_I8 : TESELA_U8,
                       TESELA_I32};
  return (tsl_types){narrow[kernel->type_ab], narrow[kernel->type_ab], narrow[kernel->type_c]};
}

static tsl_config config_of_kernel(const fragments_kernel *kernel) {
  char text[128];
  snprintf(text, sizeof text, "tile_m=%d tile_n=%d sub_m=%d sub_n=%d depth=%d", kernel->tile_m,
           kernel->tile_n, kernel->sub_m, kernel->sub_n, kernel->depth);
  return config_of(strategy, text);
}

/* Returns the number of right cases. If A and B differ in signedness, a C with dense columns swaps A and B
 * and the kernel's types. A kernel with swapped types may be missing here. */
static int check(const fragments_entry *entry, const tsl_config *config, tsl_device *device, tsl_case *what) {
  const bool mixed = entry->kernel->signed_a != entry->kernel->signed_b;
  tsl_case_report report = {0};
  const tsl_shape *c = &what->problem.c;
  if (tsl_problem_has_scales(&what->problem) || (mixed && c->row_stride == 1 && c->col_stride != 1))
    return 0; /* with scales C's type is not that of the kernel */
  what->operations_max = 1 << 22;
  what->problem = tsl_problem_drop_epilogue(&what->problem); /* the last step is another kernel */
  assert_int_equal(tsl_check_case(strategy, config, device, what, &report), TESELA_OK);
  if (report.result == TSL_CASE_WRONG || report.result == TSL_CASE_FAILED ||
      report.result == TSL_CASE_REFUSED)
    fail_msg("%s: %s data=%s seed=%llu: %s", entry->name, report.plan, tsl_data_name(what->data),
             (unsigned long long)what->seed, report.why);
  return 1;
}

/* As large as threads can do in time. */
static bool is_small(const tsl_case *what) {
  const tsl_problem *p = &what->problem;
  return (double)p->m * (double)p->n * (double)p->k <= 1.5e5 && p->m * p->n <= 5000;
}

static void every_instruction(void **state) {
  (void)state;
  const int random = ADDRESS_SANITIZER || THREAD_SANITIZER ? 2 : 5;
  for (const fragments_entry *entry = fragments_kernels; entry->name; entry++) {
    tsl_device *device = device_of(&tsl_fragments_all[entry->kernel->fragments]);
    const tsl_types types = types_of(entry->kernel);
    const tsl_config config = config_of_kernel(entry->kernel);
    tsl_problem like = tsl_problem_gemm(67, 33, 41, types.c);
    tsl_case what;
    int right = 0;
    like.a.type = types.a, like.b.type = types.b;
    assert_non_null(device);
    for (int i = 0; tsl_case_quick(&like, i, &what); i++)
      right += is_small(&what) ? check(entry, &config, device, &what) : 0;
    for (int i = 0, taken = 0; taken < random; i++) {
      tsl_case_random(TSL_OP_GEMM, 20240229, (uint64_t)i, types.c, &what);
      tsl_case_set_types(&what, &types);
      if (!is_small(&what))
        continue;
      right += check(entry, &config, device, &what);
      taken++;
    }
    print_message("  %s: %d right\n", entry->name, right);
    assert_true(right > 2);
    assert_int_equal(fragments_complaints, 0);
  }
  assert_true(fragments_runs > 0);
}

/* Names of architectures and sizes of sub-groups as devices tell them. */
static void names_find_rows(void **state) {
  (void)state;
  static const struct {
    int sub_group;
    const char *name, *row;
  } all[] = {{8, "", "dpas_8"},
             {16, "", "dpas_16"},
             {32, "", NULL},
             {0, "gfx908:sramecc+:xnack-", "mfma_gfx908"},
             {0, "gfx90a:sramecc+:xnack-", "mfma_gfx90a"},
             {0, "gfx942", "mfma_gfx940"},
             {0, "gfx950", "mfma_gfx940"},
             {0, "gfx1100", "wmma_gfx11"},
             {0, "gfx1151", "wmma_gfx11"},
             {0, "gfx1201", "wmma_gfx12"},
             {0, "gfx906", NULL},
             {0, "gfx1030", NULL},
             {0, "AMD Radeon RX 7900 XTX (radeonsi, navi31)", NULL},
             {0, "", NULL}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const tsl_fragments *row = tsl_fragments_of(all[i].sub_group, all[i].name);
    if (!row || !all[i].row)
      assert_true(!row && !all[i].row);
    else
      assert_string_equal(row->name, all[i].row);
  }
}

static void assert_refused(const char *config, const tsl_fragments *fragments, tesela_type a, tesela_type c,
                           const char *part) {
  const tsl_config chosen = config_of(strategy, config);
  tsl_problem problem = tsl_problem_gemm(256, 256, 256, c);
  problem.a.type = a;
  problem.b.type = a == TESELA_U8 ? TESELA_I8 : a;
  const char *why = tsl_strategy_refuse(strategy, &problem, &chosen, device_of(fragments));
  if (!why || !strstr(why, part))
    fail_msg("%s: '%s' does not say '%s'", config, why ? why : "(can)", part);
}

static void refusals_have_numbers(void **state) {
  (void)state;
  const tsl_fragments *all = tsl_fragments_all;
  assert_refused("", &all[TSL_FRAGMENTS_MFMA_940], TESELA_U8, TESELA_I32, "multiplies signed bytes only");
  assert_refused("", &all[TSL_FRAGMENTS_MFMA_90A], TESELA_F16, TESELA_F32, "subnormal f16");
  assert_refused("", &all[TSL_FRAGMENTS_WMMA_11], TESELA_F32, TESELA_F32, "narrow types");
  assert_refused("sub_m=8", &all[TSL_FRAGMENTS_WMMA_11], TESELA_F16, TESELA_F32,
                 "the 16 x 16 sums of wmma_gfx11");
  assert_refused("tile_m=128 tile_n=128 sub_m=16 sub_n=16", &all[TSL_FRAGMENTS_MFMA_908], TESELA_BF16,
                 TESELA_F32, "4096 work-items: takes 32 to 256");
  assert_refused("tile_m=32 tile_n=256 sub_m=8 sub_n=64 depth=64", &all[TSL_FRAGMENTS_DPAS_16], TESELA_I8,
                 TESELA_I32, "do not divide the 128 and 1024 chunks");
  assert_refused("tile_m=128 tile_n=128 depth=128 sub_m=64 sub_n=64", &all[TSL_FRAGMENTS_WMMA_12],
                 TESELA_BF16, TESELA_BF16, "73728 bytes of local memory, fragments:6 has 65536");
  assert_refused("tile_m=128 tile_n=128 sub_m=64 sub_n=64", &all[TSL_FRAGMENTS_WMMA_12], TESELA_BF16,
                 TESELA_BF16, "registers of an item, wmma_gfx12 has 190");
}

/* Every instruction gets some configs, and the model likes none that is smaller than the default. */
static void the_model_finds_configs(void **state) {
  (void)state;
  for (int i = 0; i < TSL_FRAGMENTS_COUNT; i++) {
    tsl_device *device = device_of(&tsl_fragments_all[i]);
    tsl_problem problem = tsl_problem_gemm(4096, 4096, 4096, TESELA_I32);
    problem.a.type = problem.b.type = TESELA_I8;
    const tsl_config plain = tsl_strategy_defaults(strategy);
    tsl_config best = plain;
    double least = INFINITY;
    int legal = 0;
    for (tsl_walk walk = {.begun = false}; tsl_strategy_walk(strategy, &problem, device, &walk);) {
      if (tsl_strategy_refuse(strategy, &problem, &walk.config, device))
        continue;
      const double seconds = strategy->score(&problem, &walk.config, device);
      assert_true(seconds > 0 && seconds < 1);
      legal++;
      if (seconds < least)
        best = walk.config;
      least = seconds < least ? seconds : least;
    }
    print_message("  %s: %d configs, %lld x %lld in %lld x %lld\n", device->label, legal,
                  (long long)best.value[0], (long long)best.value[1], (long long)best.value[2],
                  (long long)best.value[3]);
    assert_true(legal >= 5);
    assert_true(best.value[0] * best.value[1] >= plain.value[0] * plain.value[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_instruction), cmocka_unit_test(names_find_rows),
                                     cmocka_unit_test(refusals_have_numbers),
                                     cmocka_unit_test(the_model_finds_configs)};
  setenv("TESELA_CACHE_SIZE", "0", 1); /* modules are found anew */
  tsl_device_kind_add(&fragments_kind);
  strategy = tsl_strategy_find(TSL_OP_GEMM, "subgroup_mma");
  if (tsl_devices_create(&devices) != TESELA_OK)
    return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tsl_devices_destroy(devices);
  return failed;
}

/* NVRTC without a GPU: every strategy builds its kernels, as on a device, for each architecture
 * that this NVRTC knows. Every probe, every type or size of element, scaled and in place. */

#include "unit/unit.h"

#include "core/status.h"
#include "cuda/mock.h"
#include "device/cuda/nvrtc.h"
#include "device/devices.h"
#include "device/source.h"
#include "judge/device_checksum.h"
#include "judge/device_reference.h"
#include "strategy/epilogue/strategy_epilogue.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_run.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/subplans.h"
#include "strategy/support.h"
#include "unit/config.h"
#include "unit/long.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int architectures[] = {70, 75, 80, 90};
static const tesela_type types[] = {TESELA_F32, TESELA_F64};
static const char *const folders[] = {"kernel", "device/cuda/include", NULL};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* --- every kernel --- */

/* Forms of an operation's kernels: types, and for transposes scaling and in place. */
typedef struct form {
  tsl_types types;
  bool scaled, in_place;
} form;
enum { FORMS_MAX = 64 };

/* Kernels that only move know of an element nothing but its size. */
static bool is_known(const form *forms, int count, const form *form_in) {
  for (int i = 0; i < count; i++)
    if (!form_in->scaled && !forms[i].scaled && forms[i].in_place == form_in->in_place &&
        tsl_type(forms[i].types.c)->size == tsl_type(form_in->types.c)->size)
      return true;
  return false;
}

static int forms_of(const tsl_strategy *strategy, form *forms) {
  int count = 0;
  form one = {.scaled = false};
  for (int i = 0; tsl_strategy_types(strategy, i, &one.types); i++)
    for (int way = 0; way < (strategy->op == TSL_OP_TRANSPOSE ? 4 : 1); way++) {
      one.scaled = way % 2 == 1;
      one.in_place = way / 2 == 1;
      const bool computes = one.types.c == TESELA_F32 || one.types.c == TESELA_F64;
      if ((one.scaled && !computes) || (strategy->op == TSL_OP_TRANSPOSE && is_known(forms, count, &one)))
        continue;
      assert_true(count < FORMS_MAX);
      forms[count++] = one;
    }
  return count;
}

/* Returns true for a strategy that takes only products with structures. Its children take the other
 * products. */
static bool is_structured_only(const tsl_strategy *strategy) {
  return strategy->op == TSL_OP_GEMM && strategy->supports.structures && strategy->needs & TSL_CAN_KERNELS;
}

/* Children, whose kernels other strategies compile here: there are none. */
static tesela_status make_none(const tsl_subplan_factory *self, const tsl_subplan_request *wish,
                               tsl_subplan **child) {
  (void)self;
  (void)wish;
  *child = NULL;
  return TESELA_OK;
}
static uint64_t workspace_of_none(const tsl_subplan *child) {
  (void)child;
  return 0;
}
static void destroy_none(tsl_subplan *child) {
  (void)child;
}
static const tsl_subplan_factory no_children = {
    .make = make_none, .workspace = workspace_of_none, .destroy = destroy_none};

/* Returns a problem with lines of a kilobyte in every type: few tiles of C, and k large enough to
 * be split. Smaller lines for cuda_whole, which copies whole products to shared memory. Few rows for
 * few_rows and cuda_few_rows, and a short k for outer_product. */
static tsl_problem problem_of(const tsl_strategy *strategy, const form *form_in) {
  const bool is_whole = strcmp(strategy->name, "cuda_whole") == 0;
  const bool is_outer = strcmp(strategy->name, "outer_product") == 0;
  const int64_t lines = is_whole ? 64 : 256, k = is_whole   ? lines
                                                 : is_outer ? 5
                                                 : strategy->op == TSL_OP_GEMM
                                                     ? 1024 / (int64_t)tsl_type(form_in->types.a)->size
                                                     : 256;
  const bool is_thin =
      strcmp(strategy->name, "few_rows") == 0 || strcmp(strategy->name, "cuda_few_rows") == 0;
  const int64_t rows = is_thin ? 8 : lines;
  tsl_problem problem = tsl_problem_of(strategy->op, rows, lines, k, form_in->types.c);
  problem.a.type = form_in->types.a;
  problem.b.type = form_in->types.b;
  problem.in_place = form_in->in_place;
  problem.alpha[0] = form_in->scaled ? 2 : 1;
  if (form_in->in_place)
    problem.a = problem.c;
  if (is_structured_only(strategy))
    problem.c.triangle = TESELA_LOWER;
  return problem;
}

/* Why it is refused where nothing is asked, and where anything is allowed, which some wait for. */
static const char *refusal_of(const tsl_strategy *strategy, const tsl_config *config, const form *form_in,
                              const tsl_device *device, tsl_problem *problem) {
  *problem = problem_of(strategy, form_in);
  const char *why = tsl_strategy_refuse(strategy, problem, config, device);
  if (why) {
    problem->ask = (tsl_numeric_requirements){.accuracy = TSL_ACCURACY_NUMBER, .number = 1};
    why = tsl_strategy_refuse(strategy, problem, config, device);
  }
  return why;
}

/* Builds the kernel if the device takes the config. Returns false if it does not. A failed build
 * fails the test. */
static bool build(const tsl_strategy *strategy, const tsl_config *config, const form *form_in,
                  tsl_device *device) {
  tsl_work work = {.strategy = strategy, .config = *config, .device = device, .subplans = &no_children};
  if (refusal_of(strategy, config, form_in, device, &work.problem))
    return false;
  if (strategy->build(&work) != TESELA_OK)
    fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
  if (strategy->release)
    strategy->release(&work);
  return true;
}

/* Returns true when it is `device`'s turn among the first `count` devices that take the config. */
static bool is_turn(const tsl_strategy *strategy, const tsl_config *config, const form *form_in, int number,
                    tsl_device *const *found, int count, const tsl_device *device) {
  tsl_problem problem;
  int able = 0, place = 0;
  for (int d = 0; d < count; d++) {
    if (found[d] == device)
      place = able;
    able += refusal_of(strategy, config, form_in, found[d], &problem) == NULL;
  }
  return able > 0 && number % able == place;
}

/* By the argument `sweep`: for every architecture, all that it is to compile. */
static bool is_sweep;

/* Builds a strategy's configs and forms, shared among the devices. Each device takes the first
 * config in the first form; in a sweep, in the first two. In the long form it takes its turns of the rest.
 * Where there are many forms, the first config takes every other one and further configs one each. Of a
 * device's turns every twelfth is compiled, different ones for each strategy and config; in a sweep all are.
 */
enum { FEW_FORMS = 2, MANY_FORMS = 12, STEP = 12 };
static int build_all(const tsl_strategy *strategy, int number, tsl_device *const *found, int count,
                     tsl_device *device) {
  static form forms[FORMS_MAX];
  const int form_count = forms_of(strategy, forms);
  int built = 0, turns = number;
  tsl_config config;
  for (int i = 0; tsl_strategy_probe(strategy, i, &config); i++)
    for (int f = 0; f < form_count; f++) {
      const bool is_first = i == 0 && (form_count <= MANY_FORMS || f % 2 == 0);
      const bool is_wanted = is_first || form_count <= FEW_FORMS || (i > 0 && f == (2 * i + 1) % form_count);
      if ((i == 0 && f < (is_sweep ? 2 : 1)) ||
          (is_wanted && is_turn(strategy, &config, &forms[f], i + f, found, count, device) &&
           (is_sweep || (is_long_form() && turns++ % STEP == 0))))
        built += build(strategy, &config, &forms[f], device);
    }
  return built;
}

static tsl_devices *devices;

/* Finds the mock devices. The device of an unknown architecture is the last. */
static int find_devices(tsl_device **found, int most) {
  tsl_device *device;
  int count = 0;
  setenv("TESELA_CACHE_SIZE", "0", 1); /* a kernel in the disk cache would not be compiled */
  tsl_device_kind_add(&mock_kind);
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  for (int i = 0; (device = tsl_devices_at(devices, i)) != NULL; i++)
    if (strcmp(device->kind, mock_kind.kind) == 0 && count < most) {
      assert_int_equal(tsl_device_open(device), TESELA_OK);
      found[count++] = device;
    }
  return count;
}

/* The strategy whose folder the file is in; NULL: in none. */
static const tsl_strategy *strategy_of(const char *path) {
  const tsl_strategy *strategy;
  char folder[128];
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++) {
    snprintf(folder, sizeof folder, "%s/", tsl_strategy_folder(strategy));
    if (strncmp(path, folder, strlen(folder)) == 0)
      return strategy;
  }
  return NULL;
}

/* Returns true for a kernel of a strategy that CUDA compiles. CUDA's compiler never gets the text
 * of a strategy for OpenCL only. */
static bool is_kernel_of_strategy(const char *path) {
  const char *dot = strrchr(path, '.');
  const tsl_strategy *strategy = strategy_of(path);
  return dot && (strcmp(dot, ".cl") == 0 || strcmp(dot, ".cu") == 0) &&
         !(strategy && strategy->needs & TSL_CAN_OPENCL) && strncmp(path, "strategy/", 9) == 0;
}

/* A strategy without needs looks at the device itself: at one of its problems. */
static bool is_for(const tsl_strategy *strategy, const tsl_device *device) {
  static form forms[FORMS_MAX];
  if (strategy->needs != 0)
    return tsl_capability_missing(strategy->needs, device->capabilities) == NULL;
  const tsl_config config = tsl_strategy_defaults(strategy);
  assert_true(forms_of(strategy, forms) > 0);
  const tsl_problem problem = problem_of(strategy, &forms[0]);
  return tsl_strategy_refuse(strategy, &problem, &config, device) == NULL;
}

/* Returns the number of the first `count` devices that have the capabilities that the strategy
 * needs. */
static int devices_for(const tsl_strategy *strategy, tsl_device *const *found, int count) {
  int able = 0;
  for (int i = 0; i < count; i++)
    able += is_for(strategy, found[i]);
  return able;
}

/* The last step of sums in f32 and of integers: with a scale of either factor and alpha, and with C that is
 * read. */
static void build_scales(tsl_device *device, int turn, int turns) {
  static const tesela_type results[] = {TESELA_F32, TESELA_F16, TESELA_BF16};
  enum { KINDS = 2, WAYS = 2 };
  for (int i = turn; i < (int)LENGTH(results) * KINDS * WAYS; i += turns) {
    tsl_work work = {.problem = tsl_problem_gemm(256, 256, 256, i % KINDS ? TESELA_I8 : TESELA_E4M3),
                     .device = device};
    tsl_kernel *kernel;
    work.problem.c.type = results[i / KINDS / WAYS];
    work.problem.alpha[0] = i / KINDS % WAYS ? 1.5 : 1;
    work.problem.beta[0] = i / KINDS % WAYS ? 0.5 : 0;
    tsl_problem_add_scale(&work.problem, TSL_OPERAND_SCALE_A, TESELA_SCALE_LINES, 1);
    tsl_problem_add_scale(&work.problem, TSL_OPERAND_SCALE_B, TESELA_SCALE_TENSOR, 1);
    assert_int_equal(tsl_problem_check(&work.problem), TESELA_OK);
    if (tsl_finish_build(&work, &kernel) != TESELA_OK)
      fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
  }
}

/* The last step, which no strategy builds: the devices share what types, functions and vectors there are. */
static void build_finishes(tsl_device *device, int turn, int turns) {
  static const tesela_type results[] = {TESELA_F32,  TESELA_F64, TESELA_F16,
                                        TESELA_BF16, TESELA_C64, TESELA_C128};
  enum { FUNCTIONS = TESELA_ACTIVATIONS, WIDTHS = 2 };
  for (int i = turn; i < (int)LENGTH(results) * FUNCTIONS; i += turns) {
    const tsl_type_info *type = tsl_type(results[i / FUNCTIONS]);
    const bool wide = i % WIDTHS == 1;
    tsl_work work = {.problem = tsl_problem_gemm(256, 256, 256, type->type), .device = device};
    tsl_kernel *kernel;
    work.problem.activation = (tesela_activation)(i % FUNCTIONS);
    tsl_problem_add_bias(&work.problem, TESELA_BIAS_ROW, wide ? type->sums : type->type, 1);
    if (tsl_problem_check(&work.problem) != TESELA_OK)
      continue; /* no functions of complex numbers */
    if (tsl_finish_build(&work, &kernel) != TESELA_OK)
      fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
  }
  build_scales(device, turn, turns);
}

/* Sums of what results should be: the devices share what types there are, and what strategies promise. */
static void build_looks(tsl_device *device, int turn, int turns) {
  static const tesela_type results[] = {TESELA_F32, TESELA_F64, TESELA_F16, TESELA_BF16};
  enum { WAYS = 3 };
  for (int i = turn; i < (int)LENGTH(results) * WAYS; i += turns) {
    const tesela_type type = results[i / WAYS];
    const tsl_problem problem = tsl_problem_gemm(256, 256, 256, type);
    const bool twice = type == TESELA_F64 || i % WAYS == 1;
    tsl_kernel *kernels[TSL_DEVICE_REFERENCE_KERNELS];
    if (tsl_device_reference_build(&problem, device, twice, i % WAYS == 2, kernels) != TESELA_OK)
      fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
  }
}

/* Checksums of results: the devices share the types. */
static void build_checksums(tsl_device *device, int turn, int turns) {
  static const tesela_type types_of_a[] = {TESELA_F32, TESELA_F64, TESELA_F16, TESELA_BF16, TESELA_I8};
  for (int i = turn; i < (int)LENGTH(types_of_a); i += turns) {
    tsl_problem problem = tsl_problem_gemm(256, 256, 256, types_of_a[i]);
    tsl_kernel *kernels[TSL_DEVICE_CHECKSUM_KERNELS];
    if (types_of_a[i] == TESELA_BF16)
      problem.c.type = TESELA_F32;
    for (int is_single = 0; is_single <= !(i == 1 || i == 4); is_single++)
      if (tsl_device_checksum_build(&problem, device, is_single, kernels) != TESELA_OK)
        fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
  }
}

/* Kernels with a fused epilogue: each function; types of C that are the sums' type or not; vectors
 * along both directions, in registers and where elements are stored; sums of whole numbers,
 * separate, split and folded. Small tiles compile quickly. */
static void finishing_kernels(void **state) {
  (void)state;
  static const struct {
    tesela_type ab, c, bias;
    tesela_bias_axis along;
    tesela_scaling scale_a, scale_b;
    double beta;
    int64_t m, k;
    const char *config;
  } cases[] = {
      {TESELA_BF16, TESELA_BF16, TESELA_BF16, TESELA_BIAS_ROW, TESELA_NO_SCALE, TESELA_NO_SCALE, 0, 2048, 256,
       "tile_m=128 tile_n=64"},
      {TESELA_F16, TESELA_F16, TESELA_F32, TESELA_BIAS_COLUMN, TESELA_SCALE_LINES, TESELA_NO_SCALE, 1, 2048,
       256, "tile_m=64 tile_n=64 order=swapped"},
      {TESELA_I8, TESELA_BF16, TESELA_BF16, TESELA_BIAS_ROW, TESELA_SCALE_LINES, TESELA_SCALE_LINES, 0, 128,
       8192, "tile_m=64 tile_n=64"},
      {TESELA_I8, TESELA_F32, TESELA_F32, TESELA_BIAS_COLUMN, TESELA_SCALE_TENSOR, TESELA_SCALE_LINES, 1,
       2048, 256, "tile_m=128 tile_n=16 cluster=2 form=flow order=swapped"},
      {TESELA_E4M3, TESELA_F16, TESELA_F16, TESELA_NO_BIAS, TESELA_SCALE_TENSOR, TESELA_SCALE_LINES, 0, 2048,
       256, "tile_m=64 tile_n=64 eights=panels"},
  };
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_wgmma");
  tsl_device *found[LENGTH(architectures) + 2];
  const int count = find_devices(found, (int)LENGTH(found)) - 1;
  for (int i = 0; i < (int)LENGTH(cases); i++) {
    tsl_work work = {.strategy = strategy, .device = found[count - 1], .fuses_epilogue = true};
    tsl_problem *problem = &work.problem;
    *problem = tsl_problem_gemm(cases[i].m, cases[i].m, cases[i].k, cases[i].c);
    problem->a.type = problem->b.type = cases[i].ab;
    problem->beta[0] = cases[i].beta;
    problem->activation = (tesela_activation)(i % TESELA_ACTIVATIONS);
    tsl_problem_add_bias(problem, cases[i].along, cases[i].bias, 1);
    tsl_problem_add_scale(problem, TSL_OPERAND_SCALE_A, cases[i].scale_a, 1);
    tsl_problem_add_scale(problem, TSL_OPERAND_SCALE_B, cases[i].scale_b, 1);
    assert_int_equal(tsl_problem_check(problem), TESELA_OK);
    problem->ask = (tsl_numeric_requirements){.accuracy = TSL_ACCURACY_NUMBER, .number = 1};
    work.config = config_of(strategy, cases[i].config);
    assert_null(tsl_strategy_refuse(strategy, problem, &work.config, work.device));
    assert_true(tsl_strategy_fuses_epilogue(strategy, problem, &work.config, work.device));
    if (strategy->build(&work) != TESELA_OK)
      fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
    strategy->release(&work);
  }
  tsl_devices_destroy(devices);
}

/* Kernels that add the parts of k for bits=rows, with totals in registers, in shared or in scratch memory.
 * Rows of B and columns of B along k take turns; a sweep compiles both. */
static void parts_of_k(void **state) {
  (void)state;
  static const struct {
    const char *strategy, *config;
    tesela_type type;
  } cases[] = {
      {"register_tile", "form=local tile_m=64 tile_n=64 micro_m=8 micro_n=8", TESELA_F32},
      {"register_tile", "form=local tile_m=128 tile_n=256 micro_m=16 micro_n=8", TESELA_F32},
      {"register_tile", "form=local_async tile_m=64 tile_n=64 micro_m=8 micro_n=8 tile_k=8", TESELA_F32},
      {"register_tile",
       "form=local_async tile_m=16 tile_n=64 micro_m=4 micro_n=8 tile_k=64 stages=3 slices=8", TESELA_F32},
      {"register_tile",
       "form=local_async tile_m=4 tile_n=128 micro_m=4 micro_n=4 tile_k=64 stages=6 slices=8", TESELA_F32},
      {"register_tile", "form=local_async tile_m=48 tile_n=128 micro_m=8 micro_n=8 tile_k=8 stages=3",
       TESELA_F32},
      {"cuda_dmma", "tile_m=128 tile_n=128", TESELA_F64},
      {"cuda_dmma", "tile_m=64 tile_n=64", TESELA_C128},
  };
  tsl_device *found[LENGTH(architectures) + 2];
  const int count = find_devices(found, (int)LENGTH(found)) - 1;
  for (size_t all = 0; all < 2 * LENGTH(cases); all++) {
    const size_t i = all / 2;
    if (!is_sweep && all % 2 != i % 2)
      continue;
    const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, cases[i].strategy);
    tsl_device *device = found[count - 1];
    tsl_work work = {.strategy = strategy, .device = device};
    work.problem = tsl_problem_gemm(4096, 4096, 2048, cases[i].type);
    if (all % 2 == 1) { /* columns of B along k */
      work.problem.b.row_stride = 1;
      work.problem.b.col_stride = work.problem.k;
    }
    work.problem.ask.bits = TSL_REPRODUCIBILITY_ROWS;
    work.config = config_of(strategy, cases[i].config);
    const char *why = tsl_strategy_refuse(strategy, &work.problem, &work.config, device);
    if (why)
      fail_msg("%s %s: %s", cases[i].strategy, cases[i].config, why);
    if (strategy->build(&work) != TESELA_OK)
      fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
    strategy->release(&work);
  }
  tsl_devices_destroy(devices);
}

/* The kernel of products that differ, which a work of a batch asks for when it first runs some. */
static void joining_kernels(void **state) {
  (void)state;
  static const struct {
    tesela_type ab, c;
    const char *config;
  } cases[] = {{TESELA_BF16, TESELA_BF16, "tile_m=128 tile_n=64"},
               {TESELA_I8, TESELA_I32, "tile_m=64 tile_n=64"}};
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_wgmma");
  tsl_device *found[LENGTH(architectures) + 2];
  const int count = find_devices(found, (int)LENGTH(found)) - 1;
  for (size_t i = 0; i < LENGTH(cases); i++) {
    tsl_work work = {.strategy = strategy, .device = found[count - 1]};
    tsl_kernel *kernel, *again;
    work.problem = tsl_problem_gemm(256, 256, 256, cases[i].c);
    work.problem.a.type = work.problem.b.type = cases[i].ab;
    work.problem.batch = 4;
    work.config = config_of(strategy, cases[i].config);
    assert_null(tsl_strategy_refuse(strategy, &work.problem, &work.config, work.device));
    if (strategy->build(&work) != TESELA_OK)
      fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
    const tsl_cuda_wgmma tile =
        tsl_cuda_wgmma_derive(&work.problem, &work.config, work.device, TSL_CUDA_WGMMA_JOINED);
    if (tsl_cuda_wgmma_variant_kernel(&work, &tile, TSL_CUDA_WGMMA_VARIANT_JOINED, &kernel) != TESELA_OK)
      fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
    assert_int_equal(tsl_cuda_wgmma_variant_kernel(&work, &tile, TSL_CUDA_WGMMA_VARIANT_JOINED, &again),
                     TESELA_OK);
    assert_ptr_equal(kernel, again);
    strategy->release(&work);
  }
  tsl_devices_destroy(devices);
}

/* Compiles kernels that leave sums of C's rows. */
static void row_sum_kernels(void **state) {
  (void)state;
  static const struct {
    tesela_type ab, c;
    const char *config;
  } cases[] = {{TESELA_BF16, TESELA_F32, "tile_m=128 tile_n=256 cluster=2"},
               {TESELA_F16, TESELA_F16, "tile_m=256 tile_n=128"}};
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_wgmma");
  tsl_device *found[LENGTH(architectures) + 2];
  const int count = find_devices(found, (int)LENGTH(found)) - 1;
  for (size_t i = 0; i < LENGTH(cases); i++) {
    tsl_work work = {.strategy = strategy, .device = found[count - 1]};
    tsl_kernel *kernel;
    work.problem = tsl_problem_gemm(256, 256, 256, cases[i].c);
    work.problem.a.type = work.problem.b.type = cases[i].ab;
    work.config = config_of(strategy, cases[i].config);
    assert_null(tsl_strategy_refuse(strategy, &work.problem, &work.config, work.device));
    if (strategy->build(&work) != TESELA_OK)
      fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
    const tsl_cuda_wgmma tile =
        tsl_cuda_wgmma_derive(&work.problem, &work.config, work.device, TSL_CUDA_WGMMA_PLAIN);
    if (tsl_cuda_wgmma_variant_kernel(&work, &tile, TSL_CUDA_WGMMA_VARIANT_ROW_SUMS, &kernel) != TESELA_OK)
      fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
    strategy->release(&work);
  }
  tsl_devices_destroy(devices);
}

/* Compiles tiles whose width is no power of two. The last box of C overlaps the box before it, or is stored
 * in part. A sweep compiles all cases. */
static void width_kernels(void **state) {
  (void)state;
  static const struct {
    tesela_type ab, c;
    bool b_along_k;
    const char *config;
  } cases[] = {
      {TESELA_BF16, TESELA_BF16, false, "tile_m=64 tile_n=72"},
      {TESELA_BF16, TESELA_F32, true, "tile_m=64 tile_n=8 cluster=2 form=flow order=swapped"},
      {TESELA_F16, TESELA_F32, false, "tile_m=128 tile_n=40 form=stream"},
      {TESELA_BF16, TESELA_BF16, true, "tile_m=128 tile_n=232"},
      {TESELA_BF16, TESELA_F32, false, "tile_m=256 tile_n=120"},
      {TESELA_BF16, TESELA_BF16, false, "tile_m=128 tile_n=160 cluster=1 form=stream"},
      {TESELA_F32, TESELA_F32, false, "tile_m=128 tile_n=168 order=swapped"},
      {TESELA_I8, TESELA_I32, false, "tile_m=128 tile_n=208 order=swapped"},
      {TESELA_E4M3, TESELA_BF16, true, "tile_m=128 tile_n=176 cluster=2 eights=panels"},
      {TESELA_F16, TESELA_F16, false, "tile_m=64 tile_n=24 cluster=4 form=flow"},
      {TESELA_BF16, TESELA_BF16, true, "tile_m=64 tile_n=80 cluster=2"},
      {TESELA_BF16, TESELA_BF16, true, "tile_m=64 tile_n=88 cluster=8"},
      {TESELA_F16, TESELA_F16, false, "tile_m=128 tile_n=88 cluster=4 order=swapped"},
      {TESELA_F32, TESELA_F32, false, "tile_m=128 tile_n=72 cluster=4"},
      {TESELA_E4M3, TESELA_BF16, true, "tile_m=64 tile_n=64 cluster=8 eights=panels"},
  };
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_wgmma");
  tsl_device *found[LENGTH(architectures) + 2];
  const int count = find_devices(found, (int)LENGTH(found)) - 1, few = 3;
  for (int i = 0; i < (is_sweep ? (int)LENGTH(cases) : few); i++) {
    tsl_work work = {.strategy = strategy, .device = found[count - 1]};
    const int64_t size =
        strstr(cases[i].config, "cluster=4") || strstr(cases[i].config, "cluster=8") ? 500 : 4096;
    work.problem = tsl_problem_gemm(size, size, 4096, cases[i].c);
    work.problem.a.type = work.problem.b.type = cases[i].ab;
    if (cases[i].b_along_k)
      work.problem.b.row_stride = 1, work.problem.b.col_stride = work.problem.k;
    work.problem.ask = (tsl_numeric_requirements){.accuracy = TSL_ACCURACY_NUMBER, .number = 1};
    work.config = config_of(strategy, cases[i].config);
    const char *why = tsl_strategy_refuse(strategy, &work.problem, &work.config, work.device);
    if (why)
      fail_msg("%s: %s", cases[i].config, why);
    if (strategy->build(&work) != TESELA_OK)
      fail_msg("%s\n%s\n%s", cases[i].config, tesela_last_error(), tesela_last_log());
    strategy->release(&work);
  }
  tsl_devices_destroy(devices);
}

static void every_kernel(void **state) {
  (void)state;
  tsl_device *found[LENGTH(architectures) + 2];
  const tsl_strategy *strategy;
  const tsl_source_file *file;
  const int count = find_devices(found, (int)LENGTH(found)) - 1; /* PTX is looked at below */
  assert_true(count > 0);
  /* The newest architecture has all kernels; the others follow in a sweep. */
  for (int turn = is_sweep ? 0 : count - 1; turn < count; turn++) {
    build_finishes(found[turn], turn, count);
    build_looks(found[turn], turn, count);
    build_checksums(found[turn], turn, count);
    for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++) {
      const bool is_host = strategy->needs & TSL_CAN_HOST;
      if (is_host || strategy->vendor.load || !strategy->build || strategy->splits.parts ||
          strategy->needs & TSL_CAN_OPENCL)
        continue;
      assert_true(devices_for(strategy, found, count) > 0);
      if (!is_for(strategy, found[turn]))
        continue;
      const int before = mock_builds(), built = build_all(strategy, i, found, count, found[turn]);
      print_message("  %s %s %s: %d configs, %d compiled\n", found[turn]->label, tsl_op_name(strategy->op),
                    strategy->name, built, mock_builds() - before);
      assert_true(built > 0 && mock_builds() > before);
    }
  }
  for (int i = 0; is_sweep && (file = tsl_source_at(i)) != NULL; i++)
    if (is_kernel_of_strategy(file->path) && !mock_built(file->path))
      fail_msg("%s: no strategy compiled it", file->path);
  tsl_devices_destroy(devices);
}

/* Returns false for an architecture that this NVRTC does not know, with a message. The test omits
 * it. */
static bool target_for(int architecture, tsl_nvrtc_target *target) {
  if (tsl_nvrtc_target_for(architecture, target) == TESELA_OK)
    return true;
  print_message("  sm_%d left out: %s\n", architecture, tesela_last_error());
  return false;
}

/* Graphics cards have the tensor cores of sm_80, with additions. Each kind of product of cuda_mma
 * is compiled to machine code for them: in turn, or in a sweep for each card. */
static void cards(void **state) {
  (void)state;
  static const int newer[] = {86, 89, 120};
  static const tsl_types kinds[] = {{TESELA_BF16, TESELA_BF16, TESELA_F32},
                                    {TESELA_U8, TESELA_I8, TESELA_I32},
                                    {TESELA_E4M3, TESELA_E5M2, TESELA_BF16},
                                    {TESELA_F32, TESELA_F32, TESELA_F32}};
  tsl_device *found[LENGTH(architectures) + 2];
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "cuda_mma");
  assert_true(find_devices(found, (int)LENGTH(found)) >= (int)LENGTH(newer));
  const tsl_device *older = found[0];
  for (int d = 0; older->architecture < 80; d++)
    older = found[d];
  const unsigned capabilities = older->capabilities;
  const tsl_config config = config_of(strategy, "tile_m=64 tile_n=64 depth=64");
  for (size_t a = 0; a < LENGTH(newer); a++) {
    tsl_device *card = found[a]; /* each has compiled nothing yet */
    tsl_nvrtc_target target;
    if (!target_for(newer[a], &target))
      continue;
    card->architecture = newer[a];
    card->capabilities = capabilities;
    card->local_bytes_inside = 99 << 10;
    for (size_t t = 0; t < LENGTH(kinds); t++) {
      tsl_work work = {.strategy = strategy, .config = config, .device = card};
      work.problem = problem_of(strategy, &(form){.types = kinds[t]});
      if (kinds[t].a == TESELA_F32)
        assert_int_equal(tsl_numeric_requirements_parse_accuracy("tf32", &work.problem.ask), TESELA_OK);
      if (newer[a] < 89 && kinds[t].a == TESELA_E4M3) {
        assert_non_null(tsl_strategy_refuse(strategy, &work.problem, &config, card));
        continue;
      }
      assert_null(tsl_strategy_refuse(strategy, &work.problem, &config, card));
      if (!is_sweep && t % LENGTH(newer) != a)
        continue;
      if (strategy->build(&work) != TESELA_OK)
        fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
      strategy->release(&work);
    }
  }
  tsl_devices_destroy(devices);
}

/* In PTX it shows that a transpose moves sixteen bytes at once, on both sides of both memories. */
static void vectors(void **state) {
  (void)state;
  static const char *const moves[][2] = {{"ld.global.nc.v4.", "ld.global.v4."},
                                         {"st.shared.v4.", NULL},
                                         {"ld.shared.v4.", NULL},
                                         {"st.global.v4.", NULL}};
  static const tesela_type moved[] = {TESELA_F32, TESELA_I8};
  tsl_device *found[LENGTH(architectures) + 2];
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_TRANSPOSE, "vector");
  const int count = find_devices(found, (int)LENGTH(found));
  tsl_config config;
  int built = 0;
  for (size_t t = 0; t < LENGTH(moved); t++)
    for (int i = 0; tsl_strategy_probe(strategy, i, &config); i++) {
      const form one = {.types = {moved[t], moved[t], moved[t]}};
      if (!build(strategy, &config, &one, found[count - 1]))
        continue;
      built++;
      for (size_t m = 0; m < LENGTH(moves); m++)
        if (!strstr(mock_last()->data, moves[m][0]) &&
            !(moves[m][1] && strstr(mock_last()->data, moves[m][1])))
          fail_msg("no %s among the instructions for %s, config %d", moves[m][0], tsl_type(moved[t])->name,
                   i);
    }
  assert_true(built >= 2);
  tsl_devices_destroy(devices);
}

/* The PTX shows the multiplications of each form of register_tile: complex numbers by fused
 * multiply-adds of their parts; bytes four at a time with their types' signs, or one by one in
 * panels. */
static void element_types(void **state) {
  (void)state;
  static const char local[] = "form=local vector=16 tile_m=32 tile_n=32 micro_m=4 micro_n=4 tile_k=8";
  static const char sliced[] =
      "form=local vector=16 tile_m=64 tile_n=64 micro_m=8 micro_n=8 tile_k=16 slices=4 stages=1";
  static const char panels[] =
      "form=packed vector=16 tile_m=32 tile_n=32 micro_m=4 micro_n=4 tile_k=8 stages=1";
  static const char single[] =
      "form=packed_serial vector=16 tile_m=32 tile_n=32 micro_m=4 micro_n=4 tile_k=8 stages=1";
  static const struct {
    tsl_types types;
    const char *config, *holds, *lacks;
  } rows[] = {
      {{TESELA_C64, TESELA_C64, TESELA_C64}, local, "fma.rn.f32", "f64"},
      {{TESELA_C64, TESELA_C64, TESELA_C64}, sliced, "neg.f32", "f64"},
      {{TESELA_C64, TESELA_C64, TESELA_C64}, panels, "fma.rn.f32", "f64"},
      {{TESELA_C128, TESELA_C128, TESELA_C128}, local, "neg.f64", "f32"},
      {{TESELA_C128, TESELA_C128, TESELA_C128}, panels, "fma.rn.f64", "f32"},
      {{TESELA_C128, TESELA_C128, TESELA_C128}, single, "fma.rn.f64", "f32"},
      {{TESELA_F16, TESELA_F16, TESELA_F32}, panels, "cvt.f32.f16", "cvt.rn.f16.f32"},
      {{TESELA_F16, TESELA_F16, TESELA_F16}, local, "cvt.rn.f16.f32", "dp4a"},
      {{TESELA_I8, TESELA_I8, TESELA_I32}, local, "dp4a.s32.s32", "dp4a.u32"},
      {{TESELA_U8, TESELA_I8, TESELA_I32}, local, "dp4a.u32.s32", "dp4a.s32"},
      {{TESELA_U8, TESELA_U8, TESELA_I32}, sliced, "dp4a.u32.u32", "dp4a.s32"},
      {{TESELA_I8, TESELA_U8, TESELA_I32}, panels, "mad.lo.s32", "dp4a"},
  };
  tsl_device *found[LENGTH(architectures) + 2];
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "register_tile");
  const int count = find_devices(found, (int)LENGTH(found));
  for (size_t i = 0; i < LENGTH(rows); i++) {
    const form one = {.types = rows[i].types};
    const tsl_config config = config_of(strategy, rows[i].config);
    const char *name = tsl_type(rows[i].types.a)->name;
    if (!build(strategy, &config, &one, found[count - 1]))
      fail_msg("%s is refused, %s", name, rows[i].config);
    if (!strstr(mock_last()->data, rows[i].holds))
      fail_msg("no %s among the instructions for %s, %s", rows[i].holds, name, rows[i].config);
    if (strstr(mock_last()->data, rows[i].lacks))
      fail_msg("%s among the instructions for %s, %s", rows[i].lacks, name, rows[i].config);
  }
  tsl_devices_destroy(devices);
}

/* The kernels that measure roofs and links are no strategy's. In PTX it shows that aligned vectors move
 * sixteen bytes at once. */
static void roofs(void **state) {
  (void)state;
  static const char *const paths[] = {"tune/roofs/roofs_memory.cl", "tune/roofs/roofs_fma.cl",
                                      "kernel/nothing.cl"};
  static const char *const moves[] = {"ld.global.nc.v4.f32", "st.global.v4.f32"};
  for (size_t i = 0; i < LENGTH(paths); i++)
    for (size_t t = 0; t < LENGTH(types); t++) {
      tsl_nvrtc_target target;
      tsl_text text = {0};
      tsl_binary binary;
      tsl_launch_defines(types[t], NULL, NULL, NULL, &text);
      tsl_text_add(&text,
                   "#define TSL_PARAM_ITEMS 256\n#define TSL_PARAM_LANES 4\n#define TSL_PARAM_FLIGHT 4\n"
                   "#define TSL_PARAM_CHAINS 4\n#define TSL_PARAM_ROUND 16\n");
      assert_int_equal(tsl_source_flatten(paths[i], folders, &text), TESELA_OK);
      if (target_for(90, &target))
        mock_compile(&target, paths[i], tsl_text_get(&text), "");
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
  assert_int_equal(tsl_source_flatten("kernel/kernel_epilogue.h", folders, text), TESELA_OK);
  assert_int_equal(tsl_source_flatten("kernel/kernel_gemm.h", folders, text), TESELA_OK);
  tsl_text_add(text, "\n#line 1 \"tests/dialect/words.cl\"\n%s", words);
  assert_int_equal(tsl_text_status(text), TESELA_OK);
}

/* Each architecture and type takes one of the vectors by turns, so that all are taken; in a sweep all of
 * them. */
static void every_word(void **state) {
  (void)state;
  static const int widths[] = {2, 4, 8, 16};
  for (size_t a = 0; a < LENGTH(architectures); a++) {
    tsl_nvrtc_target target;
    if (!target_for(architectures[a], &target))
      continue;
    for (size_t t = 0; t < LENGTH(types); t++)
      for (size_t w = 0; w < LENGTH(widths); w++) {
        tsl_text text = {0};
        if (!is_sweep && w != (a + 2 * t) % LENGTH(widths))
          continue;
        tsl_launch_defines(types[t], NULL, NULL, NULL, &text);
        add_words(widths[w], &text);
        mock_compile(&target, "words", tsl_text_get(&text), "");
        tsl_text_free(&text);
      }
  }
}

int main(int argc, char **argv) {
  is_sweep = mock_is_optimised = argc > 1 && strcmp(argv[1], "sweep") == 0;
  const struct CMUnitTest few[] = {cmocka_unit_test(every_kernel), cmocka_unit_test(every_word),
                                   cmocka_unit_test(vectors)};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finishing_kernels), cmocka_unit_test(joining_kernels), cmocka_unit_test(parts_of_k),
      cmocka_unit_test(every_kernel),      cmocka_unit_test(every_word),      cmocka_unit_test(roofs),
      cmocka_unit_test(vectors),           cmocka_unit_test(element_types),   cmocka_unit_test(cards),
      cmocka_unit_test(width_kernels),     cmocka_unit_test(row_sum_kernels),
  };
  if (tsl_nvrtc_load(0) != TESELA_OK) {
    printf("skipped: %s\n", tesela_last_error());
    return 77;
  }
  /* Fused launches compile their kernel on demand: every_kernel() looks for it as well. */
  const struct CMUnitTest sweep[] = {cmocka_unit_test(joining_kernels), cmocka_unit_test(parts_of_k),
                                     cmocka_unit_test(every_kernel),    cmocka_unit_test(every_word),
                                     cmocka_unit_test(cards),           cmocka_unit_test(width_kernels)};
  return is_sweep         ? cmocka_run_group_tests(sweep, NULL, NULL)
         : is_long_form() ? cmocka_run_group_tests(tests, NULL, NULL)
                          : cmocka_run_group_tests(few, NULL, NULL);
}

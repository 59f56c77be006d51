/* check_strategy OP NAME KIND [RANDOM [tight [STEP]] [shared [STEP]] [every STEP] [part I of N]
 *                [within SECONDS]]
 *
 * Checks one strategy on all devices of a kind, on a named device ("cuda:1"), or on several ("cuda:*",
 * "opencl:0,cpu"). It tries all configs of the strategy, or its probes, over the standard cases and
 * RANDOM random ones (200). The first config in its first two types gets all cases; every other pair of
 * config and types gets a quarter, each time a different one. The first config takes all types of the
 * strategy, other configs the first two. A probe, whose kernels take long to compile, takes one type,
 * in turn. Exits with 0 when all are right, and with 1 when one is wrong. Exits with 77 where the kind has
 * no device and may be absent, or no device with a capability that only some graphics processors have.
 *
 * tight: in buffers of exactly an operand's size, so that a memory checker finds reads outside it. Each
 * case runs once, and the first pair's cases and its kernels are printed. Other configs take one type,
 * but where there are few probes each takes all types. From the third pair on, every STEPth standard case
 * (1), each time different ones.
 *
 * every: every STEPth standard case, different ones for each pair, for an emulator.
 *
 * shared: types are shared out among configs, for devices where compilation takes long. Each type goes to
 * the next config that takes it, the first type to the first config. A config without a type takes one in
 * turn. The first of these pairs, with all cases, and every STEPth pair are tried (1: all). Each strategy
 * has other pairs: all strategies together meet more types. Epilogues are tried in all forms with the
 * strategy `element`, and in two forms with the others, because the plan applies them.
 *
 * part I of N: only pairs I, I + N, ..., for N processes at once.
 *
 * within: begins no case after SECONDS, and says so. For a checker that makes a kernel a thousand times
 * slower, the cases until then count. */
#include "cases_structured.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/status.h"
#include "core/text.h"
#include "judge/check.h"
#include "missing_isa.h"
#include "plain_children.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SKIPPED = 77, MOST_REPORTED = 20, TYPES_OF_EVERY_CONFIG = 2, MOST_KERNELS = 64, MOST_TIGHT = 40 };
static const uint64_t random_seed = 20240229;
static int64_t random_cases = 200;
/* Words that were given, and the steps behind them. */
static bool tight, shared, every, parted, bounded;
static int64_t tight_step = 1, shared_step = 1, every_step = 1, part, parts = 1, seconds_most;
static double began;
static bool is_first = true; /* no pair of config and types is done */

/* --- what `tight` tells --- */

/* Kernels that were asked for, of devices whose operations have tell_kernel() in front. */
static const char *kernels[MOST_KERNELS];
static int kernel_count;
static const tsl_device_ops *own_ops;

static tesela_status tell_kernel(tsl_module *module, const char *name, tsl_kernel **kernel) {
  int i = 0;
  while (i < kernel_count && strcmp(kernels[i], name) != 0)
    i++;
  if (i == kernel_count && i < MOST_KERNELS)
    kernels[kernel_count++] = name;
  return own_ops->kernel_get(module, name, kernel);
}

static void listen(tsl_device *device) {
  static tsl_device_ops ops;
  own_ops = device->ops;
  ops = *own_ops;
  ops.kernel_get = tell_kernel;
  device->ops = &ops;
}

static void tell(const tsl_device *device) {
  printf("kernels on %s:", device->name);
  for (int i = 0; i < kernel_count; i++)
    printf(" %s", kernels[i]);
  printf("\n");
}

/* --- checking --- */

/* TESELA_ACCURACY, as a call that says nothing has it: what runs by an ask alone is tried so. */
static tsl_numeric_requirements ask;

typedef struct counts {
  int right, wrong, refused, late;
} counts;

/* One of three last steps in place of any: with a bias, with GELU, or with scales. */
static void simplify_finish(tsl_problem *problem) {
  const bool is_row = problem->bias_axis == TESELA_BIAS_ROW;
  if (tsl_problem_has_scales(problem)) {
    problem->alpha[0] = problem->alpha[0] == 0 ? 0 : 1.5;
    problem->activation = TESELA_RELU;
    tsl_problem_add_bias(problem, TESELA_NO_BIAS, TESELA_F32, 0);
    if (problem->scaling_a == TESELA_NO_SCALE)
      tsl_problem_add_scale(problem, TSL_OPERAND_SCALE_A, TESELA_SCALE_TENSOR, 0);
    if (problem->scaling_b == TESELA_NO_SCALE)
      tsl_problem_add_scale(problem, TSL_OPERAND_SCALE_B, TESELA_SCALE_TENSOR, 0);
    return;
  }
  if (!tsl_problem_has_epilogue(problem))
    return;
  if (problem->activation >= TESELA_GELU)
    *problem = tsl_problem_drop_epilogue(problem), problem->activation = TESELA_GELU;
  else if (problem->bias_axis != TESELA_NO_BIAS)
    tsl_problem_add_bias(problem, problem->bias_axis, problem->c.type,
                         is_row ? problem->bias.col_stride : problem->bias.row_stride);
  if (problem->activation == TESELA_NO_ACTIVATION && !tsl_type(problem->c.type)->is_complex)
    problem->activation = TESELA_RELU;
}

static void check(const tsl_strategy *strategy, const tsl_config *config, tsl_device *device, tsl_case *what,
                  counts *tally) {
  tsl_case_report report = {0};
  const tsl_subplan_factory plain = plain_children_for(strategy);
  if (bounded && tsl_clock() - began > (double)seconds_most) {
    tally->late++;
    return;
  }
  if (shared && strcmp(strategy->name, "element") != 0)
    simplify_finish(&what->problem);
  what->tight = tight;
  what->children = &plain;
  what->problem.ask = ask;
  what->repeats = tight ? 1 : what->repeats;
  const tesela_status status = tsl_check_case(strategy, config, device, what, &report);
  if (tight && is_first)
    printf("case %" PRId64 " x %" PRId64 " x %" PRId64 " %s: %s\n", what->problem.m, what->problem.n,
           what->problem.k, tsl_data_name(what->data),
           report.result == TSL_CASE_RIGHT ? report.plan : report.why);
  if (status == TESELA_OK && report.result == TSL_CASE_RIGHT) {
    tally->right++;
    return;
  }
  if (status == TESELA_OK && report.result == TSL_CASE_REFUSED) {
    tally->refused++;
    return;
  }
  if (tally->wrong++ < MOST_REPORTED)
    printf("%s data=%s seed=%llu: %s\n", report.plan, tsl_data_name(what->data),
           (unsigned long long)what->seed, status == TESELA_OK ? report.why : tesela_last_error());
}

/* Returns true when there are cases with structures for a strategy in these types. */
static bool has_structures(const tsl_strategy *strategy, const tsl_types *types) {
  const tsl_type_info *type = tsl_type(types->c);
  return strategy->op == TSL_OP_GEMM && strategy->supports.structures && types->a == types->c &&
         types->b == types->c && type->sums == types->c && !type->is_integer;
}

/* Standard case `i` of the strategy's operation, or of those with structures; false past the end. */
static bool next_standard(const tsl_strategy *strategy, bool structured, int i, const tsl_types *types,
                          tsl_case *what) {
  if (structured ? !tsl_case_structured(i, types->c, what)
                 : !tsl_case_standard(strategy->op, i, types->c, what))
    return false;
  tsl_case_set_types(what, types);
  return true;
}

/* `turn` counts the pairs of config and types that go before. */
static void check_config(const tsl_strategy *strategy, int turn, const tsl_config *config, tsl_device *device,
                         const tsl_types *types, counts *total) {
  tsl_text text = {0};
  tsl_case what;
  counts tally = {0};
  const int64_t standard_step = tight && turn >= TYPES_OF_EVERY_CONFIG ? tight_step : every_step;
  for (int structured = 0; structured <= has_structures(strategy, types); structured++)
    for (int i = 0; next_standard(strategy, structured != 0, i, types, &what); i++)
      if (i % standard_step == turn % standard_step)
        check(strategy, config, device, &what, &tally);
  const int step = turn < (shared ? 1 : TYPES_OF_EVERY_CONFIG) ? 1 : 4;
  for (int i = turn % step; i < random_cases; i += step) {
    tsl_case_random(strategy->op, random_seed, (uint64_t)i, types->c, &what);
    tsl_case_set_types(&what, types);
    check(strategy, config, device, &what, &tally);
    if (!has_structures(strategy, types))
      continue;
    tsl_case_random_structured(random_seed, (uint64_t)i, types->c, &what);
    check(strategy, config, device, &what, &tally);
  }
  tsl_config_print(strategy, config, &text);
  printf("%s on %s, %s %s %s: %d right, %d wrong, %d refused\n", tsl_text_get(&text), device->name,
         tsl_type(types->a)->name, tsl_type(types->b)->name, tsl_type(types->c)->name, tally.right,
         tally.wrong, tally.refused);
  if (tally.late > 0)
    printf("%d cases not begun: %" PRId64 " s had passed\n", tally.late, seconds_most);
  fflush(stdout);
  is_first = false;
  tsl_text_free(&text);
  total->right += tally.right;
  total->wrong += tally.wrong;
  total->refused += tally.refused;
}

/* --- pairs of config and types --- */

/* Returns true when a config takes a product of 256 cubed in the types. */
static bool takes(const tsl_strategy *strategy, int index, int type, const tsl_device *device) {
  tsl_config config;
  tsl_types types;
  tsl_strategy_probe(strategy, index, &config);
  tsl_strategy_types(strategy, type, &types);
  tsl_problem problem = tsl_problem_of(strategy->op, 256, 256, 256, types.c);
  problem.a.type = types.a;
  problem.b.type = types.b;
  return tsl_strategy_refuse(strategy, &problem, &config, device) == NULL;
}

/* The config that is to try a type where they are shared out: the next one from its own number on. */
static int config_of(const tsl_strategy *strategy, int type, int configs, const tsl_device *device) {
  for (int i = 0; i < configs; i++)
    if (takes(strategy, (type + i) % configs, type, device))
      return (type + i) % configs;
  return 0;
}

static bool is_shared_out(const tsl_strategy *strategy, int index, int configs, int type, int types,
                          const tsl_device *device) {
  bool has_one = false;
  for (int t = 0; t < types && !has_one; t++)
    has_one = config_of(strategy, t, configs, device) == index;
  return config_of(strategy, type, configs, device) == index || (!has_one && type == index % types);
}

/* Returns true when config number `index` of `configs` is tried in type number `type` of `types`. */
static bool is_tried(const tsl_strategy *strategy, int index, int configs, int type, int types) {
  const int most = tight ? 1 : TYPES_OF_EVERY_CONFIG;
  return index == 0 || (tight && strategy->testing.probes && configs * types <= MOST_TIGHT) ||
         (strategy->testing.probes ? type == index % types : type < most);
}

/* Returns true when this process tries the pair. Where pairs are shared out, the strategy's number
 * in the list decides which are omitted. */
static bool is_in_step(const tsl_strategy *strategy, int64_t pair) {
  int number = 0;
  if (pair % parts != part)
    return false;
  while (tsl_strategy_at(number) != strategy)
    number++;
  return !shared || pair == 0 || pair % shared_step == number % shared_step;
}

static int check_device(const tsl_strategy *strategy, tsl_device *device) {
  tsl_types types;
  tsl_config config;
  counts total = {0};
  int64_t pair = 0;
  int count = 0, configs = 0, turn = 0;
  if (tight && device->ops->kernel_get)
    listen(device);
  while (tsl_strategy_types(strategy, count, &types))
    count++;
  while (tsl_strategy_probe(strategy, configs, &config))
    configs++;
  for (int i = 0; tsl_strategy_probe(strategy, i, &config); i++)
    for (int t = 0; tsl_strategy_types(strategy, t, &types); t++)
      if ((shared ? is_shared_out(strategy, i, configs, t, count, device)
                  : is_tried(strategy, i, configs, t, count)) &&
          is_in_step(strategy, pair++))
        check_config(strategy, turn++, &config, device, &types, &total);
  if (own_ops) {
    tell(device);
    device->ops = own_ops;
  }
  if (total.right == 0)
    printf("%s on %s: nothing was checked\n", strategy->name, device->name);
  return total.right == 0 || total.wrong > 0;
}

/* Only a graphics processor may be missing; the cpu and an OpenCL platform are on every machine that tests.
 */
static int no_device(const char *kind, const char *why) {
  const int result = strcmp(kind, "cuda") == 0 ? SKIPPED : 1;
  printf("%s: no device of kind %s: %s\n", result == SKIPPED ? "skipped" : "failed", kind, why);
  return result;
}

/* Capabilities that only some graphics processors have. */
enum { MAY_LACK = TSL_CAN_MMA | TSL_CAN_FRAGMENTS };

static bool is_able(const tsl_strategy *strategy, const tsl_device *device) {
  const char *missing = tsl_capability_missing(strategy->needs & MAY_LACK, device->capabilities);
  if (missing)
    printf("left out: %s lacks: %s\n", device->name, missing);
  return missing == NULL;
}

/* A vendor's library may be missing everywhere. */
static int no_library(const char *why) {
  printf("skipped: %s\n", why);
  return SKIPPED;
}

static int check_kind(const tsl_strategy *strategy, tsl_devices *devices, const char *kind) {
  int result = 0;
  for (int i = 0; i < tsl_device_kind_count(); i++) {
    const char *name, *what, *why;
    int count;
    if (tsl_devices_kind(devices, i, &name, &what, &count, &why) != TESELA_OK || strcmp(name, kind) != 0)
      continue;
    if (count == 0)
      return no_device(kind, why);
    if (strategy->vendor.load && strategy->vendor.load()->why_not[0])
      return no_library(strategy->vendor.load()->why_not);
    if (strategy->vendor.load)
      printf("%s, %s\n", strategy->vendor.load()->name, strategy->vendor.load()->file);
    tsl_device *device;
    int able = 0;
    for (int d = 0; (device = tsl_devices_at(devices, d)); d++)
      if (strcmp(device->kind, kind) == 0 && is_able(strategy, device)) {
        if (device->capabilities & TSL_CAN_HOST && missing_isa(device)) {
          printf("skipped: this processor has no %s\n", missing_isa(device));
          return SKIPPED;
        }
        result |= check_device(strategy, device);
        able++;
      }
    if (able == 0)
      printf("skipped: %s runs on no device of kind %s that is here\n", strategy->name, kind);
    return able == 0 ? SKIPPED : result;
  }
  printf("there is no kind of device '%s'\n", kind);
  return 1;
}

/* A device's name has a number, or is several. */
static int check_named(const tsl_strategy *strategy, tsl_devices *devices, const char *name) {
  tsl_device *device;
  if (tsl_devices_find(devices, name, &device) != TESELA_OK) {
    printf("%s: %s\n", strncmp(name, "cuda", 4) == 0 ? "skipped" : "failed", tesela_last_error());
    return strncmp(name, "cuda", 4) == 0 ? SKIPPED : 1;
  }
  return check_device(strategy, device);
}

static const tsl_strategy *find(const char *op, const char *name) {
  for (int i = 0; i < TSL_OP_COUNT; i++)
    if (strcmp(tsl_op_name((tsl_op)i), op) == 0)
      return tsl_strategy_find((tsl_op)i, name);
  return NULL;
}

/* The words behind the number of random cases, each with a step or without. */
static bool read_words(int count, char **words) {
  const struct {
    const char *word;
    bool *given;
    int64_t *step;
  } known[] = {{"tight", &tight, &tight_step}, {"shared", &shared, &shared_step},
               {"every", &every, &every_step}, {"part", &parted, &part},
               {"of", &parted, &parts},        {"within", &bounded, &seconds_most}};
  enum { KNOWN = sizeof known / sizeof *known };
  for (int at = 0; at < count;) {
    int i = 0;
    while (i < KNOWN && strcmp(words[at], known[i].word) != 0)
      i++;
    if (i == KNOWN)
      return false;
    *known[i].given = true;
    at++;
    if (at < count && words[at][0] >= '0' && words[at][0] <= '9') {
      if (!tsl_parse_i64(words[at], known[i].step) || *known[i].step < (known[i].step == &part ? 0 : 1))
        return false;
      at++;
    }
  }
  return part < parts;
}

int main(int argc, char **argv) {
  tsl_devices *devices;
  began = tsl_clock();
  if (argc < 4 || (argc > 4 && !tsl_parse_i64(argv[4], &random_cases)) ||
      (argc > 5 && !read_words(argc - 5, argv + 5))) {
    printf("usage: check_strategy OP NAME KIND [RANDOM [tight [STEP]] [shared [STEP]] [every STEP] [part I "
           "of N] "
           "[within SECONDS]]\n");
    return 1;
  }
  const tsl_strategy *strategy = find(argv[1], argv[2]);
  if (!strategy) {
    printf("there is no strategy '%s %s'\n", argv[1], argv[2]);
    return 1;
  }
  if (tsl_numeric_requirements_parse_accuracy(tsl_env_get(TSL_ENV_ACCURACY), &ask) != TESELA_OK ||
      tsl_devices_create(&devices) != TESELA_OK) {
    printf("%s\n", tesela_last_error());
    return 1;
  }
  const int result = strpbrk(argv[3], ":,") ? check_named(strategy, devices, argv[3])
                                            : check_kind(strategy, devices, argv[3]);
  tsl_devices_destroy(devices);
  return result;
}

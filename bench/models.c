/* models [options] MxNxK...
 *
 * How good are the strategies' models on a device? First each config of a list is timed on each product of a
 * list, and the times go to a matrix (costs.h). Then, without a device, the models are compared with a
 * matrix.
 *
 *   --measure FILE    measures, and appends lines to FILE; with --read, the plans of those files again
 *   --read FILE       compares the models with files (repeatable): for each strategy the median of
 *                     |log(measured / predicted)|, its worst tenth, and plans that took more than twice the
 *                     prediction; for each type the fastest measured plan over the models' choice
 *   --products        with --read: also prints each product's choice
 *   --all             with --read: also prints each prediction with its measurement
 *   --worst N         with --read: also prints the N plans that took longest for their prediction
 *   --check           with --read: fails if more than a tenth of a strategy's plans, of 20 or more, took more
 *                     than twice the prediction
 *   --set NAME=VALUE  changes a constant of the models (strategy/model_constants.h); repeatable
 *   --predict         with --read: reads lines of constants, "NAME=VALUE ...", and prints predictions in
 *                     seconds, a line for each, for tools/fit
 *   --constants       prints the models' constants and their largest values
 *   --propose N       with --read: prints for each product N configs that the models like best and FILE lacks
 *   --wide R          also N random configs predicted within R times the best; with --measure every second
 *                     config is random, so that configs that a model underrates are measured, too
 *   --device D        device (cuda:0)
 *   --bits WORD       requires reproducibility of all products, such as rows: strategies then have other
 *                     schedules, so their costs have a file of their own
 *   --type T          types of the products: a word as of bench_gpu --types (f32)
 *   --strategies LIST strategies for --propose (register_tile,thin_tile)
 *   --shapes FILE, --draw SEED N, --most GFLOP   products (cases.h)
 *   --warm            all runs use the same operands, as the processor's models expect
 *   --batch N         each product is a batch of N (1)
 *   --configs FILE    configs, one a line: "register_tile form=local ..."
 *   --compile I/N     only compiles configs I, I + N, ..., for several processes at once
 *   --seconds S       maximum time for the configs of a product (3); on the processor these run by turns, and
 *                     the least time of several passes counts
 *
 * Each run uses other operands, more than the last cache holds, or (--warm) the same. Results are not
 * verified: the judge does that. */
#include "cases.h"
#include "costs.h"
#include "device.h"

#include "planner/subplan_choice.h"
#include "strategy/model_constants.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"
#include "tune/operand_sets.h"
#include "tune/search.h"

enum { SAMPLES = 4, PROCESSOR_PASSES = 8 };
static const double sample_seconds = 4e-4;
/* A config slower than the fastest so far by this factor is timed once. */
static const double hopeless = 1.5;
/* A config of the processor slower by this factor has no further pass. */
static const double hopeless_pass = 3;

static tsl_space configs;
static const char *device_name = "cuda:0", *type_word = "f32", *measure_path, *compile_part,
                  *bits_word = "any";
static const char *strategies = "register_tile,thin_tile";
static bool is_warm, prints_all, prints_products, checks, predicts, prints_constants;
static double seconds_most = 3, wide = 1;
static int batch = 1, propose, worst;
static bench_costs matrix;

/* Returns a product with the required reproducibility. */
static tsl_problem require_bits(tsl_problem problem) {
  bench_must(tsl_numeric_requirements_parse_bits(bits_word, &problem.ask), "--bits");
  return problem;
}

/* Returns case i with the batch. */
static bench_case get_case(int i) {
  bench_case item = bench_cases.items[i];
  item.batch = batch;
  return item;
}

static void read_configs(const char *path) {
  char line[1024];
  FILE *file = fopen(path, "re");
  if (!file)
    bench_stop(path, "cannot be read");
  while (fgets(line, sizeof line, file)) {
    tsl_space_point one = {.predicted = 0};
    line[strcspn(line, "\n")] = '\0';
    if (!line[0])
      continue;
    bench_config_read(line, &one.strategy, &one.config);
    bench_must(tsl_space_add_point(&configs, &one), path);
  }
  fclose(file);
}

static void read_matrix(const char *path) {
  bench_costs_read(path, &matrix);
}

/* --- measuring --- */

/* Returns the kind of a product. The longer side of m and n selects its kernels with any bits. So does which
 * of A and B has rows of whole vectors. */
static int kind_of(const int64_t *shape) {
  return (shape[1] < shape[0] ? 1 : 0) | (shape[2] % 4 ? 2 : 0) | (shape[1] % 4 ? 4 : 0);
}

static void compile_all(tsl_device *device) {
  static int number; /* of configs, also of earlier products */
  int first, step;
  if (sscanf(compile_part, "%d/%d", &first, &step) != 2 || step < 1)
    bench_stop(compile_part, "is not like 0/16");
  for (int i = 0; i < configs.count; i++) {
    bool done[8] = {false};
    if (number++ % step != first)
      continue;
    for (int s = 0; s < bench_cases.count; s++) {
      const bench_case item = get_case(s);
      const tsl_problem problem = require_bits(bench_word_problem(type_word, &item));
      const tsl_space_point *one = &configs.points[i];
      tsl_plan *plan;
      if ((done[kind_of(item.size)] && strcmp(bits_word, "any") == 0) ||
          tsl_strategy_refuse(one->strategy, &problem, &one->config, device))
        continue;
      done[kind_of(item.size)] = true;
      if (tsl_planner_create(&problem, one->strategy, &one->config, device, TSL_PLACE_DEVICE, &plan) ==
          TESELA_OK)
        tsl_plan_destroy(plan);
      else
        fprintf(stderr, "models: %s\n", tesela_last_error());
    }
  }
}

/* Returns true if a run's time is its processor time, which other programs do not lengthen. */
static bool is_one_thread(const tsl_device *device) {
  return device->capabilities & TSL_CAN_HOST && device->threads == 1;
}

/* Returns the seconds of a run from samples, each of enough runs to take sample_seconds; 0 if a run failed.
 * Takes the median on a device, and the least on the processor, which other programs use, too. A long or
 * hopeless run ends the samples. */
static double measure(const tsl_problem *problem, tsl_device *device, const tsl_space_point *place,
                      const tsl_operand_sets *sets, int *next, double best) {
  tsl_plan *plan;
  double samples[SAMPLES];
  int count = 0, runs = 1;
  if (tsl_planner_create(problem, place->strategy, &place->config, device, TSL_PLACE_DEVICE, &plan) !=
      TESELA_OK) {
    fprintf(stderr, "models: %s\n", tesela_last_error());
    return 0;
  }
  for (int i = 0; i < SAMPLES + 2; i++) {
    const tsl_batch many = {sets->items, sets->count, *next, runs};
    tsl_phases phases;
    const double processor = bench_processor_clock();
    bench_must(tsl_plan_run_batch(plan, &many, &phases), "a run");
    *next = (*next + runs) % sets->count;
    const double seconds =
        (is_one_thread(device) ? bench_processor_clock() - processor : phases.compute) / runs;
    if (i == 0) { /* the first run is not counted */
      runs = seconds < sample_seconds / 4 ? 4 : 1;
      continue;
    }
    if (i == 1) {
      runs = (int)fmin(64, ceil(sample_seconds / seconds));
      continue;
    }
    samples[count++] = seconds;
    if (seconds > hopeless * best || (count == 3 && seconds > 1e-3))
      break;
  }
  tsl_plan_destroy(plan);
  double least = INFINITY;
  for (int i = 0; i < count; i++)
    least = fmin(least, samples[i]);
  return device->is_cpu ? least : bench_median(samples, count);
}

static int by_prediction(const void *a, const void *b) {
  const tsl_space_point *one = a, *other = b;
  return one->predicted < other->predicted ? -1 : one->predicted > other->predicted;
}

/* Fills every second place with a randomly drawn config from those predicted within `wide` times
 * the best. */
static void draw_between(uint64_t seed) {
  int within = 0;
  while (within < configs.count && configs.points[within].predicted <= wide * configs.points[0].predicted)
    within++;
  for (int i = 1; i < within && wide > 1; i += 2) {
    const int at = i + (int)(tsl_random_u64(seed, (uint64_t)i) % (uint64_t)(within - i));
    const tsl_space_point one = configs.points[i];
    configs.points[i] = configs.points[at];
    configs.points[at] = one;
  }
}

static void measure_case(tsl_device *device, const bench_case *item, FILE *file) {
  const int64_t *shape = item->size;
  const tsl_problem problem = require_bits(bench_word_problem(type_word, item));
  const double start = bench_clock();
  tsl_operand_sets sets;
  double best = INFINITY;
  int next = 0, count = 0;
  for (int i = 0; i < configs.count; i++) {
    tsl_space_point *one = &configs.points[i];
    one->predicted =
        tsl_strategy_refuse(one->strategy, &problem, &one->config, device)
            ? INFINITY
            : tsl_strategy_seconds(one->strategy, &problem, &one->config, device, tsl_strategy_at);
  }
  qsort(configs.points, (size_t)configs.count, sizeof *configs.points, by_prediction);
  draw_between((uint64_t)(shape[0] * 31 + shape[1] * 17 + shape[2]));
  bench_must(tsl_operand_sets_create(&problem, device, TSL_KIND_NORMAL, 1, is_warm, &sets), "operands");
  const double made = bench_clock() - start;
  double *times = bench_allocate((size_t)configs.count + 1, sizeof *times);
  for (int pass = 0; pass < (device->is_cpu ? PROCESSOR_PASSES : 1); pass++)
    for (int i = 0; i < configs.count && !isinf(configs.points[i].predicted); i++) {
      if (bench_clock() - start - made > seconds_most)
        break;
      if (pass > 0 && !(times[i] > 0 && times[i] < hopeless_pass * best))
        continue;
      const double seconds = measure(&problem, device, &configs.points[i], &sets, &next, best);
      if (seconds > 0 && (pass == 0 || seconds < times[i]))
        times[i] = seconds;
      best = times[i] > 0 ? fmin(best, times[i]) : best;
    }
  for (int i = 0; i < configs.count; i++) {
    const double seconds = times[i];
    if (seconds <= 0)
      continue;
    bench_cost cost = {.item = *item,
                       .strategy = configs.points[i].strategy,
                       .config = configs.points[i].config,
                       .predicted = configs.points[i].predicted,
                       .seconds = seconds};
    snprintf(cost.types, sizeof cost.types, "%s", type_word);
    bench_costs_write(file, &cost);
    count++;
  }
  free(times);
  fflush(file);
  printf("%" PRId64 " x %" PRId64 " x %" PRId64 ": %d configs, best %.2f us, %.2f s and %.2f s of data\n",
         shape[0], shape[1], shape[2], count, 1e6 * best, bench_clock() - start - made, made);
  fflush(stdout);
  tsl_operand_sets_free(&sets);
}

/* Compiles, or with a file measures, all cases with all configs. */
static void run_cases(FILE *file) {
  if (!file)
    compile_all(bench_gpu.device);
  for (int i = 0; file && i < bench_cases.count; i++) {
    const bench_case item = get_case(i);
    const tsl_problem problem = require_bits(bench_word_problem(type_word, &item));
    if (bench_is_within(&problem))
      measure_case(bench_gpu.device, &item, file);
  }
}

static bool is_product(const bench_cost *a, const bench_cost *b) {
  return strcmp(a->types, b->types) == 0 && strcmp(a->item.layout, b->item.layout) == 0 &&
         memcmp(a->item.size, b->item.size, sizeof a->item.size) == 0 && a->item.batch == b->item.batch;
}

/* Makes the product of a matrix's line the only case, and its plans the configs. Returns false if an earlier
 * line has the product. */
static bool take_product(int line) {
  const bench_cost *items = matrix.items;
  configs.count = 0;
  for (int i = 0; i < matrix.count; i++) {
    const tsl_space_point one = {.strategy = items[i].strategy, .config = items[i].config};
    if (is_product(&items[i], &items[line]) && i < line)
      return false;
    if (is_product(&items[i], &items[line]))
      bench_must(tsl_space_add_point(&configs, &one), "a plan");
  }
  type_word = items[line].types;
  batch = (int)items[line].item.batch;
  bench_cases.count = 0;
  bench_case_add(&items[line].item);
  return true;
}

static void on_device(void) {
  bench_gpu_open(device_name);
  FILE *file = compile_part ? NULL : bench_costs_begin(measure_path, bench_gpu.device);
  if (matrix.count == 0)
    run_cases(file);
  for (int i = 0; i < matrix.count; i++)
    if (take_product(i))
      run_cases(file);
  if (file)
    bench_costs_end(file, measure_path);
  bench_gpu_close();
}

/* --- comparing --- */

/* A plan that took longer than twice its prediction misleads the planner. Few plans of a strategy say little.
 */
static const double ratio_max = 2, share_max = 0.1;
enum { NAMES_MAX = 64, PLANS_MIN = 20 };

static double predict(const bench_cost *cost) {
  return tsl_strategy_seconds(cost->strategy, &cost->problem, &cost->config, &matrix.device, tsl_strategy_at);
}

static void print_cost(const bench_cost *cost, double predicted) {
  char name[96];
  bench_case_name(&cost->item, name, sizeof name);
  printf("  %6.2f  measured %10.2f us, predicted %10.2f  %s %s ", cost->seconds / predicted,
         1e6 * cost->seconds, 1e6 * predicted, cost->types, name);
  bench_config_print(stdout, cost->strategy, &cost->config);
  printf("\n");
}

/* Returns the fastest measured time of a product over the time of the plan that the models choose. Only the
 * product's first line counts; NAN for others. */
static double compare_product(int first, const double *predicted) {
  const bench_cost *items = matrix.items, *best = &items[first];
  int chosen = first, count = 0;
  for (int i = 0; i < first; i++)
    if (is_product(&items[i], &items[first]))
      return NAN;
  for (int i = first; i < matrix.count; i++) {
    if (!is_product(&items[i], &items[first]))
      continue;
    best = items[i].seconds < best->seconds ? &items[i] : best;
    chosen = predicted[i] < predicted[chosen] ? i : chosen;
    count++;
    if (prints_all)
      print_cost(&items[i], predicted[i]);
  }
  const double ratio = best->seconds / items[chosen].seconds;
  if (prints_products) {
    printf("%.3f, best of %d in %.2f us: ", ratio, count, 1e6 * best->seconds);
    bench_config_print(stdout, best->strategy, &best->config);
    printf("\n");
    print_cost(&items[chosen], predicted[chosen]);
  }
  return ratio;
}

/* Adds a number to the mean of a name. */
static void add_named(bench_mean means[NAMES_MAX], const char *names[NAMES_MAX], const char *name,
                      double value) {
  int i = 0;
  while (i < NAMES_MAX - 1 && names[i] && strcmp(names[i], name) != 0)
    i++;
  names[i] = name;
  bench_mean_add(&means[i], value, name);
}

static void print_choices(const double *predicted) {
  bench_mean means[NAMES_MAX] = {{0}};
  const char *names[NAMES_MAX] = {NULL};
  for (int i = 0; i < matrix.count; i++) {
    const double ratio = compare_product(i, predicted);
    if (isfinite(ratio)) {
      add_named(means, names, "all", ratio);
      add_named(means, names, matrix.items[i].types, ratio);
    }
  }
  printf("%-26s %8s %6s %6s\n", "fastest over choice", "products", "mean", "least");
  for (int i = 0; i < NAMES_MAX && names[i]; i++)
    printf("%-26s %8d %6.3f %6.3f\n", names[i], means[i].count, bench_mean_value(&means[i]), means[i].least);
}

static int by_number(const void *a, const void *b) {
  const double one = *(const double *)a, other = *(const double *)b;
  return one < other ? -1 : one > other;
}

/* Prints a strategy's errors; returns false if too many plans took more than twice the prediction. */
static bool print_strategy(const tsl_strategy *strategy, const double *predicted) {
  double *errors = bench_allocate((size_t)matrix.count + 1, sizeof *errors), sum = 0;
  int count = 0, over = 0;
  for (int i = 0; i < matrix.count; i++)
    if (matrix.items[i].strategy == strategy) {
      const double error = log(matrix.items[i].seconds / predicted[i]);
      sum += error;
      over += error > log(ratio_max);
      errors[count++] = fabs(error);
    }
  if (count > 0) {
    qsort(errors, (size_t)count, sizeof *errors, by_number);
    printf("%-26s %8d %6.3f %6.3f %6.3f %6d\n", strategy->name, count, errors[count / 2],
           errors[count * 9 / 10], exp(sum / count), over);
  }
  free(errors);
  return count < PLANS_MIN || over <= share_max * count;
}

static const double *worst_predicted;
static int by_excess(const void *a, const void *b) {
  const int one = *(const int *)a, other = *(const int *)b;
  const double x = matrix.items[one].seconds / worst_predicted[one],
               y = matrix.items[other].seconds / worst_predicted[other];
  return x > y ? -1 : x < y;
}

static void print_worst(const double *predicted) {
  int *order = bench_allocate((size_t)matrix.count + 1, sizeof *order);
  for (int i = 0; i < matrix.count; i++)
    order[i] = i;
  worst_predicted = predicted;
  qsort(order, (size_t)matrix.count, sizeof *order, by_excess);
  for (int i = 0; i < worst && i < matrix.count; i++)
    print_cost(&matrix.items[order[i]], predicted[order[i]]);
  free(order);
}

/* Leaves out plans that strategies refuse since they were measured: no prediction of such a plan means
 * anything.
 */
static void drop_refused(void) {
  const int all = matrix.count;
  matrix.count = 0;
  for (int i = 0; i < all; i++) {
    const bench_cost cost = matrix.items[i];
    if (!tsl_strategy_refuse(cost.strategy, &cost.problem, &cost.config, &matrix.device))
      matrix.items[matrix.count++] = cost;
  }
  if (matrix.count < all)
    printf("left out, because refused now: %d\n", all - matrix.count);
}

/* Returns the number of strategies whose predictions are too short. */
static int compare_models(void) {
  drop_refused();
  double *predicted = bench_allocate((size_t)matrix.count + 1, sizeof *predicted);
  int wrong = 0;
  for (int i = 0; i < matrix.count; i++)
    predicted[i] = predict(&matrix.items[i]);
  print_choices(predicted);
  printf("%-26s %8s %6s %6s %6s %6s\n", "measured over predicted", "plans", "median", "tenth", "mean", "> 2");
  for (int i = 0; tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op == TSL_OP_GEMM)
      wrong += !print_strategy(tsl_strategy_at(i), predicted);
  if (worst > 0)
    print_worst(predicted);
  free(predicted);
  return wrong;
}

/* --- constants --- */

static void set_constant(const char *text) {
  char name[64];
  double value;
  if (sscanf(text, "%63[^=]=%lg", name, &value) != 2 || !tsl_model_constants_set(name, value))
    bench_stop(text, "is no constant of a model with a number");
}

static void list_constants(void) {
  for (int i = 0; tsl_model_constant_at(i).name; i++) {
    const tsl_model_constant constant = tsl_model_constant_at(i);
    printf("%s %.17g %g\n", constant.name, tsl_model_constant_value(&matrix.device, i), constant.max);
  }
}

/* Prints a line of predictions for each line of constants. */
static void serve_predictions(void) {
  char line[1 << 14], word[128];
  while (fgets(line, sizeof line, stdin)) {
    const char *rest = line;
    while (bench_next_word(&rest, " \n", word, sizeof word))
      set_constant(word);
    for (int i = 0; i < matrix.count; i++)
      printf("%.9g%c", predict(&matrix.items[i]), i == matrix.count - 1 ? '\n' : ' ');
    fflush(stdout);
  }
}

/* --- proposing --- */

static bool is_known(const tsl_space_point *point, const bench_cost *product) {
  for (int i = 0; i < matrix.count; i++)
    if (is_product(&matrix.items[i], product) && matrix.items[i].strategy == point->strategy &&
        memcmp(&matrix.items[i].config, &point->config, sizeof point->config) == 0)
      return true;
  return false;
}

static void print_proposals(const bench_case *item, uint64_t seed) {
  bench_cost product = {.item = *item, .problem = require_bits(bench_word_problem(type_word, item))};
  tsl_space space = {0};
  const char *list = strategies;
  char name[64];
  snprintf(product.types, sizeof product.types, "%s", type_word);
  while (bench_next_word(&list, ",", name, sizeof name)) {
    const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, name);
    if (!strategy)
      bench_stop(name, "is no strategy");
    bench_must(tsl_space_add(&space, &product.problem, &matrix.device, strategy, NULL, 0), name);
  }
  tsl_space_sort(&space);
  int within = 0, given = 0;
  while (within < space.count && space.points[within].predicted <= wide * space.points[0].predicted)
    within++;
  for (int i = 0; i < space.count && given < 2 * propose; i++) {
    const int at =
        given < propose ? i : (int)(tsl_random_u64(seed, (uint64_t)i) % (uint64_t)(within > 0 ? within : 1));
    if (given >= propose && wide <= 1)
      break;
    if (is_known(&space.points[at], &product))
      continue;
    bench_config_print(stdout, space.points[at].strategy, &space.points[at].config);
    printf("\n");
    given++;
  }
  tsl_space_free(&space);
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("measure", measure_path),
                                         OPTION_CALL("read", read_matrix),
                                         OPTION_FLAG("products", prints_products),
                                         OPTION_FLAG("all", prints_all),
                                         OPTION_COUNT("worst", worst),
                                         OPTION_FLAG("check", checks),
                                         OPTION_CALL("set", set_constant),
                                         OPTION_FLAG("predict", predicts),
                                         OPTION_FLAG("constants", prints_constants),
                                         OPTION_COUNT("propose", propose),
                                         OPTION_NUMBER("wide", wide),
                                         OPTION_TEXT("device", device_name),
                                         OPTION_TEXT("bits", bits_word),
                                         OPTION_TEXT("type", type_word),
                                         OPTION_TEXT("strategies", strategies),
                                         OPTION_COUNT("batch", batch),
                                         OPTION_FLAG("warm", is_warm),
                                         OPTION_CALL("configs", read_configs),
                                         OPTION_TEXT("compile", compile_part),
                                         OPTION_NUMBER("seconds", seconds_most),
                                         BENCH_CASE_OPTIONS,
                                         OPTIONS_END};
  int wrong = 0;
  bench_read(argc, argv, "models", options, bench_take_case);
  for (int i = 0; i < matrix.count; i++)
    matrix.items[i].problem = require_bits(matrix.items[i].problem);
  for (int i = 0; propose && i < bench_cases.count; i++) {
    const bench_case item = get_case(i);
    print_proposals(&item, (uint64_t)i);
  }
  if (prints_constants)
    list_constants();
  else if (predicts)
    serve_predictions();
  else if (measure_path || compile_part)
    on_device();
  else if (matrix.count > 0 && !propose)
    wrong = compare_models();
  else if (!propose)
    bench_stop("nothing to do", "give --measure, --compile, --constants, or --read with measurements");
  tsl_space_free(&configs);
  free(matrix.items);
  if (checks && wrong > 0)
    bench_stop("--check", "more than a tenth of a strategy's plans took more than twice their prediction");
  return 0;
}

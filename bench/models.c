/* models [options] MxNxK...
 *
 * How good are the strategies' models on a device? First each config of a list is timed on each
 * product of a list, and the times go to a file. Then, without a device, prints the config that the models
 * choose among the measured configs, and its time relative to the fastest.
 *
 *   --measure FILE    measures, and appends lines to FILE: the device; "m n k seconds strategy key=value"
 *   --read FILE       judges the models by a file; prints each product's choice, and best / choice
 *   --all             with --read: also prints each prediction with its measurement
 *   --propose N       with --read: prints for each product N configs that the models like best and FILE lacks
 *   --wide R          also N random configs predicted within R times the best; with --measure every second
 *                     config is random, so that configs that a model underrates are measured, too
 *   --device D        device (cuda:0)
 *   --type T          f32, f64, ... (f32)
 *   --strategies LIST strategies for --propose (register_tile,thin_tile)
 *   --shapes FILE, --draw SEED N, --most GFLOP   products (cases.h)
 *   --batch N         each product is a batch of N, written "m n k*N" (1)
 *   --configs FILE    configs, one a line: "register_tile form=local ..."
 *   --compile I/N     only compiles configs I, I + N, ..., for several processes at once
 *   --seconds S       maximum time for the configs of a product (3)
 *
 * Each run uses other operands, more than the last cache holds. Results are not verified: the judge does
 * that. */
#include "cases.h"
#include "device.h"

#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"
#include "tune/operand_sets.h"
#include "tune/search.h"

enum { SAMPLES = 4 };
static const double sample_seconds = 4e-4;
/* A config slower than the fastest so far by this factor is timed once. */
static const double hopeless = 1.5;

/* m, n, k, and the number of products of a batch. */
enum { SIZES = 4 };

typedef struct point {
  int64_t shape[SIZES];
  double seconds;
  const tsl_strategy *strategy;
  tsl_config config;
} point;

static tsl_space configs;
static const char *device_name = "cuda:0", *type_name = "f32", *kept, *read_path, *compile_part;
static const char *strategies = "register_tile,thin_tile";
static bool prints_all;
static double seconds_most = 3, wide = 1;
static int batch = 1, propose;
static tesela_type type;
static point *points;
static int point_count, point_capacity;
static tsl_device described; /* the device as a file's first line describes it */

static tsl_problem problem_of(const int64_t *shape) {
  tsl_problem problem = tsl_problem_gemm(shape[0], shape[1], shape[2], type);
  problem.batch = shape[3] > 1 ? shape[3] : 0;
  return problem;
}

/* Copies the sizes of a case and the batch; returns its problem. */
static tsl_problem get_shape(int i, int64_t shape[SIZES]) {
  memcpy(shape, bench_cases.items[i].size, 3 * sizeof *shape);
  shape[3] = batch;
  return problem_of(shape);
}

/* --- reading --- */

/* The properties of a device that models read. X(member, format, type to scan) */
#define DEVICE_LIST(X)                                                                                       \
  X(compute_units, double, int)                                                                              \
  X(clock_mhz, double, int)                                                                                  \
  X(capabilities, double, unsigned)                                                                          \
  X(warp, double, int)                                                                                       \
  X(architecture, double, int)                                                                               \
  X(memory_bytes, double, uint64_t)                                                                          \
  X(local_bytes, double, uint64_t)                                                                           \
  X(local_bytes_inside, double, uint64_t)                                                                    \
  X(cache_bytes, double, uint64_t)                                                                           \
  X(peak_f32, double, double)                                                                                \
  X(peak_f64, double, double)                                                                                \
  X(bandwidth, double, double)                                                                               \
  X(launch_seconds, double, double)                                                                          \
  X(threads, double, int)                                                                                    \
  X(level_bytes[0], double, uint64_t)                                                                        \
  X(level_bytes[1], double, uint64_t)                                                                        \
  X(level_bytes[2], double, uint64_t)

static void write_device(FILE *file, const tsl_device *device) {
  fprintf(file, "device type=%s", type_name);
#define DEVICE_WRITE(member, as, is) fprintf(file, " " #member "=%.17g", (as)device->member);
  DEVICE_LIST(DEVICE_WRITE)
#undef DEVICE_WRITE
  fprintf(file, "\n");
}

static tesela_status no_local_bytes(tsl_kernel *kernel, size_t bytes) {
  (void)kernel, (void)bytes;
  return TESELA_OK;
}

static void read_device(const char *line) {
  static const tsl_device_ops ops = {.kernel_local_bytes = no_local_bytes};
  tsl_record record;
  bench_must(tsl_record_parse(line, &record), "the device's line");
#define DEVICE_READ(member, as, is)                                                                          \
  if (tsl_record_get(&record, #member))                                                                      \
    described.member = (is)strtod(tsl_record_get(&record, #member), NULL);
  DEVICE_LIST(DEVICE_READ)
#undef DEVICE_READ
  tsl_record_free(&record);
  described.ops = &ops;
  described.group_items_max = 1024;
  for (int d = 0; d < 3; d++) {
    described.group_size_max[d] = d < 2 ? 1024 : 64;
    described.group_count_max[d] = d == 0 ? INT32_MAX : 65535;
  }
  described.allocation_max = described.memory_bytes;
  described.vector_f32 = described.vector_f64 = 1;
  snprintf(described.name, sizeof described.name, "mock");
}

static void print_config(FILE *file, const tsl_strategy *strategy, const tsl_config *config) {
  tsl_text text = {0};
  tsl_config_print(strategy, config, &text);
  fprintf(file, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
}

static void read_config(const char *text, const tsl_strategy **strategy, tsl_config *config) {
  tsl_record record;
  bench_must(tsl_record_parse(text, &record), text);
  const char *name = tsl_record_word(&record, 0);
  *strategy = name ? tsl_strategy_find(TSL_OP_GEMM, name) : NULL;
  if (!*strategy)
    bench_stop(text, "names no strategy");
  *config = tsl_strategy_defaults(*strategy);
  bench_must(tsl_config_parse(*strategy, &record, config, NULL), text);
  tsl_record_free(&record);
}

static void read_points(const char *path) {
  char line[1024];
  FILE *file = fopen(path, "re");
  if (!file)
    bench_stop(path, "cannot be read");
  while (fgets(line, sizeof line, file)) {
    int end = 0;
    point one;
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "device ", 7) == 0) {
      read_device(line);
      continue;
    }
    int64_t *shape = one.shape;
    shape[3] = 1;
    if (sscanf(line, "%" SCNd64 " %" SCNd64 " %" SCNd64 "*%" SCNd64 " %lg %n", &shape[0], &shape[1],
               &shape[2], &shape[3], &one.seconds, &end) < 5 &&
        sscanf(line, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %lg %n", &shape[0], &shape[1], &shape[2],
               &one.seconds, &end) < 4)
      bench_stop(line, "is no measurement");
    read_config(line + end, &one.strategy, &one.config);
    if (point_count == point_capacity) {
      point_capacity = point_capacity ? 2 * point_capacity : 4096;
      points = realloc(points, (size_t)point_capacity * sizeof *points);
      if (!points)
        bench_stop(path, "no memory for so many measurements");
    }
    points[point_count++] = one;
  }
  fclose(file);
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
    read_config(line, &one.strategy, &one.config);
    bench_must(tsl_space_add_point(&configs, &one), path);
  }
  fclose(file);
}

/* --- measuring --- */

/* Returns the kind of a product. Its kernels depend only on the longer side of m and n, and on rows of A and
 * B that are whole vectors. */
static int kind_of(const int64_t *shape) {
  return (shape[1] < shape[0] ? 1 : 0) | (shape[2] % 4 ? 2 : 0) | (shape[1] % 4 ? 4 : 0);
}

static void compile_all(tsl_device *device) {
  int first, step;
  if (sscanf(compile_part, "%d/%d", &first, &step) != 2 || step < 1)
    bench_stop(compile_part, "is not like 0/16");
  for (int i = first; i < configs.count; i += step) {
    bool done[8] = {false};
    for (int s = 0; s < bench_cases.count; s++) {
      int64_t shape[SIZES];
      get_shape(s, shape);
      const tsl_problem problem = problem_of(shape);
      const tsl_space_point *one = &configs.points[i];
      tsl_plan *plan;
      if (done[kind_of(shape)] || tsl_strategy_refuse(one->strategy, &problem, &one->config, device))
        continue;
      done[kind_of(shape)] = true;
      if (tsl_planner_create(&problem, one->strategy, &one->config, device, TSL_PLACE_DEVICE, &plan) ==
          TESELA_OK)
        tsl_plan_destroy(plan);
      else
        fprintf(stderr, "models: %s\n", tesela_last_error());
    }
  }
}

/* Returns the seconds of a run: the median of SAMPLES samples, each of enough runs to take sample_seconds; 0
 * if a run failed. A long or hopeless run ends the samples. */
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
    bench_must(tsl_plan_run_batch(plan, &many, &phases), "a run");
    *next = (*next + runs) % sets->count;
    const double seconds = phases.compute / runs;
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
  return bench_median(samples, count);
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

static void measure_shape(tsl_device *device, const int64_t *shape, FILE *file) {
  const tsl_problem problem = problem_of(shape);
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
  bench_must(tsl_operand_sets_create(&problem, device, TSL_KIND_NORMAL, 1, false, &sets), "operands");
  const double made = bench_clock() - start;
  for (int i = 0; i < configs.count && !isinf(configs.points[i].predicted); i++) {
    if (bench_clock() - start - made > seconds_most)
      break;
    const double seconds = measure(&problem, device, &configs.points[i], &sets, &next, best);
    if (seconds <= 0)
      continue;
    fprintf(file, "%" PRId64 " %" PRId64 " %" PRId64, shape[0], shape[1], shape[2]);
    if (batch > 1)
      fprintf(file, "*%d", batch);
    fprintf(file, " %.5g ", seconds);
    print_config(file, configs.points[i].strategy, &configs.points[i].config);
    fprintf(file, "\n");
    best = fmin(best, seconds);
    count++;
  }
  fflush(file);
  printf("%" PRId64 " x %" PRId64 " x %" PRId64 ": %d configs, best %.2f us, %.2f s and %.2f s of data\n",
         shape[0], shape[1], shape[2], count, 1e6 * best, bench_clock() - start - made, made);
  fflush(stdout);
  tsl_operand_sets_free(&sets);
}

static void on_device(void) {
  bench_gpu_open(device_name);
  if (compile_part) {
    compile_all(bench_gpu.device);
  } else {
    FILE *file = fopen(kept, "ae");
    if (!file)
      bench_stop(kept, "cannot be written");
    write_device(file, bench_gpu.device);
    for (int i = 0; i < bench_cases.count; i++) {
      int64_t shape[SIZES];
      const tsl_problem problem = get_shape(i, shape);
      if (bench_is_within(&problem))
        measure_shape(bench_gpu.device, shape, file);
    }
    fclose(file);
  }
  bench_gpu_close();
}

/* --- judging --- */

static double score(const point *point_in) {
  const tsl_problem problem = problem_of(point_in->shape);
  return tsl_strategy_seconds(point_in->strategy, &problem, &point_in->config, &described, tsl_strategy_at);
}

static bool is_shape(const point *point_in, const int64_t *shape) {
  return memcmp(point_in->shape, shape, sizeof point_in->shape) == 0;
}

static void judge(void) {
  bench_mean ratios = {0};
  double errors = 0;
  for (int i = 0; i < point_count; i++) {
    const int64_t *shape = points[i].shape;
    bool seen = false;
    for (int j = 0; j < i && !seen; j++)
      seen = is_shape(&points[j], shape);
    if (seen)
      continue;
    const point *best = &points[i], *chosen = &points[i];
    double promised = INFINITY, off = 0;
    int count = 0;
    for (int j = i; j < point_count; j++) {
      if (!is_shape(&points[j], shape))
        continue;
      const double predicted = score(&points[j]);
      best = points[j].seconds < best->seconds ? &points[j] : best;
      chosen = predicted < promised ? &points[j] : chosen;
      promised = fmin(promised, predicted);
      off += pow(log(predicted / points[j].seconds), 2);
      if (prints_all) {
        printf("    measured %10.2f us, promised %10.2f  ", 1e6 * points[j].seconds, 1e6 * predicted);
        print_config(stdout, points[j].strategy, &points[j].config);
        printf("\n");
      }
      count++;
    }
    const double ratio = best->seconds / chosen->seconds;
    printf("%5" PRId64 " %5" PRId64 " %5" PRId64 " *%5" PRId64
           "  %.3f  best %8.2f us, choice %8.2f (promised %8.2f), off by %.2f over %d\n    best   ",
           shape[0], shape[1], shape[2], shape[3], ratio, 1e6 * best->seconds, 1e6 * chosen->seconds,
           1e6 * promised, sqrt(off / count), count);
    print_config(stdout, best->strategy, &best->config);
    printf("\n    choice ");
    print_config(stdout, chosen->strategy, &chosen->config);
    printf("\n");
    bench_mean_add(&ratios, ratio, "");
    errors += off / count;
  }
  if (ratios.count > 0)
    printf("%d products: best over choice %.3f (geometric mean), least %.3f; predictions off by %.3f\n",
           ratios.count, bench_mean_value(&ratios), ratios.least, sqrt(errors / ratios.count));
}

static bool is_known(const tsl_space_point *place, const int64_t *shape) {
  for (int i = 0; i < point_count; i++)
    if (is_shape(&points[i], shape) && points[i].strategy == place->strategy &&
        memcmp(&points[i].config, &place->config, sizeof place->config) == 0)
      return true;
  return false;
}

static void print_proposals(const int64_t *shape, uint64_t seed) {
  const tsl_problem problem = problem_of(shape);
  tsl_space space = {0};
  const char *list = strategies;
  char name[64];
  while (bench_next_word(&list, ",", name, sizeof name)) {
    const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, name);
    if (!strategy)
      bench_stop(name, "is no strategy");
    bench_must(tsl_space_add(&space, &problem, &described, strategy, NULL, 0), name);
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
    if (is_known(&space.points[at], shape))
      continue;
    print_config(stdout, space.points[at].strategy, &space.points[at].config);
    printf("\n");
    given++;
  }
  tsl_space_free(&space);
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("measure", kept),
                                         OPTION_TEXT("read", read_path),
                                         OPTION_FLAG("all", prints_all),
                                         OPTION_COUNT("propose", propose),
                                         OPTION_NUMBER("wide", wide),
                                         OPTION_TEXT("device", device_name),
                                         OPTION_TEXT("type", type_name),
                                         OPTION_TEXT("strategies", strategies),
                                         OPTION_COUNT("batch", batch),
                                         OPTION_CALL("configs", read_configs),
                                         OPTION_TEXT("compile", compile_part),
                                         OPTION_NUMBER("seconds", seconds_most),
                                         BENCH_CASE_OPTIONS,
                                         OPTIONS_END};
  bench_read(argc, argv, "models", options, bench_take_case);
  type = tsl_type_parse(type_name);
  if (type == TESELA_TYPE_DEFAULT)
    bench_stop(type_name, "is no type");
  if (read_path) {
    read_points(read_path);
    if (!propose)
      judge();
    for (int i = 0; propose && i < bench_cases.count; i++) {
      int64_t shape[SIZES];
      get_shape(i, shape);
      print_proposals(shape, (uint64_t)i);
    }
  } else if (kept || compile_part) {
    on_device();
  } else {
    bench_stop("nothing to do", "give --measure, --compile or --read");
  }
  tsl_space_free(&configs);
  free(points);
  return 0;
}

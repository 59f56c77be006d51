/* planner_rows [options] MxNxK...
 *
 * Measures the cost of the planner's choices. For each product three plans are verified, then timed in turn
 * (tune/race.h). The first is by the strategies' models alone. The second also uses the wisdom shipped with
 * the library. The third also uses the records of a tuned file. Prints the times, and the tuned plan's time
 * divided by the other two times. Equal plans are timed once, with a ratio of 1.
 *
 *   --device D      device (cpu)
 *   --types LIST    f32, f64, ... (f32)
 *   --tuned FILE    records of tesela tune (none: the shipped wisdom counts as tuned)
 *   --search S      instead of a file: a search of S seconds for each product, from the models' choice
 *   --shapes FILE   more products, one "M N K" a line; text after a # is ignored
 *   --draw COUNT    more products, random sizes, log-uniform; every second product has three odd sizes
 *   --from, --to    range of these sizes (16 and 5000)
 *   --seed N        seed of the sizes (1)
 *   --rows I:N      only N products, from number I, counted from 0
 *   --most GFLOP    leaves out products of more operations (no limit)
 *   --seconds S     time for each plan's runs (0.5)
 *   --json FILE     also writes JSON
 *
 * TESELA_THREADS sets the cpu's threads. `TESELA_WISDOM=FILE tesela tune ...` makes a tuned file;
 * bench/wisdom.sh tunes many products. */
#include "shapes.h"

#include "core/random.h"
#include "core/status.h"
#include "planner/planner.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "tune/search.h"
#include "tune/tune.h"
#define BENCH_NAME "planner_rows"
#include "stop.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAYS = 3 };

/* The operations that the verification spends on a result; for the largest product it takes seconds
 * of the host. */
static const int64_t judged_operations = INT64_C(1) << 28;

static const char *const way_names[WAYS] = {"model", "shipped", "tuned"};

/* The choice of one way of planning, and the index of its race entry. */
typedef struct choice {
  char plan[256];
  tsl_basis basis;
  int entry;
} choice;

/* The sum of logarithms of ratios and their count, for a geometric mean. */
typedef struct mean {
  double logs, least;
  int count;
} mean;

static shape_list shapes;
static const char *device_name = "cpu", *types = "f32", *tuned_path, *json_path;
static double most = INFINITY, seconds = 0.5, search_seconds;
static int draw_count, draw_from = 16, draw_to = 5000, first_row, row_count = INT_MAX;
static uint64_t draw_seed = 1;
static tsl_devices *devices;
static tsl_device *device;
static tsl_wisdom *wisdom[WAYS]; /* the first way has no wisdom */
static mean means[WAYS];
static FILE *json;
static int missing, written;

/* --- the command line --- */

static void draw(void) {
  for (int i = 0; i < draw_count; i++) {
    int64_t shape[3];
    for (int j = 0; j < 3; j++) {
      const double at = (double)(tsl_random_u64(draw_seed, (uint64_t)(3 * i + j)) >> 11) * 0x1p-53;
      shape[j] = (int64_t)(draw_from * pow((double)draw_to / draw_from, at));
      shape[j] = i % 2 ? shape[j] | 1 : (shape[j] + 1) / 2 * 2;
    }
    stop_if_wrong("--draw", shapes_append(&shapes, shape));
  }
}

static void read_options(int argc, char **argv) {
  static const struct option names[] = {
      {"device", 1, NULL, 'd'}, {"types", 1, NULL, 'y'},   {"tuned", 1, NULL, 't'}, {"shapes", 1, NULL, 'f'},
      {"most", 1, NULL, 'm'},   {"seconds", 1, NULL, 's'}, {"json", 1, NULL, 'j'},  {"search", 1, NULL, 'a'},
      {"draw", 1, NULL, 'n'},   {"from", 1, NULL, 'l'},    {"to", 1, NULL, 'h'},    {"seed", 1, NULL, 'e'},
      {"rows", 1, NULL, 'r'},   {NULL, 0, NULL, 0}};
  int option;
  while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
    switch (option) {
    case 'd':
      device_name = optarg;
      break;
    case 'y':
      types = optarg;
      break;
    case 't':
      tuned_path = optarg;
      break;
    case 'f':
      stop_if_wrong(optarg, shapes_read(&shapes, optarg));
      break;
    case 'm':
      most = atof(optarg);
      break;
    case 's':
      seconds = atof(optarg);
      break;
    case 'j':
      json_path = optarg;
      break;
    case 'a':
      search_seconds = atof(optarg);
      break;
    case 'n':
      draw_count = atoi(optarg);
      break;
    case 'l':
      draw_from = atoi(optarg);
      break;
    case 'h':
      draw_to = atoi(optarg);
      break;
    case 'e':
      draw_seed = strtoull(optarg, NULL, 10);
      break;
    case 'r':
      if (sscanf(optarg, "%d:%d", &first_row, &row_count) != 2)
        stop(optarg, "not rows like 0:20");
      break;
    default:
      exit(2);
    }
  for (int i = optind; i < argc; i++)
    stop_if_wrong(argv[i], shapes_add(&shapes, argv[i]));
  draw();
  if (shapes.count == 0)
    stop("no products", "give shapes like 512x512x512, or --shapes FILE");
}

/* --- planning --- */

static void open_wisdom(void) {
  tsl_text own = {0};
  if (tuned_path)
    must(tsl_wisdom_read(tuned_path, false, &own), "--tuned");
  must(tsl_wisdom_from(tsl_wisdom_shipped(), "", &wisdom[1]), "the library's wisdom");
  must(tsl_wisdom_from(tsl_wisdom_shipped(), tsl_text_get(&own), &wisdom[2]), "--tuned");
  tsl_text_free(&own);
}

/* Sets the choice's index among the entries; adds an entry if it is new. */
static void enter(const tsl_strategy *strategy, const tsl_config *config, tsl_race_entry *entries, int *count,
                  choice *out) {
  tsl_text text = {0};
  tsl_config_print(strategy, config, &text);
  snprintf(out->plan, sizeof out->plan, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
  for (out->entry = 0; out->entry < *count; out->entry++)
    if (entries[out->entry].strategy == strategy &&
        memcmp(&entries[out->entry].config, config, sizeof *config) == 0)
      return;
  entries[(*count)++] = (tsl_race_entry){.strategy = strategy, .config = *config};
}

/* Plans a product in one way; returns false if no strategy takes it. */
static bool plan(const tsl_problem *problem, int way, tsl_race_entry *entries, int *count, choice *out) {
  const tsl_choice from = {
      .devices = devices, .device = device->name, .place = TSL_PLACE_DEVICE, .wisdom = wisdom[way]};
  tsl_candidate *list;
  int listed;
  must(tsl_planner_list(problem, &from, &list, &listed), "planning");
  const bool good = listed > 0 && !list[0].refusal[0];
  if (good) {
    out->basis = list[0].basis;
    enter(list[0].strategy, &list[0].config, entries, count, out);
  }
  free(list);
  return good;
}

/* Searches all strategies that take the product and adds the fastest. */
static bool search(const tsl_problem *problem, tsl_race_entry *entries, int *count, const choice *start,
                   choice *out) {
  tsl_space space = {.count = 0};
  tsl_tuned tuned;
  tsl_tune_race race = {.problem = problem,
                        .device = device,
                        .seconds_max = fmax(0.02, search_seconds / 50),
                        .time_limit = search_seconds / 4,
                        .seed = 1};
  for (int i = 0; tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op == problem->op && !tsl_strategy_at(i)->vendor.load)
      must(tsl_space_add(&space, problem, device, tsl_strategy_at(i), NULL, 0), "the space");
  tsl_space_sort(&space);
  const tsl_tune_job job = {
      .space = &space,
      .search = tsl_search_at(0),
      .start = tsl_space_find(&space, entries[start->entry].strategy, &entries[start->entry].config),
      .budget = search_seconds,
      .batch = 4,
      .seed = 1,
      .measure = tsl_tune_by_race,
      .argument = &race};
  must(tsl_tune_run(&job, &tuned), "the search");
  const bool good = tuned.best >= 0;
  if (good) {
    out->basis = TSL_BASIS_EXACT;
    enter(space.points[tuned.best].strategy, &space.points[tuned.best].config, entries, count, out);
  }
  tsl_tuned_free(&tuned);
  tsl_space_free(&space);
  return good;
}

/* --- telling --- */

/* Returns the seconds as the tuner counts: the median, on processors the fastest; NaN if there is
 * none. */
static double seconds_of(const tsl_race_entry *entry) {
  return entry->result == TSL_CASE_RIGHT ? tsl_tune_result_of(entry, device).seconds : NAN;
}

static void write_json(const tsl_problem *problem, const choice *chosen, const tsl_race_entry *entries) {
  if (!json)
    return;
  fprintf(json, "%s\n    {\"m\": %" PRId64 ", \"n\": %" PRId64 ", \"k\": %" PRId64 ", \"type\": \"%s\"",
          written++ ? "," : "", problem->m, problem->n, problem->k, tsl_type(problem->c.type)->name);
  for (int way = 0; way < WAYS; way++) {
    const tsl_race_entry *entry = &entries[chosen[way].entry];
    fprintf(json, ",\n     \"%s\": {\"config\": \"%s\", \"by\": \"%s\"", way_names[way], chosen[way].plan,
            tsl_basis_name(chosen[way].basis));
    if (entry->result == TSL_CASE_RIGHT)
      fprintf(json, ", \"seconds\": %.6g, \"spread\": %.3g}", seconds_of(entry), entry->timing.spread);
    else
      fprintf(json, ", \"seconds\": null, \"spread\": null}");
  }
  fprintf(json, "}");
}

static void begin_json(void) {
  const time_t now = time(NULL);
  struct tm utc;
  char date[32];
  if (!json_path)
    return;
  json = fopen(json_path, "we");
  if (!json)
    stop(json_path, "cannot be written");
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  fprintf(json,
          "{\n  \"command\": \"planner_rows\", \"date\": \"%s\", \"device\": \"%s\", \"key\": \"%s\",\n  "
          "\"rows\": [",
          date, device->name, device->key);
}

static void end_json(void) {
  if (!json)
    return;
  fprintf(json, "\n  ],\n  \"missing\": %d", missing);
  for (int way = 0; way < WAYS - 1; way++)
    if (means[way].count > 0)
      fprintf(json, ",\n  \"%s_over_tuned\": %.4f, \"%s_least\": %.4f", way_names[way],
              exp(means[way].logs / means[way].count), way_names[way], means[way].least);
  fprintf(json, "\n}\n");
  fclose(json);
}

static void add_ratio(int way, double ratio) {
  mean *to = &means[way];
  to->least = to->count++ == 0 ? ratio : fmin(to->least, ratio);
  to->logs += log(ratio);
}

static void tell(const tsl_problem *problem, const choice *chosen, const tsl_race_entry *entries) {
  const tsl_race_entry *tuned = &entries[chosen[WAYS - 1].entry];
  printf("%5" PRId64 " x %5" PRId64 " x %5" PRId64 "  %-4s", problem->m, problem->n, problem->k,
         tsl_type(problem->c.type)->name);
  for (int way = 0; way < WAYS; way++)
    printf(" %10.1f", seconds_of(&entries[chosen[way].entry]) * 1e6);
  for (int way = 0; way < WAYS - 1; way++) {
    const double ratio = seconds_of(tuned) / seconds_of(&entries[chosen[way].entry]);
    printf("  %6.3f", ratio);
    if (isfinite(ratio))
      add_ratio(way, ratio);
    else
      missing++;
  }
  printf("  %s", chosen[WAYS - 1].plan);
  if (chosen[0].entry != chosen[WAYS - 1].entry)
    printf("  | model: %s", chosen[0].plan);
  for (int way = 0; way < WAYS; way++)
    if (entries[chosen[way].entry].result != TSL_CASE_RIGHT)
      printf("  | %s: %s", way_names[way], entries[chosen[way].entry].why);
  printf("\n");
  fflush(stdout);
}

/* --- a product --- */

static void measure(const tsl_problem *problem, uint64_t seed) {
  tsl_race_entry entries[WAYS], *racing[WAYS];
  choice chosen[WAYS];
  const tsl_race_options options = {
      .seconds_max = seconds, .operations_max = judged_operations, .seed = seed};
  int count = 0;
  memset(entries, 0, sizeof entries);
  for (int way = 0; way < WAYS; way++)
    if (!(search_seconds > 0 && way == WAYS - 1 ? search(problem, entries, &count, &chosen[0], &chosen[way])
                                                : plan(problem, way, entries, &count, &chosen[way]))) {
      missing++;
      return;
    }
  for (int i = 0; i < count; i++)
    racing[i] = &entries[i];
  must(tsl_race_run(problem, device, &options, racing, count, NULL), "the race");
  tell(problem, chosen, entries);
  write_json(problem, chosen, entries);
}

static void measure_type(const char *name) {
  const tesela_type type = tsl_type_parse(name);
  if (type == TESELA_TYPE_DEFAULT)
    stop(name, "not a type");
  for (int i = first_row; i < shapes.count && i - first_row < row_count; i++) {
    const int64_t *shape = shapes.items[i];
    const tsl_problem problem = tsl_problem_gemm(shape[0], shape[1], shape[2], type);
    if (shape_is_within(shape, type, most))
      measure(&problem, (uint64_t)i + 1);
  }
}

int main(int argc, char **argv) {
  char list[256], *rest = NULL;
  read_options(argc, argv);
  must(tsl_devices_create(&devices), "devices");
  must(tsl_devices_find(devices, device_name, &device), "--device");
  open_wisdom();
  begin_json();
  printf("%s, %s, %lld units; microseconds, then the speed of each choice over the tuned plan's\n",
         device->name, device->key, (long long)tsl_wisdom_units(device));
  printf("%21s  %-4s %10s %10s %10s  %6s  %6s\n", "", "", way_names[0], way_names[1], way_names[2],
         way_names[0], way_names[1]);
  snprintf(list, sizeof list, "%s", types);
  for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
    measure_type(word);
  for (int way = 0; way < WAYS - 1; way++)
    if (means[way].count > 0)
      printf("%s: geometric mean %.3f of %d, the least %.3f\n", way_names[way],
             exp(means[way].logs / means[way].count), means[way].count, means[way].least);
  if (missing > 0)
    printf("without a time: %d\n", missing);
  end_json();
  for (int way = 1; way < WAYS; way++)
    tsl_wisdom_close(wisdom[way]);
  tsl_devices_destroy(devices);
  return missing > 0;
}

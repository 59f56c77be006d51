/* planner_rows [options] MxNxK...
 *
 * What do the planner's choices cost? For each product three plans are verified, then timed in turn
 * (tune/race.h). The first is by the strategies' models alone. The second also uses the wisdom shipped with
 * the library. The third also uses the records of a tuned file. Prints the times, and the tuned plan's time
 * divided by the other two times. Equal plans are timed once, with a ratio of 1.
 *
 *   --device D      device (cpu)
 *   --types LIST    words like f32, bf16:f32 or tf32 (costs.h) (f32)
 *   --tuned FILE    records of tesela tune (none: the shipped wisdom counts as tuned)
 *   --search S      instead of a file: a search of S seconds for each product, from the models' choice
 *   --shapes FILE, --draw SEED N, --most GFLOP   products (cases.h); drawn ones in one of the types each
 *   --rows I:N      only N products, from number I, counted from 0
 *   --matrix FILE   appends the costs of the plans that a search measured (costs.h)
 *   --seconds S     time for each plan's runs (0.5)
 *   --json FILE     also writes JSON
 *
 * TESELA_THREADS sets the cpu's threads. `TESELA_WISDOM=FILE tesela tune ...` makes a tuned file;
 * bench/wisdom.sh tunes many products. */
#include "cases.h"
#include "costs.h"
#include "device.h"

#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "tune/search.h"
#include "tune/tune.h"

#include <limits.h>

enum { WAYS = 3, TYPES_MAX = 16 };

/* The operations that the verification spends on a result; for the largest product it takes seconds of the
 * host. */
static const int64_t judged_operations = INT64_C(1) << 28;

static const char *const way_names[WAYS] = {"model", "shipped", "tuned"};

/* The choice of one way of planning, and the index of its race entry. */
typedef struct choice {
  char plan[256];
  tsl_basis basis;
  int entry;
} choice;

static const char *device_name = "cpu", *type_list = "f32", *tuned_path, *json_path, *matrix_path;
static FILE *matrix_file;
static double seconds = 0.5, search_seconds;
static int first_row, row_count = INT_MAX, missing;
static tsl_wisdom *wisdom[WAYS]; /* the first way has no wisdom */
static bench_mean means[WAYS];

static void take_rows(const char *text) {
  if (sscanf(text, "%d:%d", &first_row, &row_count) != 2)
    bench_stop(text, "not rows like 0:20");
}

/* --- planning --- */

static void open_wisdom(void) {
  tsl_text own = {0};
  if (tuned_path)
    bench_must(tsl_wisdom_read(tuned_path, false, &own), "--tuned");
  bench_must(tsl_wisdom_from(tsl_wisdom_shipped(), "", &wisdom[1]), "the library's wisdom");
  bench_must(tsl_wisdom_from(tsl_wisdom_shipped(), tsl_text_get(&own), &wisdom[2]), "--tuned");
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
  const tsl_choice from = {.devices = bench_gpu.devices,
                           .device = bench_gpu.device->name,
                           .place = TSL_PLACE_DEVICE,
                           .wisdom = wisdom[way]};
  tsl_candidate *list;
  int listed;
  bench_must(tsl_planner_list(problem, &from, &list, &listed), "planning");
  const bool is_taken = listed > 0 && !list[0].refusal[0];
  if (is_taken) {
    out->basis = list[0].basis;
    enter(list[0].strategy, &list[0].config, entries, count, out);
  }
  free(list);
  return is_taken;
}

/* Appends the plans that a search found right to the matrix. */
static void write_costs(const bench_cost *product, const tsl_space *space, const tsl_tuned *tuned) {
  for (int i = 0; i < space->count; i++) {
    if (!tuned->tried[i] || tuned->results[i].result != TSL_CASE_RIGHT)
      continue;
    bench_cost cost = *product;
    cost.strategy = space->points[i].strategy;
    cost.config = space->points[i].config;
    cost.predicted = space->points[i].predicted;
    cost.seconds = tuned->results[i].seconds;
    bench_costs_write(matrix_file, &cost);
  }
  fflush(matrix_file);
}

/* Searches all strategies that take the product and adds the fastest. */
static bool search(const bench_cost *product, tsl_race_entry *entries, int *count, const choice *start,
                   choice *out) {
  const tsl_problem *problem = &product->problem;
  tsl_space space = {.count = 0};
  tsl_tuned tuned;
  tsl_tune_race race = {.problem = problem,
                        .device = bench_gpu.device,
                        .seconds_max = fmax(0.02, search_seconds / 50),
                        .time_limit = search_seconds / 4,
                        .seed = 1};
  for (int i = 0; tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op == problem->op && !tsl_strategy_at(i)->vendor.load)
      bench_must(tsl_space_add(&space, problem, bench_gpu.device, tsl_strategy_at(i), NULL, 0), "the space");
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
  bench_must(tsl_tune_run(&job, &tuned), "the search");
  const bool is_found = tuned.best >= 0;
  if (is_found) {
    out->basis = TSL_BASIS_EXACT;
    enter(space.points[tuned.best].strategy, &space.points[tuned.best].config, entries, count, out);
  }
  if (matrix_file)
    write_costs(product, &space, &tuned);
  tsl_tuned_free(&tuned);
  tsl_space_free(&space);
  return is_found;
}

/* --- rows --- */

/* Returns the seconds as the tuner counts: the median, on processors the fastest; NaN if there is none. */
static double seconds_of(const tsl_race_entry *entry) {
  return entry->result == TSL_CASE_RIGHT ? tsl_tune_result_of(entry, bench_gpu.device).seconds : NAN;
}

static void write_row(const tsl_problem *problem, const char *types, const choice *chosen,
                      const tsl_race_entry *entries) {
  json_open(NULL, '{');
  json_integer("m", problem->m);
  json_integer("n", problem->n);
  json_integer("k", problem->k);
  json_text("types", types);
  for (int way = 0; way < WAYS; way++) {
    const tsl_race_entry *entry = &entries[chosen[way].entry];
    json_open(way_names[way], '{');
    json_text("config", chosen[way].plan);
    json_text("by", tsl_basis_name(chosen[way].basis));
    json_number("seconds", seconds_of(entry));
    json_number("spread", entry->result == TSL_CASE_RIGHT ? entry->timing.spread : NAN);
    json_close('}');
  }
  json_close('}');
}

static void print_row(const char *name, const char *types, const choice *chosen,
                      const tsl_race_entry *entries) {
  const tsl_race_entry *tuned = &entries[chosen[WAYS - 1].entry];
  printf("%-21s  %-9s", name, types);
  for (int way = 0; way < WAYS; way++)
    bench_print_number(seconds_of(&entries[chosen[way].entry]) * 1e6, 10, 1);
  for (int way = 0; way < WAYS - 1; way++) {
    const double ratio = seconds_of(tuned) / seconds_of(&entries[chosen[way].entry]);
    printf(" ");
    bench_print_number(ratio, 6, 3);
    bench_mean_add(&means[way], ratio, name);
    missing += !isfinite(ratio);
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

static void measure(const char *name, const bench_cost *product, uint64_t seed) {
  const tsl_problem *problem = &product->problem;
  tsl_race_entry entries[WAYS], *racing[WAYS];
  choice chosen[WAYS];
  const tsl_race_options options = {
      .seconds_max = seconds, .operations_max = judged_operations, .seed = seed};
  int count = 0;
  memset(entries, 0, sizeof entries);
  for (int way = 0; way < WAYS; way++)
    if (!(search_seconds > 0 && way == WAYS - 1 ? search(product, entries, &count, &chosen[0], &chosen[way])
                                                : plan(problem, way, entries, &count, &chosen[way]))) {
      missing++;
      return;
    }
  for (int i = 0; i < count; i++)
    racing[i] = &entries[i];
  bench_must(tsl_race_run(problem, bench_gpu.device, &options, racing, count, NULL), "the race");
  print_row(name, product->types, chosen, entries);
  write_row(problem, product->types, chosen, entries);
}

static void print_means(void) {
  json_close(']');
  json_integer("missing", missing);
  for (int way = 0; way < WAYS - 1; way++)
    if (means[way].count > 0) {
      char over[32], least[32];
      printf("%s: geometric mean %.3f of %d, the least %.3f\n", way_names[way], bench_mean_value(&means[way]),
             means[way].count, means[way].least);
      snprintf(over, sizeof over, "%s_over_tuned", way_names[way]);
      snprintf(least, sizeof least, "%s_least", way_names[way]);
      json_number(over, bench_mean_value(&means[way]));
      json_number(least, means[way].least);
    }
  if (missing > 0)
    printf("without a time: %d\n", missing);
  json_end();
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("device", device_name),
                                         OPTION_TEXT("types", type_list),
                                         OPTION_TEXT("tuned", tuned_path),
                                         OPTION_NUMBER("search", search_seconds),
                                         OPTION_CALL("rows", take_rows),
                                         OPTION_TEXT("matrix", matrix_path),
                                         OPTION_NUMBER("seconds", seconds),
                                         OPTION_TEXT("json", json_path),
                                         BENCH_CASE_OPTIONS,
                                         OPTIONS_END};
  char words[TYPES_MAX][BENCH_TYPES_WORD];
  bench_read(argc, argv, "planner_rows", options, bench_take_case);
  if (bench_cases.count == 0)
    bench_stop("no products", "give shapes like 512x512x512, --shapes FILE or --draw SEED N");
  bench_gpu_open(device_name);
  open_wisdom();
  if (matrix_path)
    matrix_file = bench_costs_begin(matrix_path, bench_gpu.device);
  json_begin(json_path, "planner_rows");
  json_text("device", bench_gpu.device->name);
  json_text("key", bench_gpu.device->key);
  json_open("rows", '[');
  printf("%s, %s, %lld units; microseconds, then the speed of each choice over the tuned plan's\n",
         bench_gpu.device->name, bench_gpu.device->key, (long long)tsl_wisdom_units(bench_gpu.device));
  printf("%21s  %-9s %10s %10s %10s  %6s  %6s\n", "", "", way_names[0], way_names[1], way_names[2],
         way_names[0], way_names[1]);
  const int count = bench_types_words(type_list, words, TYPES_MAX);
  for (int i = first_row; i < bench_cases.count && i - first_row < row_count; i++)
    for (int t = 0; t < count; t++) {
      const bench_case *item = &bench_cases.items[i];
      char name[64];
      bench_case_name(item, name, sizeof name);
      if (!bench_case_has_type(item, t, count))
        continue;
      bench_cost product = {.item = *item, .problem = bench_word_problem(words[t], item)};
      memcpy(product.types, words[t], sizeof product.types);
      if (bench_is_within(&product.problem))
        measure(name, &product, (uint64_t)i + 1);
    }
  print_means();
  if (matrix_file)
    bench_costs_end(matrix_file, matrix_path);
  for (int way = 1; way < WAYS; way++)
    tsl_wisdom_close(wisdom[way]);
  bench_gpu_close();
  return missing > 0;
}

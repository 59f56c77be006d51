#include "costs.h"

#include "device/device.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

/* Properties of a device that models read. X(member, type to print as, type of the member) */
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

void bench_word_types(const char *word, tsl_types *types, const char **accuracy) {
  const bool is_tf32 = strcmp(word, "tf32") == 0;
  bench_types_parse(is_tf32 ? "f32" : word, types, 1);
  *accuracy = is_tf32 ? "tf32" : types->a == TESELA_E4M3 ? "e4m3" : NULL;
}

int bench_types_words(const char *list, char (*words)[BENCH_TYPES_WORD], int max) {
  char word[BENCH_TYPES_WORD];
  tsl_types types;
  const char *accuracy;
  int count = 0;
  while (bench_next_word(&list, ", ", word, sizeof word)) {
    if (count == max)
      bench_stop(word, "is one type too many");
    bench_word_types(word, &types, &accuracy);
    memcpy(words[count++], word, sizeof word);
  }
  return count;
}

tsl_problem bench_word_problem(const char *word, const bench_case *item) {
  tsl_types types;
  const char *accuracy;
  bench_word_types(word, &types, &accuracy);
  tsl_problem problem = bench_case_problem(item, &types);
  if (accuracy)
    bench_must(tsl_numeric_requirements_parse_accuracy(accuracy, &problem.ask), word);
  return problem;
}

/* --- writing --- */

/* Copies a text, with a - for each byte that ends a word. */
static void write_word(FILE *file, const char *key, const char *text) {
  fprintf(file, " %s=", key);
  for (; *text; text++)
    fputc(*text <= ' ' || *text == '=' ? '-' : *text, file);
}

FILE *bench_costs_begin(const char *path, const tsl_device *device) {
  char date[32];
  FILE *file = fopen(path, "ae");
  if (!file)
    bench_stop(path, "cannot be written");
  fprintf(file, "device");
  write_word(file, "label", device->label);
  write_word(file, "key", device->key);
  write_word(file, "date", bench_date(date, sizeof date));
  write_word(file, "revision", bench_revision());
#define DEVICE_WRITE(member, as, is) fprintf(file, " " #member "=%.17g", (as)device->member);
  DEVICE_LIST(DEVICE_WRITE)
#undef DEVICE_WRITE
  fprintf(file, "\n");
  return file;
}

void bench_costs_end(FILE *file, const char *path) {
  if (fclose(file) != 0)
    bench_stop(path, "not all could be written");
}

void bench_config_print(FILE *file, const tsl_strategy *strategy, const tsl_config *config) {
  tsl_text text = {0};
  tsl_config_print(strategy, config, &text);
  fprintf(file, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
}

void bench_costs_write(FILE *file, const bench_cost *cost) {
  const int64_t *size = cost->item.size;
  fprintf(file, "%s %.2s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %.5g %.5g ", cost->types,
          cost->item.layout, size[0], size[1], size[2], cost->item.batch, cost->predicted, cost->seconds);
  bench_config_print(file, cost->strategy, &cost->config);
  fprintf(file, "\n");
}

/* --- reading --- */

static tesela_status no_local_bytes(tsl_kernel **kernel, size_t bytes) {
  (void)kernel, (void)bytes;
  return TESELA_OK;
}

static void read_device(const char *line, tsl_device *device) {
  static const tsl_device_ops ops = {.kernel_local_bytes = no_local_bytes};
  tsl_record record;
  bench_must(tsl_record_parse(line, &record), "the device's line");
#define DEVICE_READ(member, as, is)                                                                          \
  if (tsl_record_get(&record, #member))                                                                      \
    device->member = (is)strtod(tsl_record_get(&record, #member), NULL);
  DEVICE_LIST(DEVICE_READ)
#undef DEVICE_READ
  const char *label = tsl_record_get(&record, "label"), *key = tsl_record_get(&record, "key");
  snprintf(device->label, sizeof device->label, "%s", label ? label : "");
  snprintf(device->key, sizeof device->key, "%s", key ? key : "");
  tsl_record_free(&record);
  device->ops = &ops;
  device->group_items_max = 1024;
  for (int d = 0; d < 3; d++) {
    device->group_size_max[d] = d < 2 ? 1024 : 64;
    device->group_count_max[d] = d == 0 ? INT32_MAX : 65535;
  }
  device->allocation_max = device->memory_bytes;
  device->vector_f32 = device->vector_f64 = 1;
  snprintf(device->name, sizeof device->name, "mock");
}

void bench_config_read(const char *text, const tsl_strategy **strategy, tsl_config *config) {
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

static bench_cost *add_cost(bench_costs *costs) {
  if (costs->count == costs->capacity) {
    costs->capacity = costs->capacity ? 2 * costs->capacity : 4096;
    costs->items = realloc(costs->items, (size_t)costs->capacity * sizeof *costs->items);
    if (!costs->items)
      bench_stop("memory", "there is not enough");
  }
  return &costs->items[costs->count++];
}

void bench_costs_read(const char *path, bench_costs *costs) {
  char line[1024];
  FILE *file = fopen(path, "re");
  if (!file)
    bench_stop(path, "cannot be read");
  while (fgets(line, sizeof line, file)) {
    int end = 0;
    bench_cost cost = {.item = {.sizes = 3}};
    int64_t *size = cost.item.size;
    line[strcspn(line, "#\n")] = '\0';
    if (!line[0])
      continue;
    if (strncmp(line, "device ", 7) == 0) {
      read_device(line, &costs->device);
      continue;
    }
    if (sscanf(line, "%31s %2s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %lg %lg %n", cost.types,
               cost.item.layout, &size[0], &size[1], &size[2], &cost.item.batch, &cost.predicted,
               &cost.seconds, &end) < 8 ||
        !(cost.seconds > 0))
      bench_stop(line, "is no measurement");
    bench_config_read(line + end, &cost.strategy, &cost.config);
    cost.problem = bench_word_problem(cost.types, &cost.item);
    *add_cost(costs) = cost;
  }
  fclose(file);
}

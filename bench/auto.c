/* auto [options] [MxNxK...]
 *
 * How good is the automatic choice of a device? Prints, for each product, the time on each device, the time
 * with `auto`, and its ratio to the fastest device. All are measured in turn in one run. Three ways:
 *
 *   repeated   repeated tesela_gemm() of one context, without the first call: nanoseconds to seconds
 *   warm       one run of `tesela multiply` on files, from exec to exit, with all kernels compiled before
 *   cold       the same run with empty caches of kernels: tesela's own, PoCL's and CUDA's
 *
 *   --tool PATH    the tool, for warm and cold (build/release/bin/tesela)
 *   --ways LIST    ways: repeated,warm,cold (all)
 *   --types LIST   types of products (f32)
 *   --devices LIST devices compared with auto (all)
 *   --rounds N     maximum turns of each device (60); slow runs have fewer, at least three; cold has two
 *   --shapes FILE, --draw SEED N, --most GFLOP  (cases.h)
 *   --json FILE    also writes JSON
 *
 * Each time is the shortest of its turns, since other programs only make a run slower. Default: twelve
 * squares from 64 to 4096. */
#include "cases.h"

#include "device/devices.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES_MAX = 8, TYPES_MAX = 8, TEXT = 512, WORDS_MAX = 12, AUTO = 0 };
static const int all_sizes[] = {64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096};
/* The least time of one turn, and of all turns of a device, in seconds. */
static const double turn_seconds = 2e-3, device_seconds = 0.6;

typedef enum way { REPEATED, WARM, COLD, WAYS } way;
static const char *const way_names[WAYS] = {"repeated", "warm", "cold"};

static const char *tool = "build/release/bin/tesela", *json_path, *type_list = "f32", *ways = "",
                  *device_list = "";
static char names[DEVICES_MAX][128] = {"auto"}; /* the first name is auto */
static int device_count = 1, rounds = 60;
static tsl_types types[TYPES_MAX];
static char folder[] = "/tmp/bench_auto.XXXXXX";
static bench_mean means[WAYS]; /* of the fastest device's time over auto's */
static bench_side sides[DEVICES_MAX];

static void add_device(const char *name) {
  if (device_count == DEVICES_MAX)
    bench_stop(name, "there are too many devices");
  snprintf(names[device_count++], sizeof names[0], "%s", name);
}

static void list_devices(void) {
  char word[128];
  tsl_devices *devices;
  tsl_device *device;
  bench_must(tsl_devices_create(&devices), "devices");
  for (int i = 0; !*device_list && (device = tsl_devices_at(devices, i)); i++)
    add_device(device->name);
  while (bench_next_word(&device_list, ",", word, sizeof word))
    add_device(word);
  tsl_devices_destroy(devices);
}

/* A product with the types of A, B and C. */
typedef struct auto_product {
  const bench_case *item;
  const tsl_types *types;
  tsl_problem problem;
} auto_product;

static int find_fastest_device(void) {
  int best = 1;
  for (int i = 2; i < device_count; i++)
    if (sides[i].least < sides[best].least)
      best = i;
  return best;
}

static void print_row(way how, const auto_product *product, const char *chosen) {
  const int best = find_fastest_device();
  char shape[64], where[96];
  bench_case_name(product->item, shape, sizeof shape);
  const double ratio = sides[AUTO].least / sides[best].least;
  printf("%-9s %-5s %-19s", way_names[how], tsl_type(product->types->a)->name, shape);
  for (int i = 0; i < device_count; i++)
    printf(" %12.1f", sides[i].least * 1e6);
  printf("  %6.3f  best %s%s%s\n", ratio, names[best], *chosen ? ", auto took " : "", chosen);
  fflush(stdout);
  snprintf(where, sizeof where, "%s %s", tsl_type(product->types->a)->name, shape);
  bench_mean_add(&means[how], 1 / ratio, where);
  json_open(NULL, '{');
  json_text("way", way_names[how]);
  json_text("type", tsl_type(product->types->a)->name);
  for (int i = 0; i < 3; i++)
    json_integer(i == 0 ? "m" : i == 1 ? "n" : "k", product->item->size[i]);
  json_text("layout", product->item->layout);
  json_text("chosen", chosen);
  json_number("ratio", ratio);
  for (int i = 0; i < device_count; i++)
    json_number(names[i], sides[i].least);
  json_close('}');
}

/* Returns the number of turns if the longest takes `longest` seconds. */
static int rounds_for(double longest) {
  return (int)fmax(fmin(rounds, 3), fmin(rounds, device_seconds / longest));
}

/* --- a context's calls --- */

typedef struct caller {
  tesela_context *context;
  tesela_gemm_desc desc;
  char plan[TEXT]; /* the text of the last plan, from its operation to its device */
} caller;

static void call(bench_side *side) {
  const caller *by = side->state;
  bench_must(tesela_gemm(by->context, &by->desc, NULL), "a product");
}

static void open_caller(const char *device, const auto_product *product, void *const memory[3], caller *out) {
  const bench_case *item = product->item;
  bench_must(tesela_context_create(&(tesela_context_desc){.device = device}, &out->context), "a context");
  out->desc = (tesela_gemm_desc){
      .m = item->size[0],
      .n = item->size[1],
      .k = item->size[2],
      .a = {.data = memory[0], .type = product->types->a, .transpose = item->layout[0] == 'T'},
      .b = {.data = memory[1], .type = product->types->b, .transpose = item->layout[1] == 'T'},
      .c = {.data = memory[2], .type = product->types->c}};
}

/* Reads the plan after the calls, since a race of plans may have replaced the first one. */
static void read_plan(caller *from) {
  tesela_record record;
  bench_must(tesela_gemm(from->context, &from->desc, &record), "a product");
  snprintf(from->plan, sizeof from->plan, "%s", record.plan);
  char *device = strstr(from->plan, "device=");
  if (device)
    device[strcspn(device, " ")] = '\0';
}

/* Writes the device of auto's plan, and whether the fastest device's plan is another one. */
static void describe_choice(const caller *callers, char *text, size_t size) {
  const char *device = strstr(callers[AUTO].plan, "device=");
  const bool is_same = strcmp(callers[AUTO].plan, callers[find_fastest_device()].plan) == 0;
  snprintf(text, size, "%s%s", device ? device + strlen("device=") : "", is_same ? "" : " by another plan");
}

static void repeat(const auto_product *product) {
  caller callers[DEVICES_MAX];
  void *memory[3];
  char chosen[TEXT];
  double longest = 0;
  for (int i = 0; i < 3; i++)
    memory[i] = bench_matrix(tsl_problem_shape(&product->problem, i), TSL_KIND_NORMAL, (uint64_t)i);
  for (int i = 0; i < device_count; i++) {
    open_caller(names[i], product, memory, &callers[i]);
    sides[i] = (bench_side){.name = names[i], .call = call, .state = &callers[i]};
    call(&sides[i]);
    const double start = bench_clock();
    call(&sides[i]);
    longest = fmax(longest, fmax(turn_seconds, bench_clock() - start));
  }
  bench_race(sides, device_count,
             &(bench_turns){.rounds_min = rounds_for(longest),
                            .rounds_max = rounds_for(longest),
                            .sample_seconds = turn_seconds});
  for (int i = 0; i < device_count; i++)
    read_plan(&callers[i]);
  describe_choice(callers, chosen, sizeof chosen);
  print_row(REPEATED, product, chosen);
  bench_sides_free(sides, device_count);
  for (int i = 0; i < device_count; i++)
    tesela_context_destroy(callers[i].context);
  for (int i = 0; i < 3; i++)
    free(memory[i]);
}

/* --- the tool --- */

extern char **environ;

/* Runs the tool with these words and returns the seconds from exec to exit. */
static double run_tool(const char *const *words) {
  posix_spawn_file_actions_t quiet;
  char *arguments[WORDS_MAX] = {NULL};
  pid_t child;
  int status;
  arguments[0] = strdup(tool);
  for (int i = 0; words[i]; i++)
    arguments[i + 1] = strdup(words[i]);
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const double start = bench_clock();
  if (posix_spawn(&child, arguments[0], &quiet, NULL, arguments, environ) != 0 ||
      waitpid(child, &status, 0) < 0)
    bench_stop(tool, "cannot be run");
  const double seconds = bench_clock() - start;
  posix_spawn_file_actions_destroy(&quiet);
  if (status != 0)
    bench_stop(tool, "failed");
  for (int i = 0; arguments[i]; i++)
    free(arguments[i]);
  return seconds;
}

static void point_caches_at(const char *where) {
  static const char *const variables[] = {"TESELA_CACHE_DIR", "POCL_CACHE_DIR", "CUDA_CACHE_PATH"};
  char path[TEXT];
  for (int i = 0; i < COUNT_OF(variables); i++) {
    snprintf(path, sizeof path, "%s/%s-%d", folder, where, i);
    if (mkdir(path, 0700) != 0 && access(path, W_OK) != 0)
      bench_stop(path, "cannot be made");
    setenv(variables[i], path, 1);
  }
}

static double multiply(const bench_case *item, int device) {
  char a[TEXT], b[TEXT], c[TEXT];
  snprintf(a, sizeof a, "%s/a.npy", folder);
  snprintf(b, sizeof b, "%s/b.npy", folder);
  snprintf(c, sizeof c, "%s/c.npy", folder);
  const char *words[WORDS_MAX] = {"multiply", a, b, "-o", c, "--quiet", "--device", names[device]};
  int count = 8;
  if (item->layout[0] == 'T')
    words[count++] = "--transpose-a";
  if (item->layout[1] == 'T')
    words[count++] = "--transpose-b";
  return run_tool(words);
}

/* Writes a random matrix as it lies in memory: a transposed operand has its rows in columns. */
static void make_file(const tsl_shape *shape, bool is_turned, char name, const char *seed) {
  char size[64], path[TEXT];
  snprintf(size, sizeof size, "%" PRId64 "x%" PRId64, is_turned ? shape->cols : shape->rows,
           is_turned ? shape->rows : shape->cols);
  snprintf(path, sizeof path, "%s/%c.npy", folder, name);
  run_tool((const char *[]){"generate", size, "-o", path, "--type", tsl_type(shape->type)->name, "--seed",
                            seed, "--quiet", NULL});
}

static void time_tool(const auto_product *product, way how) {
  static int fresh;
  char where[64];
  double longest = 0;
  for (int i = 0; i < device_count; i++)
    sides[i].least = INFINITY;
  for (int round = 0; round < 2 || round < rounds_for(how == COLD ? sides[AUTO].least : longest); round++)
    for (int i = 0; i < device_count; i++) {
      if (how == COLD && round > 0 && sides[i].least > 2 * sides[AUTO].least)
        continue; /* compiling takes seconds, so this runs once */
      snprintf(where, sizeof where, how == COLD ? "cold-%d" : "warm", how == COLD ? fresh++ : 0);
      point_caches_at(where);
      const double one = multiply(product->item, i);
      if (how == COLD || round > 0) /* the first round is a warm-up */
        sides[i].least = fmin(sides[i].least, one);
      longest = fmax(longest, round > 0 ? one : 0);
    }
  print_row(how, product, "");
}

static void measure(way how, const bench_case *item, const tsl_types *kinds) {
  const auto_product product = {.item = item, .types = kinds, .problem = bench_case_problem(item, kinds)};
  if (!bench_is_within(&product.problem))
    return;
  if (how == REPEATED) {
    repeat(&product);
    return;
  }
  make_file(&product.problem.a, item->layout[0] == 'T', 'a', "1");
  make_file(&product.problem.b, item->layout[1] == 'T', 'b', "2");
  time_tool(&product, how);
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("tool", tool),
                                         OPTION_TEXT("ways", ways),
                                         OPTION_TEXT("types", type_list),
                                         OPTION_TEXT("devices", device_list),
                                         OPTION_COUNT("rounds", rounds),
                                         OPTION_TEXT("json", json_path),
                                         BENCH_CASE_OPTIONS,
                                         OPTIONS_END};
  char command[TEXT];
  bench_gflop_max = 300;
  bench_read(argc, argv, "auto", options, bench_take_case);
  const int type_count = bench_types_parse(type_list, types, TYPES_MAX);
  if (bench_cases.count == 0)
    for (int i = 0; i < COUNT_OF(all_sizes); i++)
      bench_case_add(
          &(bench_case){.size = {all_sizes[i], all_sizes[i], all_sizes[i]}, .batch = 1, .layout = "NN"});
  list_devices();
  if (!mkdtemp(folder))
    bench_stop(folder, "cannot be made");
  json_begin(json_path, "auto");
  json_open("rows", '[');
  printf("microseconds\n%-9s %-5s %-19s", "", "", "");
  for (int i = 0; i < device_count; i++)
    printf(" %12s", names[i]);
  printf("  auto over the best\n");
  for (int how = 0; how < WAYS; how++)
    for (int t = 0; bench_has_word(ways, way_names[how]) && t < type_count; t++)
      for (int i = 0; i < bench_cases.count; i++)
        if (bench_case_has_type(&bench_cases.items[i], t, type_count))
          measure((way)how, &bench_cases.items[i], &types[t]);
  for (int how = 0; how < WAYS; how++)
    if (means[how].count > 0)
      printf("%s: auto over the best device: geometric mean %.3f, the worst %.3f (%s), of %d products\n",
             way_names[how], 1 / bench_mean_value(&means[how]), 1 / means[how].least, means[how].where,
             means[how].count);
  json_close(']');
  json_end();
  snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command) != 0)
    bench_stop(folder, "cannot be removed");
  return 0;
}

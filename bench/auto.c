/* auto [options] [SIZE...]
 *
 * Measures how good the automatic choice of a device is. Prints, for squares, the time on each device, the
 * time with `auto`, and its ratio to the fastest device. All are measured in turn in one run. Three ways:
 *
 *   repeated   repeated tesela_gemm() of one context, without the first call: nanoseconds to seconds
 *   warm       one run of `tesela multiply` on files, from exec to exit, with all kernels compiled before
 *   cold       the same run with empty caches of kernels: tesela's own, PoCL's and CUDA's
 *
 *   --tool PATH    the tool, for warm and cold (build/release/bin/tesela)
 *   --ways LIST    ways: repeated,warm,cold (all)
 *   --type T       f32 or f64 (f32)
 *   --devices LIST devices compared with auto (all)
 *   --rounds N     maximum turns of each device (60); slow runs have fewer, at least three; cold has two
 *   --json FILE    also writes JSON
 *
 * Each time is the shortest of its turns, since other programs only make a run slower. Default sizes: twelve
 * from 64 to 4096. */
#include "json.h"

#include "core/clock.h"
#include "core/random.h"
#include "core/status.h"
#include "device/devices.h"
#define BENCH_NAME "auto"
#include "stop.h"

#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES_MOST = 8, SIZES_MOST = 64, TEXT = 512, WORD = 64, AUTO = 0 };
static const int all_sizes[] = {64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096};
/* The least time of one turn, and of all turns of a device, in seconds. */
static const double turn_seconds = 2e-3, device_seconds = 0.6;

typedef enum way { REPEATED, WARM, COLD, WAYS } way;
static const char *const way_names[WAYS] = {"repeated", "warm", "cold"};

static const char *tool = "build/release/bin/tesela", *json_path, *type_name = "f32";
static bool wanted[WAYS] = {true, true, true};
static char names[DEVICES_MOST][128] = {"auto"}; /* the first name is auto */
static int device_count = 1, sizes[SIZES_MOST], size_count, rounds = 60;
static tesela_type type;
static char folder[] = "/tmp/bench_auto.XXXXXX";
static FILE *json;
static int written;
static struct {
  double worst, logs;
  int count;
} sums[WAYS];

/* --- the command line --- */

static void read_ways(char *list) {
  char *rest = NULL;
  memset(wanted, 0, sizeof wanted);
  for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    int at = 0;
    while (at < WAYS && strcmp(way_names[at], word) != 0)
      at++;
    if (at == WAYS)
      stop(word, "not one of repeated, warm, cold");
    wanted[at] = true;
  }
}

static void add_device(const char *name) {
  if (device_count == DEVICES_MOST)
    stop(name, "there are too many devices");
  snprintf(names[device_count++], sizeof names[0], "%s", name);
}

static void read_devices(char *list) {
  char *rest = NULL;
  tsl_devices *devices;
  tsl_device *device;
  for (char *word = list ? strtok_r(list, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest))
    add_device(word);
  must(tsl_devices_create(&devices), "devices");
  for (int i = 0; !list && (device = tsl_devices_at(devices, i)); i++)
    add_device(device->name);
  tsl_devices_destroy(devices);
}

static void read_options(int argc, char **argv) {
  static const struct option options[] = {
      {"tool", 1, NULL, 't'},   {"ways", 1, NULL, 'w'}, {"type", 1, NULL, 'y'}, {"devices", 1, NULL, 'd'},
      {"rounds", 1, NULL, 'r'}, {"json", 1, NULL, 'j'}, {NULL, 0, NULL, 0}};
  char *devices = NULL;
  int option;
  while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
    switch (option) {
    case 't':
      tool = optarg;
      break;
    case 'w':
      read_ways(optarg);
      break;
    case 'y':
      type_name = optarg;
      break;
    case 'd':
      devices = optarg;
      break;
    case 'r':
      rounds = atoi(optarg);
      break;
    case 'j':
      json_path = optarg;
      break;
    default:
      exit(2);
    }
  type = tsl_type_parse(type_name);
  if (type == TESELA_TYPE_DEFAULT)
    stop(type_name, "not a type");
  for (int i = optind; i < argc && size_count < SIZES_MOST; i++)
    if ((sizes[size_count++] = atoi(argv[i])) < 1)
      stop(argv[i], "not a size");
  for (size_t i = 0; optind == argc && i < sizeof all_sizes / sizeof *all_sizes; i++)
    sizes[size_count++] = all_sizes[i];
  read_devices(devices);
}

/* --- telling --- */

static void tell(way how, int size, const double *seconds, const char *chosen) {
  int best = 1;
  for (int i = 1; i < device_count; i++)
    if (seconds[i] < seconds[best])
      best = i;
  const double ratio = seconds[AUTO] / seconds[best];
  printf("%-9s %5d", way_names[how], size);
  for (int i = 0; i < device_count; i++)
    printf(" %12.1f", seconds[i] * 1e6);
  printf("  %6.3f  best %s%s%s\n", ratio, names[best], *chosen ? ", auto took " : "", chosen);
  fflush(stdout);
  sums[how].worst = fmax(sums[how].worst, ratio);
  sums[how].logs += log(ratio);
  sums[how].count++;
  if (!json)
    return;
  fprintf(json, "%s\n    {\"way\": \"%s\", \"size\": %d, \"ratio\": %.4g", written++ ? "," : "",
          way_names[how], size, ratio);
  for (int i = 0; i < device_count; i++)
    fprintf(json, ", \"%s\": %.6g", names[i], seconds[i]);
  fprintf(json, "}");
}

/* Returns the number of turns if the longest takes `longest` seconds. */
static int rounds_for(double longest) {
  return (int)fmax(fmin(rounds, 3), fmin(rounds, device_seconds / longest));
}

/* --- a context's calls --- */

typedef struct caller {
  tesela_context *context;
  tesela_gemm_desc desc;
  char device[128]; /* the device of the first call's plan */
  int runs;         /* runs in a turn */
} caller;

static double turn(caller *by) {
  const double start = tsl_clock();
  for (int i = 0; i < by->runs; i++)
    must(tesela_gemm(by->context, &by->desc, NULL), "a product");
  return (tsl_clock() - start) / by->runs;
}

static void open_caller(const char *device, int n, void *const memory[3], caller *out) {
  tesela_record record;
  *out = (caller){.runs = 1};
  must(tesela_context_create(&(tesela_context_desc){.device = device}, &out->context), "a context");
  out->desc = (tesela_gemm_desc){.m = n, .n = n, .k = n};
  out->desc.a = (tesela_matrix){.data = memory[0], .type = type};
  out->desc.b = (tesela_matrix){.data = memory[1], .type = type};
  out->desc.c = (tesela_result){.data = memory[2], .type = type};
  must(tesela_gemm(out->context, &out->desc, &record), device);
  const char *at = strstr(record.plan, "device=");
  snprintf(out->device, sizeof out->device, "%.*s", at ? (int)strcspn(at + 7, " ") : 0, at ? at + 7 : "");
  const double once = turn(out);
  out->runs = once < turn_seconds ? (int)(turn_seconds / once) + 1 : 1;
}

static void repeat(int n) {
  const size_t count = (size_t)n * (size_t)n;
  caller callers[DEVICES_MOST];
  double seconds[DEVICES_MOST], longest = 0;
  void *memory[3];
  for (int i = 0; i < 3; i++) {
    if (!(memory[i] = aligned_alloc(4096, (count * 16 + 4095) / 4096 * 4096)))
      stop("memory", "there is not enough");
    tsl_random_fill(TSL_DRAW_NORMAL, (uint64_t)i, 0, type, memory[i], count);
  }
  for (int i = 0; i < device_count; i++) {
    open_caller(names[i], n, memory, &callers[i]);
    seconds[i] = turn(&callers[i]);
    longest = fmax(longest, seconds[i]);
  }
  for (int round = 0; round < rounds_for(longest); round++)
    for (int i = 0; i < device_count; i++)
      seconds[i] = fmin(seconds[i], turn(&callers[i]));
  tell(REPEATED, n, seconds, callers[AUTO].device);
  for (int i = 0; i < device_count; i++)
    tesela_context_destroy(callers[i].context);
  for (int i = 0; i < 3; i++)
    free(memory[i]);
}

/* --- the tool --- */

extern char **environ;

/* Runs a program and returns the seconds from exec to exit. */
static double run(char *const arguments[]) {
  posix_spawn_file_actions_t quiet;
  pid_t child;
  int status;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const double start = tsl_clock();
  if (posix_spawn(&child, arguments[0], &quiet, NULL, arguments, environ) != 0 ||
      waitpid(child, &status, 0) < 0)
    stop(arguments[0], "cannot be run");
  const double seconds = tsl_clock() - start;
  posix_spawn_file_actions_destroy(&quiet);
  if (status != 0)
    stop(arguments[0], "failed");
  return seconds;
}

static void point_caches_at(const char where[WORD]) {
  static const char *const variables[] = {"TESELA_CACHE_DIR", "POCL_CACHE_DIR", "CUDA_CACHE_PATH"};
  char path[TEXT];
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    snprintf(path, sizeof path, "%s/%s-%zu", folder, where, i);
    if (mkdir(path, 0700) != 0 && access(path, W_OK) != 0)
      stop(path, "cannot be made");
    setenv(variables[i], path, 1);
  }
}

static char *copy_of(const char *text) {
  char *made = strdup(text);
  if (!made)
    stop("memory", "there is not enough");
  return made;
}

static double multiply(int n, int device) {
  char a[TEXT], b[TEXT], c[TEXT];
  snprintf(a, sizeof a, "%s/a%d.npy", folder, n);
  snprintf(b, sizeof b, "%s/b%d.npy", folder, n);
  snprintf(c, sizeof c, "%s/c.npy", folder);
  char *words[] = {copy_of(tool),       copy_of("multiply"), a,   b, copy_of("-o"), c, copy_of("--quiet"),
                   copy_of("--device"), names[device],       NULL};
  const double seconds = run(words);
  static const int owned[] = {0, 1, 4, 6, 7};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
    free(words[owned[i]]);
  return seconds;
}

static void make_file(int n, char name, const char *seed) {
  char size[WORD], path[TEXT];
  snprintf(size, sizeof size, "%dx%d", n, n);
  snprintf(path, sizeof path, "%s/%c%d.npy", folder, name, n);
  char *words[] = {
      copy_of(tool),      copy_of("generate"), size,          copy_of("-o"),      path, copy_of("--type"),
      copy_of(type_name), copy_of("--seed"),   copy_of(seed), copy_of("--quiet"), NULL};
  run(words);
  static const int owned[] = {0, 1, 3, 5, 6, 7, 8, 9};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
    free(words[owned[i]]);
}

static void run_tool(int n, way how) {
  static int fresh;
  char where[WORD];
  double seconds[DEVICES_MOST], longest = 0;
  for (int i = 0; i < device_count; i++)
    seconds[i] = INFINITY;
  for (int round = 0; round < 2 || round < rounds_for(how == COLD ? seconds[AUTO] : longest); round++)
    for (int i = 0; i < device_count; i++) {
      if (how == COLD && round > 0 && seconds[i] > 2 * seconds[AUTO])
        continue; /* compiling takes seconds, so this runs once */
      snprintf(where, sizeof where, how == COLD ? "cold-%d" : "warm", how == COLD ? fresh++ : 0);
      point_caches_at(where);
      const double one = multiply(n, i);
      if (how == COLD || round > 0) /* the first round is a warm-up */
        seconds[i] = fmin(seconds[i], one);
      longest = fmax(longest, round > 0 ? one : 0);
    }
  tell(how, n, seconds, "");
}

/* --- */

static void end(void) {
  char command[TEXT];
  for (int how = 0; how < WAYS; how++)
    if (sums[how].count > 0)
      printf("%s: auto over the best device: geometric mean %.3f, the worst "
             "%.3f, of %d sizes\n",
             way_names[how], exp(sums[how].logs / sums[how].count), sums[how].worst, sums[how].count);
  if (json) {
    fprintf(json, "\n  ]\n}\n");
    fclose(json);
  }
  snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command) != 0)
    stop(folder, "cannot be removed");
}

int main(int argc, char **argv) {
  read_options(argc, argv);
  if (!mkdtemp(folder))
    stop(folder, "cannot be made");
  if (json_path) {
    if (!(json = fopen(json_path, "we")))
      stop(json_path, "cannot be written");
    json_begin(json, "auto");
    fprintf(json, ",\n  \"type\": \"%s\", \"rows\": [", type_name);
  }
  printf("%s, microseconds\n%-9s %5s", type_name, "", "");
  for (int i = 0; i < device_count; i++)
    printf(" %12s", names[i]);
  printf("  auto over the best\n");
  for (int how = 0; how < WAYS; how++)
    for (int i = 0; wanted[how] && i < size_count; i++) {
      if (how == REPEATED) {
        repeat(sizes[i]);
        continue;
      }
      make_file(sizes[i], 'a', "1");
      make_file(sizes[i], 'b', "2");
      run_tool(sizes[i], (way)how);
    }
  end();
  return 0;
}

/* small [--types f32,f64] [--rounds N] [--json FILE] [--tesela FILE] MxNxK... -- [DROP_IN] NAME=LIBRARY...
 *
 * Times products that are so small that the call counts. Prints nanoseconds a call, the shortest of many
 * rounds in turn. One thread; dense row-major operands stay in the first cache. Columns:
 *
 *   plan      tesela_plan_run() of a reused plan
 *   one-shot  tesela_gemm()
 *   batch     a product of tesela_gemm_batched() with one A and one B: 256, or as many as C has room for
 *   drop-in   cblas_?gemm of libtesela_blas.so, given by path
 *   NAME      cblas_?gemm of that library, which may be another build's drop-in
 *
 * Another build of tesela (old=PATH/libtesela.so) has columns "plan of old", "one-shot of old" and "batch of
 * old". The option --tesela names the build that is compared with it (this program's). Geometric means are at
 * the end. One is tesela's rates over the other build's, for each column; the other is the drop-in's rates
 * over each library's.
 *
 * Instead of CBLAS's functions a library may have `void *bench_prepare(int is_double, int m, int n, int k)`
 * and `void bench_multiply(void *prepared, const void *a, const void *b, void *c)`: an adapter to a code
 * generator. */
#include "builds.h"
#include "json.h"
#include "peers.h"

#include "core/clock.h"
#define BENCH_NAME "bench_small"
#include "stop.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

enum { PEERS_MAX = 8, ROW_MAJOR = 101, AS_IT_IS = 111, SIZE_MAX_HERE = 512 };

typedef void sgemm_call(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
                        int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void dgemm_call(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                        const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);

/* A build of tesela, with the data of its three ways for the present shape. */
typedef struct tesela_build {
  build call;
  const char *names[3]; /* names of its ways: plan, one-shot, batch */
  tesela_context *context;
  tesela_plan *plan;
} tesela_build;

typedef struct peer {
  const char *name;
  sgemm_call *sgemm;
  dgemm_call *dgemm;
  void *(*prepare)(int is_double, int m, int n, int k);
  void (*multiply)(void *prepared, const void *a, const void *b, void *c);
  void *prepared;
} peer;

static peer peers[PEERS_MAX];
static tesela_build builds[PEERS_MAX + 1] = {
    {.names = {"plan", "one-shot", "batch"}}}; /* the first build is the measured one */
static int peer_count, build_count = 1, rounds = 60;
static const char *types = "f32,f64", *measured;
static int m, n, k;
static bool is_double;
static FILE *json;
static int json_rows;
/* Addresses that are equal modulo a page make a processor mistake loads of one for stores to
 * another. C is half a page from A and B, so that no addresses up to 16 x 16 in f64 collide. */
enum { COUNT = SIZE_MAX_HERE * SIZE_MAX_HERE, B_SHIFT = 8, C_SHIFT = 256 + 24 };
static _Alignas(4096) double memory[3 * COUNT + C_SHIFT];
static double *const a = memory, *const b = memory + COUNT + B_SHIFT, *const c = memory + 2 * COUNT + C_SHIFT;

static void *find(void *library, const char *name) {
  static const char *const prefixes[] = {"cblas_", "scipy_cblas_", ""};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefixes[i], name);
    void *found = dlsym(library, full);
    if (found)
      return found;
  }
  return NULL;
}

/* Loads a build; `library` NULL: the build in this program. */
static void begin_build(tesela_build *setup, const char *name, void *library) {
  const char *lacks = library ? build_find(library, &setup->call) : NULL;
  if (lacks)
    stop(name, lacks);
  if (!library)
    setup->call = build_linked;
  if (setup->call.context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &setup->context,
                                 sizeof(tesela_context_desc)) != TESELA_OK)
    stop(name, setup->call.last_error());
}

static void add_build(const char *name, void *library) {
  static char names[PEERS_MAX + 1][3][48];
  tesela_build *made = &builds[build_count];
  for (int i = 0; i < 3; i++) {
    snprintf(names[build_count][i], sizeof names[build_count][i], "%s of %s", builds[0].names[i], name);
    made->names[i] = names[build_count][i];
  }
  build_count++;
  begin_build(made, name, library);
}

static void add_measured(void) {
  void *library = measured ? build_open(measured) : NULL;
  if (measured && !library)
    stop(measured, dlerror());
  begin_build(&builds[0], "tesela", library);
}

static void add_peer(char *argument) {
  char *path = strchr(argument, '=');
  const char *name = path ? argument : "drop-in";
  if (path)
    *path++ = '\0';
  void *library = build_open(path ? path : argument);
  if (!library)
    stop(argument, dlerror());
  if (peer_count == PEERS_MAX || build_count > PEERS_MAX)
    stop(argument, "too many libraries");
  if (build_is(library)) {
    add_build(name, library);
    return;
  }
  peer *made = &peers[peer_count++];
  made->name = name;
  *(void **)&made->prepare = find(library, "bench_prepare");
  *(void **)&made->multiply = find(library, "bench_multiply");
  *(void **)&made->sgemm = find(library, "sgemm");
  *(void **)&made->dgemm = find(library, "dgemm");
  char says[256];
  peer_says(library, says, sizeof says);
  if (says[0])
    printf("%s: %s\n", made->name, says);
  if (!made->prepare && (!made->sgemm || !made->dgemm))
    stop(argument, "has neither cblas_sgemm and cblas_dgemm nor bench_prepare");
}

static tesela_gemm_desc desc_of(void) {
  const tesela_type type = is_double ? TESELA_F64 : TESELA_F32;
  return (tesela_gemm_desc){.m = m,
                            .n = n,
                            .k = k,
                            .a = {.data = a, .type = type},
                            .b = {.data = b, .type = type},
                            .c = {.data = c},
                            .options.device = "cpu"};
}

/* --- the timed ways: `calls` calls each --- */

typedef struct way way;
struct way {
  const char *name;
  void (*run)(const way *by, int calls);
  const tesela_build *tesela; /* or */
  const peer *peer;
  double best; /* seconds per call */
};

static void run_plan(const way *by, int calls) {
  const tesela_matrix first = {.data = a}, second = {.data = b};
  const tesela_result third = {.data = c};
  tesela_status (*const run)(tesela_plan *, const tesela_operands *, tesela_record *, size_t, size_t) =
      by->tesela->call.plan_run;
  tesela_plan *plan = by->tesela->plan;
  for (int i = 0; i < calls; i++)
    if (run(plan, &(tesela_operands){.a = &first, .b = &second, .c = &third}, NULL, sizeof(tesela_operands),
            0) != TESELA_OK)
      stop(by->name, by->tesela->call.last_error());
}

static void run_one_shot(const way *by, int calls) {
  const tesela_gemm_desc desc = desc_of();
  for (int i = 0; i < calls; i++)
    if (by->tesela->call.call(by->tesela->context, TESELA_GEMM, &desc, NULL, sizeof desc, 0) != TESELA_OK)
      stop(by->name, by->tesela->call.last_error());
}

static int batch_count(void) {
  const int fits = COUNT / (m * n);
  return fits > 256 ? 256 : fits;
}

static void run_batch(const way *by, int calls) {
  const tesela_gemm_desc desc = desc_of();
  const tesela_batch batch = {.count = batch_count(), .c_stride = m * n};
  for (int i = 0; i < calls; i += batch_count())
    if (by->tesela->call.gemm_batched(by->tesela->context, &desc, &batch, NULL, sizeof desc, sizeof batch,
                                      0) != TESELA_OK)
      stop(by->name, by->tesela->call.last_error());
}

static void run_peer(const way *way_of, int calls) {
  const peer *by = way_of->peer;
  if (by->prepare)
    for (int i = 0; i < calls; i++)
      by->multiply(by->prepared, a, b, c);
  else if (is_double)
    for (int i = 0; i < calls; i++)
      by->dgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, 1, a, k, b, n, 0, c, n);
  else
    for (int i = 0; i < calls; i++)
      by->sgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, 1, (const float *)(void *)a, k,
                (const float *)(void *)b, n, 0, (float *)(void *)c, n);
}

static void fill(void) {
  for (int i = 0; i < COUNT; i++) {
    const double x = sin(i + 1.0), y = cos(2.0 * i);
    if (is_double) {
      a[i] = x;
      b[i] = y;
    } else {
      ((float *)(void *)a)[i] = (float)x;
      ((float *)(void *)b)[i] = (float)y;
    }
  }
}

static double at(const double *matrix, int index) {
  return is_double ? matrix[index] : ((const float *)(const void *)matrix)[index];
}

/* Checks a few elements against a plain sum. */
static void check(const char *name) {
  for (int probe = 0; probe < 7; probe++) {
    const int i = probe * 5 % m, j = probe * 11 % n;
    double sum = 0, bound = 0;
    for (int l = 0; l < k; l++) {
      sum += at(a, i * k + l) * at(b, l * n + j);
      bound += fabs(at(a, i * k + l) * at(b, l * n + j));
    }
    if (!(fabs(at(c, i * n + j) - sum) <= (is_double ? 1e-14 : 1e-5) * bound))
      stop(name, "computes something else");
  }
}

/* Lists all ways that multiply this shape, with three ways of each build, the measured build first.
 * Returns their number. */
static int find_ways(way *ways) {
  static void (*const runs[3])(const way *, int) = {run_plan, run_one_shot, run_batch};
  const tesela_gemm_desc desc = desc_of();
  int count = 0;
  for (int i = 0; i < build_count; i++) {
    if (builds[i].call.plan_create(builds[i].context, TESELA_GEMM, &desc, &builds[i].plan, sizeof desc) !=
        TESELA_OK)
      stop(builds[i].names[0], builds[i].call.last_error());
    for (int j = 0; j < 3; j++)
      ways[count++] = (way){builds[i].names[j], runs[j], &builds[i], NULL, INFINITY};
  }
  for (int i = 0; i < peer_count; i++)
    if (!peers[i].prepare || (peers[i].prepared = peers[i].prepare(is_double, m, n, k)))
      ways[count++] = (way){peers[i].name, run_peer, NULL, &peers[i], INFINITY};
  return count;
}

static void take_turns(way *ways, int count) {
  const double flops = 2.0 * m * n * k;
  const int wanted = flops > 2e6 ? 4 : (int)(4e6 / (flops + 2000)),
            calls = (wanted / batch_count() + 1) * batch_count();
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < count; i++) {
      way *now = &ways[(i + round) % count];
      now->run(now, 2);
      const double start = tsl_clock();
      now->run(now, calls);
      const double seconds = (tsl_clock() - start) / calls;
      now->best = seconds < now->best ? seconds : now->best;
    }
}

static void write_row(const way *ways, int count) {
  fprintf(json, "%s\n    {\"type\": \"%s\", \"m\": %d, \"n\": %d, \"k\": %d, \"seconds\": {",
          json_rows++ ? "," : "", is_double ? "f64" : "f32", m, n, k);
  for (int i = 0; i < count; i++) {
    fprintf(json, i > 0 ? ", " : "");
    json_number(json, ways[i].name, ways[i].best);
  }
  fprintf(json, "}, ");
  json_text(json, "plan", build_plan_text(&builds[0].call, builds[0].plan));
  fprintf(json, "}");
}

/* --- one over another --- */

/* Rates of way `one` divided by rates of way `other`, over all shapes. */
typedef struct comparison {
  const char *one, *other;
  ratios ratios;
} comparison;

static comparison comparisons[3 * PEERS_MAX + PEERS_MAX];
static int comparison_count;

static void keep_ratio(const way *way_in, const way *other, const char *shape) {
  int i = 0;
  while (i < comparison_count && (comparisons[i].one != way_in->name || comparisons[i].other != other->name))
    i++;
  if (i == comparison_count)
    comparisons[comparison_count++] = (comparison){.one = way_in->name, .other = other->name};
  ratios_add(&comparisons[i].ratios, other->best / way_in->best, shape);
}

/* Records ratios: each way of another build against the first build's way; the drop-in against
 * every library. */
static void keep_ratios(const way *ways, int count, const char *shape) {
  const way *drop_in = NULL;
  for (int i = 0; i < count; i++)
    if (ways[i].tesela && ways[i].tesela != builds)
      keep_ratio(&ways[i % 3], &ways[i], shape);
    else if (ways[i].peer && drop_in)
      keep_ratio(drop_in, &ways[i], shape);
    else if (ways[i].peer && strcmp(ways[i].name, "drop-in") == 0)
      drop_in = &ways[i];
}

static void compare(void) {
  way ways[PEERS_MAX + 3 * (PEERS_MAX + 1)];
  fill();
  const int count = find_ways(ways);
  for (int i = 0; i < count; i++) {
    memset(c, 0xff, COUNT * sizeof *c);
    ways[i].run(&ways[i], 1);
    check(ways[i].name);
  }
  take_turns(ways, count);
  char shape[32];
  snprintf(shape, sizeof shape, "%s %dx%dx%d", is_double ? "f64" : "f32", m, n, k);
  printf("%-18s", shape);
  for (int i = 0; i < count; i++)
    printf("  %s %.1f (%.1f)", ways[i].name, ways[i].best * 1e9, 2e-9 * m * n * k / ways[i].best);
  printf("  %.24s\n", build_plan_text(&builds[0].call, builds[0].plan));
  fflush(stdout);
  keep_ratios(ways, count, shape);
  if (json)
    write_row(ways, count);
  for (int i = 0; i < build_count; i++)
    builds[i].call.plan_destroy(builds[i].plan);
}

int main(int argc, char **argv) {
  int last = 1;
  setenv("TESELA_BLAS", "auto", 0);
  for (; last < argc && strcmp(argv[last], "--") != 0; last++)
    if (strcmp(argv[last], "--types") == 0 && last + 1 < argc)
      types = argv[++last];
    else if (strcmp(argv[last], "--rounds") == 0 && last + 1 < argc)
      rounds = atoi(argv[++last]);
    else if (strcmp(argv[last], "--tesela") == 0 && last + 1 < argc)
      measured = argv[++last];
    else if (strcmp(argv[last], "--json") == 0 && last + 1 < argc && !(json = fopen(argv[++last], "we")))
      stop(argv[last], "cannot be written");
  peers_warn();
  add_measured();
  for (int i = last + 1; i < argc; i++)
    add_peer(argv[i]);
  if (json) {
    json_begin(json, "bench_small");
    fprintf(json, ",\n  \"threads\": 1, \"rounds\": %d,\n  \"rows\": [", rounds);
  }
  printf("nanoseconds a call (GFLOP/s)\n");
  for (int type = 0; type < 2; type++) {
    is_double = type == 1;
    if (!strstr(types, is_double ? "f64" : "f32"))
      continue;
    for (int i = 1; i < last; i++) {
      if (strncmp(argv[i], "--", 2) == 0) {
        i++;
        continue;
      }
      if (sscanf(argv[i], "%dx%dx%d", &m, &n, &k) != 3 || m < 1 || n < 1 || k < 1 || m > SIZE_MAX_HERE ||
          n > SIZE_MAX_HERE || k > SIZE_MAX_HERE)
        stop(argv[i], "not a shape like 8x8x8, up to 512");
      compare();
    }
  }
  if (json) {
    fprintf(json, "\n  ]\n}\n");
    if (fclose(json) != 0)
      stop("--json", "not all could be written");
  }
  for (int i = 0; i < comparison_count; i++)
    ratios_print(&comparisons[i].ratios, comparisons[i].one, comparisons[i].other);
  for (int i = 0; i < build_count; i++)
    builds[i].call.context_destroy(builds[i].context);
  return 0;
}

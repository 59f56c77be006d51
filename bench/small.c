/* small [--types f32,f64] [--rounds N] [--json FILE] MxNxK... -- [DROP_IN] NAME=LIBRARY...
 *
 * Products so small that the call counts: nanoseconds a call, the least of many rounds in which all take turns, on one
 * thread, dense row-major operands that stay in the first cache. Columns:
 *
 *   plan      tesela_plan_run() on a reused plan
 *   one-shot  tesela_gemm()
 *   batch     a product of tesela_gemm_batched(), 256 of them with one A and one B, or as many as C has room for
 *   drop-in   cblas_?gemm of libtesela_blas.so, given by its path
 *   NAME      cblas_?gemm of that library
 *
 * A library may have, in place of CBLAS's names, `void *bench_prepare(int is_double, int m, int n, int k)` and `void
 * bench_multiply(void *prepared, const void *a, const void *b, void *c)`: an adapter to a generator of code. */
#include "json.h"
#include "peers.h"

#include "base/clock.h"

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

typedef struct peer {
  const char *name; /* of tesela's own: all there is */
  sgemm_call *sgemm;
  dgemm_call *dgemm;
  void *(*prepare)(int is_double, int m, int n, int k);
  void (*multiply)(void *prepared, const void *a, const void *b, void *c);
  void *prepared;
} peer;

static peer peers[PEERS_MAX];
static int peer_count, rounds = 60;
static const char *types = "f32,f64";
static tesela_context *context;
static tesela_plan *plan;
static int m, n, k;
static bool is_double;
static FILE *json;
static int json_rows;
/* Addresses that are the same modulo a page make processors take loads of one for stores to another: C lies half a page
 * from A and B, so that up to 16 x 16 in f64 none are. */
enum { COUNT = SIZE_MAX_HERE * SIZE_MAX_HERE, B_SHIFT = 8, C_SHIFT = 256 + 24 };
static _Alignas(4096) double memory[3 * COUNT + C_SHIFT];
static double *const a = memory, *const b = memory + COUNT + B_SHIFT, *const c = memory + 2 * COUNT + C_SHIFT;

static _Noreturn void stop(const char *what, const char *why) {
  fprintf(stderr, "bench_small: %s: %s\n", what, why);
  exit(1);
}

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

static void add_peer(char *argument) {
  char *path = strchr(argument, '=');
  if (peer_count == PEERS_MAX)
    stop(argument, "too many libraries");
  peer *made = &peers[peer_count++];
  made->name = path ? argument : "drop-in";
  if (path)
    *path++ = '\0';
  void *library = dlopen(path ? path : argument, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    stop(argument, dlerror());
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
                            .device = "cpu"};
}

/* --- what is timed: `calls` calls each --- */

static void run_plan(const peer *by, int calls) {
  const tesela_matrix first = {.data = a}, second = {.data = b}, third = {.data = c};
  (void)by;
  for (int i = 0; i < calls; i++)
    if (tesela_plan_run(plan, &first, &second, &third, NULL) != TESELA_OK)
      stop("plan", tesela_last_error());
}

static void run_one_shot(const peer *by, int calls) {
  const tesela_gemm_desc desc = desc_of();
  (void)by;
  for (int i = 0; i < calls; i++)
    if (tesela_gemm(context, &desc, NULL) != TESELA_OK)
      stop("one-shot", tesela_last_error());
}

static int batch_count(void) {
  const int fits = COUNT / (m * n);
  return fits > 256 ? 256 : fits;
}

static void run_batch(const peer *by, int calls) {
  const tesela_gemm_desc desc = desc_of();
  const tesela_batch batch = {.count = batch_count(), .c_stride = m * n};
  (void)by;
  for (int i = 0; i < calls; i += batch_count())
    if (tesela_gemm_batched(context, &desc, &batch, NULL) != TESELA_OK)
      stop("batch", tesela_last_error());
}

static void run_peer(const peer *by, int calls) {
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

typedef struct way {
  void (*run)(const peer *by, int calls);
  const peer *by;
  double best; /* seconds a call */
} way;

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

/* A few elements, against a plain sum. */
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

static void compare(void) {
  static const peer own[] = {{.name = "plan"}, {.name = "one-shot"}, {.name = "batch"}};
  way ways[PEERS_MAX + 3] = {
      {run_plan, &own[0], INFINITY}, {run_one_shot, &own[1], INFINITY}, {run_batch, &own[2], INFINITY}};
  const tesela_gemm_desc desc = desc_of();
  const double flops = 2.0 * m * n * k;
  const int wanted = flops > 2e6 ? 4 : (int)(4e6 / (flops + 2000)),
            calls = (wanted / batch_count() + 1) * batch_count();
  int count = 3;
  fill();
  if (tesela_plan_create(context, &desc, &plan) != TESELA_OK)
    stop("a plan", tesela_last_error());
  for (int i = 0; i < peer_count; i++) {
    if (peers[i].prepare && !(peers[i].prepared = peers[i].prepare(is_double, m, n, k)))
      continue;
    ways[count++] = (way){run_peer, &peers[i], INFINITY};
  }
  for (int i = 0; i < count; i++) {
    memset(c, 0xff, COUNT * sizeof *c);
    ways[i].run(ways[i].by, 1);
    check(ways[i].by->name);
  }
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < count; i++) {
      way *now = &ways[(i + round) % count];
      now->run(now->by, 2);
      const double start = tsl_clock();
      now->run(now->by, calls);
      const double seconds = (tsl_clock() - start) / calls;
      now->best = seconds < now->best ? seconds : now->best;
    }
  char shape[32];
  snprintf(shape, sizeof shape, "%dx%dx%d", m, n, k);
  printf("%s %-14s", is_double ? "f64" : "f32", shape);
  for (int i = 0; i < count; i++)
    printf("  %s %.1f (%.1f)",
           ways[i].by ? ways[i].by->name
           : i == 0   ? "plan"
                      : "one-shot",
           ways[i].best * 1e9, flops / ways[i].best * 1e-9);
  printf("  %.24s\n", tesela_plan_describe(plan));
  if (json) {
    fprintf(json, "%s\n    {\"type\": \"%s\", \"m\": %d, \"n\": %d, \"k\": %d, \"seconds\": {",
            json_rows++ ? "," : "", is_double ? "f64" : "f32", m, n, k);
    for (int i = 0; i < count; i++) {
      fprintf(json, i > 0 ? ", " : "");
      json_number(json, ways[i].by->name, ways[i].best);
    }
    fprintf(json, "}, ");
    json_text(json, "plan", tesela_plan_describe(plan));
    fprintf(json, "}");
  }
  tesela_plan_destroy(plan);
}

int main(int argc, char **argv) {
  int last = 1;
  setenv("TESELA_BLAS", "auto", 0);
  for (; last < argc && strcmp(argv[last], "--") != 0; last++)
    if (strcmp(argv[last], "--types") == 0 && last + 1 < argc)
      types = argv[++last];
    else if (strcmp(argv[last], "--rounds") == 0 && last + 1 < argc)
      rounds = atoi(argv[++last]);
    else if (strcmp(argv[last], "--json") == 0 && last + 1 < argc && !(json = fopen(argv[++last], "we")))
      stop(argv[last], "cannot be written");
  peers_warn();
  for (int i = last + 1; i < argc; i++)
    add_peer(argv[i]);
  if (tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &context) != TESELA_OK)
    stop("a context", tesela_last_error());
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
  tesela_context_destroy(context);
  return 0;
}

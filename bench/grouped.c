/* grouped [--seconds S] [--threads N] DROP_IN NAME=LIBRARY...
 *
 * Times groups of f32 products with different sizes, in turn in one process: tesela_gemm_grouped(),
 * tesela_gemm() in a loop, and the drop-in's cblas_sgemm_batch. For each library also cblas_sgemm_batch, if
 * it has one (NAME batch), and cblas_sgemm in a loop (NAME loop). Prints the median of GFLOP/s, and its ratio
 * to the loop over tesela_gemm(). N threads (all). */
#include "builds.h"
#include "peers.h"

#include "core/clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
  ROW_MAJOR = 101,
  AS_IT_IS = 111,
  WAYS_MAX = 12,
  PRODUCTS_MAX = 512,
  ROUNDS_MAX = 400,
  ROUNDS_LEAST = 9
};

typedef void sgemm_call(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
                        int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void batch_call(int order, const int *trans_a, const int *trans_b, const int *m, const int *n,
                        const int *k, const float *alpha, const float **a, const int *lda, const float **b,
                        const int *ldb, const float *beta, float **c, const int *ldc, int groups,
                        const int *size);

typedef struct way {
  char name[40];
  sgemm_call *sgemm;
  batch_call *batch;
  bool grouped; /* grouped: tesela_gemm_grouped(), else a loop; applies without a library */
  double seconds[ROUNDS_MAX];
} way;

/* Groups as those come that programs multiply: sizes from low to high, of which m alone changes with experts.
 */
typedef struct shape {
  const char *name;
  int count, m[2], n[2], k[2], large; /* products, and the size of one more product; 0: none */
} shape;
static const shape shapes[] = {
    {"experts 64 x (1..128) x 512 x 512", 64, {1, 128}, {512, 512}, {512, 512}, 0},
    {"experts 16 x (16..256) x 1024 x 1024", 16, {16, 256}, {1024, 1024}, {1024, 1024}, 0},
    {"512 of 8..32", 512, {8, 32}, {8, 32}, {8, 32}, 0},
    {"256 of 16..100", 256, {16, 100}, {16, 100}, {16, 100}, 0},
    {"256 of 16..64 and one of 768", 256, {16, 64}, {16, 64}, {16, 64}, 768},
    {"3 of 512", 3, {512, 512}, {512, 512}, {512, 512}, 0}};

static way ways[WAYS_MAX];
static int way_count;
static tesela_context *context;
static double seconds = 2;
static int m[PRODUCTS_MAX], n[PRODUCTS_MAX], k[PRODUCTS_MAX], sizes[PRODUCTS_MAX], trans[PRODUCTS_MAX],
    products;
static const float *as[PRODUCTS_MAX], *bs[PRODUCTS_MAX];
static float *cs[PRODUCTS_MAX], *memory, ones[PRODUCTS_MAX], zeroes[PRODUCTS_MAX];
static tesela_gemm_desc descs[PRODUCTS_MAX];

static _Noreturn void stop(const char *what, const char *why) {
  fprintf(stderr, "bench_grouped: %s: %s\n", what, why);
  exit(1);
}

static void add(char *argument) {
  char *path = strchr(argument, '=');
  const char *name = path ? argument : "drop-in";
  if (path)
    *path++ = '\0';
  void *library = build_open(path ? path : argument);
  sgemm_call *sgemm;
  batch_call *batch;
  if (!library)
    stop(argument, dlerror());
  *(void **)&sgemm = dlsym(library, "cblas_sgemm");
  *(void **)&batch = dlsym(library, "cblas_sgemm_batch");
  if (!sgemm || way_count + 2 > WAYS_MAX)
    stop(name, sgemm ? "too many libraries" : "has no cblas_sgemm");
  char says[256];
  peer_says(library, says, sizeof says);
  if (says[0])
    printf("%s: %s\n", name, says);
  if (batch) {
    ways[way_count].batch = batch;
    snprintf(ways[way_count++].name, sizeof ways->name, "%s batch", name);
  }
  ways[way_count].sgemm = sgemm;
  snprintf(ways[way_count++].name, sizeof ways->name, "%s loop", name);
}

static uint64_t state = 1;
static int draw(const int range[2]) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return range[0] + (int)((state >> 33) % (uint64_t)(range[1] - range[0] + 1));
}

/* Draws a group and returns its operations. Each product has its own operands: small whole numbers,
 * whose sums are exact. */
static double draw_group(const shape *shape_in) {
  double flops = 0;
  size_t need = 0, at = 0;
  products = shape_in->count + (shape_in->large > 0);
  for (int i = 0; i < products; i++) {
    const bool is_large = i == shape_in->count;
    m[i] = is_large ? shape_in->large : draw(shape_in->m);
    n[i] = is_large ? shape_in->large : draw(shape_in->n);
    k[i] = is_large ? shape_in->large : draw(shape_in->k);
    need += (size_t)m[i] * (size_t)k[i] + (size_t)k[i] * (size_t)n[i] + (size_t)m[i] * (size_t)n[i];
    flops += 2.0 * m[i] * n[i] * k[i];
  }
  free(memory);
  memory = malloc(need * sizeof *memory);
  if (!memory)
    stop("memory", "is not enough");
  for (size_t i = 0; i < need; i++)
    memory[i] = (float)(i % 7) - 3;
  for (int i = 0; i < products; i++) {
    as[i] = memory + at;
    bs[i] = as[i] + (size_t)m[i] * (size_t)k[i];
    cs[i] = memory + at + (size_t)m[i] * (size_t)k[i] + (size_t)k[i] * (size_t)n[i];
    at += (size_t)m[i] * (size_t)k[i] + (size_t)k[i] * (size_t)n[i] + (size_t)m[i] * (size_t)n[i];
    sizes[i] = 1;
    trans[i] = AS_IT_IS;
    ones[i] = 1;
    descs[i] = (tesela_gemm_desc){
        .m = m[i], .n = n[i], .k = k[i], .a = {.data = as[i]}, .b = {.data = bs[i]}, .c = {.data = cs[i]}};
  }
  return flops;
}

static void multiply(const way *by) {
  tesela_status status = TESELA_OK;
  if (by->batch)
    by->batch(ROW_MAJOR, trans, trans, m, n, k, ones, as, k, bs, n, zeroes, cs, n, products, sizes);
  else if (!by->sgemm && by->grouped)
    status = tesela_gemm_grouped(context, descs, NULL, products, NULL);
  for (int i = 0; i < products && !by->batch && !by->grouped && status == TESELA_OK; i++)
    if (by->sgemm)
      by->sgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m[i], n[i], k[i], 1, as[i], k[i], bs[i], n[i], 0, cs[i], n[i]);
    else
      status = tesela_gemm(context, &descs[i], NULL);
  if (status != TESELA_OK)
    stop(by->name, tesela_last_error());
}

/* Checks one element of each product. */
static void check(const way *by) {
  for (int i = 0; i < products; i++)
    cs[i][(size_t)m[i] * (size_t)n[i] / 2] = -1e9F;
  multiply(by);
  for (int i = 0; i < products; i++) {
    const size_t element = (size_t)m[i] * (size_t)n[i] / 2, row = element / (size_t)n[i],
                 col = element % (size_t)n[i];
    double sum = 0;
    for (size_t l = 0; l < (size_t)k[i]; l++)
      sum += (double)as[i][row * (size_t)k[i] + l] * (double)bs[i][l * (size_t)n[i] + col];
    if (cs[i][element] != (float)sum)
      stop(by->name, "computes something else");
  }
}

static int by_size(const void *x, const void *y) {
  const double one = *(const double *)x, other = *(const double *)y;
  return (one > other) - (one < other);
}

/* Compares the ways. `changes`: sizes are drawn anew for each round, as in each step of a network. */
static void compare(const shape *shape_in, bool changes) {
  const double end = tsl_clock() + seconds;
  double flops = draw_group(shape_in), loop = 0;
  int rounds = 0;
  for (int w = 0; w < way_count; w++)
    check(&ways[w]);
  for (; rounds < ROUNDS_MAX && (rounds < ROUNDS_LEAST || tsl_clock() < end); rounds++) {
    flops = changes ? draw_group(shape_in) : flops;
    for (int turn = 0; turn < way_count; turn++) {
      way *now = &ways[(turn + rounds) % way_count];
      const double start = tsl_clock();
      multiply(now);
      now->seconds[rounds] = (tsl_clock() - start) / flops;
    }
  }
  printf("%s%s\n", shape_in->name, changes ? ", drawn anew" : "");
  for (int w = way_count - 1; w >= 0; w--) {
    qsort(ways[w].seconds, (size_t)rounds, sizeof *ways[w].seconds, by_size);
    loop = strcmp(ways[w].name, "tesela loop") == 0 ? ways[w].seconds[rounds / 2] : loop;
  }
  for (int w = 0; w < way_count; w++)
    printf("  %-16s %8.1f GFLOP/s  %.2f\n", ways[w].name, 1e-9 / ways[w].seconds[rounds / 2],
           loop / ways[w].seconds[rounds / 2]);
  fflush(stdout);
}

int main(int argc, char **argv) {
  int threads = 0, i = 1;
  for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
    if (strcmp(argv[i], "--seconds") == 0)
      seconds = strtod(argv[i + 1], NULL);
    else if (strcmp(argv[i], "--threads") == 0)
      threads = (int)strtol(argv[i + 1], NULL, 10);
    else
      stop(argv[i], "is no option");
  }
  if (threads > 0) {
    setenv("OPENBLAS_NUM_THREADS", argv[i - 1], 1);
    setenv("TESELA_THREADS", argv[i - 1], 1);
  }
  if (tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = threads}, &context) !=
      TESELA_OK)
    stop("context", tesela_last_error());
  ways[way_count].grouped = true;
  snprintf(ways[way_count++].name, sizeof ways->name, "tesela grouped");
  snprintf(ways[way_count++].name, sizeof ways->name, "tesela loop");
  for (; i < argc; i++)
    add(argv[i]);
  peers_warn();
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    compare(&shapes[s], false);
    if (shapes[s].m[0] != shapes[s].m[1])
      compare(&shapes[s], true);
  }
  free(memory);
  tesela_context_destroy(context);
  return 0;
}

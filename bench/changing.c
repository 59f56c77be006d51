/* changing [--seconds S] [--types s,d] DROP_IN NAME=LIBRARY... [-- LOW:HIGH...]
 *
 * Times products whose shape changes with every call: m, n and k are drawn from LOW to HIGH. Every call has a
 * new shape, so the code before the kernel counts, with branches that the processor predicts wrongly. Each
 * round draws some hundred products, and all libraries compute them in turn, in the same order. Prints
 * nanoseconds a product of each library, summed over the rounds whose time is below the library's median.
 * Columns:
 *
 *   public    tesela_gemm() of the library in this program
 *   drop-in   cblas_?gemm of libtesela_blas.so
 *   NAME      cblas_?gemm of that library, and the drop-in's speed relative to it */
#include "builds.h"
#include "peers.h"

#include "core/clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
  ROW_MAJOR = 101,
  AS_IT_IS = 111,
  PEERS_MAX = 6,
  DRAWN = 256,
  ROUNDS_MAX = 2000,
  ROUNDS_LEAST = 20,
  SIZE_MAX_HERE = 512
};

typedef void sgemm_call(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
                        int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void dgemm_call(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                        const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);

typedef struct contender {
  const char *name;
  sgemm_call *sgemm; /* both NULL: tesela's public call */
  dgemm_call *dgemm;
  double seconds[ROUNDS_MAX];
} contender;

static contender contenders[PEERS_MAX];
static int contender_count;
static double seconds = 1;
static const char *types = "s,d";
static tesela_context *context;
static int drawn[DRAWN][3];
static _Alignas(64) double memory[3 * SIZE_MAX_HERE * SIZE_MAX_HERE];
static double *const a = memory, *const b = memory + SIZE_MAX_HERE * SIZE_MAX_HERE + 72,
                     *const c = memory + 2 * SIZE_MAX_HERE * SIZE_MAX_HERE + 168;

static _Noreturn void stop(const char *what, const char *why) {
  fprintf(stderr, "bench_changing: %s: %s\n", what, why);
  exit(1);
}

static void *find(void *library, const char *name) {
  static const char *const prefixes[] = {"cblas_", "scipy_cblas_"};
  void *found = NULL;
  for (size_t i = 0; !found && i < sizeof prefixes / sizeof *prefixes; i++) {
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefixes[i], name);
    found = dlsym(library, full);
  }
  return found;
}

static void add(char *argument) {
  char *path = strchr(argument, '=');
  const char *name = path ? argument : "drop-in";
  if (path)
    *path++ = '\0';
  void *library = build_open(path ? path : argument);
  if (!library)
    stop(argument, dlerror());
  if (contender_count == PEERS_MAX)
    stop(argument, "too many libraries");
  contender *made = &contenders[contender_count++];
  made->name = name;
  *(void **)&made->sgemm = find(library, "sgemm");
  *(void **)&made->dgemm = find(library, "dgemm");
  if (!made->sgemm || !made->dgemm)
    stop(name, "has not both of cblas_sgemm and cblas_dgemm");
  char says[256];
  peer_says(library, says, sizeof says);
  if (says[0])
    printf("%s: %s\n", name, says);
}

static void multiply(const contender *by, bool is_double, int m, int n, int k) {
  if (by->sgemm && is_double) {
    by->dgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, 1, a, k, b, n, 0, c, n);
  } else if (by->sgemm) {
    by->sgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, 1, (const float *)(void *)a, k,
              (const float *)(void *)b, n, 0, (float *)(void *)c, n);
  } else {
    const tesela_type type = is_double ? TESELA_F64 : TESELA_F32;
    const tesela_gemm_desc desc = {.m = m,
                                   .n = n,
                                   .k = k,
                                   .a = {.data = a, .type = type},
                                   .b = {.data = b, .type = type},
                                   .c = {.data = c},
                                   .options.device = "cpu"};
    if (tesela_gemm(context, &desc, NULL) != TESELA_OK)
      stop(by->name, tesela_last_error());
  }
}

static uint64_t state = 1;
static int draw(int low, int high) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return low + (int)((state >> 33) % (uint64_t)(high - low + 1));
}

static void fill(bool is_double) {
  for (int i = 0; i < (int)(sizeof memory / sizeof *memory); i++)
    if (is_double)
      memory[i] = i % 13 - 6;
    else
      ((float *)(void *)memory)[2 * i] = ((float *)(void *)memory)[2 * i + 1] = (float)(i % 13 - 6);
}

static double at(const double *matrix, bool is_double, int index) {
  return is_double ? matrix[index] : ((const float *)(const void *)matrix)[index];
}

/* Checks a contender with small whole numbers, whose sums are exact. */
static void check(const contender *by, bool is_double, const int *shape) {
  const int m = shape[0], n = shape[1], k = shape[2];
  memset(c, 0xff, (size_t)m * (size_t)n * sizeof *c);
  multiply(by, is_double, m, n, k);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++)
        sum += at(a, is_double, i * k + l) * at(b, is_double, l * n + j);
      if (at(c, is_double, i * n + j) != sum)
        stop(by->name, "computes something else");
    }
}

static int by_size(const void *x, const void *y) {
  const double one = *(const double *)x, other = *(const double *)y;
  return (one > other) - (one < other);
}

/* Returns nanoseconds per product, over the faster half of the rounds. */
static double nanoseconds_of(contender *contender_in, int rounds) {
  double sum = 0;
  qsort(contender_in->seconds, (size_t)rounds, sizeof *contender_in->seconds, by_size);
  for (int i = 0; i < rounds / 2; i++)
    sum += contender_in->seconds[i];
  return 1e9 * sum / (rounds / 2);
}

static void compare(bool is_double, int low, int high) {
  const double end = tsl_clock() + seconds;
  int rounds = 0;
  fill(is_double);
  for (; rounds < ROUNDS_MAX && (rounds < ROUNDS_LEAST || tsl_clock() < end); rounds++) {
    for (int i = 0; i < DRAWN; i++)
      for (int size = 0; size < 3; size++)
        drawn[i][size] = draw(low, high);
    for (int turn = 0; turn < contender_count; turn++) {
      contender *now = &contenders[(turn + rounds) % contender_count];
      if (rounds < 4)
        check(now, is_double, drawn[rounds]);
      const double start = tsl_clock();
      for (int i = 0; i < DRAWN; i++)
        multiply(now, is_double, drawn[i][0], drawn[i][1], drawn[i][2]);
      now->seconds[rounds] = (tsl_clock() - start) / DRAWN;
    }
  }
  double of_drop_in = 0;
  printf("%c %3d to %3d", is_double ? 'd' : 's', low, high);
  for (contender *one = contenders; one < contenders + contender_count; one++) {
    const double nanoseconds = nanoseconds_of(one, rounds);
    if (strcmp(one->name, "drop-in") == 0)
      of_drop_in = nanoseconds;
    printf("  %s %.1f", one->name, nanoseconds);
    if (of_drop_in > 0 && one > &contenders[1])
      printf(" (%.3f)", nanoseconds / of_drop_in);
  }
  printf("\n");
  fflush(stdout);
}

static void compare_all(int low, int high) {
  if (low < 1 || high < low || high > SIZE_MAX_HERE)
    stop("sizes", "not LOW:HIGH, from 1 to 512");
  if (strchr(types, 's'))
    compare(false, low, high);
  if (strchr(types, 'd'))
    compare(true, low, high);
}

int main(int argc, char **argv) {
  static const char *const variables[] = {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS",
                                          "TESELA_THREADS"};
  static const int ranges[][2] = {{1, 16}, {8, 32}, {16, 100}};
  int at_word = 1;
  setenv("TESELA_BLAS", "auto", 0);
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    setenv(variables[i], "1", 1);
  peers_warn();
  if (tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &context) != TESELA_OK)
    stop("tesela", tesela_last_error());
  contenders[contender_count++] = (contender){.name = "public"};
  for (; at_word < argc && strcmp(argv[at_word], "--") != 0; at_word++)
    if (strcmp(argv[at_word], "--seconds") == 0 && at_word + 1 < argc)
      seconds = atof(argv[++at_word]);
    else if (strcmp(argv[at_word], "--types") == 0 && at_word + 1 < argc)
      types = argv[++at_word];
    else
      add(argv[at_word]);
  printf("nanoseconds a product (over the drop-in's)\n");
  if (at_word + 1 >= argc)
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
      compare_all(ranges[i][0], ranges[i][1]);
  for (at_word++; at_word < argc; at_word++) {
    int low = 0, high = 0;
    if (sscanf(argv[at_word], "%d:%d", &low, &high) != 2)
      stop(argv[at_word], "not LOW:HIGH");
    compare_all(low, high);
  }
  tesela_context_destroy(context);
  return 0;
}

/* blas_crossover DROP_IN OTHER [THREADS [LETTERS]]
 *
 * Finds the size from which tesela is faster than another BLAS, through the same symbols. Both libraries are
 * opened by path; every round runs both in alternating order. Prints the shortest time of a call in
 * microseconds and other / tesela, for products, triangles of products, dots and transposed copies. At the
 * end prints the geometric mean and the lowest of these ratios. The peers of src/dispatch/crossovers.h come
 * from this. OTHER may be another build's drop-in. */
#include "builds.h"
#include "peers.h"

#include "core/clock.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 41, ROUNDS_LEAST = 5, SIDES = 2, BYTES_OF_NAME = 64 };
static const double seconds_of_a_round = 0.0005, seconds_of_a_row = 0.4;

typedef void gemm(const char *, const char *, const int *, const int *, const int *, const void *,
                  const void *, const int *, const void *, const int *, const void *, void *, const int *);
typedef void gemmt(const char *, const char *, const char *, const int *, const int *, const void *,
                   const void *, const int *, const void *, const int *, const void *, void *, const int *);
typedef float sdot(const int *, const void *, const int *, const void *, const int *);
typedef double ddot(const int *, const void *, const int *, const void *, const int *);
typedef void omatcopy(const char *, const char *, const int *, const int *, const void *, const void *,
                      const int *, void *, const int *);

static int is_single(char letter) {
  return letter == 's' || letter == 'c';
}
static int is_complex(char letter) {
  return letter == 'c' || letter == 'z';
}

/* One call of either library, with its arguments. */
typedef struct task {
  const char *kind;
  char letter; /* s, d, c, z */
  int m, n, k;
  void *a, *b, *c;
  void (*function)(void);
} task;

static void call(const task *t) {
  static const float one_f32[2] = {1}, zero_f32[2] = {0};
  static const double one_f64[2] = {1}, zero_f64[2] = {0};
  static volatile double kept;
  static const int unit = 1;
  const int single = is_single(t->letter);
  const void *one = single ? (const void *)one_f32 : one_f64,
             *zero = single ? (const void *)zero_f32 : zero_f64;
  if (strcmp(t->kind, "gemm") == 0)
    ((gemm *)t->function)("N", "N", &t->m, &t->n, &t->k, one, t->a, &t->m, t->b, &t->k, zero, t->c, &t->m);
  else if (strcmp(t->kind, "gemmt") == 0)
    ((gemmt *)t->function)("L", "N", "N", &t->n, &t->k, one, t->a, &t->n, t->b, &t->k, zero, t->c, &t->n);
  else if (strcmp(t->kind, "omatcopy") == 0)
    ((omatcopy *)t->function)("C", "T", &t->m, &t->n, one, t->a, &t->m, t->c, &t->n);
  else if (single)
    kept = ((sdot *)t->function)(&t->m, t->a, &unit, t->b, &unit);
  else
    kept = ((ddot *)t->function)(&t->m, t->a, &unit, t->b, &unit);
  (void)kept;
}

static double seconds_of(const task *t, int calls) {
  const double start = tsl_clock();
  for (int i = 0; i < calls; i++)
    call(t);
  return (tsl_clock() - start) / calls;
}

static void *filled(size_t elements, char letter) {
  const size_t count = elements * (is_complex(letter) ? 2 : 1);
  double *data = malloc(count * sizeof *data + 64);
  for (size_t i = 0; data && i < count; i++) {
    const double value = (double)(i % 13) - 6;
    if (is_single(letter))
      ((float *)data)[i] = (float)value;
    else
      data[i] = value;
  }
  return data;
}

static void *symbol_of(void *library, const char *kind, char letter) {
  char name[BYTES_OF_NAME];
  snprintf(name, sizeof name, "scipy_%c%s_", letter, kind);
  void *symbol = dlsym(library, name + strlen("scipy_"));
  return symbol ? symbol : dlsym(library, name);
}

static ratios all;

static void compare(void *const libraries[SIDES], task t) {
  void (*functions[SIDES])(void);
  double best[SIDES] = {INFINITY, INFINITY};
  int calls[SIDES];
  for (int side = 0; side < SIDES; side++) {
    void *symbol = symbol_of(libraries[side], t.kind, t.letter);
    if (!symbol)
      return;
    memcpy(&functions[side], &symbol, sizeof symbol);
  }
  const int is_dot = strcmp(t.kind, "dot") == 0, is_gemm = strncmp(t.kind, "gemm", 4) == 0;
  t.a = filled(is_dot ? (size_t)t.m : (size_t)t.m * (size_t)(is_gemm ? t.k : t.n), t.letter);
  t.b = filled(is_dot ? (size_t)t.m : is_gemm ? (size_t)t.k * (size_t)t.n : 1, t.letter);
  t.c = filled(is_dot ? 1 : (size_t)t.m * (size_t)t.n, t.letter);
  for (int side = 0; side < SIDES; side++) {
    t.function = functions[side];
    call(&t);
    const double once = seconds_of(&t, 1);
    calls[side] = once < seconds_of_a_round ? (int)(seconds_of_a_round / once) + 1 : 1;
  }
  const double end = tsl_clock() + seconds_of_a_row;
  for (int round = 0; round < ROUNDS && (round < ROUNDS_LEAST || tsl_clock() < end); round++)
    for (int turn = 0; turn < SIDES; turn++) {
      const int side = (round + turn) % SIDES;
      t.function = functions[side];
      best[side] = fmin(best[side], seconds_of(&t, calls[side]));
    }
  printf("%c%-9s %6d %6d %6d %12.2f %12.2f %8.3f\n", t.letter, t.kind, t.m, t.n, t.k, 1e6 * best[0],
         1e6 * best[1], best[1] / best[0]);
  fflush(stdout);
  char where[64];
  snprintf(where, sizeof where, "%c%s %d %d %d", t.letter, t.kind, t.m, t.n, t.k);
  ratios_add(&all, best[1] / best[0], where);
  free(t.a);
  free(t.b);
  free(t.c);
}

static const int edges[] = {4, 8, 16, 32, 48, 64, 96, 128, 160, 192, 256, 384, 512, 1024};
static const int thin[][3] = {{9, 1000, 1000},  {12, 1000, 1000}, {15, 1000, 1000}, {1000, 9, 1000},
                              {1000, 12, 1000}, {1000, 15, 1000}, {1000, 1000, 9},  {1000, 1000, 12},
                              {1000, 1000, 15}, {1000, 1000, 16}, {1000, 1000, 32}, {1000, 1000, 64},
                              {16, 1000, 1000}, {32, 1000, 1000}, {64, 1000, 1000}, {1000, 16, 1000},
                              {1000, 32, 1000}, {1000, 64, 1000}};
static const int triangles[] = {32, 64, 96, 128, 192, 256, 512};
static const int lengths[] = {100, 1000, 10000, 100000, 1000000, 10000000};
static const int copies[] = {32, 100, 200, 300, 400, 500, 700, 1000, 3000};

#define EACH(array) (int i = 0; i < (int)(sizeof array / sizeof *array); i++)

int main(int argc, char **argv) {
  void *libraries[SIDES];
  if (argc < 3) {
    fprintf(stderr, "usage: blas_crossover DROP_IN OTHER [THREADS [LETTERS]], letters of sdcz\n");
    return 2;
  }
  const char *threads = argc > 3 ? argv[3] : "1", *letters = argc > 4 ? argv[4] : "sdcz";
  setenv("TESELA_BLAS", "tesela", 1);
  static const char *const variables[] = {"TESELA_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                                          "MKL_NUM_THREADS"};
  for
    EACH(variables)
  setenv(variables[i], threads, 1);
  for (int side = 0; side < SIDES; side++) {
    libraries[side] = build_open(argv[1 + side]);
    if (!libraries[side]) {
      fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
  }
  char says[256];
  peer_says(libraries[1], says, sizeof says);
  peers_warn();
  printf("other: %s\n", says);
  printf("%-10s %6s %6s %6s %12s %12s %8s\n", "routine", "m", "n", "k", "tesela us", "other us", "ratio");
  for (const char *letter = letters; *letter; letter++) {
    for
      EACH(edges)
    compare(libraries,
            (task){.kind = "gemm", .letter = *letter, .m = edges[i], .n = edges[i], .k = edges[i]});
    for
      EACH(thin)
    compare(libraries,
            (task){.kind = "gemm", .letter = *letter, .m = thin[i][0], .n = thin[i][1], .k = thin[i][2]});
    for
      EACH(triangles)
    compare(
        libraries,
        (task){.kind = "gemmt", .letter = *letter, .m = triangles[i], .n = triangles[i], .k = triangles[i]});
    for
      EACH(lengths)
    if (!is_complex(*letter))
      compare(libraries, (task){.kind = "dot", .letter = *letter, .m = lengths[i]});
    for
      EACH(copies)
    compare(libraries, (task){.kind = "omatcopy", .letter = *letter, .m = copies[i], .n = copies[i]});
  }
  ratios_print(&all, "tesela", "other");
  return 0;
}

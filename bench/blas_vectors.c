/* blas_vectors DROP_IN OTHER [THREADS [LETTERS [MOST [ROUTINES]]]]
 *
 * Compares levels 1 and 2 of the drop-in with another BLAS, through the same Fortran symbols in one process.
 * The largest operand has from 100 to MOST (10^8) elements. Both libraries are opened by path; every round
 * runs both in alternating order. Prints the shortest time of a call in microseconds, GB/s of the drop-in and
 * other / tesela. For each routine prints the geometric mean and the lowest ratio. The tables of
 * src/dispatch/crossovers.h come from this. ROUTINES selects routines, such as "gemv ger dot". */
#include "builds.h"
#include "peers.h"

#include "core/clock.h"

#include <stdlib.h>

enum { ROUNDS = 61, ROUNDS_LEAST = 7, SIDES = 2 };
static const double seconds_of_a_round = 0.0003, seconds_of_a_row = 0.3;

/* One call of either library. The row gives the number of elements of `a`; x and y have one edge,
 * or as many elements as `a`. */
typedef struct task {
  char letter;
  int m, n;
  void *a, *x, *y;
  const void *alpha, *beta, *minus; /* 1, a small number, and -1, so that no value grows */
  void (*function)(void);
} task;

typedef const int *num;
typedef const void *in;
typedef void *out;

static const int unit = 1;

static void call_gemv(const task *t, const char *trans) {
  ((void (*)(const char *, num, num, in, in, num, in, num, in, out, num, size_t))t->function)(
      trans, &t->m, &t->n, t->alpha, t->a, &t->m, t->x, &unit, t->beta, t->y, &unit, 1);
}
static void call_gemv_n(const task *t) {
  call_gemv(t, "N");
}
static void call_gemv_t(const task *t) {
  call_gemv(t, "T");
}
static void call_symv(const task *t) {
  ((void (*)(const char *, num, in, in, num, in, num, in, out, num, size_t))t->function)(
      "L", &t->n, t->alpha, t->a, &t->m, t->x, &unit, t->beta, t->y, &unit, 1);
}
/* Calls with a triangle with ones on the diagonal and tiny numbers in the rest, so that x stays finite. */
static void call_triangle(const task *t, const char *trans) {
  ((void (*)(const char *, const char *, const char *, num, in, num, out, num, size_t, size_t,
             size_t))t->function)("U", trans, "U", &t->n, t->a, &t->m, t->x, &unit, 1, 1, 1);
}
static void call_triangle_n(const task *t) {
  call_triangle(t, "N");
}
static void call_triangle_t(const task *t) {
  call_triangle(t, "T");
}
static void call_ger(const task *t) {
  ((void (*)(num, num, in, in, num, in, num, out, num))t->function)(&t->m, &t->n, t->beta, t->x, &unit, t->y,
                                                                    &unit, t->a, &t->m);
}
static void call_syr(const task *t) {
  ((void (*)(const char *, num, in, in, num, out, num, size_t))t->function)("L", &t->n, t->beta, t->x, &unit,
                                                                            t->a, &t->m, 1);
}
static void call_two(const task *t) {
  ((double (*)(num, in, num, out, num))t->function)(&t->m, t->x, &unit, t->y, &unit);
}
static void call_dot(const task *t) {
  static volatile double kept;
  if (t->letter == 'c' || t->letter == 'z')
    call_two(t);
  else if (t->letter == 's')
    kept = (double)((float (*)(num, in, num, in, num))t->function)(&t->m, t->x, &unit, t->y, &unit);
  else
    kept = ((double (*)(num, in, num, in, num))t->function)(&t->m, t->x, &unit, t->y, &unit);
  (void)kept;
}
static void call_axpy(const task *t) {
  ((void (*)(num, in, in, num, out, num))t->function)(&t->m, t->beta, t->x, &unit, t->y, &unit);
}
static void call_scal(const task *t) {
  ((void (*)(num, in, out, num))t->function)(&t->m, t->minus, t->x, &unit);
}
/* Calls a routine once; a norm's result is ignored. */
static void call_one(const task *t) {
  ((void (*)(num, in, num))t->function)(&t->m, t->x, &unit);
}

/* A routine. In its name ? is the type's letter and r the letter of its components. `vectors`: the
 * number of long vectors; 0: a matrix. `bytes`: how often each element of the largest operand is
 * moved. */
typedef struct row {
  const char *word, *name, *complex_name;
  void (*call)(const task *t);
  int vectors;
  double moves;
} row;
static const row rows[] = {
    {"gemv", "?gemv", "?gemv", call_gemv_n, 0, 1},
    {"gemvt", "?gemv", "?gemv", call_gemv_t, 0, 1},
    {"ger", "?ger", "?geru", call_ger, 0, 2},
    {"symv", "?symv", "?hemv", call_symv, 0, 0.5},
    {"syr", "?syr", "?her", call_syr, 0, 1},
    {"trmv", "?trmv", "?trmv", call_triangle_n, 0, 0.5},
    {"trmvt", "?trmv", "?trmv", call_triangle_t, 0, 0.5},
    {"trsv", "?trsv", "?trsv", call_triangle_n, 0, 0.5},
    {"trsvt", "?trsv", "?trsv", call_triangle_t, 0, 0.5},
    {"dot", "?dot", "?dotu", call_dot, 2, 2},
    {"axpy", "?axpy", "?axpy", call_axpy, 2, 3},
    {"scal", "?scal", "?scal", call_scal, 1, 2},
    {"copy", "?copy", "?copy", call_two, 2, 2},
    {"swap", "?swap", "?swap", call_two, 2, 4},
    {"nrm2", "?nrm2", "r?nrm2", call_one, 1, 1},
    {"asum", "?asum", "r?asum", call_one, 1, 1},
    {"iamax", "i?amax", "i?amax", call_one, 1, 1},
};

static size_t size_of(char letter) {
  return letter == 's' ? 4 : letter == 'z' ? 16 : 8;
}
static int is_single(char letter) {
  return letter == 's' || letter == 'c';
}

/* Returns an array of numbers near `scale` in each component. */
static void *filled(size_t elements, char letter, double scale) {
  const size_t bytes = elements * size_of(letter) + 64,
               count = elements * size_of(letter) / (is_single(letter) ? 4 : 8);
  double *data = aligned_alloc(64, (bytes + 63) / 64 * 64);
  for (size_t i = 0; data && i < count; i++) {
    const double value = scale * ((double)(i % 13) - 6);
    if (is_single(letter))
      ((float *)data)[i] = (float)value;
    else
      data[i] = value;
  }
  return data;
}

static double seconds_of(const row *row_in, const task *t, int calls) {
  const double start = tsl_clock();
  for (int i = 0; i < calls; i++)
    row_in->call(t);
  return (tsl_clock() - start) / calls;
}

static void *symbol_of(void *library, const row *row_in, char letter) {
  char name[64];
  const int is_complex = letter == 'c' || letter == 'z';
  size_t used = (size_t)snprintf(name, sizeof name, "scipy_");
  for (const char *from = is_complex ? row_in->complex_name : row_in->name; *from; from++)
    name[used++] = (char)(*from == '?'                     ? letter
                          : *from == 'r' && from[1] == '?' ? is_single(letter) ? 's' : 'd'
                                                           : *from);
  snprintf(name + used, sizeof name - used, "_");
  void *symbol = dlsym(library, name + strlen("scipy_"));
  return symbol ? symbol : dlsym(library, name);
}

static ratios all, each;

static void race(const row *row_in, task *t, void (*const functions[SIDES])(void), double elements) {
  double best[SIDES] = {INFINITY, INFINITY};
  int calls[SIDES];
  for (int side = 0; side < SIDES; side++) {
    t->function = functions[side];
    row_in->call(t);
    const double once = seconds_of(row_in, t, 1);
    calls[side] = once < seconds_of_a_round ? (int)(seconds_of_a_round / once) + 1 : 1;
  }
  const double end = tsl_clock() + seconds_of_a_row;
  for (int round = 0; round < ROUNDS && (round < ROUNDS_LEAST || tsl_clock() < end); round++)
    for (int turn = 0; turn < SIDES; turn++) {
      const int side = (round + turn) % SIDES;
      t->function = functions[side];
      best[side] = fmin(best[side], seconds_of(row_in, t, calls[side]));
    }
  printf("%c%-6s %9d %6d %12.3f %12.3f %8.2f %8.3f\n", t->letter, row_in->word, t->m, t->n, 1e6 * best[0],
         1e6 * best[1], 1e-9 * row_in->moves * elements * (double)size_of(t->letter) / best[0],
         best[1] / best[0]);
  fflush(stdout);
  char where[64];
  snprintf(where, sizeof where, "%c%s %d x %d", t->letter, row_in->word, t->m, t->n);
  ratios_add(&all, best[1] / best[0], where);
  ratios_add(&each, best[1] / best[0], where);
}

static void compare(void *const libraries[SIDES], const row *row_in, char letter, int m, int n) {
  static const float one_f32[2] = {1}, little_f32[2] = {1e-6f}, minus_f32[2] = {-1};
  static const double one_f64[2] = {1}, little_f64[2] = {1e-6}, minus_f64[2] = {-1};
  void (*functions[SIDES])(void);
  for (int side = 0; side < SIDES; side++) {
    void *symbol = symbol_of(libraries[side], row_in, letter);
    if (!symbol)
      return;
    memcpy(&functions[side], &symbol, sizeof symbol);
  }
  const size_t most = (size_t)(m > n ? m : n);
  task t = {.letter = letter,
            .m = m,
            .n = n,
            .alpha = is_single(letter) ? (const void *)one_f32 : one_f64,
            .beta = is_single(letter) ? (const void *)little_f32 : little_f64,
            .minus = is_single(letter) ? (const void *)minus_f32 : minus_f64};
  t.a = row_in->vectors ? NULL : filled((size_t)m * (size_t)n, letter, 1e-12);
  t.x = filled(most, letter, 1);
  t.y = row_in->vectors == 1 ? NULL : filled(most, letter, 1);
  if (t.x && (t.a || row_in->vectors) && (t.y || row_in->vectors == 1))
    race(row_in, &t, functions, (double)m * (double)(row_in->vectors ? 1 : n));
  free(t.a);
  free(t.x);
  free(t.y);
}

static const int edges[] = {10,  20,  32,   50,   64,   100,  150,  200,  316,
                            500, 700, 1000, 1500, 2000, 3162, 5000, 10000};
static const int lengths[] = {10,    100,    300,    1000,    3000,     10000,
                              30000, 100000, 300000, 1000000, 10000000, 100000000};
static const int thin[][2] = {{10000, 10},   {10, 10000},  {100000, 100},
                              {100, 100000}, {1000000, 4}, {4, 1000000}};

#define COUNT(array) (int)(sizeof array / sizeof *array)

static void sweep(void *const libraries[SIDES], const row *row_in, char letter, double most) {
  const int is_rectangle = strncmp(row_in->word, "ge", 2) == 0;
  each = (ratios){0};
  for (int i = 0; row_in->vectors && i < COUNT(lengths); i++)
    if (lengths[i] <= most)
      compare(libraries, row_in, letter, lengths[i], 1);
  for (int i = 0; !row_in->vectors && i < COUNT(edges); i++)
    if ((double)edges[i] * edges[i] <= most)
      compare(libraries, row_in, letter, edges[i], edges[i]);
  for (int i = 0; is_rectangle && i < COUNT(thin); i++)
    if ((double)thin[i][0] * thin[i][1] <= most)
      compare(libraries, row_in, letter, thin[i][0], thin[i][1]);
  ratios_print(&each, "tesela", "other");
}

int main(int argc, char **argv) {
  static const char *const variables[] = {"TESELA_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                                          "MKL_NUM_THREADS"};
  void *libraries[SIDES];
  char says[256];
  if (argc < 3) {
    fprintf(stderr, "usage: blas_vectors DROP_IN OTHER [THREADS [LETTERS [MOST [ROUTINES]]]]\n");
    return 2;
  }
  const char *threads = argc > 3 ? argv[3] : "1", *letters = argc > 4 ? argv[4] : "sd";
  const double most = argc > 5 ? atof(argv[5]) : 1e8;
  setenv("TESELA_BLAS", "tesela", 1);
  for (int i = 0; i < COUNT(variables); i++)
    setenv(variables[i], threads, 1);
  for (int side = 0; side < SIDES; side++)
    if (!(libraries[side] = build_open(argv[1 + side]))) {
      fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
  peer_says(libraries[1], says, sizeof says);
  peers_warn();
  printf("other: %s\n%-7s %9s %6s %12s %12s %8s %8s\n", says, "routine", "m", "n", "tesela us", "other us",
         "GB/s", "ratio");
  for (const char *letter = letters; *letter; letter++)
    for (int i = 0; i < COUNT(rows); i++) {
      char word[16];
      snprintf(word, sizeof word, "%s ", rows[i].word);
      char asked[256];
      snprintf(asked, sizeof asked, "%s ", argc > 6 ? argv[6] : word);
      if (strncmp(asked, word, strlen(word)) == 0 || (argc > 6 && strstr(asked, word)))
        sweep(libraries, &rows[i], *letter, most);
    }
  ratios_print(&all, "tesela", "other");
  return 0;
}

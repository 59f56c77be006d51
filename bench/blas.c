/* blas [options] MEASURED NAME=LIBRARY... [MxNxK...]
 *
 * How fast are BLAS's routines in tesela's drop-in, or as tesela's plans, compared with other libraries? All
 * are called through the same Fortran symbols, in turn in one process; operands are column-major. Results are
 * compared before times are taken. MEASURED is the path of a drop-in. The word plans instead stands for
 * plans of host_packed and host_blocked, for the sets level3 and solve. Prints the shortest call of each in
 * microseconds, the rate of the measured one, and each library's time over its time; at the end geometric
 * means. src/dispatch/crossovers.h has its tables from this.
 *
 *   --only LIST     sets, or routines by name (products)
 *                     products  gemm, gemmt, dot, omatcopy: from which size is tesela faster?
 *                     vectors   gemv gemvt ger symv syr trmv trmvt trsv trsvt dot axpy scal copy swap
 *                               nrm2 asum iamax
 *                     level3    syrk herk syr2k symm hemm trmm, of lower triangles
 *                     solve     trsm, of a lower triangle on both sides, plain and transposed
 *   --types LETTERS of s, d, c, z (sdcz)
 *   --sizes LIST    of level3 and solve: 64, or 100x10000: the triangle, then k or the other side
 *   --columns LIST  of solve: each triangle of --sizes with these numbers of right-hand sides
 *   --largest N     of vectors: elements of the largest operand (1e8)
 *   --threads N     of each library (1)            --rounds N  rounds (the set's)
 *   --strategy TEXT of plans                       --quick     three rounds
 *   --shapes FILE, --draw SEED N, --most GFLOP  products of gemm, instead of the set's own (cases.h)
 *   --json FILE     also writes JSON
 *
 * The drop-in computes everything itself (TESELA_BLAS=tesela). A library may be another build's drop-in. */
#include "cases.h"
#include "peers.h"

#include "plan/plan.h"
#include "tune/measured_choice.h"

enum { SIDES_MAX = 6, ROWS_MAX = 32 };

typedef enum shape_kind { GEMM, GEMMT, COPY, VECTOR, MATRIX_VECTOR, RANK, SIDE, SOLVE } shape_kind;

/* One call, with its arguments. */
typedef struct task {
  const struct blas_routine *row;
  char letter;
  char trans[2]; /* of A and B of gemm */
  bool is_right, is_transposed;
  int m, n, k;
  void *a, *b, *c; /* of vector routines: the matrix, x and y */
  size_t elements[3];
  const void *one, *little, *minus, *zero; /* 1, 1e-6, -1 so that no value grows, 0 */
  tsl_plan *plan;
} task;

typedef struct blas_routine {
  const char *set, *word;
  const char *name,
      *complex_name; /* ?: the type's letter; r: the letter of its components; NULL: no such routine */
  void (*call)(const task *t, void *function);
  shape_kind kind;
  int vectors;  /* long vectors of the routine */
  double moves; /* how often each element of the largest operand is moved; 0: the rate is of operations */
  const char *trans; /* the flag of a matrix-vector routine, or NULL */
} blas_routine;

typedef const int *num;
typedef const void *in;
typedef const char *chr;
typedef void *out;
static const int unit = 1;

/* Calls a symbol as a function of these parameters. */
#define CALL(result, parameters) (*(result(**) parameters) & function)

static int lead(const task *t, int operand) {
  const bool is_turned = t->trans[operand] == 'T';
  return operand == 0 ? (is_turned ? t->k : t->m) : is_turned ? t->n : t->k;
}
static void call_gemm(const task *t, void *function) {
  const int lda = lead(t, 0), ldb = lead(t, 1);
  CALL(void, (chr, chr, num, num, num, in, in, num, in, num, in, out, num, size_t, size_t))
  (&t->trans[0], &t->trans[1], &t->m, &t->n, &t->k, t->one, t->a, &lda, t->b, &ldb, t->zero, t->c, &t->m, 1,
   1);
}
static void call_gemmt(const task *t, void *function) {
  CALL(void, (chr, chr, chr, num, num, in, in, num, in, num, in, out, num, size_t, size_t, size_t))
  ("L", "N", "N", &t->n, &t->k, t->one, t->a, &t->n, t->b, &t->k, t->zero, t->c, &t->n, 1, 1, 1);
}
static void call_omatcopy(const task *t, void *function) {
  CALL(void, (chr, chr, num, num, in, in, num, out, num, size_t, size_t))
  ("C", "T", &t->m, &t->n, t->one, t->a, &t->m, t->c, &t->n, 1, 1);
}
static void call_gemv(const task *t, void *function) {
  CALL(void, (chr, num, num, in, in, num, in, num, in, out, num, size_t))
  (t->row->trans, &t->m, &t->n, t->one, t->a, &t->m, t->b, &unit, t->little, t->c, &unit, 1);
}
static void call_symv(const task *t, void *function) {
  CALL(void, (chr, num, in, in, num, in, num, in, out, num, size_t))
  ("L", &t->n, t->one, t->a, &t->m, t->b, &unit, t->little, t->c, &unit, 1);
}
/* A triangle with ones on the diagonal and tiny numbers in the rest, so that x stays finite. */
static void call_triangle(const task *t, void *function) {
  CALL(void, (chr, chr, chr, num, in, num, out, num, size_t, size_t, size_t))
  ("U", t->row->trans, "U", &t->n, t->a, &t->m, t->b, &unit, 1, 1, 1);
}
static void call_ger(const task *t, void *function) {
  CALL(void, (num, num, in, in, num, in, num, out, num))
  (&t->m, &t->n, t->little, t->b, &unit, t->c, &unit, t->a, &t->m);
}
static void call_syr(const task *t, void *function) {
  CALL(void, (chr, num, in, in, num, out, num, size_t))("L", &t->n, t->little, t->b, &unit, t->a, &t->m, 1);
}
static void call_two(const task *t, void *function) {
  CALL(double, (num, in, num, out, num))(&t->m, t->b, &unit, t->c, &unit);
}
static void call_dot(const task *t, void *function) {
  static volatile double kept;
  if (t->letter == 's')
    kept = (double)CALL(float, (num, in, num, in, num))(&t->m, t->b, &unit, t->c, &unit);
  else
    kept = CALL(double, (num, in, num, in, num))(&t->m, t->b, &unit, t->c, &unit);
  (void)kept;
}
static void call_axpy(const task *t, void *function) {
  CALL(void, (num, in, in, num, out, num))(&t->m, t->little, t->b, &unit, t->c, &unit);
}
static void call_scal(const task *t, void *function) {
  CALL(void, (num, in, out, num))(&t->m, t->minus, t->b, &unit);
}
/* The result is ignored. */
static void call_one(const task *t, void *function) {
  CALL(void, (num, in, num))(&t->m, t->b, &unit);
}
static void call_rank(const task *t, void *function) {
  CALL(void, (chr, chr, num, num, in, in, num, in, out, num, size_t, size_t))
  ("L", "N", &t->n, &t->k, t->one, t->a, &t->n, t->zero, t->c, &t->n, 1, 1);
}
static void call_rank2(const task *t, void *function) {
  CALL(void, (chr, chr, num, num, in, in, num, in, num, in, out, num, size_t, size_t))
  ("L", "N", &t->n, &t->k, t->one, t->a, &t->n, t->b, &t->n, t->zero, t->c, &t->n, 1, 1);
}
static void call_symm(const task *t, void *function) {
  CALL(void, (chr, chr, num, num, in, in, num, in, num, in, out, num, size_t, size_t))
  ("L", "L", &t->m, &t->n, t->one, t->a, &t->m, t->b, &t->m, t->zero, t->c, &t->m, 1, 1);
}
/* trmm and trsm, in place. */
static void call_in_place(const task *t, void *function) {
  CALL(void, (chr, chr, chr, chr, num, num, in, in, num, out, num, size_t, size_t, size_t, size_t))
  (t->is_right ? "R" : "L", "L", t->is_transposed ? "T" : "N", "N", &t->m, &t->n, t->one, t->a,
   t->is_right ? &t->n : &t->m, t->c, &t->m, 1, 1, 1, 1);
}

static const blas_routine rows[] = {
    {"products", "gemm", "?gemm", "?gemm", call_gemm, GEMM, 0, 0, NULL},
    {"products", "gemmt", "?gemmt", "?gemmt", call_gemmt, GEMMT, 0, 0, NULL},
    {"products", "dot", "?dot", NULL, call_dot, VECTOR, 2, 2, NULL},
    {"products", "omatcopy", "?omatcopy", "?omatcopy", call_omatcopy, COPY, 0, 2, NULL},
    {"vectors", "gemv", "?gemv", "?gemv", call_gemv, MATRIX_VECTOR, 0, 1, "N"},
    {"vectors", "gemvt", "?gemv", "?gemv", call_gemv, MATRIX_VECTOR, 0, 1, "T"},
    {"vectors", "ger", "?ger", "?geru", call_ger, MATRIX_VECTOR, 0, 2, NULL},
    {"vectors", "symv", "?symv", "?hemv", call_symv, MATRIX_VECTOR, 0, 0.5, NULL},
    {"vectors", "syr", "?syr", "?her", call_syr, MATRIX_VECTOR, 0, 1, NULL},
    {"vectors", "trmv", "?trmv", "?trmv", call_triangle, MATRIX_VECTOR, 0, 0.5, "N"},
    {"vectors", "trmvt", "?trmv", "?trmv", call_triangle, MATRIX_VECTOR, 0, 0.5, "T"},
    {"vectors", "trsv", "?trsv", "?trsv", call_triangle, MATRIX_VECTOR, 0, 0.5, "N"},
    {"vectors", "trsvt", "?trsv", "?trsv", call_triangle, MATRIX_VECTOR, 0, 0.5, "T"},
    {"vectors", "dot", "?dot", "?dotu", call_dot, VECTOR, 2, 2, NULL},
    {"vectors", "axpy", "?axpy", "?axpy", call_axpy, VECTOR, 2, 3, NULL},
    {"vectors", "scal", "?scal", "?scal", call_scal, VECTOR, 1, 2, NULL},
    {"vectors", "copy", "?copy", "?copy", call_two, VECTOR, 2, 2, NULL},
    {"vectors", "swap", "?swap", "?swap", call_two, VECTOR, 2, 4, NULL},
    {"vectors", "nrm2", "?nrm2", "r?nrm2", call_one, VECTOR, 1, 1, NULL},
    {"vectors", "asum", "?asum", "r?asum", call_one, VECTOR, 1, 1, NULL},
    {"vectors", "iamax", "i?amax", "i?amax", call_one, VECTOR, 1, 1, NULL},
    {"level3", "syrk", "?syrk", "?syrk", call_rank, RANK, 0, 0, NULL},
    {"level3", "herk", NULL, "?herk", call_rank, RANK, 0, 0, NULL},
    {"level3", "syr2k", "?syr2k", "?syr2k", call_rank2, RANK, 0, 0, NULL},
    {"level3", "symm", "?symm", "?symm", call_symm, SIDE, 0, 0, NULL},
    {"level3", "hemm", NULL, "?hemm", call_symm, SIDE, 0, 0, NULL},
    {"level3", "trmm", "?trmm", "?trmm", call_in_place, SIDE, 0, 0, NULL},
    {"solve", "trsm", "?trsm", "?trsm", call_in_place, SOLVE, 0, 0, NULL},
};

/* Sizes of each set, and its rounds. */
static const int edges[] = {4, 8, 16, 32, 48, 64, 96, 128, 160, 192, 256, 384, 512, 1024};
static const int thin_products[][3] = {{9, 1000, 1000},  {12, 1000, 1000}, {15, 1000, 1000}, {1000, 9, 1000},
                                       {1000, 12, 1000}, {1000, 15, 1000}, {1000, 1000, 9},  {1000, 1000, 12},
                                       {1000, 1000, 15}, {1000, 1000, 16}, {1000, 1000, 32}, {1000, 1000, 64},
                                       {16, 1000, 1000}, {32, 1000, 1000}, {64, 1000, 1000}, {1000, 16, 1000},
                                       {1000, 32, 1000}, {1000, 64, 1000}};
static const int triangles[] = {32, 64, 96, 128, 192, 256, 512};
static const int dot_lengths[] = {100, 1000, 10000, 100000, 1000000, 10000000};
static const int copies[] = {32, 100, 200, 300, 400, 500, 700, 1000, 3000};
static const int vector_edges[] = {10,  20,  32,   50,   64,   100,  150,  200,  316,
                                   500, 700, 1000, 1500, 2000, 3162, 5000, 10000};
static const int vector_lengths[] = {10,    100,    300,    1000,    3000,     10000,
                                     30000, 100000, 300000, 1000000, 10000000, 100000000};
static const int thin_vectors[][2] = {{10000, 10},   {10, 10000},  {100000, 100},
                                      {100, 100000}, {1000000, 4}, {4, 1000000}};

static const char *only = "products", *letters = "sdcz", *sizes = "", *columns = "", *strategy, *json_path;
static int threads = 1, rounds;
static bool is_quick;
static double largest = 1e8;
static bench_library libraries[SIDES_MAX];
static int side_count;
static bool has_plans; /* the first side is tesela's plans */
static tsl_devices *devices;
static bench_mean all[SIDES_MAX], each[SIDES_MAX];

static tesela_type type_of(char letter) {
  return letter == 's' ? TESELA_F32 : letter == 'd' ? TESELA_F64 : letter == 'c' ? TESELA_C64 : TESELA_C128;
}
static bool is_complex(char letter) {
  return letter == 'c' || letter == 'z';
}
static bool is_single(char letter) {
  return letter == 's' || letter == 'c';
}
static size_t size_of(const task *t) {
  return tsl_type(type_of(t->letter))->size;
}
static int order_of(const task *t) {
  return t->is_right ? t->n : t->m;
}

/* --- tesela's plans --- */

static tsl_problem make_problem(const task *t) {
  const tesela_type type = type_of(t->letter);
  if (t->row->kind == SOLVE) { /* X A = B is A' X' = B', and a column-major X is a row-major X' */
    const int64_t n = order_of(t), others = t->is_right ? t->m : t->n;
    tsl_problem problem = tsl_problem_of(TSL_OP_SOLVE, n, others, n, type);
    tsl_shape *const held[] = {&problem.b, &problem.c};
    const bool is_turned = t->is_right != t->is_transposed;
    problem.a.row_stride = is_turned ? n : 1;
    problem.a.col_stride = is_turned ? 1 : n;
    problem.a.structure = TESELA_TRIANGULAR;
    problem.a.triangle = is_turned ? TESELA_UPPER : TESELA_LOWER;
    for (int i = 0; i < 2; i++) {
      held[i]->row_stride = t->is_right ? t->m : 1;
      held[i]->col_stride = t->is_right ? 1 : t->m;
    }
    problem.in_place = true;
    return problem;
  }
  const bool is_rank = t->row->kind == RANK;
  tsl_problem problem =
      is_rank ? tsl_problem_gemm(t->n, t->n, t->k, type) : tsl_problem_gemm(t->m, t->n, t->m, type);
  problem.a.row_stride = problem.c.row_stride = 1;
  problem.a.col_stride = problem.c.col_stride = t->m;
  problem.b.row_stride = is_rank ? t->n : 1;
  problem.b.col_stride = is_rank ? 1 : t->m;
  if (is_rank) {
    problem.c.triangle = TESELA_LOWER;
    problem.conjugate_b = strcmp(t->row->word, "herk") == 0;
    problem.c.structure = problem.conjugate_b                  ? TESELA_HERMITIAN
                          : strcmp(t->row->word, "syr2k") == 0 ? TESELA_SYMMETRIC_SUM
                                                               : TESELA_GENERAL;
    return problem;
  }
  problem.a.triangle = TESELA_LOWER;
  problem.a.structure = strcmp(t->row->word, "symm") == 0   ? TESELA_SYMMETRIC
                        : strcmp(t->row->word, "hemm") == 0 ? TESELA_HERMITIAN
                                                            : TESELA_TRIANGULAR;
  problem.in_place = t->row->call == call_in_place;
  return problem;
}

static void make_plan(task *t) {
  const tsl_problem problem = make_problem(t);
  const tsl_choice choice = {.devices = devices,
                             .device = "cpu",
                             .strategy = strategy                ? strategy
                                         : t->row->kind == SOLVE ? "host_blocked"
                                                                 : "host_packed"};
  bench_must(tsl_tune_choose(&problem, &choice, &t->plan), "a plan");
}

static void run_plan(const task *t) {
  const bool has_b = t->row->kind == SIDE || strcmp(t->row->word, "syr2k") == 0;
  const tsl_operands operands = {.a = {.host = t->a},
                                 .b = {.host = t->row->kind == SOLVE           ? NULL
                                               : t->row->call == call_in_place ? t->c
                                               : has_b                         ? t->b
                                                                               : t->a},
                                 .c = {.host = t->c}};
  bench_must(tsl_plan_run(t->plan, &operands, NULL), "a run");
}

/* --- one task --- */

typedef struct task_side {
  const task *task;
  void *function; /* NULL: the plan */
} task_side;

static void call_side(bench_side *side) {
  const task_side *by = side->state;
  if (by->function)
    by->task->row->call(by->task, by->function);
  else
    run_plan(by->task);
}

static void *find_routine(const bench_library *library, const blas_routine *row, char letter) {
  char name[64];
  size_t used = 0;
  const char *pattern = is_complex(letter) ? row->complex_name : row->name;
  for (const char *from = pattern; *from; from++)
    name[used++] = (char)(*from == '?'                     ? letter
                          : *from == 'r' && from[1] == '?' ? is_single(letter) ? 's' : 'd'
                                                           : *from);
  name[used++] = '_';
  name[used] = '\0';
  return bench_symbol(library, name);
}

/* Sets the numbers of elements of A, B and C, or of the matrix, x and y. */
static void count_elements(task *t) {
  const size_t m = (size_t)t->m, n = (size_t)t->n, k = (size_t)t->k, longest = m > n ? m : n,
               order = (size_t)order_of(t);
  const size_t counts[][3] = {[GEMM] = {m * k, k * n, m * n},
                              [GEMMT] = {n * k, k * n, n * n},
                              [COPY] = {m * n, 0, m * n},
                              [VECTOR] = {0, m, t->row->vectors == 2 ? m : 0},
                              [MATRIX_VECTOR] = {m * n, longest, longest},
                              [RANK] = {n * k, n * k, n * n},
                              [SIDE] = {m * m, m * n, m * n},
                              [SOLVE] = {order * order, 0, m * n}};
  memcpy(t->elements, counts[t->row->kind], sizeof t->elements);
}

static void store(const task *t, void *array, size_t index, double value) {
  if (is_single(t->letter))
    ((float *)array)[index] = (float)value;
  else
    ((double *)array)[index] = value;
}

/* Whole numbers; the matrix of vector routines has tiny ones; factors of level 3 are random. */
static void fill(task *t) {
  void *const arrays[] = {t->a, t->b, t->c};
  const size_t parts = is_complex(t->letter) ? 2 : 1;
  for (int i = 0; i < 3; i++) {
    if (t->row->kind == RANK || t->row->kind == SIDE || t->row->kind == SOLVE) {
      if (t->elements[i] > 0)
        tsl_random_fill(TSL_DRAW_UNIFORM, (uint64_t)i + 1, 0, type_of(t->letter), arrays[i], t->elements[i]);
      continue;
    }
    for (size_t e = 0; e < t->elements[i] * parts; e++)
      store(t, arrays[i], e, (t->row->kind == MATRIX_VECTOR && i == 0 ? 1e-12 : 1) * ((double)(e % 13) - 6));
  }
}

/* Sets the diagonal of A; `clears`: and everything else to 0, so that calls in place neither grow nor shrink
 * C. */
static void set_diagonal(task *t, double value, bool clears) {
  const size_t order = (size_t)order_of(t), parts = is_complex(t->letter) ? 2 : 1;
  if (clears)
    memset(t->a, 0, t->elements[0] * size_of(t));
  for (size_t i = 0; i < order; i++) {
    store(t, t->a, i * (order + 1) * parts, value);
    if (parts == 2)
      store(t, t->a, i * (order + 1) * parts + 1, 0);
  }
}

/* Not inlined: gcc 12 for AArch64 fails when it vectorizes loops with this function. */
static __attribute__((noinline)) double component(const task *t, const void *from, size_t i) {
  return is_single(t->letter) ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

/* Ends the program if C (of ger and syr A, of scal and trmv x) differs by more than rounding of `terms`
 * terms. */
static void compare(const task *t, const void *expected, const void *found, size_t elements,
                    const char *name) {
  const size_t count = elements * (is_complex(t->letter) ? 2 : 1);
  const double roundoff = is_single(t->letter) ? 6e-8 : 1.1e-16;
  double most = 0, maximum = 0;
  for (size_t i = 0; i < count; i++) {
    const double x = component(t, expected, i), apart = fabs(component(t, found, i) - x);
    most = apart > most || isnan(apart) ? apart : most;
    maximum = fmax(maximum, fabs(x));
  }
  const int terms = t->k > order_of(t) ? t->k : order_of(t);
  if (!(most <= 4 * roundoff * ((double)terms + 8) * (maximum + 1)))
    bench_stop(t->row->word, name);
}

/* Calls every side with the same operands and compares all arrays. */
static void check(task *t, bench_side *sides) {
  void *const arrays[] = {t->a, t->b, t->c};
  void *expected[3] = {NULL};
  for (int s = 0; s < side_count; s++) {
    fill(t);
    if (t->row->kind == SOLVE)
      set_diagonal(t, 2 * (double)order_of(t), false);
    if (t->row->kind == SIDE && t->row->call == call_in_place)
      memcpy(t->c, t->b, t->elements[2] * size_of(t));
    call_side(&sides[s]);
    for (int i = 0; i < 3; i++)
      if (s == 0) {
        expected[i] = bench_allocate(t->elements[i], size_of(t));
        memcpy(expected[i], arrays[i], t->elements[i] * size_of(t));
      } else {
        compare(t, expected[i], arrays[i], t->elements[i], "results differ");
      }
  }
  for (int i = 0; i < 3; i++)
    free(expected[i]);
}

static double count_work(const task *t) {
  const double m = t->m, n = t->n, k = t->k, factor = is_complex(t->letter) ? 4 : 1;
  const double operations[] = {[GEMM] = 2 * m * n * k,
                               [GEMMT] = n * n * k,
                               [RANK] = (t->row->call == call_rank2 ? 2 : 1) * n * n * k,
                               [SIDE] = (t->row->call == call_in_place ? 1 : 2) * m * m * n,
                               [SOLVE] = m * n * order_of(t)};
  if (t->row->moves > 0)
    return t->row->moves * m * (t->row->kind == VECTOR ? 1 : n) * (double)size_of(t);
  return factor * operations[t->row->kind];
}

static bench_turns get_turns(const blas_routine *row) {
  bench_turns turns = {.rounds_min = 12, .rounds_max = 12, .sample_seconds = 2e-3};
  if (strcmp(row->set, "vectors") == 0)
    turns = (bench_turns){.rounds_min = 7, .rounds_max = 61, .seconds = 0.15, .sample_seconds = 3e-4};
  if (strcmp(row->set, "products") == 0)
    turns = (bench_turns){.rounds_min = 5, .rounds_max = 41, .seconds = 0.2, .sample_seconds = 5e-4};
  if (rounds > 0 || is_quick)
    turns.rounds_min = turns.rounds_max = is_quick ? 3 : rounds;
  return turns;
}

static void print_row(const task *t, const bench_side *sides) {
  char where[64], word[32];
  snprintf(word, sizeof word, "%c%s%s%s%s", t->letter, t->row->word,
           t->row->kind != SOLVE ? ""
           : t->is_right         ? " R"
                                 : " L",
           t->row->kind != SOLVE ? ""
           : t->is_transposed    ? "T"
                                 : "N",
           t->trans[0] == 'T' || t->trans[1] == 'T' ? " *" : "");
  snprintf(where, sizeof where, "%s %d %d %d", word, t->m, t->n, t->k);
  printf("%-10s %9d %6d %6d %12.3f %9.2f", word, t->m, t->n, t->k, 1e6 * sides[0].least,
         1e-9 * count_work(t) / sides[0].least);
  for (int s = 1; s < side_count; s++) {
    const double ratio = sides[s].least / sides[0].least;
    printf(" %12.3f %8.3f", 1e6 * sides[s].least, ratio);
    bench_mean_add(&all[s], ratio, where);
    bench_mean_add(&each[s], ratio, where);
  }
  printf("\n");
  fflush(stdout);
  json_open(NULL, '{');
  json_text("routine", word);
  json_integer("m", t->m);
  json_integer("n", t->n);
  json_integer("k", t->k);
  for (int s = 0; s < side_count; s++)
    json_number(sides[s].name, sides[s].least);
  json_close('}');
}

static void measure(task t) {
  static const float one_f32[2] = {1}, little_f32[2] = {1e-6f}, minus_f32[2] = {-1}, zero_f32[2];
  static const double one_f64[2] = {1}, little_f64[2] = {1e-6}, minus_f64[2] = {-1}, zero_f64[2];
  const bool single = is_single(t.letter);
  bench_side sides[SIDES_MAX];
  task_side states[SIDES_MAX];
  t.one = single ? (const void *)one_f32 : one_f64;
  t.little = single ? (const void *)little_f32 : little_f64;
  t.minus = single ? (const void *)minus_f32 : minus_f64;
  t.zero = single ? (const void *)zero_f32 : zero_f64;
  for (int s = 0; s < SIDES_MAX; s++) {
    states[s] = (task_side){.task = &t};
    sides[s] = (bench_side){.name = libraries[s].name, .call = call_side, .state = &states[s]};
  }
  for (int s = has_plans; s < side_count; s++)
    if (!(states[s].function = find_routine(&libraries[s], t.row, t.letter)))
      return;
  count_elements(&t);
  t.a = bench_allocate(t.elements[0], size_of(&t));
  t.b = bench_allocate(t.elements[1], size_of(&t));
  t.c = bench_allocate(t.elements[2], size_of(&t));
  if (has_plans)
    make_plan(&t);
  check(&t, sides);
  if (t.row->call == call_in_place)
    set_diagonal(&t, 1, true);
  const bench_turns turns = get_turns(t.row);
  bench_race(sides, side_count, &turns);
  print_row(&t, sides);
  bench_sides_free(sides, side_count);
  if (has_plans)
    tsl_plan_destroy(t.plan);
  free(t.a);
  free(t.b);
  free(t.c);
}

/* --- all rows --- */

static void measure_size(const blas_routine *row, char letter, int m, int n, int k) {
  measure((task){.row = row, .letter = letter, .trans = "NN", .m = m, .n = n, .k = k});
}

static void measure_gemm(const blas_routine *row, char letter) {
  for (int i = 0; i < bench_cases.count; i++) {
    const bench_case *item = &bench_cases.items[i];
    const char *list = "sdcz";
    if (!bench_case_has_type(item, (int)(strchr(list, letter) - list), 4))
      continue;
    const tsl_problem problem =
        tsl_problem_gemm(item->size[0], item->size[1], item->size[2], type_of(letter));
    if (bench_is_within(&problem))
      measure((task){.row = row,
                     .letter = letter,
                     .trans = {item->layout[0], item->layout[1]},
                     .m = (int)item->size[0],
                     .n = (int)item->size[1],
                     .k = (int)item->size[2]});
  }
  for (int i = 0; bench_cases.count == 0 && i < COUNT_OF(edges); i++)
    measure_size(row, letter, edges[i], edges[i], edges[i]);
  for (int i = 0; bench_cases.count == 0 && i < COUNT_OF(thin_products); i++)
    measure_size(row, letter, thin_products[i][0], thin_products[i][1], thin_products[i][2]);
}

static void measure_vectors(const blas_routine *row, char letter) {
  const bool is_product = strcmp(row->set, "products") == 0;
  const int *lengths = is_product ? dot_lengths : vector_lengths;
  const int count = is_product ? COUNT_OF(dot_lengths) : COUNT_OF(vector_lengths);
  for (int i = 0; row->kind == VECTOR && i < count; i++)
    if (lengths[i] <= largest)
      measure_size(row, letter, lengths[i], 1, 1);
  for (int i = 0; row->kind == MATRIX_VECTOR && i < COUNT_OF(vector_edges); i++)
    if ((double)vector_edges[i] * vector_edges[i] <= largest)
      measure_size(row, letter, vector_edges[i], vector_edges[i], 1);
  for (int i = 0; strncmp(row->word, "ge", 2) == 0 && i < COUNT_OF(thin_vectors); i++)
    if ((double)thin_vectors[i][0] * thin_vectors[i][1] <= largest)
      measure_size(row, letter, thin_vectors[i][0], thin_vectors[i][1], 1);
}

static void measure_triangle(const blas_routine *row, char letter, int n, int others) {
  if (row->kind == RANK)
    measure_size(row, letter, n, n, others);
  else if (row->kind == SIDE)
    measure_size(row, letter, n, others, n);
  for (int i = 0; row->kind == SOLVE && i < 4; i++)
    measure((task){.row = row,
                   .letter = letter,
                   .trans = "NN",
                   .is_right = i >= 2,
                   .is_transposed = i % 2,
                   .m = i >= 2 ? others : n,
                   .n = i >= 2 ? n : others,
                   .k = n});
}

static void measure_triangles(const blas_routine *row, char letter) {
  const bool is_solve = row->kind == SOLVE;
  const char *list = *sizes     ? sizes
                     : is_solve ? "64,256,1000,2000,100x10000,2000x16,1000x1"
                                : "64,256,1000,2048,100x10000,2000x16";
  char word[32], column[32];
  while (bench_next_word(&list, ",", word, sizeof word)) {
    const char *other = strchr(word, 'x'), *rest = columns;
    if (!is_solve || !*columns)
      measure_triangle(row, letter, atoi(word), atoi(other ? other + 1 : word));
    while (is_solve && bench_next_word(&rest, ",", column, sizeof column))
      measure_triangle(row, letter, atoi(word), atoi(column));
  }
}

static void measure_row(const blas_routine *row, char letter) {
  if (!(is_complex(letter) ? row->complex_name : row->name) || (bench_cases.count > 0 && row->kind != GEMM) ||
      (has_plans && row->kind != RANK && row->kind != SIDE && row->kind != SOLVE))
    return;
  memset(each, 0, sizeof each);
  if (row->kind == GEMM)
    measure_gemm(row, letter);
  else if (row->kind == VECTOR || row->kind == MATRIX_VECTOR)
    measure_vectors(row, letter);
  else if (row->kind == GEMMT)
    for (int i = 0; i < COUNT_OF(triangles); i++)
      measure_size(row, letter, triangles[i], triangles[i], triangles[i]);
  else if (row->kind == COPY)
    for (int i = 0; i < COUNT_OF(copies); i++)
      measure_size(row, letter, copies[i], copies[i], 1);
  else
    measure_triangles(row, letter);
  for (int s = 1; s < side_count && strcmp(row->set, "vectors") == 0; s++)
    bench_mean_print(&each[s], libraries[0].name, libraries[s].name);
}

/* --- the command line --- */

static bool is_wanted(const blas_routine *row) {
  return bench_has_word(only, row->set) ||
         (bench_has_word(only, row->word) && !(row->call == call_dot && row->set[0] == 'p'));
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("only", only),
                                         OPTION_TEXT("types", letters),
                                         OPTION_TEXT("sizes", sizes),
                                         OPTION_TEXT("columns", columns),
                                         OPTION_NUMBER("largest", largest),
                                         OPTION_COUNT("threads", threads),
                                         OPTION_COUNT("rounds", rounds),
                                         OPTION_TEXT("strategy", strategy),
                                         OPTION_FLAG("quick", is_quick),
                                         OPTION_TEXT("json", json_path),
                                         BENCH_CASE_OPTIONS,
                                         OPTIONS_END};
  bench_read(argc, argv, "blas", options, bench_take_case_or_word);
  side_count = bench_word_count;
  if (side_count < 2 || side_count > SIDES_MAX)
    bench_stop("arguments", "bench_blas [options] DROP_IN|plans NAME=LIBRARY...");
  setenv("TESELA_BLAS", "tesela", 1);
  bench_set_threads(threads);
  bench_warn();
  bench_must(tsl_devices_create(&devices), "devices");
  has_plans = strcmp(bench_words[0], "plans") == 0;
  libraries[0].name = "plans";
  for (int s = has_plans; s < side_count; s++)
    bench_library_open(bench_words[s], threads, &libraries[s]);
  json_begin(json_path, "bench_blas");
  json_integer("threads", threads);
  json_open("rows", '[');
  printf("%-10s %9s %6s %6s %9.9s us %9s", "routine", "m", "n", "k", libraries[0].name, "rate");
  for (int s = 1; s < side_count; s++)
    printf(" %9.9s us %8s", libraries[s].name, "ratio");
  printf("   (rate: 10^9 operations or bytes a second)\n");
  for (const char *letter = letters; *letter; letter++)
    for (int i = 0; i < COUNT_OF(rows) && strchr("sdcz", *letter); i++)
      if (is_wanted(&rows[i]))
        measure_row(&rows[i], *letter);
  for (int s = 1; s < side_count; s++)
    bench_mean_print(&all[s], libraries[0].name, libraries[s].name);
  json_close(']');
  json_end();
  tsl_devices_destroy(devices);
  return 0;
}

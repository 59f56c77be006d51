/* recorded WORD...: makes calls of the patterns that the words name, for the recorder's test. Each makes
 * CALLS products of N x N x N, if the pattern says nothing else.
 *
 *   general transposed lower symmetric single    factors of that kind; all but single have 53-bit numbers
 *   apart chain    operands at constant distances; each A is the C of the call before
 *   share          one B, and A's rows follow each other
 *   add            C += A B with few terms, 200 times CALLS
 *   syrk ddot      other routines
 *   api            calls of tesela's interface
 *   threads        two threads, each with the calls of general
 *   fork           general in a child, which ends by _exit()
 *   kill exec      ends by a signal; becomes this program with the word general */
#include "blas/names.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tesela/tesela.h>
#include <unistd.h>

enum { SIDE = 48, CALLS = 40, ELEMENTS = SIDE * SIDE };
static double a[CALLS * ELEMENTS], b[CALLS * ELEMENTS], c[CALLS * ELEMENTS];

/* Fills with numbers below 1 that are no numbers of f32. */
static void fill(double *numbers) {
  unsigned long long state = 1;
  for (int i = 0; i < CALLS * ELEMENTS; i++) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    numbers[i] = (double)(state >> 11) * 0x1p-53 - 0.5;
  }
}

static void call(const double *x, const double *y, double beta, double *z) {
  cblas_dgemm(ROW, N, N, SIDE, SIDE, SIDE, 1, x, SIDE, y, SIDE, beta, z, SIDE);
}

/* Operands of later calls are equal: no pattern but that of the factors. */
static void do_general(void) {
  for (int i = 0; i < CALLS; i++)
    call(a, b, 0, c);
}
static void do_transposed(void) {
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++)
      b[j * SIDE + i] = a[i * SIDE + j];
  do_general();
}
static void do_lower(void) {
  for (int i = 0; i < SIDE; i++)
    memset(a + i * SIDE + i + 1, 0, (size_t)(SIDE - 1 - i) * sizeof *a);
  do_general();
}
static void do_symmetric(void) {
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < i; j++)
      a[i * SIDE + j] = a[j * SIDE + i];
  do_general();
}
static void do_single(void) {
  for (int i = 0; i < ELEMENTS; i++) {
    a[i] = i % 17;
    b[i] = i % 23;
  }
  do_general();
}
static void do_apart(void) {
  for (int i = 0; i < CALLS; i++)
    call(a + i * ELEMENTS, b + i * ELEMENTS, 0, c + i * ELEMENTS);
}
static void do_chain(void) {
  for (int i = 1; i < CALLS; i++)
    call(c + (i - 1) * ELEMENTS, b + i * ELEMENTS, 0, c + i * ELEMENTS);
}
static void do_share(void) {
  for (int i = 0; i < CALLS; i++)
    call(a + i * ELEMENTS, b, 0, c + i * ELEMENTS);
}
static void do_add(void) {
  for (int i = 0; i < 200 * CALLS; i++)
    cblas_dgemm(ROW, N, N, SIDE, SIDE, 8, 1, a + 8 * (i % CALLS), SIDE, b + 8 * SIDE * (i % CALLS), SIDE,
                i > 0, c, SIDE);
}
static void do_syrk(void) {
  for (int i = 0; i < CALLS; i++)
    cblas_dsyrk(ROW, LOWER, N, SIDE, SIDE, 1, a, SIDE, 0, c, SIDE);
}
static void do_ddot(void) {
  for (int i = 0; i < CALLS; i++)
    c[0] += cblas_ddot(100 + i, a, 1, b, 1);
}

static void *work(void *unused) {
  double *own = calloc(ELEMENTS, sizeof *own);
  for (int i = 0; i < CALLS && own; i++)
    call(a, b, 0, own);
  free(own);
  return unused;
}
static void do_threads(void) {
  pthread_t ids[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&ids[i], NULL, work, NULL) != 0)
      exit(1);
  for (int i = 0; i < 2; i++)
    pthread_join(ids[i], NULL);
}
static void do_fork(void) {
  int status = 1;
  const pid_t child = fork();
  if (child == 0) {
    do_general();
    _exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    exit(1);
}
static void do_kill(void) {
  do_general();
  raise(SIGKILL);
}
static void do_exec(void) {
  do_general();
  execl("/proc/self/exe", "recorded", "general", (char *)NULL);
  exit(1);
}

/* Each public call once or more: a product, a batch, a group, and a plan's runs. */
static void do_api(void) {
  tesela_context *context;
  tesela_plan *plan;
  tesela_gemm_desc desc = {.m = SIDE,
                           .n = SIDE,
                           .k = SIDE,
                           .a = {.data = a, .type = TESELA_F64},
                           .b = {.data = b, .type = TESELA_F64},
                           .c = {.data = c, .type = TESELA_F64}};
  const tesela_batch batch = {.count = 5, .a_stride = ELEMENTS, .b_stride = ELEMENTS, .c_stride = ELEMENTS};
  const tesela_operands operands = {.a = &desc.a, .b = &desc.b, .c = &desc.c};
  if (tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context) != TESELA_OK)
    exit(1);
  for (int i = 0; i < CALLS; i++)
    if (tesela_gemm(context, &desc, NULL) != TESELA_OK)
      exit(1);
  if (tesela_gemm_batched(context, &desc, &batch, NULL) != TESELA_OK ||
      tesela_gemm_grouped(context, &desc, NULL, 1, NULL) != TESELA_OK ||
      tesela_plan_create(context, &desc, &plan) != TESELA_OK)
    exit(1);
  for (int i = 0; i < 3; i++)
    if (tesela_plan_run(plan, &operands, NULL) != TESELA_OK)
      exit(1);
  tesela_plan_destroy(plan);
  tesela_context_destroy(context);
}

static const struct {
  const char *name;
  void (*run)(void);
} words[] = {{"general", do_general}, {"transposed", do_transposed},
             {"lower", do_lower},     {"symmetric", do_symmetric},
             {"single", do_single},   {"apart", do_apart},
             {"chain", do_chain},     {"share", do_share},
             {"add", do_add},         {"syrk", do_syrk},
             {"ddot", do_ddot},       {"threads", do_threads},
             {"fork", do_fork},       {"kill", do_kill},
             {"api", do_api},         {"exec", do_exec}};

int main(int count, char **names) {
  for (int i = 1; i < count; i++) {
    size_t at = 0;
    while (at < sizeof words / sizeof *words && strcmp(words[at].name, names[i]) != 0)
      at++;
    if (at == sizeof words / sizeof *words)
      return 2;
    fill(a);
    fill(b);
    words[at].run();
  }
  return 7;
}

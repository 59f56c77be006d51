/* How much stack the first call of each routine needs: threads may have little. By Fortran's names, whose
 * arguments are all addresses, and by CBLAS's for one type. */
#include "unit/unit.h"

#include "blas/names.h"
#include "unit/sanitizers.h"
#include "unit/stack.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 48 << 10, LARGEST = 600, COUNT = 50 };

static double a[LARGEST * LARGEST * 2], b[LARGEST * LARGEST * 2], c[LARGEST * LARGEST * 2];
static const char none = 'N', trans = 'T', upper = 'U', column = 'C';

/* A call: a routine of one type, on matrices of n x n. */
typedef struct call {
  const char *routine; /* without the type's letter */
  char letter;
  int32_t n;
} call;

static const void *one_of(char letter) {
  static const float single[2] = {1, 0};
  static const double twice[2] = {1, 0};
  return letter == 's' || letter == 'c' ? (const void *)single : (const void *)twice;
}

typedef union function {
  void *address;
  void (*gemm)(const char *, const char *, const int32_t *, const int32_t *, const int32_t *, const void *,
               const void *, const int32_t *, const void *, const int32_t *, const void *, void *,
               const int32_t *);
  void (*gemmt)(const char *, const char *, const char *, const int32_t *, const int32_t *, const void *,
                const void *, const int32_t *, const void *, const int32_t *, const void *, void *,
                const int32_t *);
  void (*strided)(const char *, const char *, const int32_t *, const int32_t *, const int32_t *, const void *,
                  const void *, const int32_t *, const int32_t *, const void *, const int32_t *,
                  const int32_t *, const void *, void *, const int32_t *, const int32_t *, const int32_t *);
  void (*omatcopy)(const char *, const char *, const int32_t *, const int32_t *, const void *, const void *,
                   const int32_t *, void *, const int32_t *);
  void (*imatcopy)(const char *, const char *, const int32_t *, const int32_t *, const void *, void *,
                   const int32_t *, const int32_t *);
} function;

static void *make_call(void *argument) {
  const call *of = argument;
  const void *const one = one_of(of->letter);
  const int32_t n = of->n, few = 30, many = COUNT, apart = few * few;
  char name[32];
  snprintf(name, sizeof name, "%c%s_", of->letter, of->routine);
  const function found = {dlsym(RTLD_DEFAULT, name)};
  if (!found.address)
    return NULL;
  if (strcmp(of->routine, "gemm") == 0)
    found.gemm(&trans, &none, &n, &n, &n, one, a, &n, b, &n, one, c, &n);
  else if (strcmp(of->routine, "omatcopy") == 0)
    found.omatcopy(&column, &trans, &n, &n, one, a, &n, c, &n);
  else if (strcmp(of->routine, "imatcopy") == 0)
    found.imatcopy(&column, &trans, &n, &n, one, c, &n, &n);
  else if (strcmp(of->routine, "gemm_batch_strided") == 0)
    found.strided(&none, &trans, &few, &few, &few, one, a, &few, &apart, b, &few, &apart, one, c, &few,
                  &apart, &many);
  else
    found.gemmt(&upper, &none, &trans, &n, &n, one, a, &n, b, &n, one, c, &n);
  return argument;
}

static void *make_dots(void *argument) {
  const int32_t n = 100000, step = 2;
  float single[2];
  double twice[2];
  single[0] = sdot_(&n, (float *)a, &step, (float *)b, &step);
  twice[0] = cblas_ddot(n, a, 2, b, 2);
  twice[1] = dsdot_(&n, (float *)a, &step, (float *)b, &step);
  single[1] = cblas_sdsdot(n, 1, (float *)a, 2, (float *)b, 1);
  cblas_zdotc_sub(n, a, 1, b, 1, c);
  return single[0] + single[1] + twice[0] + twice[1] == 1 ? argument : NULL;
}

static void *make_cblas_calls(void *argument) {
  const int32_t n = *(const int32_t *)argument, ones[] = {n}, group[] = {1};
  const int transposed[] = {T};
  const double one = 1, *const as[] = {a}, *const bs[] = {b};
  double *const cs[] = {c};
  cblas_dgemmt(ROW, UPPER, N, T, n, n, 1, a, n, b, n, 0, c, n);
  cblas_dgemm(ROW, T, N, n, n, n, 1, a, n, b, n, 0, c, n);
  cblas_dgemm_batch(COLUMN, transposed, transposed, ones, ones, ones, &one, as, ones, bs, ones, &one, cs,
                    ones, 1, group);
  cblas_domatcopy(ROW, T, n, n, 1, a, n, c, n);
  return argument;
}

/* In a child, where nothing was called yet. */
static bool is_frugal(void *(*body)(void *), void *argument, const char *name, int32_t n) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const size_t used = stack_used(body, argument);
    if (used == 0 || used > MOST)
      print_error("%s, %d: %zu bytes of stack\n", name, n, used);
    _exit(used > 0 && used <= MOST ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void first_calls_need_little(void **state) {
  static const char *const routines[] = {"gemm",     "gemmt",    "gemmtr",
                                         "omatcopy", "imatcopy", "gemm_batch_strided"};
  static const int32_t sizes[] = {3, 40, 90, 120, LARGEST};
  static const char letters[] = {'s', 'd', 'c', 'z'};
  int wrong = 0;
  (void)state;
  if (ADDRESS_SANITIZER || THREAD_SANITIZER) {
    print_message("sanitizers put more on stacks\n");
    skip();
  }
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    int32_t size = sizes[s];
    for (size_t r = 0; r < sizeof routines / sizeof *routines; r++)
      for (size_t l = 0; l < sizeof letters; l++)
        wrong += !is_frugal(make_call, &(call){routines[r], letters[l], size}, routines[r], size);
    wrong += !is_frugal(make_cblas_calls, &size, "cblas", size);
  }
  wrong += !is_frugal(make_dots, (void *)(uintptr_t)sizes, "dots", 0);
  assert_int_equal(wrong, 0);
}

/* Counts, in `argument`, this project's libraries (first number), and how many of these bind
 * functions at load time (second number). */
static int note_binding(struct dl_phdr_info *info, size_t size, void *argument) {
  int *counts = argument;
  (void)size;
  if (!strstr(info->dlpi_name, "libtesela"))
    return 0;
  counts[0]++;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      for (const ElfW(Dyn) *at = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
           at->d_tag != DT_NULL; at++)
        counts[1] += at->d_tag == DT_FLAGS_1 && (at->d_un.d_val & DF_1_NOW);
  return 0;
}

/* Else a first call saves all registers on its caller's stack: with AMX these take 11 KiB, which this machine
 * may not have. */
static void functions_are_bound_early(void **state) {
  int counts[2] = {0, 0};
  (void)state;
  dl_iterate_phdr(note_binding, counts);
  assert_true(counts[0] > 0);
  assert_int_equal(counts[1], counts[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(functions_are_bound_early),
                                     cmocka_unit_test(first_calls_need_little)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

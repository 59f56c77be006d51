/* check_blas FILE [whole]: whether a library is a BLAS that others can rest on: a routine of each level and
 * type is there, its integers have 32 bits, and it computes. Prints who serves products, `products <file>`;
 * exits 1 with a sentence where something is wrong. A library of tesela's own is none to rest on, unless
 * `whole` is said. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *file;

static int check_blas_refuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", file);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  return 1;
}

typedef double dot_function(const int64_t *, const double *, const int64_t *, const double *,
                            const int64_t *);
typedef void gemm_function(const char *, const char *, const int *, const int *, const int *, const double *,
                           const double *, const int *, const double *, const int *, const double *, double *,
                           const int *);
typedef void trsm_function(const char *, const char *, const char *, const char *, const int *, const int *,
                           const double *, const double *, const int *, double *, const int *);

/* ISO C has no cast between objects and functions. */
typedef union symbol {
  void *address;
  dot_function *dot;
  gemm_function *gemm;
  trsm_function *trsm;
} symbol;

/* Returns true if a dot product reads counts of 32 bits. The count is 1 in its low 32 bits (little-endian),
 * and negative as 64 bits: a 64-bit function sums nothing. */
static bool has_32_bits(dot_function *dot) {
  const int64_t count = INT64_MIN + 1, step = 1;
  const double x = 3, y = 5;
  return dot(&count, &x, &step, &y, &step) == 15;
}

/* Whole numbers, so that every order of sums gives them exactly. */
static bool check_blas_multiplies(gemm_function *gemm) {
  enum { SIZE = 17 };
  static double a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
  const int size = SIZE;
  const double two = 2, one = 1;
  for (int i = 0; i < SIZE * SIZE; i++) {
    a[i] = i % 7;
    b[i] = i % 5 - 2;
    c[i] = 1;
  }
  gemm("T", "N", &size, &size, &size, &two, a, &size, b, &size, &one, c, &size);
  for (int i = 0; i < SIZE * SIZE; i++) {
    double sum = 1;
    for (int k = 0; k < SIZE; k++)
      sum += 2 * a[i % SIZE * SIZE + k] * b[i / SIZE * SIZE + k];
    if (c[i] != sum)
      return false;
  }
  return true;
}

/* (2 0; 4 1) x = (6; 17) */
static bool check_blas_solves(trsm_function *trsm) {
  const double matrix[] = {2, 4, 0, 1}, one = 1;
  double x[] = {6, 17};
  const int two = 2, columns = 1;
  trsm("L", "L", "N", "N", &two, &columns, &one, matrix, &two, x, &two);
  return x[0] == 3 && x[1] == 5;
}

static void print_file(const char *what, void *address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || !info.dli_fname)
    return;
  char *path = realpath(info.dli_fname, NULL);
  printf("%s %s\n", what, path ? path : info.dli_fname);
  free(path);
}

int main(int argc, char **argv) {
  static const char *const names[] = {"saxpy_", "dscal_", "zcopy_", "cgemv_", "dgemv_", "ssymm_",
                                      "dsyrk_", "ztrsm_", "sgemm_", "cgemm_", "zgemm_", "xerbla_"};
  if (argc < 2 || (argc > 2 && strcmp(argv[2], "whole") != 0)) {
    fprintf(stderr, "check_blas FILE [whole]\n");
    return 2;
  }
  file = argv[1];
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    const size_t length = strlen(file);
    const bool says_so = strncmp(why, file, length) == 0 && strncmp(why + length, ": ", 2) == 0;
    return check_blas_refuse("%s", says_so ? why + length + 2 : why);
  }
  if (argc < 3 && dlsym(library, "tesela_blas_copy"))
    return check_blas_refuse("is tesela's own, which lacks the rest of BLAS");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!dlsym(library, names[i]))
      return check_blas_refuse("is not a whole BLAS: it has no %s", names[i]);
  const symbol dot = {dlsym(library, "ddot_")}, gemm = {dlsym(library, "dgemm_")},
               trsm = {dlsym(library, "dtrsm_")};
  if (!dot.address || !gemm.address || !trsm.address)
    return check_blas_refuse("is not a whole BLAS: it has no %s", !dot.address    ? "ddot_"
                                                                  : !gemm.address ? "dgemm_"
                                                                                  : "dtrsm_");
  if (!has_32_bits(dot.dot))
    return check_blas_refuse("has 64-bit integers, and callers of libblas.so.3 use 32 bits");
  if (!check_blas_multiplies(gemm.gemm) || !check_blas_solves(trsm.trsm))
    return check_blas_refuse("computes wrongly");
  print_file("products", gemm.address);
  return 0;
}

/* Libraries that are compared, loaded by path: builds of tesela, CBLAS libraries, and drop-ins. */
#ifndef TSL_BENCH_PEERS_H
#define TSL_BENCH_PEERS_H

#include "builds.h"
#include "harness.h"

/* CBLAS functions of a product. `scalar`: how alpha and beta are passed. */
#define CBLAS_GEMM(name, type, scalar)                                                                       \
  typedef void name(int order, int trans_a, int trans_b, int m, int n, int k, scalar alpha, const type *a,   \
                    int lda, const type *b, int ldb, scalar beta, type *c, int ldc);
CBLAS_GEMM(cblas_sgemm_call, float, float)
CBLAS_GEMM(cblas_dgemm_call, double, double)
CBLAS_GEMM(cblas_complex_call, void, const void *)
#undef CBLAS_GEMM
enum { CBLAS_ROW_MAJOR = 101, CBLAS_NO_TRANS = 111, CBLAS_TRANS = 112 };

typedef struct bench_library {
  const char *name;
  char version[320]; /* versions and kernels that the library reports; "" if it cannot be asked */
  void *handle;      /* NULL: this program's tesela */
  build tesela;      /* all NULL for another library */
  tesela_context *context;
  cblas_sgemm_call *sgemm;
  cblas_dgemm_call *dgemm;
  cblas_complex_call *cgemm, *zgemm;
} bench_library;

/* Prints a line for each set variable that makes a library use other kernels than it would choose. */
void bench_warn(void);
/* Sets the numbers of threads of all known libraries; call it before any is loaded. */
void bench_set_threads(int threads);
/* Binds this process to the first processors that it may use. */
void bench_pin(int threads);

/* Opens "NAME=PATH", or a path with the name "drop-in". Its symbols bind to itself. A build of tesela gets a
 * context of the processor with `threads` (0: all). Finds the CBLAS functions that it has, and prints its
 * version. */
void bench_library_open(char *word, int threads, bench_library *out);
/* Opens a build of tesela at `path`; NULL: the program's own tesela. */
void bench_build_open(const char *name, const char *path, int threads, bench_library *out);
void bench_build_must(const bench_library *library, tesela_status status);
/* Returns the text of a plan of a build. */
const char *bench_plan_text(const bench_library *library, const tesela_plan *plan);
void bench_library_close(bench_library *library);
/* Returns a function by one of the prefixes "cblas_", "scipy_cblas_", "" and "scipy_"; NULL if there is none.
 * Of a Fortran name, which ends with an underscore, only by "" and "scipy_": MKL's cblas_ssyrk_ takes C's
 * arguments. */
void *bench_symbol(const bench_library *library, const char *name);
/* Returns true if the library has all four products of CBLAS. */
bool bench_has_cblas(const bench_library *library);
/* Runs a CBLAS product, C = A B, of letter s, d, c or z; `layout` of A and B is two letters N or T. */
void bench_cblas(const bench_library *library, char letter, const char *layout, const int64_t size[3],
                 const void *a, const void *b, void *c);

#endif

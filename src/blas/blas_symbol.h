/* libtesela_blas.so: tesela under the names of BLAS. Its products, dots and transposes are computed by tesela
 * or by the host BLAS, whichever is faster. The host BLAS is the BLAS that the program would use without
 * tesela. A program links the library, or is started with it in LD_PRELOAD.
 *
 *   entries/         one exported function per name; converts its arguments to a struct of blas_arguments.h
 *     routines         table of all routines, a row each: start here
 *     entry_arguments entry_forms    kinds of arguments in Fortran and CBLAS; forms of entries
 *     gemm_entries entries_of_type scheme    gemm and batches; compiled for each type and naming scheme
 *     xerbla           error handlers and similar functions of a BLAS
 *   blas_direct      small calls of levels 1 and 2, computed in the entry
 *   blas_gemm inner_gemm blas_batch groups blas_dot matcopy
 *                    check the arguments, ask the route, and compute or return the function to forward to
 *   blas_level1 blas_level2 blas_vectors
 *                    the same for vectors and matrix times vector, with the kernels of src/vector
 *   blas_level3      the same for symmetric and triangular factors, by one of these ways:
 *     level3_check level3_layout     arguments; operands and strides of a call
 *     level3_compute                 tries these in order:
 *     level3_solve level3_direct level3_planned level3_blocks reference_level3
 *                                    systems and small calls; without a plan; by a plan; by blocks; loops
 *     rank2k_concat level3_helpers   two thin products as one; copies and small triangles
 *   blas_route                       tesela, host BLAS or plain loops
 *   blas_dispatch    repeated calls and small products
 *   blas_context     contexts of the process, and public calls on them
 *   blas_threads blas_thread_limit   number of threads; limits set in another library
 *   host_blas_lookup int_width peer_rating peer_race level3_foreign_call
 *                    finds the host BLAS; its integer width; its speed, raced; its functions
 *   background       thread that plans for other devices and races the host BLAS
 *   check_args reference_blas call_log
 *                    wrong arguments; every routine in plain loops; nesting and TESELA_LOG=calls
 *
 * An entry calls a function that returns NULL if the result is complete, or else the function of equal name
 * in the host BLAS. The entry calls the latter with its own arguments, then tsl_blas_forwarded(). All
 * functions are safe in many threads and in the child of a fork. */
#ifndef TSL_BLAS_BLAS_SYMBOL_H
#define TSL_BLAS_BLAS_SYMBOL_H

#include "interpose/next_symbol.h"

typedef tsl_next_function tsl_blas_function;

/* Kind of library that a symbol is found in: its expected speed. */
typedef enum tsl_blas_peer {
  TSL_BLAS_PEER_NONE,
  TSL_BLAS_PEER_PLAIN, /* the reference implementation, or other plain loops */
  TSL_BLAS_PEER_TUNED,
  TSL_BLAS_PEER_WIDE,    /* 64-bit integers under 32-bit names; all forwarded */
  TSL_BLAS_PEER_UNKNOWN, /* plain or tuned: rated when needed (peer_rating.h) */
  TSL_BLAS_PEER_PENDING  /* being rated in the background; counts as tuned */
} tsl_blas_peer;

typedef struct tsl_blas_symbol {
  const char *name;   /* "scipy_cblas_dgemm64_" */
  const char *title;  /* for xerbla: "DGEMM ", "cblas_dgemm" */
  const char *xerbla; /* name of the error handler to call */
  /* family: symbol that a host BLAS must also have; probe: function to test its integer width. */
  const char *family, *probe;
  int bits; /* bits of integers */
  bool cblas;
  tesela_type type;
  tsl_lazy_symbol next;
  _Atomic(const char *) library; /* file name of the library of `next`, for the table; NULL: not known */
  _Atomic int peer;              /* tsl_blas_peer of `next` */
  atomic_bool asked;             /* `next` was searched before the first small product */
  /* Work (multiply-adds or elements) below which calls are forwarded unchecked; 0: always check. */
  _Atomic double pass_below;
  /* Elements [own_from, own_below) in which tesela computes unchecked; own_below 0: always check. */
  _Atomic double own_from, own_below;
  atomic_uint standing; /* level 3: state and result of its race (peer_rating.c); 0: none */
} tsl_blas_symbol;

/* Returns the host BLAS function for a call with little work; NULL: the full route decides. */
static inline tsl_blas_function *tsl_blas_forward_if_below(tsl_blas_symbol *symbol, double work) {
  if (work >= atomic_load_explicit(&symbol->pass_below, memory_order_acquire))
    return NULL;
  return atomic_load_explicit(&symbol->next.found, memory_order_relaxed);
}

#endif

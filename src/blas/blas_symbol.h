/* libtesela_blas.so: tesela behind BLAS's names. A program that is linked with it, or started with it in
 * LD_PRELOAD, has its products, dots and transposes computed here or by the BLAS that it had before,
 * whichever is faster.
 *
 *   entries/    one exported function a name: says its arguments as one of the structs of blas_arguments.h
 *   gemm gemmt batch dot matcopy    check them, ask route, and compute, or return whom to forward to
 *   level3      the same for factors that are symmetric or triangular; _check, _layout (what a call
 * multiplies), _compute (which way), _little (few rows), _join (two thin products as one), _solve (systems,
 * without plans), _plans, _blocks (as products, by triangle and pieces), _parts (what they need beside),
 * _loops; route_level3: its routes level1 level2 vectors           the same for vectors, and matrices times
 * vectors, which the room vector has entries/xerbla.c    what other routines of a BLAS call: error handlers
 * and the like route       tesela, the program's own BLAS, or a plain loop dispatch    what calls that come
 * again come to, and small products context     the process's contexts, and the public calls on them threads
 * how many threads a call has; follow: how many another library has next        finds the program's own BLAS;
 * width: how wide its integers are; standing: how good it is, standing_level3: at triangles; level3_theirs:
 * its functions check       wrong arguments; loops: every routine in plain loops calls       calls under way,
 * and what was called, for TESELA_LOG=calls
 *
 * An entry calls a function that returns NULL when the result is there, or the function of the same name in
 * another library: the entry calls that one with its own arguments, then tsl_blas_forwarded(). Everything is
 * safe from many threads, and in the child of a fork. */
#ifndef TSL_BLAS_BLAS_SYMBOL_H
#define TSL_BLAS_BLAS_SYMBOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <tesela/tesela.h>

typedef void tsl_blas_function(void);

/* A function of another library, looked for when it is needed. A search that finds nothing is repeated after
 * 1, 2, 4, 8, ... calls, because programs load libraries as they go. */
typedef struct tsl_blas_lazy_symbol {
  tsl_blas_function *_Atomic found;
  atomic_uint tries;
} tsl_blas_lazy_symbol;

/* What a symbol is that is found: how fast to expect it to be. */
typedef enum tsl_blas_peer {
  TSL_BLAS_PEER_NONE,
  TSL_BLAS_PEER_PLAIN, /* the reference implementation, or another one in plain loops */
  TSL_BLAS_PEER_TUNED,
  TSL_BLAS_PEER_WIDE, /* with 64-bit integers under names of 32-bit ones: so has the program, whose calls all
                         pass */
  TSL_BLAS_PEER_UNKNOWN /* plain or tuned: peer_rating.h finds out where it counts */
} tsl_blas_peer;

/* An exported name. Static in its entry. */
typedef struct tsl_blas_symbol {
  const char *name;   /* "scipy_cblas_dgemm64_" */
  const char *title;  /* what xerbla is told: "DGEMM ", "cblas_dgemm" */
  const char *xerbla; /* which one is called */
  /* Another library's symbol is believed where the library has the first of these names, too, and integers of
   * so many bits, which the second one tells (int_width.c). */
  const char *family, *probe;
  int bits;
  bool cblas;
  tesela_type type;
  tsl_blas_lazy_symbol next;
  _Atomic int peer;  /* tsl_blas_peer of next */
  atomic_bool asked; /* whether it was looked for before a small product was done */
  /* Work (multiply-adds, elements) below which calls go to next without a look at anything else; 0: always
   * look. */
  _Atomic double pass_below;
  /* Elements from which on, and below which, calls are computed here without a look at anything else; 0:
   * always look. */
  _Atomic double own_from, own_below;
  atomic_uint standing; /* of Level 3 beside a tuned library: peer_rating_level3.h's; 0: not asked yet */
} tsl_blas_symbol;

/* The short way to the other library: tiny calls take less time than deciding about them. */
static inline tsl_blas_function *tsl_blas_forward_if_below(tsl_blas_symbol *symbol, double work) {
  if (work >= atomic_load_explicit(&symbol->pass_below, memory_order_acquire))
    return NULL;
  return atomic_load_explicit(&symbol->next.found, memory_order_relaxed);
}

#endif

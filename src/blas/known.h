/* Products that come again: what an entry compares its arguments with before it does anything else, for a call takes
 * longer than a tiny product. The product's kernel is called with no function between. instant.c learns and owns. */
#ifndef TSL_BLAS_KNOWN_H
#define TSL_BLAS_KNOWN_H

#include "api/instant.h"

#include <stdatomic.h>
#include <string.h>

/* A call that came, and what is known about it. Never changed and never freed: any number of threads may read it. */
typedef struct tsl_blas_known {
  void *prepared;      /* NULL: it is nothing for run_prepared() */
  tsl_at_once *surely; /* as prepare() says it; NULL: nothing for an entry to call */
  int64_t m, n, k, lda, ldb, ldc;
  uint64_t alpha, beta;         /* bits */
  int kind;                     /* tsl_blas_kind() */
  int trans_a, trans_b;         /* CBLAS's numbers or Fortran's capitals, as the entry has them */
  struct tsl_blas_known *older; /* what had the place before */
} tsl_blas_known;

enum { TSL_BLAS_PLACES = 256 };
/* Each place has the last call that was not there before, since the process has its context. */
extern _Atomic(tsl_blas_known *) tsl_blas_known_calls[TSL_BLAS_PLACES];

/* The order and the type. */
static inline int tsl_blas_kind(tesela_type type, int order) {
  return (int)((unsigned)order + 1024 * (unsigned)type);
}

static inline uint64_t tsl_blas_bits(tesela_type type, const void *scalar) {
  uint32_t single;
  uint64_t bits;
  if (type == TESELA_F32) {
    memcpy(&single, scalar, sizeof single);
    return single;
  }
  memcpy(&bits, scalar, sizeof bits);
  return bits;
}

/* Few and quick operations: the product waits for them. Cubes of 256 sizes in a row have places of their own. */
static inline unsigned tsl_blas_place(tesela_type type, int trans_a, int trans_b, int64_t m, int64_t n,
                                      int64_t k) {
  const unsigned letters = (unsigned)trans_a + 2 * (unsigned)trans_b + 4 * (unsigned)type;
  return ((unsigned)m + 4 * (unsigned)n + 16 * (unsigned)k + 32 * letters) % TSL_BLAS_PLACES;
}

/* What is known about a call whose scalars are of a real type and lie at alpha and beta; NULL: nothing. The arguments one by
 * one, as they are in registers: a struct of them that was just written takes time to reach the cache. */
static inline const tsl_blas_known *tsl_blas_recall(tesela_type type, int order, int trans_a, int trans_b,
                                                    int64_t m, int64_t n, int64_t k, const void *alpha,
                                                    int64_t lda, int64_t ldb, const void *beta, int64_t ldc) {
  const tsl_blas_known *was = atomic_load_explicit(
      &tsl_blas_known_calls[tsl_blas_place(type, trans_a, trans_b, m, n, k)], memory_order_acquire);
  if (was && was->m == m && was->n == n && was->k == k && was->lda == lda && was->ldb == ldb &&
      was->ldc == ldc && was->kind == tsl_blas_kind(type, order) && was->trans_a == trans_a &&
      was->trans_b == trans_b && was->alpha == tsl_blas_bits(type, alpha) &&
      was->beta == tsl_blas_bits(type, beta))
    return was;
  return NULL;
}

/* Whether addresses are multiples of an element's size, as compilers assume. */
static inline bool tsl_blas_aligned(tesela_type type, const void *a, const void *b, const void *c) {
  return (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) & (type == TESELA_F32 ? 3 : 7)) == 0;
}

/* The same for an entry of any type: what is returned has `surely`. */
static inline const tsl_blas_known *tsl_blas_hurry(tesela_type type, int order, int trans_a, int trans_b,
                                                   int64_t m, int64_t n, int64_t k, const void *alpha,
                                                   const void *a, int64_t lda, const void *b, int64_t ldb,
                                                   const void *beta, const void *c, int64_t ldc) {
  if ((type != TESELA_F32 && type != TESELA_F64) || !tsl_blas_aligned(type, a, b, c))
    return NULL;
  const tsl_blas_known *known =
      tsl_blas_recall(type, order, trans_a, trans_b, m, n, k, alpha, lda, ldb, beta, ldc);
  return known && known->surely ? known : NULL;
}

#endif

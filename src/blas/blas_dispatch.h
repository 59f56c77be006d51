/* Lookup of products in the dispatch cache (dispatch/call_cache.h), and small products that are not in it. */
#ifndef TSL_BLAS_BLAS_DISPATCH_H
#define TSL_BLAS_BLAS_DISPATCH_H

#include "blas/blas_arguments.h"
#include "blas/blas_route.h"
#include "blas/call_log.h"
#include "blas/host_blas_lookup.h"
#include "dispatch/dispatch.h"

/* The cpu for new small products, set by the first call that uses it without call logging; else NULL. */
extern _Atomic(const tsl_device *) tsl_blas_direct_cpu;

/* Sets the scalars of a real call; compares their bits with 0 and 1. */
static inline void tsl_blas_set_scalars(tesela_type type, const void *alpha, const void *beta,
                                        tsl_call *call) {
  const bool single = type == TESELA_F32;
  const uint64_t alpha_bits = tsl_dispatch_bits(type, alpha), beta_bits = tsl_dispatch_bits(type, beta);
  call->alpha[0] = single ? (double)*(const float *)alpha : *(const double *)alpha;
  call->beta[0] = single ? (double)*(const float *)beta : *(const double *)beta;
  call->alpha_is_0 = (single ? (uint32_t)alpha_bits << 1 : alpha_bits << 1) == 0;
  call->alpha_is_1 = alpha_bits == (single ? UINT64_C(0x3f800000) : UINT64_C(0x3ff0000000000000));
  call->beta_is_0 = (single ? (uint32_t)beta_bits << 1 : beta_bits << 1) == 0;
}

/* Computes a small uncached product with its arguments in place, so that only the kernel's inputs are
 * written. Returns false without effect for other calls. `plain`: N; `turned`: T or C. */
static inline bool tsl_blas_small_gemm(tsl_blas_symbol *symbol, tesela_type type, int order, int trans_a,
                                       bool plain_a, bool turned_a, int trans_b, bool plain_b, bool turned_b,
                                       int64_t m, int64_t n, int64_t k, const void *alpha, const void *a,
                                       int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                                       int64_t ldc) {
  const tsl_device *cpu = atomic_load_explicit(&tsl_blas_direct_cpu, memory_order_acquire);
  if ((type != TESELA_F32 && type != TESELA_F64) || !cpu ||
      ((uint64_t)(m - 1) | (uint64_t)(n - 1) | (uint64_t)(k - 1)) >= (uint64_t)tsl_crossovers.argument_side ||
      (order != TSL_BLAS_ROW_MAJOR && order != TSL_BLAS_COLUMN_MAJOR) || !(plain_a | turned_a) ||
      !(plain_b | turned_b) || !tsl_dispatch_aligned(type, a, b, c) || tsl_blas_is_wide(symbol))
    return false;
  const bool by_row = order == TSL_BLAS_ROW_MAJOR, a_by_row = by_row != turned_a,
             b_by_row = by_row != turned_b;
  if (lda < (a_by_row ? k : m) || ldb < (b_by_row ? n : k) || ldc < (by_row ? n : m))
    return false;
  const uint32_t tag =
      tsl_dispatch_tag(m, n, k, lda, ldb, ldc, tsl_dispatch_bits(type, alpha), tsl_dispatch_bits(type, beta),
                       tsl_dispatch_kind(type, 0), order, trans_a, trans_b);
  if (!tsl_dispatch_is_unknown(type, trans_a, trans_b, m, n, k, tag))
    return false;
  tsl_call product; /* member by member, see blas_dispatch.c */
  product.type = type;
  product.solves = false;
  product.a_is = TESELA_GENERAL;
  product.c_triangle = TESELA_WHOLE;
  product.m = m;
  product.n = n;
  product.k = k;
  product.a.data = a;
  product.b.data = b;
  product.c.data = c;
  product.a.conjugate = product.b.conjugate = false;
  product.a.row = a_by_row ? lda : 1;
  product.a.col = a_by_row ? 1 : lda;
  product.b.row = b_by_row ? ldb : 1;
  product.b.col = b_by_row ? 1 : ldb;
  product.c.row = by_row ? ldc : 1;
  product.c.col = by_row ? 1 : ldc;
  tsl_blas_set_scalars(type, alpha, beta, &product);
  return tsl_dispatch(&product, cpu, NULL);
}

/* Looks a product up, and computes a small one without a plan. Returns false without effect if
 * tsl_blas_gemm() must handle it; *next is the host BLAS function if the call is known to be forwarded. */
bool tsl_blas_dispatch_real(tsl_blas_symbol *symbol, const tsl_blas_multiply *product,
                            tsl_blas_function **next);
/* Computes as tsl_blas_dispatch_real(), and logs the call. */
bool tsl_blas_dispatch_heard(tsl_blas_symbol *symbol, const tsl_blas_multiply *product,
                             tsl_blas_function **next);
/* Dispatches a call of a constant type. For complex products only the size decides about forwarding. */
static inline bool tsl_blas_dispatch(tsl_blas_symbol *symbol, tesela_type type,
                                     const tsl_blas_multiply *product, tsl_blas_function **next) {
  if (type != TESELA_F32 && type != TESELA_F64) {
    *next = tsl_blas_forward_if_below(symbol, tsl_blas_volume(product));
    return false;
  }
  return tsl_blas_takes_small() && !tsl_blas_is_wide(symbol) &&
         (tsl_blas_logging ? tsl_blas_dispatch_heard : tsl_blas_dispatch_real)(symbol, product, next);
}
/* Records in the cache that such calls are always forwarded. */
void tsl_blas_dispatch_note_next(const tsl_blas_symbol *symbol, const tsl_blas_multiply *product);

#endif

/* SCALAR is the parameter type of a scalar, SCALAR_AT(scalar) its address. tesela reads the INTEGER part of a
 * WORD; the host BLAS gets all of it. */

#define ARGUMENTS                                                                                            \
  .trans_a = tsl_blas_trans(transa), .trans_b = tsl_blas_trans(transb), .k = (INTEGER)k,                     \
  .alpha = SCALAR_AT(alpha), .a = a, .lda = (INTEGER)lda, .b = b, .ldb = (INTEGER)ldb,                       \
  .beta = SCALAR_AT(beta), .c = c, .ldc = (INTEGER)ldc

/* Not inlined, so that calls with a cached kernel save no registers. */
static __attribute__((noinline)) void WITHOUT_KERNEL(CBLAS(L(gemm)))(int order, int transa, int transb,
                                                                     WORD m, WORD n, WORD k, SCALAR alpha,
                                                                     const void *a, WORD lda, const void *b,
                                                                     WORD ldb, SCALAR beta, void *c,
                                                                     WORD ldc) {
  typedef void forward(int, int, int, WORD, WORD, WORD, SCALAR, const void *, WORD, const void *, WORD,
                       SCALAR, void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(gemm));
  if (tsl_blas_small_gemm(
          &symbol, TSL_BLAS_TYPE, order, transa, transa == 111, transa == 112 || transa == 113, transb,
          transb == 111, transb == 112 || transb == 113, (INTEGER)m, (INTEGER)n, (INTEGER)k, SCALAR_AT(alpha),
          a, (INTEGER)lda, b, (INTEGER)ldb, SCALAR_AT(beta), c, (INTEGER)ldc))
    return;
  const tsl_blas_multiply product = {.order = order, .m = (INTEGER)m, .n = (INTEGER)n, ARGUMENTS};
  tsl_blas_function *next = NULL;
  if (tsl_blas_dispatch(&symbol, TSL_BLAS_TYPE, &product, &next))
    return;
  tsl_blas_call call = {.symbol = &symbol};
  if (!next)
    next = tsl_blas_gemm(&call, &product);
  if (next) {
    ((forward *)next)(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(gemm))(int order, int transa, int transb, WORD m, WORD n, WORD k, SCALAR alpha,
                               const void *ON_STACK a, WORD ON_STACK lda, const void *ON_STACK b,
                               WORD ON_STACK ldb, SCALAR beta, void *ON_STACK c, WORD ON_STACK ldc) {
  const tsl_dispatch_entry *known = tsl_dispatch_kernel(
      TSL_BLAS_TYPE, order, transa, transb, (INTEGER)m, (INTEGER)n, (INTEGER)k, SCALAR_AT(alpha), a,
      (INTEGER)lda, b, (INTEGER)ldb, SCALAR_AT(beta), c, (INTEGER)ldc);
  if (known)
    (void)known->kernel(known->state, a, b, c);
  else
    WITHOUT_KERNEL(CBLAS(L(gemm)))(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

#define GEMMT gemmt
#include "blas/entries/cblas_gemmt.h"
#undef GEMMT
#define GEMMT gemmtr
#include "blas/entries/cblas_gemmt.h"
#undef GEMMT

TESELA_API void CBLAS(L(gemm_batch))(int order, const int *transa, const int *transb, const INTEGER *m,
                                     const INTEGER *n, const INTEGER *k, const void *alpha,
                                     const void *const *a, const INTEGER *lda, const void *const *b,
                                     const INTEGER *ldb, const void *beta, void *const *c, const INTEGER *ldc,
                                     WORD group_count, const INTEGER *group_size) {
  typedef void forward(int, const int *, const int *, const INTEGER *, const INTEGER *, const INTEGER *,
                       const void *, const void *const *, const INTEGER *, const void *const *,
                       const INTEGER *, const void *, void *const *, const INTEGER *, WORD, const INTEGER *);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(gemm_batch));
  tsl_blas_call call = {.symbol = &symbol};
  if ((INTEGER)group_count <= 0)
    return;
  tsl_blas_function *next = tsl_blas_batch(&call,
                                           &(tsl_blas_multiply){.order = order,
                                                                .trans_a = tsl_blas_trans(*transa),
                                                                .trans_b = tsl_blas_trans(*transb),
                                                                .m = *m,
                                                                .n = *n,
                                                                .k = *k},
                                           (INTEGER)group_count);
  if (next) {
    ((forward *)next)(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, group_count,
                      group_size);
    tsl_blas_forwarded(&call);
    return;
  }
  const TSL_BLAS_ELEMENT *alphas = alpha, *betas = beta;
  tsl_blas_group *groups = tsl_blas_take_groups((INTEGER)group_count);
  for (int64_t group = 0, at = 0; groups && group < (INTEGER)group_count; at += group_size[group++])
    groups[group] = (tsl_blas_group){
        .product = {.order = order,
                    .trans_a = tsl_blas_trans(transa[group]),
                    .trans_b = tsl_blas_trans(transb[group]),
                    .m = m[group],
                    .n = n[group],
                    .k = k[group],
                    .alpha = alphas + group,
                    .lda = lda[group],
                    .ldb = ldb[group],
                    .beta = betas + group,
                    .ldc = ldc[group]},
        .batch = {
            .count = group_size[group] > 0 ? group_size[group] : 0, .a = a + at, .b = b + at, .c = c + at}};
  const bool side_by_side = tsl_blas_run_groups(&call, groups, (INTEGER)group_count);
  for (int64_t group = 0, at = 0; group < (INTEGER)group_count; at += group_size[group++]) {
    if (groups && !side_by_side &&
        tsl_blas_uniform_batch(&call, &groups[group].product, &groups[group].batch))
      continue;
    for (int64_t i = groups ? groups[group].done : 0; i < group_size[group]; i++)
      CBLAS(L(gemm))
    (order, transa[group], transb[group], m[group], n[group], k[group], SCALAR_OF(alphas[group]), a[at + i],
     lda[group], b[at + i], ldb[group], SCALAR_OF(betas[group]), c[at + i], ldc[group]);
  }
  free(groups);
}

TESELA_API void CBLAS(L(gemm_batch_strided))(int order, int transa, int transb, WORD m, WORD n, WORD k,
                                             SCALAR alpha, const void *a, WORD lda, WORD stride_a,
                                             const void *b, WORD ldb, WORD stride_b, SCALAR beta, void *c,
                                             WORD ldc, WORD stride_c, WORD count) {
  typedef void forward(int, int, int, WORD, WORD, WORD, SCALAR, const void *, WORD, WORD, const void *, WORD,
                       WORD, SCALAR, void *, WORD, WORD, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(gemm_batch_strided));
  tsl_blas_call call = {.symbol = &symbol};
  if ((INTEGER)count <= 0)
    return;
  const tsl_blas_multiply first = {.order = order, .m = (INTEGER)m, .n = (INTEGER)n, ARGUMENTS};
  tsl_blas_function *next = tsl_blas_batch(&call, &first, (INTEGER)count);
  if (next) {
    ((forward *)next)(order, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
                      stride_c, count);
    tsl_blas_forwarded(&call);
    return;
  }
  if (tsl_blas_uniform_batch(&call, &first,
                             &(tesela_batch){.count = (INTEGER)count,
                                             .a_stride = (INTEGER)stride_a,
                                             .b_stride = (INTEGER)stride_b,
                                             .c_stride = (INTEGER)stride_c}))
    return;
  const TSL_BLAS_ELEMENT *as = a, *bs = b;
  TSL_BLAS_ELEMENT *cs = c;
  for (int64_t i = 0; i < (INTEGER)count; i++)
    CBLAS(L(gemm))
  (order, transa, transb, m, n, k, alpha, as + i * (INTEGER)stride_a, lda, bs + i * (INTEGER)stride_b, ldb,
   beta, cs + i * (INTEGER)stride_c, ldc);
}

TESELA_API void CBLAS(L(omatcopy))(int order, int trans, WORD rows, WORD cols, SCALAR alpha, const void *a,
                                   WORD lda, void *b, WORD ldb) {
  typedef void forward(int, int, WORD, WORD, SCALAR, const void *, WORD, void *, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(omatcopy));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, (double)(INTEGER)rows * (double)(INTEGER)cols);
  if (!next)
    next = tsl_blas_matcopy(&call, &(tsl_blas_copy){.order = order,
                                                    .trans = tsl_blas_trans(trans),
                                                    .rows = (INTEGER)rows,
                                                    .cols = (INTEGER)cols,
                                                    .alpha = SCALAR_AT(alpha),
                                                    .a = a,
                                                    .lda = (INTEGER)lda,
                                                    .b = b,
                                                    .ldb = (INTEGER)ldb});
  if (next) {
    ((forward *)next)(order, trans, rows, cols, alpha, a, lda, b, ldb);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(imatcopy))(int order, int trans, WORD rows, WORD cols, SCALAR alpha, void *a,
                                   WORD lda, WORD ldb) {
  typedef void forward(int, int, WORD, WORD, SCALAR, void *, WORD, WORD);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(imatcopy));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, (double)(INTEGER)rows * (double)(INTEGER)cols);
  if (!next)
    next = tsl_blas_matcopy(&call, &(tsl_blas_copy){.order = order,
                                                    .trans = tsl_blas_trans(trans),
                                                    .rows = (INTEGER)rows,
                                                    .cols = (INTEGER)cols,
                                                    .alpha = SCALAR_AT(alpha),
                                                    .a = a,
                                                    .lda = (INTEGER)lda,
                                                    .ldb = (INTEGER)ldb,
                                                    .in_place = true});
  if (next) {
    ((forward *)next)(order, trans, rows, cols, alpha, a, lda, ldb);
    tsl_blas_forwarded(&call);
  }
}
#undef ARGUMENTS

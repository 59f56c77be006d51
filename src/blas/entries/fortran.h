/* gfortran appends the lengths of character arguments, which are not read. */

#define ARGUMENTS                                                                                            \
  .trans_a = tsl_blas_letter(*transa), .trans_b = tsl_blas_letter(*transb), .k = *k, .alpha = alpha, .a = a, \
  .lda = *lda, .b = b, .ldb = *ldb, .beta = beta, .c = c, .ldc = *ldc

/* Not inlined, so that calls with a cached kernel save no registers. */
static __attribute__((noinline)) void
WITHOUT_KERNEL(FORTRAN(L(gemm)))(const char *transa, const char *transb, const INTEGER *m, const INTEGER *n,
                                 const INTEGER *k, const void *alpha, const void *a, const INTEGER *lda,
                                 const void *b, const INTEGER *ldb, const void *beta, void *c,
                                 const INTEGER *ldc) {
  typedef void forward(const char *, const char *, const INTEGER *, const INTEGER *, const INTEGER *,
                       const void *, const void *, const INTEGER *, const void *, const INTEGER *,
                       const void *, void *, const INTEGER *, size_t, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(gemm), TSL_BLAS_UPPER "GEMM ");
  const int letter_a = tsl_blas_capital(*transa), letter_b = tsl_blas_capital(*transb);
  if (tsl_blas_small_gemm(&symbol, TSL_BLAS_TYPE, TSL_BLAS_COLUMN_MAJOR, letter_a, letter_a == 'N',
                          letter_a == 'T' || letter_a == 'C', letter_b, letter_b == 'N',
                          letter_b == 'T' || letter_b == 'C', *m, *n, *k, alpha, a, *lda, b, *ldb, beta, c,
                          *ldc))
    return;
  const tsl_blas_multiply product = {.order = TSL_BLAS_COLUMN_MAJOR, .m = *m, .n = *n, ARGUMENTS};
  tsl_blas_function *next = NULL;
  if (tsl_blas_dispatch(&symbol, TSL_BLAS_TYPE, &product, &next))
    return;
  tsl_blas_call call = {.symbol = &symbol};
  if (!next)
    next = tsl_blas_gemm(&call, &product);
  if (next) {
    ((forward *)next)(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 1, 1);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void FORTRAN(L(gemm))(const char *transa, const char *transb, const INTEGER *m, const INTEGER *n,
                                 const INTEGER *k, const void *alpha, const void *ON_STACK a,
                                 const INTEGER *ON_STACK lda, const void *ON_STACK b,
                                 const INTEGER *ON_STACK ldb, const void *ON_STACK beta, void *ON_STACK c,
                                 const INTEGER *ON_STACK ldc) {
  const tsl_dispatch_entry *known =
      tsl_dispatch_kernel(TSL_BLAS_TYPE, TSL_BLAS_COLUMN_MAJOR, tsl_blas_capital(*transa),
                          tsl_blas_capital(*transb), *m, *n, *k, alpha, a, *lda, b, *ldb, beta, c, *ldc);
  if (known)
    (void)known->kernel(known->state, a, b, c);
  else
    WITHOUT_KERNEL(FORTRAN(L(gemm)))(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

#define GEMMT gemmt
#define GEMMT_TITLE "GEMMT"
#include "blas/entries/fortran_gemmt.h"
#undef GEMMT
#undef GEMMT_TITLE
#define GEMMT gemmtr
#define GEMMT_TITLE "GEMMTR"
#include "blas/entries/fortran_gemmt.h"
#undef GEMMT
#undef GEMMT_TITLE

TESELA_API void FORTRAN(L(gemm_batch))(const char *transa, const char *transb, const INTEGER *m,
                                       const INTEGER *n, const INTEGER *k, const void *alpha,
                                       const void *const *a, const INTEGER *lda, const void *const *b,
                                       const INTEGER *ldb, const void *beta, void *const *c,
                                       const INTEGER *ldc, const INTEGER *group_count,
                                       const INTEGER *group_size) {
  typedef void forward(const char *, const char *, const INTEGER *, const INTEGER *, const INTEGER *,
                       const void *, const void *const *, const INTEGER *, const void *const *,
                       const INTEGER *, const void *, void *const *, const INTEGER *, const INTEGER *,
                       const INTEGER *, size_t, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(gemm_batch), TSL_BLAS_UPPER "GEMM_BATCH");
  tsl_blas_call call = {.symbol = &symbol};
  if (*group_count <= 0)
    return;
  tsl_blas_function *next = tsl_blas_batch(&call,
                                           &(tsl_blas_multiply){.order = TSL_BLAS_COLUMN_MAJOR,
                                                                .trans_a = tsl_blas_letter(*transa),
                                                                .trans_b = tsl_blas_letter(*transb),
                                                                .m = *m,
                                                                .n = *n,
                                                                .k = *k},
                                           *group_count);
  if (next) {
    ((forward *)next)(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, group_count, group_size,
                      1, 1);
    tsl_blas_forwarded(&call);
    return;
  }
  const TSL_BLAS_ELEMENT *alphas = alpha, *betas = beta;
  tsl_blas_group *groups = tsl_blas_take_groups(*group_count);
  for (int64_t group = 0, at = 0; groups && group < *group_count; at += group_size[group++])
    groups[group] = (tsl_blas_group){
        .product = {.order = TSL_BLAS_COLUMN_MAJOR,
                    .trans_a = tsl_blas_letter(transa[group]),
                    .trans_b = tsl_blas_letter(transb[group]),
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
  const bool side_by_side = tsl_blas_run_groups(&call, groups, *group_count);
  for (int64_t group = 0, at = 0; group < *group_count; at += group_size[group++]) {
    if (groups && !side_by_side &&
        tsl_blas_uniform_batch(&call, &groups[group].product, &groups[group].batch))
      continue;
    for (int64_t i = groups ? groups[group].done : 0; i < group_size[group]; i++)
      FORTRAN(L(gemm))
    (transa + group, transb + group, m + group, n + group, k + group, alphas + group, a[at + i], lda + group,
     b[at + i], ldb + group, betas + group, c[at + i], ldc + group);
  }
  free(groups);
}

TESELA_API void FORTRAN(L(gemm_batch_strided))(const char *transa, const char *transb, const INTEGER *m,
                                               const INTEGER *n, const INTEGER *k, const void *alpha,
                                               const void *a, const INTEGER *lda, const INTEGER *stride_a,
                                               const void *b, const INTEGER *ldb, const INTEGER *stride_b,
                                               const void *beta, void *c, const INTEGER *ldc,
                                               const INTEGER *stride_c, const INTEGER *count) {
  typedef void forward(const char *, const char *, const INTEGER *, const INTEGER *, const INTEGER *,
                       const void *, const void *, const INTEGER *, const INTEGER *, const void *,
                       const INTEGER *, const INTEGER *, const void *, void *, const INTEGER *,
                       const INTEGER *, const INTEGER *, size_t, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(gemm_batch_strided), TSL_BLAS_UPPER "GEMM_BATCH_STRIDED");
  tsl_blas_call call = {.symbol = &symbol};
  if (*count <= 0)
    return;
  const tsl_blas_multiply first = {.order = TSL_BLAS_COLUMN_MAJOR, .m = *m, .n = *n, ARGUMENTS};
  tsl_blas_function *next = tsl_blas_batch(&call, &first, *count);
  if (next) {
    ((forward *)next)(transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
                      stride_c, count, 1, 1);
    tsl_blas_forwarded(&call);
    return;
  }
  if (tsl_blas_uniform_batch(
          &call, &first,
          &(tesela_batch){
              .count = *count, .a_stride = *stride_a, .b_stride = *stride_b, .c_stride = *stride_c}))
    return;
  const TSL_BLAS_ELEMENT *as = a, *bs = b;
  TSL_BLAS_ELEMENT *cs = c;
  for (int64_t i = 0; i < *count; i++)
    FORTRAN(L(gemm))
  (transa, transb, m, n, k, alpha, as + i * *stride_a, lda, bs + i * *stride_b, ldb, beta, cs + i * *stride_c,
   ldc);
}

TESELA_API void FORTRAN(L(omatcopy))(const char *order, const char *trans, const INTEGER *rows,
                                     const INTEGER *cols, const void *alpha, const void *a,
                                     const INTEGER *lda, void *b, const INTEGER *ldb) {
  typedef void forward(const char *, const char *, const INTEGER *, const INTEGER *, const void *,
                       const void *, const INTEGER *, void *, const INTEGER *, size_t, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(omatcopy), TSL_BLAS_UPPER "OMATCOPY");
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, (double)*rows * (double)*cols);
  if (!next)
    next = tsl_blas_matcopy(&call, &(tsl_blas_copy){.order = tsl_blas_order(*order),
                                                    .trans = tsl_blas_letter(*trans),
                                                    .rows = *rows,
                                                    .cols = *cols,
                                                    .alpha = alpha,
                                                    .a = a,
                                                    .lda = *lda,
                                                    .b = b,
                                                    .ldb = *ldb});
  if (next) {
    ((forward *)next)(order, trans, rows, cols, alpha, a, lda, b, ldb, 1, 1);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void FORTRAN(L(imatcopy))(const char *order, const char *trans, const INTEGER *rows,
                                     const INTEGER *cols, const void *alpha, void *a, const INTEGER *lda,
                                     const INTEGER *ldb) {
  typedef void forward(const char *, const char *, const INTEGER *, const INTEGER *, const void *, void *,
                       const INTEGER *, const INTEGER *, size_t, size_t);
  static tsl_blas_symbol symbol = FORTRAN_SYMBOL(L(imatcopy), TSL_BLAS_UPPER "IMATCOPY");
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_forward_if_below(&symbol, (double)*rows * (double)*cols);
  if (!next)
    next = tsl_blas_matcopy(&call, &(tsl_blas_copy){.order = tsl_blas_order(*order),
                                                    .trans = tsl_blas_letter(*trans),
                                                    .rows = *rows,
                                                    .cols = *cols,
                                                    .alpha = alpha,
                                                    .a = a,
                                                    .lda = *lda,
                                                    .ldb = *ldb,
                                                    .in_place = true});
  if (next) {
    ((forward *)next)(order, trans, rows, cols, alpha, a, lda, ldb, 1, 1);
    tsl_blas_forwarded(&call);
  }
}
#undef ARGUMENTS

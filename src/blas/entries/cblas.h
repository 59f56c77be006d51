/* CBLAS functions of one type. SCALAR is how a scalar is passed, SCALAR_AT(scalar) where it lies; enumerations are
 * ints. */

/* Apart, so that calls that are known save no registers for it. */
static __attribute__((noinline)) void THOROUGHLY(CBLAS(L(gemm)))(int order, int transa, int transb, INTEGER m,
                                                                 INTEGER n, INTEGER k, SCALAR alpha,
                                                                 const void *a, INTEGER lda, const void *b,
                                                                 INTEGER ldb, SCALAR beta, void *c,
                                                                 INTEGER ldc) {
  typedef void forward(int, int, int, INTEGER, INTEGER, INTEGER, SCALAR, const void *, INTEGER, const void *,
                       INTEGER, SCALAR, void *, INTEGER);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(gemm));
  const tsl_blas_multiply product = {.order = order,
                                     .uplo = 0,
                                     .trans_a = tsl_blas_trans(transa),
                                     .trans_b = tsl_blas_trans(transb),
                                     .m = m,
                                     .n = n,
                                     .k = k,
                                     .alpha = SCALAR_AT(alpha),
                                     .a = a,
                                     .lda = lda,
                                     .b = b,
                                     .ldb = ldb,
                                     .beta = SCALAR_AT(beta),
                                     .c = c,
                                     .ldc = ldc};
  if (tsl_blas_try_instant(&symbol, TSL_BLAS_TYPE, &product))
    return;
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_pass(&symbol, (double)m * (double)n * (double)k);
  if (!next)
    next = tsl_blas_gemm(&call, &product);
  if (next) {
    ((forward *)next)(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(gemm))(int order, int transa, int transb, INTEGER m, INTEGER n, INTEGER k,
                               SCALAR alpha, const void *STAYS a, INTEGER STAYS lda, const void *STAYS b,
                               INTEGER STAYS ldb, SCALAR beta, void *STAYS c, INTEGER STAYS ldc) {
  const tsl_blas_known *known = tsl_blas_hurry(TSL_BLAS_TYPE, order, transa, transb, m, n, k,
                                               SCALAR_AT(alpha), a, lda, b, ldb, SCALAR_AT(beta), c, ldc);
  if (known)
    (void)known->surely(known->prepared, a, b, c);
  else
    THOROUGHLY(CBLAS(L(gemm)))(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

TESELA_API void CBLAS(L(gemmt))(int order, int uplo, int transa, int transb, INTEGER n, INTEGER k,
                                SCALAR alpha, const void *a, INTEGER lda, const void *b, INTEGER ldb,
                                SCALAR beta, void *c, INTEGER ldc) {
  typedef void forward(int, int, int, int, INTEGER, INTEGER, SCALAR, const void *, INTEGER, const void *,
                       INTEGER, SCALAR, void *, INTEGER);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(gemmt));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_pass(&symbol, (double)n * (double)n * (double)k);
  if (!next)
    next = tsl_blas_gemmt(&call, &(tsl_blas_multiply){.order = order,
                                                      .uplo = tsl_blas_uplo(uplo),
                                                      .trans_a = tsl_blas_trans(transa),
                                                      .trans_b = tsl_blas_trans(transb),
                                                      .m = n,
                                                      .n = n,
                                                      .k = k,
                                                      .alpha = SCALAR_AT(alpha),
                                                      .a = a,
                                                      .lda = lda,
                                                      .b = b,
                                                      .ldb = ldb,
                                                      .beta = SCALAR_AT(beta),
                                                      .c = c,
                                                      .ldc = ldc});
  if (next) {
    ((forward *)next)(order, uplo, transa, transb, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(gemmtr))(int order, int uplo, int transa, int transb, INTEGER n, INTEGER k,
                                 SCALAR alpha, const void *a, INTEGER lda, const void *b, INTEGER ldb,
                                 SCALAR beta, void *c, INTEGER ldc) {
  typedef void forward(int, int, int, int, INTEGER, INTEGER, SCALAR, const void *, INTEGER, const void *,
                       INTEGER, SCALAR, void *, INTEGER);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(gemmtr));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_pass(&symbol, (double)n * (double)n * (double)k);
  if (!next)
    next = tsl_blas_gemmt(&call, &(tsl_blas_multiply){.order = order,
                                                      .uplo = tsl_blas_uplo(uplo),
                                                      .trans_a = tsl_blas_trans(transa),
                                                      .trans_b = tsl_blas_trans(transb),
                                                      .m = n,
                                                      .n = n,
                                                      .k = k,
                                                      .alpha = SCALAR_AT(alpha),
                                                      .a = a,
                                                      .lda = lda,
                                                      .b = b,
                                                      .ldb = ldb,
                                                      .beta = SCALAR_AT(beta),
                                                      .c = c,
                                                      .ldc = ldc});
  if (next) {
    ((forward *)next)(order, uplo, transa, transb, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(gemm_batch))(int order, const int *transa, const int *transb, const INTEGER *m,
                                     const INTEGER *n, const INTEGER *k, const void *alpha,
                                     const void *const *a, const INTEGER *lda, const void *const *b,
                                     const INTEGER *ldb, const void *beta, void *const *c, const INTEGER *ldc,
                                     INTEGER group_count, const INTEGER *group_size) {
  typedef void forward(int, const int *, const int *, const INTEGER *, const INTEGER *, const INTEGER *,
                       const void *, const void *const *, const INTEGER *, const void *const *,
                       const INTEGER *, const void *, void *const *, const INTEGER *, INTEGER,
                       const INTEGER *);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(gemm_batch));
  tsl_blas_call call = {.symbol = &symbol};
  if (group_count <= 0)
    return;
  tsl_blas_function *next = tsl_blas_batch(&call,
                                           &(tsl_blas_multiply){.order = order,
                                                                .trans_a = tsl_blas_trans(*transa),
                                                                .trans_b = tsl_blas_trans(*transb),
                                                                .m = *m,
                                                                .n = *n,
                                                                .k = *k},
                                           group_count);
  if (next) {
    ((forward *)next)(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, group_count,
                      group_size);
    tsl_blas_forwarded(&call);
    return;
  }
  const TSL_BLAS_ELEMENT *alphas = alpha, *betas = beta;
  for (int64_t group = 0, at = 0; group < group_count; at += group_size[group++]) {
    const tsl_blas_multiply product = {.order = order,
                                       .trans_a = tsl_blas_trans(transa[group]),
                                       .trans_b = tsl_blas_trans(transb[group]),
                                       .m = m[group],
                                       .n = n[group],
                                       .k = k[group],
                                       .alpha = alphas + group,
                                       .lda = lda[group],
                                       .ldb = ldb[group],
                                       .beta = betas + group,
                                       .ldc = ldc[group]};
    const tesela_batch batch = {.count = group_size[group],
                                .a = tsl_blas_addresses(a + at),
                                .b = tsl_blas_addresses(b + at),
                                .c = c + at};
    if (tsl_blas_alike(&call, &product, &batch))
      continue;
    for (int64_t i = 0; i < group_size[group]; i++)
      CBLAS(L(gemm))
    (order, transa[group], transb[group], m[group], n[group], k[group], SCALAR_OF(alphas[group]), a[at + i],
     lda[group], b[at + i], ldb[group], SCALAR_OF(betas[group]), c[at + i], ldc[group]);
  }
}

TESELA_API void CBLAS(L(gemm_batch_strided))(int order, int transa, int transb, INTEGER m, INTEGER n,
                                             INTEGER k, SCALAR alpha, const void *a, INTEGER lda,
                                             INTEGER stride_a, const void *b, INTEGER ldb, INTEGER stride_b,
                                             SCALAR beta, void *c, INTEGER ldc, INTEGER stride_c,
                                             INTEGER count) {
  typedef void forward(int, int, int, INTEGER, INTEGER, INTEGER, SCALAR, const void *, INTEGER, INTEGER,
                       const void *, INTEGER, INTEGER, SCALAR, void *, INTEGER, INTEGER, INTEGER);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(gemm_batch_strided));
  tsl_blas_call call = {.symbol = &symbol};
  if (count <= 0)
    return;
  const tsl_blas_multiply first = {.order = order,
                                   .trans_a = tsl_blas_trans(transa),
                                   .trans_b = tsl_blas_trans(transb),
                                   .m = m,
                                   .n = n,
                                   .k = k,
                                   .alpha = SCALAR_AT(alpha),
                                   .a = a,
                                   .lda = lda,
                                   .b = b,
                                   .ldb = ldb,
                                   .beta = SCALAR_AT(beta),
                                   .c = c,
                                   .ldc = ldc};
  tsl_blas_function *next = tsl_blas_batch(&call, &first, count);
  if (next) {
    ((forward *)next)(order, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
                      stride_c, count);
    tsl_blas_forwarded(&call);
    return;
  }
  if (tsl_blas_alike(
          &call, &first,
          &(tesela_batch){.count = count, .a_stride = stride_a, .b_stride = stride_b, .c_stride = stride_c}))
    return;
  const TSL_BLAS_ELEMENT *as = a, *bs = b;
  TSL_BLAS_ELEMENT *cs = c;
  for (int64_t i = 0; i < count; i++)
    CBLAS(L(gemm))
  (order, transa, transb, m, n, k, alpha, as + i * stride_a, lda, bs + i * stride_b, ldb, beta,
   cs + i * stride_c, ldc);
}

TESELA_API void CBLAS(L(omatcopy))(int order, int trans, INTEGER rows, INTEGER cols, SCALAR alpha,
                                   const void *a, INTEGER lda, void *b, INTEGER ldb) {
  typedef void forward(int, int, INTEGER, INTEGER, SCALAR, const void *, INTEGER, void *, INTEGER);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(omatcopy));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_pass(&symbol, (double)rows * (double)cols);
  if (!next)
    next = tsl_blas_matcopy(&call, &(tsl_blas_copy){.order = order,
                                                    .trans = tsl_blas_trans(trans),
                                                    .rows = rows,
                                                    .cols = cols,
                                                    .alpha = SCALAR_AT(alpha),
                                                    .a = a,
                                                    .lda = lda,
                                                    .b = b,
                                                    .ldb = ldb});
  if (next) {
    ((forward *)next)(order, trans, rows, cols, alpha, a, lda, b, ldb);
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void CBLAS(L(imatcopy))(int order, int trans, INTEGER rows, INTEGER cols, SCALAR alpha, void *a,
                                   INTEGER lda, INTEGER ldb) {
  typedef void forward(int, int, INTEGER, INTEGER, SCALAR, void *, INTEGER, INTEGER);
  static tsl_blas_symbol symbol = CBLAS_SYMBOL(L(imatcopy));
  tsl_blas_call call = {.symbol = &symbol};
  tsl_blas_function *next = tsl_blas_pass(&symbol, (double)rows * (double)cols);
  if (!next)
    next = tsl_blas_matcopy(&call, &(tsl_blas_copy){.order = order,
                                                    .trans = tsl_blas_trans(trans),
                                                    .rows = rows,
                                                    .cols = cols,
                                                    .alpha = SCALAR_AT(alpha),
                                                    .a = a,
                                                    .lda = lda,
                                                    .ldb = ldb,
                                                    .in_place = true});
  if (next) {
    ((forward *)next)(order, trans, rows, cols, alpha, a, lda, ldb);
    tsl_blas_forwarded(&call);
  }
}

/* gemm and its batches. */
#define GEMM_ARGUMENTS(LETTER)                                                                               \
  LETTER(trans_a), LETTER(trans_b), SIZE(m), SIZE(n), SIZE(k), SCALAR(alpha), IN(a), SIZE(lda), IN(b),       \
      SIZE(ldb), SCALAR(beta), OUT(c), SIZE(ldc)
#define GEMM_NAME NAME(L(gemm))
#define GEMM_WITHOUT_KERNEL PASTE(GEMM_NAME, _without_kernel)

/* Not inlined, so that calls with a cached kernel save no registers. */
static __attribute__((noinline)) void GEMM_WITHOUT_KERNEL(OF(ORDER_DECLARATION)
                                                              DECLARATIONS(GEMM_ARGUMENTS(TRANS))) {
  typedef void forward(OF(ORDER_DECLARATION) DECLARATIONS(GEMM_ARGUMENTS(TRANS)) OF(LENGTH_TYPES)(2));
  static tsl_blas_symbol symbol = SYMBOL(L(gemm), TSL_BLAS_UPPER "GEMM ");
  const int key_a = VALUE(KEY(trans_a)), key_b = VALUE(KEY(trans_b));
  if (tsl_blas_small_gemm(&symbol, TSL_BLAS_TYPE, OF(ORDER), key_a, OF(IS_PLAIN)(key_a),
                          OF(IS_TRANSPOSED)(key_a), key_b, OF(IS_PLAIN)(key_b), OF(IS_TRANSPOSED)(key_b),
                          VALUES(SIZE(m), SIZE(n), SIZE(k), SCALAR(alpha), IN(a), SIZE(lda), IN(b), SIZE(ldb),
                                 SCALAR(beta), OUT(c), SIZE(ldc))))
    return;
  const tsl_blas_multiply product = {.order = OF(ORDER), MEMBERS(GEMM_ARGUMENTS(TRANS))};
  tsl_blas_function *next = NULL;
  if (tsl_blas_dispatch(&symbol, TSL_BLAS_TYPE, &product, &next))
    return;
  tsl_blas_call call = {.symbol = &symbol};
  if (!next)
    next = tsl_blas_gemm(&call, &product);
  if (next) {
    ((forward *)next)(OF(ORDER_NAME) NAMES(GEMM_ARGUMENTS(TRANS)) OF(LENGTHS)(2));
    tsl_blas_forwarded(&call);
  }
}

TESELA_API void GEMM_NAME(OF(ORDER_DECLARATION) DECLARATIONS(
    KEY(trans_a), KEY(trans_b), SIZE(m), SIZE(n), SIZE(k), SCALAR(alpha), STACK_IN(a), STACK_SIZE(lda),
    STACK_IN(b), STACK_SIZE(ldb), STACK_SCALAR(beta), STACK_OUT(c), STACK_SIZE(ldc))) {
  const tsl_dispatch_entry *known =
      tsl_dispatch_kernel(TSL_BLAS_TYPE, OF(ORDER), VALUES(GEMM_ARGUMENTS(KEY)));
  if (known)
    (void)known->kernel(known->state, a, b, c);
  else
    GEMM_WITHOUT_KERNEL(OF(ORDER_NAME) NAMES(GEMM_ARGUMENTS(KEY)));
}

/* Groups of products, in arrays of arguments. */
#define GROUP_ARGUMENTS                                                                                      \
  LETTERS(trans_a), LETTERS(trans_b), SIZES(m), SIZES(n), SIZES(k), IN(alpha), INPUTS(a), SIZES(lda),        \
      INPUTS(b), SIZES(ldb), IN(beta), OUTPUTS(c), SIZES(ldc), SIZE(group_count), SIZES(group_size)
#define GROUP_MEMBERS(group)                                                                                 \
  .order = OF(ORDER), .trans_a = OF(LETTER)(trans_a[group]), .trans_b = OF(LETTER)(trans_b[group]),          \
  .m = m[group], .n = n[group], .k = k[group]
TESELA_API void NAME(L(gemm_batch))(OF(ORDER_DECLARATION) DECLARATIONS(GROUP_ARGUMENTS)) {
  typedef void forward(OF(ORDER_DECLARATION) DECLARATIONS(GROUP_ARGUMENTS) OF(LENGTH_TYPES)(2));
  static tsl_blas_symbol symbol = SYMBOL(L(gemm_batch), TSL_BLAS_UPPER "GEMM_BATCH");
  tsl_blas_call call = {.symbol = &symbol};
  const int64_t count = VALUE(SIZE(group_count));
  if (count <= 0)
    return;
  tsl_blas_function *next = tsl_blas_batch(&call, &(tsl_blas_multiply){GROUP_MEMBERS(0)}, count);
  if (next) {
    ((forward *)next)(OF(ORDER_NAME) NAMES(GROUP_ARGUMENTS) OF(LENGTHS)(2));
    tsl_blas_forwarded(&call);
    return;
  }
  const TSL_BLAS_ELEMENT *alphas = alpha, *betas = beta;
  tsl_blas_group *groups = tsl_blas_take_groups(count);
  for (int64_t group = 0, at = 0; groups && group < count; at += group_size[group++])
    groups[group] = (tsl_blas_group){
        .product = {GROUP_MEMBERS(group), .alpha = alphas + group, .lda = lda[group], .ldb = ldb[group],
                    .beta = betas + group, .ldc = ldc[group]},
        .batch = {
            .count = group_size[group] > 0 ? group_size[group] : 0, .a = a + at, .b = b + at, .c = c + at}};
  const bool side_by_side = tsl_blas_run_groups(&call, groups, count);
  for (int64_t group = 0, at = 0; group < count; at += group_size[group++]) {
    if (groups && !side_by_side &&
        tsl_blas_uniform_batch(&call, &groups[group].product, &groups[group].batch))
      continue;
    for (int64_t i = groups ? groups[group].done : 0; i < group_size[group]; i++)
      GEMM_NAME(OF(ORDER_NAME) OF(ITEM)(trans_a, group), OF(ITEM)(trans_b, group), OF(ITEM)(m, group),
                OF(ITEM)(n, group), OF(ITEM)(k, group), OF(SCALAR_ITEM)(alphas, group), a[at + i],
                OF(ITEM)(lda, group), b[at + i], OF(ITEM)(ldb, group), OF(SCALAR_ITEM)(betas, group),
                c[at + i], OF(ITEM)(ldc, group));
  }
  free(groups);
}

#define STRIDED_ARGUMENTS                                                                                    \
  TRANS(trans_a), TRANS(trans_b), SIZE(m), SIZE(n), SIZE(k), SCALAR(alpha), IN(a), SIZE(lda),                \
      SIZE(stride_a), IN(b), SIZE(ldb), SIZE(stride_b), SCALAR(beta), OUT(c), SIZE(ldc), SIZE(stride_c),     \
      SIZE(count)
TESELA_API void NAME(L(gemm_batch_strided))(OF(ORDER_DECLARATION) DECLARATIONS(STRIDED_ARGUMENTS)) {
  typedef void forward(OF(ORDER_DECLARATION) DECLARATIONS(STRIDED_ARGUMENTS) OF(LENGTH_TYPES)(2));
  static tsl_blas_symbol symbol = SYMBOL(L(gemm_batch_strided), TSL_BLAS_UPPER "GEMM_BATCH_STRIDED");
  tsl_blas_call call = {.symbol = &symbol};
  const tesela_batch batch = {.count = VALUE(SIZE(count)),
                              .a_stride = VALUE(SIZE(stride_a)),
                              .b_stride = VALUE(SIZE(stride_b)),
                              .c_stride = VALUE(SIZE(stride_c))};
  if (batch.count <= 0)
    return;
  const tsl_blas_multiply first = {.order = OF(ORDER), MEMBERS(GEMM_ARGUMENTS(TRANS))};
  tsl_blas_function *next = tsl_blas_batch(&call, &first, batch.count);
  if (next) {
    ((forward *)next)(OF(ORDER_NAME) NAMES(STRIDED_ARGUMENTS) OF(LENGTHS)(2));
    tsl_blas_forwarded(&call);
    return;
  }
  if (tsl_blas_uniform_batch(&call, &first, &batch))
    return;
  const TSL_BLAS_ELEMENT *as = a, *bs = b;
  TSL_BLAS_ELEMENT *cs = c;
  for (int64_t i = 0; i < batch.count; i++)
    GEMM_NAME(OF(ORDER_NAME) trans_a, trans_b, m, n, k, alpha, as + i * batch.a_stride, lda,
              bs + i * batch.b_stride, ldb, beta, cs + i * batch.c_stride, ldc);
}

/* gfortran appends the lengths of character arguments, which are not read. */
TESELA_API void NAME(gemm_)(const char *transa, const char *transb, const void *m, const void *n,
                            const void *k, const void *alpha, const void *a, const void *ia, const void *ja,
                            const void *desca, const void *b, const void *ib, const void *jb,
                            const void *descb, const void *beta, void *c, const void *ic, const void *jc,
                            const void *descc) {
  typedef void forward(const char *, const char *, const void *, const void *, const void *, const void *,
                       const void *, const void *, const void *, const void *, const void *, const void *,
                       const void *, const void *, const void *, void *, const void *, const void *,
                       const void *, size_t, size_t);
  static tsl_scalapack_symbol symbol = SYMBOL(gemm_);
  tsl_scalapack_function *next =
      tsl_scalapack_gemm(&symbol, &(tsl_scalapack_multiply){.trans_a = *transa,
                                                            .trans_b = *transb,
                                                            .m = m,
                                                            .n = n,
                                                            .k = k,
                                                            .alpha = alpha,
                                                            .beta = beta,
                                                            .a = {a, ia, ja, desca},
                                                            .b = {b, ib, jb, descb},
                                                            .c = {c, ic, jc, descc}});
  if (next)
    ((forward *)next)(transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc,
                      descc, 1, 1);
}

TESELA_API void NAME(geadd_)(const char *trans, const void *m, const void *n, const void *alpha,
                             const void *a, const void *ia, const void *ja, const void *desca,
                             const void *beta, void *c, const void *ic, const void *jc, const void *descc) {
  typedef void forward(const char *, const void *, const void *, const void *, const void *, const void *,
                       const void *, const void *, const void *, void *, const void *, const void *,
                       const void *, size_t);
  static tsl_scalapack_symbol symbol = SYMBOL(geadd_);
  tsl_scalapack_function *next =
      tsl_scalapack_transpose(&symbol, &(tsl_scalapack_add){.trans = *trans,
                                                            .m = m,
                                                            .n = n,
                                                            .alpha = alpha,
                                                            .beta = beta,
                                                            .a = {a, ia, ja, desca},
                                                            .c = {c, ic, jc, descc}});
  if (next)
    ((forward *)next)(trans, m, n, alpha, a, ia, ja, desca, beta, c, ic, jc, descc, 1);
}

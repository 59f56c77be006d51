TESELA_API void NAME(TRAN)(const void *m, const void *n, const void *alpha, const void *a, const void *ia,
                           const void *ja, const void *desca, const void *beta, void *c, const void *ic,
                           const void *jc, const void *descc) {
  typedef void forward(const void *, const void *, const void *, const void *, const void *, const void *,
                       const void *, const void *, void *, const void *, const void *, const void *);
  static tsl_scalapack_symbol symbol = SYMBOL(TRAN);
  tsl_scalapack_function *next =
      tsl_scalapack_transpose(&symbol, &(tsl_scalapack_add){.trans = TRAN_LETTER,
                                                            .m = m,
                                                            .n = n,
                                                            .alpha = alpha,
                                                            .beta = beta,
                                                            .a = {a, ia, ja, desca},
                                                            .c = {c, ic, jc, descc}});
  if (next)
    ((forward *)next)(m, n, alpha, a, ia, ja, desca, beta, c, ic, jc, descc);
}

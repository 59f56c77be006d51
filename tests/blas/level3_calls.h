/* A call through CBLAS for one type: CALL_BY names the function, SCALAR is how a scalar is passed,
 * SCALAR_OF(value) it; REAL is the type of those that must be real. */
static void CALL_BY(any *function) {
  const problem *p = now;
  const int side = cblas_side(p->side), diag = cblas_diag(p->diag);
  const int uplo = number(p->uplo), trans = number(p->trans);
  typedef void update(int, int, int, int, int, SCALAR, const void *, int, SCALAR, void *, int);
  typedef void real_update(int, int, int, int, int, REAL, const void *, int, REAL, void *, int);
  typedef void update2(int, int, int, int, int, SCALAR, const void *, int, const void *, int, SCALAR, void *,
                       int);
  typedef void real_update2(int, int, int, int, int, SCALAR, const void *, int, const void *, int, REAL,
                            void *, int);
  typedef void triangle(int, int, int, int, int, int, int, SCALAR, const void *, int, void *, int);
  if (p->routine == SYRK)
    ((update *)function)(p->order, uplo, trans, p->n, p->k, SCALAR_OF(p->alpha), a, p->lda,
                         SCALAR_OF(p->beta), c, p->ldc);
  else if (p->routine == HERK)
    ((real_update *)function)(p->order, uplo, trans, p->n, p->k, (REAL)creall(p->alpha), a, p->lda,
                              (REAL)creall(p->beta), c, p->ldc);
  else if (p->routine == HER2K)
    ((real_update2 *)function)(p->order, uplo, trans, p->n, p->k, SCALAR_OF(p->alpha), a, p->lda, b, p->ldb,
                               (REAL)creall(p->beta), c, p->ldc);
  else if (p->routine == SYR2K)
    ((update2 *)function)(p->order, uplo, trans, p->n, p->k, SCALAR_OF(p->alpha), a, p->lda, b, p->ldb,
                          SCALAR_OF(p->beta), c, p->ldc);
  else if (!is_in_place())
    ((update2 *)function)(p->order, side, uplo, p->m, p->n, SCALAR_OF(p->alpha), a, p->lda, b, p->ldb,
                          SCALAR_OF(p->beta), c, p->ldc);
  else
    ((triangle *)function)(p->order, side, uplo, trans, diag, p->m, p->n, SCALAR_OF(p->alpha), a, p->lda, c,
                           p->ldc);
}

/* Table of the routines, compiled for each naming scheme, type and INTERFACE. A row has the name and the
 * arguments; entry_forms.h explains the other words. To see how dsyrk_ works, find syrk here: its kind is
 * TSL_BLAS_SYRK, and tsl_blas_level3() computes it. */

/* --- level 1 --- */
#define X_ARGUMENTS SIZE(n), IN(x), SIZE(incx)
#define XY_ARGUMENTS SIZE(n), IN(x), SIZE(incx), OUT(y), SIZE(incy)
#define SWAP_ARGUMENTS SIZE(n), OUT(x), SIZE(incx), OUT(y), SIZE(incy)
#define DOT_ARGUMENTS SIZE(n), IN(x), SIZE(incx), IN(y), SIZE(incy)
#define AXPY_ARGUMENTS SIZE(n), NUMBER(alpha), IN(x), SIZE(incx), OUT(y), SIZE(incy)
#define SCAL_ARGUMENTS SIZE(n), NUMBER(alpha), OUT(x), SIZE(incx)
/* The vectors of a call. */
#define ONE_LINE                                                                                             \
  &(tsl_blas_lines) {                                                                                        \
    MEMBERS(X_ARGUMENTS)                                                                                     \
  }
#define TWO_LINES                                                                                            \
  &(tsl_blas_lines) {                                                                                        \
    MEMBERS(XY_ARGUMENTS)                                                                                    \
  }

VECTOR_ENTRY(L(axpy), DIRECT(axpy, VALUES(AXPY_ARGUMENTS)),
             tsl_blas_axpy(&call, TWO_LINES, VALUE(NUMBER(alpha))), AXPY_ARGUMENTS)
VECTOR_ENTRY(L(scal), DIRECT(scal, VALUES(SCAL_ARGUMENTS)),
             tsl_blas_scal(&call, ONE_LINE, VALUE(NUMBER(alpha)), false), SCAL_ARGUMENTS)
VECTOR_ENTRY(L(copy), DIRECT(copy, VALUES(XY_ARGUMENTS)), tsl_blas_copy_vector(&call, TWO_LINES),
             XY_ARGUMENTS)
VECTOR_ENTRY(L(swap), DIRECT(swap, VALUES(SWAP_ARGUMENTS)), tsl_blas_swap(&call, TWO_LINES), SWAP_ARGUMENTS)
/* csscal: complex elements times a real number. */
#if TSL_BLAS_IS_COMPLEX
VECTOR_ENTRY(L_REAL(scal), false, tsl_blas_scal(&call, ONE_LINE, VALUE(REAL_NUMBER(alpha)), true), SIZE(n),
             REAL_NUMBER(alpha), OUT(x), SIZE(incx))
#endif

/* snrm2, scnrm2: real results. */
FUNCTION(TSL_BLAS_REAL, double, REAL_L(nrm2), DIRECT(nrm2, VALUES(X_ARGUMENTS), &result),
         tsl_blas_nrm2(&call, ONE_LINE, &result), X_ARGUMENTS)
FUNCTION(TSL_BLAS_REAL, double, REAL_L(asum), DIRECT(asum, VALUES(X_ARGUMENTS), &result),
         tsl_blas_asum(&call, ONE_LINE, &result), X_ARGUMENTS)
/* isamax: index of the largest element, or 0. */
FUNCTION(OF(INDEX), int64_t, PASTE(i, L(amax)), DIRECT(iamax, VALUES(X_ARGUMENTS), OF(FIRST_INDEX), &result),
         tsl_blas_iamax(&call, ONE_LINE, OF(FIRST_INDEX), &result), X_ARGUMENTS)

/* Dots, whose arguments and further members of tsl_blas_sum follow. */
#define DOT(...)                                                                                             \
  FORWARD_BELOW((double)VALUE(SIZE(n)),                                                                      \
                tsl_blas_dot(&call, &(tsl_blas_sum){MEMBERS(DOT_ARGUMENTS), __VA_ARGS__}))
#define DIRECT_DOT(conjugates, result) DIRECT(dot, VALUES(DOT_ARGUMENTS), conjugates, result)
#if !TSL_BLAS_IS_COMPLEX
FUNCTION(TSL_BLAS_ELEMENT, TSL_BLAS_ELEMENT, L(dot), DIRECT_DOT(false, &result),
         DOT(.result_type = TSL_BLAS_TYPE, .result = &result), DOT_ARGUMENTS)
#else
/* Fortran returns the sum in registers, as gfortran does; CBLAS's cdotu_sub writes it to an address. */
#define COMPLEX_DOT(routine, conjugates) OF(COMPLEX_DOT)(routine, conjugates)
#define FORTRAN_COMPLEX_DOT(routine, conjugates)                                                             \
  FUNCTION(TSL_BLAS_ELEMENT, TSL_BLAS_ELEMENT, L(routine), DIRECT_DOT(conjugates, &result),                  \
           DOT(.conjugate = conjugates, .result_type = TSL_BLAS_TYPE, .result = &result), DOT_ARGUMENTS)
#define CBLAS_COMPLEX_DOT(routine, conjugates)                                                               \
  ENTRY(PASTE(L(routine), _sub), "", 0, (DECLARATIONS(DOT_ARGUMENTS), void *result),                         \
        (NAMES(DOT_ARGUMENTS), result), DIRECT_DOT(conjugates, result),                                      \
        DOT(.conjugate = conjugates, .result_type = TSL_BLAS_TYPE, .result = result))
COMPLEX_DOT(dotu, false)
COMPLEX_DOT(dotc, true)
#endif
#ifdef TSL_BLAS_MIXED_DOTS
/* Dots of f32 with f64 sums: dsdot returns the sum; sdsdot adds a float first and rounds. */
FUNCTION(double, double, dsdot, false, DOT(.result_type = TESELA_F64, .result = &result), DOT_ARGUMENTS)
FUNCTION(float, float, sdsdot, false,
         DOT(.start = VALUE(REAL_SCALAR(start)), .result_type = TESELA_F64, .result = &result), SIZE(n),
         REAL_SCALAR(start), IN(x), SIZE(incx), IN(y), SIZE(incy))
#endif

/* Rotations: only calls on vectors are forwarded. csrot: complex elements, real rotation. */
VECTOR_ENTRY(L_REAL(rot), false,
             tsl_blas_rot(&call, TWO_LINES, (double)VALUE(REAL(c)), (double)VALUE(REAL(s))), SWAP_ARGUMENTS,
             REAL(c), REAL(s))
TESELA_API void NAME(L(rotg))(TSL_BLAS_REAL *a, TSL_BLAS_REAL *b, TSL_BLAS_REAL *c, TSL_BLAS_REAL *s) {
  ROTATION(BY_FIELD(tsl_rotation_real, tsl_rotation_complex))(a, b, c, s);
}
#if !TSL_BLAS_IS_COMPLEX
VECTOR_ENTRY(L(rotm), false, tsl_blas_rotm(&call, TWO_LINES, param), SWAP_ARGUMENTS, IN(param))
TESELA_API void NAME(L(rotmg))(TSL_BLAS_REAL *d1, TSL_BLAS_REAL *d2, TSL_BLAS_REAL *x1,
                               DECLARATIONS(REAL(y1)), TSL_BLAS_REAL *param) {
  ROTATION(tsl_rotation_modified)(d1, d2, x1, VALUE(REAL(y1)), param);
}
#endif

/* --- level 2: a full matrix has the arguments a, lda; a band k, a, lda; a packed one a --- */
#define GEMV_ARGUMENTS                                                                                       \
  TRANS(trans), SIZE(m), SIZE(n), NUMBER(alpha), IN(a), SIZE(lda), IN(x), SIZE(incx), NUMBER(beta), OUT(y),  \
      SIZE(incy)
#define GER_ARGUMENTS SIZE(m), SIZE(n), NUMBER(alpha), IN(x), SIZE(incx), IN(y), SIZE(incy), OUT(a), SIZE(lda)
#define SYMV_ARGUMENTS                                                                                       \
  UPLO(uplo), SIZE(n), NUMBER(alpha), IN(a), SIZE(lda), IN(x), SIZE(incx), NUMBER(beta), OUT(y), SIZE(incy)
#define TRIANGLE UPLO(uplo), TRANS(trans), DIAG(diag)
#define TRMV_ARGUMENTS TRIANGLE, SIZE(n), IN(a), SIZE(lda), OUT(x), SIZE(incx)
#define TBMV_ARGUMENTS TRIANGLE, SIZE(n), SIZE(kl), IN(a), SIZE(lda), OUT(x), SIZE(incx)
#define TPMV_ARGUMENTS TRIANGLE, SIZE(n), IN(a), OUT(x), SIZE(incx)
#define SYR_ARGUMENTS UPLO(uplo), SIZE(n), REAL_NUMBER(alpha), IN(x), SIZE(incx), OUT(a)
#define SYR2_ARGUMENTS UPLO(uplo), SIZE(n), NUMBER(alpha), IN(x), SIZE(incx), IN(y), SIZE(incy), OUT(a)

LEVEL2_DIRECT(gemv, "GEMV ", GEMV, false, DIRECT(gemv, OF(ORDER), VALUES(GEMV_ARGUMENTS)), 1, GEMV_ARGUMENTS)
LEVEL2(gbmv, "GBMV ", GBMV, false, 1, TRANS(trans), SIZE(m), SIZE(n), SIZE(kl), SIZE(ku), NUMBER(alpha),
       IN(a), SIZE(lda), IN(x), SIZE(incx), NUMBER(beta), OUT(y), SIZE(incy))
#if TSL_BLAS_IS_COMPLEX
LEVEL2_DIRECT(geru, "GERU ", GER, false, DIRECT(ger, OF(ORDER), false, VALUES(GER_ARGUMENTS)), 0,
              GER_ARGUMENTS)
LEVEL2_DIRECT(gerc, "GERC ", GER, true, DIRECT(ger, OF(ORDER), true, VALUES(GER_ARGUMENTS)), 0, GER_ARGUMENTS)
#else
LEVEL2_DIRECT(ger, "GER  ", GER, false, DIRECT(ger, OF(ORDER), false, VALUES(GER_ARGUMENTS)), 0,
              GER_ARGUMENTS)
#endif
/* Symmetric matrices of real elements, hermitian ones of complex elements. */
LEVEL2_DIRECT(BY_FIELD(symv, hemv), BY_FIELD("SYMV ", "HEMV "), SYMV, TSL_BLAS_IS_COMPLEX,
              DIRECT(symv, OF(ORDER), TSL_BLAS_IS_COMPLEX, VALUES(SYMV_ARGUMENTS)), 1, SYMV_ARGUMENTS)
LEVEL2(BY_FIELD(sbmv, hbmv), BY_FIELD("SBMV ", "HBMV "), SBMV, TSL_BLAS_IS_COMPLEX, 1, UPLO(uplo), SIZE(n),
       SIZE(kl), NUMBER(alpha), IN(a), SIZE(lda), IN(x), SIZE(incx), NUMBER(beta), OUT(y), SIZE(incy))
LEVEL2(BY_FIELD(spmv, hpmv), BY_FIELD("SPMV ", "HPMV "), SPMV, TSL_BLAS_IS_COMPLEX, 1, UPLO(uplo), SIZE(n),
       NUMBER(alpha), IN(a), IN(x), SIZE(incx), NUMBER(beta), OUT(y), SIZE(incy))
LEVEL2(BY_FIELD(syr, her), BY_FIELD("SYR  ", "HER  "), SYR, TSL_BLAS_IS_COMPLEX, 1, SYR_ARGUMENTS, SIZE(lda))
LEVEL2(BY_FIELD(spr, hpr), BY_FIELD("SPR  ", "HPR  "), SPR, TSL_BLAS_IS_COMPLEX, 1, SYR_ARGUMENTS)
LEVEL2(BY_FIELD(syr2, her2), BY_FIELD("SYR2 ", "HER2 "), SYR2, TSL_BLAS_IS_COMPLEX, 1, SYR2_ARGUMENTS,
       SIZE(lda))
LEVEL2(BY_FIELD(spr2, hpr2), BY_FIELD("SPR2 ", "HPR2 "), SPR2, TSL_BLAS_IS_COMPLEX, 1, SYR2_ARGUMENTS)
LEVEL2_DIRECT(trmv, "TRMV ", TRMV, false, DIRECT(triangle, OF(ORDER), false, VALUES(TRMV_ARGUMENTS)), 3,
              TRMV_ARGUMENTS)
LEVEL2_DIRECT(trsv, "TRSV ", TRSV, false, DIRECT(triangle, OF(ORDER), true, VALUES(TRMV_ARGUMENTS)), 3,
              TRMV_ARGUMENTS)
LEVEL2(tbmv, "TBMV ", TBMV, false, 3, TBMV_ARGUMENTS)
LEVEL2(tbsv, "TBSV ", TBSV, false, 3, TBMV_ARGUMENTS)
LEVEL2(tpmv, "TPMV ", TPMV, false, 3, TPMV_ARGUMENTS)
LEVEL2(tpsv, "TPSV ", TPSV, false, 3, TPMV_ARGUMENTS)

/* --- level 3 (gemm: gemm_entries.h) --- */
#define FACTORS IN(a), SIZE(lda), IN(b), SIZE(ldb)
#define SYRK_ARGUMENTS(KIND)                                                                                 \
  UPLO(uplo), TRANS(trans_a), SIZE(n), SIZE(k), KIND(alpha), IN(a), SIZE(lda), KIND(beta), OUT(c), SIZE(ldc)
#define SYR2K_ARGUMENTS(KIND)                                                                                \
  UPLO(uplo), TRANS(trans_a), SIZE(n), SIZE(k), SCALAR(alpha), FACTORS, KIND(beta), OUT(c), SIZE(ldc)
#define GEMMT_ARGUMENTS                                                                                      \
  UPLO(uplo), TRANS(trans_a), TRANS(trans_b), SIZE(n), SIZE(k), SCALAR(alpha), FACTORS, SCALAR(beta),        \
      OUT(c), SIZE(ldc)
#define SYMM_ARGUMENTS                                                                                       \
  SIDE(side), UPLO(uplo), SIZE(m), SIZE(n), SCALAR(alpha), FACTORS, SCALAR(beta), OUT(c), SIZE(ldc)
#define TRMM_ARGUMENTS                                                                                       \
  SIDE(side), UPLO(uplo), TRANS(trans_a), DIAG(diag), SIZE(m), SIZE(n), SCALAR(alpha), IN(a), SIZE(lda),     \
      OUT(b), SIZE(ldb)

UPDATE(syrk, "SYRK ", tsl_blas_level3, SYRK, 2, SYRK_ARGUMENTS(SCALAR))
UPDATE(syr2k, "SYR2K", tsl_blas_level3, SYR2K, 2, SYR2K_ARGUMENTS(SCALAR))
UPDATE(gemmt, "GEMMT", tsl_blas_gemmt, GEMMT, 3, GEMMT_ARGUMENTS)
UPDATE(gemmtr, "GEMMTR", tsl_blas_gemmt, GEMMT, 3, GEMMT_ARGUMENTS)
LEVEL3(symm, "SYMM ", SYMM, 2, SYMM_ARGUMENTS)
LEVEL3(trmm, "TRMM ", TRMM, 4, TRMM_ARGUMENTS)
LEVEL3(trsm, "TRSM ", TRSM, 4, TRMM_ARGUMENTS)
#if TSL_BLAS_IS_COMPLEX
UPDATE(herk, "HERK ", tsl_blas_level3, HERK, 2, SYRK_ARGUMENTS(REAL_SCALAR))
UPDATE(her2k, "HER2K", tsl_blas_level3, HER2K, 2, SYR2K_ARGUMENTS(REAL_SCALAR))
LEVEL3(hemm, "HEMM ", HEMM, 2, SYMM_ARGUMENTS)
#endif

COPY(omatcopy, "OMATCOPY", false, ORDER(order), TRANS(trans), SIZE(rows), SIZE(cols), SCALAR(alpha), IN(a),
     SIZE(lda), OUT(b), SIZE(ldb))
COPY(imatcopy, "IMATCOPY", true, ORDER(order), TRANS(trans), SIZE(rows), SIZE(cols), SCALAR(alpha), OUT(a),
     SIZE(lda), SIZE(ldb))

#include "blas/entries/gemm_entries.h"

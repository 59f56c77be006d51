/* Routines of a triangle for one storage. ROUTINE_OF(full, band, packed) selects a word. */
#ifdef HAS_K
#define K_FORTRAN const INTEGER *k,
#define K_CBLAS WORD k,
#define K_PASS k,
#define K_F .kl = *k,
#define K_C .kl = (INTEGER)k,
#else
#define K_FORTRAN
#define K_CBLAS
#define K_PASS
#define K_F
#define K_C
#endif
#ifdef HAS_LD
#define LD_FORTRAN const INTEGER *lda,
#define LD_CBLAS WORD lda,
#define LD_PASS lda,
#define LAST_LD_FORTRAN , const INTEGER *lda
#define LAST_LD_CBLAS , WORD lda
#define LAST_LD_PASS , lda
#define LD_F .lda = *lda,
#define LD_C .lda = (INTEGER)lda,
#else
#define LD_FORTRAN
#define LD_CBLAS
#define LD_PASS
#define LAST_LD_FORTRAN
#define LAST_LD_CBLAS
#define LAST_LD_PASS
#define LD_F
#define LD_C
#endif

#if defined(HAS_LD) && !defined(HAS_K)
#define IS_FULL 1
#else
#define IS_FULL 0
#endif

#define KIND ROUTINE_OF(TSL_BLAS_SYMV, TSL_BLAS_SBMV, TSL_BLAS_SPMV)
#if TSL_BLAS_IS_COMPLEX
#define NAMED ROUTINE_OF(hemv, hbmv, hpmv)
#define TITLED ROUTINE_OF("HEMV ", "HBMV ", "HPMV ")
#else
#define NAMED ROUTINE_OF(symv, sbmv, spmv)
#define TITLED ROUTINE_OF("SYMV ", "SBMV ", "SPMV ")
#endif
#include "blas/entries/level2_symmetric.h"
#undef KIND
#undef NAMED
#undef TITLED

#define KIND ROUTINE_OF(TSL_BLAS_TRMV, TSL_BLAS_TBMV, TSL_BLAS_TPMV)
#define NAMED ROUTINE_OF(trmv, tbmv, tpmv)
#define TITLED ROUTINE_OF("TRMV ", "TBMV ", "TPMV ")
#include "blas/entries/level2_triangular.h"
#undef KIND
#undef NAMED
#undef TITLED
#define KIND ROUTINE_OF(TSL_BLAS_TRSV, TSL_BLAS_TBSV, TSL_BLAS_TPSV)
#define NAMED ROUTINE_OF(trsv, tbsv, tpsv)
#define TITLED ROUTINE_OF("TRSV ", "TBSV ", "TPSV ")
#include "blas/entries/level2_triangular.h"
#undef KIND
#undef NAMED
#undef TITLED

#ifndef HAS_K
#define KIND ROUTINE_OF(TSL_BLAS_SYR, , TSL_BLAS_SPR)
#define KIND_TWO ROUTINE_OF(TSL_BLAS_SYR2, , TSL_BLAS_SPR2)
#if TSL_BLAS_IS_COMPLEX
#define NAMED ROUTINE_OF(her, , hpr)
#define NAMED_TWO ROUTINE_OF(her2, , hpr2)
#define TITLED ROUTINE_OF("HER  ", , "HPR  ")
#define TITLED_TWO ROUTINE_OF("HER2 ", , "HPR2 ")
#else
#define NAMED ROUTINE_OF(syr, , spr)
#define NAMED_TWO ROUTINE_OF(syr2, , spr2)
#define TITLED ROUTINE_OF("SYR  ", , "SPR  ")
#define TITLED_TWO ROUTINE_OF("SYR2 ", , "SPR2 ")
#endif
#include "blas/entries/level2_rank.h"
#undef KIND
#undef KIND_TWO
#undef NAMED
#undef NAMED_TWO
#undef TITLED
#undef TITLED_TWO
#endif

#undef IS_FULL
#undef K_FORTRAN
#undef K_CBLAS
#undef K_PASS
#undef K_F
#undef K_C
#undef LD_FORTRAN
#undef LD_CBLAS
#undef LD_PASS
#undef LAST_LD_FORTRAN
#undef LAST_LD_CBLAS
#undef LAST_LD_PASS
#undef LD_F
#undef LD_C

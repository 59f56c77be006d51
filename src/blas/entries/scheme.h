/* Every entry of one naming scheme, for each type. The including file defines four macros:
 *   TSL_BLAS_INTEGER        integer of the program: int32_t or int64_t
 *   TSL_BLAS_WORD           type of an integer passed by value. For int32_t it is the whole register: a
 *                           program whose BLAS has 64-bit integers under these names fills it, and the
 *                           host BLAS needs all of it
 *   TSL_BLAS_FORTRAN(name)  name of a Fortran routine: name##_
 *   TSL_BLAS_CBLAS(name)    name of a CBLAS function: cblas_##name */
#include "blas/blas_arguments.h"
#include "blas/blas_batch.h"
#include "blas/blas_dispatch.h"
#include "blas/blas_dot.h"
#include "blas/blas_gemm.h"
#include "blas/blas_level1.h"
#include "blas/blas_level2.h"
#include "blas/blas_level3.h"
#include "blas/blas_symbol.h"
#include "blas/call_log.h"
#include "blas/matcopy.h"
#include "vector/rotations.h"

#include <stdlib.h>

#define PASTE_TWO(a, b) a##b
#define PASTE(a, b) PASTE_TWO(a, b)
#define STRING_OF(word) #word
#define STRING(word) STRING_OF(word)
/* L(gemm) is sgemm. */
#define L(name) PASTE(TSL_BLAS_LETTER, name)
#define FORTRAN(name) TSL_BLAS_FORTRAN(name)
#define CBLAS(name) TSL_BLAS_CBLAS(name)
#define INTEGER TSL_BLAS_INTEGER
#define WORD TSL_BLAS_WORD
/* Keeps arguments on the stack: loading them for the rare call without a kernel makes all save registers. */
#if defined(__x86_64__)
#define ON_STACK volatile
#else
#define ON_STACK
#endif
#define WITHOUT_KERNEL(name) PASTE(name, _without_kernel)

#define FORTRAN_SUM .n = *n, .x = x, .incx = *incx, .y = y, .incy = *incy
#define CBLAS_SUM .n = (INTEGER)n, .x = x, .incx = (INTEGER)incx, .y = y, .incy = (INTEGER)incy

#define FORTRAN_SYMBOL(routine, routine_title)                                                               \
  {                                                                                                          \
    .name = STRING(FORTRAN(routine)), .title = routine_title, .xerbla = STRING(FORTRAN(xerbla)),             \
    .family = STRING(FORTRAN(dgemm)), .probe = STRING(FORTRAN(ddot)), .bits = 8 * (int)sizeof(INTEGER),      \
    .type = TSL_BLAS_TYPE                                                                                    \
  }
#define CBLAS_SYMBOL(routine)                                                                                \
  {                                                                                                          \
    .name = STRING(CBLAS(routine)), .title = "cblas_" STRING(routine), .xerbla = STRING(CBLAS(xerbla)),      \
    .family = STRING(CBLAS(dgemm)), .probe = STRING(CBLAS(ddot)), .bits = 8 * (int)sizeof(INTEGER),          \
    .cblas = true, .type = TSL_BLAS_TYPE                                                                     \
  }

#define TSL_BLAS_LETTER s
#define TSL_BLAS_UPPER "S"
#define TSL_BLAS_REAL float
#define TSL_BLAS_REAL_LETTER s
#define TSL_BLAS_SUFFIX _f32
#define SUM_LETTERS s
#define LARGEST isamax
#define TSL_BLAS_TYPE TESELA_F32
#define TSL_BLAS_ELEMENT float
#include "blas/entries/blas_entry_real.h"
#include "blas/entries/mixed_dot.h"

#include "blas/entries/end_type.h"

#define TSL_BLAS_LETTER d
#define TSL_BLAS_UPPER "D"
#define TSL_BLAS_REAL double
#define TSL_BLAS_REAL_LETTER d
#define TSL_BLAS_SUFFIX _f64
#define SUM_LETTERS d
#define LARGEST idamax
#define TSL_BLAS_TYPE TESELA_F64
#define TSL_BLAS_ELEMENT double
#include "blas/entries/blas_entry_real.h"

#include "blas/entries/end_type.h"

#define TSL_BLAS_LETTER c
#define TSL_BLAS_UPPER "C"
#define TSL_BLAS_REAL float
#define TSL_BLAS_REAL_LETTER s
#define TSL_BLAS_SUFFIX _f32
#define SUM_LETTERS sc
#define LARGEST icamax
#define TSL_BLAS_TYPE TESELA_C64
#define TSL_BLAS_ELEMENT float _Complex
#include "blas/entries/blas_entry_complex.h"

#include "blas/entries/end_type.h"

#define TSL_BLAS_LETTER z
#define TSL_BLAS_UPPER "Z"
#define TSL_BLAS_REAL double
#define TSL_BLAS_REAL_LETTER d
#define TSL_BLAS_SUFFIX _f64
#define SUM_LETTERS dz
#define LARGEST izamax
#define TSL_BLAS_TYPE TESELA_C128
#define TSL_BLAS_ELEMENT double _Complex
#include "blas/entries/blas_entry_complex.h"

#include "blas/entries/end_type.h"

/* Every entry of one naming scheme, for each type. The including file defines four macros:
 *   TSL_BLAS_INTEGER        integer of the program: int32_t or int64_t
 *   TSL_BLAS_WORD           type of an integer passed by value. For int32_t it is the whole register: a
 *                           program whose BLAS has 64-bit integers under these names fills it, and the
 *                           host BLAS needs all of it
 *   TSL_BLAS_FORTRAN(name)  name of a Fortran routine: name##_
 *   TSL_BLAS_CBLAS(name)    name of a CBLAS function: cblas_##name */
#include "blas/blas_arguments.h"
#include "blas/blas_batch.h"
#include "blas/blas_direct.h"
#include "blas/blas_dispatch.h"
#include "blas/blas_dot.h"
#include "blas/blas_gemm.h"
#include "blas/blas_level1.h"
#include "blas/blas_level3.h"
#include "blas/blas_symbol.h"
#include "blas/call_log.h"
#include "blas/matcopy.h"
#include "interpose/entry_lists.h"
#include "vector/rotations.h"

#include <stdlib.h>

#define INTEGER TSL_BLAS_INTEGER
#define WORD TSL_BLAS_WORD
/* Names of the current type: L(gemm) is cgemm, L_REAL(scal) csscal, REAL_L(nrm2) scnrm2. */
#define L(name) PASTE(TSL_BLAS_LETTER, name)
#define L_REAL(name) BY_FIELD(L(name), L(PASTE(TSL_BLAS_REAL_LETTER, name)))
#define REAL_L(name) BY_FIELD(L(name), PASTE(TSL_BLAS_REAL_LETTER, L(name)))
#define ROTATION(name) PASTE(name, TSL_BLAS_SUFFIX)

#include "blas/entries/entry_arguments.h"

#include "blas/entries/entry_forms.h"

#define TSL_BLAS_LETTER s
#define TSL_BLAS_UPPER "S"
#define TSL_BLAS_REAL float
#define TSL_BLAS_REAL_LETTER s
#define TSL_BLAS_SUFFIX _f32
#define TSL_BLAS_TYPE TESELA_F32
#define TSL_BLAS_ELEMENT float
#define TSL_BLAS_IS_COMPLEX 0
#define TSL_BLAS_MIXED_DOTS
#include "blas/entries/entries_of_type.h"
#undef TSL_BLAS_MIXED_DOTS

#define TSL_BLAS_LETTER d
#define TSL_BLAS_UPPER "D"
#define TSL_BLAS_REAL double
#define TSL_BLAS_REAL_LETTER d
#define TSL_BLAS_SUFFIX _f64
#define TSL_BLAS_TYPE TESELA_F64
#define TSL_BLAS_ELEMENT double
#define TSL_BLAS_IS_COMPLEX 0
#include "blas/entries/entries_of_type.h"

#define TSL_BLAS_LETTER c
#define TSL_BLAS_UPPER "C"
#define TSL_BLAS_REAL float
#define TSL_BLAS_REAL_LETTER s
#define TSL_BLAS_SUFFIX _f32
#define TSL_BLAS_TYPE TESELA_C64
#define TSL_BLAS_ELEMENT float _Complex
#define TSL_BLAS_IS_COMPLEX 1
#include "blas/entries/entries_of_type.h"

#define TSL_BLAS_LETTER z
#define TSL_BLAS_UPPER "Z"
#define TSL_BLAS_REAL double
#define TSL_BLAS_REAL_LETTER d
#define TSL_BLAS_SUFFIX _f64
#define TSL_BLAS_TYPE TESELA_C128
#define TSL_BLAS_ELEMENT double _Complex
#define TSL_BLAS_IS_COMPLEX 1
#include "blas/entries/entries_of_type.h"

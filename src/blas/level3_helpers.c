#include "blas/level3_helpers.h"

#include "core/memory.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 32, ABREAST = 16 };

#define REAL_PART(x) (x)
#define CONJUGATE(x) (x)
#define FROM_PARTS(x) ((ELEMENT)(x)[0])
#define NAME(what) what##_f32
#define ELEMENT float
#define REAL_OF float
#include "blas/level3_parts_text.h"
#include "blas/level3_solve_real.h"

#define NAME(what) what##_f64
#define ELEMENT double
#define REAL_OF double
#include "blas/level3_parts_text.h"
#include "blas/level3_solve_real.h"
#undef REAL_PART
#undef CONJUGATE
#undef FROM_PARTS

#define NAME(what) what##_c64
#define FROM_PARTS(x) CMPLXF((float)(x)[0], (float)(x)[1])
#define ELEMENT float complex
#define REAL_OF float
#define REAL float
#define REAL_PART(x) crealf(x)
#define CONJUGATE(x) conjf(x)
#include "blas/level3_parts_text.h"
#include "blas/level3_solve_complex.h"

#define NAME(what) what##_c128
#define FROM_PARTS(x) CMPLX((x)[0], (x)[1])
#define ELEMENT double complex
#define REAL_OF double
#define REAL double
#define REAL_PART(x) creal(x)
#define CONJUGATE(x) conj(x)
#include "blas/level3_parts_text.h"
#include "blas/level3_solve_complex.h"

static const tsl_blas_parts all[] = {
    [TESELA_F32] = {mirror_f32, spread_f32, copy_f32, solve_f32, fold_f32, put_f32},
    [TESELA_F64] = {mirror_f64, spread_f64, copy_f64, solve_f64, fold_f64, put_f64},
    [TESELA_C64] = {mirror_c64, spread_c64, copy_c64, solve_c64, fold_c64, put_c64},
    [TESELA_C128] = {mirror_c128, spread_c128, copy_c128, solve_c128, fold_c128, put_c128},
};

const tsl_blas_parts *tsl_blas_parts_of(tesela_type type) {
  return &all[type];
}

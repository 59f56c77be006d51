/* What cuBLASLt makes of types of elements, beside their names. */
#ifndef TSL_STRATEGY_GEMM_VENDOR_CUBLASLT_VENDOR_CUBLASLT_TYPES_H
#define TSL_STRATEGY_GEMM_VENDOR_CUBLASLT_VENDOR_CUBLASLT_TYPES_H

#include "strategy/problem.h"

/* Whether f32, or c64, is multiplied as TF32: the caller allows what that errs by, which is what factors
 * rounded to it do (tsl_numeric_requirements_allows()). */
bool tsl_lt_takes_tf32(const tsl_problem *problem);
/* |error| / |A||B| of TF32. */
double tsl_lt_tf32_bound(const tsl_problem *problem);
/* Bytes that operands' addresses must be multiples of: an element's; of integers 4, of e4m3 16. */
uint32_t tsl_lt_element_alignment(const tsl_problem *problem);

#endif

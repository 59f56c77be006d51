#ifndef TSL_STRATEGY_GEMM_VENDOR_CUBLASLT_VENDOR_CUBLASLT_TYPES_H
#define TSL_STRATEGY_GEMM_VENDOR_CUBLASLT_VENDOR_CUBLASLT_TYPES_H

#include "problem/problem.h"

/* Returns true if f32 or c64 is multiplied as TF32: the required accuracy allows its error. */
bool tsl_lt_takes_tf32(const tsl_problem *problem);
/* Returns the bound of |error| / |A||B| of TF32. */
double tsl_lt_tf32_bound(const tsl_problem *problem);
/* Returns the alignment in bytes that operands' addresses need: an element's; 4 for integers, 16 for e4m3. */
uint32_t tsl_lt_element_alignment(const tsl_problem *problem);

#endif

/* residue_int8 on the CPU, once per instruction set and type: measuring, reconstruction, and native lines. */
#include "host/simd.h"

#define IS_DOUBLE_f32 0
#define IS_DOUBLE_f64 1
#if JOIN(IS_DOUBLE_, TSL_TYPE)
#define TSL_RESIDUE_F64
#endif
#include "host/int_math.h"
#include "strategy/gemm/emulated/residue_int8/kernels/wide.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8_host.h"

#define REAL JOIN(REAL_, TSL_TYPE)

TSL_INLINE const REAL *line_at(const tsl_residue_lines *lines, int64_t line) {
  return (const REAL *)(const void *)lines->at + line * lines->across;
}

#include "strategy/gemm/emulated/residue_int8/kernels/join.h"
#include "strategy/gemm/emulated/residue_int8/kernels/residue_int8_measure.h"

/* The following header needs the names of the header above. */
#include "strategy/gemm/emulated/residue_int8/kernels/native.h"

const tsl_residue_kernel TSL_ISA_NAME(tsl_residue_kernel) = {measure, join, native};

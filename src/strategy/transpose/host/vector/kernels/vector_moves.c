#include "strategy/transpose/host/vector/vector_moves.h"

#include "host/simd.h"

#include <stddef.h>
#include <string.h>

#define SIZE 1
#define SUFFIX _1
#include "strategy/transpose/host/vector/kernels/vector_loops.h"
#undef SIZE
#undef SUFFIX
#define SIZE 2
#define SUFFIX _2
#include "strategy/transpose/host/vector/kernels/vector_loops.h"
#undef SIZE
#undef SUFFIX
#define SIZE 4
#define SUFFIX _4
#include "strategy/transpose/host/vector/kernels/vector_loops.h"
#undef SIZE
#undef SUFFIX
#define SIZE 8
#define SUFFIX _8
#include "strategy/transpose/host/vector/kernels/vector_loops.h"
#undef SIZE
#undef SUFFIX
#define SIZE 16
#define SUFFIX _16
#include "strategy/transpose/host/vector/kernels/vector_loops.h"
#undef SIZE
#undef SUFFIX
#define REAL float
#define REAL_VECTOR vector_f32
#define SIZE 4
#define SUFFIX _f32
#include "strategy/transpose/host/vector/kernels/vector_loops.h"
#undef SIZE
#undef SUFFIX
#undef REAL
#undef REAL_VECTOR
#define REAL double
#define REAL_VECTOR vector_f64
#define SIZE 8
#define SUFFIX _f64
#include "strategy/transpose/host/vector/kernels/vector_loops.h"

#define MOVES_ROW(name, bytes)                                                                               \
  [TSL_MOVES_##name] = {transpose_block_##name, gather_##name, exchange_##name, exchange_elementwise_##name, \
                        copy_##name},
const tsl_moves_functions TSL_ISA_NAME(tsl_moves)[TSL_MOVES_COUNT] = {TSL_MOVES_LIST(MOVES_ROW)};

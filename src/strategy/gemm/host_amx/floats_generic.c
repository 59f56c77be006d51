/* f32 made from f16 or bf16, in vectors of 16 bytes, which SSE2 and Advanced SIMD have. */
#include "strategy/gemm/host_amx/kernels.h"

#include <string.h>

enum { LANES = 4 };
typedef float VECTOR __attribute__((vector_size(16)));

static inline VECTOR load(const uint32_t *at) {
  VECTOR value;
  memcpy(&value, at, sizeof value);
  return value;
}

static inline void store(uint32_t *at, VECTOR value) {
  memcpy(at, &value, sizeof value);
}

static inline VECTOR broadcast(const uint32_t *at) {
  float value;
  memcpy(&value, at, sizeof value);
  return (VECTOR){value, value, value, value};
}

#define ZERO ((VECTOR){0})
#define LOAD load
#define STORE store
#define BROADCAST broadcast
#define ADD(a, b) ((a) + (b))
#define DOT(sum, a, b) ((sum) + (a) * (b))
#include "strategy/gemm/host_amx/tiles.h"

tsl_amx_tile_function *const tsl_amx_floats_generic[] = {ALL_ROWS};

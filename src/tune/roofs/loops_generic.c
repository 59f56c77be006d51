/* Roofs' loops for any processor: vectors of 16 bytes, which SSE2 and Advanced SIMD have; flags.cmake has the compiler's flags. */
#include "tune/roofs/loops.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#define STREAM(pointer, value) _mm_stream_ps((float *)(pointer), (__m128)(value))
#define FENCE() _mm_sfence()
#else
#define STREAM(pointer, value) (*(pointer) = (value))
#define FENCE() (void)0
#endif
#define VECTOR_BYTES 16
#include "tune/roofs/memory_loops.h"
#define REAL float
#define NAME(word) word##_f32
#include "tune/roofs/fma_loops.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(word) word##_f64
#include "tune/roofs/fma_loops.h"

const tsl_roofs_loops tsl_roofs_loops_generic = {copy, read, fma_f32, fma_f64, VECTOR_BYTES};

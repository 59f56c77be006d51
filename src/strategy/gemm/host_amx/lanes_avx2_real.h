/* The words of tiles.h for sums in f32 in 256 bits; DOT is the file's own. */
#include <immintrin.h>

enum { LANES = 8 };
typedef __m256 VECTOR;
#define ZERO _mm256_setzero_ps()
#define LOAD(at) _mm256_loadu_ps((const float *)(const void *)(at))
#define STORE(at, value) _mm256_storeu_ps((float *)(void *)(at), value)
#define BROADCAST(at) _mm256_castsi256_ps(_mm256_set1_epi32((int)*(at)))
#define ADD(a, b) _mm256_add_ps(a, b)

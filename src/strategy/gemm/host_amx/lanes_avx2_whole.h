/* The words of tiles.h for sums of integers in 256 bits; DOT is the file's own. */
#include <immintrin.h>

enum { LANES = 8 };
typedef __m256i VECTOR;
#define ZERO _mm256_setzero_si256()
#define LOAD(at) _mm256_loadu_si256((const __m256i *)(const void *)(at))
#define STORE(at, value) _mm256_storeu_si256((__m256i *)(void *)(at), value)
#define BROADCAST(at) _mm256_set1_epi32((int)*(at))
#define ADD(a, b) _mm256_add_epi32(a, b)

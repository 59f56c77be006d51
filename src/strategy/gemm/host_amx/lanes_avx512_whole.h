/* The words of tiles.h for sums of integers in 512 bits; DOT is the file's own. */
#include <immintrin.h>

enum { LANES = 16 };
typedef __m512i VECTOR;
#define HAS_14_ROWS 1
#define ZERO _mm512_setzero_si512()
#define LOAD(at) _mm512_loadu_si512((const void *)(at))
#define STORE(at, value) _mm512_storeu_si512((void *)(at), value)
#define BROADCAST(at) _mm512_set1_epi32((int)*(at))
#define ADD(a, b) _mm512_add_epi32(a, b)

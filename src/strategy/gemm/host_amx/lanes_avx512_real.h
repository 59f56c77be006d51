/* The words of tiles.h for sums in f32 in 512 bits; BROADCAST and DOT are the file's own. */
#include <immintrin.h>

enum { LANES = 16 };
typedef __m512 VECTOR;
#define HAS_14_ROWS 1
#define ZERO _mm512_setzero_ps()
#define LOAD(at) _mm512_loadu_ps((const void *)(at))
#define STORE(at, value) _mm512_storeu_ps((void *)(at), value)
#define BROADCAST(at) _mm512_castsi512_ps(_mm512_set1_epi32((int)*(at)))
#define ADD(a, b) _mm512_add_ps(a, b)

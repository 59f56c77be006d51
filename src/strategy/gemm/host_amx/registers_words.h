/* The words of registers.h as AMX instructions; REGISTER_DOT is the file's own. */
#include <immintrin.h>

#define REGISTER_LOAD(t, at, stride) _tile_loadd(t, at, stride)
#define REGISTER_LOAD_ONCE(t, at, stride) _tile_stream_loadd(t, at, stride)
#define REGISTER_STORE(t, at, stride) _tile_stored(t, at, stride)
#define REGISTER_ZERO(t) _tile_zero(t)
#define REGISTER_STREAM(to, from) _mm512_stream_si512((void *)(to), _mm512_loadu_si512((const void *)(from)))

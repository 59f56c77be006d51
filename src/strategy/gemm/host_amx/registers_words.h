/* The words of registers.h as AMX instructions; REGISTER_DOT is the file's own. */
#include <immintrin.h>

#define REGISTER_LOAD(t, at, stride) _tile_loadd(t, at, stride)
#define REGISTER_LOAD_ONCE(t, at, stride) _tile_stream_loadd(t, at, stride)
#define REGISTER_STORE(t, at, stride) _tile_stored(t, at, stride)
#define REGISTER_ZERO(t) _tile_zero(t)
#define REGISTER_STREAM(to, from) _mm512_stream_si512((void *)(to), _mm512_loadu_si512((const void *)(from)))
#define REGISTER_COPY_REST(to, from, bytes)                                                                  \
  _mm512_storeu_si512((void *)(to),                                                                          \
                      _mm512_maskz_loadu_epi8(((uint64_t)1 << (bytes)) - 1, (const void *)(from)))

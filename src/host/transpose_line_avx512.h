/* Transposition of a whole cache line of each row, for host/simd.h with AVX-512. Functions set out[s] to
 * number `index` + s of LANES_T rows, for as many s as a line has numbers. Each line is read once, because
 * rows whose pitch is a large power of two share a set of the cache. */
#ifndef TSL_HOST_TRANSPOSE_LINE_AVX512_H
#define TSL_HOST_TRANSPOSE_LINE_AVX512_H

/* Transposes the blocks of 4 x 4 numbers in the quarters of four rows. */
static inline void transpose_blocks_f32(const float *const *row, int64_t index, __m512 *out) {
  const __m512 a = _mm512_loadu_ps(row[0] + index), b = _mm512_loadu_ps(row[1] + index),
               c = _mm512_loadu_ps(row[2] + index), d = _mm512_loadu_ps(row[3] + index);
  const __m512d ab_low = _mm512_castps_pd(_mm512_unpacklo_ps(a, b)),
                cd_low = _mm512_castps_pd(_mm512_unpacklo_ps(c, d)),
                ab_high = _mm512_castps_pd(_mm512_unpackhi_ps(a, b)),
                cd_high = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
  out[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab_low, cd_low));
  out[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab_low, cd_low));
  out[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab_high, cd_high));
  out[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab_high, cd_high));
}

static inline void transpose_line_f32(const float *const *row, int64_t index, vector_f32 *out) {
  __m512 blocks[4][4]; /* [i][e]: numbers e, e + 4, e + 8 and e + 12 of rows 4 i to 4 i + 3 */
  for (int i = 0; i < 4; i++)
    transpose_blocks_f32(row + 4 * i, index, blocks[i]);
  for (int e = 0; e < 4; e++) {
    const vector_bytes in[4] = {_mm512_castps_si512(blocks[0][e]), _mm512_castps_si512(blocks[1][e]),
                                _mm512_castps_si512(blocks[2][e]), _mm512_castps_si512(blocks[3][e])};
    vector_bytes lines[4];
    transpose_quarters(in, lines);
    for (int part = 0; part < 4; part++)
      out[4 * part + e] = (vector_f32)lines[part];
  }
}

static inline void transpose_line_f64(const double *const *row, int64_t index, vector_f64 *out) {
  vector_bytes even[4], odd[4], lines[4];
  for (int i = 0; i < 4; i++) {
    const __m512d first = _mm512_loadu_pd(row[2 * i] + index),
                  second = _mm512_loadu_pd(row[2 * i + 1] + index);
    even[i] = _mm512_castpd_si512(_mm512_unpacklo_pd(first, second));
    odd[i] = _mm512_castpd_si512(_mm512_unpackhi_pd(first, second));
  }
  transpose_quarters(even, lines);
  for (int part = 0; part < 4; part++)
    out[2 * part] = (vector_f64)lines[part];
  transpose_quarters(odd, lines);
  for (int part = 0; part < 4; part++)
    out[2 * part + 1] = (vector_f64)lines[part];
}

#endif

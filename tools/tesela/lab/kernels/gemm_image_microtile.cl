/* C = A B, where B is an image with four columns a texel, and each work-item keeps HEIGHT x 4 elements of C
 * in registers. A texel serves HEIGHT rows, and an element of A four columns. */
#define HEIGHT 8

__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel void gemm(const int m, const int n, const int k, __global const float *a, const int lda,
                   __read_only image2d_t b, __global float *c, const int ldc) {
  const int col = 4 * get_global_id(0);
  const int row0 = HEIGHT * get_global_id(1);
  float4 sums[HEIGHT];
  if (col >= n || row0 >= m)
    return;
  for (int i = 0; i < HEIGHT; i++)
    sums[i] = (float4)(0, 0, 0, 0);
  for (int l = 0; l < k; l++) {
    const float4 texel = read_imagef(b, nearest, (int2)(col / 4, l));
    for (int i = 0; i < HEIGHT; i++) {
      const int row = row0 + i < m ? row0 + i : m - 1; /* rows beyond the last are not stored */
      sums[i] += a[row * lda + l] * texel;
    }
  }
  for (int i = 0; i < HEIGHT && row0 + i < m; i++) {
    __global float *first = &c[(row0 + i) * ldc + col];
    first[0] = sums[i].x;
    if (col + 1 < n)
      first[1] = sums[i].y;
    if (col + 2 < n)
      first[2] = sums[i].z;
    if (col + 3 < n)
      first[3] = sums[i].w;
  }
}

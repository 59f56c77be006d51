/* C = alpha A B + beta C by the five loops of Goto and van de Geijn, around a micro-kernel that keeps MR x NR
 * sums. A block of B and a block of A are copied ("packed") to arrays that the micro-kernel reads in order.
 * NC and MC are multiples of NR and MR. At the edges, zeros fill the arrays. */
#define NC 512
#define KC 256
#define MC 96
#define NR 16
#define MR 6

static int smaller(int a, int b) {
  return a < b ? a : b;
}

void gemm(int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta,
          float *c, int ldc) {
  static float b_block[NC * KC], a_block[MC * KC];
  for (int row = 0; row < m; row++)
    for (int col = 0; col < n; col++)
      c[row * ldc + col] = beta != 0 ? beta * c[row * ldc + col] : 0;
  for (int jc = 0; jc < n; jc += NC)     /* loop 5 */
    for (int pc = 0; pc < k; pc += KC) { /* loop 4 */
      const int width = smaller(NC, n - jc), depth = smaller(KC, k - pc);
      for (int jr = 0; jr < width; jr += NR)
        for (int l = 0; l < depth; l++)
          for (int j = 0; j < NR; j++)
            b_block[(jr / NR * KC + l) * NR + j] = jr + j < width ? b[(pc + l) * ldb + jc + jr + j] : 0;
      for (int ic = 0; ic < m; ic += MC) { /* loop 3 */
        const int height = smaller(MC, m - ic);
        for (int ir = 0; ir < height; ir += MR)
          for (int l = 0; l < depth; l++)
            for (int i = 0; i < MR; i++)
              a_block[(ir / MR * KC + l) * MR + i] = ir + i < height ? a[(ic + ir + i) * lda + pc + l] : 0;
        for (int jr = 0; jr < width; jr += NR)      /* loop 2 */
          for (int ir = 0; ir < height; ir += MR) { /* loop 1 */
            float sums[MR][NR];
            for (int i = 0; i < MR; i++)
              for (int j = 0; j < NR; j++)
                sums[i][j] = 0;
            for (int l = 0; l < depth; l++) /* the micro-kernel */
              for (int i = 0; i < MR; i++)
                for (int j = 0; j < NR; j++)
                  sums[i][j] += a_block[(ir / MR * KC + l) * MR + i] * b_block[(jr / NR * KC + l) * NR + j];
            for (int i = 0; i < MR && ir + i < height; i++)
              for (int j = 0; j < NR && jr + j < width; j++)
                c[(ic + ir + i) * ldc + jc + jr + j] += alpha * sums[i][j];
          }
      }
    }
}

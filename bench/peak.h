/* Measures the peak of multiply-adds in registers. Included as text, with these macros:
 *
 *   PEAK     the function's name           VECTOR   a register's type
 *   TARGET   its instruction set           SET1     a vector of equal numbers
 *   FMADD    a b + c                       LANES    numbers of a vector
 *
 * The function runs twelve independent chains of multiply-adds. Returns operations a second, two for each
 * multiply-add: the best of a few runs of about half a millisecond. */
static __attribute__((target(TARGET))) double PEAK(void) {
  enum { CHAINS = 12, TURNS = 40000, RUNS = 8 };
  double best = INFINITY;
  for (int run = 0; run < RUNS; run++) {
    const VECTOR factor = SET1(1.0000001f), small = SET1(1e-7f);
    VECTOR sum[CHAINS];
    for (int i = 0; i < CHAINS; i++)
      sum[i] = SET1((float)i);
    const double start = tsl_clock();
    for (int turn = 0; turn < TURNS; turn++)
      _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) sum[i] = FMADD(sum[i], factor, small);
    for (int i = 0; i < CHAINS; i++)
      __asm__ volatile("" : : "x"(sum[i]));
    best = fmin(best, tsl_clock() - start);
  }
  return 2.0 * LANES * CHAINS * TURNS / best;
}
#undef PEAK
#undef TARGET
#undef VECTOR
#undef SET1
#undef FMADD
#undef LANES

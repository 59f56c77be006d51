/* Part of loops_kernel.c, for REAL and SUFFIX. -ffp-contract=fast fuses product and sum. */
static void NAME(chains)(int64_t rounds, REAL factor, REAL summand, REAL *x) {
  NAME(vector) *at = (NAME(vector) *)x;
  NAME(vector) chain[TSL_ROOFS_CHAINS];
  const NAME(vector) a = factor - (NAME(vector)){0}, b = summand - (NAME(vector)){0};
  for (int c = 0; c < TSL_ROOFS_CHAINS; c++)
    chain[c] = at[c];
  for (int64_t round = 0; round < rounds; round++)
    for (int i = 0; i < TSL_ROOFS_ROUND; i++)
      for (int c = 0; c < TSL_ROOFS_CHAINS; c++)
        chain[c] = chain[c] * a + b;
  for (int c = 0; c < TSL_ROOFS_CHAINS; c++)
    at[c] = chain[c];
}

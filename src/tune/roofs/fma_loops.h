/* Chains of multiply-adds, as text. Included per type by files that differ in their compiler flags, with
 *   REAL, NAME(word), VECTOR_BYTES   as in strategy/gemm/blocked/block.h
 * Compiled with -ffp-contract=fast, so that a product and a sum are one instruction where there is one. */

typedef REAL NAME(vector) __attribute__((vector_size(VECTOR_BYTES), may_alias));

static void NAME(fma)(int64_t rounds, REAL factor, REAL summand, REAL *x) {
  NAME(vector) *chains = (NAME(vector) *)x;
  NAME(vector) chain[TSL_ROOFS_CHAINS];
  const NAME(vector) a = factor - (NAME(vector)){0}, b = summand - (NAME(vector)){0};
  for (int c = 0; c < TSL_ROOFS_CHAINS; c++)
    chain[c] = chains[c];
  for (int64_t round = 0; round < rounds; round++)
    for (int i = 0; i < TSL_ROOFS_ROUND; i++)
      for (int c = 0; c < TSL_ROOFS_CHAINS; c++)
        chain[c] = chain[c] * a + b;
  for (int c = 0; c < TSL_ROOFS_CHAINS; c++)
    chains[c] = chain[c];
}

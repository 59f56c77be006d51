/* Totals of a block's parts of k, which are added in order (FOLDS, for bits=rows). A thread's totals are in
 * shared memory behind the stages: pair after pair, with the pairs of adjacent threads side by side. */
#if FOLDS
extern __shared__ __align__(128) char memory[];

/* Ends a part of k: adds its sums to the totals and clears these sums. Is the last part: adds the totals to
 * its sums. `is_first`: there are no totals yet. */
template <bool IS_LAST>
SM80_FUNCTION void end_part(warp_sums sums, bool is_first) {
  shared_t at = shared_address(memory) + STAGES * STAGE_BYTES + threadIdx.x * (int)sizeof(real_pair);
#pragma unroll
  for (int part = 0; part < NUMBERS; part++)
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
      for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
        for (int e = 0; e < 4; e += 2, at += THREADS * (int)sizeof(real_pair)) {
          real_t(&own)[4] = sums[part][i][j];
          real_pair total = make_pair(own[e], own[e + 1]);
          if (!is_first) {
            load_pair(total, at);
            total.x += own[e], total.y += own[e + 1];
          }
          if (!IS_LAST)
            store_pair(at, total);
          own[e] = IS_LAST ? total.x : 0, own[e + 1] = IS_LAST ? total.y : 0;
        }
}
#endif

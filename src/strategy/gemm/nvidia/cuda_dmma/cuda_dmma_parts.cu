/* Totals of a block's parts of k, which are added in order (FOLDS, for bits=rows). A thread's totals are in
 * scratch memory, pair after pair, with the pairs of adjacent threads side by side. The level-2 cache adds to
 * them, while the thread goes on with the next part. */
#if FOLDS
/* Ends a part of k: adds its sums to the totals and clears these sums. Is the last part: adds the totals to
 * its sums. `is_first`: there are no totals yet. */
template <bool IS_LAST>
SM80_FUNCTION void end_part(warp_sums sums, const sm80_arguments &args, bool is_first) {
  double *at = (double *)args.totals +
               ((long long)blockIdx.y * gridDim.x + blockIdx.x) * (TILE_M * TILE_N * NUMBERS) +
               threadIdx.x * 2;
#pragma unroll
  for (int part = 0; part < NUMBERS; part++)
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
      for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
        for (int e = 0; e < 4; e += 2, at += THREADS * 2) {
          double(&own)[4] = sums[part][i][j];
          if constexpr (IS_LAST) {
            const double2 total = load_from_l2(at);
            own[e] = total.x + own[e], own[e + 1] = total.y + own[e + 1];
          } else {
            if (is_first)
              *(double2 *)at = make_double2(own[e], own[e + 1]);
            else
              add_in_l2(at, own[e]), add_in_l2(at + 1, own[e + 1]);
            own[e] = own[e + 1] = 0;
          }
        }
}
#endif

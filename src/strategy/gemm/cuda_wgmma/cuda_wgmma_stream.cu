/* What blocks that stay take, one share after the other; and, where the last round is streamed (STREAM), how the sums of a tile that several of them
 * have panels of come together. Of cuda_wgmma.cu, which has the parameters.
 *
 * The first `whole` tiles are taken whole, in full rounds. Each of those that are left has an owner, who takes its first panels, as many for all; the rest
 * is cut into `helped` parts, which go to those who would have no tile, in turns:
 *
 *   panels:    0         owned                           owners all read the same panels at a time, and so do helpers: what is asked for
 *   tile 0     | owner    | helper 0    |                by many at once comes from the last cache once. (Ranges of one length, one behind
 *   tile 1     | owner    | helper 1    |                the other, as stream-k has them, begin anywhere, and were slower: docs/lab/cuda_wgmma.md.)
 *   tile 2     | owner    | helper 0    |
 *
 * Helpers leave sums in memory, as threads have them, those of a warpgroup together, and its flag says that they are there: it is `ticket` then, a number that
 * no run before had, and 0 again once they were read. The owner adds those of its tile's parts to its own, in their order: bits are the same in each run. Helpers
 * are the clusters of the lowest numbers, which were started before owners, and wait for nobody. */

struct walk {
  int number; /* the next whole tile; of a helper's parts the next, of all, tile by tile */
  bool is_streamed;
};

SM90_FUNCTION int panels_of(const cuda_wgmma_arguments &args) {
  return (args.k + DEPTH - 1) / DEPTH;
}
SM90_FUNCTION int clusters() {
  return (int)gridDim.x / CLUSTER;
}
SM90_FUNCTION int own_cluster() {
  return (int)blockIdx.x / CLUSTER;
}

SM90_FUNCTION int whole_shares(const cuda_wgmma_arguments &args) {
#if STREAM
  return args.whole;
#else
  return shares_of(args);
#endif
}

#if STREAM
SM90_FUNCTION int streamed_tiles(const cuda_wgmma_arguments &args) {
  return args.tiles_m * args.tiles_n - args.whole;
}
SM90_FUNCTION int helpers(const cuda_wgmma_arguments &args) {
  return clusters() - streamed_tiles(args);
}
SM90_FUNCTION bool is_owner(const cuda_wgmma_arguments &args) {
  return own_cluster() >= helpers(args);
}
#endif

/* Whole tiles first; then, as `number` says of an owner, 0: its tile is to come. */
SM90_FUNCTION walk first_share(const cuda_wgmma_arguments &args) {
  walk way = {own_cluster(), false};
#if STREAM
  if (way.number >= args.whole)
    way = {is_owner(args) ? 0 : own_cluster(), true};
#endif
  return way;
}

SM90_FUNCTION bool has_share(const walk &way, const cuda_wgmma_arguments &args) {
#if STREAM
  if (way.is_streamed)
    return way.number < (is_owner(args) ? 1 : streamed_tiles(args) * args.helped);
#endif
  return way.number < whole_shares(args);
}

SM90_FUNCTION share next_share(walk &way, unsigned rank, const cuda_wgmma_arguments &args) {
  const int number = way.number;
#if STREAM
  if (way.is_streamed) {
    const int tiles = streamed_tiles(args), part = number / tiles, rest = panels_of(args) - args.owned;
    const bool owns = is_owner(args);
    share made =
        share_of(args.whole + (owns ? own_cluster() - helpers(args) : number % tiles), rank, args);
    made.first = owns ? 0 : args.owned + rest * part / args.helped;
    made.end = owns ? args.owned : args.owned + rest * (part + 1) / args.helped;
    way.number += owns ? 1 : helpers(args);
    return made;
  }
  way.number += clusters();
  if (way.number >= args.whole)
    way = {is_owner(args) ? 0 : own_cluster(), true};
#else
  way.number += clusters();
#endif
  return share_of(number, rank, args);
}

#if STREAM
/* --- sums of parts --- */

/* Those of this warpgroup's place in part `number` of all; each has a flag. */
SM90_FUNCTION int place_of(int number, unsigned rank) {
  return (number * CLUSTER + (int)rank) * WARPGROUPS + (int)threadIdx.x / 128 - 1;
}
SM90_FUNCTION unsigned long long *flag_of(char *partials, int place, const cuda_wgmma_arguments &args) {
  return (unsigned long long *)(partials + args.flags) + place;
}
SM90_FUNCTION uint4 *sums_of(char *partials, int place, const cuda_wgmma_arguments &args) {
  return (uint4 *)(partials + args.sums) + (long long)place * (ROWS * TILE_N / 4) + threadIdx.x % 128;
}

/* Of the part before which `way` was; multiplied by 1 for the compiler's sake (scaled()). */
SM90_FUNCTION void leave_sums(char *partials, wgmma_sums sums[BLOCKS], const walk &way, unsigned rank,
                              const cuda_wgmma_arguments &args) {
  const int place = place_of(way.number - helpers(args), rank);
  uint4 *to = sums_of(partials, place, args);
#pragma unroll
  for (int i = 0; i < BLOCKS; i++)
#pragma unroll
    for (int j = 0; j < TILE_N / 8; j++, to += 128) {
      const sum_t *own = sums[i][j];
      *to = {scaled(own[0], args.one), scaled(own[1], args.one), scaled(own[2], args.one),
             scaled(own[3], args.one)};
    }
  warpgroup_barrier(threadIdx.x / 128 - 1);
  if (threadIdx.x % 128 == 0)
    flag_raise(flag_of(partials, place, args), args.ticket);
}

/* Adds what helpers have of the owner's tile. */
SM90_FUNCTION void take_sums(char *partials, wgmma_sums sums[BLOCKS], unsigned rank,
                             const cuda_wgmma_arguments &args) {
  for (int part = 0; part < args.helped; part++) {
    const int place = place_of(part * streamed_tiles(args) + own_cluster() - helpers(args), rank);
    const uint4 *from = sums_of(partials, place, args);
    if (threadIdx.x % 128 == 0)
      flag_await(flag_of(partials, place, args), args.ticket);
    warpgroup_barrier(threadIdx.x / 128 - 1);
#pragma unroll
    for (int i = 0; i < BLOCKS; i++)
#pragma unroll
      for (int j = 0; j < TILE_N / 8; j++, from += 128) {
        const uint4 words = __ldcg(from);
        sums[i][j][0] += wgmma_tile_sum(words.x);
        sums[i][j][1] += wgmma_tile_sum(words.y);
        sums[i][j][2] += wgmma_tile_sum(words.z);
        sums[i][j][3] += wgmma_tile_sum(words.w);
      }
  }
}
#endif

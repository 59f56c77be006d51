/* Tile scheduler of persistent blocks, and the stream-k fix-up of the last round (STREAM). The first `whole`
 * tiles are computed whole, in full rounds. Each remaining tile has an owner cluster, which computes its
 * first `owned` panels. The other panels are split into `helped` parts, taken in turns by clusters without a
 * tile:
 *   panels:    0         owned
 *   tile 0     | owner    | helper 0    |   Owners read the same panels at the same time, and so do helpers:
 *   tile 1     | owner    | helper 1    |   L2 serves the concurrent reads. Classic stream-k ranges of equal
 *   tile 2     | owner    | helper 0    |   length start at any panel and were slower.
 * A helper publishes its partial accumulators in device memory in thread order, one block of sums and one
 * flag per warpgroup. A flag holds `ticket`, a number that no earlier run used, while its sums are valid; the
 * owner resets it to 0 after reading. The owner adds the parts of its tile in their order, so that every run
 * gives equal bits. Helpers are the first clusters, which start before the owners and wait for no other
 * cluster. */

static_assert(!(STREAM && SPLIT), "stream-k replaces split-k");

/* Tile of C in one layer (a part of k, or a product of a batch), and its panels [first, end) along k. */
struct work_tile {
  int row, col, layer, first, end;
};

struct tile_scheduler {
  int number;       /* next whole tile; for a helper, the next part, numbered over all streamed tiles */
  bool is_streamed; /* `number` is of the last round's streamed work: the own tile, or a part */
};

SM90_FUNCTION int count_panels(const cuda_wgmma_arguments &args) {
  return (args.k + BLOCK_K - 1) / BLOCK_K;
}

/* Returns work tile `number`, layer by layer, each in bands of raster_height rows of tiles. */
SM90_FUNCTION work_tile get_work_tile(int number, unsigned rank, const cuda_wgmma_arguments &args) {
  const int tiles = args.tiles_m * args.tiles_n, tile = number % tiles, layer = number / tiles;
  const int above = tile / (args.raster_height * args.tiles_n) * args.raster_height,
            place = tile % (args.raster_height * args.tiles_n);
  const int height = min(args.tiles_m - above, args.raster_height);
  return {((above + place % height) * CLUSTER_M + place_m(rank)) * BLOCK_M,
          (place / height * CLUSTER_N + place_n(rank)) * BLOCK_N, layer,
          SPLIT ? part_begins(args.k, layer, args.parts) : 0,
          SPLIT ? part_begins(args.k, layer + 1, args.parts) : count_panels(args)};
}

SM90_FUNCTION int count_clusters() {
  return (int)gridDim.x / CLUSTER;
}
SM90_FUNCTION int own_cluster() {
  return (int)blockIdx.x / CLUSTER;
}
SM90_FUNCTION int count_whole_tiles(const cuda_wgmma_arguments &args) {
  return STREAM ? args.whole : args.tiles_m * args.tiles_n * args.parts * args.products;
}

/* Returns the tiles of the last round; count_helpers(): the clusters without a tile of these. */
SM90_FUNCTION int count_streamed_tiles(const cuda_wgmma_arguments &args) {
  return args.tiles_m * args.tiles_n - args.whole;
}
SM90_FUNCTION int count_helpers(const cuda_wgmma_arguments &args) {
  return count_clusters() - count_streamed_tiles(args);
}
SM90_FUNCTION bool is_owner(const cuda_wgmma_arguments &args) {
  return own_cluster() >= count_helpers(args);
}

/* Returns the scheduler's first state: a whole tile if this cluster has one, else its streamed work. */
SM90_FUNCTION tile_scheduler sched_first(const cuda_wgmma_arguments &args) {
  tile_scheduler sched = {own_cluster(), false};
  if (STREAM && sched.number >= args.whole)
    sched = {is_owner(args) ? 0 : own_cluster(), true};
  return sched;
}

SM90_FUNCTION bool sched_has_next(const tile_scheduler &sched, const cuda_wgmma_arguments &args) {
  if (STREAM && sched.is_streamed)
    return sched.number < (is_owner(args) ? 1 : count_streamed_tiles(args) * args.helped);
  return sched.number < count_whole_tiles(args);
}

/* Returns the cluster's next work tile, or its part of one, for block `rank`, and advances. */
SM90_FUNCTION work_tile sched_next(tile_scheduler &sched, unsigned rank, const cuda_wgmma_arguments &args) {
  const int number = sched.number;
  if (STREAM && sched.is_streamed) {
    const int tiles = count_streamed_tiles(args), part = number / tiles,
              rest = count_panels(args) - args.owned;
    const bool owns = is_owner(args);
    work_tile tile =
        get_work_tile(args.whole + (owns ? own_cluster() - count_helpers(args) : number % tiles), rank, args);
    tile.first = owns ? 0 : args.owned + rest * part / args.helped;
    tile.end = owns ? args.owned : args.owned + rest * (part + 1) / args.helped;
    sched.number += owns ? 1 : count_helpers(args);
    return tile;
  }
  sched.number += count_clusters();
  if (STREAM && sched.number >= args.whole)
    sched = {is_owner(args) ? 0 : own_cluster(), true};
  return get_work_tile(number, rank, args);
}

/* Returns this warpgroup's slot in part `number`; each slot has one flag. */
SM90_FUNCTION int partial_slot(int number, unsigned rank) {
  return (number * CLUSTER + (int)rank) * WARPGROUPS + (int)threadIdx.x / 128 - 1;
}
SM90_FUNCTION unsigned long long *partial_flag(char *partials, int place, const cuda_wgmma_arguments &args) {
  return (unsigned long long *)(partials + args.flags) + place;
}
SM90_FUNCTION uint4 *partial_sums(char *partials, int place, const cuda_wgmma_arguments &args) {
  return (uint4 *)(partials + args.sums) + (long long)place * (WARPGROUP_M * BLOCK_N / 4) + threadIdx.x % 128;
}

/* Publishes the accumulators of the last part, times 1, which steers the compiler (scaled()). */
SM90_FUNCTION void publish_partials(char *partials, wgmma_sums sums[WAVES], const tile_scheduler &sched,
                                    unsigned rank, const cuda_wgmma_arguments &args) {
  const int place = partial_slot(sched.number - count_helpers(args), rank);
  uint4 *to = partial_sums(partials, place, args);
#pragma unroll
  for (int i = 0; i < WAVES; i++)
#pragma unroll
    for (int j = 0; j < BLOCK_N / 8; j++, to += 128) {
      const sum_t *own = sums[i][j];
      *to = {scaled(own[0], args.one), scaled(own[1], args.one), scaled(own[2], args.one),
             scaled(own[3], args.one)};
    }
  warpgroup_barrier(threadIdx.x / 128 - 1);
  if (threadIdx.x % 128 == 0)
    flag_publish(partial_flag(partials, place, args), args.ticket);
}

/* Adds the helpers' parts of the owner's tile to `sums`, in the order of the parts. */
SM90_FUNCTION void accumulate_partials(char *partials, wgmma_sums sums[WAVES], unsigned rank,
                                       const cuda_wgmma_arguments &args) {
  for (int part = 0; part < args.helped; part++) {
    const int place =
        partial_slot(part * count_streamed_tiles(args) + own_cluster() - count_helpers(args), rank);
    const uint4 *from = partial_sums(partials, place, args);
    if (threadIdx.x % 128 == 0)
      flag_wait_and_clear(partial_flag(partials, place, args), args.ticket);
    warpgroup_barrier(threadIdx.x / 128 - 1);
#pragma unroll
    for (int i = 0; i < WAVES; i++)
#pragma unroll
      for (int j = 0; j < BLOCK_N / 8; j++, from += 128) {
        const uint4 words = __ldcg(from);
        sums[i][j][0] += wgmma_tile_sum(words.x);
        sums[i][j][1] += wgmma_tile_sum(words.y);
        sums[i][j][2] += wgmma_tile_sum(words.z);
        sums[i][j][3] += wgmma_tile_sum(words.w);
      }
  }
}

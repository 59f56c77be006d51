/* Idea: sm_90's tensor cores as their makers meant them: a warpgroup multiplies what lies in shared memory, one thread copies
 * whole panels there by tensor maps that the host made, and thread blocks stay and take tile after tile.
 * What it adds to opencl_mma_group.cl: maps from the host instead of some that each block writes for itself; panels of B that
 * the two blocks of a cluster share, each loading half for both; registers that the loading warps hand to the multiplying ones;
 * C by copies of boxes that go on while the next tile is multiplied; and launches that begin while the one before them ends.
 *
 *   tile of C, TILE_M x TILE_N             warpgroup 0 loads (one thread; its registers go to the others)
 *   +------------------------+             warpgroup 1 multiplies ROWS rows by TILE_N columns
 *   | warpgroup 1            | ROWS        warpgroup 2 the next ROWS rows
 *   +------------------------+
 *   | warpgroup 2            |             CLUSTER = 2: two blocks, one tile below the other, share columns of B
 *   +------------------------+
 *
 *   shared memory: | stage 0: A panel, B panel | stage 1 | ... | boxes of C, by warpgroup | barriers "full", "empty" of stages |
 *
 * A stage is full when its bytes have come, and empty when all warpgroups that read it have said so, in both blocks of a
 * cluster: either of them writes to both.
 *
 * C: a warpgroup puts boxes of 64 rows by 128 bytes into shared memory and lets them be copied (by_map), or, where C's rows do not
 * lie as maps need them, where C is read (beta), or where the tile is narrower than a box, writes their elements itself.
 *
 * Few tiles and a long k: `parts` of k are summed apart, to a matrix each of sums as they are (SPLIT), and cuda_wgmma_split_k_reduce.cu adds them
 * up, always in the same order.
 *
 * A last round of tiles that is not full: blocks that would have none take panels of the others' (STREAM, cuda_wgmma_stream.cu).
 *
 * A bias, an activation and scales are applied to sums in registers where C goes by its map, and else where an element is stored (FINISH,
 * cuda_wgmma_finish.cu).
 *
 * Products of a batch are layers of the maps: a block takes the tiles of one after those of another.
 *
 * What is done of a tile is in cuda_wgmma_tiles.cu.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _CLUSTER. From the host: STAGES, BOXES, ELEMENT (bytes of A's and B's elements), A_TYPE, B_TYPE
 * (PTX's words), C_FORM (0 f32, 1 f16, 2 bf16, 3 i32), A_ACROSS, B_ACROSS, SPLIT, STREAM,
 * APART (panels whose sums are their own; 0), RESIDENT (blocks of a multiprocessor), WHOLE_SUMS, FINISH and what goes with it.
 * Limits: sm_90a; k at least 1 (without products there is cuda_wgmma_split_k_reduce.cu alone); m, n and k below 2^31; A and B where maps take them (pitches and addresses multiples of 16 bytes). */
#include "cuda_wgmma_tiles.cu"

#include "cuda_wgmma_stream.cu"

/* All panels of all of this block's shares, by one thread. */
SM90_FUNCTION void load_shares(const tensor_map *a, const tensor_map *b, const cuda_wgmma_arguments &args,
                               const place &memory, unsigned rank) {
  stage at = {0, 1}; /* all are empty at first */
  for (walk way = first_share(args); has_share(way, args);) {
    const share own = next_share(way, rank, args);
    load_share(a, b, own, args.a_first + own.layer * args.a_layer,
               args.b_first + own.layer * args.b_layer, memory.stages, memory.full, memory.empty, rank, at);
  }
}

/* BY_MAP is asked once, outside: where paths meet between shares, the compiler loses sight of what is in registers. */
template <bool BY_MAP>
SM90_FUNCTION void multiply_shares(const tensor_map *map, c_element *c, char *partials,
                                   const finish_vectors &with, const cuda_wgmma_arguments &args,
                                   const place &memory, unsigned rank) {
  stage at = {0, 0};
  const int group = threadIdx.x / 128 - 1;
  const shared_t vectors = memory.beside + group * FINISH_BYTES,
                 boxes = memory.boxes + group * BOXES * BOX_BYTES;
  for (walk way = first_share(args); has_share(way, args);) {
    const share own = next_share(way, rank, args);
    const bool is_last = !has_share(way, args);
    wgmma_sums sums[BLOCKS];
#if FINISH
    finish_held held;
    if (BY_MAP &&
        !APART) /* on their way while products are; of sums that are apart there are too many registers */
      finish_bring(held, with, own.row + rows_above(), own.col, own.layer, args);
#endif
    multiply_share(sums, own, memory.stages, memory.full, memory.empty, at);
    if (is_last)
      dependency_launch();
#if STREAM
    if (own.first > 0) {
      leave_sums(partials, sums, way, rank, args);
      continue;
    }
    if (own.end < panels_of(args))
      take_sums(partials, sums, rank, args);
#endif
    if (BY_MAP) {
#if FINISH
      if (APART)
        finish_bring(held, with, own.row + rows_above(), own.col, own.layer, args);
      finish_sums(sums, held, vectors, group, with.steps->alpha);
#endif
#if FINISH && (C_FORM == 1 || C_FORM == 2)
      store_by_map(map, sums, own, is_last, wgmma_as_it_is(), memory.stages, boxes);
#else /* of a C of f32 the compiler serializes products (C7520) unless sums are multiplied here, if by 1 */
      store_by_map(map, sums, own, is_last, args.alpha, memory.stages, boxes);
#endif
    } else {
      store_by_threads(c, sums, own, with, args, boxes);
    }
  }
  tma_stores_read<0>();
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(128 * (WARPGROUPS + 1), RESIDENT)
    tsl_gemm_cuda_wgmma(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                        const __grid_constant__ tensor_map map, c_element *c,
                        const __grid_constant__ cuda_wgmma_arguments given
#if STREAM
                        ,
                        char *partials
#endif
#if FINISH
                        ,
                        const finish_bias *bias, const float *scale_a, const float *scale_b,
                        const __grid_constant__ cuda_wgmma_finish steps
#endif
    ) {
#if FINISH
  const finish_vectors with = {bias, scale_a, scale_b, &steps};
#else
  const finish_vectors with = {};
#endif
#if !STREAM
  char *const partials = nullptr;
#endif
  extern __shared__ char memory[];
  if (threadIdx.x == 0) {
    tma_prefetch(&a);
    tma_prefetch(&b);
    tma_prefetch(&map);
  }
  const place at = begin_block(memory);
  const unsigned rank = CLUSTER > 1 ? cluster_rank() : 0;
  const int group = threadIdx.x / 128;
  dependency_wait();
  if (group == 0) {
    if (WARPGROUPS == 2)
      registers_give_back<LOADING_REGISTERS>();
    if (threadIdx.x == 0)
      load_shares(&a, &b, given, at, rank);
  } else {
    if (WARPGROUPS == 2)
      registers_take<MULTIPLYING_REGISTERS>();
    if (given.by_map)
      multiply_shares<true>(&map, c, partials, with, given, at, rank);
    else
      multiply_shares<false>(&map, c, partials, with, given, at, rank);
  }
  if (CLUSTER > 1) /* a block that has gone takes no copies and no arrivals any more */
    cluster_barrier();
}

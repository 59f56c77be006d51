/* Idea: persistent warp-specialised GEMM for sm_90: one producer thread loads whole panels by TMA, and
 * consumer warpgroups multiply them from shared memory by wgmma. A thread block computes one work tile after
 * the other. Beyond opencl_mma_group.cl it has tensor maps encoded by the host, multicast of B within a
 * cluster and setmaxnreg. TMA stores of C overlap the next tile, and launches overlap (programmatic dependent
 * launch).
 *
 *   tile of C, TILE_M x TILE_N         warpgroup 0: producer (one thread; it gives its registers away)
 *   +------------------------+         warpgroup 1: consumer of ROWS rows by TILE_N columns
 *   | warpgroup 1            | ROWS    warpgroup 2: consumer of the next ROWS rows
 *   +------------------------+
 *   | warpgroup 2            |         CLUSTER = 2: two blocks, one tile below the other, share columns of B
 *   +------------------------+
 *
 *   shared memory: | stage 0: A panel, B panel | stage 1 | ... | epilogue boxes | mbarriers "full", "empty" |
 *
 * A stage is full when all bytes of its copies have arrived. A stage is empty when all consumer warpgroups of
 * the cluster have arrived at its mbarrier: with CLUSTER = 2 each block writes to both blocks' stages.
 *
 * Output of C: a warpgroup writes boxes of 64 rows by 128 bytes to shared memory and stores them by TMA
 * (by_map). Threads store elements where a tensor map does not suit C's strides, where C is read (beta), or
 * in tiles narrower than a box. Split-k (SPLIT): `parts` ranges of k are summed to separate f32 or i32
 * matrices, which cuda_wgmma_split_k_reduce.cu adds in a fixed order. Stream-k (STREAM):
 * cuda_wgmma_stream.cu. Fused epilogue (FINISH): cuda_wgmma_finish.cu. Products of a batch are layers of the
 * tensor maps. The work on one tile is in cuda_wgmma_tiles.cu.
 *
 * Parameters: TSL_PARAM_TILE_M, _TILE_N, _CLUSTER. Defines of the host: STAGES, BOXES, ELEMENT (bytes of an
 * element of A and B), A_TYPE, B_TYPE (PTX names), C_FORM (0 f32, 1 f16, 2 bf16, 3 i32); A_MN_MAJOR,
 * B_MN_MAJOR, SPLIT, STREAM, SPLIT_ACCUMULATORS (panels per partial accumulator; 0: one accumulator);
 * RESIDENT (blocks of a multiprocessor), WHOLE_SUMS, FINISH and the defines of cuda_wgmma_finish.cu. Limits:
 * sm_90a; 1 <= k (cuda_wgmma_split_k_reduce.cu handles k = 0); m, n, k < 2^31; A and B suit tensor maps
 * (pitches and addresses are multiples of 16 bytes). */
#include "cuda_wgmma_tiles.cu"

#include "cuda_wgmma_stream.cu"

/* Loads the panels of all work tiles of this block. Called by one thread. */
SM90_FUNCTION void run_producer(const tensor_map *a, const tensor_map *b, const cuda_wgmma_arguments &args,
                                const block_memory &smem, unsigned rank) {
  pipeline_state pipe = {0, 1}; /* all stages are empty at first */
  for (tile_scheduler sched = sched_first(args); sched_has_next(sched, args);) {
    const work_tile tile = sched_next(sched, rank, args);
    producer_mainloop(a, b, tile, args.a_first + tile.layer * args.a_layer,
                      args.b_first + tile.layer * args.b_layer, smem.stages, smem.full, smem.empty, rank,
                      pipe);
  }
}

/* Computes and stores all work tiles of this block. BY_MAP is a template parameter because a branch inside
 * the tile loop makes the compiler spill accumulators. */
template <bool BY_MAP>
SM90_FUNCTION void run_consumers(const tensor_map *map, c_element *c, char *partials,
                                 const epilogue_vectors &vectors, const cuda_wgmma_arguments &args,
                                 const block_memory &smem, unsigned rank) {
  pipeline_state pipe = {0, 0};
  const int group = threadIdx.x / 128 - 1;
  const shared_t vectors_smem = smem.epilogue_vectors + group * FINISH_BYTES,
                 boxes = smem.epilogue + group * BOXES * BOX_BYTES;
  for (tile_scheduler sched = sched_first(args); sched_has_next(sched, args);) {
    const work_tile tile = sched_next(sched, rank, args);
    const bool is_last = !sched_has_next(sched, args);
    wgmma_sums sums[BLOCKS];
#if FINISH
    epilogue_operands held;
    if (BY_MAP &&
        /* loads overlap the main loop; split accumulators leave too few registers for it */
        !SPLIT_ACCUMULATORS)
      epilogue_prefetch(held, vectors, tile.row + rows_above(), tile.col, tile.layer, args);
#endif
    consumer_mainloop(sums, tile, smem.stages, smem.full, smem.empty, pipe);
    if (is_last)
      grid_dependency_launch();
#if STREAM
    if (tile.first > 0) {
      publish_partials(partials, sums, sched, rank, args);
      continue;
    }
    if (tile.end < count_panels(args))
      accumulate_partials(partials, sums, rank, args);
#endif
    if (BY_MAP) {
#if FINISH
      if (SPLIT_ACCUMULATORS)
        epilogue_prefetch(held, vectors, tile.row + rows_above(), tile.col, tile.layer, args);
      epilogue_apply_all(sums, held, vectors_smem, group, vectors.steps->alpha);
#endif
#if FINISH && (C_FORM == 1 || C_FORM == 2)
      store_by_map(map, sums, tile, is_last, wgmma_identity_scale(), smem.stages, boxes);
/* With C of f32 the compiler serializes wgmma (C7520) if accumulators are not multiplied here. */
#else
      store_by_map(map, sums, tile, is_last, args.alpha, smem.stages, boxes);
#endif
    } else {
      store_by_threads(c, sums, tile, vectors, args, boxes);
    }
  }
  tma_store_wait_read<0>();
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(128 * (WARPGROUPS + 1), RESIDENT)
    tsl_gemm_cuda_wgmma(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
                        const __grid_constant__ tensor_map map, c_element *c,
                        const __grid_constant__ cuda_wgmma_arguments args
#if STREAM
                        ,
                        char *partials
#endif
#if FINISH
                        ,
                        const epilogue_bias *bias, const float *scale_a, const float *scale_b,
                        const __grid_constant__ cuda_wgmma_finish steps
#endif
    ) {
#if FINISH
  const epilogue_vectors vectors = {bias, scale_a, scale_b, &steps};
#else
  const epilogue_vectors vectors = {};
#endif
#if !STREAM
  char *const partials = nullptr;
#endif
  extern __shared__ char memory[];
  if (threadIdx.x == 0) {
    tma_prefetch_map(&a);
    tma_prefetch_map(&b);
    tma_prefetch_map(&map);
  }
  const block_memory smem = init_block(memory);
  const unsigned rank = CLUSTER > 1 ? cluster_rank() : 0;
  const int group = threadIdx.x / 128;
  grid_dependency_wait();
  if (group == 0) {
    if (WARPGROUPS == 2)
      setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x == 0)
      run_producer(&a, &b, args, smem, rank);
  } else {
    if (WARPGROUPS == 2)
      setmaxnreg_inc<CONSUMER_REGISTERS>();
    if (args.by_map)
      run_consumers<true>(&map, c, partials, vectors, args, smem, rank);
    else
      run_consumers<false>(&map, c, partials, vectors, args, smem, rank);
  }
  if (CLUSTER > 1) /* a block must not exit while the other block still sends copies and arrivals to it */
    cluster_barrier();
}

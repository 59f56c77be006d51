/* Idea: products of different sizes in one launch. Persistent blocks take the tiles of all products in one
 * order: no product waits for another's last tiles, and small products share the device.
 *   Table, in device memory: | maps of A, B, C; first work tile, tiles, k, alpha | ... | end row |
 *   work tiles:              | tiles of product 0 | tiles of product 1 | ... | block b: b, b + blocks ...
 * The words of each product are copied to shared memory first. Work tile numbers only grow, so that producer
 * and consumers continue their search at the current product. Included by cuda_wgmma.cu (JOINED), which
 * computes the tiles, without split-k, stream-k and epilogue. C suits a tensor map and is not read; at most
 * TSL_CUDA_WGMMA_JOINED_MOST products. */
static_assert(!SPLIT && !STREAM && !FINISH && !A_FROM_REGISTERS, "plain products");

constexpr int WORDS = TSL_CUDA_WGMMA_JOINED_WORDS;

/* Position in the table: address of the product's words in shared memory; row number. */
struct product {
  shared_t words;
  int number;
};
SM90_FUNCTION int first_work_tile(const product &product_in) {
  return (int)load_shared(product_in.words);
}

/* Advances `product_in` to work tile `number`, fills `args` with sizes and alpha, and returns the tile. */
SM90_FUNCTION work_tile find_work_tile(product &product_in, int number, unsigned rank,
                                       cuda_wgmma_arguments &args) {
  while (number >= (int)load_shared(product_in.words + WORDS * 4)) {
    product_in.words += WORDS * 4;
    product_in.number++;
  }
  args.tiles_m = (int)load_shared(product_in.words + 4);
  args.tiles_n = (int)load_shared(product_in.words + 8);
  args.k = (int)load_shared(product_in.words + 12);
  args.alpha.integer = (int)load_shared(product_in.words + 16);
  args.parts = args.products = 1;
  return get_work_tile(number - first_work_tile(product_in), rank, args);
}

SM90_FUNCTION const tensor_map *map_of(const cuda_wgmma_joined *table, const product &product_in,
                                       int operand) {
  return (const tensor_map *)table[product_in.number].maps[operand];
}

SM90_FUNCTION void run_producer(const cuda_wgmma_joined *table, int work_tiles, int raster_height,
                                const block_memory &smem, unsigned rank) {
  product product_in = {smem.epilogue_vectors, 0};
  int acquired = -1;
  cuda_wgmma_arguments args;
  pipeline_state pipe = {0, 1}; /* all stages are empty at first */
  args.raster_height = raster_height;
  for (int number = blockIdx.x / CLUSTER; number < work_tiles; number += gridDim.x / CLUSTER) {
    const work_tile tile = find_work_tile(product_in, number, rank, args);
    const tensor_map *a = map_of(table, product_in, 0), *b = map_of(table, product_in, 1);
    if (product_in.number != acquired) {
      fence_tensormap_acquire(a);
      fence_tensormap_acquire(b);
      acquired = product_in.number;
    }
    load_tile({a, b, a, b}, tile, 0, 0, 0, smem.pipe, rank, args, pipe);
  }
  if (CLUSTER > 1)
    wait_for_empty_stages(smem.pipe, pipe);
}

SM90_FUNCTION void run_consumers(const cuda_wgmma_joined *table, int work_tiles, int raster_height,
                                 const block_memory &smem, unsigned rank) {
  const int step = gridDim.x / CLUSTER, group = threadIdx.x / 128 - 1;
  const bool releases = releases_stages(rank);
  product product_in = {smem.epilogue_vectors, 0};
  int acquired = -1;
  cuda_wgmma_arguments args;
  pipeline_state pipe = {0, 0};
  args.raster_height = raster_height;
  for (int number = blockIdx.x / CLUSTER; number < work_tiles; number += step) {
    work_tile tile = find_work_tile(product_in, number, rank, args);
    const bool is_last = number + step >= work_tiles;
    const tensor_map *c = map_of(table, product_in, 2);
    wgmma_sums sums[WAVES];
    tile.layer = 0;
    if (product_in.number != acquired && threadIdx.x % 128 < 32 && elect_one())
      fence_tensormap_acquire(c);
    acquired = product_in.number;
    multiply_tile(sums, tile, smem.pipe, 0, releases, pipe);
    if (is_last)
      grid_dependency_launch();
    store_by_map<MAP_OUTPUT>(c, sums, tile, is_last, args.alpha, smem.pipe.stages,
                             smem.epilogue + group * BOXES * BOX_BYTES);
  }
  tma_store_wait_read<0>();
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(128 * (WARPGROUPS + 1), RESIDENT)
    tsl_gemm_cuda_wgmma_joined(const cuda_wgmma_joined *table, int products, int work_tiles,
                               int raster_height) {
  extern __shared__ char memory[];
  const block_memory smem = init_block(memory);
  const unsigned rank = CLUSTER > 1 ? cluster_rank() : 0;
  const int group = threadIdx.x / 128;
  grid_dependency_wait();
  for (int i = threadIdx.x; i < (products + 1) * WORDS; i += 128 * (WARPGROUPS + 1))
    store_shared(smem.epilogue_vectors + 4 * i, ((const unsigned *)&table[i / WORDS].first)[i % WORDS]);
  __syncthreads();
  if (group == 0) {
    if (WARPGROUPS == 2)
      setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x < 32 && elect_one())
      run_producer(table, work_tiles, raster_height, smem, rank);
  } else {
    if (WARPGROUPS == 2)
      setmaxnreg_inc<CONSUMER_REGISTERS>();
    run_consumers(table, work_tiles, raster_height, smem, rank);
  }
}

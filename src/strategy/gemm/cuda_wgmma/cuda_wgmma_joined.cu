/* Idea: products whose sizes differ in one launch: blocks stay, and take the tiles of all products in one order, so that no product waits
 * for the last tiles of another, and a small one does not have the device for itself.
 *
 *   table, in device memory: | maps of A, B, C; first share, tiles, k, alpha | ... one for each product, and one behind the last |
 *   shares:                  | tiles of product 0 | tiles of product 1 | ... |     block b takes b, b + blocks, ...
 *
 * What is counted of each product is brought to shared memory first; numbers of shares only grow, so that loading and multiplying warps each
 * go on from the product they were at. Each tile is what cuda_wgmma.cu makes of it, and C goes by its map.
 *
 * Parameters, and from the host: those of cuda_wgmma.cu, where no k is split and there is no last step.
 * Limits: its own; C goes by maps and is not read; TSL_CUDA_WGMMA_JOINED_MOST products. */
#include "cuda_wgmma_tiles.cu"

constexpr int WORDS = TSL_CUDA_WGMMA_JOINED_WORDS;

/* What shared memory has of a product: `words` is where it lies. */
struct product {
  shared_t words;
  int number;
};
SM90_FUNCTION int first_of(const product &product_in) {
  return (int)load_shared(product_in.words);
}

/* The first from `product_in` on that has the share, and the share there. */
SM90_FUNCTION share find_share(product &product_in, int number, unsigned rank, cuda_wgmma_arguments &args) {
  while (number >= (int)load_shared(product_in.words + WORDS * 4)) {
    product_in.words += WORDS * 4;
    product_in.number++;
  }
  args.tiles_m = (int)load_shared(product_in.words + 4);
  args.tiles_n = (int)load_shared(product_in.words + 8);
  args.k = (int)load_shared(product_in.words + 12);
  args.alpha.integer = (int)load_shared(product_in.words + 16);
  args.parts = args.products = 1;
  return share_of(number - first_of(product_in), rank, args);
}

SM90_FUNCTION const tensor_map *map_of(const cuda_wgmma_joined *table, const product &product_in, int operand) {
  return (const tensor_map *)table[product_in.number].maps[operand];
}

SM90_FUNCTION void load_shares(const cuda_wgmma_joined *table, int shares, int band, const place &memory,
                               unsigned rank) {
  product one = {memory.beside, 0};
  int acquired = -1;
  cuda_wgmma_arguments given;
  stage at = {0, 1}; /* all are empty at first */
  given.band = band;
  for (int number = blockIdx.x / CLUSTER; number < shares; number += gridDim.x / CLUSTER) {
    const share own = find_share(one, number, rank, given);
    const tensor_map *a = map_of(table, one, 0), *b = map_of(table, one, 1);
    if (one.number != acquired) {
      tma_map_acquire(a);
      tma_map_acquire(b);
      acquired = one.number;
    }
    load_share(a, b, own, 0, 0, memory.stages, memory.full, memory.empty, rank, at);
  }
}

SM90_FUNCTION void multiply_shares(const cuda_wgmma_joined *table, int shares, int band, const place &memory,
                                   unsigned rank) {
  const int step = gridDim.x / CLUSTER, group = threadIdx.x / 128 - 1;
  product one = {memory.beside, 0};
  int acquired = -1;
  cuda_wgmma_arguments given;
  stage at = {0, 0};
  given.band = band;
  for (int number = blockIdx.x / CLUSTER; number < shares; number += step) {
    share own = find_share(one, number, rank, given);
    const bool is_last = number + step >= shares;
    const tensor_map *c = map_of(table, one, 2);
    wgmma_sums sums[BLOCKS];
    own.layer = 0;
    if (one.number != acquired && threadIdx.x % 128 == 0)
      tma_map_acquire(c);
    acquired = one.number;
    multiply_share(sums, own, memory.stages, memory.full, memory.empty, at);
    if (is_last)
      dependency_launch();
    store_by_map(c, sums, own, is_last, given.alpha, memory.stages, memory.boxes + group * BOXES * BOX_BYTES);
  }
  tma_stores_read<0>();
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(128 * (WARPGROUPS + 1), RESIDENT)
    tsl_gemm_cuda_wgmma_joined(const cuda_wgmma_joined *table, int products, int shares, int band) {
  extern __shared__ char memory[];
  const place at = begin_block(memory);
  const unsigned rank = CLUSTER > 1 ? cluster_rank() : 0;
  const int group = threadIdx.x / 128;
  dependency_wait();
  for (int i = threadIdx.x; i < (products + 1) * WORDS; i += 128 * (WARPGROUPS + 1))
    store_shared(at.beside + 4 * i, ((const unsigned *)&table[i / WORDS].first)[i % WORDS]);
  __syncthreads();
  if (group == 0) {
    if (WARPGROUPS == 2)
      registers_give_back<LOADING_REGISTERS>();
    if (threadIdx.x == 0)
      load_shares(table, shares, band, at, rank);
  } else {
    if (WARPGROUPS == 2)
      registers_take<MULTIPLYING_REGISTERS>();
    multiply_shares(table, shares, band, at, rank);
  }
  if (CLUSTER > 1) /* a block that has gone takes no copies and no arrivals any more */
    cluster_barrier();
}

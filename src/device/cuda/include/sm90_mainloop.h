/* Idea: main loop of a persistent, warp-specialised kernel. One producer thread fills STAGES stages of shared
 * memory by TMA; consumer warpgroups multiply them by wgmma. Each stage has two mbarriers, full and empty.
 *
 *   producer             | wait empty[s] | expect bytes at full[s] | TMA loads to stage s |
 *
 *   consumer warpgroups  | wait full[s] | wgmma on stage s | end of wgmma on s - 1 | arrive empty[s - 1] |
 *
 * A stage is full when all bytes of its copies have arrived. A stage is empty when the consumer warpgroups of
 * all blocks of the cluster that this block copies to have arrived. s is 0, 1, ..,
 * STAGES - 1, 0, ..; a barrier's phase has parity 0 in the first round, 1 in the second, and so on.
 * A stage has STAGE_PANELS panels of k, one after another. A narrow tile's products of one panel take less
 * time than a stage's barriers and addresses. The last stage of a range may have fewer panels. Needs sm90.h,
 * STAGES, STAGE_PANELS, CLUSTER, and the constant STAGE_BYTES. */
#ifndef TSL_SM90_MAINLOOP_H
#define TSL_SM90_MAINLOOP_H

constexpr int PANEL_STAGE_BYTES = STAGE_BYTES / STAGE_PANELS; /* of a panel of A and B */
static_assert(STAGES >= 2, "one stage is loaded while another is multiplied");
static_assert(STAGE_BYTES % 1024 == 0, "swizzled panels begin at multiples of 1024 bytes");

/* setmaxnreg: the producer gives registers away for the accumulators of the consumers. */
constexpr int PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;
static_assert(PRODUCER_REGISTERS + 2 * CONSUMER_REGISTERS <= 65536 / 128, "registers of three warpgroups");

/* Addresses in shared memory: stages, and their full and empty barriers of 8 bytes. */
struct pipeline_memory {
  shared_t stages, full, empty;
};

struct pipeline_state {
  int stage;
  unsigned parity; /* that the next wait is for: producers begin with 1, because all stages are empty */
};

SM90_FUNCTION void advance(pipeline_state &pipe) {
  if (++pipe.stage == STAGES) {
    pipe.stage = 0;
    pipe.parity ^= 1;
  }
}

/* Initialises the barriers, by one thread; a barrier of all threads follows. */
SM90_FUNCTION void init_barriers(const pipeline_memory &smem, int consumers) {
  for (int s = 0; s < STAGES; s++) {
    mbarrier_init(smem.full + 8 * s, 1);
    mbarrier_init(smem.empty + 8 * s, consumers);
  }
  fence_mbarrier_init();
}

/* Loads panels [first, end) of k, each of `panel_bytes`, by load(address, full barrier, panel), GROUP at a
 * time. Called by one thread. */
template <int GROUP = 1, class LOAD>
SM90_FUNCTION void producer_mainloop(const pipeline_memory &smem, pipeline_state &pipe, int first, int end,
                                     LOAD load, unsigned panel_bytes = PANEL_STAGE_BYTES) {
  for (int p = first; p < end; p += STAGE_PANELS) {
    const shared_t stage = smem.stages + pipe.stage * STAGE_BYTES, full = smem.full + 8 * pipe.stage;
    const int panels = STAGE_PANELS == 1 ? 1 : min(STAGE_PANELS, end - p);
    if (GROUP > STAGE_PANELS && (p - first) % GROUP == 0) { /* stages become empty in order */
      pipeline_state last = pipe;
      for (int i = STAGE_PANELS; i < min(GROUP, end - p); i += STAGE_PANELS)
        advance(last);
      mbarrier_wait_parity(smem.empty + 8 * last.stage, last.parity);
    }
    mbarrier_wait_parity(smem.empty + 8 * pipe.stage, pipe.parity);
    mbarrier_arrive_expect_tx(full, panels * panel_bytes);
    for (int i = 0; i < panels; i++)
      load(stage + i * PANEL_STAGE_BYTES, full, p + i);
    advance(pipe);
  }
}

/* Waits until all stages are empty: a block must not exit while others of its cluster arrive at its barriers.
 */
SM90_FUNCTION void wait_for_empty_stages(const pipeline_memory &smem, pipeline_state pipe) {
#pragma unroll 1
  for (int s = 0; s < STAGES; s++) {
    mbarrier_wait_parity(smem.empty + 8 * pipe.stage, pipe.parity);
    advance(pipe);
  }
}

/* Returns the address of the current stage, with IS_UNIFORM in a uniform register. */
template <bool IS_UNIFORM>
SM90_FUNCTION shared_t current_stage(const pipeline_memory &smem, const pipeline_state &pipe) {
  const shared_t stage = smem.stages + pipe.stage * STAGE_BYTES;
  return IS_UNIFORM ? warp_uniform(stage) : stage;
}

/* Multiplies panels [first, end) by multiply(address, accumulates), which commits one wgmma group, and calls
 * release(empty barrier) for each stage but the last. Returns the last one's barrier, which the caller
 * releases. Unrolled, the loop would not keep uniform registers. */
template <bool IS_UNIFORM = false, class MULTIPLY, class RELEASE>
SM90_FUNCTION shared_t consumer_mainloop(const pipeline_memory &smem, pipeline_state &pipe, int first,
                                         int end, MULTIPLY multiply, RELEASE release) {
  shared_t previous = 0; /* "empty" barrier of the stage whose products may still be in flight */
  int p = first;
#pragma unroll(IS_UNIFORM ? 1 : 0)
  for (; p + STAGE_PANELS <= end; p += STAGE_PANELS) {
    const shared_t stage = current_stage<IS_UNIFORM>(smem, pipe);
    mbarrier_wait_parity(smem.full + 8 * pipe.stage, pipe.parity);
#pragma unroll
    for (int i = 0; i < STAGE_PANELS; i++)
      multiply(stage + i * PANEL_STAGE_BYTES, i > 0 || p > first);
    wgmma_wait_group<STAGE_PANELS>();
    if (p > first)
      release(previous);
    previous = smem.empty + 8 * pipe.stage;
    advance(pipe);
  }
  if (STAGE_PANELS > 1 && p < end) { /* the last stage is not full */
    const shared_t stage = current_stage<IS_UNIFORM>(smem, pipe);
    mbarrier_wait_parity(smem.full + 8 * pipe.stage, pipe.parity);
#pragma unroll 1
    for (int i = 0; i < end - p; i++)
      multiply(stage + i * PANEL_STAGE_BYTES, p + i > first);
    wgmma_wait_group<0>();
    if (p > first)
      release(previous);
    previous = smem.empty + 8 * pipe.stage;
    advance(pipe);
  }
  wgmma_wait_group<0>();
  return previous;
}

#endif

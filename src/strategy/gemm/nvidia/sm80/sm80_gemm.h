/* Idea: one base for products by warps' tensor cores with cp.async, from sm_80 on. It has tiles of C, copies,
 * the k loop, split-k, launches and the performance model. A strategy adds an element trait.
 *
 * Read the kernels first. sm80_panels.cu has a block's tile and its copies, sm80_mainloop.cu the k loop, and
 * sm80_number.cu the sums and C. Then read the host: sm80_tile.c has configurations, sm80_model.c split-k
 * and predictions, sm80_run.c launches. The kernels' traits are in cuda_mma (elements up to 32 bits) and
 * cuda_dmma (f64, c64 and c128). cuda_whole, for tiny products, shares instructions and numbers. */
#ifndef TSL_STRATEGY_SM80_GEMM_H
#define TSL_STRATEGY_SM80_GEMM_H

#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/pack_rows.h"
#include "strategy/model_constants.h"
#include "strategy/row_parts.h"

/* Parameters that both strategies have, then the parameters of each. */
enum { TSL_SM80_TILE_M, TSL_SM80_TILE_N, TSL_SM80_PARAMS };
enum { TSL_CUDA_MMA_DEPTH = TSL_SM80_PARAMS, TSL_CUDA_MMA_FROM };
enum { TSL_CUDA_DMMA_SLICES = TSL_SM80_PARAMS, TSL_CUDA_DMMA_CLUSTER };
/* Source of the panels: A and B in memory, or aligned copies of operands that are not aligned. */
enum { TSL_CUDA_MMA_PLACE = 1, TSL_CUDA_MMA_PACKED };

/* Element trait: constants of a strategy's kernels. Clocks are a multiprocessor's. */
typedef struct tsl_sm80_trait {
  const char *path, *kernel; /* kernel file below src/, and the kernel's name */
  int stages_max;
  int part_panels;    /* minimal panels of a split-k part */
  int copy_min;       /* bytes of the narrowest copy, below which elements are copied one by one */
  int store_elements; /* elements of C that are stored at once, aligned to 16 bytes */
  int reduce_shares;  /* groups of parts in a reduction's block; 0: by the number of parts */
} tsl_sm80_trait;

enum { TSL_SM80_BLOCK_BYTES = 1024 }; /* shared memory reserved by the system for each block */

typedef struct tsl_sm80_tile {
  const tsl_sm80_trait *trait;
  const tsl_sm80_constants *rates; /* of the model */
  tsl_problem problem;             /* with column-major C, the swapped problem C' = B' A' */
  bool swapped;
  bool a_mn_major, b_mn_major; /* MN-major operands: rows of A (columns of B) are adjacent in memory */
  int element, sum;            /* bytes of an element of A and B, and of a sum */
  int numbers;                 /* real numbers of an element: 2 in a complex one */
  int tile_m, tile_n;
  int warp_m, warp_n;      /* tile of a warp; 0: the config is not supported */
  int depth;               /* elements of k in a panel */
  int slices;              /* slices of a panel's k, each multiplied by its own warps */
  int cluster;             /* blocks that split k and add their sums through shared memory */
  int groups;              /* resident blocks of a multiprocessor */
  tsl_row_parts row_parts; /* parts of k for bits=rows; one part of narrow elements */
  bool folds;              /* a block adds these parts in order; otherwise they are split-k parts */
  bool is_persistent;      /* persistent blocks: tile after tile of whole panels */
  bool is_short;           /* persistent blocks of one panel, which may be partial */
  int items;               /* threads of a block */
  int stages;              /* pipeline stages; 0: shared memory is too small for two */
  uint64_t shared_bytes;   /* shared memory of a block for all stages */
  int a_width, b_width; /* bytes of a copy with the problem's strides: 16, 8, 4, or 0 for single elements */
  bool packs;           /* operands that are not aligned are packed first */
  bool is_partial;      /* a tile may have lines outside of A or B */
  int64_t a_bytes, b_bytes; /* bytes of packed operands, multiples of 128; 0 without packing */
  double efficiency;        /* fraction of unit_rate for large k */
  double unit_rate;         /* multiply-adds per clock of a multiprocessor */
  double part_clocks;       /* extra clocks of a panel whose copies are checked */
  double last_clocks;       /* extra clocks of the last panel, if it is not whole */
  double meeting_clocks;    /* clocks in which sums of slices and of a cluster are added */
  double idle_units;        /* multiprocessors that clusters leave idle */
  bool is_odd;              /* C is stored element by element */
} tsl_sm80_tile;

static inline bool tsl_sm80_is_c64(const tsl_sm80_tile *tile) {
  return tile->numbers == 2 && tile->element == 8;
}

/* Returns the kernel's tile and memory layout; warp_m = 0 or stages = 0: the config is not supported. */
tsl_sm80_tile tsl_sm80_tile_of(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device);
/* Returns true if A and B are 8-bit floating point, which is multiplied as f16. */
bool tsl_sm80_is_eight(const tsl_problem *problem);
/* Returns a refusal of the tile, or NULL. */
const char *tsl_sm80_refuse(const tsl_sm80_tile *tile, const tsl_device *device);

/* Division of the kernel's m, n and k for one product. */
typedef struct tsl_sm80_schedule {
  int64_t tiles_m, tiles_n, parts, blocks; /* tiles in a column and a row of C; parts of k; blocks */
  int64_t pitch;                           /* elements between rows of partial sums */
  int64_t totals_bytes; /* bytes of the blocks' totals of parts of k (folds), tile after tile */
  int64_t sums_bytes;   /* bytes of all partial sums; 0 for one part, and for the parts of a cluster */
  int64_t shared_bytes; /* shared memory of a block, more than its stages if blocks would not spread evenly */
  bool joins;           /* the block of a tile's last part adds them, not a reduction */
  int64_t flags_bytes;  /* bytes of the flags after these sums */
} tsl_sm80_schedule;
/* Returns the bytes of other parts' sums that the block of a tile's last part adds; 0: a reduction adds them.
 */
int64_t tsl_sm80_joined_bytes(const tsl_sm80_tile *tile, int64_t parts);
/* Returns the predicted seconds in which the sums of parts are added. */
double tsl_sm80_reduce_seconds(const tsl_sm80_tile *tile, int64_t parts, const tsl_device *device);
tsl_sm80_schedule tsl_sm80_get_schedule(const tsl_sm80_tile *tile, const tsl_device *device);

/* Returns true if `count` elements of `line` can be accessed together in each line and product. Strides in
 * elements: `along` a line, `line` between the `lines` lines, `step` between products. */
bool tsl_sm80_is_vector(int64_t count, int64_t along, int64_t line, int64_t lines, int64_t offset,
                        int64_t step);
/* Returns the widest copy of elements of `element` bytes: 16 bytes, or half of it down to `least`; 0:
 * elements one by one. */
int tsl_sm80_width(int element, int least, int64_t along, int64_t line, int64_t lines, int64_t offset,
                   int64_t step);
/* Returns true if a buffer's memory is aligned to `bytes`. */
bool tsl_sm80_is_aligned(tsl_buffer *buffer, int bytes);

/* cuda_mma's types, which cuda_strip shares; their accuracy, the order of their sums, and a refusal of types.
 */
extern const tsl_types tsl_cuda_mma_types[];
tsl_accuracy tsl_cuda_mma_accuracy(const tsl_problem *problem, const tsl_config *config);
const char *tsl_cuda_mma_row_order(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device);
const char *tsl_cuda_mma_refuse_types(const tsl_problem *problem, const tsl_device *device);
/* Returns true if f32 is truncated to tf32, not rounded: with bits=rows, because cuda_wgmma truncates. */
bool tsl_sm80_truncates(const tsl_problem *problem, const tsl_device *device);

/* Members of the strategies' descriptors. */
double tsl_sm80_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_sm80_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                      tsl_cost_counts *account);
uint64_t tsl_sm80_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
tesela_status tsl_sm80_build(tsl_work *work);
tesela_status tsl_sm80_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_sm80_release(tsl_work *work);

#endif

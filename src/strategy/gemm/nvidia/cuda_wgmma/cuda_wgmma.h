#ifndef TSL_STRATEGY_GEMM_CUDA_WGMMA_H
#define TSL_STRATEGY_GEMM_CUDA_WGMMA_H

#include "strategy/kernel_launch/pack_rows.h"
#include "strategy/model_constants.h"

enum {
  TSL_CUDA_WGMMA_TILE_M,
  TSL_CUDA_WGMMA_TILE_N,
  TSL_CUDA_WGMMA_CLUSTER,
  TSL_CUDA_WGMMA_BAND,
  TSL_CUDA_WGMMA_ORDER,
  TSL_CUDA_WGMMA_FORM,
  TSL_CUDA_WGMMA_EIGHTS
};
enum { TSL_CUDA_WGMMA_DIRECT = 1, TSL_CUDA_WGMMA_SWAPPED };
/* Forms: persistent blocks (cuda_wgmma.cu); one small block per split-k part (cuda_wgmma_flow.cu); persistent
 * blocks with stream-k (cuda_wgmma_scheduler.cu). */
enum { TSL_CUDA_WGMMA_STAY = 1, TSL_CUDA_WGMMA_FLOW, TSL_CUDA_WGMMA_STREAM };

/* How e4m3 and e5m2 are multiplied. WIDENED: converted to f16. PANELS, PAIRS: by 8-bit tensor cores, whose
 * sums keep few places; sums of one or two panels are added to f32 sums. UNITS: by 8-bit tensor cores alone.
 * f16 with C in f32 may use PANELS and PAIRS for a better bound at large k. Other types: WIDENED. */
enum { TSL_CUDA_WGMMA_WIDENED = 1, TSL_CUDA_WGMMA_PANELS, TSL_CUDA_WGMMA_PAIRS, TSL_CUDA_WGMMA_UNITS };

enum {
  TSL_CUDA_WGMMA_PANEL = 128,     /* bytes of a row of a panel */
  TSL_CUDA_WGMMA_SLAB = 64,       /* adjacent columns of a box of MN-major B, of 16-bit elements */
  TSL_CUDA_WGMMA_BOX_COLUMNS = 64 /* columns of a box of C stored by columns */
};

/* Resident blocks of a multiprocessor for form=flow, shared by one launch and the next. */
enum { TSL_CUDA_WGMMA_RESIDENT = 2 };

/* Panels of a block from which its main loop is long. */
enum { TSL_CUDA_WGMMA_LONG_PANELS = 96 };

typedef struct tsl_cuda_wgmma {
  const tsl_wgmma_constants *rates; /* of the model */
  tsl_problem problem;              /* the kernel computes C' = B' A'; `problem` is the swapped one */
  bool swapped;
  bool a_mn_major, b_mn_major; /* MN-major operands: rows of A (columns of B) are adjacent in memory */
  bool by_columns;             /* columns of C are contiguous, and lines of its tensor map */
  bool from_registers;      /* consumers load MN-major A of 4-byte elements or 8-bit integers to registers */
  int input_bytes, element; /* bytes of an element of A and B in memory, and in the multiplication */
  int eights;               /* value of the parameter `eights` for 8-bit floating point; else 0 */
  int split_accumulators;   /* panels per partial accumulator; 0: one accumulator for all of k */
  int c_element;            /* bytes of an element of C */
  int tile_m, tile_n, cluster, raster_height; /* cluster: blocks that share; raster_height: in tiles */
  int cluster_m, cluster_n; /* blocks of a cluster along m share B, along n A; form=flow: 1, they share k */
  int a_lines_loaded, b_lines_loaded; /* by a block of a panel of A and B; the other blocks load the others */
  bool is_flow, is_stream;            /* form=flow, form=stream; neither: form=stay */
  int warpgroups, items;              /* consumers of a block, 128 threads each; all threads of a block */
  int b_lines;                        /* columns of B in a stage: MN-major, whole slabs */
  int resident;                       /* resident blocks of a multiprocessor, which share its memory */
  bool is_alone;                      /* a block has the shared memory of a multiprocessor alone */
  int together;                       /* panels that are requested together where memory bounds a product */
  int stage_panels;                   /* panels of a pipeline stage */
  int stages, boxes;     /* panels of all stages; epilogue tiles of 64 lines by 128 bytes in shared memory */
  int depth;             /* elements of k in a panel */
  uint64_t shared_bytes; /* shared memory of a block; with stages = 0 it is too small for two stages */
  int64_t extra_smem;    /* bytes in shared_bytes for epilogue vectors or the product table */
  bool fuses_epilogue;
  int bias, scale_a, scale_b; /* directions of the epilogue's vectors, of the enum below */
  int64_t a_bytes, b_bytes;   /* bytes of packed A and B, multiples of 128 */
  int64_t packed;             /* products of a batch that are packed at a time; 1 for elements of one byte */
} tsl_cuda_wgmma;
/* Launches: of a product or batch; with a fused epilogue, whose vectors take shared memory; of different
 * products (cuda_wgmma_joined.cu), whose table takes shared memory. */
typedef enum tsl_cuda_wgmma_launch_kind {
  TSL_CUDA_WGMMA_PLAIN,
  TSL_CUDA_WGMMA_EPILOGUE,
  TSL_CUDA_WGMMA_JOINED
} tsl_cuda_wgmma_launch_kind;
/* Returns the kernel's tile and memory layout; stages = 0: the config is not supported. */
tsl_cuda_wgmma tsl_cuda_wgmma_derive(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device, tsl_cuda_wgmma_launch_kind kind);
/* Direction of an epilogue vector, for the kernel's rows and columns. Scalars are BY_ROW. */
enum { TSL_CUDA_WGMMA_NO_VECTOR, TSL_CUDA_WGMMA_BY_COLUMN, TSL_CUDA_WGMMA_BY_ROW };

/* Division of a product into work tiles. Tiles and `parts` are in units of clusters. */
typedef struct tsl_cuda_wgmma_schedule {
  int64_t tiles_m, tiles_n, parts, blocks; /* tiles in a column and a row of C; split-k parts; blocks */
  int64_t prefetched;        /* form=flow: panels that a block prefetches to L2 before it may start */
  int64_t pitch, sums_bytes; /* elements between rows of partial sums; bytes of these, flags included */
  /* Stream-k: tiles computed whole; panels of another tile's owner; helper parts of such a tile (0: none) */
  int64_t whole, owned, helped;
  int64_t flags_bytes, ending; /* bytes in front of the sums; predicted panels of the last round */
} tsl_cuda_wgmma_schedule;
/* Returns the multiprocessors, of `units`, that clusters of this size fill. All blocks of a cluster run in
 * one GPC, whose multiprocessors are no multiple of four or eight: of 132 they fill 120. */
int64_t tsl_cuda_wgmma_units(int64_t cluster, int64_t units);
tsl_cuda_wgmma_schedule tsl_cuda_wgmma_get_schedule(const tsl_cuda_wgmma *tile, const tsl_device *device);
/* Returns the blocks of a launch of `products` products on `units` multiprocessors. */
int64_t tsl_cuda_wgmma_count_blocks(const tsl_cuda_wgmma *tile, const tsl_cuda_wgmma_schedule *schedule,
                                    int64_t products, int64_t units);

/* Returns true if an operand with this layout must be packed before a tensor map can address it. */
bool tsl_cuda_wgmma_packs(const tsl_rows_place *place, const tsl_rows *rows, int element);

/* Returns the bytes of A and B, of all products, that are packed for the strides of the problem. */
double tsl_cuda_wgmma_packed_bytes(const tsl_cuda_wgmma *tile);

/* Returns true if C is stored by TMA: not read, and rows (or columns) are dense multiples of 16 bytes. */
bool tsl_cuda_wgmma_by_map(const tsl_cuda_wgmma *tile, const tsl_gemm_sizes *sizes, bool reads_c);
/* Returns tsl_cuda_wgmma_by_map() for the strides of the problem. */
bool tsl_cuda_wgmma_problem_by_map(const tsl_cuda_wgmma *tile);

double tsl_cuda_wgmma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_cuda_wgmma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account);

/* Returns true if A is 8-bit floating point. */
bool tsl_cuda_wgmma_is_eight(const tsl_problem *problem);
/* Returns true if A and B are f16 and C is f32. */
bool tsl_cuda_wgmma_is_half(const tsl_problem *problem);

tesela_status tsl_cuda_wgmma_build(tsl_work *work);
tesela_status tsl_cuda_wgmma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_cuda_wgmma_release(tsl_work *work);
extern const tsl_strategy tsl_gemm_cuda_wgmma;
extern const tsl_fused_ops tsl_cuda_wgmma_joining;

#endif

/* What the files of cuda_wgmma share. */
#ifndef TSL_STRATEGY_GEMM_CUDA_WGMMA_H
#define TSL_STRATEGY_GEMM_CUDA_WGMMA_H

#include "strategy/pack_rows.h"

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
/* Forms: blocks that stay and take tile after tile (cuda_wgmma.cu); as many small ones as there are parts,
 * which flow through the device (cuda_wgmma_flow.cu); or blocks that stay, and help each other with the last
 * tiles (cuda_wgmma_stream.cu). */
enum { TSL_CUDA_WGMMA_STAY = 1, TSL_CUDA_WGMMA_FLOW, TSL_CUDA_WGMMA_STREAM };

/* How e4m3 and e5m2 are multiplied: as f16, which they are on their way; by the units for 8 bits, whose sums
 * keep few places, those of each panel, or of two, added to sums in f32; or by these units alone. Of f16,
 * sums of panels may be added to sums in f32, too, which guarantees more of long ones. Other types know only
 * the first. */
enum { TSL_CUDA_WGMMA_WIDENED = 1, TSL_CUDA_WGMMA_PANELS, TSL_CUDA_WGMMA_PAIRS, TSL_CUDA_WGMMA_UNITS };

/* Bytes of a row of a panel. */
enum { TSL_CUDA_WGMMA_PANEL = 128 };

/* Blocks that flow of a multiprocessor: of one launch, and of the next. */
enum { TSL_CUDA_WGMMA_RESIDENT = 2 };

/* A problem and a config as the kernel sees them. */
typedef struct tsl_cuda_wgmma {
  tsl_problem problem; /* swapped: C' = B' A' */
  bool swapped;
  bool a_across, b_across; /* rows of A (columns of B) lie side by side in memory, elements along k do not */
  bool from_registers;     /* A, of 4 bytes or of integers of one, and across, is read to registers
                              (cuda_wgmma_across.cu) */
  int given, element;      /* bytes of an element of A and B as it lies, and as it is multiplied */
  int eights;              /* of a problem of 8-bit numbers; else 0 */
  int apart;               /* panels whose sums are added to others; 0: all are one sum */
  int c_element;
  int tile_m, tile_n, cluster, band;
  bool flows, streams;
  int warpgroups; /* that multiply */
  int resident;   /* blocks of a multiprocessor that share its memory */
  int stages, boxes;
  int depth;             /* elements of k in a panel */
  uint64_t shared_bytes; /* of a block; 0 stages: there is not enough for two */
  int64_t beside;        /* of these, what kernels ask for beside stages, boxes and barriers */
  bool finishes; /* kernels do the last step; and how its vectors go where they do (enum below; else none) */
  int bias, scale_a, scale_b;
  int64_t a_bytes, b_bytes; /* of packed operands, each a multiple of 128 */
  int64_t packed; /* products of a batch that are copied together; elements of a byte go one by one */
} tsl_cuda_wgmma;
tsl_cuda_wgmma tsl_cuda_wgmma_of(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device);
/* The same where its kernels do the problem's last step, for whose vectors blocks need memory. */
tsl_cuda_wgmma tsl_cuda_wgmma_finishing(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device);
/* The same where it is one of products that differ, of a batch as far as the problem says, for whose table
 * blocks need memory. */
tsl_cuda_wgmma tsl_cuda_wgmma_joining_tile(const tsl_problem *problem, const tsl_config *config,
                                           const tsl_device *device);
/* As kernels see rows and columns: a vector that goes from column to column, one that goes from row to row,
 * or is one number. */
enum { TSL_CUDA_WGMMA_NO_VECTOR, TSL_CUDA_WGMMA_BY_COLUMN, TSL_CUDA_WGMMA_BY_ROW };

/* How a product of these sizes is shared out: tiles (of clusters along m), parts of k (of clusters, where
 * they flow), blocks, and bytes of the sums of parts (0 of one part), in rows of `pitch` sums. Where blocks
 * help with the last round: tiles that are taken whole; of the others the owner's panels, and parts of what
 * is left (0: nobody can help), whose flags are in front of their sums; and the panels after which it ends.
 */
typedef struct tsl_cuda_wgmma_shares {
  int64_t tiles_m, tiles_n, parts, blocks, pitch, sums_bytes;
  int64_t whole, owned, helped, flags_bytes, ending;
} tsl_cuda_wgmma_shares;
tsl_cuda_wgmma_shares tsl_cuda_wgmma_shares_of(const tsl_cuda_wgmma *tile, int64_t m, int64_t n, int64_t k,
                                               const tsl_device *device);

/* Columns of B that a block loads. */
int tsl_cuda_wgmma_columns(const tsl_cuda_wgmma *tile);

/* Whether an operand that lies so has to be packed before it is copied by maps. */
bool tsl_cuda_wgmma_packs(const tsl_rows_place *place, const tsl_rows *rows, int element);

/* Bytes of A and B, of all products, that are packed first where they lie as the problem says. */
double tsl_cuda_wgmma_packed_bytes(const tsl_cuda_wgmma *tile);

/* Whether maps of C have its columns as lines: where A comes from registers, those may lie side by side. */
bool tsl_cuda_wgmma_by_columns(const tsl_cuda_wgmma *tile, const tsl_gemm_sizes *sizes);

/* Whether C goes by a map, which only writes: its rows (or columns) are dense and lie where maps take them,
 * and it is not read. What a map writes ends at a multiple of 16 bytes, beyond a row's end where that is
 * none. */
bool tsl_cuda_wgmma_by_map(const tsl_cuda_wgmma *tile, const tsl_gemm_sizes *sizes, bool reads_c);
/* The same where it lies as the problem says. */
bool tsl_cuda_wgmma_problem_by_map(const tsl_cuda_wgmma *tile);

/* Predicted seconds; docs/lab/cuda_wgmma.md has what it was fitted to. */
double tsl_cuda_wgmma_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
/* What it moves. */
void tsl_cuda_wgmma_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                            tsl_cost_counts *account);

/* Whether a problem's factors are 8-bit floating point; f16, with a C of f32. */
bool tsl_cuda_wgmma_is_eight(const tsl_problem *problem);
bool tsl_cuda_wgmma_is_half(const tsl_problem *problem);

tesela_status tsl_cuda_wgmma_build(tsl_work *work);
tesela_status tsl_cuda_wgmma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_cuda_wgmma_release(tsl_work *work);
/* Products that differ in one launch. */
extern const tsl_fused_ops tsl_cuda_wgmma_joining;

#endif

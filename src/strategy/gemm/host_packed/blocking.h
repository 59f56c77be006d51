/* A product cut into panels and micro-panels, and the steps that it is made of. */
#ifndef TSL_STRATEGY_GEMM_HOST_PACKED_BLOCKING_H
#define TSL_STRATEGY_GEMM_HOST_PACKED_BLOCKING_H

#include "host/host_view.h"
#include "host/int_math.h"
#include "strategy/gemm/host_packed/host_packed_kernels.h"
#include "strategy/strategy.h"

/* How the loops run; host_packed.c has the pictures. */
typedef enum tsl_packed_schedule {
  TSL_PACKED_PANELS,  /* panels of A and of B, both copied */
  TSL_PACKED_ROWS,    /* B is small: it is kept, A passes by */
  TSL_PACKED_COLUMNS, /* A is small: it is kept, B passes by */
  TSL_PACKED_SPLIT_K  /* C is small: k is cut into parts, whose sums are added in the end */
} tsl_packed_schedule;

typedef struct tsl_packed_job {
  const tsl_packed_kernels *kernels;
  tsl_packed_schedule schedule;
  int64_t size;    /* of an element */
  tsl_views views; /* oriented; with the operands' memory once the job is bound to it */
  double alpha[2], beta[2];
  double signs[2];       /* of conjugates: a tile's */
  int64_t depth;         /* of a panel; the last one may have less */
  int64_t height, width; /* of a tile: rows of A's micro-panels, columns of B's, which are whole vectors */
  int64_t lead; /* columns of the first micro-panel of B where the others are whole vectors; 0: it is like the
                   others */
  int64_t rows, columns; /* of a panel of A and of a block of B */
  int64_t most;          /* rows or columns of a panel that the share of the last cache takes */
  int64_t near;          /* bytes of half of a core's second-level cache */
  int64_t again;         /* lines of what passes by for which reading all that is kept again is little, beside
                            multiplying */
  int64_t split_k;       /* parts of k */
  int64_t ahead;         /* of a part: steps behind its own that the same thread comes to next */
  bool b_stays;  /* where columns pass by, a micro-panel of B meets all of A's; else one of A all of B's */
  bool is_alone; /* so small that a second thread costs more than it saves */
  bool is_structured; /* A or B has a structure, or a triangle of C is computed */
  bool is_half;       /* some of its tiles or steps are left out: a factor is triangular, or C a triangle */
  bool masks_c;       /* what lies beside C's triangle must stay as it is */
  bool copies_a, copies_b; /* whether they are copied; where not, the tiles read them where they lie */
  bool keeps_rows;         /* copies of A's micro-panels are row by row, not step by step */
  bool descends; /* panels of k are multiplied from the last to the first: host_packed_panels.c, "in place" */
  /* Of two products that are joined (rank2k.c): steps from `half` on are those of the second one's operands;
   * 0: it is one product. */
  int64_t half;
  const tsl_views *second;
} tsl_packed_job;

/* How an update of rank 2k is computed: rank2k.c. */
typedef enum tsl_packed_sum {
  TSL_PACKED_ONE, /* it is one product */
  TSL_PACKED_FOLDED,
  TSL_PACKED_JOINED,
  TSL_PACKED_TWICE
} tsl_packed_sum;

/* What runs: a product, or the parts of an update of rank 2k. */
typedef struct tsl_packed_product {
  tsl_packed_job first, second;
  tsl_packed_sum sum;
  tsl_view c; /* of a sum: its strides and its triangle, as they were given */
  double beta[2];
} tsl_packed_product;

/* A rectangle of C, and the panel of k that is added to it. Its first row starts a micro-panel of A, its
 * first column a micro-panel of B. */
typedef struct tsl_packed_block {
  int64_t row, rows, column, columns, step, depth;
} tsl_packed_block;

/* Bytes of `elements` elements, in whole cache lines. */
static inline int64_t tsl_packed_bytes(const tsl_packed_job *job, int64_t elements) {
  return (elements * job->size + 63) / 64 * 64;
}
/* The job of a problem on operands with these strides, in panels of at most `depth` products; what is kept of
 * B, or of A, in a core's second-level cache has about `kept` bytes. */
tsl_packed_job tsl_packed_job_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                                  int64_t kept, const tsl_device *device);
/* The same of two joined products, the first of which has `half` of the steps. */
tsl_packed_job tsl_packed_joined_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                                     int64_t kept, const tsl_device *device, int64_t half);
/* The same for what may be an update of rank 2k; the problem of one of its parts, and the strides of that
 * one's operands; and a run. */
tsl_packed_product tsl_packed_product_for(const tsl_problem *problem, const tsl_operands *strides,
                                          int64_t depth, int64_t kept, const tsl_device *device);
tsl_packed_sum tsl_packed_part_of_sum(const tsl_problem *problem, int64_t depth, const tsl_device *device,
                                      bool second, tsl_problem *part, tsl_operands *strides);
tesela_status tsl_packed_run_product(const tsl_packed_product *product, const tsl_operands *operands);
/* Gives a job another schedule, and how it lays out its copies then. */
void tsl_packed_set_schedule(tsl_packed_job *job, tsl_packed_schedule schedule);
/* The job of so many of its columns, whose B is copied: rows of A are copied where that pays for them. */
tsl_packed_job tsl_packed_strip_of(const tsl_packed_job *job, int64_t columns);
/* Takes the operands' memory; their strides are those that the job was made for. */
void tsl_packed_job_bind(tsl_packed_job *job, const tsl_operands *operands);
/* Whether a tile's sums are the first that are added to C: then beta is the job's. */
void tsl_packed_add_to_c(const tsl_packed_job *job, bool is_first, tsl_packed_tile *tile);

/* Bytes of A, or B, as `packed` of the job's operand holds it: panel after panel, in each its micro-panels; 0
 * where the tiles read it where it lies. Makes that of a job that is bound. */
size_t tsl_packed_form_bytes(const tsl_packed_job *job, bool is_a);
void tsl_packed_make_form(const tsl_packed_job *job, bool is_a, void *dst, tsl_team team);

/* --- steps: all on a block, whose micro-panels of A are as few as can be and nearly alike, and whose
 * micro-panels of B are whole but for the last, or the first --- */

int64_t tsl_packed_micros_a(const tsl_packed_job *job, const tsl_packed_block *block);
int64_t tsl_packed_micros_b(const tsl_packed_job *job, const tsl_packed_block *block);

/* The first step of the panel of k that is the `index`th to be multiplied. */
static inline int64_t tsl_packed_step_of(const tsl_packed_job *job, int64_t index) {
  return (job->descends ? tsl_ceil_div_or_one(job->views.k, job->depth) - 1 - index : index) * job->depth;
}

/* Elements of copies of `rows` rows of A, or `columns` columns of B, for each step along k. Where B is not
 * copied, it is the last micro-panel of B with a part of a vector. */
int64_t tsl_packed_width_of_a(const tsl_packed_job *job, int64_t rows);
int64_t tsl_packed_width_of_b(const tsl_packed_job *job, int64_t columns);

/* Copies micro-panels, from `first` to before `end`; nothing where they are not copied. `copy` is that of the
 * block: micro-panel of A `first` comes where it belongs. */
void tsl_packed_pack_a(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first, int64_t end,
                       void *copy);
void tsl_packed_pack_b(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first, int64_t end,
                       void *copy);

/* B's block is copied in pieces, too: some of its steps of all micro-panels, or some of these, as it
 * lies. How many there are, of at most `most`. */
int64_t tsl_packed_pieces(const tsl_packed_job *job, const tsl_packed_block *block, int64_t most);
void tsl_packed_pack_piece(const tsl_packed_job *job, const tsl_packed_block *block, int64_t pieces,
                           int64_t index, void *copy);

/* What a tile is made of: a micro-panel, in a copy or where it lies. */
typedef struct tsl_packed_side {
  const void *at;
  int64_t first, count;  /* row and rows, or column and columns, counted from the block's first */
  int64_t across, along; /* strides in elements, from row to row of A, and along the panel */
} tsl_packed_side;

/* Micro-panel `index` of the block; `copy` is that of the block. */
tsl_packed_side tsl_packed_micro_a(const tsl_packed_job *job, const tsl_packed_block *block, int64_t index,
                                   const void *copy);
tsl_packed_side tsl_packed_micro_b(const tsl_packed_job *job, const tsl_packed_block *block, int64_t index,
                                   const void *copy);

/* What all tiles of a block share. */
tsl_packed_tile tsl_packed_tile_of(const tsl_packed_job *job, const tsl_packed_block *block);
void tsl_packed_multiply_tile(const tsl_packed_job *job, const tsl_packed_block *block,
                              const tsl_packed_side *micro_a, const tsl_packed_side *micro_b,
                              tsl_packed_tile *tile);

/* --- structures: host_packed_structure.c --- */

/* Copies steps `from` to before `to` of the block's for lines from `line` on, rows of an A or columns of a B
 * of which a triangle is stored, as a micro-panel of this width that starts at `micro`; of a triangular one
 * those that are not 0. */
typedef struct tsl_packed_lines {
  bool is_a;
  int64_t line, count, width, from, to;
} tsl_packed_lines;
void tsl_packed_pack_structured(const tsl_packed_job *job, const tsl_packed_block *block,
                                const tsl_packed_lines *lines, void *micro);
/* A tile of a structured job: nothing, where it lies beside C's triangle or its steps are all 0. */
void tsl_packed_multiply_structured(const tsl_packed_job *job, const tsl_packed_block *block,
                                    const tsl_packed_side *micro_a, const tsl_packed_side *micro_b,
                                    tsl_packed_tile *tile);
/* Whether no tile of the block has anything to multiply. */
bool tsl_packed_is_idle(const tsl_packed_job *job, const tsl_packed_block *block);
/* Columns of a row of C that are computed, from `first` to before `end`. */
typedef struct tsl_packed_span {
  int64_t first, end;
} tsl_packed_span;
tsl_packed_span tsl_packed_span_of_row(const tsl_packed_job *job, int64_t row);
/* Clears the imaginary part of C's diagonal element where it is within the span's row. */
void tsl_packed_clear_diagonal(const tsl_packed_job *job, int64_t row);
/* Lines to prefetch while `tiles` tiles of the block's depth are multiplied: `bytes` bytes from `src` on; or
 * the part of an operand that micro-panel of A `index` will be made of. */
tsl_packed_prefetch tsl_packed_prefetch_bytes(const tsl_packed_block *block, int64_t tiles, const void *src,
                                              int64_t bytes);
tsl_packed_prefetch tsl_packed_prefetch_a(const tsl_packed_job *job, const tsl_packed_block *block,
                                          int64_t index, int64_t tiles);
/* The same for part `part` of `parts` of a piece of B's block `packed_block`, while tiles of `block` are
 * multiplied. */
tsl_packed_prefetch tsl_packed_prefetch_piece(const tsl_packed_job *job, const tsl_packed_block *block,
                                              const tsl_packed_block *packed_block, int64_t pieces,
                                              int64_t index, int64_t part, int64_t parts, int64_t tiles);

/* --- schedules --- */

/* GB/s at which a copy is read again from another core's cache: from a last cache that is far (measured on a
 * Xeon), and from a near one. */
enum { TSL_PACKED_AGAIN_FAR = 20, TSL_PACKED_AGAIN_NEAR = 60 };

/* What it costs to share a job among threads: how often all of them wait for each other, how many times an
 * even share of the tiles the busiest one has, bytes of copies that each reads again from the last cache or
 * another core's, and bytes of copies that some write and all read. */
typedef struct tsl_packed_sharing {
  double waits, uneven, again, shared;
} tsl_packed_sharing;
tsl_packed_sharing tsl_packed_share(const tsl_packed_job *job, int64_t threads);
/* The same for a job with the schedule of that name. */
tsl_packed_sharing tsl_packed_share_panels(const tsl_packed_job *job, int64_t threads);
tsl_packed_sharing tsl_packed_share_kept(const tsl_packed_job *job, int64_t threads);
tsl_packed_sharing tsl_packed_share_split_k(const tsl_packed_job *job, int64_t threads);
/* How many times an even share the busiest of the threads has of so many equal tasks. */
static inline double tsl_packed_uneven(int64_t tasks, int64_t threads) {
  return (double)(tsl_ceil_div_or_one(tasks, threads) * threads) / (double)tasks;
}

/* Whether the schedule copies all that a part of C is made of before it writes that part, so that C may be
 * what it is made of: one panel of what passes by. */
bool tsl_packed_copies_first(const tsl_packed_job *job);
/* The same of a schedule of panels, by so many threads. */
bool tsl_packed_panels_in_place(const tsl_packed_job *job, int64_t threads);
/* Multiplies by a team. Failures are of memory. */
tesela_status tsl_packed_run(const tsl_packed_job *job, tsl_team team);
/* What strips are for: column_strips.c. */
bool tsl_packed_has_strips(const tsl_packed_job *job, int64_t threads);
/* How many there are in a column and in a row of them, and columns of one but the last. */
typedef struct tsl_packed_grid {
  int64_t down, across, columns;
} tsl_packed_grid;
tsl_packed_grid tsl_packed_cut_strips(const tsl_packed_job *job, int64_t threads);
tsl_packed_sharing tsl_packed_share_strips(const tsl_packed_job *job, int64_t threads);
tesela_status tsl_packed_run_strips(const tsl_packed_job *job, tsl_team team);
/* The same for a job with the schedule of that name. */
tesela_status tsl_packed_run_panels(const tsl_packed_job *job, tsl_team team);
tesela_status tsl_packed_run_kept(const tsl_packed_job *job, tsl_team team);
tesela_status tsl_packed_run_split_k(const tsl_packed_job *job, tsl_team team);

/* TSL_PACKED_ROWS in the caller's thread, on a job whose B is copied panel by panel to `b_copy`, and A by
 * micro-panels to `a_copy`. */
void tsl_packed_pass_alone(const tsl_packed_job *job, void *a_copy, void *b_copy);

#endif

/* Jobs, blocks and micro-panels of the loops that host_packed.c draws. */
#ifndef TSL_STRATEGY_GEMM_HOST_PACKED_BLOCKING_H
#define TSL_STRATEGY_GEMM_HOST_PACKED_BLOCKING_H

#include "host/host_view.h"
#include "host/int_math.h"
#include "strategy/gemm/host/host_packed/host_packed_kernels.h"
#include "strategy/strategy.h"

typedef enum tsl_packed_schedule {                     /* order of the loops in host_packed.c */
                                   TSL_PACKED_PANELS,  /* both operands are large: panels of A and blocks of B
                                                          are packed */
                                   TSL_PACKED_ROWS,    /* B is small: packed B is resident, micro-panels of A
                                                          stream */
                                   TSL_PACKED_COLUMNS, /* A is small: packed A is resident, micro-panels of B
                                                          stream */
                                   TSL_PACKED_SPLIT_K  /* C is small: k is cut into parts, and their partial
                                                          sums are added at the end */
} tsl_packed_schedule;

typedef struct tsl_packed_job {
  const tsl_packed_kernels *kernels;
  tsl_packed_schedule schedule;
  int64_t size;    /* bytes of an element */
  tsl_views views; /* oriented; they hold the operands' addresses after tsl_packed_job_bind() */
  double alpha[2], beta[2];
  double signs[2]; /* signs of imaginary parts that conjugation needs, as in tsl_packed_tile */
  int64_t kc;      /* KC: steps of a panel of k; the last panel may have fewer */
  int64_t mr, nr;  /* MR, and NR (whole vectors) */
  /* Columns of the first micro-panel of B if narrower than whole vectors; 0: the last one may be partial. */
  int64_t lead;
  int64_t mc, nc;        /* MC: rows of a panel of A; NC: columns of a block of B */
  int64_t panel_max;     /* limit of MC and NC that this job's share of the last cache allows */
  int64_t half_l2_bytes; /* half of a core's second-level cache, in bytes */
  /* Lines of the streaming operand for which the cost of reading the resident operand again is negligible. */
  int64_t reuse_lines;
  int64_t split_k;
  int64_t ahead; /* steps of k after this part's end that the same thread multiplies next */
  /* TSL_PACKED_COLUMNS: a micro-panel of B meets all of A's; otherwise one of A meets all of B's. */
  bool b_is_outer;
  bool is_alone;      /* so small that a second thread costs more than it saves */
  bool fixes_rows;    /* panels of k depend on k only (bits=rows) */
  bool is_structured; /* a factor or C has a structure or triangle */
  bool is_half; /* some tiles or steps are skipped: a factor is triangular, or a triangle of C is computed */
  bool masks_c; /* elements of C outside its triangle must keep their values */
  bool copies_a, copies_b; /* A and B are packed; otherwise tiles read the operand directly */
  bool keeps_rows;         /* packed micro-panels of A hold row after row instead of step after step */
  bool descends;           /* panels of k from the last to the first ("In place" in host_packed_panels.c) */
  int64_t half; /* first step of the second of two joined products (rank2k.c); 0: a single product */
  const tsl_views *second; /* operands of the second of two joined products */
} tsl_packed_job;

typedef enum tsl_packed_sum {                 /* method of a rank-2k update (rank2k.c) */
                              TSL_PACKED_ONE, /* a single product, no rank-2k update */
                              TSL_PACKED_FOLDED,
                              TSL_PACKED_JOINED,
                              TSL_PACKED_TWICE
} tsl_packed_sum;

typedef struct tsl_packed_product { /* one product, or the two of a rank-2k update */
  tsl_packed_job first, second;
  tsl_packed_sum sum;
  tsl_view c; /* of a rank-2k update: the caller's strides and triangle of C, without an address */
  double beta[2];
} tsl_packed_product;

/* One round of loops 3, 5 and 4: mc rows of C from ic on, nc columns from jc on, and kc steps of k from pc
 * on. Row ic begins a micro-panel of A, and column jc one of B. */
typedef struct tsl_packed_block {
  int64_t ic, mc, jc, nc, pc, kc;
} tsl_packed_block;

static inline int64_t tsl_packed_bytes(const tsl_packed_job *job, int64_t elements) {
  return (elements * job->size + 63) / 64 * 64; /* whole cache lines */
}
/* Returns the job for panels of at most `depth` steps. `resident`: bytes for the operand that is resident in
 * the second-level cache. The strides of the job's operands are `strides`. */
tsl_packed_job tsl_packed_job_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                                  int64_t resident, const tsl_device *device);
/* Returns the job of two joined products; the first product has the first `half` steps. */
tsl_packed_job tsl_packed_joined_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                                     int64_t resident, const tsl_device *device, int64_t half);
/* Returns the products of a problem, which may be a rank-2k update. */
tsl_packed_product tsl_packed_product_for(const tsl_problem *problem, const tsl_operands *strides,
                                          int64_t depth, int64_t resident, const tsl_device *device);
/* Stores the problem of the first or second product of a rank-2k update in `part`, and replaces `strides` by
 * the strides of its operands. Returns the update's method. */
tsl_packed_sum tsl_packed_part_of_sum(const tsl_problem *problem, int64_t depth, const tsl_device *device,
                                      bool second, tsl_problem *part, tsl_operands *strides);
/* Runs a tsl_packed_product, as `run` of tsl_host_job_ops; returns an error only if memory is short. */
tesela_status tsl_packed_run_product(const void *job, const tsl_operands *operands);
/* Sets a job's schedule and the fields that depend on it. */
void tsl_packed_set_schedule(tsl_packed_job *job, tsl_packed_schedule schedule);
/* Returns the job of `columns` columns of `job`. B is packed; A is packed if enough columns use the copy. */
tsl_packed_job tsl_packed_strip_of(const tsl_packed_job *job, int64_t columns);
/* Stores the operands' addresses in the job. The strides must be those given to tsl_packed_job_for(). */
void tsl_packed_job_bind(tsl_packed_job *job, const tsl_operands *operands);
/* Sets the tile's beta: the job's for the first panel of k (`is_first`), else 1. */
void tsl_packed_add_to_c(const tsl_packed_job *job, bool is_first, tsl_packed_tile *tile);

/* Returns the bytes of packed A or B for all panels, or 0 if the tiles read the operand directly. */
size_t tsl_packed_form_bytes(const tsl_packed_job *job, bool is_a);
/* Packs A or B of a bound job for all panels. `dst` has tsl_packed_form_bytes() bytes. */
void tsl_packed_make_form(const tsl_packed_job *job, bool is_a, void *dst, tsl_team team);

/* --- macro-kernel. Micro-panels of A are as few as possible and nearly equal; micro-panels of B are whole
 * except for the last, or the first (`lead`) --- */

/* Return the number of micro-panels of A and of B in a block. */
int64_t tsl_packed_micros_a(const tsl_packed_job *job, const tsl_packed_block *block);
int64_t tsl_packed_micros_b(const tsl_packed_job *job, const tsl_packed_block *block);

/* Returns the block of micro-panel of A `ir` of a block. */
tsl_packed_block tsl_packed_micro_block(const tsl_packed_job *job, const tsl_packed_block *block, int64_t ir);

/* Returns the first step of the panel of k that is multiplied as number `index`: loop 4. */
static inline int64_t tsl_packed_step_of(const tsl_packed_job *job, int64_t index) {
  return (job->descends ? tsl_ceil_div_or_one(job->views.k, job->kc) - 1 - index : index) * job->kc;
}

/* Returns the rows of A that are packed for each step of k, or 0 if A is not packed. */
int64_t tsl_packed_width_of_a(const tsl_packed_job *job, int64_t rows);
/* Returns the columns of B that are packed for each step of k, in whole vectors. If B is not packed: the
 * columns of a partial last micro-panel, or 0. */
int64_t tsl_packed_width_of_b(const tsl_packed_job *job, int64_t columns);

/* Packs micro-panels `first` to before `end`, unless tiles read the operand. `copy`: the block's memory. */
void tsl_packed_pack_a(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first, int64_t end,
                       void *copy);
void tsl_packed_pack_b(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first, int64_t end,
                       void *copy);

/* Returns the pieces to pack B's block in, at most `most`: rows of contiguous columns, or micro-panels. */
int64_t tsl_packed_pieces(const tsl_packed_job *job, const tsl_packed_block *block, int64_t most);
/* Packs piece `index` of tsl_packed_pieces() of B. */
void tsl_packed_pack_piece(const tsl_packed_job *job, const tsl_packed_block *block, int64_t pieces,
                           int64_t index, void *copy);

typedef struct tsl_packed_side { /* micro-panel, packed or in the operand's memory */
  const void *at;
  int64_t first, count;  /* first row of A or column of B, relative to the block, and number of lines */
  int64_t across, along; /* strides in elements: from line to line, and along k */
} tsl_packed_side;

/* Returns micro-panel `index`; `copy` is the packed block. */
tsl_packed_side tsl_packed_micro_a(const tsl_packed_job *job, const tsl_packed_block *block, int64_t index,
                                   const void *copy);
tsl_packed_side tsl_packed_micro_b(const tsl_packed_job *job, const tsl_packed_block *block, int64_t index,
                                   const void *copy);

/* Returns the micro-kernel's arguments that all tiles of a block have in common. */
tsl_packed_tile tsl_packed_tile_of(const tsl_packed_job *job, const tsl_packed_block *block);
/* Loop 2: multiplies a micro-panel of A by micro-panels `jr` to before `end` of B, with the block's
 * tsl_packed_tile_of(). `b_copy`: the packed block of B. */
void tsl_packed_loop_2(const tsl_packed_job *job, const tsl_packed_block *block,
                       const tsl_packed_side *micro_a, int64_t jr, int64_t end, const void *b_copy,
                       tsl_packed_tile *tile);
/* Loop 1: multiplies micro-panels `ir` to before `end` of A by micro-panel `jr` of B, as loop 2. */
void tsl_packed_loop_1(const tsl_packed_job *job, const tsl_packed_block *block, int64_t ir, int64_t end,
                       const void *a_copy, int64_t jr, const void *b_copy, tsl_packed_tile *tile);
/* Lines of an operand: rows of A or columns of B. */
typedef struct tsl_packed_lines {
  bool is_a;
  int64_t line, count, width; /* first line, lines; lines of the micro-panel, padding included */
  int64_t from, to;           /* first step of k, and the step after the last */
} tsl_packed_lines;
/* Packs lines of an operand with a structure to `micro`, without steps in which a triangle is zero. */
void tsl_packed_pack_structured(const tsl_packed_job *job, const tsl_packed_block *block,
                                const tsl_packed_lines *lines, void *micro);
/* Multiplies a tile of a job with structures, if it is in C's triangle and not all its steps are zero. */
void tsl_packed_multiply_structured(const tsl_packed_job *job, const tsl_packed_block *block,
                                    const tsl_packed_side *micro_a, const tsl_packed_side *micro_b,
                                    tsl_packed_tile *tile);
/* Returns true if every tile of the block is skipped. */
bool tsl_packed_is_idle(const tsl_packed_job *job, const tsl_packed_block *block);
typedef struct tsl_packed_span {
  int64_t first, end;
} tsl_packed_span;
/* Returns the columns of a row that lie in C's triangle. */
tsl_packed_span tsl_packed_span_of_row(const tsl_packed_job *job, int64_t row);
/* Sets the imaginary part of a hermitian C's diagonal element to 0. */
void tsl_packed_clear_diagonal(const tsl_packed_job *job, int64_t row);
/* Returns the prefetch of `bytes` bytes from `src` while `tiles` tiles of the block are multiplied. */
tsl_packed_prefetch tsl_packed_prefetch_bytes(const tsl_packed_block *block, int64_t tiles, const void *src,
                                              int64_t bytes);
/* Returns the prefetch of the part of A that micro-panel `index` is packed from. */
tsl_packed_prefetch tsl_packed_prefetch_a(const tsl_packed_job *job, const tsl_packed_block *block,
                                          int64_t index, int64_t tiles);
/* Returns the prefetch of part `part` of `parts` of B's piece `index` during `tiles` tiles of `block`. */
tsl_packed_prefetch tsl_packed_prefetch_piece(const tsl_packed_job *job, const tsl_packed_block *block,
                                              const tsl_packed_block *packed_block, int64_t pieces,
                                              int64_t index, int64_t part, int64_t parts, int64_t tiles);

/* GB/s of reading a packed copy again from another core's cache. FAR: the last cache is far (Xeon). */
enum { TSL_PACKED_AGAIN_FAR = 20, TSL_PACKED_AGAIN_NEAR = 60 };

typedef struct tsl_packed_sharing { /* cost of distributing a job over threads */
  double waits, uneven; /* barriers of all threads; the busiest thread's work divided by the mean */
  double again, shared; /* bytes of packed copies that each thread reads again; bytes that threads share */
} tsl_packed_sharing;
/* Returns the cost for the job's schedule; the functions below: for one schedule. */
tsl_packed_sharing tsl_packed_share(const tsl_packed_job *job, int64_t threads);
tsl_packed_sharing tsl_packed_share_panels(const tsl_packed_job *job, int64_t threads);
tsl_packed_sharing tsl_packed_share_stationary(const tsl_packed_job *job, int64_t threads);
tsl_packed_sharing tsl_packed_share_split_k(const tsl_packed_job *job, int64_t threads);
/* Returns the busiest thread's tasks divided by the mean. */
static inline double tsl_packed_uneven(int64_t tasks, int64_t threads) {
  return (double)(tsl_ceil_div_or_one(tasks, threads) * threads) / (double)tasks;
}

/* Returns true if the schedule packs all inputs of a part of C before it writes it: C may be an input. */
bool tsl_packed_copies_first(const tsl_packed_job *job);
/* Returns the answer of tsl_packed_copies_first() for TSL_PACKED_PANELS. */
bool tsl_packed_panels_in_place(const tsl_packed_job *job, int64_t threads);
/* Runs a bound job; fails only if memory is short. */
tesela_status tsl_packed_run(const tsl_packed_job *job, tsl_team team);
/* Returns true if the job is computed in strips of C: column_strips.c. */
bool tsl_packed_has_strips(const tsl_packed_job *job, int64_t threads);
typedef struct tsl_packed_grid {
  int64_t down, across, columns; /* strips in a column and in a row of C; columns of a strip but the last */
} tsl_packed_grid;
tsl_packed_grid tsl_packed_cut_strips(const tsl_packed_job *job, int64_t threads);
tsl_packed_sharing tsl_packed_share_strips(const tsl_packed_job *job, int64_t threads);
tesela_status tsl_packed_run_strips(const tsl_packed_job *job, tsl_team team);
tesela_status tsl_packed_run_panels(const tsl_packed_job *job, tsl_team team);
tesela_status tsl_packed_run_stationary(const tsl_packed_job *job, tsl_team team);
tesela_status tsl_packed_run_split_k(const tsl_packed_job *job, tsl_team team);

/* Runs TSL_PACKED_ROWS in the caller's thread. `a_copy`: memory of a micro-panel; `b_copy`: of a panel. */
void tsl_packed_stream_a_alone(const tsl_packed_job *job, void *a_copy, void *b_copy);

#endif

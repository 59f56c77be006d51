#ifndef TSL_STRATEGY_GEMM_HOST_AMX_HOST_AMX_JOB_H
#define TSL_STRATEGY_GEMM_HOST_AMX_HOST_AMX_JOB_H

#include "core/pool.h"
#include "host/host_view.h"
#include "host/int_math.h"
#include "strategy/gemm/host/host_amx/host_amx_kernels.h"
#include "strategy/strategy.h"

enum { TSL_AMX_SPLIT_K_MAX = 16 };

/* Packed copy of an operand or of a part: panel after panel, each with its micro-panels in order. */
typedef struct tsl_amx_packed {
  uint32_t *at;         /* NULL: no copy */
  uint32_t *start_sums; /* B only: for each panel, the sums that tiles start with */
  int64_t panel;        /* first panel in the copy */
  int64_t pitch;        /* A for tile registers, copied row by row: bytes from row to row; else 0 */
  int64_t first, count; /* first row (column) in the copy, and rows (columns) of a panel */
} tsl_amx_packed;

typedef struct tsl_amx_job {
  const tsl_amx_kernels *kernels;
  tsl_amx_pack_function *pack_a, *pack_b;
  tsl_amx_epilogue_function *epilogue;
  tsl_views views;                   /* oriented; they hold addresses after tsl_amx_job_bind() */
  int64_t size, c_size;              /* bytes of an element of A and B, and of C */
  tsl_amx_packed packed_a, packed_b; /* operands packed in advance; set by tsl_amx_job_bind() */
  double alpha, beta;
  bool fixes_rows;      /* k is never split (bits=rows) */
  bool uses_one_thread; /* too little work for a second thread */
  bool nontemporal;     /* C is stored with instructions that bypass the caches */
  bool sums_are_c;      /* a tile's sums need no epilogue: they are C in C's type */
  bool reads_a;         /* tiles may read A directly: its rows consist of whole units */
  bool takes_lines;     /* `kernels->lines` multiply the lines of one operand in place */
  bool large_is_a;      /* that operand is A */
  bool copies_rows;     /* A not packed in advance is packed row by row within a micro-panel's panel */
  int64_t units, depth, panels; /* units of k; KC in units (all panels but the last); panels of k */
  int64_t micro_panels_a, micro_panels_b;
  int64_t block_micro_panels_a, block_micro_panels_b; /* size of a thread's block, in micro-panels */
  int64_t resident_bytes;                             /* bytes of A that stay in the second-level cache */
  int64_t split_k;                                    /* parts of k, whose sums are added at the end */
} tsl_amx_job;

/* Returns the job for panels of at most `depth` units and blocks of about `resident_bytes` bytes of A. The
 * kernels match the types of A and B after orientation (host/host_view.h). */
tsl_amx_job tsl_amx_job_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                            int64_t resident_bytes, const tsl_device *device);
/* Returns the job of oriented views with these kernels, for a team of `threads` threads. */
tsl_amx_job tsl_amx_job_with(const tsl_amx_kernels *kernels, const tsl_problem *problem,
                             const tsl_views *views, int64_t depth, int64_t resident_bytes, int threads);
/* Stores the operands' addresses in the job. */
void tsl_amx_job_bind(tsl_amx_job *job, const tsl_operands *operands);
/* For jobs whose `takes_lines` is set. Return the lines of the large operand, the bytes between its packed
 * lines, and the copy of the thin operand without its address. */
int64_t tsl_amx_large_lines_of(const tsl_amx_job *job);
int64_t tsl_amx_packed_line_of(const tsl_amx_job *job);
tsl_amx_copy tsl_amx_thin_copy_of(const tsl_amx_job *job);
/* For these jobs: pack all of A or B to `dst`, and compute. */
void tsl_amx_lines_pack(const tsl_amx_job *job, bool is_a, uint32_t *dst);
tesela_status tsl_amx_run_lines(const tsl_amx_job *job, tsl_team team);
/* Runs a bound job by a team; fails only if memory is short. */
tesela_status tsl_amx_run(const tsl_amx_job *job, tsl_team team);

/* Returns the rows of a copy of A, including padding. */
int64_t tsl_amx_rows_of_a(const tsl_amx_job *job);
int64_t tsl_amx_columns_of_b(const tsl_amx_job *job);
/* Returns the first row of micro-panel of A `index`. */
int64_t tsl_amx_first_row_of(const tsl_amx_job *job, int64_t index);
/* Returns the units of k in a panel; the last panel may have fewer. */
int64_t tsl_amx_panel_units(const tsl_amx_job *job, int64_t panel);

/* Returns the address of row (column) `first` in a panel of a copy. */
uint32_t *tsl_amx_address(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t panel, int64_t first);

/* Returns the 32-bit words of all of A or B in packed form, `start_sums` included. */
int64_t tsl_amx_packed_words(const tsl_amx_job *job, bool is_a);
/* Describes a packed copy of all of A or B in `data`, the caller's memory of tsl_amx_packed_words() words. */
tsl_amx_packed tsl_amx_packed_in(const tsl_amx_job *job, bool is_a, uint32_t *data);

/* Returns true if tiles read a micro-panel of A directly. */
bool tsl_amx_reads_in_place(const tsl_amx_job *job, int64_t micro_a);
/* Packs a panel of micro-panel `index` to its address in the copy. */
void tsl_amx_pack_a(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t panel, int64_t index);
void tsl_amx_pack_b(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t panel, int64_t index);
/* Packs micro-panels `first` to before `end` of B: some units of all micro-panels, then the next units.
 * `least` (may be NULL): for each micro-panel, lowered to the minimum magnitude packed. */
void tsl_amx_pack_b_range(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t panel, int64_t first,
                          int64_t end, uint32_t *least);

/* Returns the dense sums of the largest tile. */
int64_t tsl_amx_tile_sums(const tsl_amx_job *job);
/* Work during a tile's products: an earlier tile's sums are written to C, rows of A are copied. */
typedef struct tsl_amx_concurrent {
  uint32_t *sums[2];       /* buffers of two tiles */
  int at;                  /* buffer in use */
  unsigned char *c;        /* destination of the finished sums; NULL: no sums are pending */
  const unsigned char *in; /* next row to copy, and its destination */
  unsigned char *out;
  int64_t in_row, out_row; /* strides in bytes */
  int64_t lines, tail;     /* cache lines of a row, bytes of its last line (0: it is full) */
  int64_t rows, tiles;     /* rows left to copy, and tiles left that copy them */
  uint32_t least;          /* minimum magnitude in the copied rows, if the kernels compute it */
} tsl_amx_concurrent;
/* Adds a panel's products to a tile's sums; panel 0 sets them. After the last panel the tile is written to C:
 * at once, or with `concurrent` during a later tile or by tsl_amx_write_pending(). `has_next`: the next
 * call's tile has the next micro-panel of B, and its sums follow these. `is_careful`: handles subnormal
 * numbers; if set for a panel, then also for all later panels of the tile. */
void tsl_amx_multiply_tile(const tsl_amx_job *job, const tsl_amx_packed *a, const tsl_amx_packed *b,
                           int64_t panel, int64_t micro_a, int64_t micro_b, bool is_careful, uint32_t *sums,
                           tsl_amx_concurrent *concurrent, bool has_next);
/* Returns the epilogue of a part of C, without its sums, size and strides. */
tsl_amx_epilogue tsl_amx_epilogue_of(const tsl_amx_job *job, int64_t row, int64_t column);
void tsl_amx_write_pending(const tsl_amx_job *job, tsl_amx_concurrent *concurrent);
/* Copies the rows of a micro-panel of A unchanged from panel packed->panel on: `units` units, then zeros, to
 * packed->at, packed->pitch bytes apart. */
void tsl_amx_pack_a_rows(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t index, int64_t units);
/* Stores C = alpha sums + beta C for a tile. */
void tsl_amx_finish_tile(const tsl_amx_job *job, int64_t micro_a, int64_t micro_b, const uint32_t *sums);

/* Returns the minimum magnitude other than 0, as bits, in a panel of a micro-panel of A or B;
 * TSL_AMX_ALL_ZERO if the kernels handle subnormal numbers. */
uint32_t tsl_amx_min_magnitude_of_a(const tsl_amx_job *job, const tsl_amx_packed *a, int64_t panel,
                                    int64_t micro_a);
uint32_t tsl_amx_min_magnitude_of_b(const tsl_amx_job *job, const tsl_amx_packed *b, int64_t panel,
                                    int64_t micro_b);
/* Returns true if products of factors with these minima may be subnormal: careful tiles are needed. */
bool tsl_amx_needs_care(uint32_t least_a, uint32_t least_b);

/* Returns the job of a rectangle of C; its first row and column must begin micro-panels. */
tsl_amx_job tsl_amx_rectangle_of(const tsl_amx_job *job, int64_t row, int64_t rows, int64_t column,
                                 int64_t columns);
/* Packs all of A or B to `dst`, which has tsl_amx_packed_words() words. */
void tsl_amx_pack_all(const tsl_amx_job *job, bool is_a, uint32_t *dst, tsl_team team);

/* Returns the words of workspace of tsl_amx_run_in_thread() and tsl_amx_run_pass(). */
int64_t tsl_amx_thread_workspace_words(const tsl_amx_job *job);
/* Computes a job or rectangle of one part of k with tile registers in the caller's thread. */
void tsl_amx_run_in_thread(const tsl_amx_job *job, uint32_t *workspace);
/* Returns the maximum columns of a pass over all of A and k, or 0 if k is too long for that. */
int64_t tsl_amx_pass_columns(const tsl_amx_job *job);
/* Computes one pass together with other threads, which take micro-panels of A by incrementing `taken`. */
void tsl_amx_run_pass(const tsl_amx_job *job, uint32_t *workspace, _Atomic int64_t *taken);

#endif

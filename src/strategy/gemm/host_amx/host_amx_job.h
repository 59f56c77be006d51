/* A product of narrow types, cut into panels and micro-panels; host_amx.c has the picture. */
#ifndef TSL_STRATEGY_GEMM_HOST_AMX_HOST_AMX_JOB_H
#define TSL_STRATEGY_GEMM_HOST_AMX_HOST_AMX_JOB_H

#include "base/pool.h"
#include "host/host_view.h"
#include "host/int_math.h"
#include "strategy/gemm/host_amx/host_amx_kernels.h"
#include "strategy/strategy.h"

enum { TSL_AMX_SPLIT_K_MAX = 16 };

/* A copy of an operand in units, or a part of it: panel after panel, in each of them micro-panels one after
 * the other. For B, where tiles start with more than nothing, a row of starts for each panel. */
typedef struct tsl_amx_form {
  uint32_t *at;     /* NULL: there is none */
  uint32_t *starts; /* of B */
  int64_t panel;    /* the first panel in it */
  int64_t
      pitch; /* of A for tile registers: bytes from row to row, where rows are copied as they are; else 0 */
  int64_t first, count; /* the first row (column), and how many a panel has */
} tsl_amx_form;

typedef struct tsl_amx_job {
  const tsl_amx_kernels *kernels;
  tsl_amx_pack_function *pack_a, *pack_b;
  tsl_amx_epilogue_function *epilogue;
  tsl_views views;                 /* oriented; with the operands' memory once the job is bound to it */
  int64_t size, c_size;            /* of an element of A and B, and of C */
  tsl_amx_form packed_a, packed_b; /* what was packed before, once the job is bound */
  double alpha, beta;
  bool is_alone;    /* so small that a second thread costs more than it saves */
  bool nontemporal; /* C is written past the caches */
  bool sums_are_c;  /* nothing is left to be done with them but to write them */
  bool reads_a;     /* tiles may read A where it lies: whole units along its rows */
  bool copies_rows; /* A's copies are rows, too: in each panel of a micro-panel of A, unless it was packed
                       before */
  int64_t units, depth, panels;           /* of k in all, of a panel but the last, and how many of these */
  int64_t micros_a, micros_b;             /* of A and of B */
  int64_t block_micros_a, block_micros_b; /* of what a thread takes at once */
  int64_t kept;                           /* bytes of A in the second-level cache */
  int64_t split_k;                        /* parts of k, whose sums are added in the end */
} tsl_amx_job;

/* The job of a problem on operands with these strides, in panels of at most `depth` units, and blocks of A of
 * about `kept` bytes. The kernels are those for the types of A and B as they are seen (host/host_view.h). */
tsl_amx_job tsl_amx_job_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                            int64_t kept, const tsl_device *device);
/* The same with these kernels, for that many threads. */
tsl_amx_job tsl_amx_job_with(const tsl_amx_kernels *kernels, const tsl_problem *problem,
                             const tsl_operands *strides, int64_t depth, int64_t kept, int threads);
void tsl_amx_job_bind(tsl_amx_job *job, const tsl_operands *operands);
/* Multiplies by a team. */
tesela_status tsl_amx_run(const tsl_amx_job *job, tsl_team team);

/* --- pieces: what the loops are made of --- */

/* Rows and columns that copies have, zeros among them; row at which micro-panel of A `index` starts; units of
 * a panel. */
int64_t tsl_amx_rows_of_a(const tsl_amx_job *job);
int64_t tsl_amx_columns_of_b(const tsl_amx_job *job);
int64_t tsl_amx_row_of(const tsl_amx_job *job, int64_t index);
int64_t tsl_amx_panel_units(const tsl_amx_job *job, int64_t panel);

/* Where a panel of a copy has this row, or column. */
uint32_t *tsl_amx_at(const tsl_amx_job *job, const tsl_amx_form *form, int64_t panel, int64_t first);

/* A form of all of A, or B, in this memory, and how many units it takes. */
int64_t tsl_amx_form_units(const tsl_amx_job *job, bool is_a);
tsl_amx_form tsl_amx_form_in(const tsl_amx_job *job, bool is_a, uint32_t *data);

/* Whether tiles read a micro-panel of A where it lies. */
bool tsl_amx_reads_in_place(const tsl_amx_job *job, int64_t micro_a);
/* Copies a panel's part of a micro-panel of A, or of B. */
void tsl_amx_pack_a(const tsl_amx_job *job, const tsl_amx_form *form, int64_t panel, int64_t index);
void tsl_amx_pack_b(const tsl_amx_job *job, const tsl_amx_form *form, int64_t panel, int64_t index);
/* Those of micro-panels of B from `first` to before `end`: some units of all of them, then some more, since
 * memory likes long rows. `least`: of each, becomes the least magnitude of what was copied, too; or NULL. */
void tsl_amx_pack_b_range(const tsl_amx_job *job, const tsl_amx_form *form, int64_t panel, int64_t first,
                          int64_t end, uint32_t *least);

/* Sums of the largest tile. */
int64_t tsl_amx_tile_sums(const tsl_amx_job *job);
/* What tile registers do beside a tile's products: an earlier tile's sums, which are C, are written there,
 * and some rows of the next micro-panel of A are copied. */
typedef struct tsl_amx_beside {
  uint32_t *sums[2]; /* of two tiles */
  int at;            /* whose turn it was */
  unsigned char *c;  /* where it goes, or NULL: nothing waits */
  const unsigned char *in;
  unsigned char *out;
  int64_t in_row, out_row, lines,
      tail;            /* bytes from row to row, cache lines of a row, bytes of its last one */
  int64_t rows, tiles; /* rows left, and tiles that share them */
  uint32_t least;      /* magnitude in those that were copied, where the kernels find it */
} tsl_amx_beside;
/* Adds a panel's products to a tile's sums, of which panel 0 makes the first; after the last panel it is
 * written to C, now or, where there is something `beside`, with a later tile or by tsl_amx_write_late().
 * has_next: the tile of the next micro-panel of B comes next, with its sums behind these. is_careful: by
 * tiles that know subnormal numbers; where registers keep sums from panel to panel, so from then on. */
void tsl_amx_multiply_tile(const tsl_amx_job *job, const tsl_amx_form *a, const tsl_amx_form *b,
                           int64_t panel, int64_t micro_a, int64_t micro_b, bool is_careful, uint32_t *sums,
                           tsl_amx_beside *beside, bool has_next);
void tsl_amx_write_late(const tsl_amx_job *job, tsl_amx_beside *beside);
/* Copies these panels' part of the rows of a micro-panel of A, as they are, with zeros after them, to where
 * the form says. */
void tsl_amx_pack_a_rows(const tsl_amx_job *job, const tsl_amx_form *form, int64_t index, int64_t units);
/* C = alpha sums + beta C for a tile. */
void tsl_amx_finish_tile(const tsl_amx_job *job, int64_t micro_a, int64_t micro_b, const uint32_t *sums);

/* The least magnitude other than 0 of a panel's part of a micro-panel, as bits, where the kernels' tiles are
 * not always right; else TSL_AMX_ALL_ZERO. And whether tiles must be careful with such factors. */
uint32_t tsl_amx_least_of_a(const tsl_amx_job *job, const tsl_amx_form *a, int64_t panel, int64_t micro_a);
uint32_t tsl_amx_least_of_b(const tsl_amx_job *job, const tsl_amx_form *b, int64_t panel, int64_t micro_b);
bool tsl_amx_needs_care(uint32_t least_a, uint32_t least_b);

/* --- schedules --- */

/* The part of a job that makes these rows and columns of C; the first ones are where micro-panels start. */
tsl_amx_job tsl_amx_rectangle_of(const tsl_amx_job *job, int64_t row, int64_t rows, int64_t column,
                                 int64_t columns);
/* Copies all of A, or B, by a team, for many runs. */
void tsl_amx_make_form(const tsl_amx_job *job, bool is_a, uint32_t *dst, tsl_team team);

/* A job of one part of k, or a rectangle of it, by tile registers in the caller's thread, which copies just
 * before it multiplies, in memory of the caller's, of so many words. */
int64_t tsl_amx_workspace_alone(const tsl_amx_job *job);
void tsl_amx_run_alone(const tsl_amx_job *job, uint32_t *workspace);
/* Most columns that are done in one pass over all of A and k; 0 where k is too long for that. */
int64_t tsl_amx_pass_columns(const tsl_amx_job *job);
/* One such pass, shared with other threads: each takes the micro-panel of A that `taken` counts next, until
 * there are none. */
void tsl_amx_run_pass(const tsl_amx_job *job, uint32_t *workspace, _Atomic int64_t *taken);

#endif

/* A thin product, seen in the direction in which it is thin, and cut into pieces for threads. */
#ifndef TSL_STRATEGY_GEMM_HOST_THIN_HOST_THIN_JOB_H
#define TSL_STRATEGY_GEMM_HOST_THIN_HOST_THIN_JOB_H

#include "base/pool.h"
#include "host/host_isa.h"
#include "strategy/skinny.h"

/* --- kernels: a row for each instruction set and element type; all that knows how wide a vector is --- */

enum {
  TSL_THIN_MOST = 8,    /* rows or columns that are few */
  TSL_THIN_STEPS = 4,   /* steps of an outer product */
  TSL_THIN_GROUP = 8,   /* rows of the large operand that are read together */
  TSL_THIN_NARROW = 2,  /* rows of sums that may be kept in registers, */
  TSL_THIN_KEPT = 4,    /* so many vectors of each */
  TSL_THIN_TOGETHER = 8 /* most columns of it that are read together */
};

/* The thin operand where it lies: number (i, l) at `at` + i * across + l * along, elements. */
typedef struct tsl_thin_numbers {
  const void *at;
  int64_t across, along;
} tsl_thin_numbers;

/* `rows` rows of the large operand, `width` numbers each and `along` apart, times numbers y(i, l), are added
 * to q sums of `pitch` numbers: sums[i][j] += y(i, l) x[l][j], in the order of l. `fresh`: to nothing,
 * whatever the sums were, whose rows are whole vectors. `prefetches`: the next rows, meanwhile. */
typedef void (*tsl_thin_add)(const void *x, int64_t along, int64_t rows, const tsl_thin_numbers *y,
                             int64_t width, void *sums, int64_t pitch, bool fresh, bool prefetches);

/* Columns of the large operand, `across` apart, whose `depth` numbers lie side by side; `prefetches` as
 * above. */
typedef struct tsl_thin_columns {
  const void *at;
  int64_t across, depth, count;
  bool prefetches;
} tsl_thin_columns;

/* out[j * q + i] = the sum over l of x[j][l] y[i][l]; rows of y are `pitch` apart. */
typedef void (*tsl_thin_reduce)(const tsl_thin_columns *x, const void *y, int64_t pitch, void *out);

/* c[i][j] = alpha (y[i][0] b[0][j] + ...) + beta c[i][j] for some rows of C; beta = 0 never reads them.
 * Pitches are in elements. `nontemporal`: past the caches; tsl_thin_kernels.fence() then comes before anybody
 * is told. */
typedef struct tsl_thin_rows {
  const void *b, *y;
  void *c;
  int64_t pitch, y_pitch, c_pitch;
  int64_t rows, width;
  double alpha, beta;
  bool nontemporal;
} tsl_thin_rows;
typedef void (*tsl_thin_outer)(const tsl_thin_rows *rows);

/* Element (i, j) of rows x columns at in + i * row + j * column goes to out[i * pitch + j]. */
typedef void (*tsl_thin_pack)(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns,
                              void *out, int64_t pitch);

/* c[j * column] = alpha sums[j * step] + beta c[j * column]; beta = 0 never reads c. */
typedef void (*tsl_thin_finish)(const void *sums, int64_t step, int64_t count, double alpha, double beta,
                                void *c, int64_t column);

typedef struct tsl_thin_kernels {
  tesela_type type;
  int64_t lanes;
  tsl_thin_add add[TSL_THIN_MOST];
  tsl_thin_reduce reduce[TSL_THIN_MOST];
  tsl_thin_outer outer[TSL_THIN_STEPS]; /* by the number of steps */
  tsl_thin_pack pack;
  tsl_thin_finish finish;
  void (*fence)(void);
} tsl_thin_kernels;

#define TSL_THIN_DECLARE(isa, header, needs, ...)                                                            \
  extern const tsl_thin_kernels tsl_thin_##isa##_f32, tsl_thin_##isa##_f64;
TSL_ISA_LIST(TSL_THIN_DECLARE)
#undef TSL_THIN_DECLARE

/* --- the job --- */

typedef enum tsl_thin_way {
  TSL_THIN_ROWS,   /* rows of the large operand are added up, times numbers */
  TSL_THIN_REDUCE, /* its numbers lie side by side along the sums */
  TSL_THIN_OUTER   /* the sums are short, C is large */
} tsl_thin_way;

typedef struct tsl_thin_job {
  const tsl_thin_kernels *kernels;
  tsl_thin_way way;
  tsl_lopsided of;
  bool nontemporal; /* C goes past the caches */
  bool is_far;      /* too large to be found in a cache */
  bool alone;       /* too little for a second thread */
  tsl_team team;    /* the device's, for runs that are given none */
} tsl_thin_job;

/* Bytes of a cache that the operands take, each once. */
double tsl_thin_held_bytes(const tsl_problem *problem);

/* The job of a problem that is thin, on operands with these strides. */
void tsl_thin_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_device *device,
                       tsl_thin_job *job);
/* Multiplies the problem's operands by a team. Failures are of memory. */
tesela_status tsl_thin_job_run(const tsl_thin_job *job, tsl_team team, const void *a, const void *b, void *c);

#endif

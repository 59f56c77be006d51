/* Thin product, oriented so that its small size is `few`. */
#ifndef TSL_STRATEGY_GEMM_HOST_THIN_HOST_THIN_JOB_H
#define TSL_STRATEGY_GEMM_HOST_THIN_HOST_THIN_JOB_H

#include "core/pool.h"
#include "host/host_isa.h"
#include "strategy/host_jobs/skinny.h"

enum {
  TSL_THIN_MOST = 8,    /* maximum of m or n */
  TSL_THIN_STEPS = 4,   /* maximum of k for an outer product */
  TSL_THIN_GROUP = 8,   /* rows of the large operand that are read together */
  TSL_THIN_NARROW = 2,  /* maximum rows of sums that may stay in registers */
  TSL_THIN_KEPT = 4,    /* vectors of each of these rows */
  TSL_THIN_TOGETHER = 8 /* columns of the large operand that are read together */
};

/* Thin operand: element (i, l) at `at` + i * across + l * along, in elements. */
typedef struct tsl_thin_numbers {
  const void *at;
  int64_t across, along;
} tsl_thin_numbers;

/* Adds `rows` rows of `width` elements, `along` apart. Computes sums[i * pitch + j] += y(i, l) x[l][j] in the
 * order of l. `fresh`: sums begin with 0, in rows of whole vectors. `prefetches`: also the next rows. */
typedef void (*tsl_thin_add)(const void *x, int64_t along, int64_t rows, const tsl_thin_numbers *y,
                             int64_t width, void *sums, int64_t pitch, bool fresh, bool prefetches);

/* Columns of `depth` contiguous elements, `across` apart. `prefetches`: the next columns are prefetched. */
typedef struct tsl_thin_columns {
  const void *at;
  int64_t across, depth, count;
  bool prefetches;
} tsl_thin_columns;

/* Computes out[j * q + i] = sum over l of x[j][l] y[i][l] for q thin rows, `pitch` apart. */
typedef void (*tsl_thin_reduce)(const tsl_thin_columns *x, const void *y, int64_t pitch, void *out);

/* Rows of C in an outer product: c[i][j] = alpha (y[i][0] b[0][j] + ...) + beta c[i][j]; beta = 0 never reads
 * c. Pitches in elements. `nontemporal`: fence() must follow before other threads read C. */
typedef struct tsl_thin_rows {
  const void *b, *y;
  void *c;
  int64_t pitch, y_pitch, c_pitch;
  int64_t rows, width;
  double alpha, beta;
  bool nontemporal;
} tsl_thin_rows;
typedef void (*tsl_thin_outer)(const tsl_thin_rows *rows);

/* Copies element (i, j) of rows x columns at in + i * row + j * column to out[i * pitch + j]. */
typedef void (*tsl_thin_pack)(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns,
                              void *out, int64_t pitch);

/* Stores c[j * column] = alpha sums[j * step] + beta c[j * column]; beta = 0 never reads c. */
typedef void (*tsl_thin_finish)(const void *sums, int64_t step, int64_t count, double alpha, double beta,
                                void *c, int64_t column);

typedef struct tsl_thin_kernels {
  tesela_type type;
  int64_t lanes;
  tsl_thin_add add[TSL_THIN_MOST];
  tsl_thin_reduce reduce[TSL_THIN_MOST];
  tsl_thin_outer outer[TSL_THIN_STEPS]; /* index: steps - 1 */
  tsl_thin_pack pack;
  tsl_thin_finish finish;
  void (*fence)(void);
} tsl_thin_kernels;

#define TSL_THIN_DECLARE(isa, header, needs, ...)                                                            \
  extern const tsl_thin_kernels tsl_thin_##isa##_f32, tsl_thin_##isa##_f64;
TSL_ISA_LIST(TSL_THIN_DECLARE)
#undef TSL_THIN_DECLARE

typedef enum tsl_thin_way {
  TSL_THIN_ROWS,   /* rows of the large operand are scaled and added */
  TSL_THIN_REDUCE, /* the large operand's elements are contiguous along k */
  TSL_THIN_OUTER   /* k is small, C is large */
} tsl_thin_way;

typedef struct tsl_thin_job {
  const tsl_thin_kernels *kernels;
  tsl_thin_way way;
  tsl_lopsided shape;
  bool nontemporal; /* C is stored past the caches */
  bool is_far;      /* the operands exceed the last cache and are prefetched */
  bool alone;       /* too little work for a second thread */
  tsl_team team;    /* the device's team, for runs without one */
} tsl_thin_job;

/* Returns the cache bytes of the operands, each counted once. */
double tsl_thin_held_bytes(const tsl_problem *problem);

/* Makes the job of a problem with these strides; operands' addresses are not used. */
void tsl_thin_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_device *device,
                       tsl_thin_job *job);
/* Runs a job by a team; fails only if memory is short. */
tesela_status tsl_thin_job_run(const tsl_thin_job *job, tsl_team team, const void *a, const void *b, void *c);

#endif

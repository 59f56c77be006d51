/* Slim product, oriented so that its small size is `few`. */
#ifndef TSL_STRATEGY_GEMM_HOST_SLIM_HOST_SLIM_JOB_H
#define TSL_STRATEGY_GEMM_HOST_SLIM_HOST_SLIM_JOB_H

#include "core/pool.h"
#include "host/host_isa.h"
#include "strategy/host_jobs/skinny.h"

enum {
  TSL_SLIM_MOST = 16,     /* m or n */
  TSL_SLIM_STEPS = 32,    /* k, if neither m nor n is small */
  TSL_SLIM_ROWS_MAX = 16, /* MR, and NR in vectors, of any row of the table */
  TSL_SLIM_VECTORS_MAX = 3,
  TSL_SLIM_UPDATE_ROWS = 12, /* maximum rows of a tile that is computed in a buffer */
  TSL_SLIM_CHUNK_MAX = 128,  /* maximum steps between two tiles if rows of a large operand stream */
  TSL_SLIM_EDGE_BYTES = 128  /* maximum bytes of a row of a tile of two vectors */
};

/* Arguments of a micro-kernel that tiles share: c = alpha a b + beta c, or c + alpha a b, of whole vectors.
 * Strides are in bytes.
 *   `a`: rows x depth, element (i, l) at a + i * a_row + l * a_step.
 *   `b`: depth rows of vectors, row l at b + l * b_step.
 *   `c`: rows of vectors, row i at c + i * c_row. */
typedef struct tsl_slim_tile {
  int64_t depth;
  int64_t a_row, a_step, b_step, c_row;
  int64_t c_ahead;       /* bytes to the rows of c that are prefetched; 0: none */
  int64_t b_ahead, asks; /* `asks` rows of b are prefetched every four steps, `b_ahead` bytes ahead */
  double alpha, beta;
  bool goes_on; /* sums begin with the contents of c */
  bool scales;  /* sums are multiplied by alpha, which is not 1 */
  bool adds;    /* beta c is added at the end; else c is not read */
  int plain; /* beta is 1, and sums are added (1) or subtracted (-1) without factors (equal bits); else 0 */
} tsl_slim_tile;
typedef void (*tsl_slim_multiply)(const tsl_slim_tile *tile, const void *a, const void *b, void *c);

/* Stores c[j * column] = sums[j * step] + beta c[j * column]; beta = 0 never reads c. */
typedef void (*tsl_slim_finish)(const void *sums, int64_t step, int64_t count, double beta, void *c,
                                int64_t column);

/* Copies element (i, j) at in + i * row + j * column to out[i * pitch + j], with zeros up to `width`. */
typedef void (*tsl_slim_copy)(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns,
                              int64_t width, void *out, int64_t pitch);

typedef struct tsl_slim_kernels {
  tesela_type type;
  int64_t lanes;
  int rows[TSL_SLIM_VECTORS_MAX]; /* MR of tiles of 1, 2, 3 vectors */
  tsl_slim_copy copy;
  tsl_slim_finish finish;
  void (*stream)(const void *sums, int64_t count,
                 /* stores a row past the caches; a fence() must follow before other threads read it */
                 void *c);
  void (*fence)(void);
  tsl_slim_multiply multiply[TSL_SLIM_VECTORS_MAX][TSL_SLIM_ROWS_MAX]; /* [vectors - 1][rows - 1] */
} tsl_slim_kernels;

#define TSL_SLIM_DECLARE(isa, header, needs, ...)                                                            \
  extern const tsl_slim_kernels tsl_slim_##isa##_f32, tsl_slim_##isa##_f64;
TSL_ISA_LIST(TSL_SLIM_DECLARE)
#undef TSL_SLIM_DECLARE

typedef enum tsl_slim_way {
  TSL_SLIM_ROWS,   /* rows of the large operand stream */
  TSL_SLIM_SPREAD, /* the large operand's elements are contiguous along k */
  TSL_SLIM_UPDATE  /* k is small, C is large */
} tsl_slim_way;

typedef struct tsl_slim_job {
  const tsl_slim_kernels *kernels;
  tsl_slim_way way;
  tsl_lopsided shape;
  int64_t chunk, width; /* steps between tiles; columns of a piece */
  int vectors;          /* vectors of a tile's row in an update */
  bool asks_ahead;      /* an update's C exceeds the second-level cache and is prefetched */
  bool nontemporal;     /* C is stored past the caches */
  bool is_far;          /* the operands exceed the near caches and are prefetched */
  bool alone;           /* too little work for a second thread */
  tsl_team team;        /* the device's team, for runs without one */
} tsl_slim_job;

/* Makes the job of a problem with these strides; operands' addresses are not used. */
void tsl_slim_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_device *device,
                       tsl_slim_job *job);
/* Runs a job by a team; fails only if memory is short. */
tesela_status tsl_slim_job_run(const tsl_slim_job *job, tsl_team team, const void *a, const void *b, void *c);

#endif

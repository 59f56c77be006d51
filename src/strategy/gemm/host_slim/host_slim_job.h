/* A slim product, seen in the direction in which it is slim, and cut into pieces for threads. */
#ifndef TSL_STRATEGY_GEMM_HOST_SLIM_HOST_SLIM_JOB_H
#define TSL_STRATEGY_GEMM_HOST_SLIM_HOST_SLIM_JOB_H

#include "base/pool.h"
#include "host/host_isa.h"
#include "strategy/skinny.h"

/* --- kernels: a row for each instruction set and element type; all that knows how wide a vector is --- */

enum {
  TSL_SLIM_MOST = 16,     /* rows or columns that are few */
  TSL_SLIM_STEPS = 32,    /* steps that are */
  TSL_SLIM_ROWS_MAX = 16, /* rows of a tile, and vectors across it, of any row of the table */
  TSL_SLIM_VECTORS_MAX = 3,
  TSL_SLIM_UPDATE_ROWS = 12, /* of a tile that is made aside, at most */
  TSL_SLIM_CHUNK_MAX =
      128, /* steps that are added up before the next tile's, where a large operand's rows pass */
  TSL_SLIM_EDGE_BYTES = 128 /* of a row of a tile of two vectors, at most */
};

/* What tiles of C have in common, each c = alpha a b + beta c, or c + alpha a b, of whole vectors. Strides
 * are in bytes:
 *
 *   a: rows x depth, element (i, l) at a + i * a_row + l * a_step
 *   b: depth rows of vectors, row l at b + l * b_step
 *   c: rows of vectors, row i at c + i * c_row */
typedef struct tsl_slim_tile {
  int64_t depth;
  int64_t a_row, a_step, b_step, c_row;
  int64_t c_ahead;       /* rows of c that are wanted so many bytes further are prefetched; 0: none */
  int64_t b_ahead, asks; /* for each four steps, so many rows of b from so many bytes further on */
  double alpha, beta;
  bool goes_on; /* sums begin with what c has */
  bool scales;  /* alpha is not 1 */
  bool adds;    /* beta c is added in the end; else c is never read */
  int plain;    /* 1 or -1: beta is 1, and the sums are only added to c, or taken from it, with the bits that
                   factors would give; else 0 */
} tsl_slim_tile;
typedef void (*tsl_slim_multiply)(const tsl_slim_tile *tile, const void *a, const void *b, void *c);

/* c[j * column] = sums[j * step] + beta c[j * column]; beta = 0 never reads c. */
typedef void (*tsl_slim_finish)(const void *sums, int64_t step, int64_t count, double beta, void *c,
                                int64_t column);

/* Element (i, j) of rows x columns at in + i * row + j * column goes to out[i * pitch + j]; zeros behind the
 * last one up to `width`. */
typedef void (*tsl_slim_copy)(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns,
                              int64_t width, void *out, int64_t pitch);

typedef struct tsl_slim_kernels {
  tesela_type type;
  int64_t lanes;
  int rows[TSL_SLIM_VECTORS_MAX]; /* of the largest tile of 1, 2, 3 vectors */
  tsl_slim_copy copy;
  tsl_slim_finish finish;
  void (*stream)(const void *sums, int64_t count,
                 void *c); /* past the caches; fence() before anybody is told */
  void (*fence)(void);
  tsl_slim_multiply multiply[TSL_SLIM_VECTORS_MAX][TSL_SLIM_ROWS_MAX]; /* [vectors - 1][rows - 1] */
} tsl_slim_kernels;

#define TSL_SLIM_DECLARE(isa, header, needs, ...)                                                            \
  extern const tsl_slim_kernels tsl_slim_##isa##_f32, tsl_slim_##isa##_f64;
TSL_ISA_LIST(TSL_SLIM_DECLARE)
#undef TSL_SLIM_DECLARE

/* --- the job --- */

typedef enum tsl_slim_way {
  TSL_SLIM_ROWS,   /* rows of the large operand pass */
  TSL_SLIM_SPREAD, /* its numbers lie side by side along the sums */
  TSL_SLIM_UPDATE  /* the sums are short, C is large */
} tsl_slim_way;

typedef struct tsl_slim_job {
  const tsl_slim_kernels *kernels;
  tsl_slim_way way;
  tsl_lopsided of;
  int64_t chunk, width; /* steps, and columns of a piece */
  int vectors;          /* across a tile of an update */
  bool asks_ahead;      /* a second cache does not hold an update's C */
  bool nontemporal;     /* C goes past the caches */
  bool is_far;          /* the operands are more than the second cache holds */
  bool alone;           /* too little for a second thread */
  tsl_team team;        /* the device's, for runs that are given none */
} tsl_slim_job;

/* The job of a problem that is slim, on operands with these strides. */
void tsl_slim_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_device *device,
                       tsl_slim_job *job);
/* Multiplies the problem's operands by a team. Failures are of memory. */
tesela_status tsl_slim_job_run(const tsl_slim_job *job, tsl_team team, const void *a, const void *b, void *c);

#endif

/* gemm complex_real: what its files share. */
#ifndef TSL_STRATEGY_GEMM_COMPLEX_REAL_H
#define TSL_STRATEGY_GEMM_COMPLEX_REAL_H

#include "strategy/launch.h"
#include "strategy/subplans.h"

#include "strategy/gemm/complex_real/complex_real_shared.h"

enum { TSL_COMPLEX_REAL_FORM };
enum {
  TSL_COMPLEX_REAL_ANY = 1, /* by what moves least */
  TSL_COMPLEX_REAL_ALONG_K, /* R expanded, lines along k */
  TSL_COMPLEX_REAL_ALONG_N, /* along n */
  TSL_COMPLEX_REAL_APART    /* L's parts apart */
};

/* A matrix in scratch memory, of real numbers side by side along lines, and of as many as the batch has.
 * Counts numbers. */
typedef struct tsl_complex_real_room {
  int64_t line, lines, step, elements;
} tsl_complex_real_room;

/* How a problem is taken: C = L R, where R is expanded and L stays, or L's parts are apart and R stays. */
typedef struct tsl_complex_real_way {
  int form;
  bool is_swapped; /* C' = B' A': L is B', R is A' */
  bool is_staged;  /* sums are made in scratch memory, and C of them */
  bool copies;     /* what stays is copied, as its parts do not follow each other */
  bool is_empty;   /* there is nothing to multiply */
  int64_t m, n;    /* rows of L, columns of R */
  tsl_complex_real_room made, copy, sums;
} tsl_complex_real_way;
tsl_complex_real_way tsl_complex_real_way_of(const tsl_problem *problem, const tsl_config *config);
/* Bytes of what it has in scratch memory, beside what the product needs. */
uint64_t tsl_complex_real_bytes(const tsl_problem *problem, const tsl_complex_real_way *way);

/* Strides of L, R and C: from row to row and from column to column. */
typedef struct tsl_complex_real_strides {
  int64_t line, along;
} tsl_complex_real_strides;
tsl_complex_real_strides tsl_complex_real_left(bool swapped, const tsl_operands *operands);
tsl_complex_real_strides tsl_complex_real_right(bool swapped, const tsl_operands *operands);
tsl_complex_real_strides tsl_complex_real_c(bool swapped, const tsl_operands *operands);
/* Of what stays. */
tsl_complex_real_strides tsl_complex_real_staying(const tsl_complex_real_way *way,
                                                  const tsl_operands *operands);
/* Whether so many numbers of a row are as many pairs of real ones side by side. */
bool tsl_complex_real_follows(const tsl_complex_real_strides *strides, int64_t count);

/* The real product. What of it its child may err by, and what the strategy promises. */
tsl_problem tsl_complex_real_product(const tsl_problem *problem, const tsl_complex_real_way *way);
tsl_accuracy tsl_complex_real_of_product(const tsl_problem *problem);
tsl_accuracy tsl_complex_real_accuracy(const tsl_problem *problem, const tsl_config *config);

/* work->state. */
typedef struct tsl_complex_real {
  tsl_complex_real_way way;
  int64_t made_at, copy_at, sums_at; /* in scratch memory, behind what the product needs; real numbers */
  tsl_kernel *copy, *finish;
  tsl_subplan *child; /* NULL where there is nothing to multiply */
} tsl_complex_real;

tesela_status tsl_complex_real_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

/* Predicted seconds, and what is moved. */
double tsl_complex_real_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device);
void tsl_complex_real_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_cost_counts *account);

#endif

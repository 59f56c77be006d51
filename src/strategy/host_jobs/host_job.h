/* Views and jobs of strategies in C. A job is everything precomputed for a problem and its operands' strides:
 * kernels, schedule, partition. build() makes the job for the problem's own strides; a run with other strides
 * (a packed copy's) makes its own. */
#ifndef TSL_STRATEGY_HOST_JOB_H
#define TSL_STRATEGY_HOST_JOB_H

#include "host/host_view.h"
#include "host/int_math.h"
#include "strategy/strategy.h"

/* Order of sums of products for bits=rows: k is cut into nearly equal panels of at most TSL_ROW_PANEL steps.
 * A panel's sum adds fused products in the order of k. The sum times alpha is added to C, which is beta C
 * before the first panel. */
#define TSL_ROW_PANELS "panels"
enum { TSL_ROW_PANEL = 256 };
/* Returns the steps of a panel; the last panel may have fewer. */
static inline int64_t tsl_row_panel(int64_t k) {
  return tsl_ceil_div_or_one(k, tsl_ceil_div_or_one(k, TSL_ROW_PANEL));
}

/* Returns the bound where a component of a complex sum is the sum of two that `of_sums` bounds, also times
 * alpha and beta; `of_sums` for real types. */
static inline tsl_accuracy tsl_accuracy_of_components(tsl_accuracy of_sums, const tsl_problem *problem) {
  of_sums.factor += tsl_type(problem->c.type)->is_complex ? 4 : 0;
  return of_sums;
}

/* Returns operands without data, with the problem's strides. */
static inline tsl_operands tsl_strides_of(const tsl_problem *problem) {
  return (tsl_operands){.a = {.row_stride = problem->a.row_stride, .col_stride = problem->a.col_stride},
                        .b = {.row_stride = problem->b.row_stride, .col_stride = problem->b.col_stride},
                        .c = {.row_stride = problem->c.row_stride, .col_stride = problem->c.col_stride}};
}

/* Returns the call of a general product of one type with these operands. */
static inline tsl_call tsl_call_of(const tsl_problem *problem, const tsl_operands *operands) {
  const tsl_operand *a = &operands->a, *b = &operands->b, *c = &operands->c;
  tsl_call call = {.type = problem->c.type,
                   .m = problem->m,
                   .n = problem->n,
                   .k = problem->k,
                   .a = {a->host, a->row_stride, a->col_stride, problem->conjugate_a},
                   .b = {b->host, b->row_stride, b->col_stride, problem->conjugate_b},
                   .c = {c->host, c->row_stride, c->col_stride, false}};
  tsl_call_scale(&call, problem->alpha, problem->beta);
  return call;
}

/* Returns a view of `shape` without data, with the strides of `strides`, neither swapped nor transposed. */
static inline tsl_view tsl_view_as_given(const tsl_shape *shape, const tsl_operand *strides) {
  return (tsl_view){.row_stride = strides->row_stride,
                    .col_stride = strides->col_stride,
                    .structure = shape->structure,
                    .triangle = shape->triangle};
}

/* Returns the problem's views with the strides of `strides`. In place, the general factor has C's strides. */
static inline tsl_views tsl_views_as_given(const tsl_problem *problem, const tsl_operands *strides) {
  const bool in_place = problem->in_place, holds_a = in_place && problem->a.structure == TESELA_GENERAL,
             holds_b = in_place && problem->b.structure == TESELA_GENERAL;
  const bool reads = tsl_problem_reads(problem, TSL_OPERAND_A) || tsl_problem_reads(problem, TSL_OPERAND_B);
  return (tsl_views){.m = problem->m,
                     .n = problem->n,
                     .k = reads ? problem->k : 0,
                     .a = tsl_view_as_given(&problem->a, holds_a ? &strides->c : &strides->a),
                     .b = tsl_view_as_given(&problem->b, holds_b ? &strides->c : &strides->b),
                     .c = tsl_view_as_given(&problem->c, &strides->c),
                     .conjugates_a = problem->conjugate_a,
                     .conjugates_b = problem->conjugate_b,
                     .in_place = in_place};
}

/* Returns the views with the strides of `strides`, oriented (host/host_view.h). */
static inline tsl_views tsl_views_of(const tsl_problem *problem, const tsl_operands *strides) {
  tsl_views views = tsl_views_as_given(problem, strides);
  tsl_views_orient(&views);
  return views;
}
/* Sets the addresses of the views to the operands of a run, which have the views' strides. `size` and
 * `c_size` are the bytes of an element of A and B, and of C. */
static inline void tsl_views_bind_operands(tsl_views *views, const tsl_operands *operands, int64_t size,
                                           int64_t c_size) {
  tsl_views_bind(views, &(tsl_view){.at = operands->a.host, .packed = operands->a.packed},
                 &(tsl_view){.at = operands->b.host, .packed = operands->b.packed}, operands->c.host, size,
                 c_size);
}

/* Returns true if `operand` (TSL_OPERAND_A or _B) is the views' A: views of C' exchange A and B. */
static inline bool tsl_views_take_as_a(const tsl_views *views, int operand) {
  return (operand == TSL_OPERAND_A) != views->is_swapped;
}

/* Returns the bytes of operands that a repeated product reads without a delay, for models: twice the second
 * cache. Half stays there; the last cache delivers the rest during the arithmetic. */
double tsl_near_bytes(const tsl_device *device);
/* Returns the clocks by which lines of C delay a product of few steps beyond the first-level cache; 0 without
 * two whole multiply-adds a clock. Measured on a Xeon. */
double tsl_written_clocks(const tsl_problem *problem, const tsl_device *device);
/* Returns true if dozens of cores share the last cache, with about three times a small cache's latency. */
bool tsl_last_cache_is_far(const tsl_device *device);
/* Returns the speed of a near last cache relative to DRAM for `bytes` bytes of operands; 1: too many. */
double tsl_rest_speed(const tsl_device *device, double bytes);

enum { TSL_JOB_MOST = 1024 }; /* maximum bytes of a job */

struct tsl_host_job_ops {
  size_t size; /* bytes of a job, at most TSL_JOB_MOST */
  /* Fills `job`, `size` bytes, for operands with the strides of `strides`, which has no data. */
  void (*make)(const tsl_problem *problem, const tsl_operands *strides, const tsl_config *config,
               const tsl_device *device, void *job);
  /* Runs a job on operands with the strides that it was made for. */
  tesela_status (*run)(const void *job, const tsl_operands *operands);
  /* Returns the bytes of an operand's packed form (strategy.h: packing); NULL: the strategy packs nothing. */
  size_t (*form_bytes)(const void *job, int operand);
  /* Writes the packed form of operand A or B to `dst`, form_bytes() bytes, with the team's threads. */
  void (*make_form)(const void *job, int operand, const tsl_operands *operands, void *dst, tsl_team team);
};

/* Implements build() of a descriptor with `jobs`; run(), release() and packing follow. */
tesela_status tsl_job_build(tsl_work *work);
/* Runs the job of build(), or a new job where the operands have other strides. */
tesela_status tsl_job_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_job_release(tsl_work *work);
size_t tsl_job_form_bytes(const tsl_work *work, int operand);
void tsl_job_make_form(const tsl_work *work, int operand, const tsl_operand *from, void *dst, tsl_team team);

/* Returns the job that build() made, owned by the work. */
const void *tsl_job_of(const tsl_work *work);

#endif

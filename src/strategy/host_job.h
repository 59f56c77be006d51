/* What strategies in C share around their loops: how operands of a run become views, and jobs. A job is all
 * that is found out about a problem on operands with certain strides: which kernels, which schedule, how it
 * is cut. build() makes the one for the problem's own strides. A run may bring others (a packed copy's): then
 * it makes a job for these. */
#ifndef TSL_STRATEGY_HOST_JOB_H
#define TSL_STRATEGY_HOST_JOB_H

#include "host/host_view.h"
#include "strategy/strategy.h"

/* Operands that lie nowhere, with the problem's strides. */
static inline tsl_operands tsl_strides_of(const tsl_problem *problem) {
  return (tsl_operands){.a = {.row_stride = problem->a.row_stride, .col_stride = problem->a.col_stride},
                        .b = {.row_stride = problem->b.row_stride, .col_stride = problem->b.col_stride},
                        .c = {.row_stride = problem->c.row_stride, .col_stride = problem->c.col_stride}};
}

static inline tsl_view tsl_view_as_given(const tsl_shape *shape, const tsl_operand *strides) {
  return (tsl_view){.row_stride = strides->row_stride,
                    .col_stride = strides->col_stride,
                    .structure = shape->structure,
                    .triangle = shape->triangle};
}

/* The problem on operands with these strides. In place, the general factor has C's. */
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

/* The same, oriented (host/host_view.h); and bound to a run's operands with the same strides. */
static inline tsl_views tsl_views_of(const tsl_problem *problem, const tsl_operands *strides) {
  tsl_views views = tsl_views_as_given(problem, strides);
  tsl_views_orient(&views);
  return views;
}
static inline void tsl_views_bind_operands(tsl_views *views, const tsl_operands *operands, int64_t size,
                                           int64_t c_size) {
  tsl_views_bind(views, &(tsl_view){.at = operands->a.host, .packed = operands->a.packed},
                 &(tsl_view){.at = operands->b.host, .packed = operands->b.packed}, operands->c.host, size,
                 c_size);
}

/* Whether such views take this operand for A. */
static inline bool tsl_views_take_as_a(const tsl_views *views, int operand) {
  return (operand == TSL_OPERAND_A) != views->is_swapped;
}

/* For models: bytes of operands that cost nothing beside the arithmetic when a product is called again. The
 * second cache holds half of them; what it lost comes from the last one while there is something to multiply.
 */
double tsl_near_bytes(const tsl_device *device);
/* Whether the last cache is far away: one as large as this serves dozens of cores, and takes three times as
 * long as a small one. */
bool tsl_last_cache_is_far(const tsl_device *device);
/* How many times as fast as from memory the rest of so many bytes arrives: from a last cache that is near and
 * holds them. */
double tsl_rest_speed(const tsl_device *device, double bytes);

enum { TSL_JOB_MOST = 1024 }; /* bytes of a job */

/* A strategy's jobs. */
struct tsl_host_job_ops {
  size_t size; /* of one, at most TSL_JOB_MOST */
  void (*make)(const tsl_problem *problem, const tsl_operands *strides, const tsl_config *config,
               const tsl_device *device, void *job);
  /* On operands with the strides that it was made for. */
  tesela_status (*run)(const void *job, const tsl_operands *operands);
  /* Of strategies that pack: the form that run() makes of an operand, as the descriptor's `packing` has it.
   */
  size_t (*form_bytes)(const void *job, int operand);
  void (*make_form)(const void *job, int operand, const tsl_operands *operands, void *dst, tsl_team team);
};

/* A descriptor with `jobs` has these as its build(), run(), release() and packing. */
tesela_status tsl_job_build(tsl_work *work);
tesela_status tsl_job_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_job_release(tsl_work *work);
size_t tsl_job_form_bytes(const tsl_work *work, int operand);
void tsl_job_make_form(const tsl_work *work, int operand, const tsl_operand *from, void *dst, tsl_team team);

/* The job that build() made. */
const void *tsl_job_of(const tsl_work *work);

#endif

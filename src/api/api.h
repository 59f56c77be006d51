/* What the public calls share: the structs behind the opaque types, and the one way from a caller's
 * description to a problem and operands. */
#ifndef TSL_API_API_H
#define TSL_API_API_H

#include "api/fast_call.h"
#include "api/plan_cache.h"
#include "api/struct_abi.h"
#include "base/cancel.h"
#include "base/fork_mutex.h"
#include "base/memory.h"
#include "base/strides.h"
#include "plan/plan.h"
#include "plan/run_slot.h"
#include "planner/planner_wisdom.h"

#include <pthread.h>
#include <stdatomic.h>

struct tsl_dispatch_key;

/* What was measured before, for any number of plans that are being made. */
typedef struct tsl_shared_wisdom {
  tsl_wisdom *wisdom;
  atomic_int holders;
} tsl_shared_wisdom;

struct tesela_context {
  tsl_devices *devices;
  char device[TSL_DEVICE_NAME]; /* "auto" when nothing was named */
  atomic_uint_least64_t
      number;  /* tells it from all others of the process, and from itself with other wisdom, or 0 */
  int threads; /* 0: the device's own number */
  tsl_numeric_requirements ask; /* of calls that ask for nothing themselves */
  uint64_t measure;             /* likewise: the seed of samples; 0: errors are not measured */
  bool asks;                    /* for anything */
  tsl_fork_mutex lock;          /* of what follows */
  atomic_bool threads_applied;  /* written under it */
  tsl_shared_wisdom *known;     /* NULL until the first plan is chosen */
  char *own_wisdom;             /* its records but for the library's, as text; NULL: none */
  const char *shipped_wisdom;   /* the library's, or "" */
  tsl_plan_cache cache;         /* has its own lock */
};

/* What is known of an operand of a plan before a run: how far it reaches from element (0, 0). */
typedef struct tsl_address_range {
  const char *name;     /* "a", of a dot "x" */
  int64_t below, above; /* elements in front of element (0, 0), and from it to the end */
  size_t size, align;   /* bytes of an element, and of what it must be aligned to */
  bool used;            /* read or written */
  bool dense;
} tsl_address_range;

struct tesela_plan {
  tsl_plan *plan;
  tsl_fast_call direct; /* without `run` elsewhere than in host memory */
  tsl_address_range reach[TSL_GIVEN];
  size_t workspace; /* bytes that queued runs need */
  uint64_t measure; /* errors of its runs, on samples by this seed; 0: not */
  bool measures;    /* by its description */
};

struct tesela_packed {
  char *plan; /* the text of the plans that it was made for */
  int operand;
  void *memory;
  tsl_operand used; /* as runs want it */
};

/* A buffer's own stream, for copies one at a time; made at the first one. */
typedef struct tsl_transport {
  pthread_mutex_t lock;
  tsl_stream *stream;
} tsl_transport;

struct tesela_buffer {
  tsl_buffer *memory;
  tsl_transport *transport; /* in the same block */
};

struct tesela_stream {
  tsl_device *device;
  tsl_stream *stream;
  tsl_buffer *workspace; /* NULL: nothing was reserved */
};

struct tesela_event {
  tsl_device *device;
  tsl_event *event;
  bool is_recorded;
};

/* The device that a call names, or the context's; where that is "auto", the one with the highest peak.
 * Opened. */
tesela_status tsl_api_chosen_device(tesela_context *context, const char *name, tsl_device **device);

/* Checks a device's name, "auto" included, and copies it. `field` is where it came from, for the sentence. */
tesela_status tsl_api_device_name(const char *name, const char *field, char out[TSL_DEVICE_NAME]);

/* The context's devices, with the context's limits applied. */
tesela_status tsl_api_devices(tesela_context *context, tsl_devices **devices);

/* What was measured before, read at the first call; to be released, which takes NULL. */
tesela_status tsl_api_wisdom(tesela_context *context, tsl_shared_wisdom **known);
void tsl_api_wisdom_release(tsl_shared_wisdom *known);
/* Takes records that were measured now, in place of those of one identity. */
tesela_status tsl_api_wisdom_learn(tesela_context *context, const char *records);
/* The context ends. */
void tsl_api_wisdom_end(tesela_context *context);

/* A caller's description, whatever its operation: operands as matrices (a vector is one of one row or
 * column), and what its fields are called in sentences. */
typedef struct tsl_request {
  tsl_op op;
  int64_t m, n, k;
  const char *sizes[TSL_OPERANDS]; /* "desc.m", ...: the fields of m, n and k */
  tesela_matrix matrices[TSL_OPERANDS];
  const char *fields[TSL_OPERANDS]; /* "desc.a", ... */
  tesela_structure structures[TSL_OPERANDS];
  tesela_triangle triangles[TSL_OPERANDS]; /* of what is stored */
  bool in_place;
  tesela_vector bias;
  tesela_bias_axis bias_axis;
  tesela_activation activation;
  tesela_vector scale_a, scale_b;
  tesela_scaling scaling_a, scaling_b;
  const double *alpha, *beta;
  const char *device, *strategy;
  int64_t runs; /* of a plan for the caller to keep */
  double effort;
  const char *accuracy, *bits;               /* NULL: the context's */
  uint64_t measure;                          /* 0: the context's */
  const tesela_shards *pieces[TSL_OPERANDS]; /* of operands that lie so; else NULL */
} tsl_request;

/* What is written, as requests have it. */
static inline tesela_matrix tsl_api_as_matrix(const tesela_result *result) {
  return (tesela_matrix){.data = result->data,
                         .buffer = result->buffer,
                         .offset = result->offset,
                         .row_stride = result->row_stride,
                         .col_stride = result->col_stride,
                         .transpose = result->transpose,
                         .type = result->type};
}
/* A vector of the last step, likewise: its strides are the plan's. */
static inline tesela_matrix tsl_api_as_line(const tesela_vector *vector) {
  return (tesela_matrix){
      .data = vector->data, .buffer = vector->buffer, .offset = vector->offset, .type = vector->type};
}
/* The operands of a run as matrices. A vector that has no place is not given: nobody asked for it, or it is
 * missing. */
typedef struct tsl_api_operands {
  tesela_matrix c, lines[TSL_GIVEN - TSL_OPERANDS];
  const tesela_matrix *given[TSL_GIVEN];
} tsl_api_operands;
void tsl_api_as_operands(const tesela_matrix *a, const tesela_matrix *b, const tesela_result *c,
                         const tesela_epilogue *finish, tsl_api_operands *out);
/* Whether anything of a matrix is said that a call in place takes from its result. */
bool tsl_api_is_given(const tesela_matrix *matrix);
/* Refuses a result whose reserved fields are in use. */
tesela_status tsl_api_reserved(const tesela_result *result, const char *field);

/* The operands of a dot as matrices; those that are not given are NULL. */
typedef struct tsl_api_vectors {
  tesela_matrix matrices[TSL_OPERANDS];
  const tesela_matrix *given[TSL_GIVEN];
} tsl_api_vectors;
void tsl_api_as_matrices(const tesela_vector *x, const tesela_vector *y, const tesela_scalar *result,
                         tsl_api_vectors *out);

/* Strides of a matrix that is rows x cols as it takes part, transposed where the caller says so. */
static inline void tsl_api_strides(const tesela_matrix *matrix, int64_t rows, int64_t cols,
                                   int64_t *row_stride, int64_t *col_stride) {
  int64_t row, col;
  tsl_strides_take(matrix->row_stride, matrix->col_stride, matrix->transpose ? rows : cols, &row, &col);
  *row_stride = matrix->transpose ? col : row;
  *col_stride = matrix->transpose ? row : col;
}

/* The problem of a request: the place where defaults become values and transposes strides. Sentences name the
 * field. tsl_problem_check() is the caller's. */
tesela_status tsl_api_problem(const tsl_request *request, tsl_problem *problem);
/* That, checked, where its operands are, and the device that is asked for ("auto": any). What the key has of
 * operands in pieces is the caller's, for tsl_api_request_end(). */
tesela_status tsl_api_request(const tesela_context *context, const tsl_request *request, tsl_call_key *key);
void tsl_api_request_end(tsl_call_key *key);

/* Whether a request is one of operands in pieces, or in buffers on any of several devices that it names
 * together; and what that makes of the key: place, device and spread. */
bool tsl_api_is_spread(const tesela_context *context, const tsl_request *request);
tesela_status tsl_api_spread(const tesela_context *context, const tsl_request *request, tsl_call_key *key);
/* One run of a plan for such; operands are those of the request, or of a run. */
tesela_status tsl_api_run_spread(tesela_plan *plan, const char *where,
                                 const tesela_shards *const shards[TSL_OPERANDS], tesela_record *record);
tesela_status tsl_api_call_spread(tesela_plan *plan, const tsl_request *request, tesela_record *record);
/* A run by matrices in buffers, of operands that are one piece each. */
tesela_status tsl_api_run_single(tesela_plan *plan, const tesela_matrix *const matrix[TSL_GIVEN],
                                 tesela_record *record);
/* Runs a plan and fills the record. */
tesela_status tsl_api_run_timed(tesela_plan *plan, const tsl_operands *operands, tesela_record *record);

/* Whether the error of what is requested is measured: the seed, or 0. */
static inline uint64_t tsl_api_seed(const tesela_context *context, const tsl_request *request) {
  if (request->op == TSL_OP_SOLVE)
    return 0; /* no sample tells it */
  return request->measure != 0 ? request->measure : context->measure;
}
/* Has the error of each run of a plan measured, by samples of this seed; 0: not. */
static inline void tsl_api_measure(tesela_plan *plan, uint64_t seed) {
  if (plan->plan->work.problem.op == TSL_OP_SOLVE || plan->plan->spread)
    seed = 0;
  plan->measure = seed;
  if (seed != 0)
    plan->direct.run = NULL;
}

/* Plans for the planner's choice, or around one that was parsed. */
tesela_status tsl_api_plan(tesela_context *context, const tsl_call_key *key, tesela_plan **plan);
tesela_status tsl_api_plan_around(tsl_plan *plan, tesela_plan **out);
/* The context's plan for a key, made where there is none; to be given back. */
tesela_status tsl_api_cached_plan(tesela_context *context, const tsl_call_key *key, tsl_cached_plan **cached);
/* The plan of a request, for the caller to keep, who has none before; and one run of a request on a cached
 * plan. What comes of it is learnt by `as`, where the dispatch cache has a key for the call, else NULL. */
tesela_status tsl_api_begin_plan(tesela_plan **plan);
tesela_status tsl_api_create(tesela_context *context, const tsl_request *request, tesela_plan **plan);
tesela_status tsl_api_call(tesela_context *context, const tsl_request *request,
                           const struct tsl_dispatch_key *as, tesela_record *record);
/* The same for a record of the caller's size, of calls that have no key. */
tesela_status tsl_api_call_once(tesela_context *context, const tsl_request *request, tesela_record *record,
                                size_t record_size);

/* Refuses an operand that is said to be in two places: of data, buffer and packed at most one is given.
 * `where` and `name` are the field's, for the sentence. */
tesela_status tsl_api_one_place(const tesela_matrix *matrix, const char *where, const char *name);

/* A description as a request. */
tesela_status tsl_api_gemm_request(const tesela_context *context, const tesela_gemm_desc *desc,
                                   tsl_request *request);
tesela_status tsl_api_dot_request(const tesela_context *context, const tesela_dot_desc *desc,
                                  tsl_request *request);
tesela_status tsl_api_transpose_request(const tesela_context *context, const tesela_transpose_desc *desc,
                                        tsl_request *request);

tesela_status tsl_api_solve_request(const tesela_context *context, const tesela_solve_desc *desc,
                                    tsl_request *request);

/* Checks a packed operand against the plan and the place where it is given; `where` as below. */
tesela_status tsl_api_packed(const tesela_plan *plan, const char *where, int operand,
                             const tesela_matrix *matrix, tsl_operand *out);

/* Checks an operand in host memory, or in a buffer of the plan's device, likewise. */
tesela_status tsl_api_host_operand(const tsl_address_range *reach, const char *where,
                                   const tesela_matrix *matrix, tsl_operand *out);
tesela_status tsl_api_device_operand(const tesela_plan *plan, const tsl_address_range *reach,
                                     const char *where, const tesela_matrix *matrix, tsl_operand *out);

/* Checks the operands of one run against the plan, and says where they are; `where` as below. */
tesela_status tsl_api_gather(const tesela_plan *plan, const char *where,
                             const tesela_matrix *const matrix[TSL_GIVEN], tsl_operands *out);

/* Checks the operands of one run against the plan and runs it. `where` stands in front of the fields' names
 * in sentences: "desc." or "". `measure`, where it is not 0, is the seed of a sample on which the error is
 * measured. */
tesela_status tsl_api_run(tesela_plan *plan, const char *where, const tesela_matrix *const matrix[TSL_GIVEN],
                          uint64_t measure, tesela_record *record);

/* One run of a plan by its caller, who thinks that it is one of `op`. */
tesela_status tsl_api_run_plan(tesela_plan *plan, tsl_op op, const tesela_matrix *const matrix[TSL_GIVEN],
                               tesela_record *record, size_t record_size);

/* The direct way of a plan whose reach is known. */
tsl_fast_call tsl_api_direct(const tesela_plan *plan);
/* What it has to look at, of operands that are all used. */
void tsl_api_direct_reach(const tsl_address_range reach[TSL_OPERANDS], tsl_fast_call *direct);
tsl_address_range tsl_api_reach(const tsl_shape *shape, const char *name, bool used);

/* A plain product of one real type in host memory, as fast paths take it. */
tsl_fast_product tsl_api_fast_product(const tsl_problem *problem, const void *a, const void *b, void *c);
/* Whether nothing is unusual about the operands of a run, so that it may go there. */
static inline bool tsl_api_runs_directly(const tesela_plan *plan, const tesela_matrix *a,
                                         const tesela_matrix *b, const tesela_matrix *c) {
  return plan->direct.run && a && b && c && !a->buffer && !a->packed && !b->buffer && !b->packed &&
         !c->buffer && tsl_fast_call_supports(&plan->direct, a->data, b->data, c->data);
}

#endif

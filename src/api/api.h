/* Opaque types of the public interface, and conversion of descriptions into problems and operands. */
#ifndef TSL_API_API_H
#define TSL_API_API_H

#include "api/struct_abi.h"
#include "core/cancel.h"
#include "core/fork_mutex.h"
#include "core/memory.h"
#include "core/strides.h"
#include "dispatch/fast_call.h"
#include "dispatch/plan_cache.h"
#include "judge/judge_verify.h"
#include "plan/plan.h"
#include "plan/run_slot.h"
#include "planner/planner_wisdom.h"
#include "problem/verify_mode.h"

#include <pthread.h>
#include <stdatomic.h>

struct tsl_dispatch_key;

/* Checks of a run's result. */
typedef struct tsl_api_checks {
  uint64_t seed;            /* seed for measuring the error; 0: not measured */
  tsl_verify_mode verify;   /* verification of the whole result */
  bool verifies_by_default; /* true if the context chose `verify`: results without checksums are not verified
                             */
} tsl_api_checks;
static inline bool tsl_api_has_checks(tsl_api_checks checks) {
  return checks.seed != 0 || checks.verify != TSL_VERIFY_NONE;
}

typedef struct tsl_shared_wisdom {
  tsl_wisdom *wisdom;
  atomic_int holders; /* references */
} tsl_shared_wisdom;

struct tesela_context {
  tsl_devices *devices;
  char device[TSL_DEVICE_NAME]; /* default device of calls; "auto" if none was named */
  atomic_uint_least64_t
      /* key of the context and its wisdom in the dispatch cache, unique in the process; 0: nothing is
       * cached */
      number;
  int threads;                  /* maximum number of threads; 0: the device's own number */
  tsl_numeric_requirements ask; /* default accuracy and reproducibility of calls */
  tsl_api_checks checks;        /* default checks of results */
  bool asks;                    /* true if ask or checks differ from the library's defaults */
  tsl_fork_mutex lock;          /* protects the members below, except for cache */
  atomic_bool threads_applied;  /* written under lock */
  tsl_shared_wisdom *known;     /* NULL until the first plan is chosen */
  char *own_wisdom;             /* the context's own records as text; NULL: none */
  const char *shipped_wisdom;   /* the library's records as text, or "" */
  tsl_plan_cache cache;         /* has its own lock */
};

/* Extent of an operand around its element (0, 0), known before a run. */
typedef struct tsl_address_range {
  const char *name;     /* name of the caller's member, such as "a", or "x" of a dot */
  int64_t below, above; /* elements before element (0, 0), and elements from it to the end */
  size_t size, align;   /* bytes of an element, and its alignment in bytes */
  bool used;            /* true if the operand is read or written */
  bool dense;           /* no gaps between elements */
} tsl_address_range;

struct tesela_plan {
  tsl_plan *plan;
  tsl_fast_call direct; /* shortcut for plain operands in host memory; run is NULL if there is none */
  tsl_address_range reach[TSL_ALL_OPERANDS];
  size_t workspace;      /* bytes that a queued run needs */
  tsl_api_checks checks; /* checks of each run */
  bool has_own_checks;   /* true if the plan's description set measure_error or verify */
  tesela_batch batch;    /* distances of the products of a queued run; count 0: one product */
  struct tsl_plan_race
      *race; /* race with the second candidate, for one-shot calls (tune/plan_race.h); or NULL */
};

struct tesela_packed {
  char *plan;       /* text of the plans that this operand fits; owned */
  int operand;      /* TSL_OPERAND_A or TSL_OPERAND_B */
  void *memory;     /* owned; released with the operand */
  tsl_operand used; /* operand for runs of these plans, in `memory` */
};

/* Lazily created stream of a buffer, on which the buffer's copies run one at a time. */
typedef struct tsl_transport {
  pthread_mutex_t lock;
  tsl_stream *stream;
} tsl_transport;

struct tesela_buffer {
  tsl_buffer *memory;
  tsl_transport *transport; /* allocated in the same block as the buffer */
};

struct tesela_stream {
  tsl_device *device;
  tsl_stream *stream;
  tsl_buffer *workspace; /* memory of tesela_stream_reserve(); NULL: none */
};

struct tesela_event {
  tsl_device *device;
  tsl_event *event;
  bool is_recorded;
};

/* Opens the device of this name; NULL: the context's. "auto" is the device with the highest peak. */
tesela_status tsl_api_chosen_device(tesela_context *context, const char *name, tsl_device **device);

/* Copies a device name to out. TESELA_BAD_CALL: invalid name. `field` names its source in messages. */
tesela_status tsl_api_device_name(const char *name, const char *field, char out[TSL_DEVICE_NAME]);

/* Returns the context's devices, which the context owns, after applying the context's thread limit. */
tesela_status tsl_api_devices(tesela_context *context, tsl_devices **devices);

/* Returns the context's wisdom, which the first call reads. Release it with tsl_api_wisdom_release(). */
tesela_status tsl_api_wisdom(tesela_context *context, tsl_shared_wisdom **known);
/* Releases a reference; NULL is allowed. */
void tsl_api_wisdom_release(tsl_shared_wisdom *known);
/* Adds measured records to the context's own; they replace records of the same identity. */
tesela_status tsl_api_wisdom_learn(tesela_context *context, const char *records);
/* Frees the wisdom of a context that is being destroyed. */
void tsl_api_wisdom_end(tesela_context *context);

/* One call of any operation, as a product's description. Vectors are matrices of one row or column, with 1 as
 * their other stride; a dot has one row and column, a transpose no B, and a solve its system as B. */
typedef struct tsl_request {
  tsl_op op;
  tesela_gemm_desc desc;            /* in place, the general factor is C */
  const char *sizes[TSL_OPERANDS];  /* names of the caller's members that hold m, n and k: "desc.m", ... */
  const char *fields[TSL_OPERANDS]; /* names of the members that hold the operands: "desc.a", ... */
} tsl_request;

/* Returns the description's epilogue; an empty one if it has none. */
static inline const tesela_epilogue *tsl_api_epilogue(const tesela_gemm_desc *desc) {
  static const tesela_epilogue none;
  return desc->epilogue ? desc->epilogue : &none;
}

/* Returns operand A, B or C. */
static inline tesela_matrix tsl_api_matrix(const tsl_request *request, int operand) {
  return operand == TSL_OPERAND_A   ? request->desc.a
         : operand == TSL_OPERAND_B ? request->desc.b
                                    : tsl_api_as_matrix(&request->desc.c);
}
/* Returns an epilogue vector as a matrix without strides; the strides are the plan's. */
static inline tesela_matrix tsl_api_as_line(const tesela_vector *vector) {
  return (tesela_matrix){
      .data = vector->data, .buffer = vector->buffer, .offset = vector->offset, .type = vector->type};
}
/* Returns a description with the run's operands, and without sizes. */
static inline tesela_gemm_desc tsl_api_desc_of(const tesela_operands *operands) {
  return (tesela_gemm_desc){.a = operands->a ? *operands->a : (tesela_matrix){.data = NULL},
                            .b = operands->b ? *operands->b : (tesela_matrix){.data = NULL},
                            .c = operands->c ? *operands->c : (tesela_result){.data = NULL}};
}
/* Operands of one run as matrices. given[i] points to `copies` or to the caller's matrix; NULL: not given. */
typedef struct tsl_api_operands {
  tesela_matrix copies[TSL_ALL_OPERANDS];
  const tesela_matrix *given[TSL_ALL_OPERANDS];
} tsl_api_operands;
/* Fills out. TESELA_BAD_CALL: an operand is given that the operation has not. */
tesela_status tsl_api_as_operands(const tesela_operands *operands, tsl_op op, tsl_api_operands *out);
/* Returns true if any member is set of a matrix that must be empty in place. */
bool tsl_api_is_given(const tesela_matrix *matrix);
/* Returns TESELA_BAD_CALL if a reserved member is set. */
tesela_status tsl_api_reserved(const tesela_result *result, const char *field);

/* Returns a vector as one row or column. The stride across the vector is 1, since 0 would mean a default. */
tesela_matrix tsl_api_vector_as_matrix(const tesela_vector *vector, bool as_row);
/* Returns the scalar as a 1 x 1 matrix. */
tesela_matrix tsl_api_scalar_as_matrix(const tesela_scalar *result);

/* Returns strides in elements of a rows x cols operand, after `transpose` and defaults were applied. */
static inline void tsl_api_strides(const tesela_matrix *matrix, int64_t rows, int64_t cols,
                                   int64_t *row_stride, int64_t *col_stride) {
  int64_t row, col;
  tsl_strides_from_caller(matrix->row_stride, matrix->col_stride, matrix->transpose ? rows : cols, &row,
                          &col);
  *row_stride = matrix->transpose ? col : row;
  *col_stride = matrix->transpose ? row : col;
}

/* Builds a problem with defaults and transposes applied; the caller must call tsl_problem_check(). */
tesela_status tsl_api_problem(const tsl_request *request, tsl_problem *problem);
/* Builds and checks a request's key. Free its shards with tsl_api_request_end(). */
tesela_status tsl_api_request(const tesela_context *context, const tsl_request *request, tsl_call_key *key);
/* Frees the key's shards. */
void tsl_api_request_end(tsl_call_key *key);

/* Returns true if operands are in shards, or in buffers of any of several named devices. */
bool tsl_api_is_spread(const tesela_context *context, const tsl_request *request);
/* Fills place, device and spread of the key of a request for which tsl_api_is_spread() is true. */
tesela_status tsl_api_spread(const tesela_context *context, const tsl_request *request, tsl_call_key *key);
/* Runs a plan for several devices on the request's own shards or buffers. */
tesela_status tsl_api_call_spread(tesela_plan *plan, const tsl_request *request, tesela_record *record);
/* Runs a plan for several devices. Each operand is in shards, or one buffer. */
tesela_status tsl_api_run_single(tesela_plan *plan, const tesela_matrix *const matrix[TSL_ALL_OPERANDS],
                                 tesela_record *record);
/* Runs a plan on checked operands and fills the record, which may be NULL. */
tesela_status tsl_api_run_timed(tesela_plan *plan, const tsl_operands *operands, tesela_record *record);

/* Gets the checks of the request's result. A solve has no sample that shows its error. TESELA_BAD_CALL: an
 * unknown word. */
tesela_status tsl_api_checks_of(const tesela_context *context, const tsl_request *request,
                                tsl_api_checks *checks);
/* Makes each run check its result, without the shortcut. Operands on several devices are never checked, and
 * errors of solves never measured. */
static inline void tsl_api_set_checks(tesela_plan *plan, tsl_api_checks checks) {
  if (plan->plan->work.problem.op == TSL_OP_SOLVE)
    checks.seed = 0;
  if (plan->plan->spread)
    checks = (tsl_api_checks){0};
  plan->checks = checks;
  if (tsl_api_has_checks(checks))
    plan->direct.run = NULL;
}

/* Creates the plan that the planner chooses for a key. The caller owns *plan. */
tesela_status tsl_api_plan(tesela_context *context, const tsl_call_key *key, tesela_plan **plan);
/* Wraps an inner plan in a public one, which takes ownership. After a failure plan is destroyed. */
tesela_status tsl_api_plan_around(tsl_plan *plan, tesela_plan **out);
/* Finds or creates the plan of a key. Give it back with tsl_plan_cache_give_back(). */
tesela_status tsl_api_cached_plan(tesela_context *context, const tsl_call_key *key, tsl_cached_plan **cached);
/* Sets *plan to NULL. TESELA_BAD_CALL: plan is NULL. */
tesela_status tsl_api_begin_plan(tesela_plan **plan);
/* Creates the plan of a request for `count` products at equal distances: of one product if no strategy
 * supports the batch. The caller owns *plan. */
tesela_status tsl_api_create(tesela_context *context, const tsl_request *request, int64_t count,
                             tesela_plan **plan);
/* Runs a request once on a cached plan, which its dispatch key `as` then finds; NULL: no key. */
tesela_status tsl_api_call(tesela_context *context, const tsl_request *request,
                           const struct tsl_dispatch_key *as, tesela_record *record);
/* Runs a request once, without a dispatch key. record has record_size bytes. */
tesela_status tsl_api_call_once(tesela_context *context, const tsl_request *request, tesela_record *record,
                                size_t record_size);

/* Refuses an operand with several of data, buffer and packed, whose name is `where` and `name`. */
tesela_status tsl_api_one_place(const tesela_matrix *matrix, const char *where, const char *name);

/* Converts a product's description; the request borrows its memory. TESELA_BAD_CALL: NULL, or reserved
 * members set. */
tesela_status tsl_api_gemm_request(const tesela_context *context, const tesela_gemm_desc *desc,
                                   tsl_request *request);

/* Room for a description of any operation. */
typedef union tsl_api_description {
  tesela_gemm_desc gemm;
  tesela_dot_desc dot;
  tesela_transpose_desc transpose;
  tesela_solve_desc solve;
} tsl_api_description;
/* Converts a caller's description of `size` bytes; the request borrows memory of it and of `copy`. */
tesela_status tsl_api_description_request(const tesela_context *context, tesela_operation operation,
                                          const void *description, size_t size, tsl_api_description *copy,
                                          tsl_request *request);
/* Is tesela_call_sized() for operations other than products. */
tesela_status tsl_api_call_other(tesela_context *context, tesela_operation operation, const void *desc,
                                 tesela_record *record, size_t desc_size, size_t record_size);

/* Checks a packed operand against the plan. `where` prefixes names in messages. */
tesela_status tsl_api_packed(const tesela_plan *plan, const char *where, int operand,
                             const tesela_matrix *matrix, tsl_operand *out);

/* Checks an operand in host memory: address, alignment, place. */
tesela_status tsl_api_host_operand(const tsl_address_range *reach, const char *where,
                                   const tesela_matrix *matrix, tsl_operand *out);
/* Checks an operand in a buffer: device, alignment, extent. */
tesela_status tsl_api_device_operand(const tesela_plan *plan, const tsl_address_range *reach,
                                     const char *where, const tesela_matrix *matrix, tsl_operand *out);

/* Checks all operands of one run against the plan. `where` prefixes names in messages. */
tesela_status tsl_api_gather(const tesela_plan *plan, const char *where,
                             const tesela_matrix *const matrix[TSL_ALL_OPERANDS], tsl_operands *out);

/* Checks the operands and runs the plan with checks of its result. `where` is "desc." or "". */
tesela_status tsl_api_run(tesela_plan *plan, const char *where,
                          const tesela_matrix *const matrix[TSL_ALL_OPERANDS], tsl_api_checks checks,
                          tesela_record *record);

/* Logs a verification of one product, and adds it to the record, which may be NULL. */
void tsl_api_record_verified(const tesela_plan *plan, const tsl_verified *verified, double seconds,
                             tesela_record *record);

/* Returns the shortcut of a plan whose `reach` is filled; run is NULL if the plan has none. */
tsl_fast_call tsl_api_direct(const tesela_plan *plan);

/* Returns true if the plan's shortcut accepts these operands; it refuses NULL, buffers, packed operands. */
static inline bool tsl_api_runs_directly(const tesela_plan *plan, const tesela_matrix *a,
                                         const tesela_matrix *b, const tesela_matrix *c) {
  return plan->direct.run && a && b && c && !a->buffer && !a->packed && !b->buffer && !b->packed &&
         !c->buffer && tsl_fast_call_supports(&plan->direct, a->data, b->data, c->data);
}

#endif

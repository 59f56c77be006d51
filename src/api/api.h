/* What the public calls share: the structs behind the opaque types, and the one way from a caller's
 * description to a problem and operands. */
#ifndef TSL_API_API_H
#define TSL_API_API_H

#include "base/cancel.h"
#include "base/guard.h"
#include "plan/lane.h"
#include "plan/plan.h"
#include "planner/wisdom.h"

#include <pthread.h>
#include <stdatomic.h>

enum { TSL_DEVICE_NAME = sizeof((tsl_device *)0)->name };

/* What tesela_gemm() remembers its plans by. */
typedef struct tsl_call_key {
  tsl_problem problem;
  tsl_place place;
  char device[TSL_DEVICE_NAME];
  const char *strategy; /* the caller's text; NULL: the planner's choice */
} tsl_call_key;

typedef struct tsl_remembered tsl_remembered;

enum { TSL_PLANS_REMEMBERED = 64 };

struct tesela_context {
  tsl_devices *devices;
  char device[TSL_DEVICE_NAME]; /* "auto" when nothing was named */
  int threads;                  /* 0: the device's own number */
  tsl_guard lock;               /* of what follows */
  atomic_bool threads_applied;  /* written under it */
  tsl_wisdom *wisdom;           /* NULL until the first plan is chosen */
  tsl_remembered *plans[TSL_PLANS_REMEMBERED];
  uint64_t calls; /* a clock for the least recently used plan */
};

/* What is known of an operand of a plan before a run: how far it reaches from element (0, 0). */
typedef struct tsl_reach {
  const char *name;     /* "a", of a dot "x" */
  int64_t below, above; /* elements in front of element (0, 0), and from it to the end */
  size_t size, align;   /* bytes of an element, and of what it must be aligned to */
  bool used;            /* read or written */
  bool dense;
} tsl_reach;

/* What a run in host memory has to look at when nothing is wrong with it and nobody listens: a product may take less
 * time than all that a plan knows. */
typedef struct tsl_quick {
  tsl_at_once *run; /* NULL: no quick way */
  const void *state;
  uintptr_t unaligned; /* bits that no operand's address has */
  /* A and B are certain to overlap C where their address less C's and plus `from` is below `span`. */
  uintptr_t from[TSL_OPERAND_C], span[TSL_OPERAND_C];
} tsl_quick;

struct tesela_plan {
  tsl_plan *plan;
  tsl_quick quick;
  tsl_reach reach[TSL_OPERANDS];
};

struct tesela_packed {
  char *plan; /* the text of the plans that it was made for */
  int operand;
  void *memory;
  tsl_operand used; /* as runs want it */
};

/* A buffer's own stream, for copies one at a time. */
typedef struct tsl_transport {
  pthread_mutex_t lock;
  tsl_stream *stream;
} tsl_transport;

struct tesela_buffer {
  tsl_buffer *memory;
  tsl_transport *transport;
};

/* Checks a device's name, "auto" included, and copies it. `field` is where it came from, for the sentence. */
tesela_status tsl_api_device_name(const char *name, const char *field, char out[TSL_DEVICE_NAME]);

/* The context's devices, with the context's limits applied. */
tesela_status tsl_api_devices(tesela_context *context, tsl_devices **devices);

/* What was measured before, read at the first call. */
tesela_status tsl_api_wisdom(tesela_context *context, const tsl_wisdom **wisdom);

/* A caller's description, whatever its operation: operands as matrices (a vector is one of one row or column), and
 * what its fields are called in sentences. */
typedef struct tsl_request {
  tsl_op op;
  int64_t m, n, k;
  const char *sizes[TSL_OPERANDS]; /* "desc.m", ...: the fields of m, n and k */
  tesela_matrix matrices[TSL_OPERANDS];
  const char *fields[TSL_OPERANDS]; /* "desc.a", ... */
  bool in_place;
  const double *alpha, *beta;
  const char *device, *strategy;
} tsl_request;

/* From a request to the problem, where its operands are, and the device that is asked for ("auto": any): the only
 * place where defaults become values and transposes become strides. Sentences name the field. */
tesela_status tsl_api_request(const tesela_context *context, const tsl_request *request, tsl_call_key *key);

/* Plans for the planner's choice, or around one that was parsed. */
tesela_status tsl_api_plan(tesela_context *context, const tsl_call_key *key, tesela_plan **plan);
tesela_status tsl_api_plan_around(tsl_plan *plan, tesela_plan **out);
/* The plan of a request, for the caller to keep; and one run of a request on a remembered plan. */
tesela_status tsl_api_create(tesela_context *context, const tsl_request *request, tesela_plan **plan);
tesela_status tsl_api_call(tesela_context *context, const tsl_request *request, tesela_record *record);

/* Refuses an operand that is said to be in two places: of data, buffer and packed at most one is given. `where` and `name`
 * are the field's, for the sentence. */
tesela_status tsl_api_one_place(const tesela_matrix *matrix, const char *where, const char *name);

/* A product's description as a request. */
tesela_status tsl_api_gemm_request(const tesela_context *context, const tesela_gemm_desc *desc,
                                   tsl_request *request);

/* Checks a packed operand against the plan and the place where it is given; `where` as below. */
tesela_status tsl_api_packed(const tesela_plan *plan, const char *where, int operand,
                             const tesela_matrix *given, tsl_operand *out);

/* Checks an operand in host memory, or in a buffer of the plan's device, likewise. */
tesela_status tsl_api_host_operand(const tsl_reach *reach, const char *where, const tesela_matrix *given,
                                   tsl_operand *out);
tesela_status tsl_api_device_operand(const tesela_plan *plan, const tsl_reach *reach, const char *where,
                                     const tesela_matrix *given, tsl_operand *out);

/* Checks the operands of one run against the plan, and says where they are; `where` as below. */
tesela_status tsl_api_gather(const tesela_plan *plan, const char *where,
                             const tesela_matrix *const given[TSL_OPERANDS], tsl_operands *out);

/* Checks the operands of one run against the plan and runs it. `where` stands in front of the fields' names in
 * sentences: "desc." or "". */
tesela_status tsl_api_run(tesela_plan *plan, const char *where,
                          const tesela_matrix *const given[TSL_OPERANDS], tesela_record *record);

/* The quick way, for a plan whose reach is known. */
tsl_quick tsl_api_quick(const tesela_plan *plan);
/* Whether a plan that has a quick way may go it with these addresses; if not, tsl_api_run() says why. */
static inline bool tsl_api_is_quick(const tsl_quick *quick, const void *a, const void *b, const void *c) {
  const uintptr_t a_at = (uintptr_t)a, b_at = (uintptr_t)b, c_at = (uintptr_t)c;
  return a && b && c && ((a_at | b_at | c_at) & quick->unaligned) == 0 &&
         a_at - c_at + quick->from[TSL_OPERAND_A] >= quick->span[TSL_OPERAND_A] &&
         b_at - c_at + quick->from[TSL_OPERAND_B] >= quick->span[TSL_OPERAND_B];
}

/* A remembered plan for a key, or a new one. It is given back after the run; it may be forgotten meanwhile,
 * and is destroyed when the last user gave it back. */
tesela_status tsl_api_recall(tesela_context *context, const tsl_call_key *key, tsl_remembered **remembered);
/* The same if it is remembered; NULL: it is not. */
tsl_remembered *tsl_api_known(tesela_context *context, const tsl_call_key *key);
tesela_plan *tsl_api_recalled(const tsl_remembered *remembered);
void tsl_api_give_back(tesela_context *context, tsl_remembered *remembered);
void tsl_api_forget_all(tesela_context *context);
/* What was found of batches of a remembered plan's product: that no strategy takes them in one run. */
void tsl_api_refuse_batches(tsl_remembered *remembered);
bool tsl_api_refuses_batches(const tsl_remembered *remembered);

#endif

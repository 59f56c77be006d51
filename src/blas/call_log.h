/* Calls under way: from where tesela computes as itself, and what TESELA_LOG=calls tells of each. */
#ifndef TSL_BLAS_CALL_LOG_H
#define TSL_BLAS_CALL_LOG_H

#include "blas/blas_arguments.h"
#include "blas/blas_symbol.h"

/* One call under way. */
typedef struct tsl_blas_call {
  tsl_blas_symbol *symbol;
  int sizes; /* of the shape, for the log */
  int64_t shape[3];
  double flops;
  bool began, entered; /* for the table of calls; and as one of tesela's own */
  double started;      /* by tsl_clock(); 0: nobody listens */
} tsl_blas_call;

extern bool tsl_blas_logging; /* whether there is a table of calls; it changes nobody's way */

/* A call begins that tesela computes; and ends, computed by `who` ("libopenblas.so.0"), or as the record's
 * plan says. Between these two the thread computes as tesela: calls that come are passed on. */
void tsl_blas_begin(tsl_blas_call *call);
void tsl_blas_end(tsl_blas_call *call, const char *who);
void tsl_blas_end_plan(tsl_blas_call *call, const tesela_record *record);
/* Whether this thread is between the two, of how many calls. A vector of a few elements takes less time than
 * a lookup of a thread's variables by a function. */
extern _Thread_local int tsl_blas_depth __attribute__((tls_model("initial-exec")));
static inline bool tsl_blas_is_nested(void) {
  return tsl_blas_depth > 0;
}

/* Shape and work of a product. */
void tsl_blas_describe(tsl_blas_call *call, const tsl_blas_multiply *product);
/* One that is only counted, and by whom it is computed, before it begins or after that; with NULL it did not
 * come to be. */
void tsl_blas_log_begin(tsl_blas_call *call);
/* Another library has computed it. */
void tsl_blas_note_forwarded(tsl_blas_call *call);
static inline void tsl_blas_forwarded(tsl_blas_call *call) {
  if (call->began)
    tsl_blas_note_forwarded(call);
}

/* Where a plan's name goes, or NULL when nobody listens. */
tesela_record *tsl_blas_record(const tsl_blas_call *call, tesela_record *record);
void tsl_blas_forget_calls(void); /* in the child of a fork */
extern const char tsl_blas_loops_name[];

#endif

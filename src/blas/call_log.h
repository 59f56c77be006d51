#ifndef TSL_BLAS_CALL_LOG_H
#define TSL_BLAS_CALL_LOG_H

#include "blas/blas_arguments.h"
#include "blas/blas_symbol.h"

typedef struct tsl_blas_call {
  tsl_blas_symbol *symbol;
  int sizes; /* used numbers of `shape`, for the log */
  int64_t shape[3];
  double flops;
  bool began, entered; /* tsl_blas_log_begin() was called; the nesting guard is set */
  double started;      /* time by tsl_clock(); 0: not logged */
} tsl_blas_call;

extern bool tsl_blas_logging; /* calls are counted (core/call_table.h) */

/* Begins a call that tesela computes. Until its end this thread forwards all BLAS calls. */
void tsl_blas_begin(tsl_blas_call *call);
/* Ends a call, computed by `who` ("libopenblas.so.0"); NULL: not counted. */
void tsl_blas_end(tsl_blas_call *call, const char *who);
/* Ends a call, computed by the record's plan. */
void tsl_blas_end_plan(tsl_blas_call *call, const tesela_record *record);
/* Calls that this thread computes as tesela. initial-exec saves a function call for each access. */
extern _Thread_local int tsl_blas_depth __attribute__((tls_model("initial-exec")));
static inline bool tsl_blas_is_nested(void) {
  return tsl_blas_depth > 0;
}

/* Sets the call's shape, operations and operands. */
void tsl_blas_describe(tsl_blas_call *call, const tsl_blas_multiply *product);
/* Sets the operands of the table's row. */
void tsl_blas_note_operands(const tsl_blas_call *call, const tsl_blas_multiply *product, bool has_real_beta);
/* Sets the number of products of the described batch. */
void tsl_blas_note_count(int64_t count);
/* Sets the reason of the current call's route, a static text. */
void tsl_blas_set_why(const char *reason);
static inline void tsl_blas_why(const char *reason) {
  if (tsl_blas_logging)
    tsl_blas_set_why(reason);
}
/* Begins a call for the table only; tsl_blas_end() ends it. */
void tsl_blas_log_begin(tsl_blas_call *call);
/* Ends a call that another library has computed. */
void tsl_blas_note_forwarded(tsl_blas_call *call);
static inline void tsl_blas_forwarded(tsl_blas_call *call) {
  if (call->began)
    tsl_blas_note_forwarded(call);
}

/* Returns the record to fill in with the plan's name; NULL without logging. */
tesela_record *tsl_blas_record(const tsl_blas_call *call, tesela_record *record);
extern const char tsl_blas_loops_name[];

#endif

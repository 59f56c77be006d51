/* Calls routines of the drop-in by their recorded names, so that the library is the program's. */
#ifndef TSL_TOOL_RECORD_RECORD_REPLAY_H
#define TSL_TOOL_RECORD_RECORD_REPLAY_H

#include "record/record.h"

/* A call. Letters as in core/call_table.h; alpha is 1. Types are f32 and f64. */
typedef struct tsl_replay {
  char name[48];          /* of the routine, or tesela_gemm */
  void (*function)(void); /* NULL: a call of tesela's interface */
  tesela_type type;
  char order, trans_a, trans_b, uplo, side;
  int64_t m, n, k, count; /* count: of a batch; 1: none */
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  int64_t distance[TSL_CALLS_OPERANDS]; /* elements between the products of a batch */
  double beta;
} tsl_replay;

/* Loads the libraries of the recording, once. A failure has a sentence. */
tesela_status tsl_replay_open(const tsl_run_record *recording);
/* Sets name and function to the routine with `word` in place of gemm and the letter of `type`: "syrk".
 * Returns false if there is none. */
bool tsl_replay_name(const char *gemm, const char *word, tesela_type type, tsl_replay *out);
/* Sets the threads of a call in both libraries; 0: as the program had them. */
void tsl_replay_threads(int threads);

/* Computes C = A B + beta C, or a batch of products. */
tesela_status tsl_replay_gemm(const tsl_replay *call);
/* Computes the lower triangle of C = op(A) op(A)' + beta C. */
tesela_status tsl_replay_syrk(const tsl_replay *call);
/* Computes C = A B with the symmetric factor on `side`. */
tesela_status tsl_replay_symm(const tsl_replay *call);
/* Computes C = A C or C A with the triangle `uplo` of the factor on `side`. */
tesela_status tsl_replay_trmm(const tsl_replay *call);

#endif

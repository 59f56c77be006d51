/* gemm residue_int8: what its files share. */
#ifndef TSL_STRATEGY_GEMM_RESIDUE_INT8_H
#define TSL_STRATEGY_GEMM_RESIDUE_INT8_H

#include "host/isa.h"
#include "strategy/strategy.h"

#include <math.h>

#ifndef TSL_FUNCTION
#define TSL_FUNCTION static inline
#define TSL_TIMES(a, b) ((a) * (b))
#define TSL_PLUS(a, b) ((a) + (b))
#define TSL_FUSE(a, b, c) fma(a, b, c)
#endif
#include "strategy/gemm/residue_int8/residue_int8_shared.h"

enum { TSL_RESIDUE_INT8_LEAST };

/* Tables and limits of a product with so many rows, columns and terms: k of the problem counts for the guarantee. */
residue_rules tsl_residue_rules(const tsl_problem *problem, const tsl_config *config, int64_t m, int64_t n);
/* What an error may be, relative to |A||B|: what a careful sum's is, or more where that is asked for. */
double tsl_residue_allowed(const tsl_problem *problem);
/* The least number of moduli that a call may come out with, and the most that its type has. */
int tsl_residue_least(const tsl_problem *problem, const tsl_config *config);
int tsl_residue_most(const tsl_problem *problem);

/* --- on the processor --- */

/* The integer product's contract, on every device: planes A_l (a line after the other, bytes along k) and B_l, for each of the
 * moduli p_l; out come the numbers from 0 to p_l - 1 that are A_l B_l modulo p_l. Residues are from -128 to 127. Here: all planes
 * of a line follow each other, `pitch` bytes each, zeros behind the k-th. */
typedef struct tsl_residue_lines {
  const unsigned char *at;
  int64_t across, along; /* strides in elements: from line to line, and in a line */
  residue_line *lines;
  int *scales; /* final ones; NO_SCALE: native */
  signed char *planes;
} tsl_residue_lines;

typedef struct tsl_residue_job {
  const residue_rules *rules;
  residue_choice choice;
  tsl_residue_lines of[2]; /* rows of A, columns of B */
  int64_t m, n, k, pitch;
  unsigned char *c;
  int64_t c_row, c_col;
  double alpha, beta;
} tsl_residue_job;

/* Once per instruction set and type. */
typedef struct tsl_residue_kernel {
  /* Finds out what is known of a line. */
  void (*measure)(const tsl_residue_job *job, int operand, int64_t line);
  /* Makes its residues, unless it is native. */
  void (*convert)(const tsl_residue_job *job, int operand, int64_t line);
  /* Computes rows x columns elements of C. */
  void (*multiply)(const tsl_residue_job *job, int64_t row, int64_t rows, int64_t column, int64_t columns);
} tsl_residue_kernel;

#define TSL_RESIDUE_DECLARE(isa, header, needs, ...)                                                         \
  extern const tsl_residue_kernel tsl_residue_kernel_##isa##_f32, tsl_residue_kernel_##isa##_f64;
TSL_ISA_LIST(TSL_RESIDUE_DECLARE)
#undef TSL_RESIDUE_DECLARE

/* What build() leaves in work->state. */
typedef struct tsl_residue_state {
  tsl_kernel *measure, *choose, *convert, *multiply, *join, *native;
  tsl_pinned *said; /* the residue_choice of the last run on a GPU; NULL: there is no memory for it */
  _Atomic int moduli, native_lines; /* on the processor, as chosen by the last run */
} tsl_residue_state;

tesela_status tsl_residue_int8_run_host(const tsl_work *work, const tsl_operands *operands);

/* --- on NVIDIA's GPUs --- */

uint64_t tsl_residue_int8_scratch(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device);
/* Fills in a state that is there. */
tesela_status tsl_residue_int8_build_cuda(tsl_work *work);
tesela_status tsl_residue_int8_run_cuda(const tsl_work *work, const tsl_operands *operands,
                                        tsl_stream *stream);

/* Predicted seconds, and what is moved; NOTES.md has what the model was fitted to. */
double tsl_residue_int8_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device);
void tsl_residue_int8_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_account *account);

#endif

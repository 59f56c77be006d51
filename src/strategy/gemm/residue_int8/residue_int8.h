/* gemm residue_int8: what its files share. */
#ifndef TSL_STRATEGY_GEMM_RESIDUE_INT8_H
#define TSL_STRATEGY_GEMM_RESIDUE_INT8_H

#include "host/host_isa.h"
#include "host/int_math.h"
#include "strategy/subplans.h"

#include <math.h>

#ifndef TSL_FUNCTION
#define TSL_FUNCTION static inline
#define TSL_TIMES(a, b) ((a) * (b))
#define TSL_PLUS(a, b) ((a) + (b))
#define TSL_FUSE(a, b, c) fma(a, b, c)
#endif
#include "strategy/gemm/residue_int8/residue_int8_shared.h"

enum { TSL_RESIDUE_INT8_LEAST, TSL_RESIDUE_INT8_BLOCK };

/* Rows of C that are made at a time on devices, of m: residues of these and of their rows of A, and of all of
 * B, are in scratch memory. Shared out evenly, in pairs of CUDA's tiles. */
static inline int64_t tsl_residue_rows(const tsl_config *config, int64_t m) {
  const int64_t most = config->value[TSL_RESIDUE_INT8_BLOCK];
  if (most <= 0 || most >= m)
    return m;
  const int64_t even = tsl_round_up(tsl_ceil_div(m, tsl_ceil_div(m, most)), 2 * 128);
  return tsl_min(even, most);
}

/* Tables and limits of a product with so many rows, columns and terms: k of the problem counts for the
 * guarantee. */
residue_rules tsl_residue_rules(const tsl_problem *problem, const tsl_config *config, int64_t m, int64_t n);
/* What an error may be, relative to |A||B|: what a careful sum's is, or what was asked for. */
double tsl_residue_allowed(const tsl_problem *problem);
/* Whether that is less than what sums in f32 guarantee, so that elements without residues are summed in
 * double. */
bool tsl_residue_is_precise(const tsl_problem *problem);
/* The least number of moduli that a call may come out with, and the most that its type has. */
int tsl_residue_least(const tsl_problem *problem, const tsl_config *config);
int tsl_residue_most(const tsl_problem *problem);
/* Number `number` of those that it chooses among; the last ones may be the same. */
int tsl_residue_candidate(const tsl_problem *problem, const tsl_config *config, int number);

/* --- complex products --- */

/* Numbers of a line: two for each complex one. */
int64_t tsl_residue_numbers(const tsl_problem *problem);
/* Planes for each modulus, of operands and of C: of real parts, of imaginary parts, of their sums; one where
 * numbers are real. */
static inline int tsl_residue_kinds(const tsl_problem *problem) {
  return tsl_type(problem->c.type)->is_complex ? TSL_RESIDUE_PRODUCTS : 1;
}
/* The real type that computing is in. */
static inline tesela_type tsl_residue_type(const tsl_problem *problem) {
  const tsl_type_info *type = tsl_type(problem->c.type);
  return type->is_complex ? type->component : problem->c.type;
}
/* What kernels are compiled for: the type and whether it is of complex numbers; those that sum elements as
 * they are, also how. */
const char *tsl_residue_defines(const tsl_problem *problem);
const char *tsl_residue_native_defines(const tsl_problem *problem);
/* An offset or a stride in real numbers. */
static inline int64_t tsl_residue_reals(const tsl_problem *problem, int64_t elements) {
  return tsl_type(problem->c.type)->is_complex ? 2 * elements : elements;
}

/* The integer product's contract, on every device: residues A_l of A and B_l of B, a byte each, for each of
 * the moduli p_l; out come bytes, from 0 to 255, that are A_l B_l modulo p_l. How they lie, and whether A_l
 * and B_l have signs, is each device's own (residue_int8_host.h, residue_int8_run.c). Of complex numbers
 * there are three such for each modulus, plane 3 l + kind. */

/* --- a factor that stays (strategy/operand_reuse.h) --- */

/* Where what is made of an operand's lines lies in scratch memory, in bytes: its residues and a plane of
 * these, the lines' keys and candidates of scales, and the choice that residues were made by. Devices lay out
 * an operand that stays first, so that none of it moves with the other one's size. */
typedef struct tsl_residue_lying {
  int64_t planes, plane, keys, candidates, made;
} tsl_residue_lying;

/* Which of C' = A' B' stays, 0 or 1; 0 where nothing does. */
int tsl_residue_stays(const tsl_operands *operands, bool is_swapped);
/* All that decides what is made of operand `number` of C' = A' B', `lines` lines in `factor`: what they are
 * measured by and how they become residues, but for the choice, which the device compares. */
tsl_hash tsl_residue_made_of(const tsl_problem *problem, const residue_rules *rules, int number,
                             int64_t lines, const residue_matrix *matrix, const tsl_buffer *factor,
                             const tsl_buffer *scratch, const tsl_residue_lying *lying);

/* What build() leaves in work->state. */
typedef struct tsl_residue_state {
  tsl_kernel *rules, *measure, *choose, *convert, *multiply, *reduce, *join, *native;
  tsl_subplan *product; /* of portable kernels; NULL where there is nothing to multiply */
  bool reduces;         /* which makes residues itself */
  tsl_subplan *whole;   /* the whole product without residues; NULL: kernels of this strategy multiply it */
  int whole_weight;     /* cost of an element of that in moduli; 0: not known */
  char whole_note[192];
  bool is_swapped;  /* it is C' = B' A' */
  int cluster;      /* blocks of CUDA's integer product that share what they load */
  tsl_pinned *said; /* the residue_choice of the last run on a GPU; NULL: there is no memory for it */
  _Atomic int moduli, native_lines; /* on the processor, as chosen by the last run */
} tsl_residue_state;

/* --- without residues (whole.c) --- */

/* Makes the child that computes the whole product where residues do not pay, if one may be used: the state's
 * `whole`. */
tesela_status tsl_residue_int8_make_whole(tsl_work *work, uint64_t workspace);
/* Sets what elements without residues cost, where the child's time is known (rules.c). */
void tsl_residue_int8_weigh(const tsl_work *work, residue_rules *rules);

/* --- on the processor --- */

tesela_status tsl_residue_int8_run_host(const tsl_work *work, const tsl_operands *operands);
/* Upper bound of the bytes that a run takes: residues of both operands, and of the blocks of C that threads
 * have. */
uint64_t tsl_residue_int8_host_bytes(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device);

/* --- on NVIDIA's GPUs --- */

/* Returns the bytes at the start of scratch memory for the child that computes the whole product. */
uint64_t tsl_residue_int8_whole_bytes(const tsl_problem *problem);

/* Whether a device has kernels of its own, and not the portable ones. */
bool tsl_residue_has_cuda(const tsl_device *device);

uint64_t tsl_residue_int8_scratch(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device);
/* Fills in a state that is there. */
tesela_status tsl_residue_int8_build_cuda(tsl_work *work);
tesela_status tsl_residue_int8_run_cuda(const tsl_work *work, const tsl_operands *operands,
                                        tsl_stream *stream);

/* Lines of a block that measures, of each operand. */
void tsl_residue_block_lines(const int64_t lines[2], const bool is_across[2], const tsl_device *device,
                             int block_lines[2]);
/* How the integer product there reduces its sums, which are of bytes without signs. */
residue_reduction tsl_residue_reduction(unsigned p);

/* --- on other devices with kernels --- */

uint64_t tsl_residue_int8_scratch_portable(const tsl_problem *problem, const tsl_config *config,
                                           const tsl_device *device);
/* Fills in a state that is there. */
tesela_status tsl_residue_int8_build_portable(tsl_work *work);
tesela_status tsl_residue_int8_run_portable(const tsl_work *work, const tsl_operands *operands,
                                            tsl_stream *stream);

/* Predicted seconds, and what is moved; docs/lab/residue_int8.md has what the model was fitted to. */
double tsl_residue_int8_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device);
/* Seconds that one modulus takes, of those that are expected. */
double tsl_residue_int8_modulus_seconds(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device);
void tsl_residue_int8_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_cost_counts *account);

#endif

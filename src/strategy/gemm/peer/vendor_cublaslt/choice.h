#ifndef TSL_GEMM_VENDOR_CUBLASLT_CHOICE_H
#define TSL_GEMM_VENDOR_CUBLASLT_CHOICE_H

#include "problem/problem.h"
#include "strategy/gemm/peer/vendor_cublaslt/cublaslt_api.h"
#include "strategy/vendor.h"

#define TSL_LT_WORKSPACE_BYTES ((uint64_t)256 << 20)
/* Bytes of alignment that the timed algorithm needs. Other operands use `any`, another algorithm. */
#define TSL_LT_ALIGNMENT 16

typedef struct tsl_lt_choice {
  struct tsl_lt_choice *next;
  tsl_blas_product product; /* sizes, transposes and leading dimensions; its operands are NULL */
  int64_t steps[3];         /* distances between a batch's matrices of A, B and C */
  tsl_lt_operation operation;
  tsl_lt_layout a, b, c;
  tsl_lt_answer aligned, any; /* algorithm if addresses are multiples of TSL_LT_ALIGNMENT; for others */
} tsl_lt_choice;

/* Describes the layouts and chooses an algorithm: the fastest if `timed`, else the heuristics' first. The
 * device must be entered. The caller frees *choice. */
tesela_status tsl_lt_choice_make(const tsl_work *work, tsl_lt_handle handle, const tsl_blas_product *product,
                                 uint64_t workspace, bool timed, tsl_lt_choice **choice);
void tsl_lt_choice_free(tsl_lt_choice *choice);
/* Returns true if the choice has the product's layouts. */
bool tsl_lt_choice_fits(const tsl_lt_choice *choice, const tsl_blas_product *product);

typedef struct tsl_lt_addresses {
  const void *a, *b;
  void *c, *workspace;
} tsl_lt_addresses;

/* Enqueues the product with one of the choice's algorithms; returns cuBLASLt's code. */
int tsl_lt_multiply(const tsl_work *work, tsl_lt_handle handle, const tsl_lt_choice *choice,
                    const tsl_lt_answer *answer, const tsl_lt_addresses *addresses, tsl_stream *stream);

extern tsl_lt_api tsl_lt; /* function table, filled by tsl_lt_vendor() */

/* Loads the library: the strategy's vendor.load(). */
const tsl_vendor *tsl_lt_vendor(void);

/* Returns the status of a code and sets the message; TESELA_OK for success. */
tesela_status tsl_lt_check(const tsl_device *device, const char *call, int code);

/* Returns true if f32 or c64 is multiplied as TF32: the required accuracy allows its error. */
bool tsl_lt_takes_tf32(const tsl_problem *problem);
/* Returns the bound of |error| / |A||B| of TF32. */
double tsl_lt_tf32_bound(const tsl_problem *problem);
/* Returns the alignment in bytes that operands' addresses need: an element's; 4 for integers, 16 for e4m3. */
uint32_t tsl_lt_element_alignment(const tsl_problem *problem);

#endif

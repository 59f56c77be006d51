/* Which of cuBLASLt's algorithms multiplies operands of these layouts: the heuristics propose some, and the
 * stopwatch decides. */
#ifndef TSL_GEMM_VENDOR_CUBLASLT_CHOICE_H
#define TSL_GEMM_VENDOR_CUBLASLT_CHOICE_H

#include "strategy/gemm/vendor_cublaslt/vendor_cublaslt_library.h"

/* Most workspace that an algorithm may ask for. */
#define TSL_LT_WORKSPACE_BYTES ((uint64_t)256 << 20)
/* Operands of this alignment, in bytes, go by the algorithm that was timed; others by one that wants no more
 * than an element's. */
#define TSL_LT_ALIGNMENT 16

typedef struct tsl_lt_choice {
  struct tsl_lt_choice *next;
  tsl_blas_product product; /* sizes, transposes and leading dimensions; its operands mean nothing */
  int64_t steps[3];         /* of a batch: from matrix to matrix, of A, B and C */
  tsl_lt_operation operation;
  tsl_lt_layout a, b, c;
  tsl_lt_answer aligned, any;
} tsl_lt_choice;

/* Describes the layouts and chooses among the heuristics' algorithms: the fastest of them on the device where
 * `timed`, else the first. The device was entered. */
tesela_status tsl_lt_choice_make(const tsl_work *work, tsl_lt_handle handle, const tsl_blas_product *product,
                                 uint64_t workspace, bool timed, tsl_lt_choice **choice);
void tsl_lt_choice_free(tsl_lt_choice *choice);
/* Whether it was made for such a product. */
bool tsl_lt_choice_fits(const tsl_lt_choice *choice, const tsl_blas_product *product);

/* Addresses on the device for one call. */
typedef struct tsl_lt_addresses {
  const void *a, *b;
  void *c, *workspace;
} tsl_lt_addresses;

/* Enqueues the product with one of the choice's answers. Returns cuBLASLt's code. */
int tsl_lt_multiply(const tsl_work *work, tsl_lt_handle handle, const tsl_lt_choice *choice,
                    const tsl_lt_answer *answer, const tsl_lt_addresses *addresses, tsl_stream *stream);

#endif

#ifndef TSL_STRATEGY_GEMM_COMPLEX_REAL_H
#define TSL_STRATEGY_GEMM_COMPLEX_REAL_H

#include "strategy/kernel_launch/launch.h"
#include "strategy/subplans.h"

#include "strategy/gemm/composite/complex_real/complex_real_shared.h"

enum { TSL_COMPLEX_REAL_FORM };
enum {
  TSL_COMPLEX_REAL_ANY = 1,  /* the form that moves the fewest bytes */
  TSL_COMPLEX_REAL_ALONG_K,  /* R expanded, lines along k */
  TSL_COMPLEX_REAL_ALONG_N,  /* R expanded, lines along n */
  TSL_COMPLEX_REAL_SEPARATED /* L's real and imaginary parts separated */
};

/* Matrices of real numbers in scratch memory, with contiguous lines, one for each product of a batch. */
typedef struct tsl_complex_real_scratch {
  /* real numbers of a line with padding; lines; real numbers of a product; of all products */
  int64_t line, lines, step, elements;
} tsl_complex_real_scratch;

/* Method for C = L R: R is expanded and L used unchanged, or L's parts are separated and R used unchanged. */
typedef struct tsl_complex_real_method {
  int form;        /* a value of the enumeration above, never TSL_COMPLEX_REAL_ANY */
  bool is_swapped; /* C' = B' A' is computed: L is B', R is A' */
  bool is_staged;  /* sums are computed in scratch memory, and then C from them */
  bool copies;     /* the unchanged factor is copied, because its rows are not contiguous */
  bool is_empty;   /* no products: k or a size is 0, or alpha is 0 */
  int64_t m, n;    /* rows of L, columns of R */
  /* expanded R or L's parts; copy of the unchanged factor; sums; zero if unused */
  tsl_complex_real_scratch prepared, copy, sums;
} tsl_complex_real_method;
/* Chooses the method: the form of the config, or the form that moves the fewest bytes. */
tsl_complex_real_method tsl_complex_real_method_of(const tsl_problem *problem, const tsl_config *config);
/* Returns the bytes of scratch memory without the real product's workspace. */
uint64_t tsl_complex_real_bytes(const tsl_problem *problem, const tsl_complex_real_method *method);

/* Strides of an oriented operand in complex numbers: between rows (`line`) and between columns (`along`). */
typedef struct tsl_complex_real_strides {
  int64_t line, along;
} tsl_complex_real_strides;
/* Returns the strides of L, R or C; `swapped`: of the computed C' = B' A'. */
tsl_complex_real_strides tsl_complex_real_left(bool swapped, const tsl_operands *operands);
tsl_complex_real_strides tsl_complex_real_right(bool swapped, const tsl_operands *operands);
tsl_complex_real_strides tsl_complex_real_c(bool swapped, const tsl_operands *operands);
/* Returns the strides of the unchanged factor. */
tsl_complex_real_strides tsl_complex_real_unchanged_strides(const tsl_complex_real_method *method,
                                                            const tsl_operands *operands);
/* Returns true if `count` complex numbers of a row are contiguous. */
bool tsl_complex_real_is_contiguous(const tsl_complex_real_strides *strides, int64_t count);

/* Returns the real product that the child plan computes, on the operands or on scratch memory. */
tsl_problem tsl_complex_real_product(const tsl_problem *problem, const tsl_complex_real_method *method);
/* Returns the error that the real product's plan may have. */
tsl_accuracy tsl_complex_real_product_accuracy(const tsl_problem *problem);
tsl_accuracy tsl_complex_real_accuracy(const tsl_problem *problem, const tsl_config *config);

typedef struct tsl_complex_real {
  tsl_complex_real_method method;
  int64_t prepared_offset, copy_offset, sums_offset; /* real numbers, after the real product's workspace */
  tsl_kernel *copy, *finish; /* copies and expands factors; computes C from sums, else NULL */
  tsl_subplan *child;        /* NULL: no products */
} tsl_complex_real;

tesela_status tsl_complex_real_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

double tsl_complex_real_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device, tsl_all_strategies *list);
void tsl_complex_real_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_cost_counts *account);

#endif

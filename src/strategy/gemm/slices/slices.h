/* gemm slices: what its files share. */
#ifndef TSL_STRATEGY_GEMM_SLICES_H
#define TSL_STRATEGY_GEMM_SLICES_H

#include "strategy/children.h"

enum { TSL_SLICES_PRODUCTS };

/* Which slices are multiplied, the smallest products first: the last 3, 6 or all 9. */
enum { TSL_SLICES_PRODUCTS_MOST = 9 };
typedef struct tsl_slices_pair {
  int a, b;
} tsl_slices_pair;
extern const tsl_slices_pair tsl_slices_pairs[TSL_SLICES_PRODUCTS_MOST];
/* Slices of a number that these are of. */
int tsl_slices_count(const tsl_config *config);
/* Terms of the products of slices: those of the problem, rounded up. */
int64_t tsl_slices_depth(const tsl_problem *problem);
/* Of products of slices with so many terms: the factor that is asked of a child, and what the guarantee rests on. */
double tsl_slices_factor(int64_t depth);

/* Bytes of device memory; making, running and releasing a work. */
uint64_t tsl_slices_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
tesela_status tsl_slices_build(tsl_work *work);
tesela_status tsl_slices_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
void tsl_slices_release(tsl_work *work);

/* Predicted seconds, and what is moved. */
double tsl_slices_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_device *device);
void tsl_slices_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                        tsl_account *account);

#endif

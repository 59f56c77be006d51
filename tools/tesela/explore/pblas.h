/* The machine's ScaLAPACK as a peer of products by several ranks. Its PBLAS (p?gemm) and BLACS are
 * loaded at run time. The library must be built for the MPI that started the processes. */
#ifndef TSL_TOOL_EXPLORE_PBLAS_H
#define TSL_TOOL_EXPLORE_PBLAS_H

#include "explore/cyclic.h"

typedef struct tsl_pblas {
  int32_t context; /* BLACS context of the grid */
  bool is_open;
  char name[512]; /* file names of the library and of its BLAS */
} tsl_pblas;

/* Finds the library, sets the threads of its BLAS, and makes the grid. Called by all ranks. Returns
 * TESELA_NO_DEVICE, equal on all ranks, if there is no library or it was built for another MPI. */
tesela_status tsl_pblas_open(tsl_ranks *ranks, const tsl_cyclic_grid *grid, int threads, tsl_pblas *out);
void tsl_pblas_close(tsl_pblas *pblas);
/* Returns the reason why PBLAS cannot compute a product; NULL if it can. */
const char *tsl_pblas_refuse(const tsl_problem *problem);
/* Computes C = A B for whole matrices on the grid. Called by all ranks. */
void tsl_pblas_multiply(const tsl_pblas *pblas, const tsl_cyclic *a, const tsl_cyclic *b,
                        const tsl_cyclic *c);

#endif

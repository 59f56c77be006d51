/* The ScaLAPACK of the machine as a peer of products by several ranks: its PBLAS (p?gemm) and its BLACS,
 * loaded at run time. One of MPI's calls: the library must be that of the MPI that started the processes. */
#ifndef TSL_TOOL_EXPLORE_PBLAS_H
#define TSL_TOOL_EXPLORE_PBLAS_H

#include "explore/cyclic.h"

typedef struct tsl_pblas {
  int32_t context; /* of BLACS, for the grid */
  bool is_open;
  char name[512]; /* the library's file, and that of its BLAS */
} tsl_pblas;

/* Called by all ranks. Finds the library, lets its BLAS use so many threads, and makes the grid.
 * TESELA_NO_DEVICE, the same on all ranks, where there is none or it is another MPI's. */
tesela_status tsl_pblas_open(tsl_ranks *ranks, const tsl_cyclic_grid *grid, int threads, tsl_pblas *out);
void tsl_pblas_close(tsl_pblas *pblas);
/* Why a product cannot be said; NULL: it can. */
const char *tsl_pblas_refuse(const tsl_problem *problem);
/* C = A B, of whole matrices that lie on the grid. Called by all ranks. */
void tsl_pblas_multiply(const tsl_pblas *pblas, const tsl_cyclic *a, const tsl_cyclic *b,
                        const tsl_cyclic *c);

#endif

/* The part of ScaLAPACK and BLACS that the tests need, with 64-bit integers under the usual names,
 * as MKL's. Its products and transposes print a message: they must not be called when tesela's come
 * first. */
#define INTEGER int64_t
#include "scalapack/names.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONTEXTS = 256 };
static struct context {
  MPI_Comm comm;
  INTEGER rows, cols;
} contexts[CONTEXTS];
static INTEGER used;

void blacs_pinfo_(INTEGER *me, INTEGER *processes) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  *me = rank;
  *processes = size;
}

/* Stores, for `what` 0, a system context for grids; for 10, a context's communicator. */
void blacs_get_(const INTEGER *context, const INTEGER *what, INTEGER *value) {
  *value = *what == 10 ? (INTEGER)MPI_Comm_c2f(contexts[*context].comm) : 0;
}

/* Ranks in the order of columns, whatever is asked for: a BLACS may. */
void blacs_gridinit_(INTEGER *context, const char *order, const INTEGER *rows, const INTEGER *cols) {
  int rank;
  (void)order;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int is_in = rank < *rows * *cols;
  struct context *made = &contexts[used];
  MPI_Comm_split(MPI_COMM_WORLD, is_in ? 0 : MPI_UNDEFINED, 0, &made->comm);
  made->rows = *rows;
  made->cols = *cols;
  *context = is_in ? used++ : -1;
}

void blacs_gridinfo_(const INTEGER *context, INTEGER *rows, INTEGER *cols, INTEGER *row, INTEGER *col) {
  *rows = *cols = *row = *col = -1;
  if (*context < 0 || *context >= used)
    return;
  const struct context *of = &contexts[*context];
  int rank;
  MPI_Comm_rank(of->comm, &rank);
  *rows = of->rows;
  *cols = of->cols;
  *row = rank % *rows;
  *col = rank / *rows;
}

void blacs_gridexit_(const INTEGER *context) {
  MPI_Comm_free(&contexts[*context].comm);
}

/* Returns the local size for one process: all of it. */
INTEGER numroc_(const INTEGER *size, const INTEGER *block, const INTEGER *process, const INTEGER *first,
                const INTEGER *processes) {
  (void)block, (void)process, (void)first, (void)processes;
  return *size;
}

static void refuse(const char *name) {
  fprintf(stderr, "%s was called behind tesela\n", name);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void pdgemm_(const char *transa, const char *transb, const INTEGER *m, const INTEGER *n, const INTEGER *k,
             const void *alpha, const void *a, const INTEGER *ia, const INTEGER *ja, const INTEGER *desca,
             const void *b, const INTEGER *ib, const INTEGER *jb, const INTEGER *descb, const void *beta,
             void *c, const INTEGER *ic, const INTEGER *jc, const INTEGER *descc) {
  (void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)ia, (void)ja,
      (void)desca;
  (void)b, (void)ib, (void)jb, (void)descb, (void)beta, (void)c, (void)ic, (void)jc, (void)descc;
  refuse("pdgemm_");
}

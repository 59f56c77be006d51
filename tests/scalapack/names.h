/* ScaLAPACK's and the BLACS's routines that the tests call, with integers as wide as the program's. */
#ifndef TESTS_SCALAPACK_NAMES_H
#define TESTS_SCALAPACK_NAMES_H

#include <stdint.h>

#ifndef INTEGER
#define INTEGER int32_t
#endif

void blacs_pinfo_(INTEGER *me, INTEGER *processes);
void blacs_get_(const INTEGER *context, const INTEGER *what, INTEGER *value);
void blacs_gridinit_(INTEGER *context, const char *order, const INTEGER *rows, const INTEGER *cols);
void blacs_gridinfo_(const INTEGER *context, INTEGER *rows, INTEGER *cols, INTEGER *row, INTEGER *col);
void blacs_gridexit_(const INTEGER *context);
void blacs_exit_(const INTEGER *keep_mpi);
INTEGER numroc_(const INTEGER *size, const INTEGER *block, const INTEGER *process, const INTEGER *first,
                const INTEGER *processes);

typedef void gemm_routine(const char *transa, const char *transb, const INTEGER *m, const INTEGER *n,
                          const INTEGER *k, const void *alpha, const void *a, const INTEGER *ia,
                          const INTEGER *ja, const INTEGER *desca, const void *b, const INTEGER *ib,
                          const INTEGER *jb, const INTEGER *descb, const void *beta, void *c,
                          const INTEGER *ic, const INTEGER *jc, const INTEGER *descc);
typedef void geadd_routine(const char *trans, const INTEGER *m, const INTEGER *n, const void *alpha,
                           const void *a, const INTEGER *ia, const INTEGER *ja, const INTEGER *desca,
                           const void *beta, void *c, const INTEGER *ic, const INTEGER *jc,
                           const INTEGER *descc);
typedef void tran_routine(const INTEGER *m, const INTEGER *n, const void *alpha, const void *a,
                          const INTEGER *ia, const INTEGER *ja, const INTEGER *desca, const void *beta,
                          void *c, const INTEGER *ic, const INTEGER *jc, const INTEGER *descc);
gemm_routine psgemm_, pdgemm_, pcgemm_, pzgemm_;
geadd_routine psgeadd_, pdgeadd_, pcgeadd_, pzgeadd_;
tran_routine pstran_, pdtran_, pctranu_, pctranc_, pztranu_, pztranc_;

#endif

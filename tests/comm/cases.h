/* Products of dealt matrices, as many as make every layout, type and way meet; for ranks of any kind. */
#ifndef TESTS_COMM_CASES_H
#define TESTS_COMM_CASES_H

#include "comm/comm.h"
#include "comm/dealt.h"

typedef struct comm_case {
  tesela_type type, type_c;
  int64_t m, n, k;
  dealt_kind a, b, c;
  bool transpose_a, transpose_b, transpose_c, conjugate_a, conjugate_b;
  double alpha[2], beta[2];
  int64_t memory;
  /* Places of the operands (true: in a buffer of a device of this context), and the device and
   * strategy of the products. NULL: the context's default. */
  bool buffer_a, buffer_b, buffer_c;
  tesela_context *context;
  const char *device, *strategy;
} comm_case;

/* Case number `number` for so many ranks. */
comm_case comm_case_at(int number, int ranks);
int comm_cases(void);

/* What a rank calls in place of tesela_mpi_gemm(). */
typedef tesela_status (*comm_multiply)(void *user, const tesela_mpi_desc *desc, tesela_mpi_record *record);

/* Runs a case as this rank; NULL where all is right, else a sentence (static, of the thread). */
const char *comm_case_run(const comm_case *c, int ranks, int rank, comm_multiply multiply, void *user,
                          tesela_mpi_record *record);

#endif

/* Products of distributed matrices in enough cases to combine every layout, type and algorithm, for
 * ranks of any kind. */
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

/* Returns case number `number` for a number of ranks. */
comm_case comm_case_at(int number, int ranks);
int comm_cases(void);

/* The function that a rank calls in place of tesela_mpi_gemm(). */
typedef tesela_status (*comm_multiply)(void *user, const tesela_mpi_desc *desc, tesela_mpi_record *record);

/* Runs a case as this rank. Returns NULL where the result is right, otherwise a sentence (static,
 * one for each thread). */
const char *comm_case_run(const comm_case *c, int ranks, int rank, comm_multiply multiply, void *user,
                          tesela_mpi_record *record);

#endif

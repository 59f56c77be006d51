/* The cases of tests/comm by MPI's ranks, and cases of MPI only: communicators of a part of the
 * ranks, freed ones, wrong ones. Prints wrong results of each rank, and then exits with 1. */
#include "comm/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela_mpi.h>

static int failures;

static void expect(int right, const char *what, const char *why) {
  if (right)
    return;
  failures++;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, why ? why : tesela_last_error());
}

typedef struct user {
  MPI_Comm communicator;
  tesela_context *context;
} user;

static tesela_status multiply(void *argument, const tesela_mpi_desc *desc, tesela_mpi_record *record) {
  const user *u = argument;
  return tesela_mpi_gemm(u->communicator, u->context, desc, record);
}

static void run_cases(MPI_Comm communicator, tesela_context *context, int first, int step) {
  int rank, ranks;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  user u = {communicator, context};
  for (int number = first; number < comm_cases(); number += step) {
    const comm_case c = comm_case_at(number, ranks);
    tesela_mpi_record record;
    char name[32];
    snprintf(name, sizeof name, "case %d", number);
    const char *why = comm_case_run(&c, ranks, rank, multiply, &u, &record);
    expect(!why, name, why);
  }
}

/* Multiplies with one size on all ranks, large enough for several ranks. Sums of whole numbers are
 * exact. */
static void run_large(MPI_Comm communicator) {
  int rank, ranks;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  const comm_case c = {.type = TESELA_F64,
                       .type_c = TESELA_F64,
                       .m = 300,
                       .n = 280,
                       .k = 1500,
                       .a = DEALT_CYCLIC,
                       .b = DEALT_CYCLIC,
                       .c = DEALT_CYCLIC,
                       .alpha = {1, 0},
                       .beta = {2, 0}};
  user u = {communicator, NULL};
  tesela_mpi_record record = {.ranks = 0};
  const char *why = comm_case_run(&c, ranks, rank, multiply, &u, &record);
  expect(!why, "the large product", why);
  expect(record.ranks > ranks / 2 && record.plan[0], "the large product's record", record.plan);
  if (rank == 0)
    printf("%s: %lld words to the busiest rank, bound %.0f; %.3f s, %.3f waiting, %.3f moving, %.3f "
           "multiplying\n",
           record.plan, (long long)record.words, record.bound, record.seconds, record.seconds_wait,
           record.seconds_move, record.seconds_compute);
}

/* One rank passes another m than the others: all ranks get the same error message. */
static void differ(MPI_Comm communicator) {
  int rank, ranks;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  if (ranks < 2)
    return;
  float data[64] = {0};
  const tesela_gemm_desc gemm = {.m = rank == ranks - 1 ? 5 : 4,
                                 .n = 4,
                                 .k = 4,
                                 .a = {.data = data},
                                 .b = {.data = data},
                                 .c = {.data = data}};
  const tesela_mpi_desc desc = {.gemm = &gemm};
  char expected[64];
  snprintf(expected, sizeof expected, "rank %d: m is 5, but 4 on rank 0", ranks - 1);
  expect(tesela_mpi_gemm(communicator, NULL, &desc, NULL) == TESELA_BAD_CALL, "another m", "was taken");
  expect(strncmp(tesela_last_error(), expected, strlen(expected)) == 0, "another m", NULL);
}

/* One rank was started with another TESELA_BITS. */
static void differ_in_bits(MPI_Comm communicator) {
  int rank, ranks;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  if (ranks < 2)
    return;
  float a[16] = {0}, b[16] = {0}, c[16] = {0};
  const tesela_gemm_desc gemm = {
      .m = 4, .n = 4, .k = 4, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
  const tesela_mpi_desc desc = {.gemm = &gemm};
  char expected[96];
  snprintf(expected, sizeof expected, "rank %d: bits is \"threads\", but \"any\" on rank 0", ranks - 1);
  if (rank == ranks - 1)
    setenv("TESELA_BITS", "threads", 1);
  expect(tesela_mpi_gemm(communicator, NULL, &desc, NULL) == TESELA_BAD_CALL, "another TESELA_BITS",
         "was taken");
  expect(strcmp(tesela_last_error(), expected) == 0, "another TESELA_BITS", NULL);
  unsetenv("TESELA_BITS");
}

/* Halves of the ranks, each with products of its own; then freed. */
static void run_halves(tesela_context *context) {
  int rank;
  MPI_Comm half;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  run_cases(half, context, 5, 24);
  MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
  const tesela_gemm_desc gemm = {0};
  const tesela_mpi_desc desc = {.gemm = &gemm};
  const tesela_status before = tesela_mpi_gemm(MPI_COMM_WORLD, NULL, &desc, NULL);
  MPI_Init(&argc, &argv);
  expect(before == TESELA_BAD_CALL, "before MPI_Init()", "was taken");
  expect(tesela_mpi_gemm(MPI_COMM_NULL, NULL, &desc, NULL) == TESELA_BAD_CALL, "MPI_COMM_NULL", "was taken");
  tesela_context *context = NULL;
  expect(tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &context) == TESELA_OK,
         "context", NULL);
  run_cases(MPI_COMM_WORLD, context, 0, 5);
  run_large(MPI_COMM_WORLD);
  differ(MPI_COMM_WORLD);
  differ_in_bits(MPI_COMM_WORLD);
  run_halves(context);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  tesela_context_destroy(context);
  MPI_Finalize();
  return all == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

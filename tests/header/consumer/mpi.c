/* A program of MPI that has tesela installed. */
#include <tesela/tesela_mpi.h>

#include <stdio.h>

int main(int argc, char **argv) {
  float a = 2, b = 3, c = 0;
  tesela_gemm_desc gemm = {.m = 1, .n = 1, .k = 1, .a = {.data = &a}, .b = {.data = &b}, .c = {.data = &c}};
  tesela_mpi_desc desc = {.gemm = &gemm};
  MPI_Init(&argc, &argv);
  if (tesela_mpi_gemm(MPI_COMM_SELF, NULL, &desc, NULL) != TESELA_OK)
    puts(tesela_last_error());
  MPI_Finalize();
  printf("2 x 3 is %g\n", c);
  return c != 6;
}

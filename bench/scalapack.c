/* Times pdgemm_ as any program calls it, or pdtran_ if K is 0:
 *
 *   mpirun -n RANKS scalapack_bench M N K BLOCK ROWS COLS REPEATS
 *
 * The program is linked with the distribution's ScaLAPACK. bench/scalapack.sh starts
 * it with and without the preloaded drop-in, in turn. Each product is between two barriers. Rank 0 prints the
 * first call's seconds, and the shortest and the median of the others. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void blacs_get_(const int *context, const int *what, int *value);
void blacs_gridinit_(int *context, const char *order, const int *rows, const int *cols);
void blacs_gridinfo_(const int *context, int *rows, int *cols, int *row, int *col);
int numroc_(const int *size, const int *block, const int *process, const int *first, const int *processes);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *rsrc,
               const int *csrc, const int *context, const int *lld, int *info);
void pdgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
             const double *alpha, const double *a, const int *ia, const int *ja, const int *desca,
             const double *b, const int *ib, const int *jb, const int *descb, const double *beta, double *c,
             const int *ic, const int *jc, const int *descc);

void pdtran_(const int *m, const int *n, const double *alpha, const double *a, const int *ia, const int *ja,
             const int *desca, const double *beta, double *c, const int *ic, const int *jc, const int *descc);

static const int zero = 0, one = 1;

typedef struct grid {
  int context, rows, cols, row, col;
} grid;

typedef struct matrix {
  int desc[9];
  double *data;
} matrix;

static matrix make(const grid *on, int rows, int cols, int block) {
  matrix out;
  const int local_rows = numroc_(&rows, &block, &on->row, &zero, &on->rows);
  const int local_cols = numroc_(&cols, &block, &on->col, &zero, &on->cols),
            leading = local_rows > 0 ? local_rows : 1;
  int info;
  descinit_(out.desc, &rows, &cols, &block, &block, &zero, &zero, &on->context, &leading, &info);
  const size_t count = (size_t)leading * (size_t)(local_cols > 0 ? local_cols : 1);
  out.data = malloc(count * sizeof *out.data);
  if (!out.data || info != 0)
    MPI_Abort(MPI_COMM_WORLD, 1);
  uint64_t state = (uint64_t)(on->row * on->cols + on->col) + 1;
  for (size_t i = 0; i < count; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth */
    out.data[i] = (double)(state >> 11) / (double)(UINT64_C(1) << 53) - 0.5;
  }
  return out;
}

static double time_product(int m, int n, int k, const matrix *a, const matrix *b, matrix *c) {
  const double alpha = 1, beta = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (k > 0)
    pdgemm_("N", "N", &m, &n, &k, &alpha, a->data, &one, &one, a->desc, b->data, &one, &one, b->desc, &beta,
            c->data, &one, &one, c->desc);
  else
    pdtran_(&m, &n, &alpha, a->data, &one, &one, a->desc, &beta, c->data, &one, &one, c->desc);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int count, char **arguments) {
  enum { M = 1, N, K, BLOCK, ROWS, COLS, REPEATS, ARGUMENTS, REPEATS_MAX = 64 };
  int is[ARGUMENTS], rank;
  double seconds[REPEATS_MAX];
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = M; i < ARGUMENTS; i++)
    is[i] = i < count ? atoi(arguments[i]) : 0;
  if (count != ARGUMENTS || is[REPEATS] < 1 || is[REPEATS] > REPEATS_MAX) {
    if (rank == 0)
      fprintf(stderr, "usage: mpirun -n RANKS scalapack_bench M N K BLOCK ROWS COLS REPEATS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  grid on;
  const int nobody = -1;
  blacs_get_(&nobody, &zero, &on.context);
  blacs_gridinit_(&on.context, "R", &is[ROWS], &is[COLS]);
  blacs_gridinfo_(&on.context, &on.rows, &on.cols, &on.row, &on.col);
  const bool is_product = is[K] > 0;
  const matrix a = is_product ? make(&on, is[M], is[K], is[BLOCK]) : make(&on, is[N], is[M], is[BLOCK]);
  const matrix b = make(&on, is_product ? is[K] : 1, is[N], is[BLOCK]);
  matrix c = make(&on, is[M], is[N], is[BLOCK]);
  const double first = time_product(is[M], is[N], is[K], &a, &b, &c);
  for (int i = 0; i < is[REPEATS]; i++)
    seconds[i] = time_product(is[M], is[N], is[K], &a, &b, &c);
  qsort(seconds, (size_t)is[REPEATS], sizeof *seconds, compare);
  if (rank == 0)
    printf("%.6f %.6f %.6f\n", first, seconds[0], seconds[is[REPEATS] / 2]);
  MPI_Finalize();
  return 0;
}

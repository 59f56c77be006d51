/* How fast are products by the ranks of an MPI communicator? Each rank has a device, with operands in its
 * memory. The first rank's device alone computes the same product for comparison. Some elements are compared
 * with exact values.
 *
 *   mpirun -n 2 build/release/bin/bench_ranks TYPE M N K REPEATS [DEVICE [LAYOUT]]
 *
 * TYPE is bf16, f32 or f64. DEVICE is a kind, such as cuda: rank r uses device number r. A name with a colon
 * ("opencl:0") is every rank's device. LAYOUT is rows (equal blocks of rows, the default), cyclic (blocks of
 * 512 rows in turn), or scaled. The layout scaled is as rows, with C = 2 A B - C, which restores C every
 * second time. It needs an even REPEATS, and not bf16. TESELA_NCCL=none sends messages through host memory.
 */
#include "core/types.h"
#include "harness.h"

#include <tesela/tesela_mpi.h>

enum { BLOCK = 512, SAMPLES = 400, PERIOD_A = 127, PERIOD_B = 113 };

typedef struct bench {
  tesela_type type;
  const char *type_name;
  size_t size;
  int64_t m, n, k;
  int repeats, ranks, rank;
  bool cyclic, scaled;
  char device[64];
  tesela_context *context;
} bench;

/* Ends all ranks, since the others would wait for this one for ever. */
static _Noreturn void stop(const char *what) {
  fprintf(stderr, "bench_ranks: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* --- operands: whole numbers from -2 to 2, whose lines are repeated with a shift --- */

static int number_at(int period, int64_t index) {
  const int64_t place = index % period;
  return (int)(place * place % period * 7 % period % 5) - 2;
}

static int a_at(int64_t i, int64_t l) {
  return number_at(PERIOD_A, 31 * i + l);
}

static int b_at(int64_t l, int64_t j) {
  return number_at(PERIOD_B, 29 * l + j);
}

/* Rounds a sum to C's type. */
static double rounded(tesela_type type, double sum) {
  unsigned char element[8];
  double value[2] = {sum, 0};
  tsl_type_store(type, element, value);
  tsl_type_load(type, element, value);
  return value[0];
}

/* --- which rows a rank has --- */

static int64_t local_rows(const bench *bench_in, int64_t rows) {
  if (!bench_in->cyclic)
    return rows * (bench_in->rank + 1) / bench_in->ranks - rows * bench_in->rank / bench_in->ranks;
  int64_t local = 0;
  for (int64_t first = (int64_t)bench_in->rank * BLOCK; first < rows;
       first += (int64_t)bench_in->ranks * BLOCK)
    local += rows - first < BLOCK ? rows - first : BLOCK;
  return local;
}

static int64_t global_row(const bench *bench_in, int64_t rows, int64_t local) {
  return bench_in->cyclic ? (local / BLOCK * bench_in->ranks + bench_in->rank) * BLOCK + local % BLOCK
                          : rows * bench_in->rank / bench_in->ranks + local;
}

static tesela_layout layout_of(const bench *bench_in) {
  return bench_in->cyclic ? (tesela_layout){.kind = TESELA_LAYOUT_CYCLIC,
                                            .grid_rows = bench_in->ranks,
                                            .grid_cols = 1,
                                            .row_block = BLOCK,
                                            .col_block = 1 << 30}
                          : (tesela_layout){.kind = TESELA_LAYOUT_BLOCKS};
}

/* Makes a buffer with this rank's rows of A or B, or all rows. C is filled with NaN. */
static tesela_buffer *make(const bench *bench_in, char which, int64_t rows, int64_t cols, bool all) {
  const int64_t local = all ? rows : local_rows(bench_in, rows);
  const size_t line = (size_t)cols * bench_in->size;
  const int period = which == 'a' ? PERIOD_A : PERIOD_B, shift = which == 'a' ? 31 : 29;
  const int64_t chunk = ((int64_t)64 << 20) / (int64_t)line + 1;
  unsigned char *numbers = malloc((size_t)(cols + period) * bench_in->size),
                *packed = malloc((size_t)chunk * line);
  tesela_buffer *buffer;
  if (!numbers || !packed)
    stop("no memory for operands");
  for (int64_t i = 0; i < cols + period; i++)
    tsl_type_store(bench_in->type, numbers + (size_t)i * bench_in->size,
                   (double[2]){number_at(period, i), 0});
  if (tesela_buffer_create(bench_in->context, bench_in->device, (size_t)local * line, &buffer) != TESELA_OK)
    stop(tesela_last_error());
  for (int64_t first = 0; first < local; first += chunk) {
    const int64_t count = local - first < chunk ? local - first : chunk;
    memset(packed, bench_in->scaled ? 0 : 0xff, (size_t)count * line);
    for (int64_t i = 0; i < count && which != 'c'; i++) {
      const int64_t row = all ? first + i : global_row(bench_in, rows, first + i);
      memcpy(packed + (size_t)i * line, numbers + (size_t)(shift * row % period) * bench_in->size, line);
    }
    if (tesela_buffer_write(buffer, (size_t)first * line, packed, (size_t)count * line) != TESELA_OK)
      stop(tesela_last_error());
  }
  free(numbers);
  free(packed);
  return buffer;
}

/* --- what came of it --- */

static int wrong(const bench *bench_in, const tesela_buffer *c, bool all) {
  const int64_t rows = all ? bench_in->m : local_rows(bench_in, bench_in->m);
  int count = 0;
  for (int64_t s = 0; s < SAMPLES && rows > 0; s++) {
    const int64_t local = s == 0 ? rows - 1 : s * 7919 % rows,
                  j = s == 0 ? bench_in->n - 1 : (s * 104729 + 3) % bench_in->n;
    const int64_t i = all ? local : global_row(bench_in, bench_in->m, local);
    unsigned char got[8];
    int64_t sum = 0;
    for (int64_t l = 0; l < bench_in->k; l++)
      sum += a_at(i, l) * b_at(l, j);
    if (tesela_buffer_read(c, (size_t)(local * bench_in->n + j) * bench_in->size, got, bench_in->size) !=
        TESELA_OK)
      stop(tesela_last_error());
    double found[2];
    tsl_type_load(bench_in->type, got, found);
    const double expected = rounded(bench_in->type, (double)(bench_in->scaled ? 2 * sum : sum));
    if (found[0] != expected && count++ == 0)
      printf("rank %d: C(%lld, %lld) is %g and should be %g\n", bench_in->rank, (long long)i, (long long)j,
             found[0], expected);
  }
  return count;
}

static tesela_gemm_desc desc_of(const bench *bench_in, tesela_buffer *const *buffers) {
  static const double alpha[2] = {2, 0}, beta[2] = {-1, 0};
  return (tesela_gemm_desc){.m = bench_in->m,
                            .n = bench_in->n,
                            .k = bench_in->k,
                            .a = {.buffer = buffers[0], .type = bench_in->type},
                            .b = {.buffer = buffers[1], .type = bench_in->type},
                            .c = {.buffer = buffers[2], .type = bench_in->type},
                            .alpha = bench_in->scaled ? alpha : NULL,
                            .beta = bench_in->scaled ? beta : NULL,
                            .options.device = bench_in->device};
}

static void row(const bench *bench_in, const char *what, double seconds, double value, int bad) {
  printf("%-5s %6lld x %6lld x %6lld  %-22s %9.1f ms %8.2f TFLOP/s  of linear %.3f  %d of %d wrong\n",
         bench_in->type_name, (long long)bench_in->m, (long long)bench_in->n, (long long)bench_in->k, what,
         1e3 * seconds, 2e-12 * (double)bench_in->m * (double)bench_in->n * (double)bench_in->k / seconds,
         value / seconds, bad, SAMPLES);
  fflush(stdout);
}

static void release(tesela_buffer **buffers) {
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
}

/* A product of one rank, or of all: the operands of the calls, and the fastest call's record. */
typedef struct call {
  const bench *bench;
  tesela_gemm_desc gemm;
  tesela_mpi_desc desc;
  tesela_mpi_record fastest;
} call;

static double run_alone(bench_side *side, int calls) {
  const call *state = side->state;
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; i++)
    if (tesela_gemm(state->bench->context, &state->gemm, NULL) != TESELA_OK)
      stop(tesela_last_error());
  return MPI_Wtime() - start;
}

static double run_together(bench_side *side, int calls) {
  call *state = side->state;
  tesela_mpi_record record = {0};
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; i++)
    if (tesela_mpi_gemm(MPI_COMM_WORLD, state->bench->context, &state->desc, &record) != TESELA_OK)
      stop(tesela_last_error());
  double took = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (!state->fastest.plan[0] || record.seconds < state->fastest.seconds)
    state->fastest = record;
  return took;
}

/* Returns the seconds of the fastest of the repeats, after a call that is not counted. */
static double measure(call *state, double (*run)(bench_side *, int)) {
  const int repeats = state->bench->repeats;
  bench_side side = {.name = "product", .run = run, .state = state, .calls = 1};
  bench_race(&side, 1, &(bench_turns){.rounds_min = repeats, .rounds_max = repeats, .seconds = INFINITY});
  bench_sides_free(&side, 1);
  return side.least;
}

static void make_all(const bench *bench_in, bool all, tesela_buffer **buffers) {
  buffers[0] = make(bench_in, 'a', bench_in->m, bench_in->k, all);
  buffers[1] = make(bench_in, 'b', bench_in->k, bench_in->n, all);
  buffers[2] = make(bench_in, 'c', bench_in->m, bench_in->n, all);
}

/* Returns the time of the whole product on the first rank's device. */
static double alone(const bench *bench_in) {
  tesela_buffer *buffers[3];
  make_all(bench_in, true, buffers);
  call state = {.bench = bench_in, .gemm = desc_of(bench_in, buffers)};
  const double best = measure(&state, run_alone);
  row(bench_in, "one rank's device", best, best, wrong(bench_in, buffers[2], true));
  release(buffers);
  return best;
}

static int together(const bench *bench_in, double value) {
  char what[64];
  tesela_buffer *buffers[3];
  make_all(bench_in, false, buffers);
  const tesela_layout layout = layout_of(bench_in);
  call state = {.bench = bench_in, .gemm = desc_of(bench_in, buffers)};
  state.desc = (tesela_mpi_desc){.gemm = &state.gemm, .a = layout, .b = layout, .c = layout};
  const double best = measure(&state, run_together);
  const tesela_mpi_record *fastest = &state.fastest;
  int bad = wrong(bench_in, buffers[2], false);
  MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (bench_in->rank == 0) {
    snprintf(what, sizeof what, "%d ranks%s", bench_in->ranks,
             bench_in->cyclic   ? ", cyclic"
             : bench_in->scaled ? ", scaled"
                                : "");
    row(bench_in, what, best, value / bench_in->ranks, bad);
    printf(
        "      %s; of rank 0: %.1f ms products, %.1f waiting, %.1f moving, %.1f beside them\n", fastest->plan,
        1e3 * fastest->seconds_compute, 1e3 * fastest->seconds_wait, 1e3 * fastest->seconds_move,
        1e3 * (fastest->seconds - fastest->seconds_compute - fastest->seconds_wait - fastest->seconds_move));
    fflush(stdout);
  }
  release(buffers);
  return bad;
}

int main(int argc, char **argv) {
  bench of = {.ranks = 1};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &of.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &of.ranks);
  if (argc < 6)
    stop("usage: bench_ranks TYPE M N K REPEATS [DEVICE [rows|cyclic|scaled]]");
  of.type_name = argv[1];
  of.type = strcmp(argv[1], "f64") == 0 ? TESELA_F64 : strcmp(argv[1], "f32") == 0 ? TESELA_F32 : TESELA_BF16;
  of.size = of.type == TESELA_F64 ? 8 : of.type == TESELA_F32 ? 4 : 2;
  of.m = atoll(argv[2]);
  of.n = atoll(argv[3]);
  of.k = atoll(argv[4]);
  of.repeats = atoi(argv[5]);
  if (of.m < 1 || of.n < 1 || of.k < 1 || of.repeats < 1)
    stop("sizes and REPEATS are 1 or more");
  const char *device = argc > 6 ? argv[6] : "cuda";
  if (strchr(device, ':') || strcmp(device, "cpu") == 0)
    snprintf(of.device, sizeof of.device, "%s", device);
  else
    snprintf(of.device, sizeof of.device, "%.32s:%d", device, of.rank);
  of.cyclic = argc > 7 && strcmp(argv[7], "cyclic") == 0;
  of.scaled = argc > 7 && strcmp(argv[7], "scaled") == 0;
  if (tesela_context_create(&(tesela_context_desc){.device = of.device}, &of.context) != TESELA_OK)
    stop(tesela_last_error());
  double one = 0;
  if (of.rank == 0)
    one = alone(&of);
  MPI_Bcast(&one, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const int bad = together(&of, one);
  tesela_context_destroy(of.context);
  MPI_Finalize();
  return bad == 0 ? 0 : 1;
}

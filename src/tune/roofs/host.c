/* Work on the pool is distributed in small pieces, so that a delayed thread does not delay the others. */
#include "core/clock.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/status.h"
#include "tune/roofs.h"
#include "tune/roofs/bench.h"
#include "tune/roofs/roofs_loops.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

/* Bytes of a piece; large ones let the C library's copy use non-temporal stores. */
enum { PIECE = 1 << 20, LARGE_PIECES = 2 };
/* Pieces per thread; their total seconds. */
enum { FMA_PIECES = 4 };
static const double fma_seconds = 8e-3;
/* Each lane of read() sums at most PIECE / 4 / 32 numbers of a piece. */
enum { LEAST_LANES = 32 };

typedef struct host_bench {
  const tsl_device *device;
  const tsl_roofs_loops *loops;
  tsl_pool *pool;
  int threads;
  float *from, *to;
  size_t bytes, piece; /* piece: bytes per index */
  int64_t mask;
  double *sums; /* sum of each piece, as last computed */
  double sum;   /* sum of all numbers */
  atomic_bool wrong;
  tesela_type type;
  const tsl_roofs_chain *chain;
  int64_t rounds;
} host_bench;

static void host_fill_piece(void *argument, int64_t index, int worker) {
  (void)worker;
  host_bench *b = argument;
  const size_t first = (size_t)index * b->piece / sizeof(float), count = b->piece / sizeof(float);
  int sum = 0; /* at most 2^18 numbers below 2^12 */
  for (size_t i = first; i < first + count; i++) {
    const int number = tsl_roofs_number(i, b->mask);
    b->from[i] = (float)number;
    b->to[i] = -1;
    sum += number;
  }
  b->sums[index] = sum;
}

static void host_copy_piece(void *argument, int64_t index, int worker) {
  (void)worker;
  host_bench *b = argument;
  const size_t first = (size_t)index * b->piece / sizeof(float);
  b->loops->copy(b->from + first, b->to + first, b->piece / sizeof(float));
}

static void library_copy_piece(void *argument, int64_t index, int worker) {
  (void)worker;
  host_bench *b = argument;
  const size_t first = (size_t)index * b->piece / sizeof(float);
  const size_t left = b->bytes - first * sizeof(float);
  memcpy(b->to + first, b->from + first, left < b->piece ? left : b->piece);
}

static void host_read_piece(void *argument, int64_t index, int worker) {
  (void)worker;
  host_bench *b = argument;
  b->sums[index] =
      b->loops->read(b->from + (size_t)index * b->piece / sizeof(float), b->piece / sizeof(float));
}

static void compare_piece(void *argument, int64_t index, int worker) {
  (void)worker;
  host_bench *b = argument;
  const size_t first = (size_t)index * b->piece / sizeof(float), count = b->piece / sizeof(float);
  bool wrong = false;
  for (size_t i = first; i < first + count; i++) {
    wrong |= b->to[i] != (float)tsl_roofs_number(i, b->mask);
    b->to[i] = -1; /* for the next way of copying */
  }
  if (wrong)
    atomic_store(&b->wrong, true);
}

static int64_t host_pieces(const host_bench *b) {
  return (int64_t)((b->bytes - 1) / b->piece + 1);
}

/* Runs a task for `count` indices on the pool and returns the seconds. */
static double timed(host_bench *b, int64_t count, tsl_pool_task task) {
  const double start = tsl_clock();
  tsl_pool_run(b->pool, count, task, b);
  return tsl_clock() - start;
}

static tesela_status run_copy(void *argument, double *seconds) {
  *seconds = timed(argument, host_pieces(argument), host_copy_piece);
  return TESELA_OK;
}

static tesela_status run_library_copy(void *argument, double *seconds) {
  *seconds = timed(argument, host_pieces(argument), library_copy_piece);
  return TESELA_OK;
}

static double host_sum_of(const host_bench *b) {
  double sum = 0;
  for (int64_t i = 0; i < host_pieces(b); i++)
    sum += b->sums[i];
  return sum;
}

static tesela_status run_read(void *argument, double *seconds) {
  host_bench *b = argument;
  *seconds = timed(b, host_pieces(b), host_read_piece);
  if (host_sum_of(b) != b->sum)
    return tsl_fail(TESELA_WRONG_RESULT, "%s: numbers read from memory have a wrong sum", b->device->name);
  return TESELA_OK;
}

static tesela_status host_measure_copy(host_bench *b, tsl_roofs_run run, size_t piece, double seconds,
                                       tsl_roof *roof) {
  b->piece = piece;
  TSL_TRY(tsl_roofs_repeat(run, b, 2.0 * (double)b->bytes, seconds, roof));
  b->piece = PIECE;
  tsl_pool_run(b->pool, host_pieces(b), compare_piece, b);
  if (atomic_load(&b->wrong))
    return tsl_fail(TESELA_WRONG_RESULT, "%s: memory was copied wrong", b->device->name);
  return TESELA_OK;
}

/* Asks the system for large pages, which have fewer TLB misses; it may refuse. */
static void ask_for_large_pages(void *block, size_t bytes) {
  const uintptr_t page = (uintptr_t)2 << 20, start = ((uintptr_t)block + page - 1) & ~(page - 1);
  const uintptr_t end = ((uintptr_t)block + bytes) & ~(page - 1);
  if (end > start)
    (void)madvise((char *)block + (start - (uintptr_t)block), end - start, MADV_HUGEPAGE);
}

static tesela_status measure_memory(host_bench *b, double seconds, tsl_roofs *roofs) {
  void *from = NULL, *to = NULL, *sums = NULL;
  const size_t large = b->bytes / (size_t)(LARGE_PIECES * b->threads) / PIECE * PIECE;
  tesela_status status;
  TSL_GO(tsl_alloc(b->bytes, "an array to measure with", &from));
  TSL_GO(tsl_alloc(b->bytes, "an array to measure with", &to));
  TSL_GO(tsl_alloc(b->bytes / PIECE * sizeof(double), "sums", &sums));
  ask_for_large_pages(from, b->bytes);
  ask_for_large_pages(to, b->bytes);
  b->from = from;
  b->to = to;
  b->sums = sums;
  b->piece = PIECE;
  b->mask = tsl_roofs_mask(PIECE / (int)sizeof(float) / LEAST_LANES);
  tsl_pool_run(b->pool, host_pieces(b), host_fill_piece, b);
  b->sum = host_sum_of(b);
  TSL_GO(host_measure_copy(b, run_copy, PIECE, 0.25 * seconds, &roofs->roof[TSL_ROOF_COPY]));
  TSL_GO(host_measure_copy(b, run_library_copy, large > 0 ? large : PIECE, 0.1 * seconds,
                           &roofs->roof[TSL_ROOF_COPY]));
  status = tsl_roofs_repeat(run_read, b, (double)b->bytes, 0.2 * seconds, &roofs->roof[TSL_ROOF_READ]);
out:
  tsl_free(from);
  tsl_free(to);
  tsl_free(sums);
  return status;
}

enum { CHAIN_BYTES = TSL_ROOFS_CHAINS * 64 };

static bool fma_f32(const tsl_roofs_loops *loops, const tsl_roofs_chain *chain, int64_t rounds) {
  _Alignas(64) float x[CHAIN_BYTES / sizeof(float)];
  const int count = TSL_ROOFS_CHAINS * loops->vector_bytes / (int)sizeof *x;
  for (int i = 0; i < count; i++)
    x[i] = (float)tsl_roofs_start(i);
  loops->fma_f32(rounds, (float)chain->factor, (float)chain->summand, x);
  for (int i = 0; i < count; i++)
    if (x[i] != (float)tsl_roofs_end(chain, i, rounds * TSL_ROOFS_ROUND))
      return false;
  return true;
}

static bool fma_f64(const tsl_roofs_loops *loops, const tsl_roofs_chain *chain, int64_t rounds) {
  _Alignas(64) double x[CHAIN_BYTES / sizeof(double)];
  const int count = TSL_ROOFS_CHAINS * loops->vector_bytes / (int)sizeof *x;
  for (int i = 0; i < count; i++)
    x[i] = tsl_roofs_start(i);
  loops->fma_f64(rounds, chain->factor, chain->summand, x);
  for (int i = 0; i < count; i++)
    if (x[i] != tsl_roofs_end(chain, i, rounds * TSL_ROOFS_ROUND))
      return false;
  return true;
}

static void fma_piece(void *argument, int64_t index, int worker) {
  (void)index, (void)worker;
  host_bench *b = argument;
  if (!(b->type == TESELA_F64 ? fma_f64 : fma_f32)(b->loops, b->chain, b->rounds))
    atomic_store(&b->wrong, true);
}

static tesela_status run_fma(void *argument, double *seconds) {
  host_bench *b = argument;
  *seconds = timed(b, (int64_t)FMA_PIECES * b->threads, fma_piece);
  if (atomic_load(&b->wrong))
    return tsl_fail(TESELA_WRONG_RESULT, "%s: multiply-adds in %s had a wrong result", b->device->name,
                    tsl_type(b->type)->name);
  return TESELA_OK;
}

static tesela_status measure_fma(host_bench *b, tesela_type type, double seconds, tsl_roof *roof) {
  double once = 0;
  b->type = type;
  b->chain = &tsl_roofs_counting;
  b->rounds = TSL_ROOFS_ROUNDS_COUNTED;
  TSL_TRY(run_fma(b, &once));
  b->chain = &tsl_roofs_turning;
  for (once = 0; once < fma_seconds / 2 && b->rounds < TSL_ROOFS_ROUNDS_MAX;) {
    b->rounds *= 2;
    TSL_TRY(run_fma(b, &once));
  }
  const double lanes = b->loops->vector_bytes / (double)tsl_type(type)->size;
  const double work =
      2.0 * lanes * TSL_ROOFS_CHAINS * TSL_ROOFS_ROUND * (double)b->rounds * FMA_PIECES * b->threads;
  return tsl_roofs_repeat(run_fma, b, work, seconds, roof);
}

static const tsl_roofs_loops *loops_for(const tsl_device *device) {
#define SET(isa, header, needs, ...) &tsl_roofs_loops_##isa,
  static const tsl_roofs_loops *const sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  return sets[tsl_isa_best(device->capabilities)];
}

tesela_status tsl_roofs_core(const tsl_device *cpu, double *rate) {
  enum { BURSTS = 12, ROUNDS = 1024 }; /* bursts of about 0.1 ms */
  const tsl_roofs_loops *loops = loops_for(cpu);
  const double lanes = loops->vector_bytes / (double)sizeof(float);
  double least = INFINITY;
  for (int i = 0; i < BURSTS; i++) {
    const double start = tsl_clock();
    if (!fma_f32(loops, &tsl_roofs_turning, ROUNDS))
      return tsl_fail(TESELA_WRONG_RESULT, "%s: multiply-adds in f32 had a wrong result", cpu->name);
    least = fmin(least, tsl_clock() - start);
  }
  if (!(least > 0))
    return tsl_fail(TESELA_DEVICE_FAILED, "%s: the clock did not advance while a core was measured",
                    cpu->name);
  *rate = 2 * lanes * TSL_ROOFS_CHAINS * TSL_ROOFS_ROUND * ROUNDS / least;
  return TESELA_OK;
}

tesela_status tsl_roofs_on_host(tsl_device *device, double seconds, tsl_roofs *roofs) {
  host_bench b = {.device = device, .pool = tsl_pool_shared(), .bytes = roofs->bytes};
  b.loops = loops_for(device);
  b.threads = tsl_pool_threads(b.pool);
  if (b.bytes > 0)
    TSL_TRY(measure_memory(&b, seconds, roofs));
  TSL_TRY(measure_fma(&b, TESELA_F32, 0.15 * seconds, &roofs->roof[TSL_ROOF_FMA_F32]));
  return measure_fma(&b, TESELA_F64, 0.15 * seconds, &roofs->roof[TSL_ROOF_FMA_F64]);
}

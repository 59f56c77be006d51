/* Work on the pool is distributed in small chunks, so that a delayed thread does not delay the others. */
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

/* Large chunks, so many per thread, let the C library's copy use non-temporal stores. */
enum { CHUNK_BYTES = 1 << 20, LARGE_CHUNKS = 2 };
/* Tasks per thread; seconds of all of a thread's tasks. */
enum { FMA_TASKS = 4 };
static const double fma_seconds = 8e-3, level_seconds = 2e-3;
/* Each lane of read() sums at most CHUNK_BYTES / 4 / 32 numbers of a chunk. */
enum { LANES_MIN = 32 };

typedef struct host_bench {
  const tsl_device *device;
  const tsl_roofs_loops *loops;
  tsl_pool *pool;
  int threads;
  float *from, *to;
  size_t bytes, chunk_bytes; /* of each array; of a task's part */
  int64_t mask;
  double *sums; /* sum of each chunk, as last computed */
  double sum;   /* sum of all numbers */
  atomic_bool wrong;
  tesela_type type;
  const tsl_roofs_chain *chain;
  int64_t rounds;
  size_t level_bytes; /* bytes of a thread's part in a cache */
} host_bench;

static void fill_chunk(void *argument, int64_t index, int worker) {
  (void)worker;
  host_bench *b = argument;
  const size_t first = (size_t)index * b->chunk_bytes / sizeof(float), count = b->chunk_bytes / sizeof(float);
  int sum = 0; /* at most 2^18 numbers below 2^12 */
  for (size_t i = first; i < first + count; i++) {
    const int number = tsl_roofs_number(i, b->mask);
    b->from[i] = (float)number;
    b->to[i] = -1;
    sum += number;
  }
  b->sums[index] = sum;
}

static void copy_chunk(void *argument, int64_t index, int worker) {
  (void)worker;
  host_bench *b = argument;
  const size_t first = (size_t)index * b->chunk_bytes / sizeof(float);
  b->loops->copy(b->from + first, b->to + first, b->chunk_bytes / sizeof(float));
}

static void copy_chunk_by_library(void *argument, int64_t index, int worker) {
  (void)worker;
  host_bench *b = argument;
  const size_t first = (size_t)index * b->chunk_bytes / sizeof(float);
  const size_t left = b->bytes - first * sizeof(float);
  memcpy(b->to + first, b->from + first, left < b->chunk_bytes ? left : b->chunk_bytes);
}

static void sum_chunk(void *argument, int64_t index, int worker) {
  (void)worker;
  host_bench *b = argument;
  b->sums[index] = b->loops->read(b->from + (size_t)index * b->chunk_bytes / sizeof(float),
                                  b->chunk_bytes / sizeof(float), 1);
}

static void compare_chunk(void *argument, int64_t index, int worker) {
  (void)worker;
  host_bench *b = argument;
  const size_t first = (size_t)index * b->chunk_bytes / sizeof(float), count = b->chunk_bytes / sizeof(float);
  bool wrong = false;
  for (size_t i = first; i < first + count; i++) {
    wrong |= b->to[i] != (float)tsl_roofs_number(i, b->mask);
    b->to[i] = -1; /* for the next way of copying */
  }
  if (wrong)
    atomic_store(&b->wrong, true);
}

static int64_t host_chunk_count(const host_bench *b) {
  return (int64_t)((b->bytes - 1) / b->chunk_bytes + 1);
}

/* Runs a task for `count` indices on the pool and returns the seconds. */
static double time_task(host_bench *b, int64_t count, tsl_pool_task task) {
  const double start = tsl_clock();
  tsl_pool_run(b->pool, count, task, b);
  return tsl_clock() - start;
}

static tesela_status run_copy(void *argument, double *seconds) {
  *seconds = time_task(argument, host_chunk_count(argument), copy_chunk);
  return TESELA_OK;
}

static tesela_status run_library_copy(void *argument, double *seconds) {
  *seconds = time_task(argument, host_chunk_count(argument), copy_chunk_by_library);
  return TESELA_OK;
}

static double sum_of_chunks(const host_bench *b) {
  double sum = 0;
  for (int64_t i = 0; i < host_chunk_count(b); i++)
    sum += b->sums[i];
  return sum;
}

static tesela_status run_read(void *argument, double *seconds) {
  host_bench *b = argument;
  *seconds = time_task(b, host_chunk_count(b), sum_chunk);
  if (sum_of_chunks(b) != b->sum)
    return tsl_fail(TESELA_WRONG_RESULT, "%s: numbers read from memory have a wrong sum", b->device->name);
  return TESELA_OK;
}

/* Returns how often a loop reads a part that is smaller than a chunk, for lanes' sums that are exact. */
static int level_times(const host_bench *b) {
  return b->level_bytes < b->chunk_bytes ? (int)(b->chunk_bytes / b->level_bytes) : 1;
}

/* Reads a worker's own part of the array `rounds` times, in pieces of a chunk at most. */
static void read_level_task(void *argument, int64_t index, int worker) {
  (void)index;
  host_bench *b = argument;
  const size_t part = b->level_bytes / sizeof(float), piece = b->chunk_bytes / sizeof(float);
  const float *from = b->from + (size_t)worker * part;
  double first = 0;
  for (int64_t round = 0; round < b->rounds; round++) {
    double sum = 0;
    for (size_t i = 0; i < part; i += piece)
      sum += b->loops->read(from + i, piece < part - i ? piece : part - i, level_times(b));
    if (round == 0)
      first = sum;
    else if (sum != first)
      atomic_store(&b->wrong, true);
  }
}

static tesela_status run_level(void *argument, double *seconds) {
  host_bench *b = argument;
  *seconds = time_task(b, b->threads, read_level_task);
  if (atomic_load(&b->wrong))
    return tsl_fail(TESELA_WRONG_RESULT, "%s: numbers read from a cache changed", b->device->name);
  return TESELA_OK;
}

/* Measures a cache level by parts of half of its bytes; the last level is shared by all threads. Leaves the
 * roof out where the level is unknown, or no larger than the previous one. */
static tesela_status measure_level(host_bench *b, int level, double seconds, tsl_roof *roof) {
  const uint64_t *bytes = b->device->level_bytes;
  const uint64_t part = bytes[level] / 2 / (level == 2 ? (uint64_t)b->threads : 1);
  double once = 0;
  b->level_bytes = (size_t)part / (TSL_ROOFS_BLOCK * sizeof(float)) * (TSL_ROOFS_BLOCK * sizeof(float));
  if (b->level_bytes == 0 || (level > 0 && part <= bytes[level - 1]) ||
      b->level_bytes * (size_t)b->threads > b->bytes)
    return TESELA_OK;
  for (b->rounds = 1; once < level_seconds && b->rounds < TSL_ROOFS_ROUNDS_MAX;) {
    b->rounds *= 2;
    TSL_TRY(run_level(b, &once));
  }
  const double work = (double)b->level_bytes * level_times(b) * (double)b->rounds * b->threads;
  return tsl_roofs_repeat(run_level, b, work, seconds, roof);
}

static tesela_status host_measure_copy(host_bench *b, tsl_roofs_run run, size_t chunk_bytes, double seconds,
                                       tsl_roof *roof) {
  b->chunk_bytes = chunk_bytes;
  TSL_TRY(tsl_roofs_repeat(run, b, 2.0 * (double)b->bytes, seconds, roof));
  b->chunk_bytes = CHUNK_BYTES;
  tsl_pool_run(b->pool, host_chunk_count(b), compare_chunk, b);
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
  const size_t large = b->bytes / (size_t)(LARGE_CHUNKS * b->threads) / CHUNK_BYTES * CHUNK_BYTES;
  tesela_status status;
  TSL_GO(tsl_alloc(b->bytes, "an array to measure with", &from));
  TSL_GO(tsl_alloc(b->bytes, "an array to measure with", &to));
  TSL_GO(tsl_alloc(b->bytes / CHUNK_BYTES * sizeof(double), "sums", &sums));
  ask_for_large_pages(from, b->bytes);
  ask_for_large_pages(to, b->bytes);
  b->from = from;
  b->to = to;
  b->sums = sums;
  b->chunk_bytes = CHUNK_BYTES;
  b->mask = tsl_roofs_mask(CHUNK_BYTES / (int)sizeof(float) / LANES_MIN);
  tsl_pool_run(b->pool, host_chunk_count(b), fill_chunk, b);
  b->sum = sum_of_chunks(b);
  TSL_GO(host_measure_copy(b, run_copy, CHUNK_BYTES, 0.25 * seconds, &roofs->roof[TSL_ROOF_COPY]));
  TSL_GO(host_measure_copy(b, run_library_copy, large > 0 ? large : CHUNK_BYTES, 0.1 * seconds,
                           &roofs->roof[TSL_ROOF_COPY]));
  TSL_GO(tsl_roofs_repeat(run_read, b, (double)b->bytes, 0.2 * seconds, &roofs->roof[TSL_ROOF_READ]));
  for (int level = 0; level < 3; level++)
    TSL_GO(measure_level(b, level, 0.04 * seconds, &roofs->roof[TSL_ROOF_LEVEL1 + level]));
out:
  tsl_free(from);
  tsl_free(to);
  tsl_free(sums);
  return status;
}

enum { CHAIN_BYTES = TSL_ROOFS_CHAINS * 64 };

static bool fma_f32_is_right(const tsl_roofs_loops *loops, const tsl_roofs_chain *chain, int64_t rounds) {
  _Alignas(64) float x[CHAIN_BYTES / sizeof(float)];
  const int count = TSL_ROOFS_CHAINS * loops->vector_bytes / (int)sizeof *x;
  for (int i = 0; i < count; i++)
    x[i] = (float)tsl_roofs_chain_start(i);
  loops->fma_f32(rounds, (float)chain->factor, (float)chain->summand, x);
  for (int i = 0; i < count; i++)
    if (x[i] != (float)tsl_roofs_chain_end(chain, i, rounds * TSL_ROOFS_ROUND))
      return false;
  return true;
}

static bool fma_f64_is_right(const tsl_roofs_loops *loops, const tsl_roofs_chain *chain, int64_t rounds) {
  _Alignas(64) double x[CHAIN_BYTES / sizeof(double)];
  const int count = TSL_ROOFS_CHAINS * loops->vector_bytes / (int)sizeof *x;
  for (int i = 0; i < count; i++)
    x[i] = tsl_roofs_chain_start(i);
  loops->fma_f64(rounds, chain->factor, chain->summand, x);
  for (int i = 0; i < count; i++)
    if (x[i] != tsl_roofs_chain_end(chain, i, rounds * TSL_ROOFS_ROUND))
      return false;
  return true;
}

static void fma_task(void *argument, int64_t index, int worker) {
  (void)index, (void)worker;
  host_bench *b = argument;
  if (!(b->type == TESELA_F64 ? fma_f64_is_right : fma_f32_is_right)(b->loops, b->chain, b->rounds))
    atomic_store(&b->wrong, true);
}

static tesela_status run_fma(void *argument, double *seconds) {
  host_bench *b = argument;
  *seconds = time_task(b, (int64_t)FMA_TASKS * b->threads, fma_task);
  if (atomic_load(&b->wrong))
    return tsl_fail(TESELA_WRONG_RESULT, "%s: multiply-adds in %s had a wrong result", b->device->name,
                    tsl_type(b->type)->name);
  return TESELA_OK;
}

/* Doubles the rounds until a run is long enough, then measures. TESELA_WRONG_RESULT. */
static tesela_status measure_fma(host_bench *b, tesela_type type, double seconds, tsl_roof *roof) {
  double once = 0;
  b->type = type;
  b->chain = &tsl_roofs_counting_chain;
  b->rounds = TSL_ROOFS_ROUNDS_COUNTED;
  TSL_TRY(run_fma(b, &once));
  b->chain = &tsl_roofs_periodic_chain;
  for (once = 0; once < fma_seconds / 2 && b->rounds < TSL_ROOFS_ROUNDS_MAX;) {
    b->rounds *= 2;
    TSL_TRY(run_fma(b, &once));
  }
  const double lanes = b->loops->vector_bytes / (double)tsl_type(type)->size;
  const double work =
      2.0 * lanes * TSL_ROOFS_CHAINS * TSL_ROOFS_ROUND * (double)b->rounds * FMA_TASKS * b->threads;
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
    if (!fma_f32_is_right(loops, &tsl_roofs_periodic_chain, ROUNDS))
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

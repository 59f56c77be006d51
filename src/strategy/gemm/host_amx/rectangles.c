/* A job of one part. Dot instructions: all threads share copies of all operands. Tile registers use copies up so fast that
 * whatever another thread made comes too late: each thread takes a rectangle of C and copies for itself what that needs.
 *
 *      +-------+-------+-------+
 *      |   0   |   1   |   2   |     as many rectangles as threads, whose sides make the least work for the largest of them: its
 *      +-------+-------+-------+     products, and copies in proportion to its sides
 *      |   3   |   4   |   5   |
 *      +-------+-------+-------+
 *
 * What lies in a rectangle does not depend on it, so bits are the same for any number of threads. */
#include "base/scratch.h"
#include "base/status.h"
#include "strategy/gemm/host_amx/job.h"

/* More than this is not copied at once: C is cut into more rectangles. */
static const int64_t most_bytes = (int64_t)256 << 20;

typedef struct cutting {
  const tsl_amx_job *job;
  int64_t rows, columns; /* of a rectangle, the last ones excepted */
  int64_t across;        /* rectangles side by side */
  uint32_t *room;
  int64_t each;   /* a share of it */
  bool by_worker; /* whose shares are a worker's, else a rectangle's */
  tsl_team team;
} cutting;

static tsl_amx_job rectangle(const cutting *of, int64_t index) {
  const tsl_amx_job *job = of->job;
  const int64_t row = index / of->across * of->rows, column = index % of->across * of->columns;
  return tsl_amx_rectangle_of(job, row, tsl_least(of->rows, job->views.m - row), column,
                              tsl_least(of->columns, job->views.n - column));
}

static int64_t rounded(int64_t total, int64_t parts, int64_t step) {
  return tsl_ceil_div(tsl_ceil_div(total, step), parts) * step;
}

/* Clocks for a unit of each row and column of a rectangle: 256 products a clock, a few clocks to copy a line of 16. */
static double clocks(int64_t rows, int64_t columns) {
  return (double)rows * (double)columns / 256 + (double)(rows + columns) / 4;
}

/* Into `count` rectangles, or fewer. */
static void cut(cutting *of, int64_t count) {
  const tsl_amx_job *job = of->job;
  double best = -1;
  for (int64_t down = 1; down <= count; down++) {
    if (count % down != 0)
      continue;
    const int64_t rows = rounded(job->views.m, down, job->kernels->height),
                  columns = rounded(job->views.n, count / down, job->kernels->width);
    const double cost = clocks(rows, columns);
    if (best >= 0 && cost >= best)
      continue;
    best = cost;
    of->rows = rows;
    of->columns = columns;
  }
  of->across = tsl_ceil_div(job->views.n, of->columns);
}

int64_t tsl_amx_room_here(const tsl_amx_job *job) {
  return job->kernels->is_amx ? tsl_amx_room_alone(job) : tsl_amx_room_shared(job, 1);
}

void tsl_amx_run_here(const tsl_amx_job *job, uint32_t *room) {
  if (job->kernels->is_amx)
    tsl_amx_run_alone(job, room);
  else
    tsl_amx_run_shared(job, (tsl_team){0}, room);
}

static void multiply_rectangle(void *argument, int64_t index, int worker) {
  const cutting *of = argument;
  const tsl_amx_job part = rectangle(of, index);
  if (part.kernels->is_amx)
    tsl_amx_run_alone(&part, of->room + (of->by_worker ? worker : index) * of->each);
  else
    tsl_amx_run_shared(&part, of->team, of->room);
}

tesela_status tsl_amx_run_rectangles(const tsl_amx_job *job, tsl_team team) {
  const bool is_amx = job->kernels->is_amx;
  const int threads = tsl_team_threads(team);
  const int64_t bytes = 4 * job->units * (tsl_amx_rows_of_a(job) + tsl_amx_columns_of_b(job)),
                least = tsl_ceil_div(bytes, most_bytes);
  cutting of = {.job = job, .team = team};
  cut(&of, is_amx ? tsl_ceil_div(least, threads) * threads : least);
  const int64_t count = tsl_ceil_div(job->views.m, of.rows) * of.across;
  for (int64_t i = 0; i < count; i++) {
    const tsl_amx_job part = rectangle(&of, i);
    of.each = tsl_most(of.each, is_amx ? tsl_amx_room_alone(&part) : tsl_amx_room_shared(&part, threads));
  }
  const int64_t rooms = is_amx ? tsl_least(threads, count) : 1;
  of.by_worker = count > threads;
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)(rooms * of.each) * sizeof(uint32_t), "copies of the operands", &memory));
  of.room = memory;
  tsl_team_run(is_amx ? team : (tsl_team){0}, count, multiply_rectangle, &of);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

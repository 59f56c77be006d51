#include "strategy/gemm/host_slim/job.h"

#include "base/scratch.h"
#include "base/status.h"
#include "host/split.h"
#include "strategy/prepared.h"

enum {
  SUMS_BYTES = 16 << 10, /* of a piece whose rows pass */
  REDUCED =
      60, /* columns of the large operand in a piece where they are spread: whole tiles of all heights but 8 and 16 */
  UPDATE_BYTES = 32 << 10, /* of B's part of an update: near enough for tiles of one row after the other */
  UPDATE_ROWS = 240,       /* of C in a piece of an update */
  UPDATE_MOST = 256,       /* its columns */
  AHEAD_BYTES = 512,       /* how far ahead of its tiles it asks for C */
  VECTORS = 2,             /* across a tile of rows that pass, and of an update */
  LEVEL_2_GUESS = 512 << 10,
  LEVEL_3_GUESS = 16 << 20
};
static const double alone_flops = 2e6; /* below so many a second thread costs more than it saves */

const char *tsl_slim_refuse(const tsl_problem *problem) {
  const int64_t m = problem->m, n = problem->n, k = problem->k;
  if (tsl_least(m, n) > TSL_SLIM_MOST && k > TSL_SLIM_STEPS)
    return tsl_refusal("neither m nor n of %lld x %lld x %lld is %d or less, nor k %d", (long long)m,
                       (long long)n, (long long)k, TSL_SLIM_MOST, TSL_SLIM_STEPS);
  if (tsl_least(m, n) <= TSL_SLIM_MOST || problem->c.row_stride == 1 || problem->c.col_stride == 1)
    return NULL;
  return "of products with few steps, C's rows or columns must lie side by side";
}

/* How the operands lie, seen in the direction in which the product is slim. */
static void set_strides(const tsl_problem *problem, const tsl_operands *strides, tsl_slim_job *job) {
  tsl_views views = tsl_views_as_given(problem, strides);
  const int64_t few = job->few, many = job->many, depth = job->depth;
  if (job->is_swapped)
    tsl_views_swap(&views);
  job->across = depth == 0 ? 1 : tsl_stride_of(views.b.col_stride, many, 1);
  job->along = tsl_stride_of(views.b.row_stride, depth, many > 1 ? 0 : 1);
  job->thin_across = depth == 0 ? 0 : tsl_stride_of(views.a.row_stride, few, 0);
  job->thin_along = tsl_stride_of(views.a.col_stride, depth, 1);
  job->c_few = tsl_stride_of(views.c.row_stride, few, 0);
  job->c_many = tsl_stride_of(views.c.col_stride, many, 1);
}

static const tsl_slim_kernels *kernels_for(tesela_type type, unsigned offers) {
#define KERNELS(isa, header, needs, ...) {&tsl_slim_##isa##_f32, &tsl_slim_##isa##_f64},
  static const tsl_slim_kernels *const kernels[][2] = {TSL_ISA_LIST(KERNELS)};
#undef KERNELS
  return kernels[tsl_isa_best(offers)][type == TESELA_F64];
}

/* Columns of a piece: sums that stay near; of an update, a part of B that does. A chunk's part of the large operand and the next
 * one's fill half of the second cache. */
static void cut(tsl_slim_job *job, const tsl_device *device) {
  const int64_t level_2 = device->level_bytes[1] ? (int64_t)device->level_bytes[1] : LEVEL_2_GUESS;
  const int64_t bytes = job->way == TSL_SLIM_UPDATE ? UPDATE_BYTES : SUMS_BYTES,
                each = tsl_most(job->way == TSL_SLIM_UPDATE ? job->depth : job->few, 1) * job->size;
  job->width = tsl_least(UPDATE_MOST, tsl_most(bytes / each / 64, 1) * 64);
  job->chunk = tsl_least(TSL_SLIM_CHUNK_MAX, tsl_most(level_2 / 4 / (job->width * job->size) / 16, 2) * 16);
}

/* With one multiply-add of a whole vector a clock, two across leave a processor more to hold than it can: the next tile's C is asked for
 * when this one's is written. */
static int vectors_of_updates(const tsl_slim_job *job, const tsl_device *device) {
  const bool is_whole = job->kernels->lanes * job->size == 64,
             pairs = (device->capabilities & TSL_CAN_AVX512_PAIRS) != 0;
  return is_whole && !pairs ? 1 : VECTORS;
}

void tsl_slim_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_device *device,
                       tsl_slim_job *job) {
  const int64_t m = problem->m, n = problem->n;
  const bool is_update = tsl_least(m, n) > TSL_SLIM_MOST;
  const int64_t size = problem->c.type == TESELA_F64 ? 8 : 4;
  const double level_3 = device->level_bytes[2] ? (double)device->level_bytes[2] : LEVEL_3_GUESS;
  *job = (tsl_slim_job){.kernels = kernels_for(problem->c.type, device->capabilities),
                        .is_swapped = is_update ? strides->c.col_stride != 1 : n < m,
                        .size = size,
                        .depth = problem->alpha[0] != 0 ? problem->k : 0,
                        .alpha = problem->alpha[0],
                        .beta = problem->beta[0]};
  job->few = job->is_swapped ? n : m;
  job->many = job->is_swapped ? m : n;
  set_strides(problem, strides, job);
  job->way = is_update && job->depth > 0 ? TSL_SLIM_UPDATE
             : job->across != 1          ? TSL_SLIM_SPREAD
                                         : TSL_SLIM_ROWS;
  job->vectors = vectors_of_updates(job, device);
  cut(job, device);
  job->nontemporal = job->beta == 0 && (double)m * (double)n * (double)size > level_3 / 2;
  job->is_far = tsl_problem_bytes(problem) > level_3 / 4;
  job->alone = device->threads == 1 || tsl_problem_flops(problem) < alone_flops;
  job->asks_ahead = m * n * size > (device->level_bytes[1] ? (int64_t)device->level_bytes[1] : LEVEL_2_GUESS);
  job->by_rows = job->alone || tsl_problem_bytes(problem) > level_3 / 2;
}

/* A run under way. */
typedef struct running {
  const tsl_slim_job *job;
  tsl_team team;
  const char *large, *thin;
  char *c;
  const char
      *packed; /* where it is copied: the thin operand, steps of whole vectors; of an update, the large one */
  int64_t pitch; /* of `packed`, elements */
  int64_t width, pieces, columns_of_pieces;
} running;

static void run_pieces(const running *run, tsl_pool_task task) {
  union {
    const running *read;
    void *any;
  } argument = {run};
  tsl_team_run(run->team, run->pieces, task, argument.any);
}

/* Tiles that ask for something: each for its part of as many rows as it has steps. */
static void multiply_asking(const tsl_slim_job *job, const tsl_slim_tile *of, int64_t vectors, int64_t rows,
                            const char *a, const char *b, char *c) {
  const int64_t count = tsl_ceil_div(rows, job->kernels->rows[vectors - 1]);
  tsl_slim_tile tile = *of;
  int64_t left = of->asks;
  for (int64_t i = 0; i < count; i++) {
    const int64_t height = tsl_even_start(rows, count, i + 1) - tsl_even_start(rows, count, i);
    tile.asks = tsl_ceil_div(left, count - i);
    job->kernels->multiply[vectors - 1][height - 1](&tile, a, b, c);
    left -= tile.asks;
    tile.b_ahead += tile.asks * tile.depth / 4 * tile.b_step;
    a += height * tile.a_row;
    c += height * tile.c_row;
  }
}

/* A panel of C's columns from top to bottom, as few tiles as can be, all nearly alike. */
static void multiply_down(const tsl_slim_job *job, const tsl_slim_tile *of, int64_t vectors, int64_t rows,
                          const char *a, const char *b, char *c) {
  const tsl_slim_multiply *const multiply = job->kernels->multiply[vectors - 1];
  const int64_t count = tsl_ceil_div(rows, job->kernels->rows[vectors - 1]),
                height = tsl_ceil_div(rows, count), lowers = count * height - rows;
  if (of->asks > 0) {
    multiply_asking(job, of, vectors, rows, a, b, c);
    return;
  }
  const int64_t a_next = height * of->a_row, c_next = height * of->c_row;
  int64_t i = 0;
  for (; i < count - lowers; i++, a += a_next, c += c_next)
    multiply[height - 1](of, a, b, c);
  for (; i < count; i++, a += a_next - of->a_row, c += c_next - of->c_row)
    multiply[height - 2](of, a, b, c);
}

/* --- rows of the large operand pass --- */

/* Some steps of a piece's columns that are whole tiles; and of its last columns, which are copied first. */
static tsl_slim_tile tile_of_steps(const tsl_slim_job *job, int64_t l, int64_t steps) {
  return (tsl_slim_tile){.depth = steps,
                         .a_row = job->thin_across * job->size,
                         .a_step = job->thin_along * job->size,
                         .b_step = job->along * job->size,
                         .c_row = job->width * job->size,
                         .alpha = job->alpha,
                         .goes_on = l > 0,
                         .scales = job->alpha != 1 && l + steps == job->depth};
}

static void add_whole(const running *run, const char *large, int64_t width, char *sums) {
  const tsl_slim_job *job = run->job;
  const int64_t size = job->size, across = VECTORS * job->kernels->lanes,
                chunk = job->is_far ? job->chunk : job->depth;
  for (int64_t l = 0; l < job->depth; l += chunk) {
    const int64_t steps = tsl_least(chunk, job->depth - l);
    const char *const a = run->thin + l * job->thin_along * size, *const b = large + l * job->along * size;
    tsl_slim_tile tile = tile_of_steps(job, l, steps);
    tile.b_ahead = steps * tile.b_step;
    tile.asks = job->is_far && l + 2 * steps <= job->depth ? 4 : 0;
    for (int64_t j = 0; j < width; j += across)
      multiply_down(job, &tile, VECTORS, job->few, a, b + j * size, sums + j * size);
  }
}

static void add_edge(const running *run, const char *large, int64_t width, char *sums) {
  const tsl_slim_job *job = run->job;
  _Alignas(64) char edge[TSL_SLIM_CHUNK_MAX * TSL_SLIM_EDGE_BYTES];
  const int64_t size = job->size, across = VECTORS * job->kernels->lanes;
  for (int64_t l = 0; l < job->depth; l += TSL_SLIM_CHUNK_MAX) {
    const int64_t steps = tsl_least(TSL_SLIM_CHUNK_MAX, job->depth - l);
    tsl_slim_tile tile = tile_of_steps(job, l, steps);
    tile.b_step = across * size;
    job->kernels->copy(large + l * job->along * size, job->along, 1, steps, width, across, edge, across);
    multiply_down(job, &tile, VECTORS, job->few, run->thin + l * job->thin_along * size, edge, sums);
  }
}

static void add_piece(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_slim_job *job = run->job;
  const int64_t from = index * run->width, width = tsl_least(run->width, job->many - from), size = job->size,
                whole = width - width % (VECTORS * job->kernels->lanes);
  const char *const large = run->large + from * size;
  _Alignas(64) char sums[SUMS_BYTES];
  (void)worker;
  add_whole(run, large, whole, sums);
  if (whole < width)
    add_edge(run, large + whole * size, width - whole, sums + whole * size);
  for (int64_t i = 0; i < job->few; i++)
    job->kernels->finish(sums + i * job->width * size, 1, width, job->beta,
                         run->c + (i * job->c_few + from * job->c_many) * size, job->c_many);
}

_Static_assert(TSL_SLIM_MOST * 64 * sizeof(double) <= SUMS_BYTES, "the narrowest piece has 64 columns");

/* A piece is narrower where there are threads for more pieces. */
static tesela_status add_rows(running *run) {
  const int64_t fair = tsl_ceil_div(run->job->many, tsl_team_threads(run->team));
  run->width = tsl_least(run->job->width, tsl_round_up(fair, 64));
  run->pieces = tsl_ceil_div(run->job->many, run->width);
  run_pieces(run, add_piece);
  return TESELA_OK;
}

/* --- its numbers are spread --- */

/* Vectors of the next tile across, of so many that are left. */
static int64_t vectors_of_tile(int64_t left) {
  return left == 4 || left < 3 ? tsl_least(left, 2) : 3;
}

static void spread_columns(const running *run, int64_t from, int64_t count, int64_t vector, int64_t vectors,
                           char *sums) {
  const tsl_slim_job *job = run->job;
  const int64_t size = job->size, offset = vector * job->kernels->lanes * size;
  const tsl_slim_tile tile = {.depth = job->depth,
                              .a_row = job->across * size,
                              .a_step = job->along * size,
                              .b_step = run->pitch * size,
                              .c_row = run->pitch * size,
                              .alpha = job->alpha,
                              .scales = job->alpha != 1};
  multiply_down(job, &tile, vectors, count, run->large + from * job->across * size, run->packed + offset,
                sums + offset);
}

static void spread_piece(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_slim_job *job = run->job;
  const int64_t from = index * REDUCED, count = tsl_least(REDUCED, job->many - from), size = job->size,
                all = run->pitch / job->kernels->lanes;
  _Alignas(64) char sums[REDUCED * TSL_SLIM_MOST * sizeof(double)];
  char *const c = run->c + from * job->c_many * size;
  (void)worker;
  for (int64_t vector = 0, vectors; vector < all; vector += vectors) {
    vectors = vectors_of_tile(all - vector);
    spread_columns(run, from, count, vector, vectors, sums);
  }
  if (job->c_few == 1)
    for (int64_t j = 0; j < count; j++)
      job->kernels->finish(sums + j * run->pitch * size, 1, job->few, job->beta, c + j * job->c_many * size,
                           1);
  else
    for (int64_t i = 0; i < job->few; i++)
      job->kernels->finish(sums + i * size, run->pitch, count, job->beta, c + i * job->c_few * size,
                           job->c_many);
}

static tesela_status spread(running *run) {
  const tsl_slim_job *job = run->job;
  void *packed;
  run->pitch = tsl_round_up(job->few, job->kernels->lanes);
  TSL_TRY(
      tsl_scratch_take((size_t)(job->depth * run->pitch * job->size), "the thin operand's numbers", &packed));
  job->kernels->copy(run->thin, job->thin_along, job->thin_across, job->depth, job->few, run->pitch, packed,
                     run->pitch);
  run->packed = packed;
  run->pieces = tsl_ceil_div(job->many, REDUCED);
  run_pieces(run, spread_piece);
  tsl_scratch_give(packed);
  return TESELA_OK;
}

/* --- updates --- */

/* Where a piece of an update begins, how large it is, and its last columns' rows of B that were copied. */
typedef struct piece {
  tsl_slim_tile tile;
  const char *a, *b, *edge;
  char *c;
  int64_t rows, width;
} piece;

/* A piece that goes past the caches: rows of a tile are made aside, from the left to the right, then streamed. */
static void update_aside(const tsl_slim_job *job, const piece *of) {
  _Alignas(64) char sums[TSL_SLIM_UPDATE_ROWS * UPDATE_MOST * sizeof(double)];
  const int64_t size = job->size, across = job->vectors * job->kernels->lanes,
                most = tsl_least(job->kernels->rows[job->vectors - 1], TSL_SLIM_UPDATE_ROWS),
                whole = of->width / across * across;
  tsl_slim_tile tile = of->tile, last = of->tile;
  tile.c_row = last.c_row = job->width * size;
  last.b_step = across * size;
  for (int64_t i = 0, height; i < of->rows; i += height) {
    const char *const a = of->a + i * tile.a_row;
    height = tsl_least(most, of->rows - i);
    const tsl_slim_multiply multiply = job->kernels->multiply[job->vectors - 1][height - 1];
    for (int64_t j = 0; j < whole; j += across)
      multiply(&tile, a, of->b + j * size, sums + j * size);
    if (whole < of->width)
      multiply(&last, a, of->edge, sums + whole * size);
    for (int64_t row = 0; row < height; row++)
      job->kernels->stream(sums + row * tile.c_row, of->width, of->c + (i + row) * of->tile.c_row);
  }
  job->kernels->fence();
}

/* A row of tiles, from the left to the right. What they want of C is asked for so many bytes before, at a row's end that of the next one. */
static void update_row(const tsl_slim_job *job, const piece *of, const tsl_slim_tile *like, int64_t row,
                       int64_t height, int64_t whole) {
  const int64_t size = job->size, across = job->vectors * job->kernels->lanes,
                ahead = job->asks_ahead ? AHEAD_BYTES / size : 0;
  const tsl_slim_multiply multiply = job->kernels->multiply[job->vectors - 1][height - 1];
  const char *const a = of->a + row * like->a_row;
  char *const c = of->c + row * like->c_row;
  tsl_slim_tile tile = *like;
  for (int64_t j = 0; j < whole; j += across) {
    if (ahead > 0)
      tile.c_ahead = j + ahead < whole ? ahead * size : height * tile.c_row + (ahead - whole) * size;
    multiply(&tile, a, of->b + j * size, c + j * size);
  }
}

/* A piece whose C is where it belongs, with B in the first cache; the last columns aside. Factors of 1 and -1 are none: the same bits. */
static void update_near(const tsl_slim_job *job, const piece *of) {
  _Alignas(64) char sums[UPDATE_ROWS * TSL_SLIM_EDGE_BYTES];
  const int64_t size = job->size, across = job->vectors * job->kernels->lanes,
                whole = of->width / across * across,
                count = tsl_ceil_div(of->rows, job->kernels->rows[job->vectors - 1]);
  tsl_slim_tile tile = of->tile;
  tile.plain = job->beta != 1 ? 0 : job->alpha == -1 ? -1 : 1;
  tile.scales = of->tile.scales && tile.plain >= 0;
  if (!job->by_rows)
    for (int64_t j = 0; j < whole; j += across)
      multiply_down(job, &tile, job->vectors, of->rows, of->a, of->b + j * size, of->c + j * size);
  for (int64_t i = 0; i < count && job->by_rows; i++) {
    const int64_t row = tsl_even_start(of->rows, count, i);
    update_row(job, of, &tile, row, tsl_even_start(of->rows, count, i + 1) - row, whole);
  }
  if (whole == of->width)
    return;
  tile = of->tile;
  tile.b_step = tile.c_row = across * size;
  tile.adds = false;
  multiply_down(job, &tile, job->vectors, of->rows, of->a, of->edge, sums);
  for (int64_t i = 0; i < of->rows; i++)
    job->kernels->finish(sums + i * across * size, 1, of->width - whole, job->beta,
                         of->c + i * of->tile.c_row + whole * size, 1);
}

/* Where several threads go along rows, pieces below each other come one after the other: each has rows of its own then, in which the
 * processor reads ahead. */
static void update_piece(void *argument, int64_t index, int worker) {
  const running *run = argument;
  const tsl_slim_job *job = run->job;
  const int64_t rows_of_pieces = run->pieces / run->columns_of_pieces;
  const bool goes_down = !job->alone && job->by_rows;
  const int64_t first = (goes_down ? index % rows_of_pieces : index / run->columns_of_pieces) * UPDATE_ROWS,
                from = (goes_down ? index / rows_of_pieces : index % run->columns_of_pieces) * run->width,
                size = job->size, rows = tsl_least(UPDATE_ROWS, job->few - first),
                width = tsl_least(run->width, job->many - from), across = job->vectors * job->kernels->lanes,
                whole = width / across * across;
  _Alignas(64) char edge[TSL_SLIM_STEPS * TSL_SLIM_EDGE_BYTES];
  const piece of = {.tile = {.depth = job->depth,
                             .a_row = job->thin_across * size,
                             .a_step = job->thin_along * size,
                             .b_step = run->pitch * size,
                             .c_row = job->c_few * size,
                             .alpha = job->alpha,
                             .beta = job->beta,
                             .scales = job->alpha != 1,
                             .adds = job->beta != 0},
                    .a = run->thin + first * job->thin_across * size,
                    .b = run->packed + from * size,
                    .edge = edge,
                    .c = run->c + (first * job->c_few + from) * size,
                    .rows = rows,
                    .width = width};
  (void)worker;
  if (whole < width)
    job->kernels->copy(of.b + whole * size, run->pitch, 1, job->depth, width - whole, across, edge, across);
  (job->nontemporal ? update_aside : update_near)(job, &of);
}

static tesela_status update(running *run) {
  const tsl_slim_job *job = run->job;
  void *packed = NULL;
  run->packed = run->large;
  run->pitch = job->along;
  if (job->across != 1) {
    TSL_TRY(tsl_scratch_take((size_t)(job->depth * job->many * job->size), "the large operand's numbers",
                             &packed));
    job->kernels->copy(run->large, job->along, job->across, job->depth, job->many, job->many, packed,
                       job->many);
    run->packed = packed;
    run->pitch = job->many;
  }
  run->width = job->width;
  run->columns_of_pieces = tsl_ceil_div(job->many, run->width);
  run->pieces = run->columns_of_pieces * tsl_ceil_div(job->few, UPDATE_ROWS);
  run_pieces(run, update_piece);
  tsl_scratch_give(packed);
  return TESELA_OK;
}

/* Nothing is multiplied: C = beta C. */
static void scale(const running *run) {
  static const double zero;
  const tsl_slim_job *job = run->job;
  for (int64_t i = 0; i < job->few; i++)
    job->kernels->finish(&zero, 0, job->many, job->beta, run->c + i * job->c_few * job->size, job->c_many);
}

tesela_status tsl_slim_job_run(const tsl_slim_job *job, tsl_team team, const void *a, const void *b,
                               void *c) {
  static tesela_status (*const ways[])(running *) = {
      [TSL_SLIM_ROWS] = add_rows, [TSL_SLIM_SPREAD] = spread, [TSL_SLIM_UPDATE] = update};
  running run = {.job = job,
                 .team = job->alone ? (tsl_team){0} : team,
                 .large = job->is_swapped ? a : b,
                 .thin = job->is_swapped ? b : a,
                 .c = c};
  if (job->depth > 0)
    return ways[job->way](&run);
  scale(&run);
  return TESELA_OK;
}

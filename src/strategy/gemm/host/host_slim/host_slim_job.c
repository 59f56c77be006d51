#include "strategy/gemm/host/host_slim/host_slim_job.h"

#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/host_jobs/host_job.h"

enum {
  SUMS_BYTES = 16 << 10,   /* sums of a piece in TSL_SLIM_ROWS */
  REDUCED = 60,            /* columns of a piece in TSL_SLIM_SPREAD: a multiple of tile heights */
  UPDATE_BYTES = 32 << 10, /* B's part in an update's piece; stays near for all rows of tiles */
  UPDATE_ROWS = 240,       /* rows of C in a piece of an update */
  UPDATE_MOST = 256,       /* maximum columns of a piece of an update */
  AHEAD_BYTES = 512,       /* prefetch distance for C in an update */
  VECTORS = 2,             /* vectors of a tile's row in TSL_SLIM_ROWS and in an update */
  LEVEL_2_GUESS = 512 << 10,
  LEVEL_3_GUESS = 16 << 20
};
static const double alone_flops = 2e6; /* operations below which a second thread costs more than it saves */

static const tsl_slim_kernels *kernels_for(tesela_type type, unsigned offers) {
#define KERNELS(isa, header, needs, ...) {&tsl_slim_##isa##_f32, &tsl_slim_##isa##_f64},
  static const tsl_slim_kernels *const kernels[][2] = {TSL_ISA_LIST(KERNELS)};
#undef KERNELS
  return kernels[tsl_isa_best(offers)][type == TESELA_F64];
}

/* Sets the columns of a piece, whose sums (update: part of B) stay near, and the steps of a chunk. Two chunks
 * fill half of the second-level cache. */
static void cut(tsl_slim_job *job, const tsl_device *device) {
  const int64_t level_2 = device->level_bytes[1] ? (int64_t)device->level_bytes[1] : LEVEL_2_GUESS;
  const int64_t bytes = job->way == TSL_SLIM_UPDATE ? UPDATE_BYTES : SUMS_BYTES,
                each = tsl_max(job->way == TSL_SLIM_UPDATE ? job->shape.depth : job->shape.few, 1) *
                       job->shape.size;
  job->width = tsl_min(UPDATE_MOST, tsl_max(bytes / each / 64, 1) * 64);
  job->chunk =
      tsl_min(TSL_SLIM_CHUNK_MAX, tsl_max(level_2 / 4 / (job->width * job->shape.size) / 16, 2) * 16);
}

/* Returns NR in vectors for updates: 1 on processors with one whole multiply-add a clock. */
static int vectors_of_updates(const tsl_slim_job *job, const tsl_device *device) {
  const bool is_whole = job->kernels->lanes * job->shape.size == 64,
             pairs = (device->capabilities & TSL_CAN_AVX512_PAIRS) != 0;
  return is_whole && !pairs ? 1 : VECTORS;
}

void tsl_slim_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_device *device,
                       tsl_slim_job *job) {
  const double level_3 = device->level_bytes[2] ? (double)device->level_bytes[2] : LEVEL_3_GUESS;
  const int64_t c_bytes = problem->m * problem->n * (int64_t)tsl_type(problem->c.type)->size;
  *job = (tsl_slim_job){.kernels = kernels_for(problem->c.type, device->capabilities),
                        .shape = tsl_lopsided_of(problem, strides, TSL_SLIM_MOST),
                        .team = tsl_device_team(device)};
  job->way = job->shape.is_large_c && job->shape.depth > 0 ? TSL_SLIM_UPDATE
             : job->shape.across != 1                      ? TSL_SLIM_SPREAD
                                                           : TSL_SLIM_ROWS;
  job->vectors = vectors_of_updates(job, device);
  cut(job, device);
  job->nontemporal = job->shape.beta == 0 && (double)c_bytes > level_3 / 2;
  job->is_far = tsl_problem_bytes(problem) >
                (tsl_last_cache_is_far(device) ? (double)device->level_bytes[1] : level_3 / 4);
  job->alone = device->threads == 1 || tsl_problem_flops(problem) < alone_flops;
  job->asks_ahead = c_bytes > (device->level_bytes[1] ? (int64_t)device->level_bytes[1] : LEVEL_2_GUESS);
}

typedef struct slim_launch {
  const tsl_slim_job *job;
  tsl_team team;
  const char *large, *thin;
  char *c;
  const char *packed; /* the thin operand, in an update the large one: a copy, or the operand itself */
  int64_t pitch;      /* elements between rows of `packed` */
  int64_t width, pieces, pieces_across; /* columns of a piece; pieces; pieces in a row of C */
} slim_launch;

/* Multiplies a panel from top to bottom; each tile prefetches its part of the rows of b. */
static void multiply_and_prefetch(const tsl_slim_job *job, const tsl_slim_tile *slim_tile, int64_t vectors,
                                  int64_t rows, const char *a, const char *b, char *c) {
  const int64_t count = tsl_ceil_div(rows, job->kernels->rows[vectors - 1]);
  tsl_slim_tile tile = *slim_tile;
  int64_t left = slim_tile->asks;
  for (int64_t i = 0; i < count; i++) {
    const int64_t height = tsl_partition_begin(rows, count, i + 1) - tsl_partition_begin(rows, count, i);
    tile.asks = tsl_ceil_div(left, count - i);
    job->kernels->multiply[vectors - 1][height - 1](&tile, a, b, c);
    left -= tile.asks;
    tile.b_ahead += tile.asks * tile.depth / 4 * tile.b_step;
    a += height * tile.a_row;
    c += height * tile.c_row;
  }
}

/* Multiplies a panel of C's columns from top to bottom by as few tiles as possible, all nearly equal. */
static void multiply_down(const tsl_slim_job *job, const tsl_slim_tile *tile, int64_t vectors, int64_t rows,
                          const char *a, const char *b, char *c) {
  const tsl_slim_multiply *const multiply = job->kernels->multiply[vectors - 1];
  const int64_t count = tsl_ceil_div(rows, job->kernels->rows[vectors - 1]),
                height = tsl_ceil_div(rows, count), lowers = count * height - rows;
  if (tile->asks > 0) {
    multiply_and_prefetch(job, tile, vectors, rows, a, b, c);
    return;
  }
  const int64_t a_next = height * tile->a_row, c_next = height * tile->c_row;
  int64_t i = 0;
  for (; i < count - lowers; i++, a += a_next, c += c_next)
    multiply[height - 1](tile, a, b, c);
  for (; i < count; i++, a += a_next - tile->a_row, c += c_next - tile->c_row)
    multiply[height - 2](tile, a, b, c);
}

static tsl_slim_tile tile_of_steps(const tsl_slim_job *job, int64_t l, int64_t steps) {
  return (tsl_slim_tile){.depth = steps,
                         .a_row = job->shape.thin_across * job->shape.size,
                         .a_step = job->shape.thin_along * job->shape.size,
                         .b_step = job->shape.along * job->shape.size,
                         .c_row = job->width * job->shape.size,
                         .alpha = job->shape.alpha,
                         .goes_on = l > 0,
                         .scales = job->shape.alpha != 1 && l + steps == job->shape.depth};
}

static void add_whole_tiles(const slim_launch *run, const char *large, int64_t width, char *sums) {
  const tsl_slim_job *job = run->job;
  const int64_t size = job->shape.size, across = VECTORS * job->kernels->lanes,
                chunk = job->is_far ? job->chunk : job->shape.depth;
  for (int64_t l = 0; l < job->shape.depth; l += chunk) {
    const int64_t steps = tsl_min(chunk, job->shape.depth - l);
    const char *const a = run->thin + l * job->shape.thin_along * size, *const b =
                                                                            large +
                                                                            l * job->shape.along * size;
    tsl_slim_tile tile = tile_of_steps(job, l, steps);
    tile.b_ahead = steps * tile.b_step;
    tile.asks = job->is_far && l + 2 * steps <= job->shape.depth ? 4 : 0;
    for (int64_t j = 0; j < width; j += across)
      multiply_down(job, &tile, VECTORS, job->shape.few, a, b + j * size, sums + j * size);
  }
}

static void add_last_columns(const slim_launch *run, const char *large, int64_t width, char *sums) {
  const tsl_slim_job *job = run->job;
  _Alignas(64) char edge[TSL_SLIM_CHUNK_MAX * TSL_SLIM_EDGE_BYTES];
  const int64_t size = job->shape.size, across = VECTORS * job->kernels->lanes;
  for (int64_t l = 0; l < job->shape.depth; l += TSL_SLIM_CHUNK_MAX) {
    const int64_t steps = tsl_min(TSL_SLIM_CHUNK_MAX, job->shape.depth - l);
    tsl_slim_tile tile = tile_of_steps(job, l, steps);
    tile.b_step = across * size;
    job->kernels->copy(large + l * job->shape.along * size, job->shape.along, 1, steps, width, across, edge,
                       across);
    multiply_down(job, &tile, VECTORS, job->shape.few, run->thin + l * job->shape.thin_along * size, edge,
                  sums);
  }
}

static void add_piece(void *argument, int64_t index, int worker) {
  const slim_launch *run = argument;
  const tsl_slim_job *job = run->job;
  const int64_t from = index * run->width, width = tsl_min(run->width, job->shape.many - from),
                size = job->shape.size, whole = width - width % (VECTORS * job->kernels->lanes);
  const char *const large = run->large + from * size;
  _Alignas(64) char sums[SUMS_BYTES];
  (void)worker;
  add_whole_tiles(run, large, whole, sums);
  if (whole < width)
    add_last_columns(run, large + whole * size, width - whole, sums + whole * size);
  for (int64_t i = 0; i < job->shape.few; i++)
    job->kernels->finish(sums + i * job->width * size, 1, width, job->shape.beta,
                         run->c + (i * job->shape.c_few + from * job->shape.c_many) * size,
                         job->shape.c_many);
}

_Static_assert(TSL_SLIM_MOST * 64 * sizeof(double) <= SUMS_BYTES, "the narrowest piece has 64 columns");

/* Computes TSL_SLIM_ROWS; pieces are narrower if there are threads for more pieces. */
static tesela_status run_rows(slim_launch *run) {
  const int64_t fair = tsl_ceil_div(run->job->shape.many, tsl_team_threads(run->team));
  run->width = tsl_min(run->job->width, tsl_round_up(fair, 64));
  run->pieces = tsl_ceil_div(run->job->shape.many, run->width);
  tsl_team_run(run->team, run->pieces, add_piece, run);
  return TESELA_OK;
}

/* Returns the vectors of the next tile when `left` vectors remain. */
static int64_t vectors_of_tile(int64_t left) {
  return left == 4 || left < 3 ? tsl_min(left, 2) : 3;
}

static void spread_columns(const slim_launch *run, int64_t from, int64_t count, int64_t vector,
                           int64_t vectors, char *sums) {
  const tsl_slim_job *job = run->job;
  const int64_t size = job->shape.size, offset = vector * job->kernels->lanes * size;
  const tsl_slim_tile tile = {.depth = job->shape.depth,
                              .a_row = job->shape.across * size,
                              .a_step = job->shape.along * size,
                              .b_step = run->pitch * size,
                              .c_row = run->pitch * size,
                              .alpha = job->shape.alpha,
                              .scales = job->shape.alpha != 1};
  multiply_down(job, &tile, vectors, count, run->large + from * job->shape.across * size,
                run->packed + offset, sums + offset);
}

static void spread_piece(void *argument, int64_t index, int worker) {
  const slim_launch *run = argument;
  const tsl_slim_job *job = run->job;
  const int64_t from = index * REDUCED, count = tsl_min(REDUCED, job->shape.many - from),
                size = job->shape.size, all = run->pitch / job->kernels->lanes;
  _Alignas(64) char sums[REDUCED * TSL_SLIM_MOST * sizeof(double)];
  char *const c = run->c + from * job->shape.c_many * size;
  (void)worker;
  for (int64_t vector = 0, vectors; vector < all; vector += vectors) {
    vectors = vectors_of_tile(all - vector);
    spread_columns(run, from, count, vector, vectors, sums);
  }
  if (job->shape.c_few == 1)
    for (int64_t j = 0; j < count; j++)
      job->kernels->finish(sums + j * run->pitch * size, 1, job->shape.few, job->shape.beta,
                           c + j * job->shape.c_many * size, 1);
  else
    for (int64_t i = 0; i < job->shape.few; i++)
      job->kernels->finish(sums + i * size, run->pitch, count, job->shape.beta,
                           c + i * job->shape.c_few * size, job->shape.c_many);
}

static tesela_status run_spread(slim_launch *run) {
  const tsl_slim_job *job = run->job;
  void *packed;
  run->pitch = tsl_round_up(job->shape.few, job->kernels->lanes);
  TSL_TRY(tsl_scratch_take((size_t)(job->shape.depth * run->pitch * job->shape.size),
                           "the thin operand's numbers", &packed));
  job->kernels->copy(run->thin, job->shape.thin_along, job->shape.thin_across, job->shape.depth,
                     job->shape.few, run->pitch, packed, run->pitch);
  run->packed = packed;
  run->pieces = tsl_ceil_div(job->shape.many, REDUCED);
  tsl_team_run(run->team, run->pieces, spread_piece, run);
  tsl_scratch_give(packed);
  return TESELA_OK;
}

/* Piece of an update: its operands, and `edge`, the packed rows of B of its last columns. */
typedef struct slim_piece {
  tsl_slim_tile tile;
  const char *a, *b, *edge;
  char *c;
  int64_t rows, width;
} slim_piece;

/* Computes a piece whose C bypasses the caches: rows of tiles are computed in a buffer, then streamed. */
static void update_aside(const tsl_slim_job *job, const slim_piece *piece) {
  _Alignas(64) char sums[TSL_SLIM_UPDATE_ROWS * UPDATE_MOST * sizeof(double)];
  const int64_t size = job->shape.size, across = job->vectors * job->kernels->lanes,
                most = tsl_min(job->kernels->rows[job->vectors - 1], TSL_SLIM_UPDATE_ROWS),
                whole = piece->width / across * across;
  tsl_slim_tile tile = piece->tile, last = piece->tile;
  tile.c_row = last.c_row = job->width * size;
  last.b_step = across * size;
  for (int64_t i = 0, height; i < piece->rows; i += height) {
    const char *const a = piece->a + i * tile.a_row;
    height = tsl_min(most, piece->rows - i);
    const tsl_slim_multiply multiply = job->kernels->multiply[job->vectors - 1][height - 1];
    for (int64_t j = 0; j < whole; j += across)
      multiply(&tile, a, piece->b + j * size, sums + j * size);
    if (whole < piece->width)
      multiply(&last, a, piece->edge, sums + whole * size);
    for (int64_t row = 0; row < height; row++)
      job->kernels->stream(sums + row * tile.c_row, piece->width, piece->c + (i + row) * piece->tile.c_row);
  }
  job->kernels->fence();
}

/* Computes a row of tiles from left to right; each prefetches C AHEAD_BYTES further on, or the next row. */
static void update_row(const tsl_slim_job *job, const slim_piece *piece, const tsl_slim_tile *like,
                       int64_t row, int64_t height, int64_t whole) {
  const int64_t size = job->shape.size, across = job->vectors * job->kernels->lanes,
                ahead = job->asks_ahead ? AHEAD_BYTES / size : 0;
  const tsl_slim_multiply multiply = job->kernels->multiply[job->vectors - 1][height - 1];
  const char *const a = piece->a + row * like->a_row;
  char *const c = piece->c + row * like->c_row;
  tsl_slim_tile tile = *like;
  for (int64_t j = 0; j < whole; j += across) {
    if (ahead > 0)
      tile.c_ahead = j + ahead < whole ? ahead * size : height * tile.c_row + (ahead - whole) * size;
    multiply(&tile, a, piece->b + j * size, c + j * size);
  }
}

/* Computes a piece directly in C; the last columns use a buffer. Skips factors of 1 and -1 (equal bits). */
static void update_near(const tsl_slim_job *job, const slim_piece *piece) {
  _Alignas(64) char sums[UPDATE_ROWS * TSL_SLIM_EDGE_BYTES];
  const int64_t size = job->shape.size, across = job->vectors * job->kernels->lanes,
                whole = piece->width / across * across,
                count = tsl_ceil_div(piece->rows, job->kernels->rows[job->vectors - 1]);
  tsl_slim_tile tile = piece->tile;
  tile.plain = job->shape.beta != 1 ? 0 : job->shape.alpha == -1 ? -1 : 1;
  tile.scales = piece->tile.scales && tile.plain >= 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t row = tsl_partition_begin(piece->rows, count, i);
    update_row(job, piece, &tile, row, tsl_partition_begin(piece->rows, count, i + 1) - row, whole);
  }
  if (whole == piece->width)
    return;
  tile = piece->tile;
  tile.b_step = tile.c_row = across * size;
  tile.adds = false;
  multiply_down(job, &tile, job->vectors, piece->rows, piece->a, piece->edge, sums);
  for (int64_t i = 0; i < piece->rows; i++)
    job->kernels->finish(sums + i * across * size, 1, piece->width - whole, job->shape.beta,
                         piece->c + i * piece->tile.c_row + whole * size, 1);
}

/* Computes a piece, numbered down C's columns: threads side by side would prefetch each other's lines. */
static void update_piece(void *argument, int64_t index, int worker) {
  const slim_launch *run = argument;
  const tsl_slim_job *job = run->job;
  const int64_t rows_of_pieces = run->pieces / run->pieces_across;
  const int64_t first = (job->alone ? index / run->pieces_across : index % rows_of_pieces) * UPDATE_ROWS,
                from = (job->alone ? index % run->pieces_across : index / rows_of_pieces) * run->width,
                size = job->shape.size, rows = tsl_min(UPDATE_ROWS, job->shape.few - first),
                width = tsl_min(run->width, job->shape.many - from),
                across = job->vectors * job->kernels->lanes, whole = width / across * across;
  _Alignas(64) char edge[TSL_SLIM_STEPS * TSL_SLIM_EDGE_BYTES];
  const slim_piece piece = {.tile = {.depth = job->shape.depth,
                                     .a_row = job->shape.thin_across * size,
                                     .a_step = job->shape.thin_along * size,
                                     .b_step = run->pitch * size,
                                     .c_row = job->shape.c_few * size,
                                     .alpha = job->shape.alpha,
                                     .beta = job->shape.beta,
                                     .scales = job->shape.alpha != 1,
                                     .adds = job->shape.beta != 0},
                            .a = run->thin + first * job->shape.thin_across * size,
                            .b = run->packed + from * size,
                            .edge = edge,
                            .c = run->c + (first * job->shape.c_few + from) * size,
                            .rows = rows,
                            .width = width};
  (void)worker;
  if (whole < width)
    job->kernels->copy(piece.b + whole * size, run->pitch, 1, job->shape.depth, width - whole, across, edge,
                       across);
  (job->nontemporal ? update_aside : update_near)(job, &piece);
}

static tesela_status run_update(slim_launch *run) {
  const tsl_slim_job *job = run->job;
  void *packed = NULL;
  run->packed = run->large;
  run->pitch = job->shape.along;
  if (job->shape.across != 1) {
    TSL_TRY(tsl_scratch_take((size_t)(job->shape.depth * job->shape.many * job->shape.size),
                             "the large operand's numbers", &packed));
    job->kernels->copy(run->large, job->shape.along, job->shape.across, job->shape.depth, job->shape.many,
                       job->shape.many, packed, job->shape.many);
    run->packed = packed;
    run->pitch = job->shape.many;
  }
  run->width = job->width;
  run->pieces_across = tsl_ceil_div(job->shape.many, run->width);
  run->pieces = run->pieces_across * tsl_ceil_div(job->shape.few, UPDATE_ROWS);
  tsl_team_run(run->team, run->pieces, update_piece, run);
  tsl_scratch_give(packed);
  return TESELA_OK;
}

static void scale_c(const slim_launch *run) {
  static const double zero;
  const tsl_slim_job *job = run->job;
  for (int64_t i = 0; i < job->shape.few; i++)
    job->kernels->finish(&zero, 0, job->shape.many, job->shape.beta,
                         run->c + i * job->shape.c_few * job->shape.size, job->shape.c_many);
}

tesela_status tsl_slim_job_run(const tsl_slim_job *job, tsl_team team, const void *a, const void *b,
                               void *c) {
  static tesela_status (*const ways[])(slim_launch *) = {
      [TSL_SLIM_ROWS] = run_rows, [TSL_SLIM_SPREAD] = run_spread, [TSL_SLIM_UPDATE] = run_update};
  slim_launch run = {.job = job,
                     .team = job->alone ? (tsl_team){0} : team,
                     .large = job->shape.is_swapped ? a : b,
                     .thin = job->shape.is_swapped ? b : a,
                     .c = c};
  if (job->shape.depth > 0)
    return ways[job->way](&run);
  scale_c(&run);
  return TESELA_OK;
}

#include "strategy/gemm/host/host_skinny/host_skinny_job.h"

#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/host_jobs/host_job.h"

#include <string.h>

enum {
  HELD_LINES = 5,             /* maximum thin rows of lines: their sums leave registers for factors */
  WHOLE_LINES = 3,            /* and where tiles copy no last columns */
  NEAR_LINES = 6,             /* and of columns up to NEAR_BYTES; one more if no thin row is copied */
  NEAR_BYTES = 1 << 20,       /* operands near the core; the bits must not depend on this machine's caches */
  SUMS_BYTES = 32 << 10,      /* sums of a piece, about a first-level cache; half of it for tiles */
  UPDATE_BYTES = 32 << 10,    /* B's part in an update's piece; stays near for all rows of tiles */
  WIDTH_MAX = 256,            /* maximum columns of a piece of tiles */
  LINES_WIDTH_MAX = 4096,     /* and of lines */
  SPREAD = 60,                /* maximum columns of a piece in TSL_SKINNY_COLUMNS */
  REDUCED = 64,               /* and if they are reduced by lines */
  ORDERED = 16,               /* and in order: few streams from memory */
  SET_BYTES = 2 << 10,        /* columns a multiple of this apart share two sets of a first-level cache */
  UPDATE_ROWS = 240,          /* rows of C in a piece of an update */
  COPIED_ROWS = 960,          /* and at most, if B's part is copied for each piece */
  BUFFER_ROWS = 12,           /* maximum rows of a tile that is computed in a buffer */
  OUTER_ROWS = 32,            /* and of an update by lines */
  OUTER_WIDTH = 1024,         /* columns of C in that piece */
  AHEAD_ROWS = 16,            /* prefetch distance in rows of a large operand in the second-level cache */
  AHEAD_BYTES = 512,          /* prefetch distance for C in an update */
  VECTORS = 2,                /* vectors of a tile's row in TSL_SKINNY_ROWS and in an update */
  FAR_BYTES = 16 << 20,       /* larger lines are prefetched, whatever the size of the last cache */
  ALONE_BYTES = 512 << 10,    /* bytes of lines below which a second thread costs more than it saves */
  ALONE_OPERATIONS = 2000000, /* and operations of tiles with more rows than lines have */
  PART_STEPS = 128,           /* minimum steps of a part */
  LARGE_C = 1 << 14,          /* least elements of C of updates of more than TSL_SKINNY_STEPS / 2 steps */
  LEVEL_2_GUESS = 512 << 10,
  LEVEL_3_GUESS = 16 << 20
};
_Static_assert(TSL_SKINNY_STEPS * sizeof(double) * 64 <= UPDATE_BYTES,
               "a copy holds 64 columns of any update");

static const tsl_skinny_kernels *kernels_for(tesela_type type, unsigned offers) {
#define KERNELS(isa, header, needs, ...) {&tsl_skinny_##isa##_f32, &tsl_skinny_##isa##_f64},
  static const tsl_skinny_kernels *const kernels[][2] = {TSL_ISA_LIST(KERNELS)};
#undef KERNELS
  return kernels[tsl_isa_best(offers)][tsl_type(type)->component == TESELA_F64];
}

const char *tsl_skinny_refuse(const tsl_problem *problem) {
  const int64_t m = problem->m, n = problem->n, k = problem->k;
  if (tsl_type(problem->c.type)->is_complex)
    return tsl_skinny_complex_refuse(problem);
  if (tsl_min(m, n) <= TSL_SKINNY_MAX)
    return NULL;
  const int most = (double)m * (double)n >= LARGE_C ? TSL_SKINNY_STEPS : TSL_SKINNY_STEPS / 2;
  if (k > most)
    return tsl_refusal("neither m nor n of %lld x %lld x %lld is %d or less, nor k %d", (long long)m,
                       (long long)n, (long long)k, TSL_SKINNY_MAX, most);
  return problem->c.row_stride == 1 || problem->c.col_stride == 1
             ? NULL
             : "a product with a small k needs contiguous rows or columns of C";
}

double tsl_skinny_held_bytes(const tsl_problem *problem) {
  const double c_bytes = (double)problem->m * (double)problem->n * (double)tsl_type(problem->c.type)->size;
  return tsl_problem_cache_bytes(problem) - c_bytes;
}

/* Returns true if C is walked, and not the large operand: C is large, or has up to 16 long lines of few
 * steps. `parts`: reals of an element. */
static bool is_update(int64_t m, int64_t n, int64_t depth, int64_t parts, const tsl_operand *c) {
  const int64_t few = parts * tsl_min(m, n), line = c->col_stride == 1 ? n : c->row_stride == 1 ? m : 0;
  return few > TSL_SKINNY_MAX || (parts * depth <= TSL_SKINNY_OUTER_MAX && line > 0 &&
                                  (line >= tsl_max(m, n) || (few > TSL_SKINNY_LINES_MAX && depth <= 1)));
}

/* Sets the product as seen from its large matrix. */
static void orient(const tsl_problem *problem, const tsl_operands *strides, tsl_skinny_job *job) {
  const tsl_type_info *type = tsl_type(problem->c.type);
  const int64_t m = problem->m, n = problem->n,
                depth = type->is_complex || problem->alpha[0] != 0 ? problem->k : 0;
  const bool updates = (!type->is_complex || tsl_skinny_scalars_are_real(problem)) &&
                       is_update(m, n, depth, type->is_complex ? 2 : 1, &strides->c);
  tsl_views views = tsl_views_as_given(problem, strides);
  job->is_swapped = updates ? strides->c.col_stride != 1 : n < m;
  if (job->is_swapped)
    tsl_views_swap(&views);
  job->few = job->is_swapped ? n : m;
  job->many = job->is_swapped ? m : n;
  job->depth = depth;
  job->size = (int64_t)tsl_type(type->component)->size;
  job->across = depth == 0 ? 1 : tsl_stride_or_alone(views.b.col_stride, job->many, 1);
  job->along = tsl_stride_or_alone(views.b.row_stride, depth, job->many > 1 ? 0 : 1);
  job->thin_across = depth == 0 ? 0 : tsl_stride_or_alone(views.a.row_stride, job->few, 0);
  job->thin_along = tsl_stride_or_alone(views.a.col_stride, depth, 1);
  job->c_few = tsl_stride_or_alone(views.c.row_stride, job->few, 0);
  job->c_many = tsl_stride_or_alone(views.c.col_stride, job->many, 1);
  job->alpha = problem->alpha[0];
  job->beta = problem->beta[0];
  /* a single column is summed along k, by lanes, unless sums have an order */
  const bool is_column = job->across != 1 || (job->many == 1 && job->along == 1 && !job->fixes_rows);
  job->walk = updates && depth > 0 ? TSL_SKINNY_UPDATE : is_column ? TSL_SKINNY_COLUMNS : TSL_SKINNY_ROWS;
  if (type->is_complex)
    tsl_skinny_complex_make(problem, &views, job);
}

/* Returns true where tiles are faster than lines (measured). `is_far`: the operands exceed the caches;
 * `is_near`: they have at most NEAR_BYTES. Rows beyond the caches cost only the memory traffic of lines. A
 * tile spreads few rows over a vector whose other lanes are idle, and copies the last columns. */
static bool needs_tiles(const tsl_skinny_job *job, bool is_far, bool is_near) {
  const int64_t lanes = job->kernels->lanes, near_lines = NEAR_LINES + (job->thin_along == 1),
                lines = tsl_max(is_near ? near_lines : HELD_LINES, lanes / 2);
  switch (job->walk) {
  case TSL_SKINNY_UPDATE:
    return job->depth > TSL_SKINNY_OUTER_MAX || job->fixes_rows;
  case TSL_SKINNY_ROWS:
    return job->few > (is_far                               ? TSL_SKINNY_LINES_MAX
                       : job->many % (VECTORS * lanes) == 0 ? WHOLE_LINES
                                                            : HELD_LINES);
  default:
    return job->along != 1 || job->few > tsl_min(TSL_SKINNY_LINES_MAX, lines);
  }
}

/* Sets the columns of a piece, whose sums (update: part of B) stay near, and the steps of a chunk. Two chunks
 * fill half of the second-level cache. A copy for a C in the second-level cache leaves half of the first to
 * other lines; longer rows of C are faster where it is larger. */
static void set_piece(int64_t level_2, tsl_skinny_job *job) {
  const bool updates = job->walk == TSL_SKINNY_UPDATE;
  const bool is_narrow = job->copies_large && !job->asks_ahead;
  const int64_t bytes = is_narrow       ? UPDATE_BYTES / 2
                        : updates       ? UPDATE_BYTES
                        : job->is_tiled ? SUMS_BYTES / 2
                                        : SUMS_BYTES,
                each = tsl_max(updates ? job->depth : job->few, 1) * job->size, step = is_narrow ? 32 : 64;
  job->width = tsl_min(tsl_min(job->is_tiled ? WIDTH_MAX
                               : updates     ? OUTER_WIDTH
                                             : LINES_WIDTH_MAX,
                               tsl_round_up(tsl_max(job->many, 1), step)),
                       tsl_max(bytes / each / step, 1) * step);
  job->chunk = tsl_min(TSL_SKINNY_CHUNK_MAX, tsl_max(level_2 / 4 / (job->width * job->size) / 16, 2) * 16);
}

/* Returns the parts of k: 1 if C alone gives half as many pieces. They do not depend on threads, so that bits
 * do not. */
static int64_t count_parts(const tsl_skinny_job *job) {
  const int64_t parts = tsl_min(TSL_SKINNY_PARTS_MAX, job->depth / PART_STEPS);
  return job->walk == TSL_SKINNY_UPDATE || job->fixes_rows || parts < 2 * tsl_ceil_div(job->many, REDUCED)
             ? 1
             : parts;
}

/* Returns NR in vectors for updates: 1 on processors with one whole multiply-add a clock. */
static int vectors_of_updates(const tsl_skinny_job *job, const tsl_device *device) {
  const bool is_whole = job->kernels->lanes * job->size == 64,
             pairs = (device->capabilities & TSL_CAN_AVX512_PAIRS) != 0;
  return is_whole && !pairs ? 1 : VECTORS;
}

void tsl_skinny_set_lines(tsl_skinny_job *job, bool prefetches) {
  const bool updates = job->walk == TSL_SKINNY_UPDATE,
             spreads = job->walk == TSL_SKINNY_COLUMNS && job->is_tiled;
  job->copies_thin = spreads || (job->thin_along != 1 && (job->walk == TSL_SKINNY_ROWS) == job->is_tiled);
  job->lines = (tsl_skinny_lines){.depth = job->depth,
                                  .x_pitch = job->walk == TSL_SKINNY_COLUMNS ? job->across : job->along,
                                  .y_across = spreads            ? tsl_round_up(job->few, job->kernels->lanes)
                                              : job->copies_thin ? job->depth
                                                                 : job->thin_across,
                                  .y_along = job->copies_thin ? 1 : job->thin_along,
                                  .out_pitch = updates ? job->c_few : job->width,
                                  .alpha = job->alpha,
                                  .beta = job->beta,
                                  .signs = {job->complex.thin_sign, job->complex.large_sign},
                                  .prefetches = prefetches,
                                  .nontemporal = job->nontemporal};
}

/* Returns the bytes of C from which stores bypass the caches. A far last cache is too slow for many threads,
 * or for lines of few steps (measured). */
static int64_t held_of_c(const tsl_skinny_job *job, int64_t level_2, int64_t level_3,
                         const tsl_device *device) {
  enum { MANY_THREADS = 8 };
  const bool is_slow = tsl_last_cache_is_far(device) && (device->threads >= MANY_THREADS || !job->is_tiled);
  return is_slow ? tsl_min(4 * level_2, level_3 / 2) : level_3 / 2;
}

void tsl_skinny_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_device *device,
                         tsl_skinny_job *job) {
  const int64_t level_2 = device->level_bytes[1] ? (int64_t)device->level_bytes[1] : LEVEL_2_GUESS,
                level_3 = device->level_bytes[2] ? (int64_t)device->level_bytes[2] : LEVEL_3_GUESS;
  const double bytes = tsl_problem_bytes(problem), held = tsl_skinny_held_bytes(problem);
  const bool lines_are_far = held > (double)tsl_min(level_3 / 2, FAR_BYTES);
  *job = (tsl_skinny_job){.kernels = kernels_for(problem->c.type, device->capabilities),
                          .team = tsl_device_team(device),
                          .fixes_rows = tsl_problem_fixes_rows(problem)};
  orient(problem, strides, job);
  job->panel = job->fixes_rows ? tsl_row_panel(problem->k) : job->depth;
  const int64_t c_bytes = job->few * job->many * job->size;
  job->is_tiled = needs_tiles(job, lines_are_far, held <= NEAR_BYTES);
  job->vectors = vectors_of_updates(job, device);
  job->nontemporal = job->beta == 0 && c_bytes > held_of_c(job, level_2, level_3, device);
  job->is_far =
      job->is_tiled ? bytes > (double)(tsl_last_cache_is_far(device) ? level_2 : level_3 / 4) : lines_are_far;
  const bool is_small = job->is_tiled && job->few > TSL_SKINNY_LINES_MAX
                            ? tsl_problem_flops(problem) < ALONE_OPERATIONS
                            : bytes < ALONE_BYTES;
  job->alone = device->threads == 1 || is_small;
  job->parts = is_small ? 1 : count_parts(job);
  job->is_outside = bytes > 2 * (double)device->level_bytes[0];
  job->asks_ahead = c_bytes > level_2;
  job->copies_large = job->walk == TSL_SKINNY_UPDATE && (job->across != 1 || job->is_complex);
  job->pairs = job->walk == TSL_SKINNY_COLUMNS && !job->is_tiled && held < (double)level_3 &&
               job->depth > job->panel && job->across * job->size % SET_BYTES == 0;
  set_piece(level_2, job);
  /* a single row is a mere stream: the processor prefetches it better if the last cache is near */
  tsl_skinny_set_lines(job, job->is_far &&
                                !(job->few <= (job->is_complex ? 2 : 1) && !tsl_last_cache_is_far(device)));
}

/* Sets the height, and halves the width if need be, so that the busiest thread has the least work. A piece
 * costs PIECE_ROWS more rows and PIECE_COLUMNS more columns than it has. */
static void balance_update(const tsl_skinny_job *job, int64_t threads, tsl_skinny_pieces *cut) {
  enum { PIECE_ROWS = 24, PIECE_COLUMNS = 16, STEP = 32 };
  const int64_t fewest_across = tsl_ceil_div(job->many, cut->width),
                fewest_down = tsl_ceil_div(job->few, cut->height);
  int64_t least = INT64_MAX;
  for (int64_t across = fewest_across; across <= 2 * fewest_across; across += fewest_across)
    for (int64_t down = fewest_down; down <= fewest_down + threads; down++) {
      const int64_t width = tsl_round_up(tsl_ceil_div(job->many, across), STEP),
                    height = tsl_ceil_div(job->few, down),
                    pieces = tsl_ceil_div(job->few, height) * tsl_ceil_div(job->many, width),
                    work = tsl_ceil_div(pieces, threads) * (height + PIECE_ROWS) * (width + PIECE_COLUMNS);
      if (work < least) {
        least = work;
        cut->width = width;
        cut->height = height;
      }
    }
}

tsl_skinny_pieces tsl_skinny_cut(const tsl_skinny_job *job, int64_t threads) {
  const int64_t fair_width = tsl_ceil_div(job->many, threads), fair_height = tsl_ceil_div(job->few, threads),
                most = job->is_tiled             ? SPREAD
                       : job->depth > job->panel ? ORDERED
                                                 : REDUCED;
  tsl_skinny_pieces cut = {.width = job->width, .height = tsl_max(job->few, 1)};
  switch (job->walk) {
  case TSL_SKINNY_ROWS: /* narrower if there are threads for more pieces */
    cut.width = tsl_min(job->width, tsl_round_up(fair_width, 64));
    break;
  case TSL_SKINNY_COLUMNS: /* tiles: equal widths, as many for each thread. Lines: whatever the threads, as
                            * columns that are reduced together add their lanes in another order */
    cut.width =
        job->is_tiled
            ? tsl_ceil_div_or_one(job->many, tsl_round_up(tsl_ceil_div_or_one(job->many, most), threads))
            : most;
    break;
  case TSL_SKINNY_UPDATE: /* more rows where each piece copies its part of B */
    cut.height = job->copies_large && !job->asks_ahead
                     ? tsl_min(COPIED_ROWS, tsl_max(fair_height, UPDATE_ROWS))
                 : job->copies_large || job->is_tiled ? UPDATE_ROWS
                                                      : OUTER_ROWS;
    if (job->is_tiled && threads > 1)
      balance_update(job, threads, &cut);
    break;
  }
  cut.across = tsl_ceil_div(job->many, cut.width);
  cut.down = tsl_ceil_div_or_one(job->few, cut.height);
  return cut;
}

typedef struct skinny_launch {
  const tsl_skinny_job *job;
  tsl_team team;
  const char *large, *thin; /* operands, or copies */
  char *c;
  char *copies; /* UPDATE_BYTES of each thread, for its piece's part of B; NULL: not copied */
  tsl_skinny_pieces cut;
} skinny_launch;

/* Replaces *operand by a copy of rows of `width` elements, which the caller gives back. */
static tesela_status copy_operand(const tsl_skinny_job *job, int64_t row, int64_t column, int64_t rows,
                                  int64_t columns, int64_t width, const char **operand, void **memory) {
  TSL_TRY(tsl_scratch_take((size_t)(rows * width * job->size), "an operand's numbers", memory));
  job->kernels->copy(*operand, row, column, rows, columns, width, *memory, width);
  *operand = *memory;
  return TESELA_OK;
}

static tesela_status copy_thin(skinny_launch *run, void **memory) {
  const tsl_skinny_job *job = run->job;
  const int64_t pitch = job->lines.y_across;
  const bool spreads = job->is_tiled && job->walk == TSL_SKINNY_COLUMNS;
  return spreads ? copy_operand(job, job->thin_along, job->thin_across, job->depth, job->few, pitch,
                                &run->thin, memory)
                 : copy_operand(job, job->thin_across, job->thin_along, job->few, job->depth, pitch,
                                &run->thin, memory);
}

/* Stores the sums of `count` columns and a panel of k from step `first` on. Strides of sums in elements. */
static void store_piece(const skinny_launch *run, const char *sums, int64_t row, int64_t column, int64_t from,
                        int64_t count, int64_t first) {
  const tsl_skinny_job *job = run->job;
  const int64_t size = job->size, few = job->few;
  const double beta = first > 0 ? 1 : job->beta;
  if (job->is_complex) {
    tsl_skinny_complex_store(job, sums, row, column, from, count, run->c);
    return;
  }
  char *const c = run->c + from * job->c_many * size;
  if (row == 1 && job->c_few == 1 && column == few && job->c_many == few)
    job->kernels->finish(sums, 1, count * few, job->alpha, beta, c, 1);
  else if (row == 1 && job->c_few == 1)
    for (int64_t j = 0; j < count; j++)
      job->kernels->finish(sums + j * column * size, 1, few, job->alpha, beta, c + j * job->c_many * size, 1);
  else
    for (int64_t i = 0; i < few; i++)
      job->kernels->finish(sums + i * row * size, column, count, job->alpha, beta, c + i * job->c_few * size,
                           job->c_many);
}

/* Multiplies a panel of C's columns from top to bottom by as few tiles as possible, all nearly equal. Each
 * prefetches its part of the rows of b. The first of several reads all rows, so they prefetch the next
 * panel's. */
static void multiply_down(const tsl_skinny_job *job, const tsl_skinny_tile *panel, int64_t vectors,
                          int64_t rows, const char *a, const char *b, char *c) {
  const tsl_skinny_multiply *const multiply = job->kernels->multiply[vectors - 1];
  const int64_t count = tsl_ceil_div(rows, job->kernels->rows[vectors - 1]),
                height = tsl_ceil_div(rows, count), lowers = count * height - rows;
  tsl_skinny_tile part;
  for (int64_t i = 0; i < count; i++) {
    const tsl_skinny_tile *tile = panel;
    const int64_t tall = height - (i >= count - lowers);
    if (panel->asks > 0 && count > 1) {
      const int64_t asked = tsl_partition_begin(panel->asks, count, i);
      part = *panel;
      part.asks = tsl_partition_begin(panel->asks, count, i + 1) - asked;
      part.b_ahead += asked * panel->depth / 4 * panel->b_step;
      tile = &part;
    }
    multiply[tall - 1](tile, a, b, c);
    a += tall * tile->a_row;
    c += tall * tile->c_row;
  }
}

/* Moves the last `count` of `from` columns to the first ones in each row of sums. */
static void move_last(const tsl_skinny_job *job, char *sums, int64_t from, int64_t count) {
  for (int64_t i = 0; i < job->few; i++)
    memmove(sums + i * job->width * job->size, sums + (i * job->width + from - count) * job->size,
            (size_t)(count * job->size));
}

/* Sums the products of a piece's columns and `depth` steps in tiles. Of a far operand, a chunk of steps at a
 * time. A tile of the last columns begins further left, computes some columns again, and stores its sums
 * apart; it is copied to whole vectors if fewer than `left` columns are on the left. */
static void add_tiles(const tsl_skinny_job *job, const char *large, const char *thin, int64_t depth,
                      int64_t width, int64_t left, char *sums) {
  const int64_t size = job->size, across = VECTORS * job->kernels->lanes, whole = width - width % across,
                chunk = job->is_far ? job->chunk : depth, last = width - whole,
                vectors = tsl_ceil_div(last, job->kernels->lanes), span = vectors * job->kernels->lanes;
  const bool is_apart = last > 0 && left + width >= span,
             takes_several = job->few > job->kernels->rows[VECTORS - 1];
  _Alignas(64) char edge[TSL_SKINNY_CHUNK_MAX * TSL_SKINNY_EDGE_BYTES];
  tsl_skinny_tile tile = {.a_row = job->lines.y_across * size,
                          .a_step = job->lines.y_along * size,
                          .b_step = job->along * size,
                          .c_row = job->width * size};
  for (int64_t l = 0; l < depth && (whole > 0 || is_apart); l += chunk) {
    tile.depth = tsl_min(chunk, depth - l);
    tile.goes_on = l > 0;
    tile.b_ahead = job->is_far     ? tile.depth * tile.b_step
                   : takes_several ? across * size
                                   : AHEAD_ROWS * tile.b_step;
    tile.is_near = !job->is_far;
    tile.asks = job->is_far ? (l + 2 * tile.depth <= depth ? 4 : 0) : job->is_outside ? 4 : 0;
    for (int64_t j = 0; j < whole; j += across)
      multiply_down(job, &tile, VECTORS, job->few, thin + l * tile.a_step, large + l * tile.b_step + j * size,
                    sums + j * size);
    if (is_apart)
      multiply_down(job, &tile, vectors, job->few, thin + l * tile.a_step,
                    large + l * tile.b_step + (width - span) * size, sums + whole * size);
  }
  if (is_apart)
    move_last(job, sums + whole * size, span, last);
  tile.b_step = span * size;
  tile.asks = 0;
  for (int64_t l = 0; l < depth && last > 0 && !is_apart; l += TSL_SKINNY_CHUNK_MAX) {
    tile.depth = tsl_min(TSL_SKINNY_CHUNK_MAX, depth - l);
    tile.goes_on = l > 0;
    job->kernels->copy(large + (l * job->along + whole) * size, job->along, 1, tile.depth, width - whole,
                       span, edge, span);
    multiply_down(job, &tile, vectors, job->few, thin + l * tile.a_step, edge, sums + whole * size);
  }
}

/* Computes and stores a piece, one panel of k after the other, in tiles. Not inlined, so that its stack is
 * not added to that of lines. */
static __attribute__((noinline)) void rows_in_tiles(const skinny_launch *run, const char *large, int64_t from,
                                                    int64_t width) {
  const tsl_skinny_job *job = run->job;
  _Alignas(64) char sums[SUMS_BYTES / 2];
  for (int64_t l = 0; l < job->depth; l += job->panel) {
    add_tiles(job, large + l * job->along * job->size, run->thin + l * job->lines.y_along * job->size,
              tsl_min(job->panel, job->depth - l), width, from, sums);
    store_piece(run, sums, job->width, 1, from, width, l);
  }
}

static __attribute__((noinline)) void rows_in_lines(const skinny_launch *run, const char *large, int64_t from,
                                                    int64_t width) {
  const tsl_skinny_job *job = run->job;
  tsl_skinny_lines lines = job->lines;
  _Alignas(64) char sums[SUMS_BYTES];
  for (int64_t l = 0; l < job->depth; l += job->panel) {
    lines.depth = tsl_min(job->panel, job->depth - l);
    job->kernels->add[job->few - 1](&lines, large + l * job->along * job->size,
                                    run->thin + l * lines.y_along * job->size, sums, job->few, width);
    store_piece(run, sums, job->width, 1, from, width, l);
  }
}

static void rows_piece(void *argument, int64_t index, int worker) {
  const skinny_launch *run = argument;
  const tsl_skinny_job *job = run->job;
  const int64_t from = index * run->cut.width, width = tsl_min(run->cut.width, job->many - from);
  const char *const large = run->large + from * job->size;
  (void)worker;
  if (job->is_tiled)
    rows_in_tiles(run, large, from, width);
  else
    rows_in_lines(run, large, from, width);
}

_Static_assert(TSL_SKINNY_MAX * 64 * sizeof(double) <= SUMS_BYTES / 2, "the narrowest piece has 64 columns");

static tesela_status run_rows(skinny_launch *run) {
  void *memory = NULL;
  if (run->job->copies_thin)
    TSL_TRY(copy_thin(run, &memory));
  tsl_team_run(run->team, run->cut.across, rows_piece, run);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

/* Returns the vectors of the next tile when `left` vectors remain. */
static int64_t vectors_of_tile(int64_t left) {
  return left == 4 || left < 3 ? tsl_min(left, 2) : 3;
}

/* Returns the kernel by lines for columns of the large operand. */
static tsl_skinny_by_lines choose_reduction(const tsl_skinny_job *job) {
  const tsl_skinny_kernels *kernels = job->kernels;
  if (job->is_dot)
    return kernels->dots;
  return job->fixes_rows ? kernels->reduce_in_order[job->few - 1] : kernels->reduce[job->few - 1];
}

/* Computes the sums of a piece's columns and `depth` steps in tiles. */
static void columns_in_tiles(const tsl_skinny_job *job, const char *large, const char *thin, int64_t depth,
                             int64_t count, char *sums) {
  const int64_t size = job->size, lanes = job->kernels->lanes, pitch = job->lines.y_across;
  const tsl_skinny_tile tile = {.depth = depth,
                                .a_row = job->across * size,
                                .a_step = job->along * size,
                                .b_step = pitch * size,
                                .c_row = pitch * size};
  for (int64_t j = 0, vectors; j < pitch; j += vectors * lanes) {
    vectors = vectors_of_tile((pitch - j) / lanes);
    multiply_down(job, &tile, vectors, count, large, thin + j * size, sums + j * size);
  }
}

/* Computes and stores a piece, one or two panels of k after the other. */
static void columns_piece(void *argument, int64_t index, int worker) {
  const skinny_launch *run = argument;
  const tsl_skinny_job *job = run->job;
  const int64_t size = job->size, from = index * run->cut.width,
                count = tsl_min(run->cut.width, job->many - from),
                pitch = job->is_tiled ? job->lines.y_across : job->few,
                span = (job->pairs ? 2 : 1) * job->panel;
  const char *large = run->large + from * job->across * size, *thin = run->thin;
  _Alignas(64) char sums[REDUCED * TSL_SKINNY_MAX * sizeof(double)];
  tsl_skinny_lines lines = job->lines;
  (void)worker;
  for (int64_t l = 0; l < job->depth; l += span) {
    lines.depth = tsl_min(span, job->depth - l);
    if (job->is_tiled)
      columns_in_tiles(job, large, thin, lines.depth, count, sums);
    else
      choose_reduction(job)(&lines, large, thin, sums, job->panel, count);
    for (int64_t part = 0; part < lines.depth; part += job->panel)
      store_piece(run, sums + part / job->panel * count * pitch * size, 1, pitch, from, count, l + part);
    large += span * job->along * size;
    thin += span * (job->is_tiled ? pitch : 1) * size;
  }
}

static tesela_status run_columns(skinny_launch *run) {
  void *memory = NULL;
  if (run->job->copies_thin)
    TSL_TRY(copy_thin(run, &memory));
  tsl_team_run(run->team, run->cut.across, columns_piece, run);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

/* Computes rows of C in tiles, a row of tiles after the other. Each prefetches C AHEAD_BYTES further on, or
 * the next row. A C that bypasses the caches is computed in a buffer, and streamed. The last columns use the
 * buffer too, and a copy of B. Skips factors of 1 and -1 (equal bits). */
static void update_tiles(const tsl_skinny_job *job, const char *a, const char *b, int64_t b_pitch, char *c,
                         int64_t rows, int64_t width) {
  const int64_t size = job->size, lanes = job->kernels->lanes, across = job->vectors * lanes,
                whole = width - width % lanes, pitch = job->c_few * size,
                buffer_pitch = (job->nontemporal ? job->width : lanes) * size,
                ahead = job->asks_ahead && !job->nontemporal ? AHEAD_BYTES / size : 0,
                most = tsl_min(job->kernels->rows[job->vectors - 1],
                               job->nontemporal ? BUFFER_ROWS : TSL_SKINNY_ROWS_MAX),
                count = tsl_ceil_div(rows, most);
  _Alignas(64) char edge[TSL_SKINNY_STEPS * TSL_SKINNY_EDGE_BYTES / 2]; /* rows of one vector */
  _Alignas(64) char buffer[BUFFER_ROWS * WIDTH_MAX * sizeof(double)];   /* or a vector of each row */
  char *const sums = buffer + (job->nontemporal ? whole * size : 0);
  tsl_skinny_tile tile = {.depth = job->depth,
                          .a_row = job->thin_across * size,
                          .a_step = job->thin_along * size,
                          .b_step = b_pitch * size,
                          .c_row = job->nontemporal ? buffer_pitch : pitch,
                          .alpha = job->alpha,
                          .beta = job->beta,
                          .scales = job->alpha != 1,
                          .adds = job->beta != 0};
  const tsl_skinny_tile last = {.depth = job->depth,
                                .a_row = tile.a_row,
                                .a_step = tile.a_step,
                                .b_step = lanes * size,
                                .c_row = buffer_pitch,
                                .alpha = job->alpha,
                                .scales = tile.scales};
  tile.plain = job->beta != 1 ? 0 : job->alpha == -1 ? -1 : 1;
  tile.scales = last.scales && tile.plain >= 0;
  if (whole < width)
    job->kernels->copy(b + whole * size, b_pitch, 1, job->depth, width - whole, lanes, edge, lanes);
  for (int64_t i = 0; i < count; i++) {
    const int64_t height = tsl_partition_begin(rows, count, i + 1) - tsl_partition_begin(rows, count, i);
    const tsl_skinny_multiply single = job->kernels->multiply[0][height - 1],
                              multiply = job->kernels->multiply[job->vectors - 1][height - 1];
    char *const out = job->nontemporal ? buffer : c;
    for (int64_t j = 0; j < whole; j += across) {
      if (ahead > 0)
        tile.c_ahead = j + ahead < whole ? ahead * size : height * pitch + (ahead - whole) * size;
      (j + across <= whole ? multiply : single)(&tile, a, b + j * size, out + j * size);
    }
    if (whole < width)
      single(&last, a, edge, sums);
    for (int64_t row = 0; row < height; row++)
      if (job->nontemporal)
        job->kernels->stream(buffer + row * buffer_pitch, width, c + row * pitch);
      else if (whole < width)
        job->kernels->finish(sums + row * buffer_pitch, 1, width - whole, 1, job->beta,
                             c + row * pitch + whole * size, 1);
    a += height * tile.a_row;
    c += height * pitch;
  }
}

/* Computes `rows` x `width` elements of C; `lines` has the pitch of the rows of `large`. */
static void update_part(const tsl_skinny_job *job, const tsl_skinny_lines *lines, const char *thin,
                        const char *large, char *c, int64_t rows, int64_t width) {
  if (job->is_tiled)
    update_tiles(job, thin, large, lines->x_pitch, c, rows, width);
  else
    job->kernels->outer[job->depth - 1](lines, large, thin, c, rows, width);
}

/* Computes a part whose columns of the large operand, from `from` on, are copied to rows of `copy` first. */
static void update_copied(const skinny_launch *run, const char *thin, int64_t from, char *copy, char *c,
                          int64_t rows, int64_t width) {
  const tsl_skinny_job *job = run->job;
  tsl_skinny_lines lines = job->lines;
  lines.x_pitch = width;
  if (job->is_complex)
    tsl_skinny_complex_turn(job, run->large, from, width, copy);
  else
    job->kernels->copy(run->large + from * job->across * job->size, job->along, job->across, job->depth,
                       width, width, copy, width);
  update_part(job, &lines, thin, copy, c, rows, width);
}

/* Computes a piece of C. Threads take tiles down C's columns: side by side they would prefetch each other's
 * lines. */
static void update_piece(void *argument, int64_t index, int worker) {
  const skinny_launch *run = argument;
  const tsl_skinny_job *job = run->job;
  const bool goes_down = job->is_tiled && !job->alone;
  const int64_t first = (goes_down ? index % run->cut.down : index / run->cut.across) * run->cut.height,
                from = (goes_down ? index / run->cut.down : index % run->cut.across) * run->cut.width;
  const int64_t rows = tsl_min(run->cut.height, job->few - first),
                width = tsl_min(run->cut.width, job->many - from);
  const char *const thin = run->thin + first * job->lines.y_across * job->size;
  char *const c = run->c + (first * job->c_few + from) * job->size;
  if (job->copies_large)
    update_copied(run, thin, from, run->copies + worker * UPDATE_BYTES, c, rows, width);
  else
    update_part(job, &job->lines, thin, run->large + from * job->size, c, rows, width);
  if (job->nontemporal)
    job->kernels->fence();
}

static tesela_status run_update(skinny_launch *run) {
  const tsl_skinny_job *job = run->job;
  void *thin = NULL, *copies = NULL;
  tesela_status status = TESELA_OK;
  if (job->copies_thin)
    TSL_TRY(copy_thin(run, &thin));
  if (job->copies_large)
    status =
        tsl_scratch_take((size_t)tsl_team_threads(run->team) * UPDATE_BYTES, "parts of an operand", &copies);
  run->copies = copies;
  if (status == TESELA_OK)
    tsl_team_run(run->team, run->cut.across * run->cut.down, update_piece, run);
  tsl_scratch_give(copies);
  tsl_scratch_give(thin);
  return status;
}

tesela_status tsl_skinny_run_whole(const tsl_skinny_job *job, tsl_team team, const char *large,
                                   const char *thin, char *c) {
  static tesela_status (*const walks[])(skinny_launch *) = {
      [TSL_SKINNY_ROWS] = run_rows, [TSL_SKINNY_COLUMNS] = run_columns, [TSL_SKINNY_UPDATE] = run_update};
  skinny_launch run = {.job = job, .team = team, .large = large, .thin = thin, .c = c};
  void *memory = NULL;
  if (job->is_complex)
    TSL_TRY(tsl_skinny_complex_expand(job, &run.thin, &memory));
  run.cut = tsl_skinny_cut(job, tsl_team_threads(team));
  const tesela_status status = walks[job->walk](&run);
  tsl_scratch_give(memory);
  return status;
}

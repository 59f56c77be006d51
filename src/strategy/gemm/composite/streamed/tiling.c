#include "strategy/gemm/composite/streamed/streamed.h"

#include "core/text.h"
#include "device/staging.h"
#include "host/int_math.h"

#include <math.h>

enum { TILE_SIZE_MIN = 16, TILE_SIZE_UNIT = 64 };

static double element_bytes(const tsl_shape *shape) {
  return (double)tsl_type(shape->type)->size;
}

static bool reads_factors(const tsl_problem *problem) {
  return tsl_problem_reads(problem, TSL_OPERAND_A);
}

/* Returns the size of a part, at most `most`, so that parts are as equal as TILE_SIZE_UNIT allows. */
static int64_t even_part_size(int64_t size, int64_t most) {
  const int64_t share = tsl_ceil_div(size, tsl_ceil_div(size, most)),
                rounded = tsl_ceil_div(share, TILE_SIZE_UNIT) * TILE_SIZE_UNIT;
  return rounded <= most && rounded <= size ? rounded : share;
}

/* Returns the size of one of `parts` parts of a side; large parts are aligned to TILE_SIZE_UNIT. */
static int64_t size_of_part(int64_t size, int64_t parts) {
  const int64_t share = tsl_ceil_div(size, parts);
  return share > 16 * TILE_SIZE_UNIT ? tsl_ceil_div(share, TILE_SIZE_UNIT) * TILE_SIZE_UNIT
                                     : even_part_size(size, share);
}

/* Returns the tiling of one tile and slab; the caller sets the counts. */
static tsl_streamed_tiling whole_tiling(const tsl_problem *problem) {
  const int64_t k = reads_factors(problem) ? problem->k : 0;
  return (tsl_streamed_tiling){
      .m = problem->m, .n = problem->n, .k = k, .rows = problem->m, .cols = problem->n, .depth = k};
}

/* Sets the numbers of tiles, slabs and buffers, and the bytes, from the size of a tile and slab. */
static void tiling_set_counts(const tsl_problem *problem, tsl_streamed_tiling *t) {
  const double a = reads_factors(problem) ? element_bytes(&problem->a) : 0,
               b = reads_factors(problem) ? element_bytes(&problem->b) : 0, c = element_bytes(&problem->c);
  const double rows = (double)t->rows, cols = (double)t->cols, depth = (double)t->depth;
  t->row_tiles = tsl_ceil_div(t->m, t->rows);
  t->col_tiles = tsl_ceil_div(t->n, t->cols);
  t->slabs = t->depth > 0 ? tsl_ceil_div(t->k, t->depth) : 1;
  t->tiles = t->row_tiles > 1 || t->col_tiles > 1 ? 2 : 1;
  t->panels = t->tiles > 1 || t->slabs > 1 ? 2 : 1;
  const double bytes = t->panels * depth * (rows * a + cols * b) + t->tiles * rows * cols * c;
  t->bytes = bytes < 9e18 ? (uint64_t)bytes : UINT64_MAX;
  /* Panels of the resident side are not copied again if the slabs are few enough. */
  const double m = (double)t->m, n = (double)t->n, k = (double)t->k;
  const double i = (double)t->row_tiles, j = (double)t->col_tiles;
  const bool stay = t->slabs <= t->panels;
  const double a_stays = m * k * a, b_stays = n * k * b;
  const double a_again = a_stays * j, b_again = b_stays * i;
  const double b_turns = b_again - b_stays / j * (i - 1), a_turns = a_again - a_stays / i * (j - 1);
  const double along_rows = stay ? a_stays + b_turns : a_again + b_again,
               along_cols = stay ? b_stays + a_turns : along_rows;
  t->by_cols = along_cols < along_rows;
  t->bytes_out = m * n * c;
  t->bytes_in = fmin(along_rows, along_cols) + (tsl_problem_reads(problem, TSL_OPERAND_C) ? t->bytes_out : 0);
}

/* Returns the cost in bytes if copies and computation alternate; a step has the latency of a megabyte. */
static double cost_without_overlap(const tsl_streamed_tiling *t) {
  const double steps = (double)t->row_tiles * (double)t->col_tiles * (double)t->slabs;
  return t->bytes_in + t->bytes_out + 2 * (double)t->slabs * t->bytes_out / 64 + 1e6 * steps;
}

/* Assumed rates in a second, from constants only, not from measurements: a tiling decides the bits. */
typedef struct rates {
  double operations, link, memory;   /* bytes over the link from pinned memory, and in device memory */
  double wave;                       /* elements of C that the device computes at a time */
  const tsl_strategy *slab_strategy; /* strategy for slabs, used if faster; NULL: unknown */
} rates;

static rates assume_rates(const tsl_problem *problem, const tsl_device *device) {
  /* Tensor cores double fast f64, and compute narrow types ten times as fast; f32 reaches 0.8 of its peak. */
  const bool has_mma = device->capabilities & TSL_CAN_MMA;
  const double narrow = problem->a.type != problem->c.type || element_bytes(&problem->a) < 4 ? 10 : 0.8;
  const double f64 = device->peak_f64 * (has_mma && device->peak_f64 * 3 > device->peak_f32 ? 2 : 1);
  return (rates){tsl_type(problem->c.type)->component == TESELA_F64
                     ? f64
                     : device->peak_f32 * (has_mma || narrow < 1 ? narrow : 0.8),
                 tsl_staging_link_rate(device), fmax(device->bandwidth, device->link_bandwidth),
                 128.0 * 128 * fmax(1, device->compute_units), NULL};
}

static bool can_overlap(const tsl_device *device, const rates *r) {
  return tsl_staging_is_offered(device) && r->operations > 0 && r->link > 0;
}

/* Returns the seconds of the product of one slab and tile. */
static double tiling_product_seconds(const tsl_problem *problem, const tsl_device *device, const rates *r,
                                     const tsl_streamed_tiling *t) {
  const double steps = (double)t->row_tiles * (double)t->col_tiles * (double)t->slabs;
  const double operations = 2 * (double)t->m * (double)t->n * (double)t->k / steps,
               tile = (double)t->rows * (double)t->cols, whole = 2 * tile * (double)t->depth;
  /* the last wave of a tile is half empty */
  const double usual = operations / r->operations * (1 + 0.5 * r->wave / tile) +
                       (t->slabs > 1 ? 2 * tile * element_bytes(&problem->c) / r->memory : 0);
  return r->slab_strategy && whole > 0
             ? fmin(usual,
                    operations / whole * tsl_streamed_slab_seconds(r->slab_strategy, problem, device, t))
             : usual;
}

/* Returns the seconds of a run: steps take the maximum of product and copies; first and last copies add. */
static double seconds_with_overlap(const tsl_problem *problem, const rates *r, const tsl_streamed_tiling *t,
                                   double compute) {
  const double a = reads_factors(problem) ? element_bytes(&problem->a) : 0,
               b = reads_factors(problem) ? element_bytes(&problem->b) : 0;
  const double i = (double)t->row_tiles, j = (double)t->col_tiles, slabs = (double)t->slabs;
  const double tile = (double)t->rows * (double)t->cols * element_bytes(&problem->c);
  const double depth = (double)t->depth, of_a = depth * (double)t->rows * a,
               of_b = depth * (double)t->cols * b, out = tile / slabs,
               before = tsl_problem_reads(problem, TSL_OPERAND_C) ? tile : 0;
  const bool stay = t->slabs <= t->panels;
  const double lines = (t->by_cols ? j : i) - 1, others = i * j - 1 - lines;
  const double of_line = stay ? (t->by_cols ? of_b : of_a) : of_a + of_b,
               of_other = stay ? (t->by_cols ? of_a : of_b) : of_a + of_b;
  const double first = (of_a + of_b + before) / r->link;
  const double on =
      fmax(compute, tsl_staging_both_directions(of_line + before / slabs, out) / r->link) * lines * slabs +
      fmax(compute, tsl_staging_both_directions(of_other + before / slabs, out) / r->link) * others * slabs;
  const double begin = compute + fmax(compute, (of_a + of_b) / r->link) * (slabs - 1);
  return first + begin + on + tile / r->link + 50e-6 * i * j * slabs; /* latency of each step */
}

double tsl_tiling_seconds(const tsl_problem *problem, const tsl_device *device, tsl_all_strategies *list,
                          const tsl_streamed_tiling *tiling) {
  rates r = assume_rates(problem, device);
  if (!can_overlap(device, &r))
    return 0;
  r.slab_strategy = tsl_streamed_slab_strategy(problem, device, list);
  return seconds_with_overlap(problem, &r, tiling, tiling_product_seconds(problem, device, &r, tiling));
}

/* Returns the bytes of buffers and kernels' packed panels (narrow types may become f32), and 1 % reserve. */
static double bytes_needed(const tsl_problem *problem, const tsl_streamed_tiling *t) {
  const double a = reads_factors(problem) ? fmax(4, element_bytes(&problem->a)) : 0,
               b = reads_factors(problem) ? fmax(4, element_bytes(&problem->b)) : 0;
  return 1.01 * ((double)t->bytes + (double)t->depth * ((double)t->rows * a + (double)t->cols * b));
}

static bool tiling_fits(const tsl_problem *problem, const tsl_device *device, const tsl_streamed_tiling *t) {
  const double most = (double)device->allocation_max;
  return bytes_needed(problem, t) <= (double)tsl_device_memory(device) &&
         (double)t->rows * (double)t->cols * element_bytes(&problem->c) <= most &&
         (double)t->rows * (double)t->depth * element_bytes(&problem->a) <= most &&
         (double)t->depth * (double)t->cols * element_bytes(&problem->b) <= most;
}

/* Finds the widest tile with these rows and terms; returns false if not even a narrow one fits. */
static bool find_widest_tile(const tsl_problem *problem, const tsl_device *device, tsl_streamed_tiling *t) {
  int64_t low = tsl_min(t->n, TILE_SIZE_MIN), high = t->n;
  t->cols = low;
  tiling_set_counts(problem, t);
  if (!tiling_fits(problem, device, t))
    return false;
  while (low < high) {
    const int64_t middle = high - (high - low) / 2;
    t->cols = middle;
    tiling_set_counts(problem, t);
    if (tiling_fits(problem, device, t))
      low = middle;
    else
      high = middle - 1;
  }
  t->cols = even_part_size(t->n, low);
  tiling_set_counts(problem, t);
  return true;
}

/* Returns the rows that cut m in 1, 2, 3, ... parts, later in larger steps; 0 after the smallest. */
static int64_t tiling_next_rows(int64_t m, int64_t *parts) {
  const int64_t least = tsl_min(m, TILE_SIZE_MIN);
  if (*parts > 0 && tsl_ceil_div(m, *parts) <= least)
    return 0;
  *parts += 1 + *parts / 16;
  const int64_t rows = size_of_part(m, *parts);
  return rows < least ? least : rows;
}

typedef struct tiling_search {
  const tsl_problem *problem;
  const tsl_device *device;
  rates rates;
  double least_cost;
  tsl_streamed_tiling best;
} tiling_search;

/* Stores a tiling if it is better. No model is evaluated if the link alone takes longer. */
static void keep_if_better(tiling_search *s, const tsl_streamed_tiling *t) {
  const bool is_hidden = can_overlap(s->device, &s->rates);
  const double bytes = is_hidden ? 0.02 * (t->bytes_in + t->bytes_out) / s->rates.link : 0;
  double cost =
      is_hidden ? bytes + seconds_with_overlap(s->problem, &s->rates, t, 0) : cost_without_overlap(t);
  if (is_hidden && cost < s->least_cost)
    cost = bytes + seconds_with_overlap(s->problem, &s->rates, t,
                                        tiling_product_seconds(s->problem, s->device, &s->rates, t));
  if (cost < s->least_cost) {
    s->least_cost = cost;
    s->best = *t;
  }
}

/* Tries the widest tile, and up to three tiles more, whose last tile leaves earlier. */
static void try_widths(tiling_search *s, tsl_streamed_tiling *t) {
  if (!find_widest_tile(s->problem, s->device, t))
    return;
  keep_if_better(s, t);
  for (int64_t more = 1; more <= 3; more++) {
    tsl_streamed_tiling narrower = *t;
    narrower.cols = tsl_min(t->cols, size_of_part(t->n, t->col_tiles + more));
    tiling_set_counts(s->problem, &narrower);
    if (narrower.cols >= tsl_min(t->n, TILE_SIZE_MIN) && tiling_fits(s->problem, s->device, &narrower))
      keep_if_better(s, &narrower);
  }
}

/* Returns false if no tiling fits the memory. */
static bool find_best_tiling(const tsl_problem *problem, const tsl_device *device, tsl_all_strategies *list,
                             tsl_streamed_tiling *best) {
  const tsl_streamed_tiling whole = whole_tiling(problem);
  tiling_search s = {
      .problem = problem, .device = device, .rates = assume_rates(problem, device), .least_cost = INFINITY};
  int64_t parts = 0, rows;
  if (can_overlap(device, &s.rates))
    s.rates.slab_strategy = tsl_streamed_slab_strategy(problem, device, list);
  while ((rows = tiling_next_rows(problem->m, &parts)) > 0)
    for (int64_t depth = whole.k;;
         depth = tsl_ceil_div(tsl_ceil_div(depth, 2), TILE_SIZE_MIN) * TILE_SIZE_MIN) {
      tsl_streamed_tiling t = whole;
      t.rows = rows;
      t.depth = depth;
      try_widths(&s, &t);
      if (depth <= TILE_SIZE_MIN || !tsl_problem_can_accumulate_in_c(problem))
        break;
    }
  *best = s.best;
  return isfinite(s.least_cost);
}

static const char *refuse_memory(const tsl_problem *problem, const tsl_device *device) {
  char least[32], has[32];
  tsl_streamed_tiling t = whole_tiling(problem);
  t.rows = tsl_min(t.m, TILE_SIZE_MIN);
  t.cols = tsl_min(t.n, TILE_SIZE_MIN);
  t.depth = tsl_problem_can_accumulate_in_c(problem) ? tsl_min(t.k, TILE_SIZE_MIN) : t.k;
  tiling_set_counts(problem, &t);
  return tsl_refusal("needs at least %s of memory on %s, where a plan may take %s",
                     tsl_format_bytes((uint64_t)bytes_needed(problem, &t) + 1, least, sizeof least),
                     device->name, tsl_format_bytes(tsl_device_memory(device), has, sizeof has));
}

static bool fits_uncut(const tsl_problem *problem, const tsl_device *device) {
  tsl_streamed_tiling whole = whole_tiling(problem);
  tiling_set_counts(problem, &whole);
  return tiling_fits(problem, device, &whole);
}

const char *tsl_tiling_of(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_all_strategies *list, tsl_streamed_tiling *tiling) {
  const int64_t rows = config->value[STREAMED_ROWS], cols = config->value[STREAMED_COLS],
                depth = config->value[STREAMED_DEPTH];
  if (rows == 0 && cols == 0 && depth == 0) {
    if (fits_uncut(problem, device))
      return tsl_refusal(
          "the memory of %s holds all of A, B, C and the workspace: the product need not be streamed",
          device->name);
    return find_best_tiling(problem, device, list, tiling) ? NULL : refuse_memory(problem, device);
  }
  *tiling = whole_tiling(problem);
  tiling->rows = rows > 0 ? tsl_min(rows, tiling->m) : tiling->m;
  tiling->cols = cols > 0 ? tsl_min(cols, tiling->n) : tiling->n;
  tiling->depth = depth > 0 ? tsl_min(depth, tiling->k) : tiling->k;
  tiling_set_counts(problem, tiling);
  if (tiling->slabs > 1 && !tsl_problem_can_accumulate_in_c(problem))
    return tsl_type(problem->c.type)->is_complex
               ? "complex sums are not cut, as an infinity would become NaN: depth must be k"
               : tsl_refusal("sums for %s are computed in %s and rounded once, so they are not cut: depth "
                             "must be k",
                             tsl_type(problem->c.type)->name,
                             tsl_type(tsl_type(problem->c.type)->sums)->name);
  return tiling_fits(problem, device, tiling) ? NULL : refuse_memory(problem, device);
}

void tsl_tiling_tile_position(const tsl_streamed_tiling *tiling, int64_t index, int64_t *i, int64_t *j) {
  const int64_t length = tiling->by_cols ? tiling->row_tiles : tiling->col_tiles;
  const int64_t line = index / length, position = index % length,
                turned = line % 2 ? length - 1 - position : position;
  *i = tiling->by_cols ? turned : line;
  *j = tiling->by_cols ? line : turned;
}

tsl_copy_part tsl_tiling_tile_rect(const tsl_streamed_tiling *tiling, int64_t i, int64_t j) {
  const int64_t row = i * tiling->rows, col = j * tiling->cols;
  return (tsl_copy_part){row, tsl_min(tiling->rows, tiling->m - row), col,
                         tsl_min(tiling->cols, tiling->n - col)};
}

void tsl_tiling_slab(const tsl_streamed_tiling *tiling, int64_t slab, int64_t *first, int64_t *count) {
  *first = slab * tiling->depth;
  *count = tsl_min(tiling->depth, tiling->k - *first);
}

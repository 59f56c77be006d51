#include "comm/comm_grid.h"

#include "comm/intervals.h"
#include "device/device_rates.h"

#include <math.h>

/* A rank with eight cores of a cluster node and its share of a network of 100 to 200 Gbit/s. */
const tsl_links tsl_links_default = {2e-6, 2.5e9, 2e11};

/* GPUs of one host: NVLink carries 200 GB/s and more each way. Begin and wait of messages cost host time.
 * Through host memory, one thread makes two copies and a message in sequence. */
const tsl_links *tsl_links_of(tsl_link_kind kind, tesela_type type) {
#define BETWEEN_DEVICES(name, usual, most) {6e-5, 2e11, usual},
#define THROUGH_HOSTS(name, usual, most) {2e-4, 1.5e9, usual},
  static const tsl_links devices[] = {TSL_DEVICE_RATE_LIST(BETWEEN_DEVICES)},
                         hosts[] = {TSL_DEVICE_RATE_LIST(THROUGH_HOSTS)};
#undef BETWEEN_DEVICES
#undef THROUGH_HOSTS
  return kind == TSL_BETWEEN_HOSTS     ? &tsl_links_default
         : kind == TSL_BETWEEN_DEVICES ? &devices[tsl_device_rate_of(type)]
                                       : &hosts[tsl_device_rate_of(type)];
}

#define PANEL_TERMS_MIN 256
/* Maximum panels of a tile: more would not hide more. */
#define PANELS_MAX 8
/* Limit of bytes for blocks and panels that are larger than necessary. */
#define EXTRA_BYTES_MAX ((int64_t)4 << 30)
tsl_box tsl_grid_box(const tsl_process_grid *grid, int block_index) {
  const int64_t layer_ranks = grid->used / grid->depth, within = block_index % layer_ranks;
  const int64_t layer = block_index / layer_ranks;
  const int64_t slab = ((within + 1) * grid->slabs - 1) / layer_ranks;
  const int64_t first = tsl_even(layer_ranks, slab, grid->slabs);
  const int64_t behind = tsl_even(layer_ranks, slab + 1, grid->slabs);
  const int64_t outer = grid->by_columns ? grid->n : grid->m, inner = grid->by_columns ? grid->m : grid->n;
  const int64_t part = within - first, parts = behind - first;
  tsl_box box = {.layer = (int)layer, .slab = (int)slab, .part = (int)part, .parts = (int)parts};
  int64_t *o = grid->by_columns ? box.n : box.m, *i = grid->by_columns ? box.m : box.n;
  o[0] = tsl_even(outer, first, layer_ranks);
  o[1] = tsl_even(outer, behind, layer_ranks);
  i[0] = tsl_even(inner, part, parts);
  i[1] = tsl_even(inner, part + 1, parts);
  box.k[0] = tsl_even(grid->k, layer, grid->depth);
  box.k[1] = tsl_even(grid->k, layer + 1, grid->depth);
  return box;
}

static int64_t ceil_quotient(int64_t a, int64_t b) {
  return a / b + (a % b != 0);
}

/* Sizes of a block of the smaller (0) or larger slabs (1), possibly rounded up. The ranks of two slabs differ
 * by at most one; a grid as_c has only larger slabs. */
typedef struct block_sides {
  double rows, cols, depth;
} block_sides;

static block_sides block_sides_of(const tsl_process_grid *grid, int which) {
  const int64_t q = grid->used / grid->depth;
  const int64_t ranks = which == 0 ? q / grid->slabs : ceil_quotient(q, grid->slabs);
  const int64_t outer = grid->by_columns ? grid->n : grid->m, inner = grid->by_columns ? grid->m : grid->n;
  const double o = ceil((double)outer * (double)ranks / (double)q), i = (double)ceil_quotient(inner, ranks);
  return (block_sides){grid->by_columns ? i : o, grid->by_columns ? o : i,
                       (double)ceil_quotient(grid->k, grid->depth)};
}

/* Returns the bytes of a tile's sums, packed and received, of its panels and of their two message buffers. */
static double tile_bytes(const tsl_task *task, double rows, double cols, double terms) {
  return 3 * rows * cols * (double)task->size_sum +
         5 * terms * (rows * (double)task->size_a + cols * (double)task->size_b);
}

/* Edges of large growing tiles are multiples of a kernel's tile. */
int64_t tsl_grid_edge(const tsl_process_grid *grid, int64_t total, int tile, int tiles) {
  enum { GRAIN = 256 };
  int64_t before = 0, all = 0, share = 1;
  if (grid->growth <= 1 || tile == 0 || tile == tiles)
    return tsl_even(total, tile, tiles);
  for (int i = 0; i < tiles; i++, share *= grid->growth) {
    before += i < tile ? share : 0;
    all += share;
  }
  const int64_t edge = total / all * before + total % all * before / all;
  return total / all < GRAIN ? edge : (edge + GRAIN / 2) / GRAIN * GRAIN;
}

/* Returns the size of the largest of `tiles` tiles that divide `lines` rows or columns. */
static double largest_tile_lines(const tsl_process_grid *grid, double lines, int tiles) {
  const int64_t total = (int64_t)lines;
  return grid->growth <= 1 ? ceil(lines / tiles)
                           : (double)(total - tsl_grid_edge(grid, total, tiles - 1, tiles));
}

/* Returns the bytes of the larger kind of blocks if a tile has `panels` panels. */
static double larger_block_bytes(const tsl_task *task, const tsl_process_grid *grid, int64_t panels) {
  double most = 0;
  for (int which = 0; which < 2; which++) {
    const block_sides s = block_sides_of(grid, which);
    const double bytes =
        tile_bytes(task, largest_tile_lines(grid, s.rows, grid->tiles_m),
                   largest_tile_lines(grid, s.cols, grid->tiles_n), ceil(s.depth / (double)panels));
    most = bytes > most ? bytes : most;
  }
  return most;
}

/* Sets the fewest tiles and panels that fit into memory; false: none fit. */
static bool fit_into_memory(const tsl_task *task, tsl_process_grid *grid) {
  const block_sides s = block_sides_of(grid, 1);
  const int64_t depth = (int64_t)s.depth, thin = depth < 64 ? 1 : depth / 64;
  grid->tiles_m = grid->tiles_n = 1;
  while (larger_block_bytes(task, grid, thin) > (double)task->memory) {
    const double rows = ceil(s.rows / grid->tiles_m), cols = ceil(s.cols / grid->tiles_n);
    if (rows <= 1 && cols <= 1)
      return false;
    if (rows >= cols)
      grid->tiles_m += 1 + grid->tiles_m / 8;
    else
      grid->tiles_n += 1 + grid->tiles_n / 8;
  }
  int64_t panels = depth / PANEL_TERMS_MIN;
  panels = panels < 1 ? 1 : panels > PANELS_MAX ? PANELS_MAX : panels;
  while (panels < depth && larger_block_bytes(task, grid, panels) > (double)task->memory)
    panels += 1 + panels / 8;
  grid->panels = (int)(panels < depth || depth == 0 ? panels : depth);
  grid->memory = (int64_t)larger_block_bytes(task, grid, grid->panels);
  return true;
}

int tsl_grid_times_a(const tsl_process_grid *grid) {
  return grid->panels == 1 ? 1 : grid->tiles_n;
}

int tsl_grid_times_b(const tsl_process_grid *grid) {
  return grid->panels == 1 && grid->tiles_n == 1 ? 1 : grid->tiles_m;
}

/* Returns the bytes that the busiest rank sends in a step, to ranks of its slab or to other slabs. */
static double busiest_step_bytes(const tsl_task *task, const tsl_process_grid *grid, const block_sides *s) {
  const double slabs = grid->slabs, parts = ceil((double)(grid->used / grid->depth) / slabs);
  const double rows = ceil(s->rows / grid->tiles_m), cols = ceil(s->cols / grid->tiles_n),
               terms = s->depth / grid->panels;
  const double along_a = grid->by_columns ? slabs : parts, along_b = grid->by_columns ? parts : slabs;
  const double of_a = (double)tsl_grid_times_a(grid) / grid->tiles_n,
               of_b = (double)tsl_grid_times_b(grid) / grid->tiles_m;
  return of_a * fmin(terms, s->depth / along_a) * rows * (along_a - 1) * (double)task->size_a +
         of_b * fmin(terms, s->depth / along_b) * cols * (along_b - 1) * (double)task->size_b;
}

/* Returns the mean bytes of an element of A, B and C. */
static double mean_element_bytes(const tsl_task *task) {
  return (double)(task->size_a + task->size_b + task->size_c) / 3;
}

/* Counts messages of an operand's panels for a tile with parts from `sources` ranks. Each source's terms lie
 * in one panel or in consecutive panels. */
static double panel_messages(const tsl_process_grid *grid, double sources) {
  return sources + grid->panels - 1;
}

/* Counts messages of a tile: panels of both operands, and sums. */
static double tile_messages(const tsl_process_grid *grid) {
  const double slabs = grid->slabs, parts = (double)(grid->used / grid->depth) / slabs;
  return panel_messages(grid, slabs) + panel_messages(grid, parts) + grid->depth;
}

/* Neglects overlap, because ranks also wait for each other. With many steps the estimate is too low. */
void tsl_grid_time(const tsl_task *task, const tsl_links *links, tsl_process_grid *grid) {
  const block_sides small = block_sides_of(grid, 0), large = block_sides_of(grid, 1);
  const double terms = fmax(small.rows * small.cols * small.depth, large.rows * large.cols * large.depth);
  const double element = mean_element_bytes(task);
  const int64_t busiest = grid->words > grid->words_sent ? grid->words : grid->words_sent;
  const double tiles = (double)grid->tiles_m * grid->tiles_n, steps = tiles * grid->panels;
  const double messages = tiles * tile_messages(grid);
  grid->seconds_compute = task->operations * terms / links->operations_per_second;
  grid->seconds = grid->seconds_compute + (double)busiest * element / links->bytes_per_second +
                  (grid->used == 1 ? 0 : messages * links->seconds_per_message);
  if ((tiles == 1 && grid->panels <= PANELS_MAX) || grid->as_c)
    return;
  const double sends = fmax(busiest_step_bytes(task, grid, &small), busiest_step_bytes(task, grid, &large)) /
                           links->bytes_per_second +
                       (tile_messages(grid) - grid->depth) / grid->panels * links->seconds_per_message;
  /* Nothing overlaps sums. For tiles with some of a block's rows, few ranks own the sums. */
  const double sums = fmax(small.rows * small.cols, large.rows * large.cols) * (1 - 1.0 / grid->depth) *
                          fmin(grid->tiles_m, grid->depth) * (double)task->size_sum /
                          links->bytes_per_second +
                      tiles * grid->depth * links->seconds_per_message;
  grid->seconds = fmax(grid->seconds, sends + steps * fmax(sends, grid->seconds_compute / steps) + sums);
}

/* Words of a rank of the smaller (0) or larger slabs (1), which owns an even share of all operands. */
typedef struct rank_words {
  double shared, inner, inner_sent; /* shared: slab's panel; inner: panel for all slabs */
  double sums;                      /* sums received from other layers */
  double slab_ranks;
  int64_t slabs; /* slabs of this kind */
} rank_words;

/* Returns the words of a rank of the smaller (which = 0) or larger (1) slabs. */
static rank_words rank_words_of(const tsl_process_grid *grid, int which) {
  const int64_t layer_ranks = grid->used / grid->depth, larger = layer_ranks % grid->slabs;
  const double s = (double)(layer_ranks / grid->slabs + which), q = (double)layer_ranks, d = grid->depth;
  const double outer = (double)(grid->by_columns ? grid->n : grid->m) * s / q;
  const double width = (double)(grid->by_columns ? grid->m : grid->n), depth = (double)grid->k / d;
  return (rank_words){.shared = outer * depth * (1 - 1 / s),
                      .inner = width / s * depth * (1 - s / q),
                      .inner_sent = width / q * depth * (double)(grid->slabs - 1),
                      .sums = outer * width / s * (1 - 1 / d),
                      .slab_ranks = s,
                      .slabs = which == 1 ? larger : grid->slabs - larger};
}

/* Sets the expected words. A rank of a large slab may send more than it receives. */
static void set_expected_words(tsl_process_grid *grid) {
  const int times_a = tsl_grid_times_a(grid), times_b = tsl_grid_times_b(grid);
  const int times_outer = grid->by_columns ? times_b : times_a;
  const int times_inner = grid->by_columns ? times_a : times_b;
  double most = 0, most_sent = 0, all = 0;
  for (int which = 0; which < 2; which++) {
    const rank_words t = rank_words_of(grid, which);
    if (t.slabs == 0)
      continue;
    const double shared = t.shared * (double)times_outer;
    const double received = shared + t.sums + t.inner * (double)times_inner;
    const double sent = shared + t.sums + t.inner_sent * (double)times_inner;
    most = fmax(most, received);
    most_sent = fmax(most_sent, sent);
    all += received * t.slab_ranks * (double)t.slabs * grid->depth;
  }
  grid->words = (int64_t)ceil(most);
  grid->words_sent = (int64_t)ceil(most_sent);
  grid->words_all = (int64_t)ceil(all);
}

bool tsl_grid_complete(const tsl_task *task, const tsl_links *links, tsl_process_grid *grid) {
  if (!fit_into_memory(task, grid))
    return false;
  set_expected_words(grid);
  tsl_grid_time(task, links, grid);
  return true;
}

bool tsl_grid_in_tiles(const tsl_task *task, const tsl_links *links, int tiles_m, int tiles_n, int growth,
                       tsl_process_grid *grid) {
  tsl_process_grid cut = *grid;
  cut.tiles_m = tiles_m;
  cut.tiles_n = tiles_n;
  cut.growth = growth;
  cut.panels = 1;
  cut.memory = (int64_t)larger_block_bytes(task, &cut, 1);
  if (grid->tiles_m > 1 || grid->tiles_n > 1 || cut.memory > task->memory)
    return false;
  tsl_grid_time(task, links, &cut);
  *grid = cut;
  return true;
}

void tsl_grid_in_panels(const tsl_task *task, const tsl_links *links, int panels, tsl_process_grid *grid) {
  /* A device has less free memory than a host. */
  const double most = fmin((double)task->memory, (double)EXTRA_BYTES_MAX);
  while (panels < grid->panels && larger_block_bytes(task, grid, panels) > most)
    panels++;
  grid->panels = panels < grid->panels ? panels : grid->panels;
  grid->memory = (int64_t)larger_block_bytes(task, grid, grid->panels);
  tsl_grid_time(task, links, grid);
}

/* Inserts a grid into the list, sorted by seconds; equal grids keep their order. Returns the new length. */
static int comm_grid_insert(tsl_process_grid *list, int held, int count, const tsl_process_grid *grid) {
  int at = held;
  while (at > 0 && grid->seconds < list[at - 1].seconds)
    at--;
  if (at >= count)
    return held;
  const int last = held < count ? held : count - 1;
  for (int i = last; i > at; i--)
    list[i] = list[i - 1];
  list[at] = *grid;
  return held < count ? held + 1 : count;
}

/* Sets the range of slabs to try, *first to *last: around the number that makes blocks square. */
static void slab_range(const tsl_task *task, int layer_ranks, bool by_columns, int *first, int *last) {
  const double outer = (double)(by_columns ? task->n : task->m),
               inner = (double)(by_columns ? task->m : task->n);
  const double square = sqrt((double)layer_ranks * outer / (inner > 0 ? inner : 1));
  *first = square / 3 < layer_ranks ? (int)(square / 3) : layer_ranks;
  *first = *first < 1 ? 1 : *first;
  *last = 3 * square + 2 < layer_ranks ? (int)(3 * square + 2) : layer_ranks;
}

/* Fastest grids so far, the fastest first. */
typedef struct grid_ranking {
  const tsl_task *task;
  const tsl_links *links;
  tsl_process_grid *list;
  int held, count; /* grids in the list; its capacity */
} grid_ranking;

/* Returns true if a grid of at least `seconds` may enter the list. */
static bool may_enter(const grid_ranking *r, double seconds) {
  return r->held < r->count || seconds < r->list[r->count - 1].seconds;
}

static double comm_grid_compute_seconds(const grid_ranking *r, int rank_count) {
  const tsl_task *t = r->task;
  return t->operations * (double)t->m * (double)t->n * (double)t->k / rank_count /
         r->links->operations_per_second;
}

/* Returns a lower bound for rank_count ranks: products, and words and messages that some rank receives. */
static double bound_seconds(const grid_ranking *r, int rank_count) {
  const tsl_task *t = r->task;
  const double m = (double)t->m, n = (double)t->n, k = (double)t->k;
  const double words = tsl_grid_reach(t->m, t->n, t->k, rank_count) - (m * n + m * k + n * k) / rank_count;
  return comm_grid_compute_seconds(r, rank_count) +
         (rank_count == 1 ? 0
                          : fmax(words, 0) * mean_element_bytes(t) / r->links->bytes_per_second +
                                3 * cbrt(rank_count) * r->links->seconds_per_message);
}

/* Returns a lower bound on the busiest rank's words. With short memory A's panels are received for each row
 * of tiles and B's for each column, or the other way round. */
static double bound_words(const grid_ranking *r, const tsl_process_grid *grid) {
  const rank_words t = rank_words_of(grid, grid->used / grid->depth % grid->slabs != 0);
  const block_sides s = block_sides_of(grid, 1);
  const double tiles = 3 * s.rows * s.cols * (double)r->task->size_sum / (double)r->task->memory;
  const double panels = t.shared + t.inner;
  const double in_tiles =
      tiles > 1 && s.depth >= 2 * PANEL_TERMS_MIN ? 2 * sqrt(t.shared * t.inner * tiles) : 0;
  return t.sums + fmax(panels, in_tiles);
}

/* Narrows the range *first to *last: words and messages of s slabs take at least a s + b / s + c seconds. */
static void narrow_slabs(const grid_ranking *r, int rank_count, int depth, bool by_columns, int *first,
                         int *last) {
  if (rank_count == 1 || r->held < r->count)
    return;
  const tsl_task *t = r->task;
  const double outer = (double)(by_columns ? t->n : t->m), inner = (double)(by_columns ? t->m : t->n);
  const double terms = (double)t->k / depth, ranks = (double)rank_count / depth;
  const double word = mean_element_bytes(t) / r->links->bytes_per_second,
               message = r->links->seconds_per_message;
  const double a = word * terms * inner / ranks + message, b = word * terms * outer + message * ranks;
  const double sums = outer * inner / ranks * (1 - 1.0 / depth), held = terms * (outer + inner) / ranks;
  const double c = comm_grid_compute_seconds(r, rank_count) + word * (sums - held) + message * depth;
  const double room = r->list[r->count - 1].seconds * (1 + 1e-9) - c, root = room * room - 4 * a * b;
  if (room <= 0 || root < 0) {
    *last = 0;
    return;
  }
  *first = (int)fmax(*first, floor((room - sqrt(root)) / (2 * a)));
  *last = (int)fmin(*last, ceil((room + sqrt(root)) / (2 * a)));
}

/* Completes a grid and inserts it into the list, unless its lower bound is too slow or memory too short. */
static void try_grid(grid_ranking *r, tsl_process_grid *grid) {
  grid->panels = 1;
  const double seconds =
      grid->used == 1 ? 0
                      : bound_words(r, grid) * mean_element_bytes(r->task) / r->links->bytes_per_second +
                            tile_messages(grid) * r->links->seconds_per_message;
  if (may_enter(r, comm_grid_compute_seconds(r, grid->used) + seconds) &&
      tsl_grid_complete(r->task, r->links, grid))
    r->held = comm_grid_insert(r->list, r->held, r->count, grid);
}

/* Tries grids of rank_count ranks in `depth` layers: all slabs of rows, and slabs of columns that differ. */
static void try_layers(grid_ranking *r, int rank_count, int depth) {
  const tsl_task *task = r->task;
  const int layer_ranks = rank_count / depth;
  if (depth > 1 && depth > task->k)
    return;
  for (int by_columns = 0; by_columns < 2; by_columns++) {
    int from, to;
    slab_range(task, layer_ranks, by_columns, &from, &to);
    narrow_slabs(r, rank_count, depth, by_columns, &from, &to);
    for (int slabs = from; slabs <= to; slabs++) {
      /* Even grids of columns equal even grids of rows. */
      if (by_columns && layer_ranks % slabs == 0)
        continue;
      tsl_process_grid grid = {.m = task->m,
                               .n = task->n,
                               .k = task->k,
                               .ranks = task->ranks,
                               .used = rank_count,
                               .depth = depth,
                               .slabs = slabs,
                               .by_columns = by_columns};
      const int64_t outer = by_columns ? task->n : task->m, inner = by_columns ? task->m : task->n;
      if ((slabs > 1 && slabs > outer) || (layer_ranks > slabs && ceil_quotient(layer_ranks, slabs) > inner))
        continue;
      try_grid(r, &grid);
    }
  }
}

/* Tries grids in which rank_count ranks multiply. Each divisor of rank_count is a number of layers. */
static void try_rank_count(grid_ranking *r, int rank_count) {
  int divisor = 1;
  if (!may_enter(r, bound_seconds(r, rank_count)))
    return;
  for (; (int64_t)divisor * divisor <= rank_count; divisor++)
    if (rank_count % divisor == 0)
      try_layers(r, rank_count, divisor);
  for (divisor--; divisor >= 1; divisor--)
    if (rank_count % divisor == 0 && rank_count / divisor > divisor)
      try_layers(r, rank_count, rank_count / divisor);
}

int tsl_grid_list(const tsl_task *task, const tsl_links *links, tsl_process_grid *out, int count) {
  grid_ranking r = {task, links, out, 0, count};
  /* A few numbers of ranks rule out most others. Every number is tried, so more ranks are never slower. */
  for (int used = task->ranks; used >= 1; used /= 2)
    try_rank_count(&r, used);
  for (int used = task->ranks - 1, half = task->ranks / 2; used >= 1; used--) {
    if (used == half)
      half /= 2;
    else
      try_rank_count(&r, used);
  }
  return r.held;
}

double tsl_grid_reach(int64_t m, int64_t n, int64_t k, int ranks) {
  double d[3] = {(double)m, (double)n, (double)k};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2 - i; j++)
      if (d[j] < d[j + 1]) {
        const double t = d[j];
        d[j] = d[j + 1];
        d[j + 1] = t;
      }
  const double p = ranks;
  if (d[2] == 0)
    return 0;
  if (p <= d[0] / d[1])
    return (d[0] * d[1] + d[0] * d[2]) / p + d[1] * d[2];
  if (p <= d[0] * d[1] / (d[2] * d[2]))
    return 2 * sqrt(d[0] * d[1] * d[2] * d[2] / p) + d[0] * d[1] / p;
  return 3 * pow(d[0] * d[1] * d[2] / p, 2.0 / 3);
}

double tsl_grid_bound(int64_t m, int64_t n, int64_t k, int ranks, double memory_words) {
  if (ranks <= 1)
    return 0;
  const double x = (double)m, y = (double)n, z = (double)k, p = ranks;
  const double held = (x * y + x * z + y * z) / p, memory = memory_words + held;
  const double reach = tsl_grid_reach(m, n, k, ranks) - held;
  const double limited = 2 * x * y * z / (p * sqrt(memory)) - memory;
  const double bound = reach > limited ? reach : limited;
  return bound > 0 ? bound : 0;
}

void tsl_grid_print(const tsl_process_grid *grid, tsl_text *text) {
  const int layer_ranks = grid->used / grid->depth, rest = layer_ranks % grid->slabs;
  if (rest == 0) {
    tsl_text_add(text, "grid %d x %d x %d of %d ranks", grid->slabs, layer_ranks / grid->slabs, grid->depth,
                 grid->ranks);
  } else {
    tsl_text_add(text, "grid of %d slabs of %s, %d with %d ranks and %d with %d, x %d of %d ranks",
                 grid->slabs, grid->by_columns ? "columns" : "rows", rest, layer_ranks / grid->slabs + 1,
                 grid->slabs - rest, layer_ranks / grid->slabs, grid->depth, grid->ranks);
  }
  tsl_text_add(text, ", %d %s", grid->tiles_m * grid->tiles_n * grid->panels,
               grid->tiles_m * grid->tiles_n * grid->panels == 1 ? "step" : "steps");
  if (grid->tiles_m * grid->tiles_n > 1)
    tsl_text_add(text, " for %d x %d tiles", grid->tiles_m, grid->tiles_n);
  if (grid->as_c)
    tsl_text_add(text, ", blocks as C lies");
}

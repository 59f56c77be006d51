/* Tile registers in one thread: operands are packed immediately before use, into the second-level cache.
 *
 *           pass     pass       A pass takes some columns of B and all of k, or a chunk of it: about 1 MiB of
 *         +--------+--------+   copies. All micro-panels of A stream through it; each is packed in its first
 *   micro | | | | || | | | ||   pass and kept if more passes follow. Panel after panel it meets the pass's
 *         +--------+--------+   micro-panels of B: it stays in the first-level cache, micro-panels of B come
 *         |        |        |   from the second.
 *
 * During a tile's products rows of A's next micro-panel are copied (host_amx_registers.h), and sums of the
 * tile before are written to C. Dense rows of whole cache lines are read directly. */
#include "strategy/gemm/host/host_amx/host_amx_job.h"

#include "core/memory.h"

#include <stdatomic.h>

typedef struct prefetches {
  const unsigned char *at;   /* present run */
  int64_t left, lines, line; /* runs left, cache lines of a run, lines of this run that are done */
  int64_t stride, each;      /* bytes between runs; lines to prefetch before each tile */
} prefetches;

static void thread_rectangle_prefetch_some(prefetches *list) {
  for (int64_t i = 0; i < list->each && list->left > 0; i++) {
    __builtin_prefetch(list->at + list->line * TSL_CACHE_LINE, 0, 2);
    if (++list->line == list->lines) {
      list->line = 0;
      list->at += list->stride;
      list->left--;
    }
  }
}

typedef struct rectangle_launch {
  const tsl_amx_job *job;
  tsl_amx_packed a, b;
  uint32_t *sums;
  tsl_amx_concurrent concurrent;
  uint32_t *rows[2]; /* buffers for the rows of a micro-panel of A, if they are copied unchanged */
  int row_buffer;    /* index of the buffer that tiles read; the other one gets the next rows */
  bool by_rows;      /* A's rows are copied unchanged, during the tiles of the micro-panel before */
  bool keeps_a;      /* A's copies have all of A and serve all passes */
  int64_t micro_panels_b, panels; /* micro-panels of B of a pass, and panels of a chunk of k */
  _Atomic int64_t *taken;         /* micro-panels of A that threads have taken; NULL: one thread */
  /* minimum magnitudes so far, of all micro-panels of A and of a pass's micro-panels of B */
  uint32_t *least_a, *least_b;
} rectangle_launch;

/* Returns prefetches of the elements of a micro-panel of A that is packed next. */
static prefetches prefetches_of_elements(const tsl_amx_job *job, int64_t micro_a, int64_t panel,
                                         int64_t end_panel) {
  const int64_t per = tsl_amx_elements(job->kernels->format), first = panel * job->depth * per,
                end = tsl_min(end_panel * job->depth * per, job->views.k),
                row = tsl_amx_first_row_of(job, micro_a),
                rows = tsl_min(tsl_amx_first_row_of(job, micro_a + 1), job->views.m) - row;
  const int64_t across = job->views.a.row_stride, along = job->views.a.col_stride;
  prefetches result = {.at = job->views.a.at + (row * across + first * along) * job->size};
  if (along == 1) {
    result.left = rows;
    result.lines = tsl_ceil_div((end - first) * job->size, TSL_CACHE_LINE);
    result.stride = across * job->size;
  } else if (across == 1) {
    result.left = end - first;
    result.lines = tsl_ceil_div(rows * job->size, TSL_CACHE_LINE);
    result.stride = along * job->size;
  }
  return result;
}

static prefetches prefetches_of_copy(const rectangle_launch *run, int64_t micro_a, int64_t panel,
                                     int64_t end_panel) {
  const tsl_amx_job *job = run->job;
  const int64_t row = tsl_amx_first_row_of(job, micro_a), rows = tsl_amx_first_row_of(job, micro_a + 1) - row;
  return (prefetches){.at = (const unsigned char *)tsl_amx_address(job, &run->a, panel, row),
                      .left = end_panel - panel,
                      .lines =
                          tsl_amx_panel_units(job, panel) * rows * (int64_t)sizeof(uint32_t) / TSL_CACHE_LINE,
                      .stride = job->depth * run->a.count * (int64_t)sizeof(uint32_t)};
}

static void pack_b_panels(rectangle_launch *run, int64_t first, int64_t end, int64_t panel,
                          int64_t end_panel) {
  const int64_t width = run->job->kernels->width;
  run->b.first = first * width;
  run->b.count = (end - first) * width;
  run->b.panel = panel;
  for (int64_t p = panel; p < end_panel; p++)
    tsl_amx_pack_b_range(run->job, &run->b, p, first, end, run->least_b);
}

static void pack_a_panels(rectangle_launch *run, int64_t micro_a, int64_t panel, int64_t end_panel) {
  if (!run->keeps_a) {
    run->a.first = tsl_amx_first_row_of(run->job, micro_a);
    run->a.count = tsl_amx_first_row_of(run->job, micro_a + 1) - run->a.first;
    run->a.panel = panel;
  }
  for (int64_t p = panel; p < end_panel; p++)
    tsl_amx_pack_a(run->job, &run->a, p, micro_a);
}

/* Returns the row pitch in cache lines: an odd multiple of two, so that rows spread over the cache sets. */
static int64_t thread_rectangle_pitch_of(int64_t units) {
  enum { LINE = TSL_CACHE_LINE / sizeof(uint32_t) };
  const int64_t lines = tsl_ceil_div(units, LINE);
  return (lines + 1) / 4 * 4 + 2;
}

static int64_t units_of_chunk(const tsl_amx_job *job, int64_t panel, int64_t end_panel) {
  return tsl_min(end_panel * job->depth, job->units) - panel * job->depth;
}

static void copy_first_rows(rectangle_launch *run, int64_t micro_a, int64_t panel, int64_t end_panel) {
  const int64_t units = units_of_chunk(run->job, panel, end_panel);
  run->a = (tsl_amx_packed){.at = run->rows[run->row_buffer],
                            .panel = panel,
                            .pitch = thread_rectangle_pitch_of(units) * TSL_CACHE_LINE};
  run->a.first = tsl_amx_first_row_of(run->job, micro_a);
  tsl_amx_pack_a_rows(run->job, &run->a, micro_a, units);
}

/* Prepares the copy of micro-panel of A `index` during the next `tiles` tiles. */
static void thread_rectangle_next_rows(rectangle_launch *run, int64_t index, int64_t panel, int64_t end_panel,
                                       int64_t tiles) {
  const tsl_amx_job *job = run->job;
  const int64_t first = panel * job->depth * tsl_amx_elements(job->kernels->format),
                units = units_of_chunk(job, panel, end_panel), row = tsl_amx_first_row_of(job, index),
                bytes = tsl_min((job->views.k - first) * job->size, units * (int64_t)sizeof(uint32_t));
  tsl_amx_concurrent *concurrent = &run->concurrent;
  concurrent->in = job->views.a.at + (row * job->views.a.row_stride + first) * job->size;
  concurrent->out = (unsigned char *)run->rows[!run->row_buffer];
  concurrent->in_row = job->views.a.row_stride * job->size;
  concurrent->out_row = run->a.pitch;
  concurrent->lines = tsl_ceil_div(bytes, TSL_CACHE_LINE);
  concurrent->tail = bytes % TSL_CACHE_LINE;
  concurrent->rows = tsl_min(tsl_amx_first_row_of(job, index + 1), job->views.m) - row;
  concurrent->tiles = tiles;
  concurrent->least = TSL_AMX_ALL_ZERO;
}

/* Returns the minimum magnitude of a micro-panel in panels `panel` to before `end_panel`. */
static uint32_t min_magnitude_in(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t micro,
                                 int64_t panel, int64_t end_panel,
                                 uint32_t (*least_of)(const tsl_amx_job *, const tsl_amx_packed *, int64_t,
                                                      int64_t)) {
  uint32_t least = TSL_AMX_ALL_ZERO;
  for (int64_t p = panel; p < end_panel; p++) {
    const uint32_t value = least_of(job, packed, p, micro);
    least = value < least ? value : least;
  }
  return least;
}

/* Lowers a minimum to `value`, the minimum of a chunk. */
static void lower_minimum(uint32_t *least, uint32_t value, bool is_first) {
  *least = is_first || value < *least ? value : *least;
}

/* Takes and returns the micro-panel of A after `micro_a`; micro_panels_a if none is left. */
static int64_t next_micro_a(const rectangle_launch *run, int64_t micro_a) {
  const int64_t next =
      run->taken ? atomic_fetch_add_explicit(run->taken, 1, memory_order_relaxed) : micro_a + 1;
  return tsl_min(next, run->job->micro_panels_a);
}

/* Multiplies micro-panels `first` to before `end` of B with a chunk of k. */
static void run_pass(rectangle_launch *run, int64_t first, int64_t end, int64_t panel, int64_t end_panel) {
  const tsl_amx_job *job = run->job;
  const bool copies_a = !run->by_rows && !job->packed_a.at && (first == 0 || !run->keeps_a),
             one_micro_a = run->panels >= job->panels;
  const int64_t workspace = tsl_amx_tile_sums(job), tiles = (end - first) * (end_panel - panel);
  int64_t micro_a = next_micro_a(run, -1);
  if (micro_a == job->micro_panels_a)
    return;
  for (int64_t micro_b = first; micro_b < end && (panel == 0 || job->packed_b.at); micro_b++)
    lower_minimum(&run->least_b[micro_b - first],
                  job->packed_b.at
                      ? min_magnitude_in(job, &run->b, micro_b, panel, end_panel, tsl_amx_min_magnitude_of_b)
                      : TSL_AMX_ALL_ZERO,
                  panel == 0);
  if (!job->packed_b.at)
    pack_b_panels(run, first, end, panel, end_panel);
  if (run->by_rows)
    copy_first_rows(run, micro_a, panel, end_panel);
  bool is_found = false; /* the minimum magnitude of the micro-panel of A was computed by its copy */
  for (int64_t behind; micro_a < job->micro_panels_a; micro_a = behind) {
    const uint32_t found = run->concurrent.least;
    behind = next_micro_a(run, micro_a);
    uint32_t *const sums = run->sums + (one_micro_a ? 0 : micro_a * run->micro_panels_b * workspace);
    prefetches next = {.each = 0};
    const bool copies = copies_a && !tsl_amx_reads_in_place(job, micro_a);
    if (copies)
      pack_a_panels(run, micro_a, panel, end_panel);
    if (run->by_rows && behind < job->micro_panels_a) {
      thread_rectangle_next_rows(run, behind, panel, end_panel, tiles);
    } else if (behind < job->micro_panels_a) {
      next = copies_a ? prefetches_of_elements(job, behind, panel, end_panel)
                      : prefetches_of_copy(run, behind, panel, end_panel);
      next.each = tsl_ceil_div(next.left * next.lines, tiles);
    }
    lower_minimum(&run->least_a[micro_a],
                  is_found
                      ? found
                      : min_magnitude_in(job, &run->a, micro_a, panel, end_panel, tsl_amx_min_magnitude_of_a),
                  panel == 0);
    for (int64_t p = panel; p < end_panel; p++)
      for (int64_t micro_b = first; micro_b < end; micro_b++) {
        thread_rectangle_prefetch_some(&next);
        tsl_amx_multiply_tile(job, &run->a, &run->b, p, micro_a, micro_b,
                              tsl_amx_needs_care(run->least_a[micro_a], run->least_b[micro_b - first]),
                              sums + (job->panels == 1 ? 0 : (micro_b - first) * workspace), &run->concurrent,
                              micro_b + 1 < end);
      }
    if (run->by_rows) {
      is_found = job->kernels->finds_least;
      run->row_buffer = !run->row_buffer;
      run->a.at = run->rows[run->row_buffer];
      run->a.first = tsl_amx_first_row_of(job, behind);
    }
  }
}

static int64_t words_of_pass(const tsl_amx_job *job) {
  return 4 * job->resident_bytes / (int64_t)sizeof(uint32_t);
}

enum { PASS_COLUMNS_MAX = 512, PASS_COLUMNS_MIN = 256 };

int64_t tsl_amx_pass_columns(const tsl_amx_job *job) {
  const int64_t columns = words_of_pass(job) / job->units, width = job->kernels->width;
  return columns < PASS_COLUMNS_MIN ? 0 : tsl_min(columns, PASS_COLUMNS_MAX) / width * width;
}

/* Chooses a pass: all of k if the pass is wide enough, else a chunk, with all tiles' sums in memory. */
static void thread_rectangle_choose(const tsl_amx_job *job, rectangle_launch *run) {
  enum { COLUMNS_OF_A_CHUNK = 384 };
  int64_t columns = tsl_amx_pass_columns(job);
  run->panels = job->panels;
  if (columns == 0) {
    columns = COLUMNS_OF_A_CHUNK;
    const int64_t most = tsl_max(words_of_pass(job) / (columns * job->depth), 1);
    run->panels = tsl_ceil_div(job->panels, tsl_ceil_div(job->panels, most));
  }
  const int64_t most = columns / job->kernels->width;
  run->micro_panels_b = tsl_ceil_div(job->micro_panels_b, tsl_ceil_div(job->micro_panels_b, most));
  const bool is_as_stored = job->size * tsl_amx_elements(job->kernels->format) == sizeof(uint32_t);
  run->by_rows =
      is_as_stored && !job->packed_a.at && job->views.a.col_stride == 1 && !tsl_amx_reads_in_place(job, 0);
  run->keeps_a = !run->by_rows && run->micro_panels_b < job->micro_panels_b;
}

static int64_t words_of_rows(const rectangle_launch *run) {
  const tsl_amx_job *job = run->job;
  return job->kernels->height * thread_rectangle_pitch_of(tsl_min(run->panels * job->depth, job->units)) *
         (TSL_CACHE_LINE / (int64_t)sizeof(uint32_t));
}

static int64_t words_of_a(const rectangle_launch *run) {
  const tsl_amx_job *job = run->job;
  return job->packed_a.at ? 0
         : run->by_rows   ? 2 * words_of_rows(run)
         : run->keeps_a   ? tsl_amx_packed_words(job, true)
                          : job->kernels->height * tsl_min(run->panels * job->depth, job->units);
}

static int64_t words_of_b(const rectangle_launch *run) {
  const tsl_amx_job *job = run->job;
  return job->packed_b.at
             ? 0
             : run->micro_panels_b * job->kernels->width * tsl_min(run->panels * job->depth, job->units);
}

/* Returns the tiles whose sums are in memory at a time. */
static int64_t thread_rectangle_tiles_of(const rectangle_launch *run) {
  const tsl_amx_job *job = run->job;
  return job->panels == 1             ? 1
         : run->panels >= job->panels ? run->micro_panels_b
                                      : run->micro_panels_b * job->micro_panels_a;
}

int64_t tsl_amx_thread_workspace_words(const tsl_amx_job *job) {
  rectangle_launch run = {.job = job};
  thread_rectangle_choose(job, &run);
  return words_of_a(&run) + words_of_b(&run) +
         (thread_rectangle_tiles_of(&run) + 2) * tsl_amx_tile_sums(job) + job->micro_panels_a +
         run.micro_panels_b;
}

static void thread_rectangle_run_passes(const tsl_amx_job *job, uint32_t *workspace, _Atomic int64_t *taken) {
  rectangle_launch run = {.job = job, .a = job->packed_a, .b = job->packed_b, .taken = taken};
  thread_rectangle_choose(job, &run);
  for (int i = 0; run.by_rows && i < 2; i++)
    run.rows[i] = workspace + i * words_of_rows(&run);
  if (!job->packed_a.at && !run.by_rows)
    run.a = run.keeps_a ? tsl_amx_packed_in(job, true, workspace) : (tsl_amx_packed){.at = workspace};
  workspace += words_of_a(&run);
  if (!job->packed_b.at)
    run.b.at = workspace;
  workspace += words_of_b(&run);
  for (int i = 0; i < 2; i++, workspace += tsl_amx_tile_sums(job))
    run.concurrent.sums[i] = workspace;
  run.sums = workspace;
  run.least_a = workspace + thread_rectangle_tiles_of(&run) * tsl_amx_tile_sums(job);
  run.least_b = run.least_a + job->micro_panels_a;
  if (job->kernels->begin)
    job->kernels->begin();
  for (int64_t first = 0; first < job->micro_panels_b; first += run.micro_panels_b)
    for (int64_t panel = 0; panel < job->panels; panel += run.panels)
      run_pass(&run, first, tsl_min(first + run.micro_panels_b, job->micro_panels_b), panel,
               tsl_min(panel + run.panels, job->panels));
  tsl_amx_write_pending(job, &run.concurrent);
  if (job->kernels->end)
    job->kernels->end();
  if (job->nontemporal) /* nontemporal stores must be visible before the product counts as done */
    atomic_thread_fence(memory_order_seq_cst);
}

void tsl_amx_run_in_thread(const tsl_amx_job *job, uint32_t *workspace) {
  thread_rectangle_run_passes(job, workspace, NULL);
}

void tsl_amx_run_pass(const tsl_amx_job *job, uint32_t *workspace, _Atomic int64_t *taken) {
  thread_rectangle_run_passes(job, workspace, taken);
}

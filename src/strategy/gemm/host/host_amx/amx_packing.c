#include "strategy/gemm/host/host_amx/host_amx_job.h"

#include "core/memory.h"

#include <string.h>

int64_t tsl_amx_rows_of_a(const tsl_amx_job *job) {
  const int64_t step = job->kernels->is_amx ? TSL_AMX_REGISTER_ROWS : 1;
  return tsl_ceil_div(job->views.m, step) * step;
}

int64_t tsl_amx_columns_of_b(const tsl_amx_job *job) {
  return job->micro_panels_b * job->kernels->width;
}

int64_t tsl_amx_panel_units(const tsl_amx_job *job, int64_t panel) {
  return tsl_min(job->depth, job->units - panel * job->depth);
}

int64_t tsl_amx_first_row_of(const tsl_amx_job *job, int64_t index) {
  const int64_t m = job->views.m, micro_panels_a = job->micro_panels_a;
  if (job->kernels->is_amx)
    return tsl_min(index * job->kernels->height, tsl_amx_rows_of_a(job));
  return m / micro_panels_a * index + tsl_min(m % micro_panels_a, index);
}

uint32_t *tsl_amx_address(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t panel,
                          int64_t first) {
  return packed->at + (panel - packed->panel) * job->depth * packed->count +
         (first - packed->first) * tsl_amx_panel_units(job, panel);
}

int64_t tsl_amx_large_lines_of(const tsl_amx_job *job) {
  return job->large_is_a ? job->views.m : job->views.n;
}

int64_t tsl_amx_packed_line_of(const tsl_amx_job *job) {
  return tsl_ceil_div(job->views.k * job->size, TSL_CACHE_LINE) * TSL_CACHE_LINE;
}

tsl_amx_copy tsl_amx_thin_copy_of(const tsl_amx_job *job) {
  const tsl_view *a = &job->views.a, *b = &job->views.b;
  tsl_amx_copy copy = {.in = job->large_is_a ? b->at : a->at,
                       .across = job->large_is_a ? b->col_stride : a->row_stride,
                       .along = job->large_is_a ? b->row_stride : a->col_stride,
                       .count = job->large_is_a ? job->views.n : job->views.m,
                       .depth = job->views.k,
                       .width = 1,
                       .units = tsl_ceil_div(job->units, TSL_AMX_REGISTER_UNITS) * TSL_AMX_REGISTER_UNITS,
                       .for_amx = true};
  while (copy.width < copy.count)
    copy.width *= 2;
  return copy;
}

static int64_t packed_words_of_lines(const tsl_amx_job *job, bool is_a) {
  const tsl_amx_copy copy = tsl_amx_thin_copy_of(job);
  return is_a == job->large_is_a
             ? tsl_amx_large_lines_of(job) * tsl_amx_packed_line_of(job) / (int64_t)sizeof(uint32_t)
             : copy.units * copy.width;
}

/* Rounds up to whole cache lines. */
int64_t tsl_amx_packed_words(const tsl_amx_job *job, bool is_a) {
  enum { LINE = TSL_CACHE_LINE / sizeof(uint32_t) };
  if (job->takes_lines)
    return packed_words_of_lines(job, is_a);
  const int64_t width = is_a ? tsl_amx_rows_of_a(job) : tsl_amx_columns_of_b(job),
                start_sums = !is_a && job->kernels->bias != 0 ? job->panels : 0;
  return tsl_ceil_div((job->units + start_sums) * width, LINE) * LINE;
}

tsl_amx_packed tsl_amx_packed_in(const tsl_amx_job *job, bool is_a, uint32_t *data) {
  const int64_t width = is_a ? tsl_amx_rows_of_a(job) : tsl_amx_columns_of_b(job);
  return (tsl_amx_packed){.at = data, .start_sums = data + job->units * width, .count = width};
}

static uint32_t *start_sums_of_column(const tsl_amx_packed *packed, int64_t panel, int64_t column) {
  return packed->start_sums + (panel - packed->panel) * packed->count + column - packed->first;
}

/* Computes the sums that tiles start with: -bias times B's column sums, by a tile with one row of ones. */
static void make_start_sums(const tsl_amx_job *job, const tsl_amx_tile *micro_b, uint32_t *start) {
  enum { PIECE = 256 };
  uint32_t ones[PIECE];
  tsl_amx_tile piece = *micro_b;
  memset(ones, 1, sizeof ones);
  for (int64_t u = 0; u < micro_b->units; u += PIECE) {
    piece.a = ones;
    piece.b = micro_b->b + u * job->kernels->width;
    piece.units = tsl_min(PIECE, micro_b->units - u);
    piece.sums = piece.out = start;
    piece.adds_to_sums = u > 0;
    job->kernels->tiles[0](&piece);
  }
  for (int j = 0; j < job->kernels->width; j++)
    start[j] *= (uint32_t)-job->kernels->bias;
}

static tsl_amx_copy describe_panel_copy(const tsl_amx_job *job, int64_t panel, const tsl_view *view,
                                        int64_t across, int64_t along, int64_t first) {
  const int64_t per = tsl_amx_elements(job->kernels->format), step = panel * job->depth * per;
  return (tsl_amx_copy){.in = view->at + (first * across + step * along) * job->size,
                        .across = across,
                        .along = along,
                        .depth = tsl_min(job->views.k - step, job->depth * per),
                        .units = tsl_amx_panel_units(job, panel)};
}

void tsl_amx_pack_a(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t panel, int64_t index) {
  const int64_t row = tsl_amx_first_row_of(job, index), end = tsl_amx_first_row_of(job, index + 1);
  tsl_amx_copy copy =
      describe_panel_copy(job, panel, &job->views.a, job->views.a.row_stride, job->views.a.col_stride, row);
  copy.count = tsl_min(end, job->views.m) - row;
  copy.width = end - row;
  copy.for_amx = job->kernels->is_amx;
  copy.by_rows = job->copies_rows;
  copy.flip = job->kernels->bias != 0 ? 0x80808080 : 0;
  copy.out = tsl_amx_address(job, packed, panel, row);
  job->pack_a(&copy);
}

void tsl_amx_pack_a_rows(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t index, int64_t units) {
  const int64_t row = tsl_amx_first_row_of(job, index), end = tsl_amx_first_row_of(job, index + 1);
  tsl_amx_copy copy = describe_panel_copy(job, packed->panel, &job->views.a, job->views.a.row_stride,
                                          job->views.a.col_stride, row);
  copy.depth = tsl_min(job->views.k - packed->panel * job->depth * tsl_amx_elements(job->kernels->format),
                       units * tsl_amx_elements(job->kernels->format));
  copy.units = packed->pitch / (int64_t)sizeof(uint32_t);
  copy.count = tsl_min(end, job->views.m) - row;
  copy.width = end - row;
  copy.by_rows = true;
  copy.out = packed->at;
  job->pack_a(&copy);
}

/* Packs units `first` to before `end` of a panel of a micro-panel of B. */
static void pack_units_of_b(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t panel,
                            int64_t index, int64_t first, int64_t end) {
  const int64_t width = job->kernels->width, column = index * width,
                per = tsl_amx_elements(job->kernels->format);
  tsl_amx_copy copy = describe_panel_copy(job, panel, &job->views.b, job->views.b.col_stride,
                                          job->views.b.row_stride, column);
  copy.in += first * per * copy.along * job->size;
  copy.depth = tsl_max(tsl_min(copy.depth, end * per) - first * per, 0);
  copy.units = end - first;
  copy.count = tsl_min(width, job->views.n - column);
  copy.width = width;
  copy.out = tsl_amx_address(job, packed, panel, column) + first * width;
  job->pack_b(&copy);
}

static void make_start_sums_of_b(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t panel,
                                 int64_t index) {
  const int64_t column = index * job->kernels->width, units = tsl_amx_panel_units(job, panel);
  if (job->kernels->bias != 0)
    make_start_sums(job, &(tsl_amx_tile){.units = units, .b = tsl_amx_address(job, packed, panel, column)},
                    start_sums_of_column(packed, panel, column));
}

void tsl_amx_pack_b(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t panel, int64_t index) {
  pack_units_of_b(job, packed, panel, index, 0, tsl_amx_panel_units(job, panel));
  make_start_sums_of_b(job, packed, panel, index);
}

void tsl_amx_pack_b_range(const tsl_amx_job *job, const tsl_amx_packed *packed, int64_t panel, int64_t first,
                          int64_t end, uint32_t *least) {
  const int64_t units = tsl_amx_panel_units(job, panel), step = 2 * TSL_AMX_REGISTER_UNITS,
                width = job->kernels->width;
  for (int64_t unit = 0; unit < units; unit += step)
    for (int64_t micro_b = first; micro_b < end; micro_b++) {
      const int64_t behind = tsl_min(unit + step, units);
      pack_units_of_b(job, packed, panel, micro_b, unit, behind);
      if (!least || !job->kernels->careful)
        continue;
      const uint32_t value = job->kernels->packing->min_magnitude(
          tsl_amx_address(job, packed, panel, micro_b * width) + unit * width, 1, 0, (behind - unit) * width);
      least[micro_b - first] = value < least[micro_b - first] ? value : least[micro_b - first];
    }
  for (int64_t micro_b = first; micro_b < end; micro_b++)
    make_start_sums_of_b(job, packed, panel, micro_b);
}

int64_t tsl_amx_tile_sums(const tsl_amx_job *job) {
  return (int64_t)job->kernels->height * job->kernels->width;
}

static unsigned char *address_in_c(const tsl_amx_job *job, int64_t row, int64_t column) {
  return job->views.c.at + (row * job->views.c.row_stride + column * job->views.c.col_stride) * job->c_size;
}

static int64_t count_rows_in_c(const tsl_amx_job *job, int64_t micro_a) {
  return tsl_min(tsl_amx_first_row_of(job, micro_a + 1), job->views.m) - tsl_amx_first_row_of(job, micro_a);
}
static int64_t count_columns_in_c(const tsl_amx_job *job, int64_t micro_b) {
  return tsl_min(job->kernels->width, job->views.n - micro_b * job->kernels->width);
}

tsl_amx_epilogue tsl_amx_epilogue_of(const tsl_amx_job *job, int64_t row, int64_t column) {
  const bool any = job->views.k > 0;
  return (tsl_amx_epilogue){.c = address_in_c(job, row, column),
                            .c_row = job->views.c.row_stride,
                            .c_column = job->views.c.col_stride,
                            .alpha = any ? (float)job->alpha : 0,
                            .beta = (float)job->beta,
                            .integer_alpha = job->c_size == 4 && any ? (uint32_t)(int64_t)job->alpha : 0,
                            .integer_beta = job->c_size == 4 ? (uint32_t)(int64_t)job->beta : 0,
                            .nontemporal = job->nontemporal};
}

void tsl_amx_finish_tile(const tsl_amx_job *job, int64_t micro_a, int64_t micro_b, const uint32_t *sums) {
  tsl_amx_epilogue last =
      tsl_amx_epilogue_of(job, tsl_amx_first_row_of(job, micro_a), micro_b * job->kernels->width);
  last.sums = sums;
  last.rows = count_rows_in_c(job, micro_a);
  last.columns = count_columns_in_c(job, micro_b);
  last.width = job->kernels->width;
  job->epilogue(&last);
}

/* Prefetches the lines of C that a tile of the last panel writes. */
static void prefetch_c(const tsl_amx_job *job, int64_t micro_a, int64_t micro_b) {
  const int64_t row = tsl_amx_first_row_of(job, micro_a), end = row + count_rows_in_c(job, micro_a);
  for (int64_t i = row; i < end && job->views.c.col_stride == 1; i++) {
    const unsigned char *const line = address_in_c(job, i, micro_b * job->kernels->width);
    __builtin_prefetch(line, 1);
    __builtin_prefetch(line + TSL_CACHE_LINE, 1);
  }
}

/* Returns true if a tile's sums are its elements of C: a whole tile in C's type. */
static bool sums_are_elements_of_c(const tsl_amx_job *job, int64_t micro_a, int64_t micro_b) {
  return job->sums_are_c && count_columns_in_c(job, micro_b) == job->kernels->width &&
         (!job->kernels->is_amx || count_rows_in_c(job, micro_a) % TSL_AMX_REGISTER_ROWS == 0);
}

bool tsl_amx_reads_in_place(const tsl_amx_job *job, int64_t micro_a) {
  return job->reads_a && !job->packed_a.at &&
         (!job->kernels->is_amx || (count_rows_in_c(job, micro_a) % TSL_AMX_REGISTER_ROWS == 0 &&
                                    ((uintptr_t)job->views.a.at & (TSL_CACHE_LINE - 1)) == 0));
}

/* Sets the tile's address and strides of A: in place, copied as rows, or packed. */
static void set_micro_panel_of_a(const tsl_amx_job *job, const tsl_amx_packed *a, int64_t panel,
                                 int64_t micro_a, tsl_amx_tile *tile) {
  const int64_t row = tsl_amx_first_row_of(job, micro_a), rows = tsl_amx_first_row_of(job, micro_a + 1) - row,
                units = job->kernels->is_amx ? TSL_AMX_REGISTER_UNITS : 1;
  if (tsl_amx_reads_in_place(job, micro_a)) {
    tile->a_row = job->views.a.row_stride * job->size;
    tile->a_step = units;
    tile->a = (const uint32_t *)(job->views.a.at + row * tile->a_row) + panel * job->depth;
  } else if (a->pitch > 0) {
    tile->a_row = a->pitch;
    tile->a_step = units;
    tile->a =
        a->at + (row - a->first) * (a->pitch / (int64_t)sizeof(uint32_t)) + (panel - a->panel) * job->depth;
  } else {
    tile->a = tsl_amx_address(job, a, panel, row);
    const bool by_rows = job->copies_rows && !job->packed_a.at;
    tile->a_row = (by_rows ? tsl_amx_panel_units(job, panel) : units) * (int64_t)sizeof(uint32_t);
    tile->a_step = by_rows ? 1 : units * rows;
  }
}

/* Sets the destination of a tile's sums: C, or for tile registers a buffer that is written to C later. */
static void set_destination(const tsl_amx_job *job, int64_t micro_a, int64_t micro_b,
                            tsl_amx_concurrent *concurrent, tsl_amx_tile *tile) {
  unsigned char *const c =
      address_in_c(job, tsl_amx_first_row_of(job, micro_a), micro_b * job->kernels->width);
  if (concurrent && tile->units > TSL_AMX_REGISTER_UNITS &&
      count_rows_in_c(job, micro_a) == job->kernels->height) {
    concurrent->at ^= 1;
    concurrent->c = c;
    tile->out = concurrent->sums[concurrent->at];
  } else {
    tile->out = (uint32_t *)(void *)c;
    tile->out_row = job->views.c.row_stride;
  }
}

/* Sets the finished sums that the micro-kernel writes to C during this tile; none are pending afterwards. */
static void set_pending(const tsl_amx_job *job, tsl_amx_concurrent *concurrent, tsl_amx_tile *tile) {
  const int64_t row = job->views.c.row_stride * job->c_size;
  unsigned char *const c = concurrent ? concurrent->c : NULL;
  tile->pending_sums = c ? concurrent->sums[concurrent->at] : NULL;
  tile->pending_c = c;
  tile->pending_c_row = row;
  tile->pending_nontemporal = job->nontemporal && ((uintptr_t)c | (uintptr_t)row) % TSL_CACHE_LINE == 0;
  if (concurrent)
    concurrent->c = NULL;
}

/* Sets the rows that are copied during a tile: the rest divided by the tiles left. */
static void set_copy(tsl_amx_concurrent *concurrent, tsl_amx_tile *tile) {
  tile->copy_in = NULL;
  if (!concurrent || concurrent->rows <= 0)
    return;
  tile->copy_in = concurrent->in;
  tile->copy_out = concurrent->out;
  tile->copy_rows = tsl_ceil_div(concurrent->rows, concurrent->tiles);
  tile->copy_lines = concurrent->lines;
  tile->copy_tail = concurrent->tail;
  tile->copy_in_row = concurrent->in_row;
  tile->copy_out_row = concurrent->out_row;
  tile->copy_least = &concurrent->least;
  concurrent->in += tile->copy_rows * concurrent->in_row;
  concurrent->out += tile->copy_rows * concurrent->out_row;
  concurrent->rows -= tile->copy_rows;
  concurrent->tiles--;
}

void tsl_amx_write_pending(const tsl_amx_job *job, tsl_amx_concurrent *concurrent) {
  const int64_t row = job->views.c.row_stride * job->c_size, width = job->kernels->width;
  for (int i = 0; concurrent->c && i < job->kernels->height; i++)
    memcpy(concurrent->c + i * row, concurrent->sums[concurrent->at] + i * width,
           (size_t)(width * job->c_size));
  concurrent->c = NULL;
}

uint32_t tsl_amx_min_magnitude_of_a(const tsl_amx_job *job, const tsl_amx_packed *a, int64_t panel,
                                    int64_t micro_a) {
  tsl_amx_tile tile = {.units = tsl_amx_panel_units(job, panel)};
  const int64_t rows = tsl_amx_first_row_of(job, micro_a + 1) - tsl_amx_first_row_of(job, micro_a);
  if (!job->kernels->careful)
    return TSL_AMX_ALL_ZERO;
  set_micro_panel_of_a(job, a, panel, micro_a, &tile);
  if (tsl_amx_reads_in_place(job, micro_a) || a->pitch > 0) /* rows after C's last one are undefined */
    return job->kernels->packing->min_magnitude(tile.a, count_rows_in_c(job, micro_a), tile.a_row,
                                                tile.units);
  return job->kernels->packing->min_magnitude(tile.a, 1, 0, rows * tile.units);
}

uint32_t tsl_amx_min_magnitude_of_b(const tsl_amx_job *job, const tsl_amx_packed *b, int64_t panel,
                                    int64_t micro_b) {
  const int64_t width = job->kernels->width;
  return job->kernels->careful
             ? job->kernels->packing->min_magnitude(tsl_amx_address(job, b, panel, micro_b * width), 1, 0,
                                                    tsl_amx_panel_units(job, panel) * width)
             : TSL_AMX_ALL_ZERO;
}

/* A bf16 with biased exponent e (bias 127) is a multiple of 2^(e - 134), so f32 sums of products are
 * multiples of 2^(e + f - 268). If this is at least 2^-126, no sum but 0 is subnormal. */
bool tsl_amx_needs_care(uint32_t least_a, uint32_t least_b) {
  enum { EXPONENTS = 268 - 126, FIRST_NORMAL = 1 << 7 };
  if (least_a == TSL_AMX_ALL_ZERO || least_b == TSL_AMX_ALL_ZERO)
    return false;
  return least_a < FIRST_NORMAL || least_b < FIRST_NORMAL || (least_a >> 7) + (least_b >> 7) < EXPONENTS;
}

void tsl_amx_multiply_tile(const tsl_amx_job *job, const tsl_amx_packed *a, const tsl_amx_packed *b,
                           int64_t panel, int64_t micro_a, int64_t micro_b, bool is_careful, uint32_t *sums,
                           tsl_amx_concurrent *concurrent, bool has_next) {
  enum { AHEAD = 2 }; /* tiles of few steps wait for the lines of C */
  const tsl_amx_kernels *kernels = job->kernels;
  tsl_amx_tile_function *const *tiles = is_careful ? kernels->careful : kernels->tiles;
  const int64_t row = tsl_amx_first_row_of(job, micro_a), rows = tsl_amx_first_row_of(job, micro_a + 1) - row,
                column = micro_b * kernels->width;
  const bool is_last = panel == job->panels - 1,
             writes_c = is_last && sums_are_elements_of_c(job, micro_a, micro_b);
  tsl_amx_tile
      /* Members are set one by one: clearing the struct would wait for the previous tile's stores. */
      tile;
  tile.units = tsl_amx_panel_units(job, panel);
  tile.b = tsl_amx_address(job, b, panel, column);
  tile.start = kernels->bias != 0 ? start_sums_of_column(b, panel, column) : NULL;
  tile.sums = tile.out = sums;
  tile.out_row = kernels->width;
  tile.adds_to_sums = panel > 0;
  tile.next_sums = NULL;
  set_micro_panel_of_a(job, a, panel, micro_a, &tile);
  set_pending(job, concurrent, &tile);
  set_copy(concurrent, &tile);
  if (writes_c)
    set_destination(job, micro_a, micro_b, concurrent, &tile);
  if (kernels->is_amx && has_next && panel > 0)
    tile.next_sums = sums + tsl_amx_tile_sums(job);
  else if (kernels->is_amx && is_last && tile.units <= TSL_AMX_REGISTER_UNITS &&
           micro_b + AHEAD < job->micro_panels_b)
    prefetch_c(job, micro_a, micro_b + AHEAD);
  else if (!kernels->is_amx && is_last && !job->nontemporal)
    prefetch_c(job, micro_a, micro_b);
  tiles[kernels->is_amx ? rows / TSL_AMX_REGISTER_ROWS - 1 : rows - 1](&tile);
  if (is_last && !writes_c)
    tsl_amx_finish_tile(job, micro_a, micro_b, sums);
}

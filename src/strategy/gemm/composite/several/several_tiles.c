/* Cuts C of distributed operands into blocks for members, and blocks into tiles with all of k. In a block the
 * operand with fewer missing bytes is resident; the other one streams in slabs, as large as transfers can
 * hide. Tiles of the member's own shards come first, then the shards of the next members. */
#include "core/memory.h"
#include "core/reserve.h"
#include "core/status.h"
#include "device/device_rates.h"
#include "host/int_math.h"
#include "strategy/gemm/composite/several/shard_worker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the approximate bytes of a slab; elements of four bytes and more get larger slabs. */
double tsl_several_slab_bytes(const tsl_work *work) {
  const int64_t said = work->config.value[SEVERAL_SLAB];
  const tsl_shape *a = &work->problem.a, *b = &work->problem.b;
  const double size_a = (double)tsl_type(a->type)->size, size_b = (double)tsl_type(b->type)->size;
  const double least = 64 << 20, most = fmin(size_a, size_b) < 4 ? least : 256 << 20;
  const double bytes_a = (double)a->rows * (double)a->cols * size_a,
               bytes_b = (double)b->rows * (double)b->cols * size_b;
  return said > 0 ? (double)said : fmin(most, fmax(least, fmin(bytes_a, bytes_b) / 8));
}

static size_t element_bytes(const tsl_work *work, int operand) {
  return tsl_type(tsl_problem_shape(&work->problem, operand)->type)->size;
}

/* Lines begin at multiples of 64 bytes. */
tesela_status tsl_several_layout(const tsl_work *work, int operand, const tsl_rect *rect,
                                 tsl_buffer_layout *out) {
  const size_t size = element_bytes(work, operand);
  const bool by_rows = tsl_sharding_by_rows(work->sharding, operand);
  const int64_t length = by_rows ? rect->cols : rect->rows, lines = by_rows ? rect->rows : rect->cols,
                unit = (int64_t)(64 / size), pitch = (length + unit - 1) / unit * unit;
  *out = (tsl_buffer_layout){by_rows ? pitch : 1, by_rows ? 1 : pitch, 0};
  if (!tsl_size_mul((size_t)pitch, (size_t)lines, &out->bytes) ||
      !tsl_size_mul(out->bytes, size, &out->bytes))
    return tsl_fail(TESELA_UNSUPPORTED, "a part of %lld x %lld elements would pass 2^63 bytes",
                    (long long)rect->rows, (long long)rect->cols);
  return TESELA_OK;
}

/* Returns the bytes of a block's part of an operand; 0 if it is not read, or one shard has it. */
static double bytes_to_copy(const tsl_work *work, int operand, const tsl_several_block *block) {
  const tsl_rect rect = tsl_several_rect(&work->problem, operand, &block->c);
  const bool whole = tsl_sharding_find_containing(work->sharding, operand, &rect, block->member) >= 0;
  return whole || !tsl_problem_reads(&work->problem, operand)
             ? 0
             : (double)rect.rows * (double)rect.cols * (double)element_bytes(work, operand);
}

/* Returns the maximum bytes of the resident operand: a quarter of the memory. */
static double resident_bytes_max(const tsl_device *device) {
  const uint64_t bytes = tsl_device_memory(device);
  return bytes > 0 ? (double)bytes / 4 : 1e18;
}

tesela_status tsl_several_add_block(const tsl_work *work, tsl_several *self, int *capacity,
                                    tsl_several_block block) {
  const double a = bytes_to_copy(work, TSL_OPERAND_A, &block), b = bytes_to_copy(work, TSL_OPERAND_B, &block);
  block.stays = a <= b ? TSL_OPERAND_A : TSL_OPERAND_B;
  const bool by_rows = block.stays == TSL_OPERAND_A;
  int64_t *lines = by_rows ? &block.c.rows : &block.c.cols;
  int64_t *first = by_rows ? &block.c.row : &block.c.col;
  const int64_t end = *first + *lines;
  int64_t parts = (int64_t)((by_rows ? a : b) / resident_bytes_max(work->device->members[block.member])) + 1;
  parts = tsl_min(parts, *lines);
  const int64_t share = parts > 0 ? (*lines + parts - 1) / parts : 0;
  for (; *first < end; *first += share) {
    *lines = tsl_min(share, end - *first);
    TSL_TRY(tsl_list_reserve(&self->blocks, self->block_count, capacity, sizeof *self->blocks, "blocks"));
    self->blocks[self->block_count++] = block;
  }
  return TESELA_OK;
}

tesela_status tsl_several_cut_blocks(const tsl_work *work, tsl_several *self) {
  const int64_t *value = work->config.value;
  int64_t first = 0;
  int capacity = 0;
  if (value[SEVERAL_CUT] == SEVERAL_HOLDERS) {
    for (int i = 0; i < work->sharding->counts[TSL_OPERAND_C]; i++) {
      const tsl_shard *hold = &work->sharding->holds[TSL_OPERAND_C][i];
      if (hold->at.rows > 0 && hold->at.cols > 0)
        TSL_TRY(tsl_several_add_block(work, self, &capacity,
                                      (tsl_several_block){.c = hold->at, .member = hold->member}));
    }
    return TESELA_OK;
  }
  for (int i = 0; i < work->device->member_count; i++) {
    const int64_t lines = value[SEVERAL_PART + i];
    const tsl_rect band = tsl_several_rect_of_lines(&work->problem, (int)value[SEVERAL_CUT], first, lines);
    if (lines > 0)
      TSL_TRY(tsl_several_add_block(work, self, &capacity, (tsl_several_block){.c = band, .member = i}));
    first += lines;
  }
  return TESELA_OK;
}

/* Lines of the streaming operand between shard borders, or adjacent ranges of other members. */
typedef struct line_range {
  int64_t first, count;
  int distance; /* members from this one to the holder of most of it (minimum of ranges) */
  bool is_here; /* the member holds its lines and C's */
} line_range;

typedef struct tile_cutter {
  const tsl_work *work;
  const tsl_several_block *block;
  int streaming_operand;
  int64_t *ends;
  int end_count;
  line_range *ranges;
  int range_count;
} tile_cutter;

static tsl_rect rect_of_lines(const tile_cutter *job, int64_t first, int64_t count) {
  tsl_rect c = job->block->c;
  if (job->streaming_operand == TSL_OPERAND_A) {
    c.row = first;
    c.rows = count;
  } else {
    c.col = first;
    c.cols = count;
  }
  return c;
}

/* Appends the borders of an operand's shards along the streaming operand's lines. */
static void add_ends(tile_cutter *job, int operand) {
  const tsl_sharding *spread = job->work->sharding;
  const tsl_rect within = tsl_several_rect(&job->work->problem, operand, &job->block->c);
  for (int i = 0; i < spread->counts[operand]; i++) {
    tsl_rect rect;
    if (!tsl_rect_intersect(&spread->holds[operand][i].at, &within, &rect))
      continue;
    job->ends[job->end_count++] = job->streaming_operand == TSL_OPERAND_A ? rect.row : rect.col;
    job->ends[job->end_count++] =
        job->streaming_operand == TSL_OPERAND_A ? rect.row + rect.rows : rect.col + rect.cols;
  }
}

static int compare_int64(const void *a, const void *b) {
  const int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
  return (first > second) - (first < second);
}

/* Returns the distance in members to the holder of most of the streaming operand for `c`. */
static int distance_to_holder(const tile_cutter *job, const tsl_rect *c) {
  const tsl_rect rect = tsl_several_rect(&job->work->problem, job->streaming_operand, c);
  const int members = job->work->device->member_count;
  int64_t most = -1;
  int best = 0;
  for (int step = 0; step < members; step++) {
    const int64_t elements = tsl_sharding_elements(job->work->sharding, job->streaming_operand, &rect,
                                                   (job->block->member + step) % members);
    best = elements > most ? step : best;
    most = elements > most ? elements : most;
  }
  return best;
}

/* Returns true if the member holds this rectangle of C, and the streaming operand's lines for it if read. */
static bool is_local(const tile_cutter *job, const tsl_rect *c) {
  const tsl_rect rect = tsl_several_rect(&job->work->problem, job->streaming_operand, c);
  const tsl_sharding *spread = job->work->sharding;
  const int member = job->block->member;
  return tsl_sharding_find_containing(spread, TSL_OPERAND_C, c, member) >= 0 &&
         (!tsl_problem_reads(&job->work->problem, job->streaming_operand) ||
          tsl_sharding_find_containing(spread, job->streaming_operand, &rect, member) >= 0);
}

/* Returns true if adjacent ranges fit one tile: both are remote and C's lines for them lie in one shard. */
static bool several_tiles_may_join(const tile_cutter *job, const line_range *range, const line_range *next) {
  const tsl_rect c = rect_of_lines(job, range->first, range->count + next->count);
  return !range->is_here && !next->is_here &&
         tsl_sharding_find_containing(job->work->sharding, TSL_OPERAND_C, &c, job->block->member) >= 0;
}

/* Appends a range, in order. Merges it with the last one if possible, as fewer products are faster. */
static void add_range(tile_cutter *job, int64_t first, int64_t count) {
  const tsl_rect c = rect_of_lines(job, first, count);
  const line_range range = {first, count, distance_to_holder(job, &c), is_local(job, &c)};
  line_range *last = job->range_count > 0 ? &job->ranges[job->range_count - 1] : NULL;
  if (last && several_tiles_may_join(job, last, &range)) {
    last->count += count;
    last->distance = range.distance < last->distance ? range.distance : last->distance;
    return;
  }
  job->ranges[job->range_count++] = range;
}

/* Sorts ranges by distance; equal ones keep their order. */
static void sort_ranges(tile_cutter *job) {
  for (int i = 1; i < job->range_count; i++) {
    const line_range range = job->ranges[i];
    int place = i;
    for (; place > 0 && job->ranges[place - 1].distance > range.distance; place--)
      job->ranges[place] = job->ranges[place - 1];
    job->ranges[place] = range;
  }
}

/* Cuts the block's lines at all shard borders and sorts the ranges by distance. */
static void cut_into_ranges(tile_cutter *job) {
  const tsl_rect *c = &job->block->c;
  const int64_t start = job->streaming_operand == TSL_OPERAND_A ? c->row : c->col,
                end = start + (job->streaming_operand == TSL_OPERAND_A ? c->rows : c->cols);
  if (tsl_problem_reads(&job->work->problem, job->streaming_operand))
    add_ends(job, job->streaming_operand);
  add_ends(job, TSL_OPERAND_C);
  job->ends[job->end_count++] = end;
  qsort(job->ends, (size_t)job->end_count, sizeof *job->ends, compare_int64);
  int64_t first = start;
  for (int i = 0; i < job->end_count; i++)
    if (job->ends[i] > first) {
      add_range(job, first, job->ends[i] - first);
      first = job->ends[i];
    }
  sort_ranges(job);
}

static bool several_tiles_same_shape(const tsl_shape *a, const tsl_shape *b) {
  return a->rows == b->rows && a->cols == b->cols && a->row_stride == b->row_stride &&
         a->col_stride == b->col_stride;
}

bool tsl_several_same_tile(const tsl_problem *a, const tsl_problem *b) {
  return several_tiles_same_shape(&a->a, &b->a) && several_tiles_same_shape(&a->b, &b->b) &&
         several_tiles_same_shape(&a->c, &b->c);
}

/* Sets *kind to the index of the kind with equal sizes and strides, which is appended if it is missing. */
static tesela_status find_or_add_kind(tsl_shard_worker *worker, const tsl_problem *problem, int *kind) {
  for (*kind = 0; *kind < worker->kind_count; ++*kind)
    if (tsl_several_same_tile(&worker->kinds[*kind].problem, problem))
      return TESELA_OK;
  TSL_TRY(tsl_list_reserve(&worker->kinds, worker->kind_count, &worker->kind_capacity, sizeof *worker->kinds,
                           "kinds of tiles"));
  worker->kinds[worker->kind_count++] = (tsl_several_kind){.problem = *problem};
  return TESELA_OK;
}

/* Sets the layout of a tile's part of an operand. A copied part raises *bytes to its buffer's size. */
static tesela_status set_layout(const tsl_work *work, tsl_several_tile *tile, int operand, size_t *bytes,
                                tsl_shape *shape, int member) {
  const tsl_rect rect = tsl_several_rect(&work->problem, operand, &tile->c);
  const int shard = tsl_sharding_find_containing(work->sharding, operand, &rect, member);
  tsl_buffer_layout layout;
  shape->rows = rect.rows;
  shape->cols = rect.cols;
  tile->shard[operand] = shard;
  if (shard >= 0) {
    shape->row_stride = work->sharding->holds[operand][shard].row_stride;
    shape->col_stride = work->sharding->holds[operand][shard].col_stride;
    return TESELA_OK;
  }
  TSL_TRY(tsl_several_layout(work, operand, &rect, &layout));
  shape->row_stride = layout.row_stride;
  shape->col_stride = layout.col_stride;
  if ((operand == TSL_OPERAND_C || tsl_problem_reads(&work->problem, operand)) && layout.bytes > *bytes)
    *bytes = layout.bytes;
  return TESELA_OK;
}

static tesela_status several_tiles_add_tile(const tile_cutter *job, int block, const tsl_rect *c,
                                            tsl_shard_worker *worker) {
  tsl_problem problem = tsl_problem_drop_epilogue(&job->work->problem);
  tsl_several_tile tile = {.c = *c, .block = block};
  size_t *const bytes[TSL_OPERANDS] = {
      [TSL_OPERAND_A] =
          job->streaming_operand == TSL_OPERAND_A ? &worker->slab_bytes : &worker->resident_bytes,
      [TSL_OPERAND_B] =
          job->streaming_operand == TSL_OPERAND_B ? &worker->slab_bytes : &worker->resident_bytes,
      [TSL_OPERAND_C] = &worker->tile_bytes};
  tsl_shape *const shapes[TSL_OPERANDS] = {&problem.a, &problem.b, &problem.c};
  problem.m = c->rows;
  problem.n = c->cols;
  for (int i = 0; i < TSL_OPERANDS; i++)
    TSL_TRY(set_layout(job->work, &tile, i, bytes[i], shapes[i], job->block->member));
  const int turn = 1 << worker->tile_count % RING_BUFFERS;
  worker->slabs_used |= tile.shard[job->streaming_operand] < 0 ? turn : 0;
  worker->results_used |= tile.shard[TSL_OPERAND_C] < 0 ? turn : 0;
  TSL_TRY(find_or_add_kind(worker, &problem, &tile.kind));
  TSL_TRY(tsl_list_reserve(&worker->tiles, worker->tile_count, &worker->tile_capacity, sizeof *worker->tiles,
                           "tiles"));
  worker->tiles[worker->tile_count++] = tile;
  return TESELA_OK;
}

/* Returns the bytes of a slab that a fast link can transfer while `lines` lines are computed. */
static double slab_bytes_hidden_by(const tile_cutter *job, int64_t lines) {
#define MOST(name, usual, most) most,
  static const double link = 3e11, part_of_memory = 64, rates[] = {TSL_DEVICE_RATE_LIST(MOST)};
#undef MOST
  const tsl_problem *problem = &job->work->problem;
  const tsl_device *device = job->work->device->members[job->block->member];
  const double across =
      (double)(job->streaming_operand == TSL_OPERAND_A ? job->block->c.cols : job->block->c.rows);
  const tesela_type type = tsl_problem_shape(problem, job->streaming_operand)->type;
  const double operations = tsl_type(type)->is_complex ? 8 : 2;
  const double seconds =
      operations * (double)lines * across * (double)problem->k / rates[tsl_device_rate_of(type)];
  return fmin(seconds * link, (double)device->memory_limit / part_of_memory);
}

/* Returns the lines of a slab: whole tiles of kernels if possible. `before`: lines of the previous tile. */
static int64_t slab_lines(const tile_cutter *job, const line_range *range, int64_t before) {
  static const int64_t grains[] = {256, 64, 16, 1};
  const tsl_rect c = rect_of_lines(job, range->first, range->count),
                 through = tsl_several_rect(&job->work->problem, job->streaming_operand, &c);
  const bool is_said = job->work->config.value[SEVERAL_SLAB] > 0;
  const double least = tsl_several_slab_bytes(job->work),
               slab = is_said ? least : fmax(least, slab_bytes_hidden_by(job, before));
  double most = (double)range->count;
  int i = 0;
  if (tsl_problem_reads(&job->work->problem, job->streaming_operand) &&
      tsl_sharding_find_containing(job->work->sharding, job->streaming_operand, &through,
                                   job->block->member) < 0)
    most = slab / ((double)job->work->problem.k * (double)element_bytes(job->work, job->streaming_operand));
  if (tsl_sharding_find_containing(job->work->sharding, TSL_OPERAND_C, &c, job->block->member) < 0) {
    const double line = (double)(job->streaming_operand == TSL_OPERAND_A ? c.cols : c.rows) *
                        (double)element_bytes(job->work, TSL_OPERAND_C);
    most = slab / line < most ? slab / line : most;
  }
  if (most >= (double)range->count)
    return range->count;
  while (grains[i] > 1 && most < (double)grains[i])
    i++;
  const int64_t fit = most < 1 ? 1 : (int64_t)most / grains[i] * grains[i],
                slabs = (range->count + fit - 1) / fit, share = (range->count + slabs - 1) / slabs;
  return tsl_min((share + grains[i] - 1) / grains[i] * grains[i], range->count);
}

static tesela_status add_tiles(const tile_cutter *job, int block, tsl_shard_worker *worker) {
  int64_t before = 0;
  for (int i = 0; i < job->range_count; i++) {
    line_range rest = job->ranges[i];
    while (rest.count > 0) {
      const int64_t lines = slab_lines(job, &rest, before);
      const tsl_rect c = rect_of_lines(job, rest.first, lines);
      TSL_TRY(several_tiles_add_tile(job, block, &c, worker));
      rest.first += lines;
      rest.count -= lines;
      before = lines;
    }
  }
  return TESELA_OK;
}

tesela_status tsl_several_cut_tiles(const tsl_work *work, const tsl_several *self, int block,
                                    tsl_shard_worker *worker) {
  const tsl_several_block *owner_block = &self->blocks[block];
  tile_cutter job = {.work = work,
                     .block = owner_block,
                     .streaming_operand =
                         owner_block->stays == TSL_OPERAND_A ? TSL_OPERAND_B : TSL_OPERAND_A};
  const size_t ends = 2 * ((size_t)work->sharding->counts[job.streaming_operand] +
                           (size_t)work->sharding->counts[TSL_OPERAND_C]) +
                      1;
  tesela_status status = TESELA_OK;
  job.ends = malloc(ends * sizeof *job.ends);
  job.ranges = malloc(ends * sizeof *job.ranges);
  if (!job.ends || !job.ranges) {
    status = tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a product's tiles");
  } else {
    cut_into_ranges(&job);
    status = add_tiles(&job, block, worker);
  }
  free(job.ends);
  free(job.ranges);
  return status;
}

/* Idea: A product whose operands exceed the device's memory. A tile of C, as large as memory allows, is
 * resident while panels of A and B stream; then it is copied out, and the next tile follows. Slabs are
 * multiplied by child plans for operands on the device; this strategy only copies.
 *
 *               B                  in       A0 B0 A1 B1 A2 B2 A0' B0' ..    two buffers for panels of A and
 *          +----+----+             compute        00    01    02    00' ..  two of B: one is filled while
 *   slabs  |....|....|             out                              C0 C0   the other is multiplied; a tile
 *   A      |....|....|                                                      leaves during the next one
 *   +-.-.-+ +----+----+
 *   | . . | |tile|tile|    A tile of r x c moves k (r + c) elements in for 2 k r c operations, so the sizes
 *   +-.-.-+ +----+----+    move the fewest bytes that memory allows (tiling.c). Tiles alternate direction
 *   | . . | |tile|tile|    along a side, so that one panel is reused if sums have one or two slabs.
 *   +-.-.-+ +----+----+
 *
 * The first slab of a sum adds to beta C, the others to the tile, in order. The bits depend on the tiling,
 * which the plan's text contains, and not on timing.
 *
 * Limits: operands in host memory; one product at a time; runs of a plan are serialised. Sums for f16 and
 * bf16, and complex sums, are not cut. Measurements: docs/lab/streamed.md. */
#include "strategy/gemm/composite/streamed/streamed.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"

#include <math.h>

static const tsl_param params[] = {
    [STREAMED_ROWS] = {"rows",
                       "rows of a tile of C that stays on the device; all three 0: by its memory",
                       0,
                       {0}},
    [STREAMED_COLS] = {"cols", "columns of a tile of C", 0, {0}},
    [STREAMED_DEPTH] = {"depth", "terms of the sums that pass through at a time", 0, {0}},
    {NULL, NULL, 0, {0}},
};

/* Returns the error bound. If the config leaves the slabs open, their minimum depth is assumed. */
static tsl_accuracy streamed_accuracy(const tsl_problem *problem, const tsl_config *config) {
  const bool by_memory = config->value[STREAMED_ROWS] == 0 && config->value[STREAMED_COLS] == 0;
  const int64_t requested = config->value[STREAMED_DEPTH], depth = requested > 0 ? requested
                                                                   : by_memory   ? 16
                                                                                 : problem->k;
  const bool is_cut = tsl_problem_can_accumulate_in_c(problem) && problem->k > depth;
  return tsl_accuracy_asked_of_parts(problem, is_cut ? (problem->k - 1) / depth + 1 : 1);
}

static bool streamed_is_empty(const tsl_problem *problem) {
  return problem->m == 0 || problem->n == 0;
}

static const char *streamed_refuse(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  tsl_streamed_tiling tiling;
  return streamed_is_empty(problem) ? "C has no elements"
                                    : tsl_tiling_of(problem, config, device, NULL, &tiling);
}

/* Returns the time that the tiling was chosen by, if known; else of half of the peak, or of the link. */
static double streamed_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                             tsl_all_strategies *list) {
  tsl_streamed_tiling tiling;
  const bool is_f64 = tsl_type(problem->c.type)->component == TESELA_F64;
  const double peak = is_f64 ? device->peak_f64 : device->peak_f32;
  const double link = device->link_bandwidth > 0 ? device->link_bandwidth : device->bandwidth;
  if (tsl_tiling_of(problem, config, device, list, &tiling))
    return INFINITY;
  const bool is_real = !tsl_type(problem->c.type)->is_complex;
  const double seconds = is_real ? tsl_tiling_seconds(problem, device, list, &tiling) : 0;
  return seconds > 0 ? seconds
                     : fmax(peak > 0 ? 2 * tsl_problem_flops(problem) / peak : 0,
                            link > 0 ? (tiling.bytes_in + tiling.bytes_out) / link : 0);
}

/* The config of a plan has the sizes, so that no strategy is looked for. */
static uint64_t required_device_bytes(const tsl_problem *problem, const tsl_config *config,
                                      const tsl_device *device) {
  tsl_streamed_tiling tiling;
  return streamed_is_empty(problem) || tsl_tiling_of(problem, config, device, NULL, &tiling) ? 0
                                                                                             : tiling.bytes;
}

static void streamed_release(tsl_work *work) {
  tsl_streamed *self = work->state;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int s = 0; s < STREAMED_SLABS; s++)
        work->subplans->destroy(self->kinds[i][j][s].child);
  pthread_mutex_destroy(&self->lock);
  tsl_free(self);
  work->state = NULL;
}

static tesela_status streamed_plan_transfer(tsl_streamed_kind *kind, int operand, const tsl_shape *whole,
                                            int64_t rows, int64_t cols, tsl_shape *packed) {
  kind->shapes[operand] = *whole;
  kind->shapes[operand].rows = rows;
  kind->shapes[operand].cols = cols;
  if (!tsl_transfer_plan(&kind->shapes[operand], &kind->transfers[operand]))
    return tsl_fail(TESELA_UNSUPPORTED, "a panel of operand %c would pass 2^63 bytes", "ABC"[operand]);
  *packed = kind->transfers[operand].packed;
  return TESELA_OK;
}

/* Makes the problem of a slab: strides on the device, and beta of the tile. */
static tesela_status streamed_problem_of(const tsl_work *work, int64_t i, int64_t j, int64_t slab,
                                         tsl_streamed_kind *kind, tsl_problem *part) {
  const tsl_streamed *self = work->state;
  const tsl_problem *whole = &work->problem;
  const tsl_copy_part tile = tsl_tiling_tile_rect(&self->tiling, i, j);
  int64_t first, depth;
  tsl_tiling_slab(&self->tiling, slab, &first, &depth);
  if (!tsl_problem_reads(whole, TSL_OPERAND_A))
    depth = whole->k;
  *part = tsl_problem_drop_epilogue(whole);
  part->m = tile.rows;
  part->n = tile.cols;
  part->k = depth;
  if (slab > 0) {
    part->beta[0] = 1;
    part->beta[1] = 0;
  }
  TSL_TRY(streamed_plan_transfer(kind, TSL_OPERAND_A, &whole->a, tile.rows, depth, &part->a));
  TSL_TRY(streamed_plan_transfer(kind, TSL_OPERAND_B, &whole->b, depth, tile.cols, &part->b));
  return streamed_plan_transfer(kind, TSL_OPERAND_C, &whole->c, tile.rows, tile.cols, &part->c);
}

static tesela_status make_kind(tsl_work *work, int64_t i, int64_t j, int64_t slab) {
  tsl_streamed *self = work->state;
  tsl_streamed_kind *kind = tsl_streamed_kind_of(self, i, j, slab);
  tsl_problem part;
  if (kind->child)
    return TESELA_OK;
  TSL_TRY(streamed_problem_of(work, i, j, slab, kind, &part));
  const tsl_subplan_request request = {
      .problem = &part,
      .device = work->device,
      .in_buffers = true,
      .workspace_most = tsl_tiling_workspace_bytes(work->device, &self->tiling),
      .most = tsl_accuracy_of_one_part(&work->problem, &part, self->tiling.slabs),
      .like = self->first};
  TSL_TRY(work->subplans->make(work->subplans, &request, &kind->child));
  self->first = self->first ? self->first : kind->child;
  const uint64_t workspace = work->subplans->workspace(kind->child);
  self->workspace = workspace > self->workspace ? workspace : self->workspace;
  return TESELA_OK;
}

/* Makes the kinds of the first and last tiles along each side; no other sizes exist. */
static tesela_status make_kinds(tsl_work *work) {
  const tsl_streamed *self = work->state;
  const tsl_streamed_tiling *t = &self->tiling;
  const int64_t slabs[] = {0, t->slabs > 2 ? 1 : 0, t->slabs - 1};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int s = 0; s < STREAMED_SLABS; s++)
        TSL_TRY(make_kind(work, i ? t->row_tiles - 1 : 0, j ? t->col_tiles - 1 : 0, slabs[s]));
  return TESELA_OK;
}

static tesela_status streamed_build(tsl_work *work) {
  tsl_streamed_tiling tiling;
  char text[32], in[32], out[32], workspace[32];
  void *block;
  const char *why = tsl_tiling_of(&work->problem, &work->config, work->device, work->subplans->list, &tiling);
  if (why)
    return tsl_fail(TESELA_UNSUPPORTED, "%s", why);
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_streamed), "tiles of a product", &block));
  tsl_streamed *self = work->state = block;
  self->tiling = tiling;
  pthread_mutex_init(&self->lock, NULL);
  const tesela_status status = make_kinds(work);
  if (status != TESELA_OK) {
    streamed_release(work);
    return status;
  }
  work->config.value[STREAMED_ROWS] = tiling.rows;
  work->config.value[STREAMED_COLS] = tiling.cols;
  work->config.value[STREAMED_DEPTH] = tiling.depth;
  tsl_log(TSL_LOG_PLAN,
          "streamed on %s: %lld x %lld tiles of %lld x %lld, %lld slabs of %lld, in %s; %s in, %s out; "
          "slabs by %s, %s of workspace",
          work->device->name, (long long)tiling.row_tiles, (long long)tiling.col_tiles,
          (long long)tiling.rows, (long long)tiling.cols, (long long)tiling.slabs, (long long)tiling.depth,
          tsl_format_bytes(tiling.bytes, text, sizeof text),
          tsl_format_bytes((uint64_t)tiling.bytes_in, in, sizeof in),
          tsl_format_bytes((uint64_t)tiling.bytes_out, out, sizeof out), work->subplans->text(self->first),
          tsl_format_bytes(self->workspace, workspace, sizeof workspace));
  return TESELA_OK;
}

static bool streamed_describe_slab(const tsl_work *work, int index, tsl_subplan_info *out) {
  const tsl_streamed *self = work->state;
  const tsl_streamed_tiling *t = &self->tiling;
  if (index != 0)
    return false;
  *out = (tsl_subplan_info){.device = work->device->name,
                            .plan = work->subplans->text(self->first),
                            .rows = t->rows,
                            .cols = t->cols,
                            .depth = t->depth,
                            .in_bytes = t->bytes_in,
                            .out_bytes = t->bytes_out};
  return true;
}

#define ANY                                                                                                  \
  { 0, INT64_MAX }
const tsl_strategy tsl_gemm_streamed = {
    .name = "streamed",
    .idea = "tiles of C stay on the device while panels of A and B pass through it from host memory",
    .lifts = "the device's memory",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS,
    .accuracy = streamed_accuracy,
    .params = params,
    .supports = {.types = tsl_types_every, .conjugates = true},
    .tuning = {.ranges = {ANY, ANY, ANY}},
    .refuse = streamed_refuse,
    .build = streamed_build,
    .run = tsl_streamed_run,
    .release = streamed_release,
    .splits = {.parts = true,
               .score = streamed_score,
               .subplan = streamed_describe_slab,
               .bytes = required_device_bytes},
};

/* Descriptor: types, sub-plans, models. Measurements: docs/lab/solve_device_blocked.md. */
#include "strategy/solve/portable/device_blocked/device_blocked.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "strategy/cost_counts.h"
#include "strategy/support.h"

#include <math.h>

static const tsl_param params[] = {
    [SOLVE_BLOCK] = {"block", "rows of a block, which a kernel solves for", 64, {32, 64, 128, 256}},
    [SOLVE_COLUMNS] = {"columns", "columns of a work-group's panel", 32, {8, 16, 32, 64}},
    {NULL, NULL, 0, {0}},
};
static const char *const probes[] = {"block=64 columns=8", "block=256 columns=16", "block=32 columns=64",
                                     "block=128 columns=16", NULL};

static void device_blocked_partition(const tsl_problem *problem, const tsl_config *config,
                                     tsl_solve_cut *cut) {
  tsl_solve_make_cut(problem->m, config->value[SOLVE_BLOCK], cut);
}

/* Returns the bound of docs/lab/solve_device_blocked.md; without products it is that of substitution. */
static tsl_accuracy device_blocked_accuracy(const tsl_problem *problem, const tsl_config *config) {
  tsl_solve_cut cut;
  tsl_accuracy made = tsl_accuracy_of_substitution(problem, config);
  device_blocked_partition(problem, config, &cut);
  if (cut.levels > 0)
    made.factor = 2 * (double)problem->k + 6 * cut.levels + (tsl_type(problem->c.type)->is_complex ? 22 : 10);
  return made;
}

static int64_t device_blocked_local_bytes(const tsl_problem *problem, const tsl_config *config) {
  enum { PAD = 16 };
  const int64_t size = (int64_t)tsl_type(problem->c.type)->size, block = config->value[SOLVE_BLOCK];
  return block * (SOLVE_TILE * size + PAD) + SOLVE_TILE * size * (config->value[SOLVE_COLUMNS] + 1) +
         block * size + block / SOLVE_TILE * (int64_t)sizeof(int);
}

enum { ITEM_PANEL_BYTES_MAX = 128 };

static const char *device_blocked_refuse(const tsl_problem *problem, const tsl_config *config,
                                         const tsl_device *device) {
  const int64_t bytes = device_blocked_local_bytes(problem, config), block = config->value[SOLVE_BLOCK],
                columns = config->value[SOLVE_COLUMNS], size = (int64_t)tsl_type(problem->c.type)->size;
  if ((uint64_t)bytes > device->local_bytes)
    return tsl_refusal("block=%lld needs %lld bytes of local memory, %s has %llu", (long long)block,
                       (long long)bytes, device->name, (unsigned long long)device->local_bytes);
  if (block * columns * size > ITEM_PANEL_BYTES_MAX * SOLVE_ITEMS)
    return tsl_refusal("block=%lld columns=%lld needs %lld bytes of registers an item, more than %d",
                       (long long)block, (long long)columns,
                       (long long)(block * columns * size / SOLVE_ITEMS), (int)ITEM_PANEL_BYTES_MAX);
  if (device->group_items_max < SOLVE_ITEMS)
    return tsl_refusal("needs groups of %d work-items, %s allows %d", SOLVE_ITEMS, device->name,
                       device->group_items_max);
  return NULL;
}

static bool has_nonzero_alpha(const tsl_problem *problem) {
  return problem->alpha[0] != 0 || problem->alpha[1] != 0;
}

static double peak_flops_per_second(const tsl_problem *problem, const tsl_device *device) {
  return fmax(1, tsl_type(problem->c.type)->component == TESELA_F64 ? device->peak_f64 : device->peak_f32);
}

/* Predicts the seconds of a product at a fraction of the peak, with tiles in waves of one for each unit. */
static double device_blocked_product_seconds(const tsl_problem *problem, const tsl_solve_product *product,
                                             const tsl_device *device) {
  const double tile = 128, share = device->is_cpu ? 0.4 : 0.7, units = fmax(1, device->compute_units);
  const double operations = tsl_type(problem->c.type)->is_complex ? 8 : 2;
  const double tiles = ceil((double)product->rows / tile) * ceil((double)problem->n / tile);
  const double one = tile * tile * (double)product->depth * operations * units /
                     (share * peak_flops_per_second(problem, device));
  return (double)product->count * (ceil(tiles / units) * one + device->launch_seconds);
}

/* Predicts the seconds of all diagonal blocks. A group waits for its operands once, and for its items at each
 * tile; two groups of a unit overlap if its registers have room. Local memory limits arithmetic. */
static double blocks_seconds(const tsl_problem *problem, const tsl_config *config, const tsl_solve_cut *cut,
                             const tsl_device *device) {
  enum { BYTES_OF_TWO_GROUPS = 32 }; /* panel bytes of an item */
  const double launch_share = 0.6;
  const double columns = (double)config->value[SOLVE_COLUMNS], block = (double)cut->block,
               units = fmax(1, device->compute_units), clock = 1e6 * fmax(1, device->clock_mhz);
  const double panels = ceil((double)problem->n / columns);
  const double bytes = block * columns * (double)tsl_type(problem->c.type)->size / SOLVE_ITEMS;
  const double together = bytes <= BYTES_OF_TWO_GROUPS ? 2 : 1;
  const double operations = tsl_type(problem->c.type)->is_complex ? 8 : 2;
  const double share = device->is_cpu ? 0.1 : columns < 32 ? 0.15 : 0.25;
  const double computing = ceil(panels / units) * block * block / 2 * columns * operations * units /
                           (share * peak_flops_per_second(problem, device));
  const double waits = device->is_cpu ? 0 : (2500 + block / SOLVE_TILE * 900 * operations / 2) / clock;
  return (double)cut->blocks *
         (ceil(panels / (together * units)) * waits + computing + launch_share * device->launch_seconds);
}

static double device_blocked_score(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  tsl_solve_cut cut;
  device_blocked_partition(problem, config, &cut);
  double seconds = device->launch_seconds;
  if (device->bandwidth > 0)
    seconds += 2 * (double)problem->m * (double)problem->n * (double)tsl_type(problem->c.type)->size /
               device->bandwidth;
  if (!has_nonzero_alpha(problem) || problem->m == 0 || problem->n == 0)
    return seconds;
  for (int i = 0; i < SOLVE_PRODUCTS_MAX; i++)
    if (cut.products[i].count > 0)
      seconds += device_blocked_product_seconds(problem, &cut.products[i], device);
  return seconds + blocks_seconds(problem, config, &cut, device);
}

/* Counts the kernel's traffic: a block of A for each panel; in local memory an element of A for `wide`
 * products, and of X for `down`. Of the products only one element of A for each row is counted. */
static void device_blocked_account(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device, tsl_cost_counts *account) {
  tsl_solve_cut cut;
  device_blocked_partition(problem, config, &cut);
  const double columns = (double)config->value[SOLVE_COLUMNS], m = (double)problem->m, n = (double)problem->n,
               block = (double)cut.block, size = (double)tsl_type(problem->c.type)->size;
  const double panels = ceil(n / columns), in_blocks = m * (block + 1) / 2;
  const double across = SOLVE_ACROSS(columns), wide = columns / across, down = block * across / SOLVE_ITEMS;
  double a = 0, x = 0;
  account->launches = 1;
  account->computed = 0;
  for (int i = 0; i < SOLVE_PRODUCTS_MAX; i++) {
    const double count = (double)cut.products[i].count, rows = (double)cut.products[i].rows,
                 depth = (double)cut.products[i].depth;
    account->launches += count;
    account->computed += count * rows * depth * n;
    a += count * rows * depth;
    x += count * (depth + 2 * rows) * n;
  }
  account->launches += (double)cut.blocks;
  account->computed += m * (block + SOLVE_TILE) / 2 * panels * columns;
  account->workers = fmin(device->compute_units, panels);
  tsl_cost_counts_operands(problem, a + in_blocks * panels, m * n, account);
  tsl_cost_counts_result(problem, 1, account);
  account->global.read += (x + m * n) * size;
  account->global.written += m * n * size;
  account->local = (tsl_moved){.read = m * block / 2 * panels * columns * size * (1 / wide + 1 / down),
                               .written = in_blocks * panels * size};
}

static void device_blocked_release(tsl_work *work) {
  tsl_solve_state *self = work->state;
  for (int i = 0; i < SOLVE_PRODUCTS_MAX; i++)
    work->subplans->destroy(self->children[i]);
  tsl_free(self);
  work->state = NULL;
}

static tesela_status device_blocked_make_subplan(tsl_work *work, int index) {
  tsl_solve_state *self = work->state;
  const tsl_problem part = tsl_solve_product_problem(&work->problem, &self->cut.products[index]);
  const tsl_subplan_request request = {.problem = &part,
                                       .device = work->device,
                                       .in_buffers = true,
                                       .workspace_most = tsl_device_allocation_max(work->device),
                                       .most = tsl_accuracy_of_parts(&part, 1)};
  TSL_TRY(work->subplans->make(work->subplans, &request, &self->children[index]));
  const uint64_t needs = work->subplans->workspace(self->children[index]);
  work->scratch = needs > work->scratch ? needs : work->scratch;
  return TESELA_OK;
}

static tesela_status device_blocked_make_kernels_and_subplans(tsl_work *work) {
  static const char path[] = "strategy/solve/portable/device_blocked/device_blocked.cl";
  tsl_solve_state *self = work->state;
  TSL_TRY(tsl_launch_kernel(work, path, "tsl_solve_block_of_rows", SOLVE_ITEMS, &self->solve));
  TSL_TRY(
      tsl_launch_kernel(work, path, "tsl_solve_scaled", SOLVE_COPY_ACROSS * SOLVE_COPY_LINES, &self->scale));
  for (int i = 0; i < SOLVE_PRODUCTS_MAX && has_nonzero_alpha(&work->problem); i++)
    if (self->cut.products[i].count > 0 && work->problem.n > 0)
      TSL_TRY(device_blocked_make_subplan(work, i));
  return TESELA_OK;
}

static tesela_status device_blocked_build(tsl_work *work) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_solve_state), "products of a solve", &block));
  tsl_solve_state *self = work->state = block;
  device_blocked_partition(&work->problem, &work->config, &self->cut);
  const tesela_status status = device_blocked_make_kernels_and_subplans(work);
  if (status != TESELA_OK)
    device_blocked_release(work);
  return status;
}

/* Gets the products of one shape; `index` counts the existing shapes. */
static bool device_blocked_describe_product(const tsl_work *work, int index, tsl_subplan_info *out) {
  const tsl_solve_state *self = work->state;
  int product = 0;
  for (; product < SOLVE_PRODUCTS_MAX; product++)
    if (self->children[product] && index-- == 0)
      break;
  if (product == SOLVE_PRODUCTS_MAX)
    return false;
  const tsl_solve_product *at = &self->cut.products[product];
  const int64_t row = product % 2 == 0 ? at->depth : self->cut.size - at->rows;
  *out = (tsl_subplan_info){.device = work->device->name,
                            .plan = work->subplans->text(self->children[product]),
                            .row = work->problem.a.triangle == TESELA_UPPER ? self->cut.size - row - at->rows
                                                                            : row,
                            .rows = at->rows,
                            .cols = work->problem.n,
                            .depth = at->depth,
                            .count = at->count,
                            .seconds = work->subplans->expected(self->children[product]) * (double)at->count};
  return true;
}

const tsl_strategy tsl_solve_device_blocked = {
    .name = "device_blocked",
    .idea = "substitution by blocks: panels of columns in registers, the rest general products",
    .lifts = "arithmetic on numbers from memory, on devices",
    .partner = "sequential",
    .op = TSL_OP_SOLVE,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .accuracy = device_blocked_accuracy,
    .params = params,
    .supports = {.types = tsl_types_blas, .conjugates = true, .structures = true},
    .refuse = device_blocked_refuse,
    .score = device_blocked_score,
    .build = device_blocked_build,
    .run = tsl_solve_device_run,
    .release = device_blocked_release,
    .resources = {.count_costs = device_blocked_account},
    .testing = {.probes = probes},
    .splits = {.subplan = device_blocked_describe_product},
};

/* Host side of outer_product.cl. Measurements: docs/lab/outer_product.md. */
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/model_constants.h"
#include "strategy/row_parts.h"

#include <math.h>

enum { ITEMS_N, ROWS, ALIGN };
static const tsl_param params[] = {
    [ITEMS_N] = {"items_n", "items of a group along n", 32, {8, 16, 32, 64, 128}},
    [ROWS] = {"rows", "rows of C of an item", 4, {1, 2, 4, 8, 16, 32, 64}},
    [ALIGN] = {"align", "bytes to which an item's rows are aligned in the same way", 32, {16, 32, 128}},
    {NULL, NULL, 0, {0}},
};
static const char *const probes[] = {"items_n=32 rows=4 align=32", "items_n=8 rows=2 align=16",
                                     "items_n=128 rows=16 align=128", NULL};

/* Items of a group; maximum of k; bytes of a vector; 32-bit registers for numbers of A;
 * bytes of a line of memory. */
enum { ITEMS = 128, TERMS_MAX = 8, VECTOR = 16, HELD_WORDS = 64, LINE = 128 };

/* Problem as the kernel sees it, a config, and the sizes derived from both. */
typedef struct outer_product {
  int columns, rows;   /* items of a group along n, and rows of an item */
  int held;            /* rows whose numbers of A are loaded together, a divisor of rows */
  tsl_problem problem; /* rows of C are contiguous */
  bool swapped;        /* C' = B' A' is computed */
  int size, elements;  /* bytes of an element; elements of a vector */
  int align;           /* bytes */
  int period;          /* rows between rows of equal alignment */
} outer_product;

/* Returns the rows between rows of C of equal alignment. */
static int outer_product_period(const outer_product *outer, int64_t row_stride) {
  int period = 1;
  while (row_stride * period % (outer->align / outer->size) != 0)
    period *= 2;
  return period;
}

static outer_product outer_product_of(const tsl_problem *problem, const tsl_config *config) {
  outer_product outer = {.columns = (int)config->value[ITEMS_N],
                         .rows = (int)config->value[ROWS],
                         .swapped = problem->c.col_stride != 1 && problem->c.row_stride == 1,
                         .size = (int)tsl_type(problem->c.type)->size,
                         .align = (int)config->value[ALIGN]};
  const int words = (int)tsl_max(1, tsl_min(problem->k, TERMS_MAX)) * outer.size / 4;
  outer.problem = outer.swapped ? tsl_problem_swapped(problem) : *problem;
  outer.elements = VECTOR / outer.size;
  outer.held = outer.rows;
  while (outer.held * words > HELD_WORDS)
    outer.held /= 2;
  outer.period = outer_product_period(&outer, outer.problem.c.row_stride);
  return outer;
}

/* Returns the groups along n. begins_early: vectors may begin before the first column. */
static int64_t outer_product_across(const outer_product *outer, int64_t n, bool begins_early) {
  return tsl_ceil_div(n + (begins_early ? outer->align / outer->size - 1 : 0),
                      (int64_t)outer->columns * outer->elements);
}

static tsl_grid outer_product_grid(const outer_product *outer, bool begins_early) {
  const tsl_problem *problem = &outer->problem;
  const int64_t rows = (int64_t)ITEMS / outer->columns * outer->rows;
  return (tsl_grid){{(uint64_t)(outer_product_across(outer, problem->n, begins_early) * outer->period *
                                tsl_ceil_div(tsl_ceil_div(problem->m, outer->period), rows)),
                     1, (uint64_t)tsl_problem_batch(problem)},
                    {ITEMS, 1, 1}};
}

static const char *outer_product_refuse(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device) {
  outer_product outer = outer_product_of(problem, config);
  if (problem->k < 1 || problem->k > TERMS_MAX)
    return tsl_refusal("takes k from 1 to %d, not %lld", TERMS_MAX, (long long)problem->k);
  if (outer.problem.c.col_stride != 1)
    return "neither rows nor columns of C are contiguous";
  if (outer.columns > ITEMS)
    return tsl_refusal("items_n=%d is more than the group's %d items", outer.columns, ITEMS);
  if (ITEMS > tsl_device_line_items_max(device))
    return tsl_refusal("%s allows groups of %d items, not %d", device->name,
                       tsl_device_line_items_max(device), ITEMS);
  outer.period = outer.align / outer.size; /* the longest: operands may have other strides */
  const tsl_grid grid = outer_product_grid(&outer, true);
  return tsl_launch_fits(device, &grid);
}

/* Returns the lines of memory that 32 items' loads of a number of B touch: neighbours are `step` bytes apart.
 */
static double lines_of_load(double step) {
  return fmax(1, fmin(32, 32 * step / LINE));
}

/* Stores, instructions and the groups' latencies overlap. */
static double outer_product_seconds(const tsl_problem *problem, const tsl_config *config,
                                    const tsl_device *device) {
  const outer_product outer = outer_product_of(problem, config);
  const tsl_outer_constants *rates = &tsl_model_constants_of(device)->outer;
  const tsl_launch_pace units = tsl_launch_pace_of(problem, device);
  const tsl_grid grid = outer_product_grid(&outer, outer.period > 1);
  const double groups = (double)grid.groups[0] * (double)grid.groups[2], on_unit = ceil(groups / units.count),
               k = (double)problem->k, numbers = tsl_type(problem->c.type)->is_complex ? 2 : 1,
               rows = outer.rows, b_step = (double)outer.problem.b.col_stride * outer.elements * outer.size;
  /* of 32 items: clocks of loads, stores and products */
  const double b_loads = k * numbers * outer.elements * lines_of_load(b_step < 0 ? -b_step : b_step),
               a_loads = k * numbers * rows * fmax(1, 32.0 / outer.columns),
               products = 32 * rows * k * numbers * numbers * outer.elements / units.lanes,
               issued = (b_loads + a_loads) * rates->load_clocks + rows * rates->store_clocks + products;
  const double registers = 32 + (k * VECTOR + outer.held * k * outer.size) / 4,
               resident = fmax(1, floor(fmin(TSL_UNIT_ITEMS, TSL_UNIT_REGISTERS / registers) / ITEMS)),
               waits =
                   ceil(on_unit / resident) *
                   (rates->group_clocks + rows / outer.held * rates->wait_clocks + rows * rates->row_clocks),
               clocks = on_unit * ITEMS / 32 * issued + waits;
  const double c_bytes = (double)outer.problem.m * (double)outer.problem.n *
                         (double)tsl_problem_batch(problem) * outer.size,
               /* lines of 32 items that other items continue, and rows that are not written in turn */
      cut = outer.problem.c.row_stride * outer.size % LINE == 0 ? 0 : LINE / outer.align - 1,
               slow = 1 + sqrt(cut) * rates->end_bytes / (VECTOR * fmin(32, outer.columns)) +
                      (outer.period > 1 ? rates->period_share : 0),
               memory = (tsl_problem_bytes(problem) + (rates->write_share * slow - 1) * c_bytes) /
                        device->bandwidth;
  return sqrt(hypot(pow(clocks / units.clock, 2), memory * memory)) * (device->is_cpu ? 4 : 1) +
         rates->launch_share * device->launch_seconds;
}

static void outer_product_account(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device, tsl_cost_counts *account) {
  const outer_product outer = outer_product_of(problem, config);
  const tsl_grid grid = outer_product_grid(&outer, outer.period > 1);
  const double groups = (double)grid.groups[0] * (double)grid.groups[2], items = groups * ITEMS;
  tsl_cost_counts_groups(groups, ITEMS, items, 0, device, account);
  account->computed = items * outer.rows * outer.elements * (double)problem->k;
  account->global.read = items * (outer.rows + outer.elements) * (double)problem->k * outer.size;
  tsl_cost_counts_result(problem, 1, account);
}

static tesela_status outer_product_build(tsl_work *work) {
  const outer_product outer = outer_product_of(&work->problem, &work->config);
  tsl_text defines = {0};
  tsl_kernel *kernel = NULL;
  tesela_status status;
  tsl_text_add(&defines,
               "#define TSL_PARAM_VECTOR %d\n#define TERMS %d\n#define ITEMS %d\n#define HELD %d\n"
               "#define SWAPPED %d\n#define CONJUGATE_A %d\n#define CONJUGATE_B %d\n",
               VECTOR, (int)work->problem.k, ITEMS, outer.held, outer.swapped, outer.problem.conjugate_a,
               outer.problem.conjugate_b);
  TSL_GO(tsl_text_status(&defines));
  TSL_GO(tsl_launch_kernel_with(work, "strategy/gemm/portable/outer_product/outer_product.cl",
                                "tsl_gemm_outer_product", ITEMS, tsl_text_get(&defines), &kernel));
  tsl_launch_early(work, kernel);
  work->state = kernel;
out:
  tsl_text_free(&defines);
  return status;
}

static tesela_status outer_product_run(const tsl_work *work, const tsl_operands *operands,
                                       tsl_stream *stream) {
  outer_product outer = outer_product_of(&work->problem, &work->config);
  const tsl_launch_operands own = tsl_launch_operands_of(work, operands, outer.swapped);
  const tsl_gemm_sizes *s = &own.sizes;
  outer.period = outer_product_period(&outer, s->c_row_stride); /* operands may have other strides */
  const tsl_gemm_argument given = tsl_launch_scalars(work, s);
  const tsl_device_ops *ops = work->device->ops;
  const int early = outer.period > 1 || (s->c_offset | own.c_step) * outer.size % outer.align != 0 ||
                    (work->device->capabilities & TSL_CAN_CUDA &&
                     (uintptr_t)ops->native_buffer(own.c) % (unsigned)outer.align != 0);
  const int across = (int)outer_product_across(&outer, s->n, early);
  const tsl_grid grid = outer_product_grid(&outer, early);
  const tsl_argument list[] = {TSL_ARG_BUFFER(own.a),     TSL_ARG_BUFFER(own.b),
                               TSL_ARG_BUFFER(own.c),     {.value = &given, .bytes = given.bytes},
                               TSL_ARG_VALUE(across),     TSL_ARG_VALUE(outer.period),
                               TSL_ARG_VALUE(early),      TSL_ARG_VALUE(own.a_step),
                               TSL_ARG_VALUE(own.b_step), TSL_ARG_VALUE(own.c_step)};
  return ops->launch(stream, work->state, &grid, list, sizeof list / sizeof *list);
}

/* Returns the order of sums: that of register_tile, whose k is one part. */
static const char *outer_product_row_order(const tsl_problem *problem, const tsl_config *config,
                                           const tsl_device *device) {
  (void)config, (void)device;
  return tsl_row_parts_of(problem).count == 1 ? TSL_ROW_PARTS : NULL;
}

static const tsl_types types[] = {
    {TESELA_F32, TESELA_F32, TESELA_F32},
    {TESELA_F64, TESELA_F64, TESELA_F64},
    {TESELA_C64, TESELA_C64, TESELA_C64},
    {TESELA_C128, TESELA_C128, TESELA_C128},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

const tsl_strategy tsl_gemm_outer_product = {
    .name = "outer_product",
    .idea = "k of at most eight: items store aligned vectors of C at memory's speed",
    .lifts = "barriers and unaligned stores of a large C with a short k",
    .partner = "register_tile",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS,
    .accuracy = tsl_accuracy_in_order,
    .row_order = outer_product_row_order,
    .params = params,
    .refuse = outer_product_refuse,
    .score = outer_product_seconds,
    .build = outer_product_build,
    .run = outer_product_run,
    .supports = {.types = types, .conjugates = true, .batches = true},
    .resources = {.count_costs = outer_product_account},
    .testing = {.probes = probes},
};

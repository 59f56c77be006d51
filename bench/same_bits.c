/* same_bits [OFFERED]: whether two builds compute the same bits. Prints a line for each of some 500 products of every
 * strategy that runs on the host: the strategy with its config, types, sizes and layout, and a hash of all that C's memory
 * holds afterwards. Run it from both builds, for each instruction set (TESELA_ISA), and compare by diff. OFFERED: capabilities
 * as a number, taken for the device's own (of what only chooses tiles; others end in instructions that are not there).
 *
 * Sizes are drawn so that tiny, thin, small, long and blocked products are all met; operands lie in every order, with gaps,
 * backwards, and packed where a strategy can. */
#include "base/random.h"
#include "base/source.h"
#include "base/status.h"
#include "base/text.h"
#include "device/devices.h"
#include "strategy/strategy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCTS = 500 };

/* Numbers below `limit`, of one product. */
typedef struct draws {
  uint64_t seed, index;
} draws;

static int64_t draw(draws *from, int64_t limit) {
  return (int64_t)(tsl_random_u64(from->seed, from->index++) % (uint64_t)limit);
}

/* m, n and k up to these, by turns. */
static void draw_sizes(draws *from, int index, tsl_problem *problem) {
  static const int64_t most[][3] = {{17, 17, 17},   {40, 40, 40},    {8, 300, 300},  {300, 8, 300},
                                    {300, 300, 4},  {90, 130, 70},   {200, 50, 400}, {50, 200, 400},
                                    {24, 24, 9000}, {150, 260, 600}, {1, 1000, 900}, {1000, 1, 900}};
  const int64_t *limit = most[(size_t)index % (sizeof most / sizeof most[0])];
  problem->m = 1 + draw(from, limit[0]);
  problem->n = 1 + draw(from, limit[1]);
  problem->k = index % 50 == 49 ? 0 : 1 + draw(from, limit[2]);
}

/* Dense or with gaps, row-major or column-major, at times with both strides above 1, or negative ones. */
static void draw_strides(draws *from, int64_t rows, int64_t cols, tsl_shape *shape) {
  const int64_t apart = draw(from, 8) == 0 ? 2 : 1, gap = draw(from, 2) * draw(from, 20);
  shape->rows = rows;
  shape->cols = cols;
  if (draw(from, 2)) {
    shape->col_stride = apart;
    shape->row_stride = apart * cols + gap;
  } else {
    shape->row_stride = apart;
    shape->col_stride = apart * rows + gap;
  }
  if (draw(from, 10) == 0)
    shape->row_stride = -shape->row_stride;
  if (draw(from, 10) == 0)
    shape->col_stride = -shape->col_stride;
}

static tsl_problem draw_problem(draws *from, int index, const tsl_strategy *strategy,
                                const tsl_types *types) {
  static const double factors[] = {1, 1, 0, -0.5, 2};
  const tsl_type_info *c = tsl_type(types->c);
  tsl_problem problem = {.op = TSL_OP_GEMM};
  draw_sizes(from, index, &problem);
  problem.a.type = types->a;
  problem.b.type = types->b;
  problem.c.type = types->c;
  draw_strides(from, problem.m, problem.k, &problem.a);
  draw_strides(from, problem.k, problem.n, &problem.b);
  draw_strides(from, problem.m, problem.n, &problem.c);
  for (int i = 0; i < (c->is_complex ? 2 : 1); i++) {
    problem.alpha[i] = factors[draw(from, 5)];
    problem.beta[i] = factors[draw(from, 5)];
    if (c->is_integer) {
      problem.alpha[i] *= 2;
      problem.beta[i] *= 2;
    }
  }
  problem.conjugate_a = strategy->takes.conjugates && draw(from, 2);
  problem.conjugate_b = strategy->takes.conjugates && draw(from, 2);
  return problem;
}

/* An operand's memory, which is all of `bytes`, drawn; and where element (0, 0) lies in it. */
typedef struct memory {
  unsigned char *at;
  size_t bytes;
} memory;

static int64_t reach(int64_t stride, int64_t elements) {
  return elements > 1 ? llabs(stride) * (elements - 1) : 0;
}

static memory make_operand(const tsl_shape *shape, uint64_t seed, tsl_operand *out) {
  const tsl_type_info *type = tsl_type(shape->type);
  const int64_t elements = reach(shape->row_stride, shape->rows) + reach(shape->col_stride, shape->cols) + 1,
                first = (shape->row_stride < 0 ? reach(shape->row_stride, shape->rows) : 0) +
                        (shape->col_stride < 0 ? reach(shape->col_stride, shape->cols) : 0);
  memory made = {.bytes = (size_t)elements * type->size};
  made.at = aligned_alloc(64, (made.bytes + 63) / 64 * 64);
  if (!made.at) {
    fprintf(stderr, "same_bits: out of memory\n");
    exit(1);
  }
  tsl_random_fill(type->is_integer ? TSL_DRAW_INTEGER : TSL_DRAW_NORMAL, seed, 0, shape->type, made.at,
                  (size_t)elements);
  *out = (tsl_operand){.host = made.at + (size_t)first * type->size,
                       .row_stride = shape->row_stride,
                       .col_stride = shape->col_stride};
  return made;
}

/* What pack() makes of an operand, which then stands for it; NULL where there is nothing to pack. */
static void *pack(const tsl_work *work, int operand, tsl_operands *operands) {
  tsl_operand *of = operand == TSL_OPERAND_A ? &operands->a : &operands->b;
  const size_t bytes = work->strategy->packing.bytes(work, operand);
  void *packed = bytes > 0 ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
  if (packed) {
    work->strategy->packing.pack(work, operand, of, packed, operands->team);
    *of = (tsl_operand){.packed = packed, .row_stride = of->row_stride, .col_stride = of->col_stride};
  }
  return packed;
}

static tesela_status multiply(tsl_work *work, draws *from, tsl_operands *operands) {
  void *packed[2] = {NULL, NULL};
  TSL_TRY(work->strategy->build ? work->strategy->build(work) : TESELA_OK);
  for (int i = 0; i < 2 && work->strategy->packing.pack; i++)
    if (draw(from, 4) == 0)
      packed[i] = pack(work, i == 0 ? TSL_OPERAND_A : TSL_OPERAND_B, operands);
  const tesela_status status = work->strategy->run(work, operands, NULL);
  if (work->strategy->release)
    work->strategy->release(work);
  for (int i = 0; i < 2; i++)
    free(packed[i]);
  return status;
}

static int show(const tsl_strategy *strategy, const tsl_config *config, const tsl_types *types,
                tsl_device *device, int index) {
  draws from = {.seed = (uint64_t)index};
  tsl_work work = {.strategy = strategy,
                   .problem = draw_problem(&from, index, strategy, types),
                   .config = *config,
                   .device = device};
  const tsl_problem *problem = &work.problem;
  if (tsl_strategy_refuse(strategy, problem, config, device))
    return 0;
  tsl_operands operands = {.team = draw(&from, 2) ? tsl_pool_team(tsl_pool_shared(), 0) : (tsl_team){0}};
  const memory a = make_operand(&problem->a, 1, &operands.a), b = make_operand(&problem->b, 2, &operands.b),
               c = make_operand(&problem->c, 3, &operands.c);
  const tesela_status status = multiply(&work, &from, &operands);
  char hash[33];
  tsl_text text = {0};
  tsl_hash_text(tsl_hash_add(tsl_hash_start(), c.at, c.bytes), hash);
  tsl_config_print(strategy, config, &text);
  printf("%s %s %s %s %d: %lld x %lld x %lld %s\n", tsl_text_get(&text), tsl_type(types->a)->name,
         tsl_type(types->b)->name, tsl_type(types->c)->name, index, (long long)problem->m,
         (long long)problem->n, (long long)problem->k, status == TESELA_OK ? hash : tesela_last_error());
  tsl_text_free(&text);
  free(a.at);
  free(b.at);
  free(c.at);
  return status != TESELA_OK;
}

/* The products are shared out among a strategy's types and configs. */
static int show_strategy(const tsl_strategy *strategy, tsl_device *device) {
  int kinds = 0, configs = 0, failures = 0;
  tsl_types types;
  tsl_config config;
  while (tsl_strategy_types(strategy, kinds, &types))
    kinds++;
  while (tsl_strategy_probe(strategy, configs, &config))
    configs++;
  for (int index = 0; index < PRODUCTS; index++) {
    tsl_strategy_types(strategy, index % kinds, &types);
    tsl_strategy_probe(strategy, index / kinds % configs, &config);
    failures += show(strategy, &config, &types, device, index);
  }
  return failures;
}

int main(int count, char **arguments) {
  tsl_devices *devices;
  tsl_device *device;
  int failures = 0;
  setenv("TESELA_THREADS", "3", 0);
  if (tsl_devices_create(&devices) != TESELA_OK || tsl_devices_find(devices, "cpu", &device) != TESELA_OK ||
      tsl_device_open(device) != TESELA_OK) {
    fprintf(stderr, "same_bits: %s\n", tesela_last_error());
    return 1;
  }
  if (count > 1)
    device->capabilities = (unsigned)strtoul(arguments[1], NULL, 0);
  for (int i = 0; tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op == TSL_OP_GEMM && (tsl_strategy_at(i)->needs & TSL_CAN_HOST) &&
        !tsl_strategy_at(i)->vendor.load)
      failures += show_strategy(tsl_strategy_at(i), device);
  tsl_devices_destroy(devices);
  return failures > 0;
}

/* Host code accesses no memory outside its operands. Tests every strategy, config and type, for
 * each instruction set of this machine, with one thread and two. Every operand ends, then begins,
 * at a protected page. Operands are one piece, in any layout and direction, or have each line on a
 * page of its own; packed operands too. Operands that must not be read (alpha or k is 0) are in a
 * protected page. A fault ends the process with a sentence. The results of both sides are compared,
 * because a wrong mask need not fault. */
#include "core/isa.h"
#include "core/status.h"
#include "fenced/fence.h"
#include "judge/case_parts.h"
#include "judge/check.h"
#include "planner/subplan_choice.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case; each operand's lines may lie apart: 0 no, 1 its rows, 2 its columns. */
typedef struct fenced_case {
  tsl_problem problem;
  int apart[TSL_ALL_OPERANDS];
} fenced_case;

typedef struct counts {
  int64_t runs, cases;
} counts;

/* Values of TESELA_ISA, the processor features that each needs, and a flag for sets that are new
 * for narrow types only. */
static const struct set {
  const char *name;
  unsigned needs;
  bool is_narrow;
} sets[] = {
#define WIDE(name, header, needs, ...) {#name, needs, false},
#define NARROW(name, header, needs, ...) {#name, needs, true},
    TSL_ISA_LIST(WIDE) TSL_ISA_EXTENSION_LIST(NARROW)};
enum { SETS = sizeof sets / sizeof *sets, SKIPPED = 77 };

/* Products that slow strategies sit out, in multiply-adds. */
static const double slow_most = 1.5e5;

/* --- one case --- */

static void *place_operand(const fenced_case *what, int operand, fence_side side) {
  const tsl_shape *shape = tsl_problem_shape(&what->problem, operand);
  return what->apart[operand] ? fence_apart(operand, shape, side) : fence_whole(operand, shape, side);
}

static tsl_operand *operand_at(tsl_operands *operands, int operand) {
  tsl_operand *const all[TSL_ALL_OPERANDS] = {&operands->a,    &operands->b,       &operands->c,
                                              &operands->bias, &operands->scale_a, &operands->scale_b};
  return all[operand];
}

/* An element of 1 to 16 bytes, in a few instructions: more are copied than are computed with. */
static inline void copy_element(unsigned char *dst, const unsigned char *from, int64_t size) {
  switch (size) {
  case 1:
    *dst = *from;
    break;
  case 2:
    memcpy(dst, from, 2);
    break;
  case 4:
    memcpy(dst, from, 4);
    break;
  case 8:
    memcpy(dst, from, 8);
    break;
  default:
    memcpy(dst, from, (size_t)size);
  }
}

/* Small whole numbers, whose sums are exact in any order. */
static void fill(const tsl_shape *shape, unsigned char *origin, int64_t salt) {
  enum { VALUES = 5, LARGEST = 16 };
  const int64_t size = (int64_t)tsl_type(shape->type)->size;
  unsigned char values[VALUES][LARGEST];
  for (int i = 0; i < VALUES; i++)
    tsl_type_store(shape->type, values[i], (const double[2]){i % 3 + 1, i - 2});
  for (int64_t i = 0; i < shape->rows; i++) {
    int which = (int)((salt + 3 * i) % VALUES);
    for (int64_t j = 0; j < shape->cols; j++) {
      copy_element(origin + (i * shape->row_stride + j * shape->col_stride) * size, values[which], size);
      which = which + 2 < VALUES ? which + 2 : which + 2 - VALUES;
    }
  }
}

/* Operands at their fences, filled; false where one has no room. */
static bool lay_out(const fenced_case *what, fence_side side, tsl_operands *out) {
  *out = (tsl_operands){.scratch = NULL};
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(&what->problem, i);
    tsl_operand *to = operand_at(out, i);
    to->row_stride = shape->row_stride;
    to->col_stride = shape->col_stride;
    to->host = side == FENCE_BEFORE ? NULL : fence_nowhere();
    if (!tsl_problem_has_operand(&what->problem, i) || !tsl_problem_uses(&what->problem, i) ||
        tsl_shape_extent(shape) == 0)
      continue;
    to->host = place_operand(what, i, side);
    if (!to->host)
      return false;
    fill(shape, to->host, i);
  }
  return true;
}

/* C's elements, one after the other. */
static void collect(const tsl_shape *shape, const unsigned char *origin, unsigned char *out) {
  const int64_t size = (int64_t)tsl_type(shape->type)->size;
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++, out += size)
      copy_element(out, origin + (i * shape->row_stride + j * shape->col_stride) * size, size);
}

static unsigned char first[FENCE_BYTES], second[FENCE_BYTES];

static void die(const tsl_plan *plan, const char *what) {
  printf("%s: %s\n", plan->text, what);
  exit(1);
}

/* Runs the plan, and compares with the result of the case's first run. */
static void run_and_compare(tsl_plan *plan, const tsl_operands *operands, bool is_first, counts *tally) {
  const tsl_shape *c = &plan->work.problem.c;
  if (tsl_plan_run(plan, operands, NULL) != TESELA_OK)
    die(plan, tesela_last_error());
  tally->runs++;
  collect(c, operands->c.host, is_first ? first : second);
  if (!is_first && memcmp(first, second, (size_t)(c->rows * c->cols) * tsl_type(c->type)->size) != 0)
    die(plan, "other results where its operands begin at a protected page, or are packed, than where they "
              "end there");
}

/* Runs with A, then B packed where operands end at their fences, and with both packed where they
 * begin there. Skips operands without a packed form in the strategy. The packed matrix itself is
 * then in a protected page. */
static void run_packed(tsl_plan *plan, const fenced_case *what, fence_side side, counts *tally) {
  const tsl_work *work = tsl_plan_work(plan);
  const tsl_strategy *strategy = work->strategy;
  for (int which = side == FENCE_BEHIND ? 1 : 3; which < (side == FENCE_BEHIND ? 3 : 4); which++) {
    tsl_operands operands;
    bool packs = true;
    (void)lay_out(what, side, &operands);
    for (int i = 0; i < TSL_OPERAND_C && packs; i++) {
      if (!(which >> i & 1))
        continue;
      tsl_operand *of = operand_at(&operands, i);
      const size_t bytes = tsl_problem_reads(&what->problem, i) ? strategy->prepack.bytes(work, i) : 0;
      void *form = bytes > 0 ? fence_block(TSL_ALL_OPERANDS + i, bytes, 64, side) : NULL;
      packs = form != NULL;
      if (!packs)
        continue;
      strategy->prepack.pack(work, i, of, form, tsl_device_team(plan->work.device));
      of->packed = form;
      of->host = fence_nowhere();
    }
    if (packs)
      run_and_compare(plan, &operands, false, tally);
  }
}

/* Returns true for the plain loops in C, which take long. */
static bool is_slow(const tsl_strategy *strategy) {
  return strncmp(strategy->name, "sequential", sizeof "sequential" - 1) == 0;
}

static void try_case(const tsl_strategy *strategy, const tsl_config *config, tsl_device *device,
                     const fenced_case *what, counts *tally) {
  tsl_plan *plan;
  tsl_operands operands;
  const double volume = tsl_problem_flops(&what->problem) / 2;
  if (what->problem.m == 0 || what->problem.n == 0 || (is_slow(strategy) && volume > slow_most) ||
      !lay_out(what, FENCE_BEHIND, &operands))
    return;
  const tesela_status status =
      tsl_planner_create(&what->problem, strategy, config, device, TSL_PLACE_HOST, &plan);
  if (status == TESELA_UNSUPPORTED)
    return;
  if (status != TESELA_OK) {
    printf("%s: %s\n", strategy->name, tesela_last_error());
    exit(1);
  }
  tally->cases++;
  fence_tell(plan->text);
  for (int side = 0; side < FENCE_SIDES; side++) {
    (void)lay_out(what, (fence_side)side, &operands);
    run_and_compare(plan, &operands, side == FENCE_BEHIND, tally);
    if (strategy->prepack.bytes)
      run_packed(plan, what, (fence_side)side, tally);
  }
  fence_tell("nothing");
  tsl_plan_destroy(plan);
}

/* --- cases --- */

/* Sizes that take the strategies' other paths: panels, streams of rows and of columns, parts of k, thin ones.
 */
static const int64_t large[][3] = {{130, 200, 300}, {330, 70, 140}, {70, 330, 140}, {37, 45, 2100},
                                   {5, 500, 90},    {500, 5, 90},   {1, 700, 60},   {700, 2, 61},
                                   {300, 259, 3},   {259, 300, 1}};
enum { LARGE = sizeof large / sizeof *large };

/* Lines apart: around the widths of vectors and tiles. */
static const int64_t edges[][3] = {{1, 1, 1},    {4, 4, 4},    {8, 8, 8},    {16, 16, 16}, {3, 5, 7},
                                   {8, 17, 9},   {16, 31, 33}, {25, 33, 16}, {33, 15, 40}, {13, 65, 64},
                                   {2, 100, 31}, {100, 3, 47}, {7, 7, 129}};
enum { EDGES = sizeof edges / sizeof *edges, WAYS = 8 };

static void lay_apart(tsl_shape *shape, bool by_rows) {
  shape->row_stride = by_rows ? fence_line_stride(shape->type) : 1;
  shape->col_stride = by_rows ? 1 : fence_line_stride(shape->type);
}

static bool apart_case(tsl_op op, int index, const tsl_types *types, fenced_case *out) {
  if (op == TSL_OP_DOT || index >= EDGES * WAYS)
    return false;
  const int64_t *size = edges[index / WAYS];
  tsl_case one = {.problem =
                      tsl_problem_of(op, size[0], size[1], op == TSL_OP_TRANSPOSE ? 0 : size[2], types->c)};
  tsl_case_set_scalars(&one, 1, op != TSL_OP_GEMM || index % 3 ? 0 : 1);
  tsl_case_set_types(&one, types);
  out->problem = one.problem;
  tsl_shape *const shapes[TSL_OPERANDS] = {&out->problem.a, &out->problem.b, &out->problem.c};
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const bool by_rows = !(index % WAYS >> i & 1);
    out->apart[i] = shapes[i]->rows > 0 ? 1 : 0;
    lay_apart(shapes[i], by_rows);
  }
  return true;
}

static bool large_case(tsl_op op, int index, const tsl_types *types, fenced_case *out) {
  if (op == TSL_OP_DOT || index >= 2 * LARGE)
    return false;
  const int64_t *size = large[index / 2];
  tsl_case one = {.problem =
                      tsl_problem_of(op, size[0], size[1], op == TSL_OP_TRANSPOSE ? 0 : size[2], types->c)};
  if (index % 2)
    tsl_case_set_layouts(&one, TSL_LAYOUT_TRANSPOSED, TSL_LAYOUT_ROTATED, TSL_LAYOUT_TRANSPOSED_PADDED, 3);
  if (op != TSL_OP_TRANSPOSE)
    tsl_case_set_scalars(&one, 1.5, op == TSL_OP_GEMM && index % 2);
  tsl_case_set_types(&one, types);
  out->problem = one.problem;
  return true;
}

/* Stores standard case number `index` of the judge, without its data. Returns false after the last. */
static bool standard_case(tsl_op op, int index, const tsl_types *types, fenced_case *out) {
  tsl_case one;
  if (!tsl_case_standard(op, index, types->c, &one))
    return false;
  tsl_case_set_types(&one, types);
  out->problem = one.problem;
  return true;
}

static bool random_case(tsl_op op, int index, const tsl_types *types, fenced_case *out) {
  enum { RANDOM = 30 };
  tsl_case one;
  if (index >= RANDOM)
    return false;
  tsl_case_random(op, 20240517, (uint64_t)index, types->c, &one);
  tsl_case_set_types(&one, types);
  out->problem = tsl_problem_drop_epilogue(&one.problem); /* the plan's last step is tried often enough */
  return true;
}

/* --- walks --- */

/* By the argument `sweep`: every type meets every case. */
static bool is_sweep;

/* From the third type on, the judge's cases go to three types by turns: these differ in their numbers, and
 * lines end where others did. */
static bool is_turn(bool is_standard, int type, int index) {
  enum { WHOLE = 2, TURNS = 3 };
  return !is_standard || is_sweep || type < WHOLE || index % TURNS == type % TURNS;
}

/* Tries the types. Another depth matters only to strategies with panels, and one thread only to
 * strategies that use threads. `type` is the number of `types`. */
static void try_types(const tsl_strategy *strategy, const tsl_config *config, bool is_large,
                      tsl_device *device, int type, const tsl_types *types, counts *tally) {
  static bool (*const lists[])(tsl_op op, int index, const tsl_types *types,
                               fenced_case *out) = {large_case, random_case, apart_case, standard_case};
  for (size_t list = 0; list < (is_large ? 1 : sizeof lists / sizeof *lists); list++)
    for (int i = 0;; i++) {
      fenced_case what = {.apart = {0}};
      if (!lists[list](strategy->op, i, types, &what))
        break;
      if (is_turn(lists[list] == standard_case, type, i))
        try_case(strategy, config, device, &what, tally);
    }
}

/* Returns true when the device takes the config. */
static bool is_taken(const tsl_strategy *strategy, const tsl_config *config, const tsl_device *device) {
  enum { SIZE = 8 };
  tsl_types types;
  if (!tsl_strategy_types(strategy, 0, &types))
    return false;
  tsl_case one = {.problem = tsl_problem_of(strategy->op, SIZE, SIZE, SIZE, types.a)};
  tsl_case_set_types(&one, &types);
  return !tsl_strategy_refuse(strategy, &one.problem, config, device);
}

/* The first config that the processor takes, and one more, which is another depth of panels. */
static void try_strategy(const tsl_strategy *strategy, tsl_device *device, bool is_narrow, counts *tally) {
  enum { CONFIGS = 2 };
  tsl_types types;
  tsl_config config;
  int taken = 0;
  for (int i = 0; taken < CONFIGS && tsl_strategy_probe(strategy, i, &config); i++) {
    if (!is_taken(strategy, &config, device))
      continue;
    taken++;
    for (int t = 0; tsl_strategy_types(strategy, t, &types); t++)
      if (!is_narrow || tsl_type(types.a)->size < sizeof(float))
        try_types(strategy, &config, taken > 1 || device->threads == 1, device, t, &types, tally);
  }
}

static int try_everything(const struct set *set, tsl_device *cpu) {
  const tsl_strategy *strategy;
  int64_t runs = 0;
  for (int i = 0; (strategy = tsl_strategy_at(i)); i++) {
    counts own = {0, 0};
    if (strategy->vendor.load || (strategy->needs && !(strategy->needs & TSL_CAN_HOST)) ||
        (set->is_narrow && (is_slow(strategy) || strategy->op != TSL_OP_GEMM)))
      continue;
    try_strategy(strategy, cpu, set->is_narrow, &own);
    printf("%s %s: %lld cases, %lld runs\n", tsl_op_name(strategy->op), strategy->name, (long long)own.cases,
           (long long)own.runs);
    runs += own.runs;
    if (own.cases == 0 && !set->is_narrow && cpu->threads > 1)
      return 1;
  }
  return runs == 0;
}

/* test_fenced ISA [sweep]: one instruction set, on TESELA_THREADS threads. */
int main(int argc, char **argv) {
  tsl_devices *devices;
  tsl_device *cpu;
  int which = 0;
  is_sweep = argc == 3 && strcmp(argv[2], "sweep") == 0;
  while (argc >= 2 && which < SETS && strcmp(sets[which].name, argv[1]) != 0)
    which++;
  if (argc != (is_sweep ? 3 : 2) || which == SETS) {
    printf("usage: test_fenced ISA [sweep]\n");
    return 1;
  }
  setenv("TESELA_ISA", argv[1], 1);
  fence_set_up();
  if (tsl_devices_create(&devices) != TESELA_OK || tsl_devices_find(devices, "cpu", &cpu) != TESELA_OK) {
    printf("%s\n", tesela_last_error());
    return 1;
  }
  if (sets[which].needs & ~cpu->capabilities) {
    printf("skipped: this processor has no %s\n", argv[1]);
    return SKIPPED;
  }
  const int result = try_everything(&sets[which], cpu);
  tsl_devices_destroy(devices);
  return result;
}

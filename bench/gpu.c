/* gpu [options]
 *
 * How fast are products, updates by rank k and triangular solves on a CUDA device, compared with cuBLASLt and
 * cuBLAS? How much does an epilogue add to a product? All sides run in turn in one process. The peer cuBLASLt
 * uses the fastest of the eight algorithms that its heuristics propose (256 MiB of workspace). bench/gpu.sh
 * runs this.
 *
 * Operands are in device memory: standard normal numbers (A: --data). Each run uses other operands, more than
 * the last cache holds. Three pieces of both results are compared, which shows only that both computed the
 * same product, and memory after C must be unchanged; the judge (tests/check) verifies results.
 *
 *   --device D      device (cuda:0)
 *   --products FILE products of a file, with layouts, each in all types of --types
 *   --quick         fewer products
 *   --only TEXT     groups whose name contains TEXT, "=f32 squares": one group by its whole name; repeatable;
 *                   syrk, trsm and epilogue run only if they are named
 *   --shapes LIST   products instead of the groups' own, "1000 64*4096".
 *   --draw SEED N   N random products instead, each in one type of --types (cases.h).
 *   --types LIST    (f32,tf32,f64,c64,c128,bf16,bf16:f32,f16,f16:f32,i8,e4m3:bf16)
 *   --most GFLOP    leaves out products of more operations (no limit)
 *   --strategy S    tesela's strategy instead of the planner's choice, "cuda_dmma tile_m=128"
 *   --rivals N      also times the planner's next N strategies, a line each
 *   --data LIST     kinds of numbers in A, "normal,relu" (core/kinds.h), a product for each; "all": all kinds
 *   --bits WORD     requires reproducibility, "rows"; also times the free choice; tesela's line has the ratio
 *   --without S     also times the planner's choice without strategy S; tesela's line has the ratio
 *   --seconds S     time for each side's samples (0.1)
 *   --limit S       begins no product after this time (no limit)
 *   --configs N     also times N configs of tesela's and the rivals' strategies, without lines: the models'
 *                   next ones, and in turn random ones that are predicted within twice the best
 *   --json FILE     also writes JSON
 *   --matrix FILE   appends the costs of all plans (costs.h)
 *   --compile I/N   only compiles products I, I + N, ...: for several processes at once
 *
 * TESELA_WISDOM selects the wisdom. */
#include "cases.h"
#include "costs.h"
#include "device.h"
#include "gpu_rows.h"

#include "judge/data.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"
#include "tune/search.h"

enum { ONLY_MAX = 16, RIVALS_MAX = 8, CONFIGS_MAX = 32, TYPES_MAX = 32 };
enum { SIDES_MAX = RIVALS_MAX + CONFIGS_MAX + 3 };
enum { PIECES = 3, PIECE_BYTES = 1 << 18, SEED_BYTES = 16 << 20, GAP_BYTES = 512, SETS_MAX = 4096 };

typedef struct product {
  const gpu_group *group;
  char layout[3], name[64];
  tsl_kind kind; /* the kind of A's numbers */
  tsl_problem problem;
} product;

/* The plan of a side: of tesela's choice, of a rival, or of the peer. */
typedef struct side_plan {
  const tsl_strategy *strategy;
  tsl_config config;
  tsl_basis basis;
  char name[200];
  double predicted;
  tsl_plan *plan;
  const tsl_operands *items;
} side_plan;

/* Operands of the present product; `bare` has operands of the product without its epilogue, whose sums may
 * have a wider type than C, in the same memory. */
static struct {
  tsl_buffer *buffers[TSL_ALL_OPERANDS];
  tsl_operands *items, *bare;
  uint64_t stride[TSL_ALL_OPERANDS];
  int count, next;
} sets;

static const char *device_name = "cuda:0", *json_path, *strategy_text, *compile_part, *only[ONLY_MAX],
                  *own_shapes, *without_name, *bits_word,
                  *type_list = "f32,tf32,f64,c64,c128,bf16,bf16:f32,f16,f16:f32,i8,e4m3:bf16";
static int only_count, rivals, configs, failed, late;
static const char *matrix_path;
static FILE *matrix_file;
static bool quick;
static double seconds_max = 0.1, limit = INFINITY, begun;
static const tsl_strategy *without;
static product *products;
static int product_count;
static bench_mean means[GPU_GROUPS], over_without;
static bench_side sides[SIDES_MAX];
static side_plan plans[SIDES_MAX];
static int side_count, config_first; /* sides from config_first to the peer are of --configs */

/* --- the products --- */

static bool is_wanted(const gpu_group *group) {
  for (int i = 0; i < only_count; i++)
    if (only[i][0] == '=' ? strcmp(group->name, only[i] + 1) == 0 : strstr(group->name, only[i]) != NULL)
      return true;
  return only_count == 0 && group->operation == GPU_PRODUCT;
}

static tsl_problem make_problem(const gpu_group *group, const tsl_types *types, const bench_case *item) {
  const int64_t m = item->size[0], n = item->size[1];
  if (group->operation == GPU_TRSM) {
    tsl_problem problem = tsl_problem_of(TSL_OP_SOLVE, m, n, m, types->a);
    tsl_shape *const shapes[] = {&problem.a, &problem.b, &problem.c};
    for (int i = 0; i < 3; i++)
      shapes[i]->row_stride = 1, shapes[i]->col_stride = m;
    problem.a.structure = TESELA_TRIANGULAR;
    problem.a.triangle = TESELA_LOWER;
    problem.in_place = true;
    return problem;
  }
  tsl_problem problem = bench_case_problem(item, types);
  if (group->operation == GPU_SYRK)
    problem.c.triangle = TESELA_LOWER;
  if (group->accuracy)
    bench_must(tsl_numeric_requirements_parse_accuracy(group->accuracy, &problem.ask), group->name);
  if (group->operation == GPU_EPILOGUE) {
    problem.activation = group->activation;
    tsl_problem_add_bias(&problem, group->bias, types->c, 1);
    tsl_problem_add_scale(&problem, TSL_OPERAND_SCALE_A, group->scaling, 1);
    tsl_problem_add_scale(&problem, TSL_OPERAND_SCALE_B, group->scaling, 1);
  }
  return problem;
}

static void add_product(const gpu_group *group, const tsl_types *types, const bench_case *item) {
  tsl_problem problem = make_problem(group, types, item);
  if (bits_word)
    bench_must(tsl_numeric_requirements_parse_bits(bits_word, &problem.ask), "--bits");
  if (!bench_is_within(&problem))
    return;
  products = realloc(products, (size_t)(product_count + TSL_KIND_COUNT) * sizeof *products);
  if (!products)
    bench_stop("memory", "there is not enough");
  for (int i = 0; i < bench_kind_count; i++) {
    product *row = &products[product_count++];
    *row = (product){.group = group, .kind = bench_kinds[i], .problem = problem};
    bench_case plain = *item;
    memcpy(row->layout, item->layout, sizeof row->layout);
    memcpy(plain.layout, "NN", sizeof plain.layout);
    bench_case_name(&plain, row->name, sizeof row->name);
    if (problem.m == problem.n && problem.n == problem.k)
      snprintf(row->name, sizeof row->name, item->batch > 1 ? "%" PRId64 "*%" PRId64 : "%" PRId64, problem.m,
               item->batch);
  }
}

static void list_group(const gpu_group *group) {
  const char *shapes = own_shapes ? own_shapes
                       : quick    ? group->quick
                                  : group->shapes,
             *layouts = group->layouts;
  char layout[3], word[64];
  tsl_types types;
  if (!shapes || !is_wanted(group))
    return;
  bench_types_parse(group->types, &types, 1);
  while (bench_next_word(&layouts, " ", layout, sizeof layout))
    for (const char *rest = shapes; bench_next_word(&rest, " ", word, sizeof word);) {
      bench_case item;
      if (!bench_case_parse(word, &item))
        bench_stop(word, "not a product like 512 or 16x4096x4096, nor a batch like 64*4096");
      memcpy(item.layout, layout, sizeof item.layout);
      add_product(group, &types, &item);
    }
}

/* Adds the products of --draw; each type of the list is a group. */
static void list_drawn(void) {
  static gpu_group drawn[TYPES_MAX];
  static char words[TYPES_MAX][BENCH_TYPES_WORD];
  tsl_types types[TYPES_MAX];
  const int count = bench_types_words(type_list, words, TYPES_MAX);
  for (int t = 0; t < count; t++) {
    drawn[t] = (gpu_group){.name = "drawn", .types = words[t]};
    bench_word_types(words[t], &types[t], &drawn[t].accuracy);
  }
  for (int i = 0; i < bench_cases.count; i++)
    for (int t = 0; t < count; t++)
      if (bench_case_has_type(&bench_cases.items[i], t, count))
        add_product(&drawn[t], &types[t], &bench_cases.items[i]);
}

/* --- operands --- */

static tsl_operand *operand_of(tsl_operands *set, int i) {
  return i < TSL_OPERANDS           ? &(&set->a)[i]
         : i == TSL_OPERAND_BIAS    ? &set->bias
         : i == TSL_OPERAND_SCALE_A ? &set->scale_a
                                    : &set->scale_b;
}

/* Writes normal numbers at the start of a buffer, then doubles them by copying until it is full. */
static void fill(tsl_buffer *buffer, tesela_type type, uint64_t seed) {
  const size_t size = tsl_type(type)->size,
               bytes = buffer->bytes < SEED_BYTES ? buffer->bytes / size * size : SEED_BYTES;
  const int64_t count = (int64_t)(bytes / size);
  const tsl_shape line = {.type = type, .rows = 1, .cols = count, .row_stride = count, .col_stride = 1};
  void *block = bench_matrix(&line, TSL_KIND_NORMAL, seed);
  bench_must(tsl_device_write(bench_gpu.stream, buffer, 0, block, bytes), "numbers");
  for (size_t made = bytes; made < buffer->bytes; made *= 2)
    bench_must(bench_gpu.device->ops->copy(bench_gpu.stream, buffer, 0, buffer, made,
                                           made < buffer->bytes - made ? made : buffer->bytes - made),
               "numbers");
  bench_must(bench_gpu.device->ops->finish(bench_gpu.stream), "numbers");
  free(block);
}

static void write_set(int operand, int set, const tsl_shape *shape, tsl_kind kind, uint64_t seed) {
  void *block = bench_matrix(shape, kind, seed);
  if (tsl_is_triangular(
          shape->structure)) { /* ones and tiny numbers: X keeps its size over hundreds of solves */
    const tsl_type_info *info = tsl_type(shape->type);
    const int64_t n = shape->rows;
    for (int64_t i = 0; i < n * n; i++) {
      double value[2] = {1, 0};
      unsigned char *element = (unsigned char *)block + i * (int64_t)info->size;
      if (i % (n + 1) != 0) {
        tsl_type_load(shape->type, element, value);
        value[0] /= 8 * (double)n, value[1] /= 8 * (double)n;
      }
      tsl_type_store(shape->type, element, value);
    }
  }
  bench_must(tsl_device_write(bench_gpu.stream, sets.buffers[operand], (size_t)set * sets.stride[operand],
                              block, bench_bytes(shape)),
             "numbers");
  bench_must(bench_gpu.device->ops->finish(bench_gpu.stream), "numbers");
  free(block);
}

/* Returns the bytes of an operand of all products of a batch; of C at least of four-byte sums. */
static uint64_t operand_bytes(const tsl_problem *problem, int i) {
  const tsl_shape *shape = tsl_problem_shape(problem, i);
  const size_t size = tsl_type(shape->type)->size;
  return (uint64_t)tsl_shape_extent(shape) * (uint64_t)tsl_problem_batch(problem) *
         (i == TSL_OPERAND_C && size < 4 && tsl_problem_has_epilogue(problem) ? 4 : size);
}

/* Returns the operand whose memory operand i uses: B of an update is A, and B of a solve is X. */
static int memory_of(const product *row, int i) {
  return i != TSL_OPERAND_B                  ? i
         : row->group->operation == GPU_SYRK ? TSL_OPERAND_A
         : row->group->operation == GPU_TRSM ? TSL_OPERAND_C
                                             : i;
}

static void make_operands(const product *row, tesela_type sums) {
  const tsl_problem *problem = &row->problem;
  const uint64_t cache = bench_gpu.device->cache_bytes ? bench_gpu.device->cache_bytes : (uint64_t)64 << 20;
  uint64_t all = 0;
  for (int i = 0; i < TSL_ALL_OPERANDS; i++)
    if (tsl_problem_has_operand(problem, i)) {
      sets.stride[i] = (operand_bytes(problem, i) / GAP_BYTES + 2) * GAP_BYTES;
      all += memory_of(row, i) == i ? sets.stride[i] : 0;
    }
  const uint64_t wanted = 2 * cache / all + 1;
  sets.count = wanted < SETS_MAX ? (int)wanted : SETS_MAX;
  sets.next = 0;
  sets.items = bench_allocate((size_t)sets.count, sizeof *sets.items);
  sets.bare = bench_allocate((size_t)sets.count, sizeof *sets.bare);
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    if (!tsl_problem_has_operand(problem, i) || memory_of(row, i) != i)
      continue;
    bench_must(bench_gpu.device->ops->buffer_create(bench_gpu.device, (size_t)sets.count * sets.stride[i],
                                                    &sets.buffers[i]),
               "operands");
    fill(sets.buffers[i], shape->type, (uint64_t)i + 1);
    for (int set = 0; set < sets.count && i == TSL_OPERAND_A; set++)
      if (row->kind != TSL_KIND_NORMAL || tsl_is_triangular(shape->structure))
        write_set(i, set, shape, row->kind, (uint64_t)set + 1);
  }
  for (int set = 0; set < sets.count; set++) {
    for (int i = 0; i < TSL_ALL_OPERANDS; i++)
      if (tsl_problem_has_operand(problem, i)) {
        const tsl_shape *shape = tsl_problem_shape(problem, i);
        const int memory = memory_of(row, i);
        *operand_of(&sets.items[set], i) = (tsl_operand){
            .buffer = sets.buffers[memory],
            .offset = (int64_t)((uint64_t)set * sets.stride[memory] / tsl_type(shape->type)->size),
            .batch_step = problem->batch > 1 ? tsl_shape_extent(shape) : 0};
      }
    sets.bare[set] = sets.items[set];
    sets.bare[set].c.offset = (int64_t)((uint64_t)set * sets.stride[TSL_OPERAND_C] / tsl_type(sums)->size);
  }
}

static void free_operands(void) {
  for (int i = 0; i < TSL_ALL_OPERANDS; i++)
    if (sets.buffers[i])
      bench_gpu.device->ops->buffer_destroy(sets.buffers[i]);
  memset(sets.buffers, 0, sizeof sets.buffers);
  free(sets.items);
  free(sets.bare);
}

/* --- sides --- */

static double run_side(bench_side *side, int calls) {
  const side_plan *by = side->state;
  const tsl_batch batch = {by->items, sets.count, sets.next, calls};
  tsl_phases phases = {0};
  if (tsl_plan_run_batch(by->plan, &batch, &phases) != TESELA_OK)
    bench_refuse(side, tesela_last_error());
  sets.next = (sets.next + calls) % sets.count;
  return phases.compute;
}

/* Adds a side; `refusal`: why it has no plan, or NULL. */
static void add_side(const tsl_strategy *strategy, const tsl_config *config, const char *name,
                     const char *refusal) {
  side_plan *by = &plans[side_count];
  *by = (side_plan){.strategy = strategy, .config = *config, .predicted = NAN};
  tsl_text text = {0};
  if (!name)
    tsl_config_print(strategy, config, &text);
  snprintf(by->name, sizeof by->name, "%s", name ? name : tsl_text_get(&text));
  tsl_text_free(&text);
  sides[side_count] = (bench_side){.name = by->name, .run = run_side, .state = by};
  if (refusal)
    bench_refuse(&sides[side_count], refusal);
  side_count++;
}

/* Adds tesela's choice and its rivals, at least one side, which may hold the reason why there is none. */
static void add_choices(const tsl_problem *problem, const tsl_strategy *except, int max) {
  static const tsl_config no_config;
  const tsl_choice from = {.devices = bench_gpu.devices,
                           .device = bench_gpu.device->name,
                           .strategy = strategy_text,
                           .place = TSL_PLACE_DEVICE,
                           .wisdom = bench_gpu.wisdom,
                           .except = except};
  tsl_candidate *list;
  int listed, count = 0;
  bench_must(tsl_planner_list(problem, &from, &list, &listed), "planning");
  for (; count < listed && count < max && !list[count].refusal[0]; count++) {
    add_side(list[count].strategy, &list[count].config, NULL, NULL);
    plans[side_count - 1].basis = list[count].basis;
    plans[side_count - 1].predicted = list[count].resident;
  }
  if (count == 0)
    add_side(NULL, &no_config, "none", listed > 0 ? list[0].refusal : "nothing takes it");
  free(list);
}

/* Returns true if a side is this plan. */
static bool has_side(const tsl_space_point *point) {
  for (int i = 0; i < side_count; i++)
    if (plans[i].strategy == point->strategy &&
        memcmp(&plans[i].config, &point->config, sizeof point->config) == 0)
      return true;
  return false;
}

/* Adds sides of --configs. A random number decides which config takes every second place. */
static void add_configs(const tsl_problem *problem) {
  static const double within_factor = 2;
  tsl_space space = {0};
  const int first = side_count;
  for (int i = 0; i < first; i++)
    if (plans[i].strategy)
      bench_must(tsl_space_add(&space, problem, bench_gpu.device, plans[i].strategy, NULL, 0), plans[i].name);
  tsl_space_sort(&space);
  int within = 0, added = 0;
  while (within < space.count && space.points[within].predicted <= within_factor * space.points[0].predicted)
    within++;
  for (int i = 0; i < within && added < configs; i++) {
    const uint64_t random =
        tsl_random_u64((uint64_t)(problem->m * 31 + problem->n * 17 + problem->k), (uint64_t)i);
    const tsl_space_point *point = &space.points[i % 2 ? i + (int)(random % (uint64_t)(within - i)) : i];
    if (has_side(point))
      continue;
    add_side(point->strategy, &point->config, NULL, NULL);
    plans[side_count - 1].predicted = point->predicted;
    added++;
  }
  tsl_space_free(&space);
}

static const tsl_strategy *find_peer(const gpu_group *group) {
  return group->operation == GPU_SYRK   ? &bench_cublas_syrk
         : group->operation == GPU_TRSM ? &bench_cublas_trsm
                                        : tsl_strategy_find(TSL_OP_GEMM, "vendor_cublaslt");
}

/* Returns the product without its epilogue; sums of integers with scales are integers. */
static tsl_problem drop_epilogue(const product *row) {
  tsl_problem bare = bench_case_problem(
      &(bench_case){.size = {row->problem.m, row->problem.n, row->problem.k}, .layout = "NT"},
      &(tsl_types){row->problem.a.type, row->problem.b.type, row->problem.c.type});
  bare.ask = row->problem.ask;
  if (row->group->scaling != TESELA_NO_SCALE && tsl_type(bare.a.type)->is_integer)
    bare.c.type = TESELA_I32;
  return bare;
}

/* Plans a side. The free choice and the peer are not bound by --bits. */
static void plan_side(const tsl_problem *row_problem, int i) {
  tsl_problem free_problem = *row_problem, *problem = &free_problem;
  if (bits_word && i >= side_count - 2)
    problem->ask.bits = TSL_REPRODUCIBILITY_ANY;
  if (!sides[i].why[0] && tsl_planner_create(problem, plans[i].strategy, &plans[i].config, bench_gpu.device,
                                             TSL_PLACE_DEVICE, &plans[i].plan) != TESELA_OK)
    bench_refuse(&sides[i], tesela_last_error());
}

/* Lists the sides of a product. First is tesela's choice, then its rivals or a second pass over C. Last is
 * the peer. */
static void list_sides(const product *row, const tsl_problem *bare) {
  static tsl_strategy passing;
  side_count = config_first = 0;
  add_choices(&row->problem, NULL, row->group->operation == GPU_EPILOGUE ? 1 : rivals + 1);
  if (row->group->operation == GPU_EPILOGUE) {
    if (plans[0].strategy)
      passing = *plans[0].strategy;
    passing.supports.epilogues = false;
    add_side(&passing, &plans[0].config, "by a pass", plans[0].strategy ? NULL : "no strategy");
    add_side(plans[0].strategy, &plans[0].config, "alone", plans[0].strategy ? NULL : "no strategy");
    config_first = side_count - 1;
  } else {
    tsl_problem loose = row->problem;
    loose.ask.bits = TSL_REPRODUCIBILITY_ANY;
    if (without || bits_word)
      add_choices(&loose, without, 1);
    config_first = side_count;
    if (configs > 0)
      add_configs(&row->problem);
    const tsl_strategy *peer = find_peer(row->group);
    const tsl_config config = tsl_strategy_defaults(peer);
    add_side(peer, &config, peer->name, tsl_strategy_refuse(peer, &loose, &config, bench_gpu.device));
  }
  const int planned = compile_part && row->group->operation != GPU_EPILOGUE ? side_count - 1 : side_count;
  for (int i = 0; i < planned; i++)
    plan_side(row->group->operation == GPU_EPILOGUE && i == side_count - 1 ? bare : &row->problem, i);
}

static void destroy_plans(void) {
  for (int i = 0; i < side_count; i++)
    if (plans[i].plan)
      tsl_plan_destroy(plans[i].plan);
}

/* --- comparing --- */

/* Gives C of set 0 its state before a run: NaN (or -1) with the gap behind it, zeros where only a triangle is
 * computed, and the right-hand sides of a solve. */
static void reset_result(const product *row, uint64_t c_bytes) {
  tsl_buffer *c = sets.buffers[TSL_OPERAND_C];
  if (row->group->operation == GPU_TRSM) {
    write_set(TSL_OPERAND_C, 0, &row->problem.c, TSL_KIND_NORMAL, 3);
    return;
  }
  const bool is_triangle = row->group->operation == GPU_SYRK;
  bench_must(bench_gpu.device->ops->fill(bench_gpu.stream, c, 0, is_triangle ? 0 : 0xff,
                                         (size_t)(is_triangle ? c_bytes : sets.stride[TSL_OPERAND_C])),
             "filling C");
  bench_must(bench_gpu.device->ops->finish(bench_gpu.stream), "filling C");
}

/* Stops if the bytes from C's end to the next set were written. */
static void check_gap(const product *row, uint64_t c_bytes, const char *name) {
  unsigned char gap[4 * GAP_BYTES];
  const uint64_t stride = sets.stride[TSL_OPERAND_C], bytes = stride - c_bytes;
  const size_t count = bytes < sizeof gap ? (size_t)bytes : sizeof gap;
  if (row->group->operation == GPU_SYRK || row->group->operation == GPU_TRSM)
    return;
  bench_must(tsl_device_read(bench_gpu.stream, sets.buffers[TSL_OPERAND_C], (size_t)c_bytes, gap, count),
             "reading C");
  for (size_t i = 0; i < count; i++)
    if (gap[i] != 0xff)
      bench_stop(name, "memory after C was written");
}

/* Runs on set 0 and copies pieces of C to `out`; returns false on failure. */
static bool take_pieces(const product *row, bench_side *side, unsigned char *out, size_t *bytes) {
  const side_plan *by = side->state;
  const uint64_t c_bytes = (uint64_t)tsl_shape_extent(&row->problem.c) *
                           (uint64_t)tsl_problem_batch(&row->problem) * tsl_type(row->problem.c.type)->size;
  const size_t size = tsl_type(row->problem.c.type)->size;
  const tsl_batch batch = {by->items, 1, 0, 1};
  tsl_phases phases;
  *bytes = c_bytes < PIECE_BYTES ? (size_t)c_bytes : PIECE_BYTES;
  reset_result(row, c_bytes);
  if (tsl_plan_run_batch(by->plan, &batch, &phases) != TESELA_OK) {
    bench_refuse(side, tesela_last_error());
    return false;
  }
  for (int i = 0; i < PIECES; i++) {
    const size_t from = (size_t)(c_bytes - *bytes) * (size_t)i / (PIECES - 1) / size * size;
    bench_must(tsl_device_read(bench_gpu.stream, sets.buffers[TSL_OPERAND_C], from, out + (size_t)i * *bytes,
                               *bytes),
               "reading C");
  }
  check_gap(row, c_bytes, side->name);
  return true;
}

/* Returns the largest permitted difference of two right results of this type. Truncation in matrix
 * instructions adds an error in proportion to k: split f32 at k = 8192 was seen 9e-6 from cuBLASLt. */
static double get_allowed(const tsl_problem *problem) {
  const tsl_type_info *type = tsl_type(problem->c.type);
  const bool is_rough = tsl_numeric_requirements_has_accuracy(&problem->ask),
             is_eight = tsl_type(problem->a.type)->size == 1;
  return type->is_integer  ? 0
         : is_rough        ? (is_eight ? 3e-2 : 3e-3)
         : type->size <= 2 ? 2 * type->unit_roundoff
                           : 64 * fmax(1, (double)problem->k / 2048) * type->unit_roundoff;
}

/* Returns the largest difference of tesela's sides from the last comparable side, the peer or the second
 * pass; NaN without it. Sides beyond the permitted difference lose their time. */
static double compare(const product *row) {
  unsigned char *own = bench_allocate(PIECES, PIECE_BYTES), *others = bench_allocate(PIECES, PIECE_BYTES);
  const int last = side_count - (row->group->operation == GPU_EPILOGUE ? 2 : 1);
  double farthest = NAN;
  size_t bytes = 0;
  const bool has_peer = plans[last].plan && take_pieces(row, &sides[last], others, &bytes);
  for (int i = 0; i < last; i++) {
    if (!plans[i].plan || !take_pieces(row, &sides[i], own, &bytes) || !has_peer)
      continue;
    const double apart = bench_difference(own, others, PIECES * bytes, row->problem.c.type);
    if (!(apart <= get_allowed(&row->problem))) {
      snprintf(sides[i].why, sizeof sides[i].why, "differs from the peer by %.3g", apart);
      failed++;
    }
    farthest = i == 0 || !(apart <= farthest) ? apart : farthest;
  }
  free(own);
  free(others);
  return farthest;
}

/* --- rows --- */

static double get_rate(const product *row, const bench_side *side) {
  return tsl_problem_flops(&row->problem) / side->median * 1e-12;
}

static void write_side(const product *row, const char *key, int i) {
  json_open(key, '{');
  json_text("plan", plans[i].name);
  json_number("seconds", sides[i].median);
  json_number("least", sides[i].least);
  json_number("mean", sides[i].mean);
  json_number("spread", sides[i].spread);
  json_number("tflops", get_rate(row, &sides[i]));
  json_number("predicted", plans[i].predicted);
  json_text("why", sides[i].why);
  json_close('}');
}

static void write_row(const product *row, double apart) {
  const int last = side_count - 1;
  json_open(NULL, '{');
  json_text("group", row->group->name);
  json_integer("m", row->problem.m);
  json_integer("n", row->problem.n);
  json_integer("k", row->problem.k);
  json_integer("batch", tsl_problem_batch(&row->problem));
  json_text("types", row->group->types);
  json_text("layout", row->layout);
  json_text("accuracy", row->group->accuracy ? row->group->accuracy : "");
  json_text("data", tsl_kind_name(row->kind));
  json_number("difference", apart);
  json_number("ratio", sides[last].median / sides[0].median);
  json_text("by", plans[0].strategy ? tsl_basis_name(plans[0].basis) : "");
  write_side(row, "peer", last);
  for (int i = 0; i < config_first; i++) {
    char key[32];
    snprintf(key, sizeof key, "rival %d", i);
    write_side(row, i ? key : "tesela", i);
  }
  json_close('}');
}

/* Returns the word of a group's types and accuracy (costs.h); NULL: there is none. */
static const char *get_types_word(const gpu_group *group) {
  tsl_types types;
  const char *accuracy,
      *asked = group->accuracy ? group->accuracy : "",
      *word = strcmp(group->types, "f32") == 0 && strcmp(asked, "tf32") == 0 ? "tf32" : group->types;
  bench_word_types(word, &types, &accuracy);
  return strcmp(accuracy ? accuracy : "", asked) == 0 ? word : NULL;
}

/* Appends the row's plans to the matrix, but no rows with other numbers or operations. */
static void write_costs(const product *row) {
  bench_cost cost = {.item = {.size = {row->problem.m, row->problem.n, row->problem.k},
                              .batch = tsl_problem_batch(&row->problem)}};
  const char *word = get_types_word(row->group);
  if (row->group->operation != GPU_PRODUCT || row->kind != TSL_KIND_NORMAL || !word)
    return;
  snprintf(cost.types, sizeof cost.types, "%s", word);
  memcpy(cost.item.layout, row->layout, sizeof cost.item.layout);
  for (int i = 0; i < side_count - 1; i++) {
    if (!plans[i].plan || sides[i].why[0])
      continue;
    cost.strategy = plans[i].strategy, cost.config = plans[i].config;
    cost.predicted =
        tsl_strategy_seconds(cost.strategy, &row->problem, &cost.config, bench_gpu.device, tsl_strategy_at);
    cost.seconds = sides[i].median;
    bench_costs_write(matrix_file, &cost);
  }
  fflush(matrix_file);
}

static int find_group(const gpu_group *group) {
  for (int i = 0; i < GPU_GROUPS; i++)
    if (strcmp(gpu_groups[i].name, group->name) == 0)
      return i;
  return GPU_GROUPS - 1;
}

static void print_row(const product *row, double apart) {
  const bench_side *last = &sides[side_count - 1];
  for (int i = 0; i < config_first; i++) {
    const double ratio = last->median / sides[i].median;
    const char *why = sides[i].why[0] ? sides[i].why : i == 0 ? last->why : "";
    const bool is_drawn = !row->group->shapes;
    printf("%-20s %.2s %-16s",
           i          ? "  or"
           : is_drawn ? row->group->types
                      : row->group->name,
           row->layout, row->name);
    if (bench_kind_count > 1 || row->kind != TSL_KIND_NORMAL)
      printf(" %-9s", tsl_kind_name(row->kind));
    bench_print_number(get_rate(row, &sides[i]), 8, 2);
    bench_print_number(get_rate(row, last), 8, 2);
    bench_print_number(ratio, 6, 3);
    if (without || bits_word) { /* its side is the last of tesela's choices */
      const double over = sides[config_first - 1].median / sides[i].median;
      bench_print_number(over, 6, 3);
      if (i == 0)
        bench_mean_add(&over_without, over, row->name);
    }
    printf("  %.40s%s%s", sides[i].name, why[0] ? ": " : "", why);
    if (row->group->operation != GPU_PRODUCT && i == 0 && isfinite(apart))
      printf(", differs by %.2g", apart);
    printf("\n");
    if (i == 0)
      bench_mean_add(&means[find_group(row->group)], ratio, row->name);
  }
  fflush(stdout);
}

static void print_groups(void) {
  printf("\n%-20s %5s %8s %6s\n", "group", "rows", "mean", "least");
  for (int i = 0; i < GPU_GROUPS; i++)
    if (means[i].count > 0)
      printf("%-20s %5d %8.3f %6.3f\n", gpu_groups[i].name, means[i].count, bench_mean_value(&means[i]),
             means[i].least);
  if (over_without.count > 0)
    printf("%-20s %5d %8.3f %6.3f  %s %s\n", without ? "over all others" : "over the free choice",
           over_without.count, bench_mean_value(&over_without), over_without.least,
           without ? "without" : over_without.where, without ? without_name : "");
  if (late > 0)
    printf("%d products left out: %.0f s had passed\n", late, limit);
  if (failed > 0)
    printf("%d results differ\n", failed);
  printf("%.0f s\n", bench_clock() - begun);
}

/* --- a product --- */

static void measure(const product *row) {
  const bool has_epilogue = row->group->operation == GPU_EPILOGUE;
  const tsl_problem bare = has_epilogue ? drop_epilogue(row) : row->problem;
  list_sides(row, &bare);
  make_operands(row, bare.c.type);
  for (int i = 0; i < side_count; i++)
    plans[i].items = has_epilogue && i == side_count - 1 ? sets.bare : sets.items;
  const double apart = compare(row);
  bench_race(sides, side_count,
             &(bench_turns){.rounds_min = 5,
                            .rounds_max = 64,
                            .seconds = seconds_max,
                            .sample_seconds = 1.5e-3,
                            .calls_max = 256});
  print_row(row, apart);
  write_row(row, apart);
  if (matrix_file)
    write_costs(row);
  destroy_plans();
  bench_sides_free(sides, side_count);
  free_operands();
}

static void compile(void) {
  int first, step;
  if (sscanf(compile_part, "%d/%d", &first, &step) != 2 || step < 1)
    bench_stop(compile_part, "is not like 0/16");
  for (int i = first; i < product_count; i += step) {
    const tsl_problem bare =
        products[i].group->operation == GPU_EPILOGUE ? drop_epilogue(&products[i]) : products[i].problem;
    list_sides(&products[i], &bare);
    destroy_plans();
  }
}

/* --- the command line --- */

static void take_only(const char *text) {
  if (only_count == ONLY_MAX)
    bench_stop("--only", "too many");
  only[only_count++] = text;
}

static void measure_all(void) {
  const tsl_vendor *vendor = find_peer(&gpu_groups[0])->vendor.load();
  json_begin(json_path, "bench_gpu");
  json_text("device", bench_gpu.device->label);
  json_text("key", bench_gpu.device->key);
  json_text("peer", vendor->name);
  json_open("rows", '[');
  printf("%s (%s), %s; 10^12 operations a second\n", bench_gpu.device->label, bench_gpu.device->platform,
         vendor->why_not[0] ? vendor->why_not : vendor->name);
  printf("%-20s %-2s %-16s %8s %8s %6s\n", "group", "", "m x n x k", "tesela", "peer", "ratio");
  for (int i = 0; i < product_count; i++)
    if (bench_clock() - begun < limit)
      measure(&products[i]);
    else
      late++;
  print_groups();
  json_close(']');
  json_integer("left_out", late);
  json_integer("differ", failed);
  json_end();
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("device", device_name),
                                         OPTION_FLAG("quick", quick),
                                         OPTION_CALL("only", take_only),
                                         OPTION_TEXT("shapes", own_shapes),
                                         OPTION_CALL("products", bench_take_shapes),
                                         OPTION_TEXT("types", type_list),
                                         OPTION_TEXT("strategy", strategy_text),
                                         OPTION_COUNT("rivals", rivals),
                                         OPTION_COUNT("configs", configs),
                                         OPTION_TEXT("matrix", matrix_path),
                                         OPTION_TEXT("without", without_name),
                                         OPTION_TEXT("bits", bits_word),
                                         OPTION_NUMBER("seconds", seconds_max),
                                         OPTION_NUMBER("limit", limit),
                                         OPTION_TEXT("json", json_path),
                                         OPTION_TEXT("compile", compile_part),
                                         BENCH_CASE_OPTIONS,
                                         BENCH_DATA_OPTION,
                                         OPTIONS_END};
  begun = bench_clock();
  bench_read(argc, argv, "gpu", options, NULL);
  if (rivals < 0 || rivals > RIVALS_MAX)
    bench_stop("--rivals", "0 to 8");
  if (configs < 0 || configs > CONFIGS_MAX)
    bench_stop("--configs", "0 to 32");
  without = without_name ? tsl_strategy_find(TSL_OP_GEMM, without_name) : NULL;
  if (without_name && !without)
    bench_stop(without_name, "no strategy");
  list_drawn();
  for (int i = 0; i < GPU_GROUPS && bench_cases.count == 0; i++)
    list_group(&gpu_groups[i]);
  bench_gpu_open(device_name);
  if (matrix_path && !compile_part)
    matrix_file = bench_costs_begin(matrix_path, bench_gpu.device);
  if (compile_part)
    compile();
  else
    measure_all();
  if (matrix_file)
    bench_costs_end(matrix_file, matrix_path);
  bench_gpu_close();
  free(products);
  return failed > 0;
}

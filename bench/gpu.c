/* gpu [options]
 *
 * Compares products on a CUDA device with cuBLASLt, in turn in one process. The peer cuBLASLt uses the
 * fastest of the eight algorithms that its heuristics propose (256 MiB of workspace). bench/gpu.sh runs this.
 *
 * Operands are in device memory: standard normal numbers (A: --data). Each run uses other operands, more than
 * the last cache holds. Three pieces of both results are compared, which shows only that both computed the
 * same product; the judge (tests/check) verifies results.
 *
 *   --device D      device (cuda:0)
 *   --quick         fewer products
 *   --only TEXT     groups whose name contains TEXT, "=f32 squares": one group by its whole name; repeatable
 *   --shapes LIST   these products instead of the groups' own, "1000 16x4096x4096 64*4096"
 *   --strategy S    tesela's strategy instead of the planner's choice, "cuda_dmma tile_m=128"
 *   --rivals N      also times the planner's next N strategies, a line each
 *   --data LIST     kinds of numbers in A, "normal,relu" (base/kinds.h), a product for each; "all": all kinds
 *   --without S     also times the planner's choice without strategy S; tesela's line has the ratio to its
 * time
 *   --seconds S     time for each side's samples (0.1)
 *   --limit S       begins no product after this time (no limit)
 *   --json FILE     also writes JSON
 *   --compile I/N   only compiles products I, I + N, ...: for several processes at once
 *
 * TESELA_WISDOM selects the wisdom. */
#include "gpu_rows.h"
#include "json.h"

#include "core/clock.h"
#include "core/kinds.h"
#include "core/status.h"
#include "judge/data.h"
#include "planner/planner.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"
#include "tune/tune_measure.h"
#define BENCH_NAME "gpu"
#include "stop.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ONLY_MOST = 16, RIVALS_MOST = 8, SIDES_MOST = RIVALS_MOST + 3, SAMPLES_MOST = 64, SAMPLES_LEAST = 5 };
enum { PIECES = 3, PIECE_BYTES = 1 << 18, SEED_BYTES = 16 << 20, APART_BYTES = 512 };
static const double sample_seconds = 1.5e-3;

typedef struct product {
  const gpu_group *group;
  const char *layout; /* two letters */
  tsl_kind kind;      /* the kind of A's numbers */
  tsl_problem problem;
} product;

/* One participant: tesela's choice, its rivals, or the peer. */
typedef struct side {
  const tsl_strategy *strategy;
  tsl_config config;
  tsl_basis basis;
  char name[200], why[200]; /* the reason why it has no time; "": it has one */
  double predicted;
  tsl_plan *plan;
  int runs; /* runs in a sample */
  double samples[SAMPLES_MOST], spent, seconds, spread;
  int count;
} side;

typedef struct operands {
  tsl_buffer *buffers[TSL_OPERANDS];
  tsl_operands *items;
  int count;
} operands;

typedef struct mean {
  double logs, least;
  int count;
} mean;

static const char *device_name = "cuda:0", *json_path, *strategy_text, *compile_part, *only[ONLY_MOST],
                  *own_shapes, *without_name;
static tsl_kind kinds[TSL_KIND_COUNT];
static int kind_count;
static int only_count, rivals, written, failed, late;
static bool quick;
static double seconds_most = 0.1, limit = INFINITY, begun;
static tsl_devices *devices;
static tsl_device *device;
static tsl_wisdom *wisdom;
static const tsl_strategy *peer, *without;
static product *products;
static int product_count;
static mean means[GPU_GROUPS], over_without;
static FILE *json;

static void *array_of(size_t count, size_t size) {
  void *made = calloc(count, size);
  if (!made)
    stop("memory", "there is none");
  return made;
}

/* --- the products --- */

static void read_options(int argc, char **argv) {
  static const struct option names[] = {
      {"device", 1, NULL, 'd'},  {"quick", 0, NULL, 'q'},    {"only", 1, NULL, 'o'},
      {"shapes", 1, NULL, 'f'},  {"strategy", 1, NULL, 's'}, {"rivals", 1, NULL, 'r'},
      {"json", 1, NULL, 'j'},    {"seconds", 1, NULL, 't'},  {"limit", 1, NULL, 'l'},
      {"compile", 1, NULL, 'c'}, {"data", 1, NULL, 'k'},     {"without", 1, NULL, 'w'},
      {NULL, 0, NULL, 0}};
  int option;
  while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
    switch (option) {
    case 'd':
      device_name = optarg;
      break;
    case 'q':
      quick = true;
      break;
    case 'o':
      if (only_count == ONLY_MOST)
        stop("--only", "too many");
      only[only_count++] = optarg;
      break;
    case 'f':
      own_shapes = optarg;
      break;
    case 's':
      strategy_text = optarg;
      break;
    case 'r':
      rivals = atoi(optarg);
      if (rivals < 0 || rivals > RIVALS_MOST)
        stop("--rivals", "0 to 8");
      break;
    case 'j':
      json_path = optarg;
      break;
    case 't':
      seconds_most = atof(optarg);
      break;
    case 'l':
      limit = atof(optarg);
      break;
    case 'c':
      compile_part = optarg;
      break;
    case 'k':
      kind_count = tsl_kinds_parse(optarg, kinds);
      if (kind_count == 0)
        stop(optarg, tsl_kind_names());
      break;
    case 'w':
      without_name = optarg;
      break;
    default:
      exit(2);
    }
  if (optind < argc)
    stop(argv[optind], "products are named by --shapes");
}

static bool is_wanted(const gpu_group *group) {
  for (int i = 0; i < only_count; i++)
    if (only[i][0] == '=' ? strcmp(group->name, only[i] + 1) == 0 : strstr(group->name, only[i]) != NULL)
      return true;
  return only_count == 0;
}

static void add_product(const gpu_group *group, const tsl_types *types, const char *layout,
                        const char *word) {
  int64_t m, n, k, batch = 1;
  const char *times = strchr(word, '*');
  const int read = sscanf(word, "%" SCNd64 "x%" SCNd64 "x%" SCNd64, &m, &n, &k);
  if (read == 1)
    n = k = m;
  if ((read != 1 && read != 3) || m < 1 || n < 1 || k < 1 ||
      (times && (sscanf(times, "*%" SCNd64, &batch) != 1 || batch < 1)))
    stop(word, "not a product like 512 or 16x4096x4096, nor a batch like 64*4096");
  tsl_problem problem = tsl_problem_gemm(m, n, k, types->a);
  problem.batch = batch;
  problem.b.type = types->b, problem.c.type = types->c;
  if (layout[0] == 'T')
    problem.a.row_stride = 1, problem.a.col_stride = m;
  if (layout[1] == 'T')
    problem.b.row_stride = 1, problem.b.col_stride = k;
  if (group->accuracy)
    must(tsl_numeric_requirements_parse_accuracy(group->accuracy, &problem.ask), group->name);
  products = realloc(products, (size_t)(product_count + TSL_KIND_COUNT) * sizeof *products);
  if (!products)
    stop("memory", "there is none");
  for (int i = 0; i == 0 || i < kind_count; i++)
    products[product_count++] =
        (product){group, layout, kind_count > 0 ? kinds[i] : TSL_KIND_NORMAL, problem};
}

static void list_group(const gpu_group *group) {
  const char *words = own_shapes ? own_shapes : quick ? group->quick : group->shapes;
  tsl_types types;
  if (!words || !is_wanted(group))
    return;
  if (!tsl_types_parse(TSL_OP_GEMM, group->types, &types))
    stop(group->types, "no types");
  for (const char *layout = group->layouts; *layout; layout += strspn(layout + 2, " ") + 2) {
    char list[1024], *rest = NULL;
    snprintf(list, sizeof list, "%s", words);
    for (char *word = strtok_r(list, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
      add_product(group, &types, layout, word);
  }
}

/* --- operands --- */

/* Writes normal numbers at the start of a buffer, then doubles them by copying until it is full. */
static void fill(tsl_stream *stream, tsl_buffer *buffer, tesela_type type, uint64_t seed) {
  const size_t size = tsl_type(type)->size,
               bytes = buffer->bytes < SEED_BYTES ? buffer->bytes / size * size : SEED_BYTES;
  const tsl_shape line = {.type = type,
                          .rows = 1,
                          .cols = (int64_t)(bytes / size),
                          .row_stride = (int64_t)(bytes / size),
                          .col_stride = 1};
  void *block = array_of(bytes, 1);
  must(tsl_data_fill(TSL_DATA_NORMAL, seed, &line, 1, block), "numbers");
  must(tsl_device_write(stream, buffer, 0, block, bytes), "numbers");
  for (size_t made = bytes; made < buffer->bytes; made *= 2)
    must(device->ops->copy(stream, buffer, 0, buffer, made,
                           made < buffer->bytes - made ? made : buffer->bytes - made),
         "numbers");
  must(device->ops->finish(stream), "numbers");
  free(block);
}

/* Writes one operand of a kind of numbers from byte `index` on, row by row. */
static void fill_kind(tsl_stream *stream, tsl_buffer *buffer, uint64_t index, const tsl_shape *shape,
                      tsl_kind kind, uint64_t seed) {
  const bool is_turned = shape->row_stride == 1 && shape->col_stride != 1;
  const int64_t rows = is_turned ? shape->cols : shape->rows, cols = is_turned ? shape->rows : shape->cols;
  const size_t bytes = (size_t)(rows * cols) * tsl_type(shape->type)->size;
  void *block = array_of(bytes, 1);
  must(tsl_kind_fill(kind, seed, rows, cols, shape->type, block), "numbers");
  must(tsl_device_write(stream, buffer, (size_t)index, block, bytes), "numbers");
  free(block);
}

/* Returns the number of elements of an operand, over all products of a batch. */
static uint64_t elements_of(const tsl_problem *problem, int operand) {
  return (uint64_t)(tsl_shape_extent(tsl_problem_shape(problem, operand)) * tsl_problem_batch(problem));
}

static void make_operands(const product *row, operands *out, tsl_stream *stream) {
  const tsl_problem *problem = &row->problem;
  uint64_t all = 0, pitch[TSL_OPERANDS];
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    pitch[i] = (elements_of(problem, i) * tsl_type(shape->type)->size / APART_BYTES + 2) * APART_BYTES;
    all += pitch[i];
  }
  const uint64_t wanted = 2 * (device->cache_bytes ? device->cache_bytes : (uint64_t)64 << 20) / all + 1;
  out->count = (int)(wanted < 4096 ? wanted : 4096);
  out->items = array_of((size_t)out->count, sizeof *out->items);
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tesela_type type = tsl_problem_shape(problem, i)->type;
    must(device->ops->buffer_create(device, (size_t)out->count * pitch[i], &out->buffers[i]), "operands");
    fill(stream, out->buffers[i], type, (uint64_t)i + 1);
    for (int set = 0; set < out->count && i == TSL_OPERAND_A && row->kind != TSL_KIND_NORMAL; set++)
      fill_kind(stream, out->buffers[i], (uint64_t)set * pitch[i], &problem->a, row->kind, (uint64_t)set + 1);
    for (int set = 0; set < out->count; set++) {
      tsl_operand *one = &(&out->items[set].a)[i];
      *one = (tsl_operand){.buffer = out->buffers[i],
                           .offset = (int64_t)((uint64_t)set * pitch[i] / tsl_type(type)->size),
                           .batch_step =
                               problem->batch > 1 ? tsl_shape_extent(tsl_problem_shape(problem, i)) : 0};
    }
  }
}

static void free_operands(operands *sets) {
  for (int i = 0; i < TSL_OPERANDS; i++)
    device->ops->buffer_destroy(sets->buffers[i]);
  free(sets->items);
}

/* --- sides --- */

static void name_side(side *side_in) {
  tsl_text text = {0};
  tsl_config_print(side_in->strategy, &side_in->config, &text);
  snprintf(side_in->name, sizeof side_in->name, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
}

/* Lists tesela's side and its rivals; returns at least one, which may hold the reason why there is
 * none. */
static int list_sides(const tsl_problem *problem, const tsl_strategy *except, int most, side *sides) {
  const tsl_choice from = {.devices = devices,
                           .device = device->name,
                           .strategy = strategy_text,
                           .place = TSL_PLACE_DEVICE,
                           .wisdom = wisdom,
                           .except = except};
  tsl_candidate *list;
  int listed, count = 0;
  must(tsl_planner_list(problem, &from, &list, &listed), "planning");
  while (count < listed && count < most && !list[count].refusal[0]) {
    sides[count] = (side){.strategy = list[count].strategy,
                          .config = list[count].config,
                          .basis = list[count].basis,
                          .predicted = list[count].resident};
    name_side(&sides[count++]);
  }
  if (count == 0) {
    sides[count] = (side){.name = "none"};
    snprintf(sides[count++].why, sizeof sides->why, "%s", listed > 0 ? list[0].refusal : "nothing takes it");
  }
  free(list);
  return count;
}

/* Lists all of tesela's sides; the side without residue_int8 is the last. */
static int list_all(const tsl_problem *problem, side *sides) {
  const int count = list_sides(problem, NULL, rivals + 1, sides);
  return without ? count + list_sides(problem, without, 1, sides + count) : count;
}

static void plan_side(const tsl_problem *problem, side *side_in) {
  if (side_in->strategy && tsl_planner_create(problem, side_in->strategy, &side_in->config, device,
                                              TSL_PLACE_DEVICE, &side_in->plan) != TESELA_OK) {
    snprintf(side_in->why, sizeof side_in->why, "%s", tesela_last_error());
    side_in->plan = NULL;
  }
}

static void add_peer(const tsl_problem *problem, side *side_in) {
  *side_in = (side){.strategy = peer, .config = tsl_strategy_defaults(peer)};
  snprintf(side_in->name, sizeof side_in->name, "%s", peer->name);
  const char *why = tsl_strategy_refuse(peer, problem, &side_in->config, device);
  if (why)
    snprintf(side_in->why, sizeof side_in->why, "%s", why);
  else
    plan_side(problem, side_in);
}

/* --- comparing --- */

/* Runs on set 0, whose C is filled with NaN (or -1), and copies pieces of C to `out`; returns false
 * on failure. */
static bool pieces_of(side *side_in, const operands *sets, uint64_t c_bytes, unsigned char *out,
                      size_t *bytes) {
  static tsl_stream *stream;
  tsl_buffer *c = sets->buffers[TSL_OPERAND_C];
  const size_t size = tsl_type(side_in->plan->work.problem.c.type)->size;
  *bytes = c_bytes < PIECE_BYTES ? (size_t)c_bytes : PIECE_BYTES;
  if (!stream)
    must(device->ops->stream_create(device, &stream), "a stream");
  must(device->ops->fill(stream, c, 0, 0xff, (size_t)c_bytes), "filling C");
  must(device->ops->finish(stream), "filling C");
  const tsl_batch batch = {sets->items, 1, 0, 1};
  tsl_phases phases;
  if (tsl_plan_run_batch(side_in->plan, &batch, &phases) != TESELA_OK) {
    snprintf(side_in->why, sizeof side_in->why, "%s", tesela_last_error());
    return false;
  }
  for (int i = 0; i < PIECES; i++) {
    const size_t from = (size_t)(c_bytes - *bytes) * (size_t)i / (PIECES - 1) / size * size;
    must(tsl_device_read(stream, c, from, out + (size_t)i * *bytes, *bytes), "reading C");
  }
  return true;
}

/* Returns |x - y| / |y| over all pieces; NaN if an element is NaN. */
static double difference(const unsigned char *x, const unsigned char *y, size_t bytes, tesela_type type) {
  const size_t size = tsl_type(type)->size;
  double apart = 0, all = 0;
  for (size_t at = 0; at + size <= bytes; at += size) {
    double one[2], other[2];
    tsl_type_load(type, x + at, one);
    tsl_type_load(type, y + at, other);
    for (int part = 0; part < 2; part++) {
      apart += (one[part] - other[part]) * (one[part] - other[part]);
      all += other[part] * other[part];
    }
  }
  return apart == 0 ? 0 : sqrt(apart / all);
}

/* Returns the largest permitted difference of two right results of this type. Truncation in matrix
 * instructions adds an error in proportion to k: split f32 at k = 8192 was seen 9e-6 from cuBLASLt. */
static double allowed(const tsl_problem *problem) {
  const tsl_type_info *type = tsl_type(problem->c.type);
  const bool is_rough = tsl_numeric_requirements_has_accuracy(&problem->ask),
             is_eight = tsl_type(problem->a.type)->size == 1;
  return type->is_integer  ? 0
         : is_rough        ? (is_eight ? 3e-2 : 3e-3)
         : type->size <= 2 ? 2 * type->unit_roundoff
                           : 64 * fmax(1, (double)problem->k / 2048) * type->unit_roundoff;
}

/* Returns the largest difference of tesela's sides from the peer; NaN without a peer. Sides beyond
 * the permitted difference lose their time. */
static double compare(const tsl_problem *problem, side *sides, int count, const operands *sets) {
  const uint64_t c_bytes = elements_of(problem, TSL_OPERAND_C) * tsl_type(problem->c.type)->size;
  unsigned char *own = array_of(PIECES, PIECE_BYTES), *others = array_of(PIECES, PIECE_BYTES);
  side *last = &sides[count - 1];
  double farthest = NAN;
  size_t bytes = 0;
  const bool has_peer = last->plan && pieces_of(last, sets, c_bytes, others, &bytes);
  for (int i = 0; i < count - 1; i++) {
    if (!sides[i].plan || !pieces_of(&sides[i], sets, c_bytes, own, &bytes) || !has_peer)
      continue;
    const double apart = difference(own, others, PIECES * bytes, problem->c.type);
    if (!(apart <= allowed(problem))) {
      snprintf(sides[i].why, sizeof sides[i].why, "differs from the peer by %.3g", apart);
      failed++;
    }
    farthest = i == 0 || !(apart <= farthest) ? apart : farthest;
  }
  free(own);
  free(others);
  return farthest;
}

/* --- the stopwatch --- */

static void sample(side *side_in, const operands *sets, int *next) {
  const tsl_batch batch = {sets->items, sets->count, *next, side_in->runs};
  tsl_phases phases;
  if (tsl_plan_run_batch(side_in->plan, &batch, &phases) != TESELA_OK) {
    snprintf(side_in->why, sizeof side_in->why, "%s", tesela_last_error());
    return;
  }
  *next = (*next + side_in->runs) % sets->count;
  side_in->spent += phases.compute;
  side_in->samples[side_in->count++] = phases.compute / side_in->runs;
}

/* Takes warm-up samples and sets the number of runs in a sample. */
static void prepare(side *side_in, const operands *sets, int *next) {
  for (int i = 0; i < 2 && !side_in->why[0]; i++) {
    side_in->runs = i == 0 ? 1 : side_in->samples[0] < sample_seconds / 3 ? 3 : 1;
    side_in->count = 0;
    sample(side_in, sets, next);
  }
  if (side_in->count > 0)
    side_in->runs = (int)fmin(256, ceil(sample_seconds / side_in->samples[0]));
  side_in->count = 0, side_in->spent = 0;
}

static bool is_done(const side *side_in) {
  return !side_in->plan || side_in->why[0] || side_in->count == SAMPLES_MOST ||
         (side_in->count >= SAMPLES_LEAST && side_in->spent >= seconds_most) ||
         (side_in->count >= 3 && side_in->spent >= 3 * seconds_most);
}

/* Measures the sides by turns, each round in reversed order. */
static void measure(side *sides, int count, const operands *sets) {
  int next = 0;
  bool is_over = false;
  for (int i = 0; i < count; i++)
    if (sides[i].plan && !sides[i].why[0])
      prepare(&sides[i], sets, &next);
  for (int round = 0; !is_over; round++) {
    is_over = true;
    for (int i = 0; i < count; i++) {
      side *one = &sides[round % 2 ? count - 1 - i : i];
      if (!is_done(one))
        sample(one, sets, &next);
      is_over = is_over && is_done(one);
    }
  }
  for (int i = 0; i < count; i++)
    sides[i].seconds = sides[i].count > 0 && !sides[i].why[0]
                           ? tsl_measure_median(sides[i].samples, sides[i].count, &sides[i].spread)
                           : NAN;
}

/* --- telling --- */

static double rate_of(const tsl_problem *problem, const side *side_in) {
  return tsl_problem_flops(problem) / side_in->seconds * 1e-12;
}

static void write_side(const tsl_problem *problem, const side *side_in) {
  fprintf(json, "{");
  json_text(json, "plan", side_in->name);
  fprintf(json, ", ");
  json_number(json, "seconds", side_in->seconds);
  fprintf(json, ", ");
  json_number(json, "spread", side_in->spread);
  fprintf(json, ", ");
  json_number(json, "tflops", rate_of(problem, side_in));
  fprintf(json, ", ");
  json_number(json, "predicted", side_in->predicted);
  fprintf(json, ", ");
  json_text(json, "why", side_in->why);
  fprintf(json, "}");
}

static void write_row(const product *row, const side *sides, int count, double apart) {
  const tsl_problem *problem = &row->problem;
  if (!json)
    return;
  fprintf(json, "%s\n    {", written++ ? "," : "");
  json_text(json, "group", row->group->name);
  fprintf(json, ", \"m\": %" PRId64 ", \"n\": %" PRId64 ", \"k\": %" PRId64 ", \"batch\": %" PRId64 ", ",
          problem->m, problem->n, problem->k, tsl_problem_batch(problem));
  json_text(json, "types", row->group->types);
  fprintf(json, ", \"layout\": \"%.2s\", ", row->layout);
  json_text(json, "accuracy", row->group->accuracy ? row->group->accuracy : "");
  fprintf(json, ", ");
  json_text(json, "data", tsl_kind_name(row->kind));
  fprintf(json, ", ");
  json_number(json, "difference", apart);
  fprintf(json, ", ");
  json_number(json, "ratio", sides[count - 1].seconds / sides[0].seconds);
  fprintf(json,
          ",\n     \"by\": \"%s\", \"peer\": ", sides[0].strategy ? tsl_basis_name(sides[0].basis) : "");
  write_side(problem, &sides[count - 1]);
  for (int i = 0; i < count - 1; i++) {
    fprintf(json, i ? ",\n     \"rival %d\": " : ",\n     \"tesela\": ", i);
    write_side(problem, &sides[i]);
  }
  fprintf(json, "}");
}

static void add_ratio(mean *target, double ratio) {
  if (!isfinite(ratio))
    return;
  target->least = target->count++ == 0 ? ratio : fmin(target->least, ratio);
  target->logs += log(ratio);
}

/* Prints a number in `width` columns; a dash for NaN. */
static void tell_number(double value, int width, int digits) {
  if (isfinite(value))
    printf(" %*.*f", width, digits, value);
  else
    printf(" %*s", width, "-");
}

static void tell_row(const product *row, const side *sides, int count) {
  const tsl_problem *problem = &row->problem;
  const side *last = &sides[count - 1];
  char shape[64];
  if (problem->m == problem->n && problem->n == problem->k)
    snprintf(shape, sizeof shape, "%" PRId64, problem->m);
  else
    snprintf(shape, sizeof shape, "%" PRId64 "x%" PRId64 "x%" PRId64, problem->m, problem->n, problem->k);
  if (problem->batch > 1)
    snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "*%" PRId64, problem->batch);
  for (int i = 0; i < count - 1; i++) {
    const double ratio = last->seconds / sides[i].seconds;
    const char *why = sides[i].why[0] ? sides[i].why : i == 0 ? last->why : "";
    printf("%-20s %.2s %-16s", i ? "  or" : row->group->name, row->layout, shape);
    if (kind_count > 0)
      printf(" %-9s", tsl_kind_name(row->kind));
    tell_number(rate_of(problem, &sides[i]), 8, 2);
    tell_number(rate_of(problem, last), 8, 2);
    tell_number(ratio, 6, 3);
    if (without) { /* its side is the last before the peer */
      const double over = sides[count - 2].seconds / sides[i].seconds;
      tell_number(over, 6, 3);
      if (i == 0)
        add_ratio(&over_without, over);
    }
    printf("  %.40s%s%s\n", sides[i].name, why[0] ? ": " : "", why);
    if (i == 0)
      add_ratio(&means[row->group - gpu_groups], ratio);
  }
  fflush(stdout);
}

static void tell_groups(void) {
  printf("\n%-20s %5s %8s %6s\n", "group", "rows", "mean", "least");
  for (int i = 0; i < GPU_GROUPS; i++)
    if (means[i].count > 0)
      printf("%-20s %5d %8.3f %6.3f\n", gpu_groups[i].name, means[i].count,
             exp(means[i].logs / means[i].count), means[i].least);
  if (over_without.count > 0)
    printf("%-20s %5d %8.3f %6.3f  without %s\n", "over all others", over_without.count,
           exp(over_without.logs / over_without.count), over_without.least, without_name);
  if (late > 0)
    printf("%d products left out: %.0f s had passed\n", late, limit);
  if (failed > 0)
    printf("%d results differ\n", failed);
  printf("%.0f s\n", tsl_clock() - begun);
}

static void begin_json(void) {
  if (!json_path)
    return;
  json = fopen(json_path, "we");
  if (!json)
    stop(json_path, "cannot be written");
  json_begin(json, "bench_gpu");
  fprintf(json, ",\n  ");
  json_text(json, "device", device->label);
  fprintf(json, ", ");
  json_text(json, "key", device->key);
  fprintf(json, ", ");
  json_text(json, "peer", peer->vendor.load()->name);
  fprintf(json, ",\n  \"rows\": [");
}

static void end_json(void) {
  if (!json)
    return;
  fprintf(json, "\n  ],\n  \"left_out\": %d, \"differ\": %d\n}\n", late, failed);
  fclose(json);
}

/* --- a product --- */

static void run_product(const product *row, tsl_stream *stream) {
  side *sides = array_of(SIDES_MOST, sizeof *sides);
  operands sets;
  int count = list_all(&row->problem, sides);
  for (int i = 0; i < count; i++)
    plan_side(&row->problem, &sides[i]);
  add_peer(&row->problem, &sides[count++]);
  make_operands(row, &sets, stream);
  const double apart = compare(&row->problem, sides, count, &sets);
  measure(sides, count, &sets);
  tell_row(row, sides, count);
  write_row(row, sides, count, apart);
  for (int i = 0; i < count; i++)
    if (sides[i].plan)
      tsl_plan_destroy(sides[i].plan);
  free_operands(&sets);
  free(sides);
}

static void compile(void) {
  int first, step;
  if (sscanf(compile_part, "%d/%d", &first, &step) != 2 || step < 1)
    stop(compile_part, "is not like 0/16");
  for (int i = first; i < product_count; i += step) {
    side sides[SIDES_MOST];
    const int count = list_all(&products[i].problem, sides);
    for (int s = 0; s < count; s++) {
      plan_side(&products[i].problem, &sides[s]);
      if (sides[s].plan)
        tsl_plan_destroy(sides[s].plan);
    }
  }
}

int main(int argc, char **argv) {
  tsl_stream *stream;
  begun = tsl_clock();
  read_options(argc, argv);
  peer = tsl_strategy_find(TSL_OP_GEMM, "vendor_cublaslt");
  without = without_name ? tsl_strategy_find(TSL_OP_GEMM, without_name) : NULL;
  if (without_name && !without)
    stop(without_name, "no strategy");
  for (int i = 0; i < GPU_GROUPS; i++)
    list_group(&gpu_groups[i]);
  must(tsl_devices_create(&devices), "devices");
  must(tsl_devices_find(devices, device_name, &device), "--device");
  must(tsl_device_open(device), "--device");
  must(tsl_wisdom_open(&wisdom), "wisdom");
  if (compile_part) {
    compile();
  } else {
    begin_json();
    must(device->ops->stream_create(device, &stream), "a stream");
    printf("%s (%s), %s; 10^12 operations a second\n", device->label, device->platform,
           peer->vendor.load()->why_not[0] ? peer->vendor.load()->why_not : peer->vendor.load()->name);
    printf("%-20s %-2s %-16s %8s %8s %6s\n", "group", "", "m x n x k", "tesela", "peer", "ratio");
    for (int i = 0; i < product_count; i++)
      if (tsl_clock() - begun < limit)
        run_product(&products[i], stream);
      else
        late++;
    tell_groups();
    end_json();
    device->ops->stream_destroy(stream);
  }
  tsl_wisdom_close(wisdom);
  free(products);
  tsl_devices_destroy(devices);
  return failed > 0;
}

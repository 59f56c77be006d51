/* same_bits [--device NAME] [--only STRATEGY] [--every N] [--each] [--expect FILE] [LIBRARY]
 *
 * Shows whether two builds compute the same bits. --name prints this machine's instruction set.
 *
 * Computes 500 products, dots or transposes (no solves) by each strategy that the device (cpu) takes.
 * Prints a line for each strategy and combination of types: the number computed, the number refused, and
 * a hash of the results' memory, gaps and neighbours included. --each prints a line for each product;
 * --every computes one product in N. A LIBRARY, given by its path, computes instead of this program's own
 * build. Only public functions of both are called, so the builds may differ inside.
 *
 * Sizes include empty, tiny, thin, small, long and blocked products. Operands have every order, gaps,
 * negative strides, conjugates, and packed forms. Products run one by one, in a batch, or from a plan,
 * with one thread or three.
 *
 * On the cpu these bits depend on the instruction set only, not on the machine. Numbers are drawn by
 * integer arithmetic, and compilers may not fuse separate operations. Neither threads nor caches change
 * the order of a sum. With --expect the program compares the lines of this instruction set (TESELA_ISA) with
 * a file's lines. It exits with 1 and the differing lines, or with 77 where the file has no line of the set.
 * It omits strategies whose parts run by the models' choice, which depends on caches and clocks. On other
 * devices bits depend on the compiler too, and two builds are compared on one machine: ci/same_bits.sh. */
#include "builds.h"

#include "core/hash.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/status.h"
#include "core/text.h"
#include "device/devices.h"
#include "host/host_isa.h"
#include "missing_isa.h"
#include "strategy/params.h"
#include "strategy/strategy.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { PRODUCTS = 500, BATCH = 3, THREADS = 3, SEEDS = 4, SKIPPED = 77, LINE_BYTES = 512 };

static build tesela;
static tesela_context *contexts[2]; /* of one thread, and of THREADS */
static const char *device_name = "cpu", *only, *expected;
static bool is_each, is_name;
static int every = 1;
static tsl_devices *devices;
static tsl_device *device; /* as this program's build describes it */
static char set[128];      /* see find_set(); at the beginning of every line */
static tsl_text lines;
static int failures;

static _Noreturn void stop(const char *what, const char *why) {
  fprintf(stderr, "same_bits: %s: %s\n", what, why);
  exit(1);
}

/* --- random products --- */

/* Numbers of one product. */
typedef struct draws {
  uint64_t seed, index;
} draws;

/* Below `limit`. */
static int64_t draw(draws *from, int64_t limit) {
  return (int64_t)(tsl_random_u64(from->seed, from->index++) % (uint64_t)limit);
}

/* Draws m, n and k up to these limits, in turn. Sometimes one size is 0. */
static void draw_sizes(draws *from, int index, tsl_problem *problem) {
  static const int64_t most[][3] = {{17, 17, 17},   {40, 40, 40},    {8, 300, 300},  {300, 8, 300},
                                    {300, 300, 4},  {90, 130, 70},   {200, 50, 400}, {50, 200, 400},
                                    {24, 24, 9000}, {150, 260, 600}, {1, 1000, 900}, {1000, 1, 900}};
  const int64_t *limit = most[(size_t)index % (sizeof most / sizeof most[0])];
  problem->m = 1 + draw(from, limit[0]);
  problem->n = 1 + draw(from, limit[1]);
  problem->k = 1 + draw(from, limit[2]);
  if (index % 50 == 49)
    problem->k = 0;
  if (index % 100 == 27)
    *(draw(from, 2) ? &problem->m : &problem->n) = 0;
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

static void draw_factors(draws *from, tsl_problem *problem) {
  static const double factors[] = {1, 1, 0, -0.5, 2};
  const tsl_type_info *c = tsl_type(problem->c.type);
  for (int i = 0; i < (c->is_complex ? 2 : 1); i++) {
    problem->alpha[i] = factors[draw(from, 5)];
    problem->beta[i] = factors[draw(from, 5)];
    if (c->is_integer) {
      problem->alpha[i] *= 2;
      problem->beta[i] *= 2;
    }
  }
}

static void draw_gemm(draws *from, int index, const tsl_strategy *strategy, tsl_problem *problem) {
  draw_sizes(from, index, problem);
  draw_strides(from, problem->m, problem->k, &problem->a);
  draw_strides(from, problem->k, problem->n, &problem->b);
  draw_strides(from, problem->m, problem->n, &problem->c);
  draw_factors(from, problem);
  const bool conjugates = strategy->supports.conjugates && tsl_type(problem->c.type)->is_complex;
  problem->conjugate_a = conjugates && draw(from, 2);
  problem->conjugate_b = conjugates && draw(from, 2);
}

static void draw_dot(draws *from, int index, tsl_problem *problem) {
  static const int64_t most[] = {20, 300, 5000, 100000};
  static const int64_t strides[] = {1, 1, 1, 2, 7, -1, -3};
  const tesela_type types[] = {problem->a.type, problem->b.type, problem->c.type};
  *problem = tsl_problem_dot(index % 50 == 49 ? 0 : 1 + draw(from, most[index % 4]), types[0]);
  problem->b.type = types[1];
  problem->c.type = types[2];
  problem->a.col_stride = strides[draw(from, 7)];
  problem->b.row_stride = strides[draw(from, 7)];
  draw_factors(from, problem);
}

static void draw_transpose(draws *from, int index, tsl_problem *problem) {
  const tesela_type type = problem->a.type;
  const int64_t rows = draw(from, index % 5 ? 60 : 400), cols = draw(from, index % 7 ? 60 : 400);
  *problem = tsl_problem_transpose(rows, cols, type);
  problem->in_place = draw(from, 4) == 0;
  if (problem->in_place)
    problem->n = problem->m;
  draw_strides(from, problem->m, problem->n, &problem->c);
  draw_strides(from, problem->n, problem->m, &problem->a);
  if (problem->in_place)
    problem->a = problem->c;
  if (draw(from, 3) == 0)
    draw_factors(from, problem);
  problem->beta[0] = problem->beta[1] = 0;
}

static tsl_problem draw_problem(draws *from, int index, const tsl_strategy *strategy,
                                const tsl_types *types) {
  tsl_problem problem = {.op = strategy->op, .alpha = {1}};
  problem.a.type = types->a;
  problem.b.type = types->b;
  problem.c.type = types->c;
  if (strategy->op == TSL_OP_GEMM)
    draw_gemm(from, index, strategy, &problem);
  else if (strategy->op == TSL_OP_DOT)
    draw_dot(from, index, &problem);
  else
    draw_transpose(from, index, &problem);
  return problem;
}

/* An operand's memory, for `count` matrices one after the other, and where element (0, 0) of the first lies.
 */
typedef struct memory {
  unsigned char *at, *first;
  size_t bytes;
  int64_t apart; /* elements from a matrix to the next */
} memory;

/* Returns the first `count` numbers of a seed in a type, with which all products begin. They are
 * drawn once, and extended on demand. */
static const void *numbers(tesela_type type_in, uint64_t seed, size_t count) {
  static struct {
    unsigned char *at;
    size_t have, room;
  } drawn[TESELA_E5M2 + 1][SEEDS];
  const tsl_type_info *type = tsl_type(type_in);
  if (count > drawn[type_in][seed].room) {
    const size_t room = 2 * count;
    drawn[type_in][seed].at = realloc(drawn[type_in][seed].at, room * type->size);
    if (!drawn[type_in][seed].at)
      stop("numbers", "no memory");
    drawn[type_in][seed].room = room;
  }
  if (count > drawn[type_in][seed].have) {
    const size_t have = drawn[type_in][seed].have;
    tsl_random_fill(type->is_integer ? TSL_DRAW_INTEGER : TSL_DRAW_UNIFORM, seed, have, type_in,
                    drawn[type_in][seed].at + have * type->size, count - have);
    drawn[type_in][seed].have = count;
  }
  return drawn[type_in][seed].at;
}

static memory make_operand(const tsl_shape *shape, int count, uint64_t seed) {
  const tsl_type_info *type = tsl_type(shape->type);
  const int64_t extent = tsl_shape_extent(shape);
  memory made = {.bytes = (size_t)(extent * count + 1) * type->size, .apart = extent};
  void *block;
  if (tsl_alloc(made.bytes, "a matrix", &block) != TESELA_OK)
    stop("a matrix", tesela_last_error());
  made.at = block;
  made.first = made.at + (size_t)tsl_shape_below(shape) * type->size;
  memcpy(made.at, numbers(shape->type, seed, made.bytes / type->size), made.bytes);
  return made;
}

/* --- how it is computed --- */

typedef struct product {
  const tsl_strategy *strategy;
  tsl_config config;
  tsl_problem problem;
  memory a, b, c;
  tesela_context *context;
  int index;
} product;

enum { IS_BATCH = 3, IS_ONE_SHOT = 7 }; /* the last digit of an index; others are run by a plan */

static bool is_batch(const tsl_strategy *strategy, int index) {
  return strategy->op == TSL_OP_GEMM && index % 10 == IS_BATCH;
}

static tesela_matrix matrix_of(const tsl_shape *shape, const memory *memory_in) {
  return (tesela_matrix){.data = memory_in->first,
                         .type = shape->type,
                         .row_stride = shape->row_stride,
                         .col_stride = shape->col_stride};
}

static tesela_result result_of(const tsl_shape *shape, const memory *memory_in) {
  return (tesela_result){.data = memory_in->first,
                         .type = shape->type,
                         .row_stride = shape->row_stride,
                         .col_stride = shape->col_stride};
}

/* Runs one product, or BATCH products, by one call. */
static tesela_status run_call(const product *product_in) {
  const tsl_problem *problem = &product_in->problem;
  tsl_text strategy = {0};
  tsl_config_print(product_in->strategy, &product_in->config, &strategy);
  tesela_gemm_desc desc = {.m = problem->m,
                           .n = problem->n,
                           .k = problem->k,
                           .a = matrix_of(&problem->a, &product_in->a),
                           .b = matrix_of(&problem->b, &product_in->b),
                           .c = result_of(&problem->c, &product_in->c),
                           .alpha = problem->alpha,
                           .beta = problem->beta,
                           .options.device = device_name,
                           .options.strategy = tsl_text_get(&strategy),
                           .options.reproducibility = tsl_numeric_requirements_bits_word(problem->ask.bits)};
  desc.a.conjugate = problem->conjugate_a;
  desc.b.conjugate = problem->conjugate_b;
  const tesela_batch batch = {.count = BATCH,
                              .a_stride = product_in->a.apart,
                              .b_stride = product_in->b.apart,
                              .c_stride = product_in->c.apart};
  const tesela_status status =
      is_batch(product_in->strategy, product_in->index)
          ? tesela.gemm_batched(product_in->context, &desc, &batch, NULL, sizeof desc, sizeof batch, 0)
          : tesela.call(product_in->context, TESELA_GEMM, &desc, NULL, sizeof desc, 0);
  tsl_text_free(&strategy);
  return status;
}

static void print_plan(const product *product_in, tsl_text *text) {
  const tsl_strategy *strategy = product_in->strategy;
  tsl_text_add(text, "%s %s version=%d", tsl_op_name(strategy->op), strategy->name, strategy->version);
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    if (!tsl_param_is_silent(&strategy->params[i], product_in->config.value[i]))
      tsl_text_add(text, " %s=%lld", strategy->params[i].name, (long long)product_in->config.value[i]);
  tsl_text_add(text, " device=%s place=host ", device_name);
  tsl_problem_print(&product_in->problem, text);
}

/* Builds before 0.2 run all operations by one function. */
static tesela_status run_by_op(tsl_op op, tesela_plan *plan, const tesela_matrix *a, const tesela_matrix *b,
                               const tesela_result *c) {
  const tesela_vector x = {.data = a->data}, y = {.data = b->data};
  const tesela_scalar sum = {.data = c->data};
  const bool moves = op == TSL_OP_TRANSPOSE;
  const tesela_operands operands =
      op == TSL_OP_DOT ? (tesela_operands){.x = &x, .y = &y, .result = &sum}
                       : (tesela_operands){.a = moves && !a->data ? NULL : a, .b = moves ? NULL : b, .c = c};
  return tesela.plan_run(plan, &operands, NULL, sizeof operands, 0);
}

/* By a plan, on operands as they are, or on what pack() made of them. */
static tesela_status run_plan(const product *product_in, draws *from) {
  tesela_plan *plan = NULL;
  tesela_packed *packed[2] = {NULL, NULL};
  tesela_matrix a = {.data = product_in->a.first}, b = {.data = product_in->b.first};
  const tesela_result c = {.data = product_in->c.first};
  tsl_text text = {0};
  print_plan(product_in, &text);
  tesela_status status = tesela.plan_parse(product_in->context, tsl_text_get(&text), &plan);
  const bool packs_a = draw(from, 4) == 0, packs_b = draw(from, 4) == 0;
  if (status == TESELA_OK && product_in->problem.op == TSL_OP_GEMM) {
    if (packs_a && tesela.pack(plan, &a, NULL, &packed[0]) == TESELA_OK)
      a = (tesela_matrix){.packed = packed[0]};
    if (packs_b && tesela.pack(plan, NULL, &b, &packed[1]) == TESELA_OK)
      b = (tesela_matrix){.packed = packed[1]};
  }
  if (status == TESELA_OK)
    status = run_by_op(product_in->problem.op, plan, &a, &b, &c);
  tesela.packed_destroy(packed[0]);
  tesela.packed_destroy(packed[1]);
  tesela.plan_destroy(plan);
  tsl_text_free(&text);
  return status;
}

/* --- output --- */

/* The products of one strategy and one combination of types. */
typedef struct group {
  tsl_hash hash;
  int computed, refused;
} group;

static void add_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add_line(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tsl_text_add_arguments(&lines, format, arguments);
  va_end(arguments);
}

static void tell_product(const product *product_in, const char *outcome) {
  tsl_text config = {0}, problem = {0};
  tsl_config_print(product_in->strategy, &product_in->config, &config);
  tsl_problem_print(&product_in->problem, &problem);
  add_line("%s %s %s %d: %s: %s\n", set, tsl_op_name(product_in->strategy->op), tsl_text_get(&config),
           product_in->index, tsl_text_get(&problem), outcome);
  tsl_text_free(&problem);
  tsl_text_free(&config);
}

static void keep(group *all, const product *product_in, tesela_status status) {
  char outcome[33] = "refused";
  if (status == TESELA_OK) {
    tsl_hash_text(tsl_hash_add(tsl_hash_start(), product_in->c.at, product_in->c.bytes), outcome);
    all->computed++;
  } else if (status == TESELA_UNSUPPORTED)
    all->refused++;
  else {
    fprintf(stderr, "same_bits: %s: %s\n", product_in->strategy->name, tesela.last_error());
    snprintf(outcome, sizeof outcome, "failed");
    failures++;
  }
  all->hash = tsl_hash_add(all->hash, outcome, strlen(outcome));
  if (is_each)
    tell_product(product_in, outcome);
}

/* Returns the strategy's configs in turn, except configs that it refuses for the product. Returns
 * the last config where it refuses all. */
static tsl_config config_of(const tsl_strategy *strategy, const tsl_problem *problem, int turn) {
  tsl_config config;
  int configs = 0;
  while (tsl_strategy_probe(strategy, configs, &config))
    configs++;
  for (int i = 0; i < configs; i++) {
    tsl_strategy_probe(strategy, (turn + i) % configs, &config);
    if (!tsl_strategy_refuse(strategy, problem, &config, device))
      break;
  }
  return config;
}

static void compute(const tsl_strategy *strategy, const tsl_types *types, int index, int turn, group *all) {
  draws from = {.seed = (uint64_t)index};
  product of = {.strategy = strategy, .index = index};
  of.problem = draw_problem(&from, index, strategy, types);
  /* Unless bits are asked for, what residues do not pay for is computed by another strategy, of the models'
   * choice. */
  if (strcmp(strategy->name, "residue_int8") == 0)
    of.problem.ask.bits = TSL_REPRODUCIBILITY_DEVICES;
  of.config = config_of(strategy, &of.problem, turn);
  of.context = contexts[draw(&from, 2)];
  const int count = is_batch(strategy, index) ? BATCH : 1;
  of.a = make_operand(&of.problem.a, count, 1);
  of.b = make_operand(&of.problem.b, count, 2);
  of.c = make_operand(&of.problem.c, count, 3);
  const bool is_call = count > 1 || (strategy->op == TSL_OP_GEMM && index % 10 == IS_ONE_SHOT);
  keep(all, &of, is_call ? run_call(&of) : run_plan(&of, &from));
  tsl_free(of.a.at);
  tsl_free(of.b.at);
  tsl_free(of.c.at);
}

static void tell_group(const tsl_strategy *strategy, const tsl_types *types, const group *all) {
  char hash[33];
  tsl_hash_text(all->hash, hash);
  if (all->computed > 0 && !is_each)
    add_line("%s %s %s %s,%s,%s: %d computed, %d refused, %s\n", set, tsl_op_name(strategy->op),
             strategy->name, tsl_type(types->a)->name, tsl_type(types->b)->name, tsl_type(types->c)->name,
             all->computed, all->refused, hash);
}

/* Runs the products, shared out among a strategy's types, and each type's among its configs. */
static void walk(const tsl_strategy *strategy) {
  int kinds = 0;
  tsl_types types;
  while (tsl_strategy_types(strategy, kinds, &types))
    kinds++;
  for (int kind = 0; kind < kinds; kind++) {
    group all = {.hash = tsl_hash_start()};
    tsl_strategy_types(strategy, kind, &types);
    for (int index = kind; index < PRODUCTS; index += kinds * every)
      compute(strategy, &types, index, index / kinds / every, &all);
    tell_group(strategy, &types, &all);
  }
}

/* --- the command line --- */

/* Stores the name of the instruction set. "x86_64:avx512+avx512_bf16": the processor's family and the rows
 * of host/host_isa.h that the device runs. On other devices: the device's name. "aarch64:neon/20": one
 * product in 20. */
static void find_set(void) {
  static const struct {
    const char *name;
    unsigned needs;
  } extensions[] = {
#define EXTENSION(name, header, needs, ...) {"+" #name, needs},
      TSL_ISA_EXTENSION_LIST(EXTENSION)
#undef EXTENSION
          {"", 0}};
#define NAME(name, ...) #name,
  static const char *const rows[] = {TSL_ISA_LIST(NAME)};
#undef NAME
  if (tsl_devices_create(&devices) != TESELA_OK ||
      tsl_devices_find(devices, device_name, &device) != TESELA_OK)
    stop(device_name, tesela_last_error());
  const bool is_host = device->capabilities & TSL_CAN_HOST;
  struct utsname system;
  if (uname(&system) != 0)
    stop("uname", "failed");
  snprintf(set, sizeof set, "%.32s:%s", system.machine,
           is_host ? rows[tsl_isa_best(device->capabilities)] : device_name);
  for (size_t i = 0; is_host && i < sizeof extensions / sizeof *extensions; i++)
    if (!(extensions[i].needs & ~device->capabilities))
      strncat(set, extensions[i].name, sizeof set - strlen(set) - 1);
  if (every > 1)
    snprintf(set + strlen(set), sizeof set - strlen(set), "/%d", every);
}

static void load(const char *path) {
  tesela = build_linked;
  if (path) {
    void *library = build_open(path);
    const char *lacks = library ? build_find(library, &tesela) : dlerror();
    if (lacks)
      stop(path, lacks);
  }
  for (int i = 0; i < 2; i++)
    if (tesela.context_create(&(tesela_context_desc){.threads = i == 0 ? 1 : THREADS}, &contexts[i],
                              sizeof(tesela_context_desc)) != TESELA_OK)
      stop("a context", tesela.last_error());
}

static void read_options(int count, char **arguments) {
  static const struct option names[] = {
      {"device", 1, NULL, 'd'}, {"only", 1, NULL, 'o'},   {"name", 0, NULL, 'a'}, {"every", 1, NULL, 'n'},
      {"each", 0, NULL, 'e'},   {"expect", 1, NULL, 'x'}, {NULL, 0, NULL, 0}};
  int option;
  while ((option = getopt_long(count, arguments, "", names, NULL)) != -1)
    switch (option) {
    case 'd':
      device_name = optarg;
      break;
    case 'o':
      only = optarg;
      break;
    case 'a':
      is_name = true;
      break;
    case 'n':
      every = atoi(optarg);
      if (every < 1)
        stop("--every", "not a number from 1 on");
      break;
    case 'e':
      is_each = true;
      break;
    case 'x':
      expected = optarg;
      break;
    default:
      exit(2);
    }
}

/* Returns true when the text has the line, which ends at its newline. */
static bool has_line(const char *text, const char *line) {
  const size_t length = strcspn(line, "\n");
  for (const char *at = text; (at = strstr(at, set)) != NULL; at++)
    if ((at == text || at[-1] == '\n') && strcspn(at, "\n") == length && memcmp(at, line, length) == 0)
      return true;
  return false;
}

/* Prints the lines of this set in `left` that `right` has not. */
static int print_missing(const char *left, const char *right, const char *mark) {
  const size_t length = strlen(set);
  int missing = 0;
  for (const char *line = left; *line; line += strcspn(line, "\n") + 1)
    if (strncmp(line, set, length) == 0 && line[length] == ' ' && !has_line(right, line)) {
      printf("%s %.*s\n", mark, (int)strcspn(line, "\n"), line);
      missing++;
    }
  return missing;
}

static int compare(const char *path) {
  tsl_text text = {0};
  char line[LINE_BYTES];
  FILE *file = fopen(path, "re");
  if (!file)
    stop(path, "cannot be read");
  while (fgets(line, sizeof line, file))
    tsl_text_add(&text, "%s", line);
  fclose(file);
  const char *wanted = tsl_text_get(&text), *found = tsl_text_get(&lines);
  snprintf(line, sizeof line, "%s ", set);
  if (strncmp(wanted, line, strlen(line)) != 0 &&
      !strstr(wanted, (snprintf(line, sizeof line, "\n%s ", set), line))) {
    printf("skipped: %s has no lines of %s; what is printed without --expect belongs there once it was "
           "checked\n",
           path, set);
    tsl_text_free(&text);
    return SKIPPED;
  }
  const int gone = print_missing(wanted, found, "expected:"),
            come = print_missing(found, wanted, "computed:");
  printf("%s: %s\n", set,
         gone + come > 0 ? "other bits than expected (--each prints every product)" : "the same bits");
  tsl_text_free(&text);
  return gone + come > 0;
}

/* Parts of f32 are multiplied by the strategy for bf16 that models choose, which was another one where the
 * last cache has 260 MiB. */
static bool is_machines_own(const tsl_strategy *strategy) {
  return strcmp(strategy->name, "split_precision") == 0;
}

int main(int count, char **arguments) {
  read_options(count, arguments);
  find_set();
  if (is_name) {
    printf("%s\n", set);
    tsl_devices_destroy(devices);
    return 0;
  }
  if (expected && missing_isa(device)) {
    printf("skipped: this processor has no %s\n", missing_isa(device));
    tsl_devices_destroy(devices);
    return 77;
  }
  load(arguments[optind]);
  for (int i = 0; tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op != TSL_OP_SOLVE && !tsl_strategy_at(i)->vendor.load &&
        (!only || strcmp(only, tsl_strategy_at(i)->name) == 0) &&
        !(expected && is_machines_own(tsl_strategy_at(i))))
      walk(tsl_strategy_at(i));
  for (int i = 0; i < 2; i++)
    tesela.context_destroy(contexts[i]);
  int code = failures > 0;
  if (expected && !code)
    code = compare(expected);
  else
    printf("%s", tsl_text_get(&lines));
  tsl_text_free(&lines);
  tsl_devices_destroy(devices);
  return code;
}

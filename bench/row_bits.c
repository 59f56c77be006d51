/* row_bits [options]
 *
 * Do rows of a product keep their bits with bits=rows, whatever the other rows are? For each product of
 * --shapes (m is ignored), type and layout, a product of the most rows of --rows is the reference. Products
 * of fewer rows take the reference's first rows, and then rows from random places. Every row must have the
 * bits of the reference. --orders compares whole products of named strategies instead: which add in the same
 * order?
 *
 *   --device D      device (cuda:0)
 *   --shapes LIST   products as 1x2112x7168
 *   --types LIST    (bf16,f16,f32,f64,i8)
 *   --accuracy W    required accuracy, such as tf32 or e4m3
 *   --layouts LIST  (NN,NT,TN,TT)
 *   --rows LIST     numbers of rows (1,2,8,17,33,64,128,257,1024,4096)
 *   --bits WORD     (rows)
 *   --scalars       alpha = 0.75 and beta = 0.5 instead of 1 and 0
 *   --bias          adds a bias by column and GELU
 *   --data LIST     kinds of numbers in A (core/kinds.h)
 *   --orders LIST   strategies "name key=value ...", separated by ";": all of C of each, compared with the
 *                   first's; named strategies of tesela also need --bits
 *   --time          times each number of rows, by turns with bits=any, instead of comparing bits: the ratio
 *                   of the free choice's least time to this one's (1: no cost)
 *   --limit S       begins no product after this time */
#include "cases.h"
#include "device.h"

#include "core/random.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

enum { ROWS_MAX = 32, TYPES_MAX = 32, ORDERS_MAX = 16 };

static const char *device_name = "cuda:0", *type_list = "bf16,f16,f32,f64,i8", *layout_list = "NN,NT,TN,TT",
                  *row_list = "1,2,8,17,33,64,128,257,1024,4096", *bits_word = "rows", *accuracy_word,
                  *order_list;
static bool scalars, bias, is_timed;
static bench_mean cost;
static double limit = INFINITY;
static int64_t row_counts[ROWS_MAX];
static int row_count;
static long long rows_compared, rows_differing, elements_differing;

typedef struct shown_operands {
  tsl_buffer *buffers[TSL_ALL_OPERANDS];
  tsl_operands operands;
} shown_operands;

static tsl_operand *operand_of(tsl_operands *set, int i) {
  return i < TSL_OPERANDS ? &(&set->a)[i] : &set->bias;
}

static void give(shown_operands *shown, const tsl_problem *problem, int i, const void *data) {
  const tsl_shape *shape = tsl_problem_shape(problem, i);
  const size_t bytes = bench_bytes(shape);
  bench_must(bench_gpu.device->ops->buffer_create(bench_gpu.device, bytes + 256, &shown->buffers[i]),
             "memory");
  bench_must(tsl_device_write(bench_gpu.stream, shown->buffers[i], 0, data, bytes), "operands");
  *operand_of(&shown->operands, i) = (tsl_operand){.buffer = shown->buffers[i]};
}

static void give_all(shown_operands *shown, const tsl_problem *problem, void *const *data) {
  for (int i = 0; i < TSL_ALL_OPERANDS; i++)
    if (tsl_problem_has_operand(problem, i))
      give(shown, problem, i, data[i]);
}

static void drop(shown_operands *shown) {
  for (int i = 0; i < TSL_ALL_OPERANDS; i++)
    if (shown->buffers[i])
      bench_gpu.device->ops->buffer_destroy(shown->buffers[i]);
}

/* Plans a product; returns NULL with the reason in `name` if that is not possible. */
static tsl_plan *plan_product(const tsl_problem *problem, const char *strategy, char *name, size_t size) {
  const tsl_choice choice = {.devices = bench_gpu.devices,
                             .device = bench_gpu.device->name,
                             .strategy = strategy,
                             .place = TSL_PLACE_DEVICE,
                             .wisdom = bench_gpu.wisdom};
  tsl_candidate *list;
  tsl_plan *plan = NULL;
  int count;
  if (tsl_planner_list(problem, &choice, &list, &count) != TESELA_OK) {
    snprintf(name, size, "none: %s", tesela_last_error());
    return NULL;
  }
  if (count == 0 || list[0].refusal[0])
    snprintf(name, size, "none: %s", count > 0 ? list[0].refusal : "no strategy");
  else if (tsl_planner_take(problem, &choice, list, count, &plan) != TESELA_OK)
    snprintf(name, size, "none: %s", tesela_last_error());
  else {
    tsl_text text = {0};
    tsl_config_print(plan->work.strategy, &plan->work.config, &text);
    snprintf(name, size, "%s", tsl_text_get(&text));
    tsl_text_free(&text);
  }
  free(list);
  return plan;
}

/* Runs a plan on host data (by operand) and returns C; prints the reason and returns NULL if it cannot. */
static void *multiply(const tsl_problem *problem, const char *strategy, void *const *data, char *name,
                      size_t size) {
  shown_operands shown = {.buffers = {NULL}};
  tsl_plan *plan = plan_product(problem, strategy, name, size);
  if (!plan)
    return NULL;
  give_all(&shown, problem, data);
  void *c = bench_allocate(1, bench_bytes(&problem->c));
  bench_must(tsl_plan_run(plan, &shown.operands, NULL), "a run");
  bench_must(tsl_device_read(bench_gpu.stream, shown.buffers[TSL_OPERAND_C], 0, c, bench_bytes(&problem->c)),
             "reading C");
  drop(&shown);
  tsl_plan_destroy(plan);
  return c;
}

/* Copies rows of a matrix to one of another shape. */
static void copy_rows(const tsl_shape *whole, const void *src, const int64_t *rows, const tsl_shape *part,
                      void *dst) {
  const size_t size = tsl_type(whole->type)->size;
  for (int64_t i = 0; i < part->rows; i++)
    for (int64_t j = 0; j < part->cols; j++)
      memcpy((char *)dst + (size_t)(i * part->row_stride + j * part->col_stride) * size,
             (const char *)src + (size_t)(rows[i] * whole->row_stride + j * whole->col_stride) * size, size);
}

static tsl_problem make_problem(const bench_case *item, const tsl_types *types, int64_t m) {
  bench_case sized = *item;
  sized.size[0] = m;
  tsl_problem problem = bench_case_problem(&sized, types);
  bench_must(tsl_numeric_requirements_parse_bits(bits_word, &problem.ask), "--bits");
  if (accuracy_word)
    bench_must(tsl_numeric_requirements_parse_accuracy(accuracy_word, &problem.ask), "--accuracy");
  if (scalars)
    problem.alpha[0] = 0.75, problem.beta[0] = 0.5;
  if (tsl_type(types->c)->is_integer && scalars)
    problem.alpha[0] = 3, problem.beta[0] = 2;
  if (bias) {
    problem.activation = TESELA_GELU;
    tsl_problem_add_bias(&problem, TESELA_BIAS_ROW, types->c, 1);
  }
  return problem;
}

static void make_data(const tsl_problem *problem, void **data) {
  for (int i = 0; i < TSL_ALL_OPERANDS; i++)
    data[i] =
        tsl_problem_has_operand(problem, i)
            ? bench_matrix(tsl_problem_shape(problem, i),
                           i == TSL_OPERAND_A && bench_kind_count > 0 ? bench_kinds[0] : TSL_KIND_NORMAL,
                           (uint64_t)i + 1)
            : NULL;
}

static void free_data(void **data) {
  for (int i = 0; i < TSL_ALL_OPERANDS; i++)
    free(data[i]);
}

/* Counts differing elements of the rows of `part` from rows of `whole`. */
static void compare_rows(const tsl_problem *part, const void *c, const tsl_problem *whole, const void *all,
                         const int64_t *rows, long long *differing_rows, long long *differing) {
  const size_t size = tsl_type(part->c.type)->size;
  for (int64_t i = 0; i < part->m; i++) {
    long long different = 0;
    for (int64_t j = 0; j < part->n; j++)
      different +=
          memcmp((const char *)c + (size_t)(i * part->c.row_stride + j * part->c.col_stride) * size,
                 (const char *)all + (size_t)(rows[i] * whole->c.row_stride + j * whole->c.col_stride) * size,
                 size) != 0;
    *differing += different;
    *differing_rows += different > 0;
  }
}

static void check_rows(const bench_case *item, const tsl_types *types, const char *type_word) {
  const int64_t most = row_counts[row_count - 1];
  const tsl_problem whole = make_problem(item, types, most);
  int64_t *rows = bench_allocate((size_t)most, sizeof *rows);
  void *data[TSL_ALL_OPERANDS];
  char name[200];
  uint64_t state = 7;
  make_data(&whole, data);
  void *all = multiply(&whole, NULL, data, name, sizeof name);
  printf("%-10s %.2s n=%-6" PRId64 " k=%-6" PRId64 " m=%" PRId64 ": %.60s\n", type_word, item->layout,
         whole.n, whole.k, most, name);
  for (int i = 0; i < 2 * row_count - 2 && all; i++) {
    const tsl_problem part = make_problem(item, types, row_counts[i / 2]);
    void *own[TSL_ALL_OPERANDS];
    long long differing_rows = 0, differing = 0;
    memcpy(own, data, sizeof own);
    for (int64_t row = 0; row < part.m; row++)
      rows[row] = i % 2 ? bench_draw(&state, 0, most - 1) : row;
    own[TSL_OPERAND_A] = bench_allocate(1, bench_bytes(&part.a));
    own[TSL_OPERAND_C] = bench_allocate(1, bench_bytes(&part.c));
    copy_rows(&whole.a, data[TSL_OPERAND_A], rows, &part.a, own[TSL_OPERAND_A]);
    copy_rows(&whole.c, data[TSL_OPERAND_C], rows, &part.c, own[TSL_OPERAND_C]);
    void *c = multiply(&part, NULL, own, name, sizeof name);
    if (c)
      compare_rows(&part, c, &whole, all, rows, &differing_rows, &differing);
    rows_compared += c ? part.m : 0;
    rows_differing += differing_rows;
    elements_differing += differing;
    if (!c || differing > 0)
      printf("  DIFFERS m=%" PRId64 " %s: %lld rows, %lld elements: %.90s\n", part.m,
             i % 2 ? "random rows" : "first rows", differing_rows, differing, name);
    free(c);
    free(own[TSL_OPERAND_A]);
    free(own[TSL_OPERAND_C]);
  }
  fflush(stdout);
  free(all);
  free_data(data);
  free(rows);
}

typedef struct timed_plan {
  tsl_plan *plan;
  const tsl_operands *operands;
  char name[200];
} timed_plan;

static void run_timed(bench_side *side) {
  const timed_plan *timed = side->state;
  bench_must(tsl_plan_run(timed->plan, timed->operands, NULL), "a run");
}

/* Times one number of rows with the required bits and with any. */
static void time_rows(const bench_case *item, const tsl_types *types, const char *type_word, int64_t m) {
  tsl_problem problem = make_problem(item, types, m);
  void *data[TSL_ALL_OPERANDS];
  shown_operands shown = {.buffers = {NULL}};
  timed_plan plans[2] = {{.operands = &shown.operands}, {.operands = &shown.operands}};
  bench_side sides[2] = {{.name = "rows", .call = run_timed, .state = &plans[0]},
                         {.name = "any", .call = run_timed, .state = &plans[1]}};
  char where[64];
  make_data(&problem, data);
  give_all(&shown, &problem, data);
  for (int i = 0; i < 2; i++) {
    plans[i].plan = plan_product(&problem, NULL, plans[i].name, sizeof plans[i].name);
    if (!plans[i].plan)
      bench_stop("no plan", plans[i].name);
    problem.ask.bits = TSL_REPRODUCIBILITY_ANY;
  }
  bench_race(sides, 2,
             &(bench_turns){.rounds_min = 7, .rounds_max = 41, .seconds = 0.1, .sample_seconds = 1e-3});
  snprintf(where, sizeof where, "%s %.2s %" PRId64 "x%" PRId64 "x%" PRId64, type_word, item->layout, m,
           problem.n, problem.k);
  const double ratio = sides[1].least / sides[0].least; /* other programs may share the cores */
  bench_mean_add(&cost, ratio, where);
  printf("%-32s", where);
  bench_print_number(1e6 * sides[0].least, 10, 1);
  bench_print_number(1e6 * sides[1].least, 10, 1);
  bench_print_number(ratio, 7, 3);
  printf("  %.40s | %.40s\n", plans[0].name, plans[1].name);
  fflush(stdout);
  bench_sides_free(sides, 2);
  for (int i = 0; i < 2; i++)
    tsl_plan_destroy(plans[i].plan);
  drop(&shown);
  free_data(data);
}

/* Compares all of C of the listed strategies. */
static void check_orders(const bench_case *item, const tsl_types *types, const char *type_word) {
  tsl_problem problem = make_problem(item, types, item->size[0]);
  const tsl_reproducibility bits = problem.ask.bits;
  const char *rest = order_list;
  void *data[TSL_ALL_OPERANDS], *first = NULL;
  char strategy[200], name[200];
  make_data(&problem, data);
  printf("%-10s %.2s %" PRId64 "x%" PRId64 "x%" PRId64 "\n", type_word, item->layout, problem.m, problem.n,
         problem.k);
  while (bench_next_word(&rest, ";", strategy, sizeof strategy)) {
    const char *text = strategy + strspn(strategy, " ");
    problem.ask.bits = strncmp(text, "vendor", 6) == 0 ? TSL_REPRODUCIBILITY_ANY : bits;
    void *c = multiply(&problem, text, data, name, sizeof name);
    if (!c)
      printf("  %.60s: %s\n", text, name);
    else if (!first)
      printf("  %.90s: reference\n", name);
    else {
      const double apart = bench_difference(c, first, bench_bytes(&problem.c), problem.c.type);
      const size_t size = tsl_type(problem.c.type)->size, count = bench_bytes(&problem.c) / size;
      size_t different = 0;
      for (size_t i = 0; i < count; i++)
        different += memcmp((char *)c + i * size, (char *)first + i * size, size) != 0;
      printf("  %.90s: %zu of %zu elements differ, by %.2g\n", name, different, count, apart);
    }
    if (first)
      free(c);
    else
      first = c;
  }
  fflush(stdout);
  free(first);
  free_data(data);
}

static void read_rows(void) {
  char word[32];
  for (const char *rest = row_list; row_count < ROWS_MAX && bench_next_word(&rest, ", ", word, sizeof word);)
    row_counts[row_count++] = strtoll(word, NULL, 10);
  if (row_count < 2)
    bench_stop("--rows", "at least two numbers, the largest last");
}

static void check_all(void) {
  const double begun = bench_clock();
  tsl_types types[TYPES_MAX];
  const int count = bench_types_parse(type_list, types, TYPES_MAX);
  for (int i = 0; i < bench_cases.count; i++)
    for (const char *layouts = layout_list; *layouts;) {
      char layout[3];
      if (!bench_next_word(&layouts, ", ", layout, sizeof layout))
        break;
      const char *words = type_list;
      for (int t = 0; t < count; t++) {
        bench_case item = bench_cases.items[i];
        char word[32];
        memcpy(item.layout, layout, sizeof item.layout);
        bench_next_word(&words, ", ", word, sizeof word);
        if (bench_clock() - begun > limit)
          continue;
        for (int row = 0; row < row_count && is_timed; row++)
          time_rows(&item, &types[t], word, row_counts[row]);
        if (is_timed)
          continue;
        if (order_list)
          check_orders(&item, &types[t], word);
        else
          check_rows(&item, &types[t], word);
      }
    }
}

static void take_shape_list(const char *list) {
  char word[64];
  while (bench_next_word(&list, ", ", word, sizeof word))
    bench_take_case(word);
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("device", device_name),
                                         OPTION_CALL("shapes", take_shape_list),
                                         OPTION_TEXT("types", type_list),
                                         OPTION_TEXT("accuracy", accuracy_word),
                                         OPTION_TEXT("layouts", layout_list),
                                         OPTION_TEXT("rows", row_list),
                                         OPTION_TEXT("bits", bits_word),
                                         OPTION_FLAG("scalars", scalars),
                                         OPTION_FLAG("bias", bias),
                                         OPTION_TEXT("orders", order_list),
                                         OPTION_FLAG("time", is_timed),
                                         OPTION_NUMBER("limit", limit),
                                         BENCH_DATA_OPTION,
                                         OPTIONS_END};
  bench_read(argc, argv, "row_bits", options, bench_take_case);
  read_rows();
  bench_gpu_open(device_name);
  check_all();
  bench_gpu_close();
  bench_mean_print(&cost, "bits=rows", "bits=any");
  if (!order_list && !is_timed)
    printf("%lld rows compared, %lld differ in %lld elements\n", rows_compared, rows_differing,
           elements_differing);
  return rows_differing > 0;
}

/* quality [--type f32|f64|c64|c128] [--rounds N] [--data normal|wide|graded] [--strategies A,B,...]
 *         [--accuracy ASK] [--seed N] [--device D] SIZE...
 *
 * How fast are strategies on a device (cuda:0), and how large are their errors? By default compares
 * residue_int8 with a vendor's strategy, which is a peer; auto is the planner's choice. Each round times
 * every strategy in turn, by events around two queued products. Prints median times, and the median of the
 * ratios to the last strategy's time. ROWS rows of C are compared with the exact product, in double
 * precision. Prints the largest and the median error relative to |C|, the largest relative to u |A||B|, and
 * the largest relative to the guarantee. `wide`: uniform numbers times exp() of a normal number, as in
 * GEMMul8's measurements. `graded`: normal numbers that become 2^12 times smaller along each row of A and
 * down each column of B. Complex numbers have the errors of their parts. */
#include "cases.h"

enum { ROWS = 16, STRATEGIES_MAX = 8, TIMES = 2 };

static int rounds = 9;
static double seed = 1; /* of A; B uses seed + 1 */
static const char *accuracy, *data = "normal", *names, *type_name = "f32", *device_name = "cuda:0";

/* An element type. `parts`: real numbers of an element. The strategies are compared if the user names none.
 */
typedef struct form {
  const char *name, *strategies;
  size_t parts;
  tesela_type type;
  int is_double;
} form;
static const form forms[] = {{"f32", "residue_int8,vendor_cublas", 1, TESELA_F32, 0},
                             {"f64", "residue_int8,vendor_cublas", 1, TESELA_F64, 1},
                             {"c64", "residue_int8,vendor_cublaslt", 2, TESELA_C64, 0},
                             {"c128", "residue_int8,vendor_cublaslt", 2, TESELA_C128, 1}};
static const form *type = &forms[0];
static tesela_context *context;
static tesela_stream *stream;
static tesela_event *begin, *end;

static size_t number_bytes(void) {
  return type->is_double ? sizeof(double) : sizeof(float);
}

/* --- data --- */

static double draw_uniform(uint64_t *state) {
  const int64_t limit = INT64_C(1) << 30;
  const double high = (double)bench_draw(state, -limit, limit - 1);
  return (high + (double)bench_draw(state, 0, limit) * 0x1p-30) * 0x1p-31;
}
/* Returns a nearly normal number: the sum of four uniform numbers. */
static double draw_normal(uint64_t *state) {
  return 1.7320508 * (draw_uniform(state) + draw_uniform(state) + draw_uniform(state) + draw_uniform(state));
}

/* Returns an element at `place` of its line, 0 to 1. */
static double draw_element(uint64_t *state, double place) {
  if (strcmp(data, "graded") == 0)
    return draw_normal(state) * exp2(-12 * place);
  return strcmp(data, "wide") == 0 ? draw_uniform(state) * exp(draw_normal(state)) : draw_normal(state);
}

static void fill(void *host, size_t n, int operand, uint64_t state) {
  for (size_t i = 0; i < n * n * type->parts; i++) {
    const size_t at = i / type->parts;
    const double value = draw_element(&state, (double)(operand ? at / n : at % n) / (double)n);
    if (type->is_double)
      ((double *)host)[i] = value;
    else
      ((float *)host)[i] = (float)value;
  }
}

static double number(const void *host, size_t i) {
  return type->is_double ? ((const double *)host)[i] : (double)((const float *)host)[i];
}

/* --- errors --- */

/* Exact rows of the product, and rows of |A||B|, in f64. */
typedef struct reference {
  size_t rows[ROWS];
  double *exact, *size; /* ROWS x n elements; two numbers for each complex element */
} reference;

/* Returns component `part` of an element of B that multiplies A's real parts (re b, im b) or imaginary parts
 * (-im b, re b). */
static double factor(const void *b, size_t element, int of_imaginary, size_t part) {
  if (type->parts == 1)
    return number(b, element);
  const double x = number(b, 2 * element + (part ^ (size_t)of_imaginary));
  return of_imaginary && part == 0 ? -x : x;
}

/* Computes exact rows. Complex rows are real rows with twice as many terms and columns. */
static void refer(size_t n, const void *a, const void *b, reference *target) {
  const size_t parts = type->parts, wide = n * parts;
  double *few = bench_allocate(ROWS * wide, sizeof *few), *all = bench_allocate(wide * wide, sizeof *all);
  target->exact = bench_allocate(ROWS * wide, sizeof(double));
  target->size = bench_allocate(ROWS * wide, sizeof(double));
  for (size_t i = 0; i < wide; i++)
    for (size_t j = 0; j < wide; j++)
      all[i * wide + j] = factor(b, i / parts * n + j / parts, i % parts != 0, j % parts);
  for (int r = 0; r < ROWS; r++) {
    target->rows[r] = n / ROWS * (size_t)r + (size_t)r % (n / ROWS);
    for (size_t i = 0; i < wide; i++)
      few[(size_t)r * wide + i] = number(a, target->rows[r] * wide + i);
  }
  tesela_gemm_desc desc = {.m = ROWS,
                           .n = (int64_t)wide,
                           .k = (int64_t)wide,
                           .a = {.data = few, .type = TESELA_F64},
                           .b = {.data = all, .type = TESELA_F64},
                           .c = {.data = target->exact, .type = TESELA_F64},
                           .options.device = "cpu",
                           .options.strategy = "exact"};
  bench_must(tesela_gemm(context, &desc, NULL), "the exact rows");
  for (size_t i = 0; i < wide * wide; i++)
    all[i] = fabs(all[i]);
  for (size_t i = 0; i < ROWS * wide; i++)
    few[i] = fabs(few[i]);
  desc.c.data = target->size;
  desc.options.strategy = NULL;
  bench_must(tesela_gemm(context, &desc, NULL), "|A||B|");
  free(few);
  free(all);
}

static void print_errors(const tesela_buffer *c, size_t n, const reference *right, double bound) {
  const size_t size = number_bytes();
  const double u = type->is_double ? 0x1p-53 : 0x1p-24;
  double *relative = bench_allocate(ROWS * n, sizeof *relative), largest = 0, grade = 0;
  void *row = bench_allocate(n, size);
  for (int r = 0; r < ROWS; r++) {
    bench_must(tesela_buffer_read(c, right->rows[r] * n * size, row, n * size), "rows");
    for (size_t i = 0; i < n; i++) {
      const size_t at = (size_t)r * n + i;
      const double error = fabs(number(row, i) - right->exact[at]);
      relative[at] = right->exact[at] != 0 ? error / fabs(right->exact[at]) : 0;
      largest = fmax(largest, relative[at]);
      grade = error == error ? fmax(grade, error / (u * right->size[at])) : INFINITY;
    }
  }
  printf(" relative error %.2e largest, %.2e median; %.3f u |A||B|, %.1e of its bound\n", largest,
         bench_median(relative, (int)(ROWS * n)), grade, grade * u / bound);
  free(relative);
  free(row);
}

/* --- a size --- */

static tesela_gemm_desc desc;

static double run(bench_side *side, int calls) {
  double seconds;
  bench_must(tesela_event_record(begin, stream), "an event");
  for (int i = 0; i < calls; i++)
    bench_must(tesela_plan_enqueue(side->state, stream,
                                   &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL),
               side->name);
  bench_must(tesela_event_record(end, stream), "an event");
  bench_must(tesela_event_seconds(begin, end, &seconds), "an event");
  return seconds;
}

/* Makes a plan for each strategy, and the stream with the largest workspace. */
static void make_plans(bench_side *sides, int count) {
  size_t workspace = 0;
  for (int i = 0; i < count; i++) {
    size_t own;
    tesela_plan *plan;
    const char *name = sides[i].name;
    desc.options.strategy = strcmp(name, "auto") == 0 ? NULL : name;
    desc.options.accuracy =
        strncmp(name, "vendor_", 7) == 0 ? NULL : accuracy; /* peers get no accuracy request */
    bench_must(tesela_plan_create(context, &desc, &plan), name);
    own = tesela_plan_workspace(plan);
    workspace = own > workspace ? own : workspace;
    sides[i].state = plan;
  }
  bench_must(tesela_stream_create(context, device_name, &stream), "a stream");
  bench_must(tesela_stream_reserve(stream, workspace), "a workspace");
  bench_must(tesela_event_create(stream, &begin), "an event");
  bench_must(tesela_event_create(stream, &end), "an event");
}

static void print_side(const bench_side *sides, int i, int count, size_t n, const tesela_buffer *c,
                       const reference *right) {
  const double operations = (type->parts == 2 ? 8e-12 : 2e-12) * (double)n * (double)n * (double)n;
  tesela_record record;
  bench_must(
      tesela_plan_run(sides[i].state, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, &record),
      sides[i].name);
  printf("%s %5zu %-24s %9.1f us %7.1f TFLOP/s, %.3f of %s;", type->name, n, sides[i].name,
         1e6 * sides[i].median, operations / sides[i].median,
         bench_paired(&sides[i], &sides[count - 1], false), sides[count - 1].name);
  print_errors(c, n * type->parts, right, record.error_bound);
  if (record.note)
    printf("  %s\n", record.note);
  fflush(stdout);
}

static void measure(size_t n, bench_side *sides, int count) {
  const size_t bytes = n * n * type->parts * number_bytes();
  void *host[2];
  tesela_buffer *buffers[3];
  reference right;
  for (int i = 0; i < 3; i++)
    bench_must(tesela_buffer_create(context, device_name, bytes, &buffers[i]), "a buffer");
  for (int i = 0; i < 2; i++) {
    host[i] = bench_allocate(bytes, 1);
    fill(host[i], n, i, (uint64_t)seed + (uint64_t)i);
    bench_must(tesela_buffer_write(buffers[i], 0, host[i], bytes), "an operand");
  }
  refer(n, host[0], host[1], &right);
  desc = (tesela_gemm_desc){.m = (int64_t)n,
                            .n = (int64_t)n,
                            .k = (int64_t)n,
                            .a = {.buffer = buffers[0], .type = type->type},
                            .b = {.buffer = buffers[1], .type = type->type},
                            .c = {.buffer = buffers[2], .type = type->type},
                            .options.device = device_name};
  make_plans(sides, count);
  bench_race(sides, count, &(bench_turns){.rounds_min = rounds, .rounds_max = rounds, .is_paired = true});
  for (int i = 0; i < count; i++)
    print_side(sides, i, count, n, buffers[2], &right);
  for (int i = 0; i < count; i++)
    tesela_plan_destroy(sides[i].state);
  bench_sides_free(sides, count);
  tesela_event_destroy(begin);
  tesela_event_destroy(end);
  tesela_stream_destroy(stream);
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
  free(right.exact);
  free(right.size);
  free(host[0]);
  free(host[1]);
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("type", type_name),     OPTION_COUNT("rounds", rounds),
                                         OPTION_TEXT("data", data),          OPTION_TEXT("strategies", names),
                                         OPTION_TEXT("accuracy", accuracy),  OPTION_NUMBER("seed", seed),
                                         OPTION_TEXT("device", device_name), OPTIONS_END};
  bench_side sides[STRATEGIES_MAX];
  char words[STRATEGIES_MAX][128];
  int count = 0, form_count = 0;
  bench_read(argc, argv, "quality", options, bench_take_case);
  for (int i = 0; i < COUNT_OF(forms); i++)
    if (strcmp(type_name, forms[i].name) == 0)
      type = &forms[i], form_count++;
  if (form_count == 0)
    bench_stop(type_name, "is none of f32, f64, c64, c128");
  if (!names)
    names = type->strategies;
  while (count < STRATEGIES_MAX && bench_next_word(&names, ",", words[count], sizeof words[0])) {
    sides[count] = (bench_side){.name = words[count], .run = run, .calls = TIMES};
    count++;
  }
  bench_must(tesela_context_create(NULL, &context), "a context");
  for (int i = 0; i < bench_cases.count; i++) {
    if (bench_cases.items[i].size[0] < ROWS)
      bench_stop("a size", "is too small");
    measure((size_t)bench_cases.items[i].size[0], sides, count);
  }
  tesela_context_destroy(context);
  return 0;
}

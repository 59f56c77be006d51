/* quality [--type f32|f64|c64|c128] [--rounds N] [--data normal|wide|graded] [--strategies A,B,...]
 *         [--accuracy ASK] [--seed N] SIZE...: speed and errors of strategies on the first CUDA device.
 *
 * By default compares residue_int8 with a vendor's strategy, which is a peer; auto is the planner's choice.
 * Each round times every strategy in turn, by events around two queued products. Prints median times, and the
 * median of the ratios to the last strategy's time. ROWS rows of C are compared with the exact product, in
 * double precision. Prints the largest and the median error relative to |C|, the largest relative
 * to u |A||B|, and the largest relative to the guarantee. `wide`: uniform numbers times exp() of a normal
 * number, as in GEMMul8's measurements. `graded`: normal numbers that become 2^12 times smaller along each
 * row of A and down each column of B. Complex numbers have the errors of their parts. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

#define BENCH_NAME "bench_quality"
#include "stop.h"

enum { ROWS = 16, ROUNDS_MOST = 101, STRATEGIES_MOST = 8, TIMES = 2 };

static int rounds = 9, is_wide, is_graded;
static uint64_t seed = 1;    /* the seed of A; B uses seed + 1 */
static const char *accuracy; /* the requested accuracy; NULL: the default */
/* An element type. `parts`: real numbers of an element. The strategies are compared if the user
 * names none. */
typedef struct form {
  const char *name;
  tesela_type type;
  size_t parts;
  int is_double;
  const char *strategies;
} form;
static const form forms[] = {{"f32", TESELA_F32, 1, 0, "residue_int8,vendor_cublas"},
                             {"f64", TESELA_F64, 1, 1, "residue_int8,vendor_cublas"},
                             {"c64", TESELA_C64, 2, 0, "residue_int8,vendor_cublaslt"},
                             {"c128", TESELA_C128, 2, 1, "residue_int8,vendor_cublaslt"}};
static const form *type = &forms[0];

static size_t number_bytes(void) {
  return type->is_double ? sizeof(double) : sizeof(float);
}

static void *take(size_t bytes) {
  void *block = malloc(bytes);
  if (!block)
    stop("memory", "none");
  return block;
}

static int compare(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}
static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, compare);
  return values[count / 2];
}

/* --- data --- */

static uint64_t next(uint64_t *state) { /* splitmix64 */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static double uniform(uint64_t *state) {
  return (double)(int64_t)next(state) * 0x1p-64;
}
/* Returns a nearly normal number: the sum of four uniform numbers. */
static double normal(uint64_t *state) {
  return 1.7320508 * (uniform(state) + uniform(state) + uniform(state) + uniform(state));
}

/* Returns an element at `place` of its line, 0 to 1. */
static double element(uint64_t *state, double place) {
  if (is_graded)
    return normal(state) * exp2(-12 * place);
  return is_wide ? uniform(state) * exp(normal(state)) : normal(state);
}

static void fill(void *host, size_t n, int operand, uint64_t state) {
  for (size_t i = 0; i < n * n * type->parts; i++) {
    const size_t at = i / type->parts;
    const double place = (double)(operand ? at / n : at % n) / (double)n;
    if (type->is_double)
      ((double *)host)[i] = element(&state, place);
    else
      ((float *)host)[i] = (float)element(&state, place);
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

/* Returns component `part` of an element of B that multiplies A's real parts (re b, im b) or
 * imaginary parts (-im b, re b). */
static double factor(const void *b, size_t element, int of_imaginary, size_t part) {
  if (type->parts == 1)
    return number(b, element);
  const double x = number(b, 2 * element + (part ^ (size_t)of_imaginary));
  return of_imaginary && part == 0 ? -x : x;
}

/* Computes exact rows. Complex rows are real rows with twice as many terms and columns. */
static void refer(tesela_context *context, size_t n, const void *a, const void *b, reference *target) {
  const size_t parts = type->parts, wide = n * parts;
  double *few = take(ROWS * wide * sizeof *few), *all = take(wide * wide * sizeof *all);
  target->exact = take(ROWS * wide * sizeof(double));
  target->size = take(ROWS * wide * sizeof(double));
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
  must(tesela_gemm(context, &desc, NULL), "the exact rows");
  for (size_t i = 0; i < wide * wide; i++)
    all[i] = fabs(all[i]);
  for (size_t i = 0; i < ROWS * wide; i++)
    few[i] = fabs(few[i]);
  desc.c.data = target->size;
  desc.options.strategy = NULL;
  must(tesela_gemm(context, &desc, NULL), "|A||B|");
  free(few);
  free(all);
}

static void tell_errors(const tesela_buffer *c, size_t n, const reference *right, double bound) {
  const size_t size = number_bytes();
  const double u = type->is_double ? 0x1p-53 : 0x1p-24;
  double *relative = take(ROWS * n * sizeof *relative), largest = 0, grade = 0;
  void *row = take(n * size);
  for (int r = 0; r < ROWS; r++) {
    must(tesela_buffer_read(c, right->rows[r] * n * size, row, n * size), "rows");
    for (size_t i = 0; i < n; i++) {
      const size_t at = (size_t)r * n + i;
      const double error = fabs(number(row, i) - right->exact[at]);
      relative[at] = right->exact[at] != 0 ? error / fabs(right->exact[at]) : 0;
      largest = fmax(largest, relative[at]);
      grade = error == error ? fmax(grade, error / (u * right->size[at])) : INFINITY;
    }
  }
  printf(" relative error %.2e largest, %.2e median; %.3f u |A||B|, %.1e of its bound\n", largest,
         median(relative, ROWS * n), grade, grade * u / bound);
  free(relative);
  free(row);
}

/* --- a size --- */

typedef struct one {
  const char *name;
  tesela_plan *plan;
  double seconds[ROUNDS_MOST];
} one;

static void queue(const one *state, tesela_stream *stream, const tesela_gemm_desc *desc) {
  must(tesela_plan_enqueue(state->plan, stream,
                           &(tesela_operands){.a = &desc->a, .b = &desc->b, .c = &desc->c}, NULL),
       state->name);
}

static void run(tesela_context *context, size_t n, one *all, int count) {
  const size_t bytes = n * n * type->parts * number_bytes();
  void *a = take(bytes), *b = take(bytes);
  tesela_buffer *buffers[3];
  tesela_stream *stream;
  tesela_event *begin, *end;
  reference right;
  fill(a, n, 0, seed);
  fill(b, n, 1, seed + 1);
  refer(context, n, a, b, &right);
  for (int i = 0; i < 3; i++)
    must(tesela_buffer_create(context, "cuda:0", bytes, &buffers[i]), "a buffer");
  must(tesela_buffer_write(buffers[0], 0, a, bytes), "A");
  must(tesela_buffer_write(buffers[1], 0, b, bytes), "B");
  tesela_gemm_desc desc = {.m = (int64_t)n,
                           .n = (int64_t)n,
                           .k = (int64_t)n,
                           .a = {.buffer = buffers[0], .type = type->type},
                           .b = {.buffer = buffers[1], .type = type->type},
                           .c = {.buffer = buffers[2], .type = type->type}};
  size_t workspace = 0;
  for (int i = 0; i < count; i++) {
    size_t own;
    desc.options.strategy = strcmp(all[i].name, "auto") == 0 ? NULL : all[i].name;
    desc.options.accuracy =
        strncmp(all[i].name, "vendor_", 7) == 0 ? NULL : accuracy; /* peers get no accuracy request */
    must(tesela_plan_create(context, &desc, &all[i].plan), all[i].name);
    own = tesela_plan_workspace(all[i].plan);
    workspace = own > workspace ? own : workspace;
  }
  must(tesela_stream_create(context, "cuda:0", &stream), "a stream");
  must(tesela_stream_reserve(stream, workspace), "a workspace");
  must(tesela_event_create(stream, &begin), "an event");
  must(tesela_event_create(stream, &end), "an event");
  for (int r = -1; r < rounds; r++)
    for (int i = 0; i < count; i++) {
      double seconds;
      must(tesela_event_record(begin, stream), "an event");
      for (int t = 0; t < TIMES; t++)
        queue(&all[i], stream, &desc);
      must(tesela_event_record(end, stream), "an event");
      must(tesela_event_seconds(begin, end, &seconds), "an event");
      if (r >= 0)
        all[i].seconds[r] = seconds / TIMES;
    }
  for (int i = 0; i < count; i++) {
    double ratios[ROUNDS_MOST], times[ROUNDS_MOST];
    tesela_record record;
    for (int r = 0; r < rounds; r++) {
      times[r] = all[i].seconds[r];
      ratios[r] = all[count - 1].seconds[r] / all[i].seconds[r];
    }
    must(tesela_plan_run(all[i].plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, &record),
         all[i].name);
    const double middle = median(times, (size_t)rounds);
    const double operations = (type->parts == 2 ? 8e-12 : 2e-12) * (double)n * (double)n * (double)n;
    printf("%s %5zu %-24s %9.1f us %7.1f TFLOP/s, %.3f of %s;", type->name, n, all[i].name, 1e6 * middle,
           operations / middle, median(ratios, (size_t)rounds), all[count - 1].name);
    tell_errors(buffers[2], n * type->parts, &right, record.error_bound);
    if (record.note)
      printf("  %s\n", record.note);
    fflush(stdout);
    tesela_plan_destroy(all[i].plan);
  }
  tesela_event_destroy(begin);
  tesela_event_destroy(end);
  tesela_stream_destroy(stream);
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
  free(right.exact);
  free(right.size);
  free(a);
  free(b);
}

static const form *form_of(const char *name) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (strcmp(name, forms[i].name) == 0)
      return &forms[i];
  stop(name, "is none of f32, f64, c64, c128");
  return forms;
}

int main(int words, char **word) {
  static char names[1024];
  one all[STRATEGIES_MOST];
  tesela_context *context;
  int i = 1, count = 0;
  for (; i + 1 < words && word[i][0] == '-'; i += 2) {
    if (strcmp(word[i], "--type") == 0)
      type = form_of(word[i + 1]);
    else if (strcmp(word[i], "--rounds") == 0)
      rounds = atoi(word[i + 1]);
    else if (strcmp(word[i], "--data") == 0)
      is_wide = strcmp(word[i + 1], "wide") == 0, is_graded = strcmp(word[i + 1], "graded") == 0;
    else if (strcmp(word[i], "--strategies") == 0)
      snprintf(names, sizeof names, "%s", word[i + 1]);
    else if (strcmp(word[i], "--accuracy") == 0)
      accuracy = word[i + 1];
    else if (strcmp(word[i], "--seed") == 0)
      seed = strtoull(word[i + 1], NULL, 10);
    else
      stop(word[i], "is not one of --type, --rounds, --data, --strategies, --accuracy, --seed");
  }
  if (i == words || rounds < 1 || rounds > ROUNDS_MOST)
    stop("usage",
         "bench_quality [--type f32] [--rounds 1 to 101] [--data normal] [--strategies A,B] SIZE...");
  if (!*names)
    snprintf(names, sizeof names, "%s", type->strategies);
  for (char *name = strtok(names, ","); name && count < STRATEGIES_MOST; name = strtok(NULL, ","))
    all[count++].name = name;
  must(tesela_context_create(NULL, &context), "a context");
  for (; i < words; i++) {
    const long n = atol(word[i]);
    if (n < ROWS)
      stop(word[i], "is too small");
    run(context, (size_t)n, all, count);
  }
  tesela_context_destroy(context);
  return 0;
}

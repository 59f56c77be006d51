/* measured [--host] [--beta] [--record] [--strategy TEXT] DEVICE TYPES SIZE...: cost of measuring the error
 * of a product (desc.measure_error). Squares of each type ("f32,f64,bf16") and size, in device memory or with
 * --host in host memory, with records or without. A plan that measures and a plan that does not run in turn.
 * Prints medians of both, by the wall clock, and the measured error. */
#include "core/clock.h"
#include "core/random.h"
#include "core/types.h"
#define BENCH_NAME "measured"
#include "stop.h"

#include <stdlib.h>
#include <string.h>

enum { TURNS_MOST = 41, TURNS_LEAST = 5, BLOCK = 1 << 20 };
static const double seconds_most = 1.5;

static tesela_context *context;
static const char *device, *strategy;
static bool in_host_memory, reads_c, has_record;

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return values[count / 2];
}

/* Returns an array of normal numbers; the first million repeats. The caller frees it. */
static void *numbers(tesela_type type, size_t count, uint64_t seed) {
  const size_t size = tsl_type(type)->size, known = count < BLOCK ? count : BLOCK;
  unsigned char *made = malloc(count * size);
  if (!made)
    stop("memory", "there is none");
  tsl_random_fill(TSL_DRAW_NORMAL, seed, 0, type, made, known);
  for (size_t at = known; at < count; at += known)
    memcpy(made + at * size, made, (count - at < known ? count - at : known) * size);
  return made;
}

typedef struct operand {
  void *host;
  tesela_buffer *buffer;
} operand;

static operand operand_of(tesela_type type, int64_t side, uint64_t seed) {
  const size_t count = (size_t)side * (size_t)side, bytes = count * tsl_type(type)->size;
  operand made = {.host = numbers(type, count, seed)};
  if (in_host_memory)
    return made;
  must(tesela_buffer_create(context, device, bytes, &made.buffer), "operands");
  must(tesela_buffer_write(made.buffer, 0, made.host, bytes), "operands");
  free(made.host);
  made.host = NULL;
  return made;
}

static void forget(operand *operand_in) {
  free(operand_in->host);
  if (operand_in->buffer)
    tesela_buffer_destroy(operand_in->buffer);
}

static double seconds_of(tesela_plan *plan, const tesela_gemm_desc *desc) {
  const double start = tsl_clock();
  tesela_record record;
  must(tesela_plan_run(plan, &(tesela_operands){.a = &desc->a, .b = &desc->b, .c = &desc->c},
                       has_record ? &record : NULL),
       "running");
  return tsl_clock() - start;
}

static void measure(tesela_type type, int64_t side) {
  static const double some = 0.5, none = 0;
  operand a = operand_of(type, side, 1), b = operand_of(type, side, 2), c = operand_of(type, side, 3);
  tesela_gemm_desc desc = {.m = side,
                           .n = side,
                           .k = side,
                           .a = {.data = a.host, .buffer = a.buffer, .type = type},
                           .b = {.data = b.host, .buffer = b.buffer, .type = type},
                           .c = {.data = c.host, .buffer = c.buffer, .type = type},
                           .beta = reads_c ? &some : &none,
                           .options.device = device,
                           .options.strategy = strategy};
  tesela_plan *plain, *measured;
  tesela_record record;
  double seconds[2][TURNS_MOST], spent = 0;
  int turns = 0;
  must(tesela_plan_create(context, &desc, &plain), "planning");
  desc.options.measure_error = 1;
  must(tesela_plan_create(context, &desc, &measured), "planning");
  for (int i = 0; i < 2; i++) {
    (void)seconds_of(plain, &desc);
    (void)seconds_of(measured, &desc);
  }
  for (; turns < TURNS_MOST && (turns < TURNS_LEAST || spent < seconds_most); turns++) {
    seconds[0][turns] = seconds_of(plain, &desc);
    seconds[1][turns] = seconds_of(measured, &desc);
    spent += seconds[0][turns] + seconds[1][turns];
  }
  must(tesela_plan_run(measured, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, &record),
       "running");
  const double without = median(seconds[0], turns), with = median(seconds[1], turns);
  printf("%-5s %6lld %10.4f ms %10.4f ms  %+6.1f%%  %lld x %lld  seen %.2g of %.2g  (measured in %.3f ms)\n",
         tsl_type(type)->name, (long long)side, without * 1e3, with * 1e3, (with / without - 1) * 100,
         (long long)record.measured_rows, (long long)record.measured_cols, record.error_measured,
         record.error_bound, record.seconds_measure * 1e3);
  fflush(stdout);
  tesela_plan_destroy(plain);
  tesela_plan_destroy(measured);
  forget(&a);
  forget(&b);
  forget(&c);
}

static tesela_type next_type(const char **names) {
  char name[16];
  const size_t length = strcspn(*names, ",");
  snprintf(name, sizeof name, "%.*s", (int)length, *names);
  const tesela_type type = tsl_type_parse(name);
  if (type == TESELA_TYPE_DEFAULT)
    stop(name, "is no type");
  *names += length + ((*names)[length] == ',');
  return type;
}

int main(int argc, char **argv) {
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; at++) {
    if (strcmp(argv[at], "--host") == 0)
      in_host_memory = true;
    else if (strcmp(argv[at], "--beta") == 0)
      reads_c = true;
    else if (strcmp(argv[at], "--record") == 0)
      has_record = true;
    else if (strcmp(argv[at], "--strategy") == 0 && at + 1 < argc)
      strategy = argv[++at];
    else
      stop(argv[at], "is no option");
  }
  if (argc - at < 3)
    stop("usage", "measured [--host] [--beta] [--record] [--strategy TEXT] DEVICE TYPES SIZE...");
  device = argv[at];
  must(tesela_context_create(NULL, &context), "starting");
  printf("%-5s %6s %13s %13s\n", "type", "size", "product", "measured");
  for (const char *types = argv[at + 1]; *types;) {
    const tesela_type type = next_type(&types);
    for (int i = at + 2; i < argc; i++) {
      const int64_t side = strtoll(argv[i], NULL, 10);
      if (side < 1)
        stop(argv[i], "is no size");
      measure(type, side);
    }
  }
  tesela_context_destroy(context);
  return 0;
}

/* measured [--host] [--beta] [--record] [--verify] [--mode WORD] [--strategy TEXT] [--sweep SECONDS]
 *          [--data KIND] DEVICE TYPES SIZE...
 *
 * What does it cost to measure the error of a product (desc.options.measure_error)? --verify: to verify the
 * whole result (desc.options.verify)? Its mode is "all", unless --mode names another. Products of each type
 * ("f32,f64,bf16:f32") and size, in device memory or with --host in host memory, with records or without. A
 * plan that measures or verifies and a plan that does not run in turn. Prints medians of both, by the wall
 * clock, and the measured or the hidden error.
 *
 * --sweep: verified runs alone, for so many seconds for each type. Products are of random sizes up to SIZE,
 * and of new factors in each run: parts of two random matrices. The first alarm ends it. */
#include "cases.h"
#include "core/clock.h"
#include "core/random.h"

#include <time.h>

static tesela_context *context;
static const char *device, *types, *strategy, *mode = "all";
static bool in_host_memory, reads_c, has_record, verifies;
static double sweep_seconds;

typedef struct operand {
  void *host;
  tesela_buffer *buffer;
} operand;

static operand make_operand(const tsl_shape *shape, uint64_t seed) {
  operand made = {.host = bench_matrix(shape, bench_kinds[0], seed)};
  if (in_host_memory)
    return made;
  bench_must(tesela_buffer_create(context, device, bench_bytes(shape), &made.buffer), "operands");
  bench_must(tesela_buffer_write(made.buffer, 0, made.host, bench_bytes(shape)), "operands");
  free(made.host);
  made.host = NULL;
  return made;
}

static tesela_gemm_desc desc;
static tesela_record record;

static void run(bench_side *side) {
  bench_must(tesela_plan_run(side->state, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c},
                             has_record ? &record : NULL),
             side->name);
}

/* Makes matrices of these sizes, and a description of their product. */
static void make_product(const tsl_types *types_of_case, int64_t m, int64_t n, int64_t k,
                         operand operands[3]) {
  static const double some = 0.5, none = 0;
  const tesela_type types_of_operands[3] = {types_of_case->a, types_of_case->b, types_of_case->c};
  for (int i = 0; i < 3; i++) {
    const int64_t cols = i == 0 ? k : n;
    const tsl_shape shape = {.type = types_of_operands[i],
                             .rows = i == 1 ? k : m,
                             .cols = cols,
                             .row_stride = cols,
                             .col_stride = 1};
    operands[i] = make_operand(&shape, (uint64_t)i + 1);
  }
  desc = (tesela_gemm_desc){
      .m = m,
      .n = n,
      .k = k,
      .a = {.data = operands[0].host, .buffer = operands[0].buffer, .type = types_of_operands[0]},
      .b = {.data = operands[1].host, .buffer = operands[1].buffer, .type = types_of_operands[1]},
      .c = {.data = operands[2].host, .buffer = operands[2].buffer, .type = types_of_operands[2]},
      .beta = reads_c ? &some : &none,
      .options.device = device,
      .options.strategy = strategy};
}

static void free_operands(operand operands[3]) {
  for (int i = 0; i < 3; i++) {
    free(operands[i].host);
    if (operands[i].buffer)
      tesela_buffer_destroy(operands[i].buffer);
  }
}

/* Verifies products of random sizes up to the case's, whose factors are random parts of its factors. */
static void sweep(const tsl_types *types_of_case, const bench_case *item) {
  enum { RUNS = 200 }; /* of a size */
  int64_t *const sizes[3] = {&desc.m, &desc.n, &desc.k};
  operand operands[3];
  const uint64_t seed = (uint64_t)time(NULL);
  uint64_t drawn = 0;
  int64_t runs = 0, products = 0, elements = 0, unverified = 0;
  make_product(types_of_case, item->size[0], item->size[1], item->size[2], operands);
  const double start = tsl_clock();
  while (tsl_clock() - start < sweep_seconds) {
    tesela_plan *plan;
    for (int i = 0; i < 3; i++)
      *sizes[i] = 1 + (int64_t)(tsl_random_u64(seed, drawn++) % (uint64_t)item->size[i]);
    desc.a.row_stride = item->size[2], desc.b.row_stride = desc.c.row_stride = item->size[1];
    desc.a.offset = desc.b.offset = 0;
    desc.options.verify = mode;
    bench_must(tesela_plan_create(context, &desc, &plan), "planning");
    products++;
    for (int i = 0; i < RUNS; i++) {
      tesela_record own = {.seconds = 0};
      int64_t first[3]; /* of m, n and k */
      for (int d = 0; d < 3; d++)
        first[d] = (int64_t)(tsl_random_u64(seed, drawn++) % (uint64_t)(item->size[d] - *sizes[d] + 1));
      desc.a.offset = first[0] * item->size[2] + first[2];
      desc.b.offset = first[2] * item->size[1] + first[1];
      bench_must(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, &own),
                 "a right result");
      runs++;
      elements += own.verified;
      unverified += own.unverified;
    }
    tesela_plan_destroy(plan);
  }
  printf("%-5s %lld runs of %lld products, no alarm; %.3g elements verified, %lld not\n",
         tsl_type(types_of_case->a)->name, (long long)runs, (long long)products, (double)elements,
         (long long)unverified);
  fflush(stdout);
  free_operands(operands);
}

static void measure(const tsl_types *types_of_case, const bench_case *item) {
  const int64_t n = item->size[0];
  operand operands[3];
  tesela_plan *plans[2];
  make_product(types_of_case, item->size[0], item->size[1], item->size[2], operands);
  for (int i = 0; i < 2; i++) {
    desc.options.measure_error = verifies ? 0 : i;
    desc.options.verify = verifies && i ? mode : "none";
    bench_must(tesela_plan_create(context, &desc, &plans[i]), "planning");
  }
  bench_side sides[2] = {{.name = "product", .call = run, .state = plans[0], .calls = 1},
                         {.name = "measured", .call = run, .state = plans[1], .calls = 1}};
  bench_race(sides, 2, &(bench_turns){.rounds_min = 5, .rounds_max = 41, .seconds = 0.75, .is_paired = true});
  bench_must(tesela_plan_run(plans[1], &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, &record),
             "running");
  if (verifies)
    printf("%-5s %6lld %10.4f ms %10.4f ms  %+6.1f%%  %lld verified, hidden error %.2g (verified in %.3f ms) "
           " %.24s\n",
           tsl_type(types_of_case->a)->name, (long long)n, sides[0].median * 1e3, sides[1].median * 1e3,
           (sides[1].median / sides[0].median - 1) * 100, (long long)record.verified, record.hidden_error,
           record.seconds_verify * 1e3, record.plan);
  else
    printf(
        "%-5s %6lld %10.4f ms %10.4f ms  %+6.1f%%  %lld x %lld  seen %.2g of %.2g  (measured in %.3f ms)\n",
        tsl_type(types_of_case->a)->name, (long long)n, sides[0].median * 1e3, sides[1].median * 1e3,
        (sides[1].median / sides[0].median - 1) * 100, (long long)record.measured_rows,
        (long long)record.measured_cols, record.error_measured, record.error_bound,
        record.seconds_measure * 1e3);
  fflush(stdout);
  bench_sides_free(sides, 2);
  for (int i = 0; i < 2; i++)
    tesela_plan_destroy(plans[i]);
  free_operands(operands);
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_FLAG("host", in_host_memory),
                                         OPTION_FLAG("beta", reads_c),
                                         OPTION_FLAG("record", has_record),
                                         OPTION_FLAG("verify", verifies),
                                         OPTION_TEXT("strategy", strategy),
                                         OPTION_TEXT("mode", mode),
                                         OPTION_NUMBER("sweep", sweep_seconds),
                                         BENCH_DATA_OPTION,
                                         OPTIONS_END};
  tsl_types list[16];
  bench_read(argc, argv, "measured", options, bench_take_case_or_word);
  if (bench_cases.count == 0 || bench_word_count != 2)
    bench_stop("usage", "measured [--host] [--beta] [--record] [--verify] [--mode WORD] [--strategy TEXT] "
                        "[--sweep SECONDS] [--data KIND] DEVICE TYPES SIZE...");
  device = bench_words[0], types = bench_words[1];
  bench_must(tesela_context_create(NULL, &context), "starting");
  printf("%-5s %6s %13s %13s\n", "type", "size", "product", "measured");
  const int count = bench_types_parse(types, list, COUNT_OF(list));
  for (int t = 0; t < count; t++)
    for (int i = 0; i < bench_cases.count; i++)
      (sweep_seconds > 0 ? sweep : measure)(&list[t], &bench_cases.items[i]);
  tesela_context_destroy(context);
  return 0;
}

/* measured [--host] [--beta] [--record] [--verify] [--strategy TEXT] DEVICE TYPES SIZE...
 *
 * What does it cost to measure the error of a product (desc.options.measure_error)? --verify: to verify the
 * whole result (desc.options.verify)? Squares of each type ("f32,f64,bf16:f32") and size, in
 * device memory or with --host in host memory, with records or without. A plan that measures or verifies and
 * a plan that does not run in turn. Prints medians of both, by the wall clock, and the measured or the hidden
 * error. */
#include "cases.h"

static tesela_context *context;
static const char *device, *types, *strategy;
static bool in_host_memory, reads_c, has_record, verifies;

typedef struct operand {
  void *host;
  tesela_buffer *buffer;
} operand;

static operand make_operand(const tsl_shape *shape, uint64_t seed) {
  operand made = {.host = bench_matrix(shape, TSL_KIND_NORMAL, seed)};
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

static void measure(const tsl_types *types_of_case, int64_t n) {
  static const double some = 0.5, none = 0;
  const tesela_type types_of_operands[3] = {types_of_case->a, types_of_case->b, types_of_case->c};
  operand operands[3];
  tesela_plan *plans[2];
  for (int i = 0; i < 3; i++) {
    const tsl_shape square = {
        .type = types_of_operands[i], .rows = n, .cols = n, .row_stride = n, .col_stride = 1};
    operands[i] = make_operand(&square, (uint64_t)i + 1);
  }
  desc = (tesela_gemm_desc){
      .m = n,
      .n = n,
      .k = n,
      .a = {.data = operands[0].host, .buffer = operands[0].buffer, .type = types_of_operands[0]},
      .b = {.data = operands[1].host, .buffer = operands[1].buffer, .type = types_of_operands[1]},
      .c = {.data = operands[2].host, .buffer = operands[2].buffer, .type = types_of_operands[2]},
      .beta = reads_c ? &some : &none,
      .options.device = device,
      .options.strategy = strategy};
  for (int i = 0; i < 2; i++) {
    desc.options.measure_error = verifies ? 0 : i;
    desc.options.verify = verifies && i ? "all" : "none";
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
           tsl_type(types_of_operands[0])->name, (long long)n, sides[0].median * 1e3, sides[1].median * 1e3,
           (sides[1].median / sides[0].median - 1) * 100, (long long)record.verified, record.hidden_error,
           record.seconds_verify * 1e3, record.plan);
  else
    printf(
        "%-5s %6lld %10.4f ms %10.4f ms  %+6.1f%%  %lld x %lld  seen %.2g of %.2g  (measured in %.3f ms)\n",
        tsl_type(types_of_operands[0])->name, (long long)n, sides[0].median * 1e3, sides[1].median * 1e3,
        (sides[1].median / sides[0].median - 1) * 100, (long long)record.measured_rows,
        (long long)record.measured_cols, record.error_measured, record.error_bound,
        record.seconds_measure * 1e3);
  fflush(stdout);
  bench_sides_free(sides, 2);
  for (int i = 0; i < 2; i++)
    tesela_plan_destroy(plans[i]);
  for (int i = 0; i < 3; i++) {
    free(operands[i].host);
    if (operands[i].buffer)
      tesela_buffer_destroy(operands[i].buffer);
  }
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_FLAG("host", in_host_memory), OPTION_FLAG("beta", reads_c),
                                         OPTION_FLAG("record", has_record),   OPTION_FLAG("verify", verifies),
                                         OPTION_TEXT("strategy", strategy),   OPTIONS_END};
  tsl_types list[16];
  bench_read(argc, argv, "measured", options, bench_take_case_or_word);
  if (bench_cases.count == 0 || bench_word_count != 2)
    bench_stop("usage",
               "measured [--host] [--beta] [--record] [--verify] [--strategy TEXT] DEVICE TYPES SIZE...");
  device = bench_words[0], types = bench_words[1];
  bench_must(tesela_context_create(NULL, &context), "starting");
  printf("%-5s %6s %13s %13s\n", "type", "size", "product", "measured");
  const int count = bench_types_parse(types, list, COUNT_OF(list));
  for (int t = 0; t < count; t++)
    for (int i = 0; i < bench_cases.count; i++)
      measure(&list[t], bench_cases.items[i].size[0]);
  tesela_context_destroy(context);
  return 0;
}

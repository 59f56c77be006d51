/* tesela explore: measures strategies x devices x types x sizes. Only right results get a time. */
#include "cli/ranks.h"
#include "cli/tool.h"
#include "core/status.h"
#include "explore/command.h"
#include "explore/ranks.h"
#include "explore/reasons.h"
#include "explore/report.h"

typedef struct explore_options {
  tsl_explore_options shared;
  const char *op, *strategies;
  bool peers;
} explore_options;

static const tsl_option options[] = {
    TSL_OPTION(explore_options, op, "op", OP, NULL,
               "gemm, dot or transpose; the default is the strategies' operation, else gemm"),
    TSL_OPTION(explore_options, strategies, "strategies", STRATEGIES, NULL,
               "time these strategies, such as element,row (default: all); all: every strategy of the "
               "operation. A strategy may have parameters: \"tile_local tile=16\""),
    TSL_OPTION(explore_options, peers, "peers", FLAG, NULL,
               "time installed vendor libraries as well; they are OpenBLAS, CLBlast and cuBLAS, and with "
               "several processes ScaLAPACK"),
    TSL_EXPLORE_OPTIONS(explore_options, shared),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela explore", "the ladder on this machine"},
    {"tesela explore --sizes 1024,4096 --types f32 --devices opencl:0,cuda:0 --json > result.json",
     "two devices side by side, kept for tesela compare"},
    {"tesela explore --op dot --sizes 1000000,100000000 --types f32", "another operation, in GB/s"},
    {"tesela explore --strategies \"tile_local tile=8,tile_local tile=16\" --devices opencl:0",
     "two configs of a strategy (see tesela sweep)"},
    {"tesela explore --sizes 256,512,1024 --html report.html",
     "everything as a page, with curves and rooflines"},
    {"mpirun -n 4 tesela explore --peers --sizes 4096 --types f64",
     "the product of four processes compared with ScaLAPACK's"},
    {NULL, NULL},
};

/* The unit of the grade, which is the largest error. */
static const char *const grade_units[TSL_OP_COUNT] = {[TSL_OP_GEMM] = "u (|alpha||A||B| + |beta||C0|)",
                                                      [TSL_OP_DOT] = "u |x||y|",
                                                      [TSL_OP_SOLVE] = "u |A||X| of alpha B - A X"};

static void add_legend(const tsl_exploration *all, const tsl_form *form, tsl_text *out) {
  tsl_text text = {0};
  tsl_text_add(
      &text, "Compute time by the device's clock, operands on the device; every entry was verified first. ");
  if (grade_units[all->op])
    tsl_text_add(&text,
                 "grade: largest error in units of %s; of bound: largest error divided by the guaranteed "
                 "error. Both are of the worst device. ",
                 grade_units[all->op]);
  tsl_text_add(&text, "~: noisy. ");
  if (tsl_explore_lowest(all->op))
    tsl_text_add(&text, "The speed-up is over %s on the cpu. ", tsl_explore_lowest(all->op)->name);
  tsl_text_add(&text,
               "The partner is the strategy that a strategy improves; factor: measured, model: predicted. %s",
               tsl_reasons_rule);
  tsl_form_add_line(form, false, tsl_text_get(&text), out);
  tsl_text_free(&text);
}

static void explore_add_left_out(const tsl_exploration *all, const tsl_form *form, tsl_text *out) {
  tsl_text line = {0};
  tsl_explore_add_left_out(all, &line);
  if (line.length > 0) {
    tsl_form_add_line(form, false, tsl_text_get(&line), out);
    tsl_text_add(out, "\n");
  }
  tsl_text_free(&line);
}

static tesela_status explore_report(const tsl_exploration *all, tsl_devices *devices, const tsl_form *form,
                                    tsl_text *out) {
  tsl_explore_add_devices(all, devices, form, out);
  TSL_TRY(tsl_explore_add_tables(all, form, out));
  tsl_explore_add_reasons(all, form, out);
  explore_add_left_out(all, form, out);
  add_legend(all, form, out);
  tsl_explore_add_conditions(all, form, out);
  return TESELA_OK;
}

/* Sets the strategies and their common operation. */
static tesela_status select_strategies(const tsl_command_call *call, tsl_exploration *all) {
  const explore_options *given = call->options;
  const tsl_op named = given->op ? tsl_select_op(given->op) : TSL_OP_COUNT;
  all->op = named != TSL_OP_COUNT ? named : TSL_OP_GEMM;
  all->all_strategies = !given->strategies;
  if (!given->strategies)
    return tsl_select_strategies(all->op, NULL, given->peers, &all->strategies);
  TSL_TRY(tsl_select_strategies(named, given->strategies, false, &all->strategies));
  const tsl_strategy *first = all->strategies.items[0].strategy;
  all->op = first->op;
  for (int i = 1; i < all->strategies.count; i++) {
    const tsl_strategy *other = all->strategies.items[i].strategy;
    if (other->op != first->op)
      return tsl_fail(TESELA_BAD_CALL,
                      "--strategies: %s is a %s and %s a %s; explore one operation at a time", first->name,
                      tsl_op_name(first->op), other->name, tsl_op_name(other->op));
  }
  return given->peers ? tsl_select_strategies(all->op, given->strategies, true, &all->strategies) : TESELA_OK;
}

static tesela_status explore_run(const tsl_command_call *call) {
  static const tsl_explore_command command = {.select = select_strategies,
                                              .report = explore_report,
                                              .default_sizes = {[TSL_OP_GEMM] = "64,256,512",
                                                                [TSL_OP_DOT] = "65536,1048576,16777216",
                                                                [TSL_OP_TRANSPOSE] = "512,2048,4096",
                                                                [TSL_OP_SOLVE] = "64,256,1000"}};
  const explore_options *given = call->options;
  if (tsl_ranks_started())
    return tsl_explore_together(call, &given->shared, given->op, given->strategies, given->peers);
  return tsl_explore_command_run(call, &given->shared, &command);
}

const tsl_command tsl_command_explore = {
    .name = "explore",
    .what = "measure strategies x devices x types x sizes: GFLOP/s, speed-up over sequential, error",
    .arguments = "",
    .details = "Every entry is verified before it is timed. Without parameters, the strategy's own model "
               "chooses them for each size. Entries of one problem and device are timed in turn. Operands "
               "are standard normal numbers (A: --data) in device memory, and every run uses other operands, "
               "so that no operand is in a cache. A time is the median of samples, which are taken until the "
               "median is stable or --seconds have passed.\nProcesses that mpirun or srun started multiply "
               "together. With --peers the machine's ScaLAPACK multiplies the same matrices in turn.",
    .options = options,
    .examples = examples,
    .options_bytes = sizeof(explore_options),
    .together = true,
    .run = explore_run,
};

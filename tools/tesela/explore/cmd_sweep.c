/* tesela sweep: one strategy's parameters against its run time. */
#include "cli/tool.h"
#include "explore/command.h"
#include "explore/sweep.h"

typedef struct sweep_options {
  tsl_explore_options shared;
} sweep_options;

static const tsl_option options[] = {
    TSL_EXPLORE_OPTIONS(sweep_options, shared),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela sweep \"gemm tile_local\" tile=8,16,32", "one parameter: a table and a curve for each device"},
    {"tesela sweep \"dot block_tree\" group=32,64,128,256,512,1024 --sizes 100000000 --types f32", "a dot"},
    {"tesela sweep \"tile_local\" tile=8,16,32 --sizes 512,1024 --devices opencl:0 --json > tiles.json",
     "two sizes, kept for tesela compare"},
    {"tesela sweep tile_local tile=8,16,32 --html tiles.html", "as a page with its curve"},
    {NULL, NULL},
};

static tesela_status read_words(const tsl_command_call *call, tsl_exploration *all) {
  return tsl_sweep_read(call->words, call->word_count, all);
}

static tesela_status sweep_run(const tsl_command_call *call) {
  static const tsl_explore_command command = {.select = read_words,
                                              .report = tsl_sweep_report,
                                              .default_sizes = {[TSL_OP_GEMM] = "512",
                                                                [TSL_OP_DOT] = "16777216",
                                                                [TSL_OP_TRANSPOSE] = "4096",
                                                                [TSL_OP_SOLVE] = "512"}};
  const sweep_options *given = call->options;
  return tsl_explore_command_run(call, &given->shared, &command);
}

const tsl_command tsl_command_sweep = {
    .name = "sweep",
    .what = "measure how a strategy's run time depends on its parameters: a table and a curve",
    .arguments = "STRATEGY PARAMETER=V1,V2,... [PARAMETER=...]",
    .details = "Every value is verified and timed as in tesela explore, all values in turn. Several "
               "parameters make all combinations. Other parameters keep their defaults, or the values in "
               "STRATEGY (\"tile_local tile=16\"). A value that the strategy or the device refuses is a row "
               "with the reason. tesela strategies lists the parameters.",
    .options = options,
    .examples = examples,
    .words_min = 2,
    .words_max = 16,
    .options_bytes = sizeof(sweep_options),
    .run = sweep_run,
};

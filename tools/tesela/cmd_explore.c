/* tesela explore: strategies x devices x types x sizes, measured; what is not right has no time. */
#include "base/status.h"
#include "explore_report.h"
#include "progress.h"
#include "tool.h"

typedef struct explore_options {
  tsl_explore_options shared;
  const char *strategies;
  bool peers;
} explore_options;

static const tsl_option options[] = {
    TSL_OPTION(explore_options, shared.sizes, "sizes", SIZES, "64,256,512",
               "squares, or M x N x K: 512,1000x300x700"),
    TSL_OPTION(explore_options, shared.types, "types", TYPES, "f32,f64", "types of the elements"),
    TSL_OPTION(explore_options, shared.devices, "devices", DEVICES, NULL,
               "these devices, such as cpu,opencl:0, or all (default: TESELA_DEVICE, else all)"),
    TSL_OPTION(explore_options, strategies, "strategies", STRATEGIES, NULL,
               "these strategies, such as element,\"tile_local tile=16\" (default: all)"),
    TSL_OPTION(explore_options, peers, "peers", FLAG, NULL,
               "vendors' libraries as well, where they are installed: OpenBLAS, CLBlast, cuBLAS"),
    TSL_EXPLORE_OPTIONS(explore_options, shared),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela explore", "the ladder on this machine"},
    {"tesela explore --sizes 1024,4096 --types f32 --devices opencl:0,cuda:0 --json > result.json",
     "two devices side by side, kept for tesela compare"},
    {"tesela explore --strategies \"tile_local tile=8,tile_local tile=16\" --devices opencl:0",
     "two configs of a strategy (see tesela sweep)"},
    {NULL, NULL},
};

static const char legend[] =
    "Compute time by the device's clock, operands on the device; every entry was verified first. grade: the "
    "largest error in u (|alpha||A||B| + |beta||C0|), of bound: over what the strategy guarantees, both the "
    "worst over the devices. ~: noisy. The speed-up is over sequential on the cpu.";

static tesela_status print_tables(const tsl_exploration *all, tsl_devices *devices, bool markdown) {
  const tsl_form form = tsl_form_for(markdown);
  tsl_text out = {0};
  tsl_explore_add_devices(all, devices, &form, &out);
  tsl_explore_add_tables(all, &form, &out);
  tsl_explore_add_reasons(all, &form, &out);
  tsl_form_add_line(&form, false, legend, &out);
  tsl_explore_add_conditions(all, &form, &out);
  return tsl_print(&out);
}

static tesela_status run(const tsl_call *call) {
  const explore_options *given = call->options;
  const tsl_explore_options *shared = &given->shared;
  tsl_exploration all = {.op = TSL_OP_GEMM};
  tsl_devices *devices = NULL;
  tesela_status status = TESELA_OK;
  TSL_GO(tsl_set_threads(shared->threads));
  TSL_GO(tsl_select_strategies(all.op, given->strategies, given->peers, &all.strategies));
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(tsl_explore_prepare(shared, devices, &all));
  tsl_progress *progress = tsl_progress_start();
  status = tsl_explore_run(&all, devices, progress);
  tsl_progress_end(progress);
  TSL_GO(status);
  TSL_GO(shared->json  ? tsl_print_json(call, tsl_explore_json(&all, devices))
         : shared->csv ? tsl_explore_print_csv(&all)
                       : print_tables(&all, devices, shared->markdown));
  status = tsl_explore_conclude(&all);
out:
  tsl_explore_free(&all);
  tsl_devices_destroy(devices);
  return status;
}

const tsl_command tsl_command_explore = {
    .name = "explore",
    .what = "measure strategies x devices x types x sizes: GFLOP/s, speed-up over sequential, error",
    .arguments = "",
    .details = "Every entry is verified before its time counts. Where no parameters are given, the "
               "strategy's own model chooses them for each size. Entries of one problem and device are timed "
               "by turns, on standard normal operands that lie on the device and change with every run, so "
               "that none is found in a cache; a time is the median of samples, which are taken until it "
               "stands still or --seconds are over.",
    .options = options,
    .examples = examples,
    .options_bytes = sizeof(explore_options),
    .run = run,
};

/* tesela sweep: one strategy's parameters against its run time. */
#include "base/status.h"
#include "explore_options.h"
#include "explore_report.h"
#include "page/page.h"
#include "progress.h"
#include "sweep.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

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
    {"tesela sweep tile_local tile=8,16,32 --html tiles.html", "the same as a page with its curve"},
    {NULL, NULL},
};

static const char *const default_sizes[TSL_OP_COUNT] = {
    [TSL_OP_GEMM] = "512", [TSL_OP_DOT] = "16777216", [TSL_OP_TRANSPOSE] = "4096"};

static tesela_status run(const tsl_call *call) {
  const sweep_options *given = call->options;
  const tsl_explore_options *shared = &given->shared;
  tsl_exploration all = {.point_count = 0};
  tsl_devices *devices = NULL;
  tsl_page_file page = {.roofs = {.count = 0}};
  tesela_status status = TESELA_OK;
  TSL_GO(tsl_set_threads(shared->threads));
  TSL_GO(tsl_sweep_read(call->words, call->word_count, &all));
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(tsl_explore_prepare(shared, default_sizes[all.op], devices, &all));
  TSL_GO(tsl_page_begin(shared->html, &all, &page));
  tsl_progress *progress = tsl_progress_start();
  status = tsl_explore_run(&all, devices, progress);
  tsl_progress_end(progress);
  TSL_GO(status);
  TSL_GO(tsl_page_measure(&all, &page));
  TSL_GO(shared->json  ? tsl_print_json(call, tsl_explore_json(&all, devices, &page.roofs))
         : shared->csv ? tsl_explore_print_csv(&all)
                       : tsl_sweep_print(&all, devices, shared->markdown));
  status = tsl_page_end(call, &all, devices, &page);
out:
  tsl_page_close(&page);
  tsl_explore_free(&all);
  tsl_devices_destroy(devices);
  return status;
}

const tsl_command tsl_command_sweep = {
    .name = "sweep",
    .what = "measure how a strategy's run time depends on its parameters: a table and a curve",
    .arguments = "STRATEGY PARAMETER=V1,V2,... [PARAMETER=...]",
    .details =
        "Every value is verified and timed as tesela explore does it, all values by turns; several "
        "parameters "
        "make all combinations. Parameters that are not named keep their defaults, or what STRATEGY says "
        "(\"tile_local tile=16\"). A value that the strategy or the device refuses is a row with the reason. "
        "tesela strategies lists the parameters.",
    .options = options,
    .examples = examples,
    .words_min = 2,
    .words_max = 16,
    .options_bytes = sizeof(sweep_options),
    .run = run,
};

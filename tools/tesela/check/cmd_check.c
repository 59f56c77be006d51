/* tesela check: every strategy on every device, judged. */
#include "check/checking.h"
#include "check/soak.h"
#include "cli/tool.h"
#include "core/status.h"
#include "inventory/select.h"

static const tsl_option options[] = {
    TSL_OPTION(tsl_check_options, strategies, "strategy", STRATEGIES, NULL,
               "check these strategies, such as element,\"tile_local tile=16\" (default: all)"),
    TSL_OPTION(tsl_check_options, peers, "peers", FLAG, NULL,
               "check installed vendor libraries as well; they are OpenBLAS, CLBlast and cuBLAS"),
    TSL_OPTION(tsl_check_options, devices, "device", DEVICES, NULL,
               "check these devices, such as cpu,opencl:0 (default: all)"),
    TSL_OPTION(tsl_check_options, types, "type", TYPES, NULL,
               "check these types of A, such as f32,f64 (default: all); bf16:f32 or u8:i8:i32 names all "
               "three types"),
    TSL_OPTION(tsl_check_options, seed, "seed", SEED, "1", "seed of the random cases"),
    TSL_OPTION(tsl_check_options, cases, "cases", COUNT, NULL,
               "number of random cases; the default is as many as 20 seconds permit"),
    TSL_OPTION(tsl_check_options, budget, "budget", SECONDS, NULL,
               "start no case and no compilation after this time"),
    TSL_OPTION(tsl_check_options, soak, "soak", SECONDS, NULL,
               "burn-in: compute large products for this time and verify each whole result by checksums; "
               "a fault is printed with the device's clock and temperature"),
    TSL_OPTION(tsl_check_options, only, "case", TEXT, NULL,
               "check one case, as a report names it, such as standard:17 or random:3"),
    TSL_OPTION(tsl_check_options, threads, "threads", COUNT, NULL, "limit the number of host threads"),
    TSL_OPTION_JSON(tsl_check_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela check", "everything: the standard cases, then random ones for 20 seconds"},
    {"tesela check --device opencl:0 --budget 2min --seed 7", "one device, other random cases, for longer"},
    {"tesela check --strategy \"tile_local tile=16\" --type f32 --case standard:17", "one case again"},
    {"tesela check --device cpu --soak 10min", "burn-in of a machine"},
    {NULL, NULL},
};

static tesela_status check_conclude(const tsl_checking *job) {
  const tsl_check_pair sum = tsl_check_list_sum(&job->list);
  if (sum.wrong > 0)
    return tsl_fail(TESELA_WRONG_RESULT, "%lld results are wrong; the report says how to see them again",
                    (long long)sum.wrong);
  if (sum.failed > 0)
    return tsl_fail(TESELA_DEVICE_FAILED, "%lld cases failed; the first: %s", (long long)sum.failed,
                    job->list.faults[0].why);
  if (sum.computed == 0 && job->list.over)
    return tsl_fail(TESELA_UNSUPPORTED,
                    "nothing was checked: the budget is too short for the first compilation");
  if (sum.right == 0)
    return tsl_fail(TESELA_UNSUPPORTED, "nothing was checked: no strategy takes these devices and types%s",
                    job->given->budget > 0 ? ", or the budget is too short" : "");
  return TESELA_OK;
}

static tesela_status check_run(const tsl_command_call *call) {
  const tsl_check_options *given = call->options;
  tsl_checking job = {.given = given};
  tsl_devices *devices = NULL;
  tsl_strategy_list strategies;
  tesela_status status = TESELA_OK;
  TSL_GO(tsl_set_threads(given->threads));
  if (given->soak > 0) {
    TSL_GO(tsl_devices_create(&devices));
    TSL_GO(tsl_select_devices(devices, given->devices, &job.list.devices));
    status = tsl_soak_run(call, given, &job.list.devices);
    goto out;
  }
  TSL_GO(tsl_select_strategies(TSL_OP_COUNT, given->strategies, given->peers, &strategies));
  TSL_GO(tsl_checking_choose(&job, &strategies));
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(tsl_select_devices(devices, given->devices, &job.list.devices));
  TSL_GO(tsl_check_list_start(&job.list, &strategies));
  job.progress = tsl_progress_start(true);
  status = tsl_checking_run(&job);
  tsl_progress_end(job.progress);
  TSL_GO(status);
  TSL_GO(given->json ? tsl_checking_json(call, &job) : tsl_checking_text(&job));
  status = check_conclude(&job);
out:
  tsl_check_list_free(&job.list);
  tsl_devices_destroy(devices);
  return status;
}

const tsl_command tsl_command_check = {
    .name = "check",
    .what = "verify every strategy on every device over standard and random problems",
    .arguments = "",
    .details =
        "Each case runs between guard bands, with NaN where C must not be read. Each element is compared "
        "with a sum in higher precision. grade: the largest error in units of u (|alpha||A||B| + "
        "|beta||C0|); of bound: the largest error divided by the guaranteed error. A wrong result is printed "
        "with the command that repeats it. The report can be pasted into a bug report.",
    .options = options,
    .examples = examples,
    .options_bytes = sizeof(tsl_check_options),
    .run = check_run,
};

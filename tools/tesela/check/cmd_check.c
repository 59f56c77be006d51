/* tesela check: every strategy on every device, judged. */
#include "check/checking.h"
#include "cli/interrupt.h"
#include "cli/report.h"
#include "cli/tool.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/status.h"
#include "device/device_clock.h"
#include "inventory/select.h"

#include <math.h>
#include <string.h>

/* A burn-in of devices: products whose whole results are verified, until the time is over. */
/* Edges of the square products: the first one, and the largest one, which doubling reaches while a product
 * takes less than ENOUGH seconds. */
enum { EDGE_MIN = 256, EDGE_MAX = 8192, FAULTS_SHOWN = 20 };
static const double enough = 0.05;

static const tesela_type soaked[] = {TESELA_F64, TESELA_F32, TESELA_BF16, TESELA_I8};
enum { TYPES = sizeof soaked / sizeof *soaked };

/* Products of one type on one device. */
typedef struct soak_lane {
  const tsl_device *device;
  tesela_type type;
  int64_t edge, runs, wrong, verified;
  double hidden, seconds, flops;
  bool is_refused; /* no product of this type is verified on this device */
} soak_lane;

/* A wrong result, and the state of its device just afterwards. */
typedef struct soak_fault {
  const soak_lane *lane;
  double after; /* seconds since the start */
  char why[384], clock[96], temperature[96];
} soak_fault;

typedef struct soak {
  tesela_context *context;
  soak_lane *lanes;
  int lane_count, fault_count;
  int64_t faults_all;
  soak_fault faults[FAULTS_SHOWN];
  double start, end;
  uint64_t seed;
} soak;

static void note_fault(soak *all, const soak_lane *lane) {
  char why[96];
  if (all->faults_all++ >= FAULTS_SHOWN)
    return;
  soak_fault *fault = &all->faults[all->fault_count++];
  *fault = (soak_fault){.lane = lane, .after = tsl_clock() - all->start};
  snprintf(fault->why, sizeof fault->why, "%s", tesela_last_error());
  const int mhz = tsl_device_clock_now(lane->device, why, sizeof why);
  snprintf(fault->clock, sizeof fault->clock, mhz ? "%d MHz" : "clock unknown: %.0d%s", mhz, why);
  const int celsius = tsl_device_temperature_now(lane->device, why, sizeof why);
  snprintf(fault->temperature, sizeof fault->temperature,
           celsius ? "%d degrees Celsius" : "temperature unknown: %.0d%s", celsius, why);
}

/* Operands of a product: host memory, and on devices other than the cpu buffers with copies. */
typedef struct soak_operands {
  void *host[3];
  tesela_buffer *buffer[3];
} soak_operands;

static void free_operands(soak_operands *operands) {
  for (int i = 0; i < 3; i++) {
    tsl_free(operands->host[i]);
    if (operands->buffer[i])
      tesela_buffer_destroy(operands->buffer[i]);
  }
}

/* Returns true for a device that computes in host memory. */
static bool is_host(const soak_lane *lane) {
  return (lane->device->capabilities & TSL_CAN_HOST) != 0;
}

/* Makes new random operands. */
static tesela_status make_operands(soak *all, const soak_lane *lane, soak_operands *operands) {
  const size_t count = (size_t)(lane->edge * lane->edge);
  for (int i = 0; i < 3; i++) {
    const tesela_type type = i == 2 ? tsl_type_of_products(lane->type) : lane->type;
    const size_t bytes = count * tsl_type(type)->size;
    TSL_TRY(tsl_alloc(bytes, "a product of the burn-in", &operands->host[i]));
    if (i < 2)
      tsl_random_fill(TSL_DRAW_NORMAL, all->seed++, 0, type, operands->host[i], count);
    if (is_host(lane))
      continue;
    TSL_TRY(tesela_buffer_create(all->context, lane->device->name, bytes, &operands->buffer[i]));
    if (i < 2)
      TSL_TRY(tesela_buffer_write(operands->buffer[i], 0, operands->host[i], bytes));
  }
  return TESELA_OK;
}

/* Computes one product with new operands several times. A refusal ends the lane. */
static tesela_status soak_product(soak *all, soak_lane *lane, const soak_operands *operands) {
  enum { REPEATS = 4 };
  const bool on_cpu = is_host(lane);
  tesela_gemm_desc desc = {.m = lane->edge,
                           .n = lane->edge,
                           .k = lane->edge,
                           .a = {.type = lane->type},
                           .b = {.type = lane->type},
                           .options = {.device = lane->device->name, .verify = "memory"}};
  desc.a.data = on_cpu ? operands->host[0] : NULL;
  desc.b.data = on_cpu ? operands->host[1] : NULL;
  desc.c.data = on_cpu ? operands->host[2] : NULL;
  desc.a.buffer = operands->buffer[0];
  desc.b.buffer = operands->buffer[1];
  desc.c.buffer = operands->buffer[2];
  for (int i = 0; i < REPEATS && tsl_clock() < all->end && !tsl_interrupted(); i++) {
    tesela_record record;
    const tesela_status status = tesela_gemm(all->context, &desc, &record);
    if (status == TESELA_UNSUPPORTED) {
      lane->is_refused = true;
      return TESELA_OK;
    }
    if (status == TESELA_WRONG_RESULT)
      note_fault(all, lane);
    else
      TSL_TRY(status);
    lane->runs++;
    lane->wrong += status == TESELA_WRONG_RESULT;
    lane->verified += record.verified;
    lane->hidden = fmax(lane->hidden, record.hidden_error);
    lane->seconds += record.seconds + record.seconds_verify;
    lane->flops += 2 * pow((double)lane->edge, 3);
    if (record.seconds < enough && lane->edge < EDGE_MAX && i == REPEATS - 1)
      lane->edge *= 2;
  }
  return TESELA_OK;
}

static tesela_status soak_lane_once(soak *all, soak_lane *lane) {
  soak_operands operands = {{NULL}, {NULL}};
  tesela_status status = make_operands(all, lane, &operands);
  if (status == TESELA_OK)
    status = soak_product(all, lane, &operands);
  free_operands(&operands);
  return status;
}

/* --- report --- */

static void add_lanes(const soak *all, tsl_text *out) {
  tsl_table table = {0};
  char rate[32];
  TSL_TABLE_COLUMNS(&table, "device", "type", ">edge", ">products", ">wrong", ">hidden error", ">rate");
  for (int i = 0; i < all->lane_count; i++) {
    const soak_lane *lane = &all->lanes[i];
    if (lane->runs == 0)
      continue;
    tsl_table_add(&table, "%s", lane->device->name);
    tsl_table_add(&table, "%s", tsl_type(lane->type)->name);
    tsl_table_add(&table, "%lld", (long long)lane->edge);
    tsl_table_add(&table, "%lld", (long long)lane->runs);
    tsl_table_add_painted(&table, lane->wrong ? TSL_PAINT_BAD : TSL_PAINT_GOOD, "%lld",
                          (long long)lane->wrong);
    tsl_table_add(&table, "%.2g", lane->hidden);
    tsl_table_add(&table, "%s", tsl_format_flops(lane->flops / lane->seconds, rate, sizeof rate));
  }
  tsl_table_text(&table, 0, tsl_output_width(), tsl_output_colour(), out);
  out->failed |= table.failed;
  tsl_table_free(&table);
}

static tesela_status soak_text(const soak *all) {
  char time[32];
  tsl_text out = {0};
  add_lanes(all, &out);
  for (int i = 0; i < all->fault_count; i++) {
    const soak_fault *fault = &all->faults[i];
    tsl_text_add(&out, "\nWRONG after %s: %s on %s (%s); %s; %s\n  %s\n",
                 tsl_format_seconds(fault->after, time, sizeof time), tsl_type(fault->lane->type)->name,
                 fault->lane->device->name, fault->lane->device->label, fault->clock, fault->temperature,
                 fault->why);
  }
  tsl_text_add(&out, "\n%lld wrong results in %s\n", (long long)all->faults_all,
               tsl_format_seconds(tsl_clock() - all->start, time, sizeof time));
  return tsl_print(&out);
}

static tesela_status soak_json(const tsl_command_call *call, const soak *all) {
  json_t *lanes = json_array(), *faults = json_array();
  for (int i = 0; i < all->lane_count; i++) {
    const soak_lane *lane = &all->lanes[i];
    json_array_append_new(
        lanes,
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "device", lane->device->name, "type",
                  tsl_type(lane->type)->name, "edge", (json_int_t)lane->edge, "products",
                  (json_int_t)lane->runs, "wrong", (json_int_t)lane->wrong, "verified",
                  (json_int_t)lane->verified, "hidden_error", tsl_json_real(lane->hidden), "flops_per_second",
                  lane->seconds > 0 ? tsl_json_real(lane->flops / lane->seconds) : json_null()));
  }
  for (int i = 0; i < all->fault_count; i++) {
    const soak_fault *fault = &all->faults[i];
    json_array_append_new(
        faults, json_pack("{s:s, s:s, s:o, s:s, s:s, s:s}", "device", fault->lane->device->name, "type",
                          tsl_type(fault->lane->type)->name, "seconds", tsl_json_real(fault->after), "clock",
                          fault->clock, "temperature", fault->temperature, "why", fault->why));
  }
  return tsl_print_json(call, json_pack("{s:o, s:o, s:I, s:o}", "products", lanes, "faults", faults, "wrong",
                                        (json_int_t)all->faults_all, "seconds",
                                        tsl_json_real(tsl_clock() - all->start)));
}

/* --- --- */

/* Returns true if the user named no types, or this one. */
static bool is_soaked(const char *types, tesela_type type) {
  bool is_named = !types;
  while (types && !is_named) {
    const size_t length = strcspn(types, ",");
    is_named = length == strlen(tsl_type(type)->name) && strncmp(types, tsl_type(type)->name, length) == 0;
    types = types[length] ? types + length + 1 : NULL;
  }
  return is_named;
}

static tesela_status make_lanes(soak *all, const char *types, const tsl_device_list *devices) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed((size_t)(devices->count * TYPES) * sizeof *all->lanes, "a burn-in", &block));
  all->lanes = block;
  for (int i = 0; i < devices->count; i++)
    for (int type = 0; type < TYPES; type++)
      if (is_soaked(types, soaked[type]))
        all->lanes[all->lane_count++] =
            (soak_lane){.device = devices->items[i], .type = soaked[type], .edge = EDGE_MIN};
  return all->lane_count > 0
             ? TESELA_OK
             : tsl_fail(TESELA_BAD_CALL, "--soak computes f64, f32, bf16 and i8, not %s", types);
}

/* Computes on each device and type in turn until the time is over; false: nothing can be computed. */
static tesela_status run_lanes(soak *all, tsl_progress *progress, bool *any) {
  for (*any = true; *any && tsl_clock() < all->end && !tsl_interrupted();) {
    *any = false;
    for (int i = 0; i < all->lane_count && tsl_clock() < all->end && !tsl_interrupted(); i++) {
      soak_lane *lane = &all->lanes[i];
      if (lane->is_refused)
        continue;
      tsl_progress_at(progress, lane->device->name, (tsl_clock() - all->start) / (all->end - all->start));
      TSL_TRY(soak_lane_once(all, lane));
      *any = *any || !lane->is_refused;
    }
  }
  return TESELA_OK;
}

/* Computes and verifies products on each device in turn for options->soak seconds, and prints a report.
 * Returns TESELA_WRONG_RESULT if a result was wrong, after the time is over. */
static tesela_status soak_run(const tsl_command_call *call, const tsl_check_options *options,
                              const tsl_device_list *devices) {
  soak all = {.start = tsl_clock(), .seed = (uint64_t)options->seed << 32};
  tesela_status status = TESELA_OK;
  bool any = true;
  all.end = all.start + options->soak;
  tsl_progress *progress = NULL;
  TSL_GO(make_lanes(&all, options->types, devices));
  TSL_GO(tesela_context_create(NULL, &all.context));
  progress = tsl_progress_start(true);
  status = run_lanes(&all, progress, &any);
  tsl_progress_end(progress);
  TSL_GO(status);
  TSL_GO(options->json ? soak_json(call, &all) : soak_text(&all));
  if (all.faults_all > 0)
    status = tsl_fail(TESELA_WRONG_RESULT, "%lld results are wrong; the report has the devices",
                      (long long)all.faults_all);
  else if (!any)
    status =
        tsl_fail(TESELA_UNSUPPORTED, "nothing was checked: these devices have no products with checksums");
out:
  tesela_context_destroy(all.context);
  tsl_free(all.lanes);
  return status;
}

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
    status = soak_run(call, given, &job.list.devices);
    goto out;
  }
  TSL_GO(tsl_numeric_requirements_parse_accuracy(tsl_env_get(TSL_ENV_ACCURACY), &job.ask));
  TSL_GO(tsl_numeric_requirements_parse_bits(tsl_env_get(TSL_ENV_BITS), &job.ask));
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
        "|beta||C0|); of bound: the largest error divided by the guaranteed error. TESELA_ACCURACY and "
        "TESELA_BITS apply to all cases. A wrong result is printed with the command that repeats it. The "
        "report can be pasted into a bug report.",
    .options = options,
    .examples = examples,
    .options_bytes = sizeof(tsl_check_options),
    .run = check_run,
};

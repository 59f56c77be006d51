/* tesela explain: what would run, what that needs, and why not something else. */
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/counted.h"
#include "cli/report.h"
#include "cli/select.h"
#include "cli/terms.h"
#include "cli/tool.h"
#include "explain/crossover.h"
#include "explain/trace.h"
#include "tune/link.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct explain_options {
  tesela_type type;
  const char *device, *strategy;
  bool transpose_a, transpose_b, resident, trace, json;
  tsl_number alpha, beta;
} explain_options;

static const tsl_option options[] = {
    TSL_OPTION(explain_options, type, "type", TYPE, "f32", "type of the elements"),
    TSL_OPTION(explain_options, device, "device", DEVICE, NULL,
               "only this device (default: TESELA_DEVICE, else all)"),
    TSL_OPTION(explain_options, strategy, "strategy", STRATEGY, NULL, "only this strategy"),
    TSL_OPTION(explain_options, transpose_a, "transpose-a", FLAG, NULL, "A is stored transposed"),
    TSL_OPTION(explain_options, transpose_b, "transpose-b", FLAG, NULL, "B is stored transposed"),
    TSL_OPTION(explain_options, alpha, "alpha", NUMBER, "1", "the factor of A B"),
    TSL_OPTION(explain_options, beta, "beta", NUMBER, "0", "the factor of C0"),
    TSL_OPTION(explain_options, resident, "resident", FLAG, NULL,
               "the operands are in the device's memory already, so that nothing is copied"),
    TSL_OPTION(explain_options, trace, "trace", FLAG, NULL,
               "draw who loads what at which step, for --strategy and at most 16 x 16 x 16"),
    TSL_OPTION_JSON(explain_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela explain 1000 300 700", "for C (1000 x 300) = A (1000 x 700) B (700 x 300)"},
    {"tesela explain 4096 4096 4096 --type f64 --device cuda", "for one device only"},
    {"tesela explain 8 8 8 --strategy \"tile_local tile=4\" --trace", "a tile, step by step"},
    {NULL, NULL},
};

/* What there is to tell. */
typedef struct explanation {
  tsl_problem problem;
  tsl_candidate *candidates;
  tsl_counted *counted; /* of those that can run, in their order */
  int count, able;
  tsl_plan *plan; /* NULL when nothing can run; then `failure` says why */
  tsl_text failure;
  uint64_t host_bytes, host_available;
  bool resident;
  tsl_devices *devices;
  tsl_crossover crossover; /* no parts where there is no choice of devices */
  tsl_candidate once;      /* what would run where starting counts; no strategy where that is not asked */
  double plan_seconds;     /* that making the plan took: device, compilers, self-test */
} explanation;

static tesela_status read_problem(const tsl_call *call, tsl_problem *problem) {
  const explain_options *given = call->options;
  int64_t sizes[3];
  for (int i = 0; i < 3; i++)
    if (!tsl_parse_i64(call->words[i], &sizes[i]) || sizes[i] < 0)
      return tsl_fail(TESELA_BAD_CALL, "%s: \"%s\" is not a size, a whole number from 0 up",
                      (const char *[]){"M", "N", "K"}[i], call->words[i]);
  *problem = tsl_problem_gemm(sizes[0], sizes[1], sizes[2], given->type);
  if (given->transpose_a) {
    problem->a.row_stride = 1;
    problem->a.col_stride = problem->m;
  }
  if (given->transpose_b) {
    problem->b.row_stride = 1;
    problem->b.col_stride = problem->k;
  }
  problem->alpha[0] = given->alpha.value;
  problem->beta[0] = given->beta.value;
  tsl_problem_round(problem);
  TSL_TRY(tsl_terms_check_type(TSL_OP_GEMM, given->type));
  return tsl_problem_check(problem);
}

static uint64_t operand_bytes(const tsl_problem *problem) {
  const tsl_shape *shapes[] = {&problem->a, &problem->b, &problem->c};
  uint64_t bytes = 0;
  for (int i = 0; i < 3; i++)
    bytes += (uint64_t)tsl_shape_extent(shapes[i]) * tsl_type(shapes[i]->type)->size;
  return bytes;
}

static uint64_t row_bytes(const tsl_shape *shape) {
  return (uint64_t)shape->cols * tsl_type(shape->type)->size;
}

/* What tesela multiply makes of these sizes in the memory that it allows itself: it holds B whole. */
static const char *memory_words(const explanation *found) {
  const tsl_problem *problem = &found->problem;
  const uint64_t allowed = found->host_available / 5 * 4;
  const uint64_t held = (uint64_t)tsl_shape_extent(&problem->b) * tsl_type(problem->b.type)->size;
  if (found->host_bytes <= allowed)
    return "";
  return held + row_bytes(&problem->a) + row_bytes(&problem->c) <= allowed
             ? ": tesela multiply goes by panels of rows"
             : ": B alone is too large, and panels of rows do not help, because each takes all of B";
}

static const tsl_candidate *chosen(const explanation *found) {
  for (int i = 0; found->plan && i < found->count; i++)
    if (found->candidates[i].strategy == found->plan->work.strategy &&
        found->candidates[i].device == found->plan->work.device)
      return &found->candidates[i];
  return NULL;
}

static void candidate_table(const explanation *found, tsl_table *table) {
  char time[32], rate[32];
  const double flops = tsl_problem_flops(&found->problem);
  tsl_table_column(table, "could run", TSL_ALIGN_LEFT, true);
  tsl_table_column(table, "device", TSL_ALIGN_LEFT, false);
  tsl_table_column(table, "time", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "+-", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "by", TSL_ALIGN_LEFT, false);
  tsl_table_column(table, "", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "", TSL_ALIGN_LEFT, false);
  for (int i = 0; i < found->count; i++) {
    const tsl_candidate *candidate = &found->candidates[i];
    if (candidate->refusal[0])
      continue;
    const tsl_paint paint = candidate == chosen(found) ? TSL_PAINT_GOOD : TSL_PAINT_NONE;
    const char *peer = tsl_strategy_peer(candidate->strategy, candidate->device);
    tsl_text name = {0};
    tsl_config_print(candidate->strategy, &candidate->config, &name);
    tsl_table_add_painted(table, paint, "%s%s%s%s", tsl_text_get(&name), *peer ? " (" : "", peer,
                          *peer ? ")" : "");
    tsl_table_add_painted(table, paint, "%s", candidate->device->name);
    tsl_table_add_painted(table, paint, "%s", tsl_format_seconds(candidate->seconds, time, sizeof time));
    tsl_table_add_painted(table, paint, "%.0f%%", 100 * expm1(candidate->doubt));
    tsl_table_add_painted(table, paint, "%s", tsl_basis_name(candidate->basis));
    tsl_table_add_painted(table, paint, "%s",
                          tsl_format_flops(flops / candidate->seconds, rate, sizeof rate));
    tsl_table_add_painted(table, paint, "%s", candidate == chosen(found) ? "chosen" : "");
    tsl_text_free(&name);
  }
}

/* Name and device, and whether they are those of the chosen one. */
static tsl_paint begin_row(const explanation *found, int index, tsl_table *table) {
  const tsl_paint paint = &found->candidates[index] == chosen(found) ? TSL_PAINT_GOOD : TSL_PAINT_NONE;
  tsl_table_add_painted(table, paint, "%s", found->counted[index].strategy->name);
  tsl_table_add_painted(table, paint, "%s", found->counted[index].device->name);
  return paint;
}

static void traffic_table(const explanation *found, tsl_table *table) {
  static const char *const titles[] = {"what it moves", "device", "global", "local", "memory", "op/byte"};
  char text[32];
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    tsl_table_column(table, titles[i], i < 2 ? TSL_ALIGN_LEFT : TSL_ALIGN_RIGHT, i == 0);
  for (int i = 0; i < found->able; i++) {
    const tsl_account *account = &found->counted[i].account;
    const double bytes[] = {account->global.read + account->global.written,
                            account->local.read + account->local.written, account->memory};
    if (!found->counted[i].told)
      continue;
    const tsl_paint paint = begin_row(found, i, table);
    for (int level = 0; level < 3; level++)
      tsl_table_add_painted(table, paint, "%s", tsl_format_bytes((uint64_t)bytes[level], text, sizeof text));
    tsl_table_add_painted(table, paint, "%.3g", tsl_account_intensity(&found->problem, account));
  }
}

static void sharing_table(const explanation *found, tsl_table *table) {
  static const char *const titles[] = {"how it is shared out", "device", "groups", "wasted", "bound by"};
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    tsl_table_column(table, titles[i], i == 3 ? TSL_ALIGN_RIGHT : TSL_ALIGN_LEFT, i == 0 || i == 2);
  for (int i = 0; i < found->able; i++) {
    const tsl_counted *one = &found->counted[i];
    tsl_text groups = {0};
    if (!one->told)
      continue;
    const tsl_paint paint = begin_row(found, i, table);
    tsl_counted_groups(one, &groups);
    tsl_table_add_painted(table, paint, "%s", tsl_text_get(&groups));
    if (one->account.items > 0)
      tsl_table_add_painted(table, paint, "%.2g%%", 100 * one->account.wasted / one->account.items);
    else
      tsl_table_add_painted(table, paint, "-");
    tsl_table_add_painted(table, paint, "%s", tsl_bound_name(one->bounds.first));
    table->failed |= groups.failed;
    tsl_text_free(&groups);
  }
}

static void reason_table(const explanation *found, tsl_table *table) {
  tsl_table_column(table, "why", TSL_ALIGN_LEFT, true);
  tsl_table_column(table, "device", TSL_ALIGN_LEFT, false);
  tsl_table_column(table, "beside the rung below", TSL_ALIGN_LEFT, true);
  for (int i = 0; i < found->able; i++) {
    const tsl_counted *one = &found->counted[i];
    tsl_text text = {0};
    if (!one->told)
      continue;
    tsl_counted_compare(&found->problem, one, tsl_counted_below(found->counted, found->able, one), &text);
    tsl_table_add(table, "%s", one->strategy->name);
    tsl_table_add(table, "%s", one->device->name);
    tsl_table_add(table, "%s", tsl_text_get(&text));
    table->failed |= text.failed;
    tsl_text_free(&text);
  }
}

static void refusal_table(const explanation *found, tsl_table *table) {
  tsl_table_column(table, "refuses", TSL_ALIGN_LEFT, false);
  tsl_table_column(table, "device", TSL_ALIGN_LEFT, false);
  tsl_table_column(table, "because", TSL_ALIGN_LEFT, true);
  for (int i = 0; i < found->count; i++) {
    const tsl_candidate *candidate = &found->candidates[i];
    if (!candidate->refusal[0])
      continue;
    tsl_table_add(table, "%s", candidate->strategy->name);
    tsl_table_add(table, "%s", candidate->device->name);
    tsl_table_add(table, "%s", candidate->refusal);
  }
}

/* Nothing at all where the table is empty. */
static void add_table(tsl_table *table, int width, bool colour, tsl_text *out) {
  if (tsl_table_rows(table) > 0) {
    tsl_text_add(out, "\n");
    tsl_table_text(table, 2, width, colour, out);
  }
  out->failed |= table->failed;
  tsl_table_free(table);
}

static const char *const basis_words[] = {
    [TSL_BASIS_MODEL] = "by the strategy's model: nothing like it was measured",
    [TSL_BASIS_NEAR] = "by wisdom: from what was measured at sizes near these",
    [TSL_BASIS_EXACT] = "by wisdom: as it was measured at these sizes"};

/* What the plan's kernels cost before their first result. */
static void add_first_call(const explanation *found, tsl_table *table) {
  const tsl_plan *plan = found->plan;
  char one[32], two[32];
  if (plan->work.texts == 0)
    return;
  if (plan->work.build_seconds > 0)
    tsl_table_add_pair(table, "kernels", "compiled now, in %s; kept for later",
                       tsl_format_seconds(plan->work.build_seconds, one, sizeof one));
  else
    tsl_table_add_pair(table, "kernels", "found compiled");
  if (plan->self_test_seconds > 0)
    tsl_table_add_pair(table, "self-test", "passed now, in %s; remembered for this device and driver",
                       tsl_format_seconds(plan->self_test_seconds, two, sizeof two));
  else if (plan->was_tried)
    tsl_table_add_pair(table, "self-test", "passed on %s", plan->self_test.date);
  else
    tsl_table_add_pair(table, "self-test", "none: TESELA_SELFTEST is 0");
  tsl_table_add_pair(table, "first call", "waits %s for the plan, %s",
                     tsl_format_seconds(found->plan_seconds, one, sizeof one),
                     plan->work.build_seconds > 0 ? "a cold start; tesela cache prefill makes it a warm one"
                                                  : "a warm start");
}

static void add_links(const explanation *found, tsl_table *table) {
  char in[32], in_rate[32], out[32], out_rate[32], launch[32];
  const tsl_device *device;
  tsl_text text = {0};
  for (int i = 0; found->crossover.count > 0 && (device = tsl_devices_at(found->devices, i)); i++) {
    const tsl_link link = tsl_link_of(device);
    if (link.measured)
      tsl_table_add_pair(
          table, "way there", "%s: copies in %s and %s, out %s and %s, a launch %s; measured %s%s",
          device->name, tsl_format_seconds(link.in.seconds, in, sizeof in),
          tsl_format_bandwidth(link.in.rate, in_rate, sizeof in_rate),
          tsl_format_seconds(link.out.seconds, out, sizeof out),
          tsl_format_bandwidth(link.out.rate, out_rate, sizeof out_rate),
          tsl_format_seconds(link.launch, launch, sizeof launch), link.date,
          device->capabilities & TSL_CAN_SHARED_MEMORY ? "; memory is shared: nothing is copied" : "");
  }
  if (found->crossover.count > 0) {
    tsl_crossover_print(&found->crossover, &text);
    tsl_table_add_pair(table, "crossover", "%s (squares from %d to %d, copies %s)", tsl_text_get(&text),
                       TSL_CROSSOVER_LEAST, TSL_CROSSOVER_MOST, found->resident ? "left out" : "included");
  }
  tsl_text_free(&text);
}

static void add_facts(const explanation *found, tsl_table *table) {
  char one[32], two[32];
  const tsl_candidate *best = chosen(found);
  if (found->plan) {
    const tsl_device *device = found->plan->work.device;
    const uint64_t bytes = tsl_plan_bytes(found->plan);
    tsl_table_add_pair(table, "plan", "%s", found->plan->text);
    if (best)
      tsl_table_add_pair(table, "expected", "%s, give or take %.0f%%, copies included, %s",
                         tsl_format_seconds(best->seconds, one, sizeof one), 100 * expm1(best->doubt),
                         basis_words[best->basis]);
    if (found->once.strategy && found->once.device != device)
      tsl_table_add_pair(table, "run once",
                         "%s on %s: opening %s and compiling would count, as they do for tesela multiply",
                         found->once.strategy->name, found->once.device->name, device->name);
    tsl_table_add_pair(table, "bound", "%.2g (|alpha||A||B| + |beta||C0|), element by element",
                       tsl_plan_error_bound(found->plan));
    if (best)
      tsl_counted_add_pairs(&found->problem, &found->counted[best - found->candidates], table);
    if (bytes > 0)
      tsl_table_add_pair(table, "device memory", "needs %s of %s on %s",
                         tsl_format_bytes(bytes, one, sizeof one),
                         tsl_format_bytes(device->memory_bytes, two, sizeof two), device->name);
    add_first_call(found, table);
  } else {
    tsl_table_add_painted(table, TSL_PAINT_FAINT, "plan");
    tsl_table_add_painted(table, TSL_PAINT_BAD, "none: %s", tsl_text_get(&found->failure));
  }
  add_links(found, table);
  tsl_table_add_pair(table, "host memory", "needs %s for A, B and C; %s are available%s",
                     tsl_format_bytes(found->host_bytes, one, sizeof one),
                     tsl_format_bytes(found->host_available, two, sizeof two), memory_words(found));
}

static tesela_status print_text(const explanation *found, const explain_options *given) {
  const int width = tsl_output_width();
  const bool colour = tsl_output_colour();
  const tsl_problem *problem = &found->problem;
  tsl_text out = {0};
  static void (*const fill[])(const explanation *found, tsl_table *table) = {
      candidate_table, traffic_table, sharing_table, reason_table, refusal_table};
  tsl_table facts = tsl_table_of_pairs();
  tsl_text_add_formula(&out, "C", problem->alpha, given->transpose_a ? "A^T " : "A ",
                       given->transpose_b ? "B^T" : "B", problem->beta);
  tsl_text_add(&out, ",  %lld x %lld by %lld x %lld, %s\n", (long long)problem->m, (long long)problem->k,
               (long long)problem->k, (long long)problem->n, tsl_type(problem->c.type)->name);
  add_facts(found, &facts);
  tsl_table_text(&facts, 2, width, colour, &out);
  out.failed |= facts.failed;
  tsl_table_free(&facts);
  for (size_t i = 0; i < sizeof fill / sizeof *fill; i++) {
    tsl_table table = {0};
    fill[i](found, &table);
    add_table(&table, width, colour, &out);
  }
  return tsl_print(&out);
}

static json_t *json_link(const tsl_device *device) {
  const tsl_link link = tsl_link_of(device);
  return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:s}", "device", device->name, "measured",
                   link.measured, "in_seconds", tsl_json_real(link.in.seconds), "in_bytes_per_second",
                   tsl_json_real(link.in.rate), "out_seconds", tsl_json_real(link.out.seconds),
                   "out_bytes_per_second", tsl_json_real(link.out.rate), "launch_seconds",
                   tsl_json_real(link.launch), "date", link.date);
}

/* `account`, `below` and `comparison` of a candidate. */
static json_t *json_reasons(const explanation *found, int index) {
  const tsl_counted *one = index < found->able ? &found->counted[index] : NULL;
  if (!one || !one->told)
    return json_pack("{s:n, s:n, s:n}", "account", "below", "comparison");
  const tsl_counted *below = tsl_counted_below(found->counted, found->able, one);
  tsl_text text = {0};
  tsl_counted_compare(&found->problem, one, below, &text);
  json_t *object = json_pack("{s:o, s:s?, s:s}", "account", tsl_json_counted(&found->problem, one), "below",
                             below ? below->strategy->name : NULL, "comparison", tsl_text_get(&text));
  tsl_text_free(&text);
  return object;
}

static tesela_status print_json(const tsl_call *call, const explanation *found) {
  const tsl_problem *problem = &found->problem;
  const tsl_candidate *best = chosen(found);
  json_t *list = json_array();
  for (int i = 0; i < found->count; i++) {
    const tsl_candidate *candidate = &found->candidates[i];
    tsl_text text = {0};
    tsl_config_print(candidate->strategy, &candidate->config, &text);
    json_t *one =
        json_pack("{s:s, s:s, s:o, s:s, s:b, s:o, s:o, s:s, s:o}", "strategy", candidate->strategy->name,
                  "config", tsl_text_get(&text), "peer",
                  tsl_json_peer(candidate->strategy, candidate->device), "device", candidate->device->name,
                  "chosen", candidate == best, "predicted_seconds", tsl_json_real(candidate->seconds),
                  "doubt", tsl_json_real(candidate->doubt), "predicted_by", tsl_basis_name(candidate->basis),
                  "refusal", candidate->refusal[0] ? json_string(candidate->refusal) : json_null());
    json_object_update_new(one, json_reasons(found, i));
    json_array_append_new(list, one);
    tsl_text_free(&text);
  }
  json_t *plan = json_null(), *bound = json_null(), *bytes = json_null(), *first = json_null();
  if (found->plan) {
    plan = json_string(found->plan->text);
    bound = tsl_json_real(tsl_plan_error_bound(found->plan));
    bytes = json_integer((json_int_t)tsl_plan_bytes(found->plan));
    first = json_pack("{s:o, s:o, s:o, s:b}", "seconds", tsl_json_real(found->plan_seconds),
                      "compiler_seconds", tsl_json_real(found->plan->work.build_seconds), "self_test_seconds",
                      tsl_json_real(found->plan->self_test_seconds), "self_tested", found->plan->was_tried);
  }
  json_t *links = json_array(), *crossover = json_array();
  const tsl_device *device;
  for (int i = 0; found->crossover.count > 0 && (device = tsl_devices_at(found->devices, i)); i++)
    json_array_append_new(links, json_link(device));
  for (int i = 0; i < found->crossover.count; i++)
    json_array_append_new(crossover,
                          json_pack("{s:I, s:s}", "from", (json_int_t)found->crossover.parts[i].from,
                                    "device", found->crossover.parts[i].device->name));
  return tsl_print_json(
      call,
      json_pack("{s:o, s:o, s:I, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o}", "links",
                links, "crossover", crossover, "m", (json_int_t)problem->m, "n", (json_int_t)problem->n, "k",
                (json_int_t)problem->k, "type", tsl_type(problem->c.type)->name, "alpha",
                tsl_json_real(problem->alpha[0]), "beta", tsl_json_real(problem->beta[0]), "plan", plan,
                "error_bound", bound, "predicted_seconds", tsl_json_real(best ? best->seconds : INFINITY),
                "host_bytes", (json_int_t)found->host_bytes, "host_bytes_available",
                (json_int_t)found->host_available, "device_bytes", bytes, "first_call", first, "candidates",
                list));
}

static tesela_status find_once(const tsl_choice *choice, explanation *found) {
  tsl_choice once = *choice;
  tsl_candidate *list;
  int count;
  once.runs = 1;
  TSL_TRY(tsl_planner_list(&found->problem, &once, &list, &count));
  if (count > 0 && !list[0].refusal[0])
    found->once = list[0];
  free(list);
  return TESELA_OK;
}

/* Where there is a choice of devices: what it costs to reach them, measured where nobody did, and where it turns. */
static tesela_status weigh(const tsl_choice *choice, explanation *found) {
  tsl_device *device;
  found->devices = choice->devices;
  if (strcmp(choice->device, "auto") != 0 || !tsl_devices_at(choice->devices, 1))
    return TESELA_OK;
  for (int i = 0; (device = tsl_devices_at(choice->devices, i)); i++) {
    tsl_link link = tsl_link_of(device);
    const bool is_cpu = (device->capabilities & TSL_CAN_HOST) != 0;
    if (!(is_cpu ? tsl_link_core(device) > 0 : link.measured) &&
        (is_cpu ? tsl_tune_core(device) : tsl_tune_link(device, &link)) != TESELA_OK)
      tsl_log(TSL_LOG_PLAN, "%s", tesela_last_error()); /* candidates on it say why it cannot be used */
  }
  TSL_TRY(find_once(choice, found));
  return tsl_crossover_find(&found->problem, choice, &found->crossover);
}

/* Accounts of those that can run, which come first. Their predictions leave out the copies, which all on a device share. */
static tesela_status count(const tsl_choice *choice, explanation *found) {
  void *block;
  while (found->able < found->count && !found->candidates[found->able].refusal[0])
    found->able++;
  TSL_TRY(tsl_alloc((size_t)found->able * sizeof *found->counted, "accounts", &block));
  found->counted = block;
  for (int i = 0; i < found->able; i++) {
    const tsl_candidate *candidate = &found->candidates[i];
    const tsl_link link = tsl_link_of(candidate->device);
    found->counted[i] =
        tsl_count(&found->problem, candidate->strategy, &candidate->config, candidate->device);
    found->counted[i].seconds =
        candidate->seconds - tsl_link_seconds(&link, &found->problem, candidate->device, choice->place);
  }
  return TESELA_OK;
}

/* The drawing of what would run; or why that is refused. */
static tesela_status print_trace(const explanation *found) {
  const tsl_candidate *first = &found->candidates[0];
  tsl_text out = {0};
  if (first->refusal[0])
    return tsl_fail(TESELA_UNSUPPORTED, "%s on %s: %s", first->strategy->name, first->device->name,
                    first->refusal);
  tsl_config_print(first->strategy, &first->config, &out);
  tsl_text_add(&out, ", C %lld x %lld, %lld products each: ", (long long)found->problem.m,
               (long long)found->problem.n, (long long)found->problem.k);
  const tesela_status status = tsl_trace_draw(first->strategy, &found->problem, &first->config, &out);
  if (status == TESELA_OK)
    return tsl_print(&out);
  tsl_text_free(&out);
  return status;
}

static tesela_status run(const tsl_call *call) {
  const explain_options *given = call->options;
  explanation found = {.count = 0};
  tsl_devices *devices = NULL;
  tsl_wisdom *wisdom = NULL;
  tesela_status status = TESELA_OK, planned;
  TSL_GO(read_problem(call, &found.problem));
  if (given->trace && (!given->strategy || given->json))
    return tsl_fail(TESELA_BAD_CALL, given->json ? "--trace draws, and has no JSON"
                                                 : "--trace draws one strategy; name it with --strategy");
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(tsl_wisdom_open(&wisdom));
  const tsl_choice choice = {.devices = devices,
                             .device = tsl_device_or_default(given->device),
                             .strategy = given->strategy,
                             .place = given->resident ? TSL_PLACE_DEVICE : TSL_PLACE_HOST,
                             .wisdom = wisdom,
                             .vendors = tsl_planner_vendors()};
  found.resident = given->resident;
  if (!given->trace)
    TSL_GO(weigh(&choice, &found));
  TSL_GO(tsl_planner_list(&found.problem, &choice, &found.candidates, &found.count));
  if (given->trace) {
    status = print_trace(&found);
    goto out;
  }
  found.plan_seconds = tsl_clock();
  planned = tsl_planner_take(&found.problem, &choice, found.candidates, found.count, &found.plan);
  found.plan_seconds = tsl_clock() - found.plan_seconds;
  TSL_GO(count(&choice, &found));
  tsl_text_add(&found.failure, "%s", planned == TESELA_OK ? "" : tesela_last_error());
  found.host_bytes = operand_bytes(&found.problem);
  found.host_available = tsl_memory_available();
  status = given->json ? print_json(call, &found) : print_text(&found, given);
  if (status == TESELA_OK && planned != TESELA_OK)
    status = tsl_fail(planned, "%s", tsl_text_get(&found.failure));
out:
  free(found.candidates);
  tsl_free(found.counted);
  tsl_text_free(&found.failure);
  tsl_plan_destroy(found.plan);
  tsl_wisdom_close(wisdom);
  tsl_devices_destroy(devices);
  return status;
}

const tsl_command tsl_command_explain = {
    .name = "explain",
    .what = "say, without running it, which plan a product would take and why",
    .arguments = "M N K",
    .details = "The product is C (M x N) = alpha A (M x K) B (K x N) + beta C0. Predictions come from small "
               "models of "
               "each strategy on each device; tesela explore measures.",
    .options = options,
    .examples = examples,
    .words_min = 3,
    .words_max = 3,
    .options_bytes = sizeof(explain_options),
    .run = run,
};

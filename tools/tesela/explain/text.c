/* Prints an explanation as text: facts in pairs, then a table for each question. */
#include "cli/report.h"
#include "cli/table.h"
#include "explain/counted_pairs.h"
#include "explain/explain.h"
#include "explain/options.h"
#include "problem/structure.h"
#include "strategy/params.h"

#include <math.h>

static bool shares_share_of(const tsl_explanation *found, int index, tsl_subplan_info *share) {
  return found->plan && tsl_plan_share(found->plan, index, share);
}

/* Adds the time of the slowest shard, relative to a perfect balance, and the bytes over links. */
static void shares_add_pair(const tsl_explanation *found, tsl_table *table) {
  const tsl_candidate *best = tsl_explain_chosen(found);
  double slowest = 0, bytes = 0;
  char took[32], moved[32];
  tsl_subplan_info share;
  int count = 0, links = 0;
  for (; shares_share_of(found, count, &share); count++) {
    links += share.link_count;
    slowest = fmax(slowest, share.seconds);
    bytes += share.in_bytes + share.out_bytes;
  }
  /* Sub-plans that work where the operands are run one after another; no balance is shown. */
  if (count == 0 || !found->plan->work.strategy->splits.parts)
    return;
  if (slowest > 0 && best)
    tsl_table_add_pair(
        table, "together", "%s for the slowest of %d shares: %.0f%% of the best possible speed",
        tsl_format_seconds(slowest, took, sizeof took), count, 100 * fmin(1, best->seconds / slowest));
  tsl_table_add_pair(table, "over links", "%s between %s",
                     tsl_format_bytes((uint64_t)bytes, moved, sizeof moved),
                     links > 0 ? "devices" : "the host and devices");
  if (found->link_rate > 0)
    tsl_table_add_pair(table, "scaling",
                       "on devices like %s, with operands in equal parts and links of %s, as measured",
                       found->plan->work.device->members[0]->name,
                       tsl_format_bandwidth(found->link_rate, took, sizeof took));
  else if (found->scaling_count > 0)
    tsl_table_add_pair(table, "scaling", "on devices like %s", found->plan->work.device->members[0]->name);
}

static void shares_add_bytes(tsl_table *table, double bytes) {
  char text[32];
  tsl_table_add(table, "%s", bytes > 0 ? tsl_format_bytes((uint64_t)bytes, text, sizeof text) : "-");
}

static void add_share(const tsl_subplan_info *share, tsl_table *table) {
  char text[32];
  tsl_table_add(table, "%s", share->device);
  if (share->count > 1)
    tsl_table_add(table, "%lld of %lld x %lld from (%lld, %lld)", (long long)share->count,
                  (long long)share->rows, (long long)share->cols, (long long)share->row,
                  (long long)share->col);
  else
    tsl_table_add(table, "%lld x %lld from (%lld, %lld)", (long long)share->rows, (long long)share->cols,
                  (long long)share->row, (long long)share->col);
  tsl_table_add(table, "%lld", (long long)share->depth);
  tsl_table_add(table, "%s",
                share->seconds > 0 ? tsl_format_seconds(share->seconds, text, sizeof text) : "-");
  shares_add_bytes(table, share->in_bytes);
  shares_add_bytes(table, share->out_bytes);
  tsl_table_add(table, "%s", share->plan);
  tsl_table_end_row(table);
}

/* Adds a row for each shard; nothing for other plans. */
static void shares_table(const tsl_explanation *found, tsl_table *table) {
  tsl_subplan_info share;
  TSL_TABLE_COLUMNS(table, "who", "what of C", ">terms", ">expected", ">in", ">out", "~by");
  for (int i = 0; shares_share_of(found, i, &share); i++)
    add_share(&share, table);
}

/* Adds the expected times on 1 to 8 devices like the first one; nothing for a single device. */
static void scaling_table(const tsl_explanation *found, tsl_table *table) {
  char text[32];
  TSL_TABLE_COLUMNS(table, ">scaling", ">expected", ">of linear");
  for (int i = 0; i < found->scaling_count; i++) {
    const double seconds = found->scaling[i].seconds, linear = tsl_explain_of_linear(found, i);
    tsl_table_add(table, "%d", found->scaling[i].devices);
    tsl_table_add(table, "%s", seconds > 0 ? tsl_format_seconds(seconds, text, sizeof text) : "-");
    if (isfinite(linear))
      tsl_table_add(table, "%.3f", linear);
    else
      tsl_table_add(table, "-");
    tsl_table_end_row(table);
  }
}

static uint64_t row_bytes(const tsl_shape *shape) {
  return (uint64_t)shape->cols * tsl_type(shape->type)->size;
}

/* Returns how tesela multiply handles a product too large for its memory limit; "" if it fits. */
static const char *text_memory_words(const tsl_explanation *found) {
  const tsl_problem *problem = &found->problem;
  const uint64_t allowed = found->host_available / 5 * 4;
  const uint64_t held = (uint64_t)tsl_shape_extent(&problem->b) * tsl_type(problem->b.type)->size;
  if (found->host_bytes <= allowed || problem->op != TSL_OP_GEMM || tsl_problem_has_structure(problem))
    return "";
  return held + row_bytes(&problem->a) + row_bytes(&problem->c) <= allowed
             ? ": tesela multiply works by panels of rows"
             : ": B alone is too large, and panels of rows do not help, because each takes all of B";
}

static void candidate_table(const tsl_explanation *found, tsl_table *table) {
  char time[32], rate[32];
  const double flops = tsl_problem_flops(&found->problem);
  TSL_TABLE_COLUMNS(table, "~could run", "device", ">time", ">+-", "by", ">", "");
  for (int i = 0; i < found->count; i++) {
    const tsl_candidate *candidate = &found->candidates[i];
    if (candidate->refusal[0])
      continue;
    const tsl_paint paint = candidate == tsl_explain_chosen(found) ? TSL_PAINT_GOOD : TSL_PAINT_NONE;
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
    tsl_table_add_painted(table, paint, "%s", candidate == tsl_explain_chosen(found) ? "chosen" : "");
    tsl_text_free(&name);
  }
}

/* Adds name and device of a candidate; returns the paint of its row: TSL_PAINT_GOOD for the chosen
 * one. */
static tsl_paint begin_row(const tsl_explanation *found, int index, tsl_table *table) {
  const tsl_paint paint =
      &found->candidates[index] == tsl_explain_chosen(found) ? TSL_PAINT_GOOD : TSL_PAINT_NONE;
  tsl_table_add_painted(table, paint, "%s", found->counted[index].strategy->name);
  tsl_table_add_painted(table, paint, "%s", found->counted[index].device->name);
  return paint;
}

static void guarantee_table(const tsl_explanation *found, tsl_table *table) {
  TSL_TABLE_COLUMNS(table, "~guarantee of", "device", ">error of |A||B|", "same bits");
  for (int i = 0; i < found->usable_count; i++) {
    const tsl_candidate *candidate = &found->candidates[i];
    const tsl_accuracy promised =
        tsl_strategy_error_model(candidate->strategy, &found->problem, &candidate->config);
    const tsl_paint paint = begin_row(found, i, table);
    tsl_table_add_painted(table, paint, promised.is_correctly_rounded ? "rounded once" : "%.2g",
                          tsl_strategy_error_bound(candidate->strategy, &found->problem, &candidate->config));
    tsl_table_add_painted(table, paint, "%s",
                          tsl_numeric_requirements_bits_word(tsl_explain_bits(found, candidate)));
  }
}

static void traffic_table(const tsl_explanation *found, tsl_table *table) {
  char text[32];
  TSL_TABLE_COLUMNS(table, "~traffic of", "device", ">global", ">local", ">memory", ">op/byte");
  for (int i = 0; i < found->usable_count; i++) {
    const tsl_cost_counts *account = &found->counted[i].account;
    const double bytes[] = {account->global.read + account->global.written,
                            account->local.read + account->local.written, account->memory};
    if (!found->counted[i].has_counts)
      continue;
    const tsl_paint paint = begin_row(found, i, table);
    for (int level = 0; level < 3; level++)
      tsl_table_add_painted(table, paint, "%s", tsl_format_bytes((uint64_t)bytes[level], text, sizeof text));
    tsl_table_add_painted(table, paint, "%.3g", tsl_cost_counts_intensity(&found->problem, account));
  }
}

static void sharing_table(const tsl_explanation *found, tsl_table *table) {
  TSL_TABLE_COLUMNS(table, "~work of", "device", "~groups", ">idle", "limit");
  for (int i = 0; i < found->usable_count; i++) {
    const tsl_cost_report *one = &found->counted[i];
    tsl_text groups = {0};
    if (!one->has_counts)
      continue;
    const tsl_paint paint = begin_row(found, i, table);
    tsl_cost_report_groups(one, &groups);
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

static void reason_table(const tsl_explanation *found, tsl_table *table) {
  TSL_TABLE_COLUMNS(table, "~why", "device", "~compared with the partner");
  for (int i = 0; i < found->usable_count; i++) {
    const tsl_cost_report *one = &found->counted[i];
    tsl_text text = {0};
    if (!one->has_counts)
      continue;
    const tsl_cost_comparison comparison =
        tsl_cost_report_compare(one, tsl_cost_report_partner(found->counted, found->usable_count, one));
    tsl_cost_comparison_print(&found->problem, one, &comparison, &text);
    tsl_table_add(table, "%s", one->strategy->name);
    tsl_table_add(table, "%s", one->device->name);
    tsl_table_add(table, "%s", tsl_text_get(&text));
    table->failed |= text.failed;
    tsl_text_free(&text);
  }
}

static void refusal_table(const tsl_explanation *found, tsl_table *table) {
  TSL_TABLE_COLUMNS(table, "refuses", "device", "~because");
  for (int i = 0; i < found->count; i++) {
    const tsl_candidate *candidate = &found->candidates[i];
    if (!candidate->refusal[0])
      continue;
    tsl_table_add(table, "%s", candidate->strategy->name);
    tsl_table_add(table, "%s", candidate->device->name);
    tsl_table_add(table, "%s", candidate->refusal);
  }
}

/* Appends a table; nothing if it is empty. */
static void text_add_table(tsl_table *table, int width, bool colour, tsl_text *out) {
  if (tsl_table_rows(table) > 0) {
    tsl_text_add(out, "\n");
    tsl_table_text(table, 2, width, colour, out);
  }
  out->failed |= table->failed;
  tsl_table_free(table);
}

static const char *const basis_words[] = {
    [TSL_BASIS_MODEL] = "predicted: no similar product was measured on this machine yet",
    [TSL_BASIS_NEAR] = "by wisdom: from measurements at similar sizes",
    [TSL_BASIS_EXACT] = "by wisdom: measured at these sizes"};

/* Adds the time before the first result of the plan's kernels, such as compiling. */
static void add_first_call(const tsl_explanation *found, tsl_table *table) {
  const tsl_plan *plan = found->plan;
  char one[32], two[32];
  if (plan->work.source_count == 0)
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
  tsl_table_add_pair(table, "first call", "takes %s until the plan is ready, %s",
                     tsl_format_seconds(found->plan_seconds, one, sizeof one),
                     plan->work.build_seconds > 0
                         ? "since kernels are compiled; tesela cache prefill compiles them beforehand"
                         : "with compiled kernels from the cache");
}

static void add_link(const tsl_device *device, const tsl_link *link, tsl_table *table) {
  char in[32], in_rate[32], out[32], out_rate[32], launch[32], staged_in[32], staged_out[32];
  tsl_table_add_pair(
      table, "transfer", "%s: copies in %s and %s, out %s and %s, a launch %s; measured %s%s", device->name,
      tsl_format_seconds(link->in.seconds, in, sizeof in),
      tsl_format_bandwidth(link->in.rate, in_rate, sizeof in_rate),
      tsl_format_seconds(link->out.seconds, out, sizeof out),
      tsl_format_bandwidth(link->out.rate, out_rate, sizeof out_rate),
      tsl_format_seconds(link->launch, launch, sizeof launch), link->date,
      device->capabilities & TSL_CAN_SHARED_MEMORY ? "; nothing is copied: its memory is the host's" : "");
  if (link->staged_in > 0)
    tsl_table_add_pair(table, "", "%s: during computing, through pinned memory, in %s and out %s",
                       device->name, tsl_format_bandwidth(link->staged_in, staged_in, sizeof staged_in),
                       tsl_format_bandwidth(link->staged_out, staged_out, sizeof staged_out));
}

static void text_add_links(const tsl_explanation *found, tsl_table *table) {
  const tsl_device *device;
  tsl_text text = {0};
  for (int i = 0; found->crossover.count > 0 && (device = tsl_devices_at(found->devices, i)); i++) {
    const tsl_link link = tsl_link_of(device);
    if (link.measured)
      add_link(device, &link, table);
  }
  if (found->crossover.count > 0) {
    tsl_crossover_print(&found->crossover, &text);
    tsl_table_add_pair(table, "crossover", "%s (fastest device for squares from %d to %d, copies %s)",
                       tsl_text_get(&text), TSL_CROSSOVER_MIN, TSL_CROSSOVER_MAX,
                       found->resident ? "left out" : "included");
  }
  tsl_text_free(&text);
}

static void text_add_facts(const tsl_explanation *found, tsl_table *table) {
  char one[32], two[32];
  const tsl_candidate *best = tsl_explain_chosen(found);
  if (found->plan) {
    const tsl_device *device = found->plan->work.device;
    const uint64_t bytes = tsl_plan_bytes(found->plan);
    tsl_table_add_pair(table, "plan", "%s", found->plan->text);
    if (best)
      tsl_table_add_pair(table, "expected", "%s (+- %.0f%%), copies included, %s",
                         tsl_format_seconds(found->plan->expected, one, sizeof one), 100 * expm1(best->doubt),
                         basis_words[best->basis]);
    if (found->once.strategy && found->once.device != device)
      tsl_table_add_pair(table, "run once",
                         "%s on %s is faster for one run: opening %s and compiling take time, too",
                         found->once.strategy->name, found->once.device->name, device->name);
    if (*tsl_text_get(&found->crossover_decided))
      tsl_table_add_pair(table, "dispatch", "%s", tsl_text_get(&found->crossover_decided));
    if (best && found->row_order && found->free_choice.strategy)
      tsl_table_add_pair(table, "bits", "rows: order of sums \"%s\"; %.2f times the time of bits=any, %s",
                         found->row_order, best->seconds / found->free_choice.seconds,
                         found->free_choice.strategy->name);
    tsl_table_add_pair(table, "bound", "%.2g (%s), element by element", tsl_plan_error_bound(found->plan),
                       found->problem.op == TSL_OP_SOLVE ? "|A||X| of |alpha B - A X|"
                                                         : "|alpha||A||B| + |beta||C0|");
    if (best)
      tsl_counted_add_pairs(&found->problem, &found->counted[best - found->candidates], table);
    if (bytes > 0)
      tsl_table_add_pair(table, "device memory", "needs %s of %s on %s",
                         tsl_format_bytes(bytes, one, sizeof one),
                         tsl_format_bytes(device->memory_limit, two, sizeof two), device->name);
    shares_add_pair(found, table);
    add_first_call(found, table);
  } else {
    tsl_table_add_painted(table, TSL_PAINT_FAINT, "plan");
    tsl_table_add_painted(table, TSL_PAINT_BAD, "none: %s", tsl_text_get(&found->failure));
  }
  text_add_links(found, table);
  tsl_table_add_pair(table, "host memory", "needs %s for A, B and C; %s are available%s",
                     tsl_format_bytes(found->host_bytes, one, sizeof one),
                     tsl_format_bytes(found->host_available, two, sizeof two), text_memory_words(found));
}

/* Appends ", A symmetric_lower": the structure of A as stored, before transposition. */
static void text_add_structures(const tsl_explain_options *options, tsl_text *out) {
  const bool by_default = options->solve && options->a_is.structure == TESELA_GENERAL;
  const tsl_option_structure all[TSL_OPERANDS] = {
      by_default ? (tsl_option_structure){TESELA_TRIANGULAR, TESELA_LOWER} : options->a_is,
      options->b_is,
      {TESELA_GENERAL, options->symmetric ? TESELA_LOWER : TESELA_WHOLE}};
  for (int i = 0; i < TSL_OPERANDS; i++)
    if (all[i].triangle != TESELA_WHOLE) {
      tsl_text_add(out, ", %c ", "ABC"[i]);
      tsl_structure_print(all[i].structure, all[i].triangle, out);
    }
}

static void add_heading(const tsl_problem *problem, const tsl_explain_options *options, tsl_text *out) {
  const char *const a = options->transpose_a ? "A^T" : "A", *const b = options->transpose_b ? "B^T" : "B";
  const char *const type = tsl_type(problem->c.type)->name;
  char first[8];
  snprintf(first, sizeof first, "%s %s", a, options->solve ? "X" : "");
  if (options->solve)
    tsl_text_add_formula(out, first, problem->alpha, "", b, problem->beta);
  else
    tsl_text_add_product(out, problem->alpha, first,
                         options->symmetric ? options->transpose_a ? "A" : "A^T" : b, problem->beta,
                         problem->bias_axis, problem->activation);
  if (options->solve)
    tsl_text_add(out, ",  X %lld x %lld, %s", (long long)problem->m, (long long)problem->n, type);
  else
    tsl_text_add(out, ",  %lld x %lld by %lld x %lld, %s", (long long)problem->m, (long long)problem->k,
                 (long long)problem->k, (long long)problem->n, type);
  text_add_structures(options, out);
  if (problem->bias_axis != TESELA_NO_BIAS)
    tsl_text_add(out, ", bias %s", tsl_along_name(problem->bias_axis));
  if (problem->scaling_a != TESELA_NO_SCALE)
    tsl_text_add(out, ", scale of A %s", tsl_scaling_name(problem->scaling_a));
  if (problem->scaling_b != TESELA_NO_SCALE)
    tsl_text_add(out, ", scale of B %s", tsl_scaling_name(problem->scaling_b));
  tsl_text_add(out, "\n");
}

tesela_status tsl_explain_text(const tsl_explanation *found, const tsl_explain_options *options) {
  const int width = tsl_output_width();
  const bool colour = tsl_output_colour();
  tsl_text out = {0};
  static void (*const fill[])(const tsl_explanation *found, tsl_table *table) = {
      shares_table,  scaling_table, candidate_table, guarantee_table,
      traffic_table, sharing_table, reason_table,    refusal_table};
  tsl_table facts = tsl_table_of_pairs();
  add_heading(&found->problem, options, &out);
  text_add_facts(found, &facts);
  tsl_table_text(&facts, 2, width, colour, &out);
  out.failed |= facts.failed;
  tsl_table_free(&facts);
  for (size_t i = 0; i < sizeof fill / sizeof *fill; i++) {
    tsl_table table = {0};
    fill[i](found, &table);
    text_add_table(&table, width, colour, &out);
  }
  return tsl_print(&out);
}

/* tesela multiply: from files to a verified file. */
#include "base/status.h"
#include "interrupt.h"
#include "product.h"
#include "report.h"
#include "select.h"
#include "terms.h"
#include "tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct multiply_options {
  const char *output, *add, *device, *strategy, *expect;
  bool transpose_a, transpose_b, verify, quiet, json;
  tsl_number alpha, beta;
  tesela_type type;
  int64_t threads, repeat;
  uint64_t memory;
} multiply_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL, "write C here; the ending chooses the format: .npy .mtx .csv .txt",
     offsetof(multiply_options, output)},
    TSL_OPTION(multiply_options, transpose_a, "transpose-a", FLAG, NULL, "use the transpose of A"),
    TSL_OPTION(multiply_options, transpose_b, "transpose-b", FLAG, NULL, "use the transpose of B"),
    TSL_OPTION(multiply_options, alpha, "alpha", NUMBER, "1", "the factor of A B"),
    TSL_OPTION(multiply_options, add, "add", FILE, NULL, "C0, the matrix that is added"),
    TSL_OPTION(multiply_options, beta, "beta", NUMBER, NULL, "the factor of C0 (default: 1 with --add)"),
    TSL_OPTION(
        multiply_options, type, "type", TYPE, NULL,
        "compute in this type and write it (default: f32 where both files are f32, f16 or bf16, else f64)"),
    TSL_OPTION(multiply_options, device, "device", DEVICE, NULL,
               "run on this device, such as cpu or opencl:0 (default: TESELA_DEVICE, else the fastest)"),
    TSL_OPTION(multiply_options, strategy, "strategy", STRATEGY, NULL,
               "use this strategy, with parameters if you like: \"tile_local tile=16\""),
    TSL_OPTION(multiply_options, threads, "threads", COUNT, NULL, "use at most so many host threads"),
    TSL_OPTION(multiply_options, verify, "verify", FLAG, NULL,
               "judge the product against sums in higher precision; a wrong one is not written"),
    TSL_OPTION(multiply_options, expect, "expect", FILE, NULL,
               "compare with the product in this file, within what rounding explains"),
    TSL_OPTION(multiply_options, repeat, "repeat", COUNT, "1",
               "multiply so many times and report the median"),
    TSL_OPTION(multiply_options, memory, "memory", BYTES, NULL,
               "stay within so many bytes, going by panels of rows (default: 80% of what is free)"),
    TSL_OPTION(multiply_options, quiet, "quiet", FLAG, NULL, "print nothing when it worked"),
    TSL_OPTION_JSON(multiply_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela multiply a.npy b.npy -o c.npy --verify", "C = A B on the fastest device, checked, written"},
    {"tesela multiply a.npy b.mtx -o c.csv --transpose-a --alpha 1.5 --add c0.npy --beta -0.5",
     "C = 1.5 A^T B - 0.5 C0, from and to any of the formats"},
    {"tesela multiply a.npy b.npy --device opencl:0 --strategy \"tile_local tile=16\" --repeat 10",
     "one strategy on one device, timed, nothing written"},
    {"tesela multiply a.txt b.txt --expect solution.txt", "check a solution: exit code 1 when it differs"},
    {"tesela multiply huge.npy b.npy -o c.npy --memory 2GiB", "in panels of rows, within 2 GiB"},
    {NULL, NULL},
};

static tesela_status read_wish(const tsl_call *call, tsl_product_wish *wish) {
  const multiply_options *given = call->options;
  if (given->beta.given && !given->add)
    return tsl_fail(TESELA_BAD_CALL, "--beta is the factor of C0, but no C0 is named; add --add FILE");
  *wish = (tsl_product_wish){
      .a = call->words[0],
      .b = call->words[1],
      .c0 = given->add,
      .output = given->output,
      .expected = given->expect,
      .transpose_a = given->transpose_a,
      .transpose_b = given->transpose_b,
      .verify = given->verify,
      .alpha = given->alpha.value,
      .beta = !given->add         ? 0
              : given->beta.given ? given->beta.value
                                  : 1,
      .type = given->type,
      .device = tsl_device_or_default(given->device),
      .strategy = given->strategy,
      .memory = given->memory,
      .repeat = given->repeat,
  };
  if (!isfinite(wish->alpha) || !isfinite(wish->beta))
    return tsl_fail(TESELA_BAD_CALL, "--alpha and --beta are finite numbers");
  return tsl_set_threads(given->threads);
}

static double flops_per_second(const tsl_product *product) {
  const tsl_problem problem = tsl_product_problem(product, product->m);
  const double seconds = product->seconds[TSL_STAGE_COMPUTE];
  return seconds > 0 ? tsl_problem_flops(&problem) / seconds : NAN;
}

static int64_t panel_count(const tsl_product *product) {
  return product->panel > 0 ? (product->m + product->panel - 1) / product->panel : 1;
}

/* --- as text --- */

static void add_heading(const tsl_product *product, tsl_text *out) {
  const tsl_product_wish *wish = &product->wish;
  tsl_text_add_formula(out, (const double[]){wish->alpha, 0}, (const double[]){wish->beta, 0},
                       wish->transpose_a, wish->transpose_b);
  tsl_text_add(out, ",  %lld x %lld by %lld x %lld, %s\n", (long long)product->m, (long long)product->k,
               (long long)product->k, (long long)product->n, tsl_type(product->type)->name);
}

static void add_accuracy(const tsl_product *product, tsl_table *table) {
  const tsl_verdict *verdict = &product->verdict;
  const tsl_problem problem = tsl_product_problem(product, product->m);
  char error[32], share[32], grade[32];
  tsl_table_add_pair(table, "bound", "%.2g (|alpha||A||B|%s), element by element",
                     tsl_plan_error_bound(product->plan), problem.beta[0] != 0 ? " + |beta||C0|" : "");
  if (product->wish.verify) {
    const bool all = verdict->checked == product->m * product->n;
    tsl_table_add_painted(table, TSL_PAINT_FAINT, "verified");
    tsl_table_add_painted(table, verdict->right ? TSL_PAINT_GOOD : TSL_PAINT_BAD,
                          "%s: %s%lld elements, largest error %s, %s of its bound, grade %s u",
                          verdict->right ? "right" : "WRONG", all ? "all " : "", (long long)verdict->checked,
                          tsl_format_number(verdict->error, error, sizeof error),
                          tsl_format_number(verdict->error_ratio, share, sizeof share),
                          tsl_format_number(verdict->grade, grade, sizeof grade));
  }
  if (product->expected.reader) {
    const bool same = product->difference.count == 0;
    tsl_table_add_painted(table, TSL_PAINT_FAINT, "expected");
    tsl_table_add_painted(table, same ? TSL_PAINT_GOOD : TSL_PAINT_BAD, "%s %s, largest difference %s",
                          same ? "agrees with" : "DIFFERS from", product->expected.path,
                          tsl_format_number(product->difference.error, error, sizeof error));
  }
}

static void add_facts(const tsl_product *product, tsl_table *table) {
  char bytes[32], limit[32];
  const tsl_device *device = product->plan->work.device;
  tsl_table_add_pair(table, "plan", "%s", product->plan->text);
  tsl_table_add_pair(table, "device", "%s, %s", device->label, device->platform);
  if (*tsl_strategy_peer(product->plan->work.strategy, device))
    tsl_table_add_pair(table, "peer", "%s", tsl_strategy_peer(product->plan->work.strategy, device));
  tsl_table_add_pair(table, "memory", "%s of %s, %lld panel%s of rows",
                     tsl_format_bytes(product->memory_needed, bytes, sizeof bytes),
                     tsl_format_bytes(product->memory, limit, sizeof limit), (long long)panel_count(product),
                     panel_count(product) == 1 ? "" : "s");
  add_accuracy(product, table);
}

static void add_stages(const tsl_product *product, tsl_table *table) {
  char time[32], rate[32];
  tsl_table_column(table, "phase", TSL_ALIGN_LEFT, false);
  tsl_table_column(table, "time", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "share", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "", TSL_ALIGN_LEFT, false);
  for (int i = 0; i < TSL_STAGE_COUNT; i++) {
    const double seconds = product->seconds[i];
    if (seconds == 0 && i != TSL_STAGE_COMPUTE)
      continue;
    tsl_table_add(table, "%s", tsl_stage_name((tsl_stage)i));
    tsl_table_add(table, "%s", tsl_format_seconds(seconds, time, sizeof time));
    tsl_table_add(table, "%.0f%%", 100 * seconds / product->total);
    if (i != TSL_STAGE_COMPUTE)
      tsl_table_add(table, "%s", "");
    else if (product->wish.repeat == 1)
      tsl_table_add(table, "%s", tsl_format_flops(flops_per_second(product), rate, sizeof rate));
    else
      tsl_table_add(table, "%s, median of %lld; fastest %s",
                    tsl_format_flops(flops_per_second(product), rate, sizeof rate),
                    (long long)product->wish.repeat, tsl_format_seconds(product->fastest, time, sizeof time));
  }
  tsl_table_add_painted(table, TSL_PAINT_STRONG, "total");
  tsl_table_add_painted(table, TSL_PAINT_STRONG, "%s", tsl_format_seconds(product->total, time, sizeof time));
  tsl_table_end_row(table);
}

static tesela_status print_text(const tsl_product *product) {
  const int width = tsl_output_width();
  const bool colour = tsl_output_colour();
  tsl_text out = {0};
  tsl_table facts = tsl_table_of_pairs(), stages = {0};
  add_heading(product, &out);
  add_facts(product, &facts);
  add_stages(product, &stages);
  tsl_table_text(&facts, 2, width, colour, &out);
  tsl_text_add(&out, "\n");
  tsl_table_text(&stages, 2, width, colour, &out);
  if (product->wish.output && product->verdict.right && product->difference.count == 0)
    tsl_text_add(&out, "\n  wrote %s\n", product->wish.output);
  out.failed |= facts.failed || stages.failed;
  tsl_table_free(&facts);
  tsl_table_free(&stages);
  return tsl_print(&out);
}

/* --- as JSON --- */

static json_t *json_phases(const tsl_product *product) {
  json_t *object = json_object();
  for (int i = 0; i < TSL_STAGE_COUNT; i++) {
    char name[32];
    snprintf(name, sizeof name, "%s", tsl_stage_name((tsl_stage)i));
    for (char *c = name; *c; c++)
      *c = *c == ' ' ? '_' : *c;
    json_object_set_new(object, name, tsl_json_real(product->seconds[i]));
  }
  json_object_set_new(object, "total", tsl_json_real(product->total));
  return object;
}

static json_t *json_expected(const tsl_product *product) {
  const tsl_difference *difference = &product->difference;
  if (!product->expected.reader)
    return json_null();
  json_t *object = json_pack("{s:s, s:b, s:I, s:o}", "file", product->expected.path, "agrees",
                             difference->count == 0, "elements_that_differ", (json_int_t)difference->count,
                             "largest_difference", tsl_json_real(difference->error));
  if (object && difference->count > 0)
    json_object_update_new(object, json_pack("{s:I, s:I, s:o, s:o, s:o}", "row", (json_int_t)difference->row,
                                             "column", (json_int_t)difference->col, "computed",
                                             tsl_json_real(difference->computed), "expected",
                                             tsl_json_real(difference->expected), "bound",
                                             tsl_json_real(difference->bound)));
  return object;
}

static tesela_status print_json(const tsl_call *call, const tsl_product *product) {
  const tsl_product_wish *wish = &product->wish;
  const bool written = wish->output && product->verdict.right && product->difference.count == 0;
  return tsl_print_json(
      call, json_pack("{s:I, s:I, s:I, s:s, s:o, s:o, s:b, s:b, s:s, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o, "
                      "s:o, s:o, s:o}",
                      "m", (json_int_t)product->m, "n", (json_int_t)product->n, "k", (json_int_t)product->k,
                      "type", tsl_type(product->type)->name, "alpha", tsl_json_real(wish->alpha), "beta",
                      tsl_json_real(wish->beta), "transpose_a", wish->transpose_a, "transpose_b",
                      wish->transpose_b, "plan", product->plan->text, "peer",
                      tsl_json_peer(product->plan->work.strategy, product->plan->work.device), "device",
                      tsl_json_device(product->plan->work.device, false), "panels",
                      (json_int_t)panel_count(product), "memory_bytes", (json_int_t)product->memory_needed,
                      "repeats", (json_int_t)wish->repeat, "seconds", json_phases(product),
                      "flops_per_second", tsl_json_real(flops_per_second(product)), "error_bound",
                      tsl_json_real(tsl_plan_error_bound(product->plan)), "verified",
                      wish->verify ? tsl_json_verdict(&product->verdict) : json_null(), "expected",
                      json_expected(product), "output", written ? json_string(wish->output) : json_null()));
}

/* --- */

/* A wrong result is reported in full before its sentence. */
static tesela_status report(const tsl_call *call, const tsl_product *product, tesela_status status) {
  const multiply_options *given = call->options;
  tsl_status_saved saved;
  if (status != TESELA_OK && status != TESELA_WRONG_RESULT)
    return status;
  if (given->quiet && status == TESELA_OK)
    return TESELA_OK;
  tsl_status_save(&saved);
  const tesela_status printed = given->json ? print_json(call, product) : print_text(product);
  if (printed != TESELA_OK)
    return printed;
  tsl_status_restore(&saved);
  return status;
}

static tesela_status run(const tsl_call *call) {
  tsl_product product = {0};
  tsl_product_wish wish;
  tesela_status status = TESELA_OK;
  TSL_TRY(read_wish(call, &wish));
  TSL_GO(tsl_product_open(&wish, &product));
  tsl_interrupt_guard(product.writer ? tsl_writer_temporary(product.writer) : NULL);
  product.progress = tsl_progress_start();
  TSL_GO(tsl_product_plan(&product));
  status = tsl_product_run(&product);
  tsl_progress_end(product.progress);
  product.progress = NULL;
  tsl_interrupt_guard(NULL);
  status = report(call, &product, status);
out:
  tsl_product_close(&product);
  return status;
}

const tsl_command tsl_command_multiply = {
    .name = "multiply",
    .what = "multiply two matrix files: C = alpha A B + beta C0",
    .arguments = "A B [-o C]",
    .details =
        "Reads .npy, Matrix Market (.mtx), .csv and .txt (\"rows columns\", then the values). Ends with the "
        "plan that "
        "ran, where the time went, the error bound and, with --verify, the measured error: the grade is the "
        "largest error in units of u (|alpha||A||B| + |beta||C0|), u being the unit roundoff.\n"
        "An older file of the output's name is replaced when everything is right, and as it was otherwise.",
    .options = options,
    .examples = examples,
    .words_min = 2,
    .words_max = 2,
    .options_bytes = sizeof(multiply_options),
    .run = run,
};

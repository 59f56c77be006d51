/* Runs products, dot products and transposes, and prints their reports. */
#include "cli/report.h"
#include "cli/interrupt.h"
#include "cli/matrix_output.h"
#include "core/memory.h"
#include "core/status.h"
#include "product/blocks.h"

#include <math.h>
#include <stdio.h>

/* Returns the fraction of the work that this run did; blocks of an earlier run are not counted. */
static double report_share_of(const tsl_product *product) {
  const double depth = product->request.op == TSL_OP_GEMM ? (double)product->k : 1;
  return product->blocks ? product->blocks->computed / ((double)product->m * (double)product->n * depth) : 1;
}

static double per_second(const tsl_product *product, double amount) {
  const double seconds = product->seconds[TSL_STAGE_COMPUTE];
  return seconds > 0 ? amount * report_share_of(product) / seconds : NAN;
}

static double flops_per_second(const tsl_product *product) {
  return per_second(product, tsl_problem_flops(&product->whole));
}

static double bytes_per_second(const tsl_product *product) {
  return per_second(product, tsl_problem_bytes(&product->whole));
}

/* Formats the rate that limits the operation: arithmetic of a product, memory of a dot product or a
 * transpose. */
static const char *format_rate(const tsl_product *product, char *out, size_t size) {
  const tsl_op op = product->request.op;
  return op == TSL_OP_GEMM || op == TSL_OP_SOLVE ? tsl_format_flops(flops_per_second(product), out, size)
                                                 : tsl_format_bandwidth(bytes_per_second(product), out, size);
}

static bool report_is_complex(const tsl_product *product) {
  return tsl_type(product->type)->is_complex;
}

static int64_t panel_count(const tsl_product *product) {
  if (product->blocks)
    return product->blocks->count;
  return product->panel > 0 ? (product->m + product->panel - 1) / product->panel : 1;
}

/* --- as text --- */

/* Returns "A^T", "conj(A)" or "A^H". */
static const char *operand(const char *letter, bool transposed, bool conjugated, char *out, size_t size) {
  if (conjugated && !transposed)
    snprintf(out, size, "conj(%s)", letter);
  else
    snprintf(out, size, "%s%s", letter, conjugated ? "^H" : transposed ? "^T" : "");
  return out;
}

static void add_gemm(const tsl_product *product, tsl_text *out) {
  const tsl_product_request *request = &product->request;
  char a[16], b[16], spaced[17];
  operand("A", request->transpose_a, request->conjugate_a, a, sizeof a);
  if (request->by_itself)
    operand("A", !request->transpose_a, request->hermitian && !request->transpose_a, b, sizeof b);
  else
    operand("B", request->transpose_b, request->conjugate_b, b, sizeof b);
  snprintf(spaced, sizeof spaced, "%s ", a);
  tsl_text_add_product(out, request->alpha, spaced, b, request->beta, request->bias_axis,
                       request->activation);
  tsl_text_add(out, ",  %lld x %lld by %lld x %lld", (long long)product->m, (long long)product->k,
               (long long)product->k, (long long)product->n);
  tsl_product_add_structures(product, out);
  tsl_product_add_vectors(product, out);
}

static void add_solve(const tsl_product *product, tsl_text *out) {
  const tsl_product_request *request = &product->request;
  char a[16], left[24], right[24];
  operand("A", request->transpose_a, request->conjugate_a, a, sizeof a);
  snprintf(left, sizeof left, request->right ? "X %s" : "%s X", a);
  snprintf(right, sizeof right, "B");
  tsl_text_add_formula(out, left, request->alpha, right, "", (const double[]){0, 0});
  tsl_text_add(out, ",  X %lld x %lld", (long long)product->m, (long long)product->n);
  tsl_product_add_structures(product, out);
}

static void add_dot(const tsl_product *product, tsl_text *out) {
  const tsl_product_request *request = &product->request;
  tsl_text_add_formula(out, "s", request->alpha, "x . ", "y", request->beta);
  tsl_text_add(out, ",  %lld elements", (long long)product->k);
}

static void add_transpose(const tsl_product *product, tsl_text *out) {
  const tsl_product_request *request = &product->request;
  tsl_text_add_formula(out, request->in_place ? "A" : "B", request->alpha, "A^T", "", (const double[]){0, 0});
  tsl_text_add(out, ",  %lld x %lld%s", (long long)product->n, (long long)product->m,
               request->in_place ? " in place" : "");
}

/* Returns true if the product is computed in f64 because a factor's file is text. */
static bool is_f64_by_text(const tsl_product *product) {
  return product->request.types.a == TESELA_TYPE_DEFAULT && product->types.a == TESELA_F64 &&
         product->request.op != TSL_OP_TRANSPOSE && (product->a.text || product->b.text);
}

void tsl_product_add_heading(const tsl_product *product, tsl_text *out) {
  static void (*const add[TSL_OP_COUNT])(const tsl_product *product,
                                         tsl_text *out) = {[TSL_OP_GEMM] = add_gemm,
                                                           [TSL_OP_DOT] = add_dot,
                                                           [TSL_OP_TRANSPOSE] = add_transpose,
                                                           [TSL_OP_SOLVE] = add_solve};
  add[product->request.op](product, out);
  tsl_text_add(out, ", ");
  tsl_types_print(product->request.op, &product->types, out);
  tsl_text_add(out, "\n");
  if (is_f64_by_text(product))
    tsl_text_add(out, "  text is read as f64; add --type f32 to compute in float\n");
}

/* The magnitude to which the bound is relative. */
static const char *const magnitudes[TSL_OP_COUNT] = {[TSL_OP_GEMM] = "|alpha||A||B|",
                                                     [TSL_OP_DOT] = "|alpha||x||y|",
                                                     [TSL_OP_TRANSPOSE] = "|alpha||A|",
                                                     [TSL_OP_SOLVE] = "|A||X| of |alpha B - A X|"};

static void add_bound(const tsl_product *product, tsl_table *table) {
  const tsl_plan_bound is = tsl_plan_facts_bound(product->facts);
  const double *beta = product->whole.beta;
  if (is.bound == 0)
    tsl_table_add_pair(table, "bound", "0: every bit is kept");
  else if (is.rounded)
    tsl_table_add_pair(table, "bound", "%.2g |s|: the exact result, rounded once", is.bound);
  else
    tsl_table_add_pair(table, "bound", "%.2g (%s%s%s), element by element", is.bound,
                       tsl_product_is_scaled(product) ? "|alpha||scale_a||A||B||scale_b|"
                                                      : magnitudes[product->request.op],
                       beta[0] != 0 || beta[1] != 0 ? " + |beta||C0|" : "",
                       product->request.bias_axis != TESELA_NO_BIAS ? " + |bias|" : "");
}

static void add_accuracy(const tsl_product *product, tsl_table *table) {
  add_bound(product, table);
  tsl_product_add_measured(product, table);
  tsl_product_add_checksums(product, table);
  tsl_product_add_checks(product, table);
  if (product->note[0])
    tsl_table_add_pair(table, "note", "%s", product->note);
}

/* The number of input files. */
enum { FEEDS = 7 };
static void feeds_of(const tsl_product *product, const tsl_matrix_source *feeds[FEEDS]) {
  feeds[0] = &product->a;
  feeds[1] = &product->b;
  feeds[2] = &product->c0;
  feeds[3] = &product->bias;
  feeds[4] = &product->scales[0];
  feeds[5] = &product->scales[1];
  feeds[6] = &product->expected;
}

/* Adds a note on skipped header lines, which may have been data. */
static void add_headers(const tsl_product *product, tsl_table *table) {
  const tsl_matrix_source *feeds[FEEDS];
  feeds_of(product, feeds);
  for (int i = 0; i < FEEDS; i++)
    if (feeds[i]->header)
      tsl_table_add_pair(table, "header", "%s: its first line has column names and is skipped",
                         feeds[i]->path);
}

/* Adds the sizes of blocks, and the file traffic during the computation. */
static void add_blocks(const tsl_product *product, tsl_table *table) {
  const tsl_blocks *blocks = product->blocks;
  char read[32], written[32], reading[32], writing[32], comparing[32], depth[48] = "";
  if (product->request.op == TSL_OP_GEMM)
    snprintf(depth, sizeof depth, ", k by %lld", (long long)blocks->size.depth);
  tsl_table_add_pair(table, "blocks", "%lld x %lld of C%s; %lld were there from an earlier run",
                     (long long)blocks->size.rows, (long long)blocks->size.cols, depth,
                     (long long)blocks->resumed);
  tsl_table_add_pair(table, "files", "%s read in %s, %s written in %s%s%s, during the computation",
                     tsl_format_bytes((uint64_t)blocks->read_bytes, read, sizeof read),
                     tsl_format_seconds(blocks->read_seconds, reading, sizeof reading),
                     tsl_format_bytes((uint64_t)blocks->written_bytes, written, sizeof written),
                     tsl_format_seconds(blocks->write_seconds, writing, sizeof writing),
                     product->expected.reader ? ", compared in " : "",
                     product->expected.reader
                         ? tsl_format_seconds(blocks->compare_seconds, comparing, sizeof comparing)
                         : "");
}

static void report_add_facts(const tsl_product *product, tsl_table *table) {
  char bytes[32], limit[32];
  add_headers(product, table);
  if (product->request.op == TSL_OP_DOT) {
    tsl_text number = {0};
    if (report_is_complex(product))
      tsl_text_add_complex(&number, product->result);
    else
      tsl_text_add_double(&number, product->result[0]);
    tsl_table_add_painted(table, TSL_PAINT_FAINT, "result");
    tsl_table_add_painted(table, TSL_PAINT_STRONG, "%s", tsl_text_get(&number));
    tsl_text_free(&number);
  }
  tsl_plan_facts_add_device(product->facts, table);
  tsl_table_add_pair(table, "memory", "%s of %s, %lld %s%s%s",
                     tsl_format_bytes(product->memory_needed, bytes, sizeof bytes),
                     tsl_format_bytes(product->memory, limit, sizeof limit), (long long)panel_count(product),
                     product->blocks ? "block" : "panel", panel_count(product) == 1 ? "" : "s",
                     product->blocks ? "" : " of rows");
  if (product->blocks)
    add_blocks(product, table);
  tsl_plan_facts_add_account(product->facts, table);
  add_accuracy(product, table);
}

static void add_stages(const tsl_product *product, tsl_table *table) {
  char time[32], rate[32];
  TSL_TABLE_COLUMNS(table, "phase", ">time", ">share", "");
  for (int i = 0; i < TSL_STAGE_COUNT; i++) {
    const double seconds = product->seconds[i];
    if (seconds == 0 && i != TSL_STAGE_COMPUTE)
      continue;
    tsl_table_add(table, "%s", tsl_stage_name((tsl_stage)i));
    tsl_table_add(table, "%s", tsl_format_seconds(seconds, time, sizeof time));
    tsl_table_add(table, "%.0f%%", 100 * seconds / product->total);
    if (i != TSL_STAGE_COMPUTE)
      tsl_table_add(table, "%s", "");
    else if (product->request.repeat == 1)
      tsl_table_add(table, "%s", format_rate(product, rate, sizeof rate));
    else
      tsl_table_add(table, "%s, median of %lld; fastest %s", format_rate(product, rate, sizeof rate),
                    (long long)product->request.repeat,
                    tsl_format_seconds(product->fastest, time, sizeof time));
  }
  tsl_table_add_painted(table, TSL_PAINT_STRONG, "total");
  tsl_table_add_painted(table, TSL_PAINT_STRONG, "%s", tsl_format_seconds(product->total, time, sizeof time));
  tsl_table_end_row(table);
}

static bool is_written(const tsl_product *product) {
  return product->request.output && product->verdict.right && product->difference.count == 0;
}

static tesela_status report_print_text(const tsl_product *product) {
  const int width = tsl_output_width();
  const bool colour = tsl_output_colour();
  tsl_text out = {0};
  tsl_table facts = tsl_table_of_pairs(), stages = {0};
  tsl_product_add_heading(product, &out);
  report_add_facts(product, &facts);
  add_stages(product, &stages);
  tsl_table_text(&facts, 2, width, colour, &out);
  tsl_text_add(&out, "\n");
  tsl_table_text(&stages, 2, width, colour, &out);
  if (is_written(product) && !tsl_matrix_to_standard(product->request.output))
    tsl_text_add(&out, "\n  wrote %s\n", product->request.output);
  out.failed |= facts.failed || stages.failed;
  tsl_table_free(&facts);
  tsl_table_free(&stages);
  return tsl_matrix_report(product->request.output, &out);
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

/* Returns the sizes and the members particular to a gemm. */
static json_t *json_gemm(const tsl_product *product) {
  const tsl_product_request *request = &product->request;
  json_t *object = json_pack("{s:I, s:I, s:I, s:o, s:b, s:b, s:b, s:b}", "m", (json_int_t)product->m, "n",
                             (json_int_t)product->n, "k", (json_int_t)product->k, "beta",
                             tsl_json_scalar(report_is_complex(product), request->beta), "transpose_a",
                             request->transpose_a, "transpose_b", request->transpose_b, "conjugate_a",
                             request->conjugate_a, "conjugate_b", request->conjugate_b);
  tsl_product_json_structures(product, object);
  tsl_product_json_finish(product, object);
  return object;
}

static json_t *json_solve(const tsl_product *product) {
  const tsl_product_request *request = &product->request;
  json_t *object = json_pack("{s:I, s:I, s:b, s:b, s:b}", "rows", (json_int_t)product->m, "columns",
                             (json_int_t)product->n, "right", request->right, "transpose",
                             request->transpose_a, "conjugate", request->conjugate_a);
  tsl_product_json_structures(product, object);
  return object;
}

static json_t *json_dot(const tsl_product *product) {
  return json_pack("{s:I, s:o, s:o}", "n", (json_int_t)product->k, "beta",
                   tsl_json_scalar(report_is_complex(product), product->request.beta), "result",
                   tsl_json_scalar(report_is_complex(product), product->result));
}

static json_t *json_transpose(const tsl_product *product) {
  return json_pack("{s:I, s:I, s:b}", "rows", (json_int_t)product->n, "columns", (json_int_t)product->m,
                   "in_place", product->request.in_place);
}

static json_t *json_blocks(const tsl_product *product) {
  const tsl_blocks *blocks = product->blocks;
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "count", (json_int_t)blocks->count,
                   "resumed", (json_int_t)blocks->resumed, "rows", (json_int_t)blocks->size.rows, "columns",
                   (json_int_t)blocks->size.cols, "depth", (json_int_t)blocks->size.depth, "bytes_read",
                   tsl_json_real(blocks->read_bytes), "seconds_reading", tsl_json_real(blocks->read_seconds),
                   "bytes_written", tsl_json_real(blocks->written_bytes), "seconds_writing",
                   tsl_json_real(blocks->write_seconds), "seconds_comparing",
                   tsl_json_real(blocks->compare_seconds));
}

static tesela_status report_print_json(const tsl_command_call *call, const tsl_product *product) {
  static json_t *(*const own[TSL_OP_COUNT])(const tsl_product *product) = {[TSL_OP_GEMM] = json_gemm,
                                                                           [TSL_OP_DOT] = json_dot,
                                                                           [TSL_OP_TRANSPOSE] =
                                                                               json_transpose,
                                                                           [TSL_OP_SOLVE] = json_solve};
  const tsl_product_request *request = &product->request;
  const tsl_matrix_source *feeds[FEEDS];
  json_t *headers = json_array();
  feeds_of(product, feeds);
  for (int i = 0; i < FEEDS; i++)
    if (feeds[i]->header)
      json_array_append_new(headers, json_string(feeds[i]->path));
  json_t *object = own[request->op](product);
  tsl_text types = {0};
  tsl_types_print(request->op, &product->types, &types);
  json_object_set_new(object, "type", json_string(tsl_text_get(&types)));
  json_object_set_new(object, "alpha", tsl_json_scalar(report_is_complex(product), request->alpha));
  tsl_plan_facts_json_device(product->facts, object);
  if (object)
    json_object_update_new(
        object,
        json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "panels",
                  (json_int_t)panel_count(product), "memory_bytes", (json_int_t)product->memory_needed,
                  "repeats", (json_int_t)request->repeat, "seconds", json_phases(product), "flops_per_second",
                  tsl_json_real(flops_per_second(product)), "bytes_per_second",
                  tsl_json_real(bytes_per_second(product)), "error_bound",
                  tsl_json_real(tsl_plan_facts_bound(product->facts).bound), "measured",
                  tsl_product_json_measured(product), "checksums", tsl_product_json_checksums(product),
                  "verified", tsl_product_json_verified(product), "expected",
                  tsl_product_json_expected(product), "headers", headers, "output",
                  is_written(product) ? json_string(request->output) : json_null(), "note",
                  product->note[0] ? json_string(product->note) : json_null()));
  if (product->blocks)
    json_object_set_new(object, "blocks", json_blocks(product));
  json_object_set_new(object, "account", tsl_plan_facts_json_account(product->facts));
  tsl_text_free(&types);
  return tsl_print_json(call, object);
}

/* --- */

/* Reports a wrong result in full before its message. */
static tesela_status report_report(const tsl_command_call *call, const tsl_product *product, bool quiet,
                                   bool json, tesela_status status) {
  tsl_status_saved saved;
  if (status != TESELA_OK && status != TESELA_WRONG_RESULT)
    return status;
  if (quiet && status == TESELA_OK)
    return TESELA_OK;
  tsl_status_save(&saved);
  const tesela_status printed = json ? report_print_json(call, product) : report_print_text(product);
  if (printed != TESELA_OK)
    return printed;
  tsl_status_restore(&saved);
  return status;
}

/* Plans by panels if the matrices held whole fit into memory, else by blocks if the files permit
 * it. */
static tesela_status plan_work(tsl_product *product) {
  if (product->by_blocks)
    return tsl_blocks_plan(product);
  if (product->request.resume)
    return tsl_blocks_refuse(product);
  const tesela_status status = tsl_product_plan(product);
  if (status != TESELA_OUT_OF_MEMORY || !tsl_blocks_can(product))
    return status;
  tsl_interrupt_guard(NULL);
  tsl_writer_close(product->writer);
  product->writer = NULL;
  product->by_blocks = true;
  return tsl_blocks_plan(product);
}

tesela_status tsl_product_do(const tsl_command_call *call, const tsl_product_request *request,
                             const tsl_product_options *options) {
  tsl_product product = {.context = NULL};
  tesela_status status = TESELA_OK;
  TSL_TRY(tsl_product_check_request(request));
  TSL_TRY(tsl_matrix_check_json(request->output, options->json));
  TSL_GO(tsl_product_open(request, &product));
  product.progress = tsl_progress_start(false);
  TSL_GO(plan_work(&product));
  status =
      product.by_blocks ? tsl_blocks_run(&product) : tsl_product_hint(&product, tsl_product_run(&product));
  tsl_progress_end(product.progress);
  product.progress = NULL;
  status = report_report(call, &product, options->quiet, options->json, status);
out:
  tsl_blocks_free(product.blocks);
  tsl_product_close(&product);
  tsl_interrupt_tell(NULL, NULL);
  tsl_interrupt_guard(NULL);
  return status;
}

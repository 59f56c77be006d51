/* The report of a run, for people and as JSON. */
#include "lab/lab.h"

#include "cli/language.h"
#include "core/status.h"
#include "inventory/report.h"
#include "page/page_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *tsl_lab_outcome_word(tsl_lab_outcome outcome) {
  static const char *const words[] = {N_("right"), N_("wrong"), N_("broken"), N_("not run on a device")};
  return words[outcome];
}

void tsl_lab_add_fault(tsl_lab_report *report, const tsl_lab_fault *fault) {
  for (int i = 0; i < report->fault_count; i++)
    if (strcmp(report->faults[i].text, fault->text) == 0)
      return;
  if (report->fault_count < TSL_LAB_FAULTS_MAX)
    report->faults[report->fault_count++] = *fault;
}

/* Appends the name of a line of the report, in its column. */
static void report_add_name(const char *name, tsl_text *out) {
  tsl_text_add(out, "  %s%*s", name, 10 - tsl_text_columns(name), "");
}

void tsl_lab_report_add_line(const char *name, const char *sentence, tsl_text *out) {
  report_add_name(name, out);
  tsl_tr_sentence(sentence, out);
  tsl_text_add(out, "\n");
}

/* Returns the number of the kernel's line that a sentence names: "kernel.cl:21" or "kernel.cu(21)"; 0: none.
 * *line: the line, *length: its bytes. */
static int64_t report_find_line(const tsl_lab_kernel *kernel, const char *sentence, const char **line,
                                size_t *length) {
  const size_t name = strlen(kernel->base);
  int64_t number = 0;
  for (const char *at = sentence; number == 0 && (at = strstr(at, kernel->base)) != NULL; at += name)
    if (at[name] == ':' || at[name] == '(')
      number = strtol(at + name + 1, NULL, 10);
  const char *found = kernel->text;
  for (int64_t i = 1; found && i < number; i++) {
    found = strchr(found, '\n');
    found = found ? found + 1 : NULL;
  }
  if (!found || number <= 0)
    return 0;
  *line = found;
  *length = strcspn(found, "\n");
  return number;
}

/* Quotes the line of the kernel that a sentence names. */
static void report_add_quote(const tsl_lab_kernel *kernel, const char *sentence, tsl_text *out) {
  const char *line;
  size_t length;
  const int64_t number = report_find_line(kernel, sentence, &line, &length);
  if (number > 0)
    tsl_text_add(out, "      %5lld | %.*s\n", (long long)number, (int)length, line);
}

/* Adds the line that a sentence names, and its number, to an object; null for none. */
static void report_set_line(const tsl_lab_kernel *kernel, const char *sentence, json_t *object) {
  const char *line;
  size_t length;
  const int64_t number = report_find_line(kernel, sentence, &line, &length);
  tsl_text source = {0};
  if (number > 0)
    tsl_text_add_bytes(&source, line, length);
  json_object_set_new(object, "line", number > 0 ? json_integer((json_int_t)number) : json_null());
  json_object_set_new(object, "source", number > 0 ? tsl_lab_json_text(tsl_text_get(&source)) : json_null());
  tsl_text_free(&source);
}

static const char *report_rate(const tsl_lab_report *report, double seconds, char *out, size_t size) {
  if (report->flops > 0)
    return tsl_format_flops(report->flops / seconds, out, size);
  return tsl_format_bandwidth(report->bytes / seconds, out, size);
}

static void report_add_rates(const tsl_lab_report *report, int width, bool colour, tsl_text *out) {
  tsl_table table = {0};
  tsl_table_column(&table, report->size, TSL_ALIGN_LEFT, false);
  tsl_table_column(&table, tsl_tr("time"), TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, tsl_tr("rate"), TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, tsl_tr("against yours"), TSL_ALIGN_RIGHT, false);
  for (int i = 0; i < report->rate_count; i++) {
    const tsl_lab_rate *rate = &report->rates[i];
    char time[48], speed[48];
    const double factor = report->rates[0].seconds / rate->seconds;
    tsl_table_add_painted(&table, i == 0 ? TSL_PAINT_STRONG : TSL_PAINT_NONE, "%s%s", rate->name,
                          i == 0 ? tsl_tr(" (yours)") : "");
    tsl_table_add(&table, "%s", tsl_format_seconds(rate->seconds, time, sizeof time));
    tsl_table_add(&table, "%s", report_rate(report, rate->seconds, speed, sizeof speed));
    if (i == 0)
      tsl_table_add(&table, "1");
    else
      tsl_table_add(&table, factor >= 1 ? tsl_tr("%.3gx faster") : tsl_tr("%.3gx slower"),
                    factor >= 1 ? factor : 1 / factor);
  }
  tsl_table_text(&table, 2, width, colour, out);
  out->failed |= table.failed;
  tsl_table_free(&table);
}

/* Appends the kernel's loads, which the detector counted. */
static void report_add_counts(const tsl_lab_kernel *kernel, const tsl_lab_report *report, tsl_text *out) {
  if (report->products <= 0)
    return;
  report_add_name(tsl_tr("counted"), out);
  tsl_text_add(out,
               kernel->op == TSL_OP_TRANSPOSE
                   ? tsl_tr("%.3g loads from global memory and %.3g from local memory for each element")
                   : tsl_tr("%.3g loads from global memory and %.3g from local memory for each multiply-add"),
               report->global_reads / report->products, report->local_reads / report->products);
  if (kernel->language != TSL_LAB_C) {
    tsl_text_add(out, tsl_tr("; %.3g barriers a work-item"), report->barriers);
    tsl_text_add(out, "\n");
    report_add_name(tsl_tr("lines"), out);
    tsl_text_add(out,
                 tsl_tr("32 neighbouring work-items touch %.3g lines of 64 bytes of global memory at once"),
                 report->lines);
  }
  tsl_text_add(out, "\n");
}

static void report_add_faults(const tsl_lab_kernel *kernel, const tsl_lab_report *report, int width,
                              tsl_text *out) {
  for (int i = 0; i < report->fault_count; i++) {
    tsl_text kind = {0};
    tsl_tr_sentence(report->faults[i].kind, &kind);
    report_add_name(tsl_tr("fault"), out);
    tsl_text_add(out, "%s: ", tsl_text_get(&kind));
    tsl_text_add_wrapped(out, report->faults[i].shown, 14 + tsl_text_columns(tsl_text_get(&kind)), 12, width);
    tsl_text_add(out, "\n");
    report_add_quote(kernel, report->faults[i].text, out);
    tsl_text_free(&kind);
  }
  if (*report->undetected) {
    report_add_name(tsl_tr("detector"), out);
    tsl_text_add(out, "%s: ", tsl_tr("did not run"));
    tsl_tr_sentence(report->undetected, out);
    tsl_text_add(out, "\n");
  } else if (report->fault_count == 0 && report->products > 0)
    tsl_lab_report_add_line(tsl_tr("detector"), N_("no fault found, item by item on the processor"), out);
}

static void report_add_judgement(const tsl_lab_report *report, tsl_text *out) {
  if (report->cases > 0 && report->cases_right == report->cases) {
    report_add_name(tsl_tr("judged"), out);
    tsl_text_add(out, tsl_tr("right: all %d standard shapes, largest error %.3g of the bound"), report->cases,
                 report->error);
    tsl_text_add(out, "\n");
  } else if (report->cases > 0 && report->outcome == TSL_LAB_WRONG && *report->wrong) {
    report_add_name(tsl_tr("judged"), out);
    tsl_text_add(out, "%s: ", tsl_tr("wrong"));
    tsl_tr_sentence(report->wrong, out);
    tsl_text_add(out, "\n            (");
    tsl_text_add(
        out, tsl_tr_count("%d shape was right before", "%d shapes were right before", report->cases_right),
        report->cases_right);
    tsl_text_add(out, ")\n");
  }
  if (report->outcome == TSL_LAB_UNTRIED)
    tsl_lab_report_add_line(
        tsl_tr("judged"),
        *report->undetected ? N_("not at all: no CUDA device is here; NVRTC compiled the kernel")
                            : N_("only by the detector: no CUDA device is here; NVRTC compiled the kernel"),
        out);
}

static void report_add_reason(const tsl_lab_report *report, int width, tsl_text *out) {
  tsl_text over = {0}, why = {0};
  tsl_text_add(&over, tsl_tr("over %s: "), report->partner);
  tsl_tr_sentence(report->why, &why);
  report_add_name(tsl_tr("why"), out);
  tsl_text_add(out, "%s", tsl_text_get(&over));
  tsl_text_add_wrapped(out, tsl_text_get(&why), 12 + tsl_text_columns(tsl_text_get(&over)), 12, width);
  tsl_text_add(out, "\n");
  tsl_text_free(&over);
  tsl_text_free(&why);
}

void tsl_lab_report_add(const tsl_lab_kernel *kernel, const tsl_lab_report *report, int width, bool colour,
                        tsl_text *out) {
  tsl_text_add(out, "%s: %s, %s, %s", kernel->file, tsl_op_name(kernel->op), tsl_type(kernel->type)->name,
               tsl_lab_language_title(kernel->language));
  if (*report->device)
    tsl_text_add(out, tsl_tr("; device %s%s%s"), tsl_tr(report->device), *report->device_label ? ", " : "",
                 report->device_label);
  tsl_text_add(out, "\n");
  if (report->outcome == TSL_LAB_BROKEN) {
    tsl_lab_report_add_line(tsl_tr("broken"), report->failure, out);
    report_add_quote(kernel, report->failure, out);
  }
  report_add_faults(kernel, report, width, out);
  report_add_judgement(report, out);
  report_add_counts(kernel, report, out);
  if (report->rate_count > 0)
    report_add_rates(report, width, colour, out);
  if (*report->why)
    report_add_reason(report, width, out);
}

json_t *tsl_lab_json_text(const char *text) {
  tsl_text clean = {0};
  tsl_page_clean(text, &clean);
  json_t *const value = clean.failed ? NULL : json_string(tsl_text_get(&clean));
  tsl_text_free(&clean);
  return value;
}

/* Returns a fault, or another sentence about the kernel, with the line that it names. */
static json_t *report_fault_json(const tsl_lab_kernel *kernel, const char *kind, const char *text) {
  json_t *fault = json_pack("{s:s, s:o}", "kind", kind, "text", tsl_lab_json_text(text));
  report_set_line(kernel, text, fault);
  return fault;
}

json_t *tsl_lab_report_json(const tsl_lab_kernel *kernel, const tsl_lab_report *report) {
  json_t *faults = json_array(), *rates = json_array();
  char hash[33];
  tsl_hash_text(kernel->hash, hash);
  for (int i = 0; i < report->fault_count; i++)
    json_array_append_new(faults, report_fault_json(kernel, report->faults[i].kind, report->faults[i].text));
  for (int i = 0; i < report->rate_count; i++)
    json_array_append_new(rates, json_pack("{s:s, s:o}", "name", report->rates[i].name, "seconds",
                                           tsl_json_real(report->rates[i].seconds)));
  json_t *counted = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "global_reads", report->global_reads,
                              "global_writes", report->global_writes, "local_reads", report->local_reads,
                              "local_writes", report->local_writes, "barriers", report->barriers,
                              "multiply_adds", report->products, "lines", report->lines);
  json_t *const object = json_pack(
      "{s:o, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:i, s:i, s:o, s:f, s:s, s:f, s:f, s:o, s:o}",
      "name", tsl_lab_json_text(kernel->name), "operation", tsl_op_name(kernel->op), "language",
      tsl_lab_language_word(kernel->language), "type", tsl_type(kernel->type)->name, "hash", hash, "device",
      report->device, "verdict", tsl_lab_outcome_word(report->outcome), "faults", faults, "undetected",
      tsl_lab_json_text(report->undetected), "failure", tsl_lab_json_text(report->failure), "shapes",
      report->cases, "shapes_right", report->cases_right, "wrong", tsl_lab_json_text(report->wrong),
      "error_of_bound", report->error, "size", report->size, "flops", report->flops, "bytes", report->bytes,
      "rates", rates, "counted", counted);
  report_set_line(kernel, report->failure, object);
  json_t *why =
      *report->why ? json_pack("{s:s, s:s, s:o, s:o, s:s, s:s}", "partner", report->partner, "agreement",
                               report->agreement, "predicted_factor", tsl_json_real(report->predicted_factor),
                               "measured_factor", tsl_json_real(report->measured_factor), "reason",
                               report->reason, "comparison", report->why)
                   : json_null();
  json_object_set_new(object, "why", why);
  return object;
}

tesela_status tsl_lab_conclude(const tsl_lab_kernel *kernel, const tsl_lab_report *report) {
  switch (report->outcome) {
  case TSL_LAB_BROKEN:
    tsl_status_keep_log(report->log);
    return tsl_fail(report->status, "%s", report->failure);
  case TSL_LAB_WRONG:
    return report->fault_count > 0
               ? tsl_fail(TESELA_WRONG_RESULT,
                          report->fault_count == 1 ? N_("%s: %d fault was found; the first: %s")
                                                   : N_("%s: %d faults were found; the first: %s"),
                          kernel->file, report->fault_count, report->faults[0].kind)
               : tsl_fail(TESELA_WRONG_RESULT, "%s is wrong on a standard shape", kernel->file);
  case TSL_LAB_UNTRIED:
    return *report->undetected
               ? tsl_fail(TESELA_UNSUPPORTED, "%s compiles, but nothing judged it", kernel->file)
               : TESELA_OK;
  default:
    return TESELA_OK;
  }
}

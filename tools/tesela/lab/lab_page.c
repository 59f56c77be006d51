/* The page of --html: a kernel's report, or the ranking of a class. */
#include "lab/lab.h"

#include "cli/interrupt.h"
#include "page/page.h"

enum { WIDTH = 110 /* of the text for readers without scripts */ };

static const char *page_locale(const tsl_command_call *call) {
  return ((const tsl_lab_options *)call->options)->locale;
}

tesela_status tsl_lab_page_open(const tsl_lab_options *options, tsl_output *page) {
  return options->html ? tsl_page_open(options->html, page) : TESELA_OK;
}

void tsl_lab_page_close(tsl_output *page) {
  tsl_output_close(page);
  tsl_interrupt_guard(NULL);
}

json_t *tsl_lab_page_json(const tsl_lab_kernel *kernel, const tsl_lab_report *report) {
  json_t *object = tsl_lab_report_json(kernel, report);
  json_object_set_new(object, "file", json_string(kernel->base));
  json_object_set_new(object, "kernel", tsl_lab_json_text(kernel->text));
  json_object_set_new(object, "device_label", tsl_lab_json_text(report->device_label));
  return object;
}

json_t *tsl_lab_page_json_shown(const tsl_lab_kernel *kernel, const tsl_lab_report *report) {
  json_t *object = tsl_lab_page_json(kernel, report), *fault;
  size_t i;
  json_array_foreach(json_object_get(object, "faults"), i, fault)
      json_object_set_new(fault, "text", tsl_lab_json_text(report->faults[i].shown));
  return object;
}

tesela_status tsl_lab_page_write(const tsl_command_call *call, const tsl_lab_kernel *kernel,
                                 const tsl_lab_report *report, tsl_output *page) {
  tsl_text text = {0};
  if (!page->path)
    return TESELA_OK;
  tsl_lab_report_add(kernel, report, WIDTH, false, &text);
  const tesela_status status = tsl_page_write_object(call, page_locale(call), kernel->name, "lab",
                                                     tsl_lab_page_json_shown(kernel, report), &text, page);
  tsl_text_free(&text);
  return status;
}

tesela_status tsl_lab_page_write_class(const tsl_command_call *call, json_t *kernels, const tsl_text *text,
                                       tsl_output *page) {
  return tsl_page_write_object(call, page_locale(call), call->words[1], "class", kernels, text, page);
}

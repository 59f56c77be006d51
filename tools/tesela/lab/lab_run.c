/* tesela lab run, watch and pack. */
#include "cli/language.h"
#include "lab/lab.h"

#include "core/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Prints the report, and writes the page of --html. */
static tesela_status run_print(const tsl_command_call *call, const tsl_lab_kernel *kernel,
                               const tsl_lab_report *report, bool json, tsl_output *page) {
  tsl_text out = {0};
  TSL_TRY(tsl_lab_page_write(call, kernel, report, page));
  if (json)
    return tsl_print_json(call, tsl_lab_report_json(kernel, report));
  tsl_lab_report_add(kernel, report, tsl_output_width(), tsl_output_colour(), &out);
  return tsl_print(&out);
}

static tesela_status run_once(const tsl_command_call *call, bool json) {
  const tsl_lab_options *given = call->options;
  tsl_lab_kernel kernel;
  tsl_lab_report report;
  tsl_output page = {0};
  TSL_TRY(tsl_lab_kernel_read(call->words[1], &kernel));
  tesela_status status = tsl_lab_page_open(given, &page);
  if (status == TESELA_OK)
    status = tsl_lab_try(&kernel, given, &report);
  if (status == TESELA_OK)
    status = run_print(call, &kernel, &report, json, &page);
  if (status == TESELA_OK)
    status = tsl_lab_conclude(&kernel, &report);
  tsl_lab_page_close(&page);
  tsl_lab_kernel_free(&kernel);
  return status;
}

tesela_status tsl_lab_run(const tsl_command_call *call) {
  return run_once(call, ((const tsl_lab_options *)call->options)->json);
}

/* Returns a number that changes when a file of the folder is saved. */
static uint64_t watch_stamp(const char *folder) {
  static const char *const names[] = {"kernel.cl", "kernel.cu", "kernel.c", "parameters"};
  tsl_hash hash = tsl_hash_start();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[PATH_MAX + 16];
    struct stat state;
    snprintf(path, sizeof path, "%.4000s/%s", folder, names[i]);
    if (stat(path, &state) == 0) {
      const long long parts[] = {(long long)state.st_mtim.tv_sec, state.st_mtim.tv_nsec,
                                 (long long)state.st_size, (long long)state.st_ino};
      hash = tsl_hash_add(hash, parts, sizeof parts);
    }
  }
  return hash.low ^ hash.high;
}

tesela_status tsl_lab_watch(const tsl_command_call *call) {
  const tsl_lab_options *given = call->options;
  tesela_status status = TESELA_OK;
  for (int64_t run = 0; given->times == 0 || run < given->times; run++) {
    const uint64_t stamp = watch_stamp(call->words[1]);
    status = run_once(call, false);
    if (run + 1 == given->times)
      break;
    if (status != TESELA_OK) {
      tsl_text sentence = {0};
      tsl_tr_sentence(tesela_last_error(), &sentence);
      fprintf(stderr, "tesela lab: %s\n", tsl_text_get(&sentence));
      tsl_text_free(&sentence);
      if (status == TESELA_BUILD_FAILED && *tesela_last_log())
        fprintf(stderr, "%s\n", tesela_last_log());
    }
    printf("%s\n", tsl_tr("waiting for the next save; Ctrl-C ends"));
    fflush(stdout);
    while (watch_stamp(call->words[1]) == stamp)
      nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
  }
  return status;
}

/* Returns the report with the kernel itself, and with machine and date. */
static json_t *pack_json(const tsl_lab_kernel *kernel, const tsl_lab_report *report, const char *parameters) {
  char date[32], host[128] = "";
  const time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  gethostname(host, sizeof host - 1);
  json_t *object = tsl_lab_page_json(kernel, report);
  json_t *more = json_pack("{s:s, s:s, s:s, s:s}", "kernel", kernel->text, "parameters", parameters,
                           "machine", host, "date", date);
  if (!object || !more || json_object_update(object, more) != 0) {
    json_decref(object);
    object = NULL;
  }
  json_decref(more);
  return object;
}

tesela_status tsl_lab_pack(const tsl_command_call *call) {
  const tsl_lab_options *given = call->options;
  char path[PATH_MAX], *parameters = NULL, *text = NULL;
  tsl_lab_kernel kernel;
  tsl_lab_report report;
  tsl_text out = {0};
  tsl_output page = {0};
  TSL_TRY(tsl_lab_kernel_read(call->words[1], &kernel));
  tesela_status status = TESELA_OK;
  TSL_GO(tsl_lab_page_open(given, &page));
  snprintf(path, sizeof path, "%.4000s/parameters", kernel.folder);
  TSL_GO(tsl_lab_read_file(path, &parameters));
  TSL_GO(tsl_lab_try(&kernel, given, &report));
  json_t *object = pack_json(&kernel, &report, parameters);
  if (object)
    json_object_set_new(object, "tesela", json_string(tesela_version()));
  text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
  json_decref(object);
  if (!text) {
    status = tsl_fail(TESELA_BAD_INPUT,
                      "%s: kernel or parameters are no UTF-8 text; saved as UTF-8 they can be packed",
                      kernel.file);
    goto out;
  }
  snprintf(path, sizeof path, "%.100s.lab.json", kernel.name);
  FILE *file = fopen(given->output ? given->output : path, "wb");
  if (!file || fputs(text, file) < 0 || fputc('\n', file) < 0 || fclose(file) != 0) {
    status = tsl_fail(TESELA_IO_FAILED, "%s: %s", given->output ? given->output : path, strerror(errno));
    goto out;
  }
  TSL_GO(tsl_lab_page_write(call, &kernel, &report, &page));
  tsl_lab_report_add(&kernel, &report, tsl_output_width(), tsl_output_colour(), &out);
  tsl_lab_report_add_line(tsl_tr("packed"), given->output ? given->output : path, &out);
  status = tsl_print(&out);
out:
  free(text);
  free(parameters);
  tsl_lab_page_close(&page);
  tsl_lab_kernel_free(&kernel);
  return status;
}

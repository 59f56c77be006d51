/* tesela lab grade: every kernel of a folder, each in a child process with limits, ranked. */
#include "lab/lab.h"

#include "cli/language.h"
#include "core/status.h"
#include "inventory/report.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct grade_row {
  tsl_lab_kernel kernel;
  tsl_lab_report report;
  bool is_read;
  char name[128];
} grade_row;

enum { ROWS_MAX = 512 };

static bool grade_is_folder(const char *path) {
  struct stat state;
  return stat(path, &state) == 0 && S_ISDIR(state.st_mode);
}

static int grade_compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lists the folders in a folder, in the order of their names. */
static tesela_status grade_list(const char *folder, char *names[ROWS_MAX], int *count) {
  struct dirent *entry;
  DIR *open = opendir(folder);
  *count = 0;
  if (!open)
    return tsl_fail(TESELA_BAD_INPUT, "%s: %s", folder, strerror(errno));
  bool is_full = false;
  while (!is_full && (entry = readdir(open)) != NULL) {
    char path[PATH_MAX + 300];
    snprintf(path, sizeof path, "%.3800s/%s", folder, entry->d_name);
    if (entry->d_name[0] == '.' || !grade_is_folder(path))
      continue;
    is_full = *count == ROWS_MAX;
    if (!is_full && (names[*count] = strdup(path)) != NULL)
      ++*count;
  }
  closedir(open);
  qsort(names, (size_t)*count, sizeof *names, grade_compare_names);
  for (int i = 0; is_full && i < ROWS_MAX; i++)
    free(names[i]);
  if (is_full)
    return tsl_fail(TESELA_BAD_INPUT, "%s has more than %d folders: grade them in several folders", folder,
                    ROWS_MAX);
  return *count > 0 ? TESELA_OK
                    : tsl_fail(TESELA_BAD_INPUT, "%s: this folder has no folders with kernels", folder);
}

static double grade_seconds(const grade_row *row) {
  return row->report.rate_count > 0 && !isnan(row->report.rates[0].seconds) ? row->report.rates[0].seconds
                                                                            : INFINITY;
}

/* Right kernels first, the fastest of these first; the rest by their names. */
static int grade_compare(const void *a, const void *b) {
  const grade_row *first = *(grade_row *const *)a, *second = *(grade_row *const *)b;
  const bool right[] = {first->is_read && first->report.outcome == TSL_LAB_RIGHT,
                        second->is_read && second->report.outcome == TSL_LAB_RIGHT};
  if (right[0] != right[1])
    return right[0] ? -1 : 1;
  if (right[0] && grade_seconds(first) != grade_seconds(second))
    return grade_seconds(first) < grade_seconds(second) ? -1 : 1;
  return strcmp(first->name, second->name);
}

static void grade_try(const char *path, const tsl_lab_options *options, grade_row *row) {
  const char *slash = strrchr(path, '/');
  snprintf(row->name, sizeof row->name, "%.127s", slash ? slash + 1 : path);
  row->is_read = tsl_lab_kernel_read(path, &row->kernel) == TESELA_OK;
  if (row->is_read && tsl_lab_try(&row->kernel, options, &row->report) == TESELA_OK)
    return;
  row->report.outcome = TSL_LAB_BROKEN;
  snprintf(row->report.failure, sizeof row->report.failure, "%s", tesela_last_error());
}

/* Returns the reason of a kernel that is not right. */
static const char *grade_why(const grade_row *row) {
  const tsl_lab_report *report = &row->report;
  return report->outcome == TSL_LAB_BROKEN ? report->failure
         : report->fault_count > 0         ? report->faults[0].kind
                                           : report->wrong;
}

static void grade_add_row(const grade_row *row, int rank, tsl_table *table) {
  char text[48];
  const double seconds = grade_seconds(row);
  const bool is_right = row->report.outcome == TSL_LAB_RIGHT;
  tsl_table_add(table, is_right ? "%d" : "-", rank);
  tsl_table_add(table, "%s", row->name);
  tsl_table_add(table, "%s", row->is_read ? tsl_lab_language_word(row->kernel.language) : "-");
  tsl_table_add_painted(table, is_right ? TSL_PAINT_GOOD : TSL_PAINT_BAD, "%s",
                        tsl_tr(tsl_lab_outcome_word(row->report.outcome)));
  tsl_table_add(table, "%d", row->report.cases_right);
  if (isinf(seconds))
    tsl_table_add(table, "-");
  else
    tsl_table_add(table, "%s",
                  row->report.flops > 0
                      ? tsl_format_flops(row->report.flops / seconds, text, sizeof text)
                      : tsl_format_bandwidth(row->report.bytes / seconds, text, sizeof text));
  tsl_text why = {0};
  tsl_tr_sentence(is_right ? "" : grade_why(row), &why);
  tsl_table_add(table, "%s", tsl_text_get(&why));
  tsl_text_free(&why);
}

/* Returns the kernels in the order of the ranking. `make`: tsl_lab_report_json() or
 * tsl_lab_page_json_shown(). */
static json_t *grade_json(grade_row *const *rows, int count,
                          json_t *(*make)(const tsl_lab_kernel *kernel, const tsl_lab_report *report)) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(list, rows[i]->is_read
                                    ? make(&rows[i]->kernel, &rows[i]->report)
                                    : json_pack("{s:o, s:s, s:o}", "name", tsl_lab_json_text(rows[i]->name),
                                                "verdict", "broken", "failure",
                                                tsl_lab_json_text(rows[i]->report.failure)));
  return list;
}

static void grade_add_table(grade_row *const *rows, int count, bool markdown, int width, bool colour,
                            tsl_text *out) {
  tsl_table table = {0};
  tsl_table_column(&table, tsl_tr("rank"), TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, tsl_tr("name"), TSL_ALIGN_LEFT, false);
  tsl_table_column(&table, tsl_tr("language"), TSL_ALIGN_LEFT, false);
  tsl_table_column(&table, tsl_tr("verdict"), TSL_ALIGN_LEFT, false);
  tsl_table_column(&table, tsl_tr("shapes right"), TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, tsl_tr("rate"), TSL_ALIGN_RIGHT, false);
  tsl_table_column(&table, tsl_tr("why"), TSL_ALIGN_LEFT, true);
  for (int i = 0; i < count; i++)
    grade_add_row(rows[i], i + 1, &table);
  if (markdown)
    tsl_table_markdown(&table, out);
  else
    tsl_table_text(&table, 0, width, colour, out);
  out->failed |= table.failed;
  tsl_table_free(&table);
}

static tesela_status grade_write_page(const tsl_command_call *call, grade_row *const *rows, int count,
                                      tsl_output *page) {
  tsl_text text = {0};
  if (!page->path)
    return TESELA_OK;
  grade_add_table(rows, count, false, 0, false, &text);
  const tesela_status status =
      tsl_lab_page_write_class(call, grade_json(rows, count, tsl_lab_page_json_shown), &text, page);
  tsl_text_free(&text);
  return status;
}

static tesela_status grade_print(const tsl_command_call *call, grade_row *const *rows, int count) {
  const tsl_lab_options *given = call->options;
  tsl_text out = {0};
  if (given->json)
    return tsl_print_json(call, json_pack("{s:o}", "kernels", grade_json(rows, count, tsl_lab_report_json)));
  grade_add_table(rows, count, given->markdown, tsl_output_width(), tsl_output_colour(), &out);
  return tsl_print(&out);
}

tesela_status tsl_lab_grade(const tsl_command_call *call) {
  char *names[ROWS_MAX];
  grade_row *rows[ROWS_MAX];
  tsl_lab_options options = *(const tsl_lab_options *)call->options;
  int count = 0, tried = 0;
  tsl_output page = {0};
  options.quiet = true;
  TSL_TRY(grade_list(call->words[1], names, &count));
  tesela_status status = tsl_lab_page_open(&options, &page);
  for (; status == TESELA_OK && tried < count; tried++) {
    rows[tried] = calloc(1, sizeof **rows);
    if (!rows[tried])
      break;
    grade_try(names[tried], &options, rows[tried]);
  }
  if (status == TESELA_OK && tried < count)
    status = tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a table of kernels");
  qsort(rows, (size_t)tried, sizeof *rows, grade_compare);
  if (status == TESELA_OK)
    status = grade_write_page(call, rows, tried, &page);
  if (status == TESELA_OK)
    status = grade_print(call, rows, tried);
  tsl_lab_page_close(&page);
  for (int i = 0; i < count; i++)
    free(names[i]);
  for (int i = 0; i < tried; i++) {
    tsl_lab_kernel_free(&rows[i]->kernel);
    free(rows[i]);
  }
  return status;
}

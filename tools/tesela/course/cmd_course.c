/* tesela course: the experiments of the five teaching documents on this machine. */
#include "cli/interrupt.h"
#include "cli/language.h"
#include "cli/tool.h"
#include "core/list_text.h"
#include "core/status.h"
#include "course/course_run.h"
#include "explore/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct course_options {
  const char *devices, *locale;
  double seconds;
  int64_t threads;
  bool quick, json, markdown;
} course_options;

static const tsl_option options[] = {
    TSL_OPTION(course_options, devices, "devices", DEVICES, NULL,
               "use these devices, such as cpu,opencl:0 or all; one processor and one GPU take part "
               "(default: TESELA_DEVICE, else all)"),
    TSL_OPTION(course_options, quick, "quick", FLAG, NULL,
               "small sizes and short measurements; the figures then say nothing about the document's"),
    TSL_OPTION(course_options, seconds, "seconds", SECONDS, "0.5", "time for each entry"),
    TSL_OPTION(course_options, threads, "threads", COUNT, NULL, "limit the number of host threads"),
    TSL_OPTION(course_options, markdown, "markdown", FLAG, NULL, "print Markdown"),
    TSL_OPTION_LOCALE(course_options, locale, "the text"),
    TSL_OPTION_JSON(course_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela course", "the five documents"},
    {"tesela course mattson", "the tables of one document, with its figures and this machine's"},
    {"tesela course bulic --quick", "a minute's look at another one"},
    {NULL, NULL},
};

typedef struct course_work {
  const tsl_command_call *call;
  const course_options *given;
  tsl_course_run run;
} course_work;

static const char *place_title(tsl_course_place place) {
  static const char *const titles[] = {TSL_COURSE_PLACE_LIST(TSL_LIST_TEXT)};
  return titles[place];
}

static const char *unit_title(tsl_course_unit unit) {
  static const char *const titles[] = {TSL_COURSE_UNIT_LIST(TSL_LIST_TEXT)};
  return titles[unit];
}

/* Returns a published figure, or its speed-up over the first row on the same machine; NaN: none. */
static double published_value(const tsl_course_document *document, const tsl_course_table *table, int row,
                              int column, bool speedup) {
  const double value = table->rows[row].published[column];
  const double first = table->rows[0].published[document->published[column].baseline];
  if (value == 0 || (speedup && first == 0))
    return NAN;
  return !speedup ? value : table->unit == TSL_COURSE_MFLOPS ? value / first : first / value;
}

static bool has_figures(const tsl_course_table *table, int column) {
  for (int row = 0; row < tsl_course_rows(table); row++)
    if (table->rows[row].published[column] != 0)
      return true;
  return false;
}

/* --- tables --- */

static void add_own_cell(const tsl_course_run *run, tsl_course_cell cell, tsl_course_place place,
                         bool speedup, tsl_table *out) {
  const tsl_course_table *table = &run->document->tables[cell.table];
  const tsl_point *point = tsl_course_point(run, cell, place);
  if (place == TSL_COURSE_GPU && table->rows[cell.row].cpu_only)
    tsl_table_add(out, "N/A");
  else if (!point)
    tsl_table_add_painted(out, TSL_PAINT_FAINT, "-");
  else if (speedup)
    tsl_explore_add_result(point, tsl_point_speedup(&run->tables[cell.table], point), out);
  else
    tsl_explore_add_result(point, tsl_course_value(table, point), out);
}

static void add_published_cell(const tsl_course_document *document, const tsl_course_table *table, int row,
                               int column, bool speedup, tsl_table *out) {
  char text[32];
  if (document->published[column].place == TSL_COURSE_GPU && table->rows[row].cpu_only)
    tsl_table_add(out, "N/A");
  else
    tsl_table_add_painted(
        out, TSL_PAINT_FAINT, "%s",
        tsl_format_number(published_value(document, table, row, column, speedup), text, sizeof text));
}

/* Adds this machine's column of each place, and the published columns of the place after it. */
static void course_add_table(const course_work *job, int index, bool speedup, const tsl_form *form,
                             tsl_text *out) {
  const tsl_course_document *document = job->run.document;
  const tsl_course_table *table = &document->tables[index];
  const tsl_exploration *all = &job->run.tables[index];
  static const char *const own_titles[] = {N_("CPU, here"), N_("GPU, here")};
  tsl_table cells = {0};
  tsl_text title = {0};
  tsl_table_column(&cells, tsl_tr("row"), TSL_ALIGN_LEFT, true);
  for (int place = 0; place < TSL_COURSE_PLACES; place++) {
    tsl_table_column(&cells, tsl_tr(own_titles[place]), TSL_ALIGN_RIGHT, false);
    for (int i = 0; i < TSL_COURSE_PUBLISHED_MAX; i++)
      if (has_figures(table, i) && (int)document->published[i].place == place)
        tsl_table_column(&cells, tsl_tr(document->published[i].title), TSL_ALIGN_RIGHT, false);
  }
  for (int row = 0; row < tsl_course_rows(table); row++) {
    tsl_table_add(&cells, "%s", tsl_tr(table->rows[row].name));
    for (int place = 0; place < TSL_COURSE_PLACES; place++) {
      add_own_cell(&job->run, (tsl_course_cell){index, row}, (tsl_course_place)place, speedup, &cells);
      for (int i = 0; i < TSL_COURSE_PUBLISHED_MAX; i++)
        if (has_figures(table, i) && (int)document->published[i].place == place)
          add_published_cell(document, table, row, i, speedup, &cells);
    }
  }
  if (speedup)
    tsl_text_add(&title, tsl_tr("Speed-up over \"%s\""), tsl_tr(table->rows[0].name));
  else
    tsl_text_add(&title, "%s: %s, %s", tsl_tr(table->title), unit_title(table->unit), table->type);
  if (job->given->quick) {
    tsl_text_add(&title, "; --quick: ");
    tsl_explore_add_size(all, 0, &title);
  }
  tsl_form_add_table(form, tsl_text_get(&title), &cells, out);
  out->failed |= title.failed;
  tsl_text_free(&title);
  tsl_table_free(&cells);
}

/* Appends why rows have no figure of this machine. */
static void add_missing(const course_work *job, int index, const tsl_form *form, tsl_text *out) {
  const tsl_course_table *table = &job->run.document->tables[index];
  const size_t before = out->length;
  for (int row = 0; row < tsl_course_rows(table); row++)
    for (int place = 0; place < TSL_COURSE_PLACES; place++) {
      const tsl_point *point =
          tsl_course_point(&job->run, (tsl_course_cell){index, row}, (tsl_course_place)place);
      tsl_text line = {0};
      if (!point || point->entry.result == TSL_CASE_RIGHT ||
          (place == TSL_COURSE_GPU && table->rows[row].cpu_only))
        continue;
      tsl_text_add(&line, "%s, %s: %s: ", tsl_tr(table->rows[row].name), place_title((tsl_course_place)place),
                   tsl_tr(tsl_point_result(point)));
      tsl_tr_sentence(point->entry.why, &line);
      tsl_form_add_line(form, true, tsl_text_get(&line), out);
      tsl_text_free(&line);
    }
  tsl_text_add(out, "%s", out->length > before ? "\n" : "");
}

/* --- questions --- */

static const char *row_name(const tsl_course_document *document, tsl_course_cell cell) {
  return document->tables[cell.table].rows[cell.row].name;
}

static void add_expectation(const tsl_course_question *question, tsl_text *line) {
  if (question->max > 0)
    tsl_text_add(line, tsl_tr(" (expected: %g to %g)"), question->min, question->max);
  else
    tsl_text_add(line, tsl_tr(" (expected: at least %g)"), question->min);
}

/* Appends the verdict at a place: "CPU: holds here: "TW = 16" is 1.4 times as fast as "TW = 8"". */
static void add_verdict(const course_work *job, const tsl_course_question *question, tsl_course_place place,
                        const tsl_form *form, tsl_text *out) {
  static const tsl_paint paints[] = {[TSL_COURSE_HOLDS] = TSL_PAINT_GOOD,
                                     [TSL_COURSE_CONTRADICTED] = TSL_PAINT_BAD,
                                     [TSL_COURSE_NOISY] = TSL_PAINT_FAINT,
                                     [TSL_COURSE_UNCHECKED] = TSL_PAINT_FAINT};
  static const char *const words[] = {[TSL_COURSE_HOLDS] = N_("holds here"),
                                      [TSL_COURSE_CONTRADICTED] = N_("CONTRADICTED by this machine"),
                                      [TSL_COURSE_NOISY] = N_("undecided, the run is too noisy"),
                                      [TSL_COURSE_UNCHECKED] = N_("not checked")};
  const tsl_course_document *document = job->run.document;
  const tsl_course_check check = tsl_course_check_answer(&job->run, question, place);
  tsl_text line = {0}, wrapped = {0};
  char factor[32], low[32], high[32];
  tsl_text_add(&line, "%s: %s: ", place_title(place), tsl_tr(words[check.verdict]));
  if (check.verdict != TSL_COURSE_UNCHECKED) {
    tsl_text_add(&line, tsl_tr("\"%s\" is %s times as fast as \"%s\", by the quartiles %s to %s"),
                 tsl_tr(row_name(document, question->fast)),
                 tsl_format_number(check.factor, factor, sizeof factor),
                 tsl_tr(row_name(document, question->slow)), tsl_format_number(check.low, low, sizeof low),
                 tsl_format_number(check.high, high, sizeof high));
    add_expectation(question, &line);
  } else if (!job->run.has_place[place])
    tsl_text_add(&line, tsl_tr("there is no %s among the devices"), place_title(place));
  else {
    const tsl_point *missing =
        !check.fast || check.fast->entry.result != TSL_CASE_RIGHT ? check.fast : check.slow;
    tsl_tr_sentence(missing && *missing->entry.why ? missing->entry.why : N_("it was not measured"), &line);
  }
  tsl_text_add_wrapped(&wrapped, tsl_text_get(&line), 5, 5, form->width);
  tsl_text_add(out, "     ");
  tsl_text_add_painted(out, paints[check.verdict], form->colour, tsl_text_get(&wrapped));
  tsl_text_add(out, "\n");
  out->failed |= line.failed || wrapped.failed;
  tsl_text_free(&line);
  tsl_text_free(&wrapped);
}

/* Appends the factor of a question by the published figures; nothing if there are none. */
static void add_published_factor(const tsl_course_document *document, const tsl_course_question *question,
                                 tsl_text *out) {
  int count = 0;
  for (int i = 0; i < TSL_COURSE_PUBLISHED_MAX; i++) {
    const tsl_course_table *fast = &document->tables[question->fast.table],
                           *slow = &document->tables[question->slow.table];
    const int slow_column = slow->rows[question->slow.row].cpu_only ? document->published[i].baseline : i;
    const double over = slow->rows[question->slow.row].published[slow_column],
                 value = fast->rows[question->fast.row].published[i];
    char text[32];
    if (over == 0 || value == 0)
      continue;
    const double factor = fast->unit == TSL_COURSE_MFLOPS ? value / over : over / value;
    tsl_text_add(out, "%s", count++ ? ", " : tsl_tr("     Published: "));
    tsl_text_add(out, tsl_tr("%s on %s"), tsl_format_number(factor, text, sizeof text),
                 tsl_tr(document->published[i].title));
  }
  tsl_text_add(out, "%s", count ? "\n" : "");
}

static void add_questions(const course_work *job, const tsl_form *form, tsl_text *out) {
  tsl_text_add(out, "%s", form->markdown ? "### " : "");
  tsl_text_add_painted(out, TSL_PAINT_STRONG, form->colour, tsl_tr("Questions"));
  tsl_text_add(out, "\n%s", form->markdown ? "\n" : "");
  for (int i = 0; i < TSL_COURSE_QUESTIONS; i++) {
    const tsl_course_question *question = &job->run.document->questions[i];
    tsl_text_add(out, "  %d. %s\n     ", i + 1, tsl_tr(question->question));
    tsl_text_add_wrapped(out, tsl_tr(question->answer), 5, 5, form->width);
    tsl_text_add(out, "\n");
    for (int place = 0; place < TSL_COURSE_PLACES; place++)
      add_verdict(job, question, (tsl_course_place)place, form, out);
    add_published_factor(job->run.document, question, out);
  }
  tsl_text_add(out, "\n");
}

/* --- the report --- */

static void add_commands(const tsl_course_document *document, const tsl_form *form, tsl_text *out) {
  tsl_table table = {.bare = !form->markdown};
  tsl_table_column(&table, tsl_tr("command"), TSL_ALIGN_LEFT, false);
  tsl_table_column(&table, tsl_tr("what it shows"), TSL_ALIGN_LEFT, true);
  for (int i = 0; i < TSL_COURSE_COMMANDS_MAX && document->commands[i].line; i++) {
    tsl_table_add(&table, form->markdown ? "`%s`" : "%s", document->commands[i].line);
    tsl_table_add(&table, "%s", tsl_tr(document->commands[i].what));
  }
  tsl_form_add_table(form, tsl_tr("Its other exercises"), &table, out);
  tsl_table_free(&table);
}

static tesela_status course_print_text(const course_work *job, tsl_devices *devices) {
  const tsl_course_document *document = job->run.document;
  const tsl_form form = tsl_form_for(job->given->markdown);
  tsl_text out = {0}, line = {0}, legend = {0};
  tsl_text_add(&line, tsl_tr("%s, in %s: %s"), document->name, tsl_tr(document->language),
               tsl_tr(document->subject));
  tsl_form_add_line(&form, false, tsl_text_get(&line), &out);
  tsl_text_add(&out, "\n");
  tsl_text_free(&line);
  tsl_explore_add_devices(&job->run.tables[0], devices, &form, &out);
  for (int i = 0; i < job->run.table_count; i++) {
    course_add_table(job, i, false, &form, &out);
    add_missing(job, i, &form, &out);
    if (document->tables[i].speedups)
      course_add_table(job, i, true, &form, &out);
  }
  tsl_text_add(&legend, "%s %s",
               document->published[0].title ? tsl_tr("Columns without \"here\" are the published figures.")
                                            : tsl_tr("No published figures are recorded for this document."),
               tsl_tr("~: noisy. -: no figure."));
  if (job->given->quick)
    tsl_text_add(&legend, " %s",
                 tsl_tr("The answers hold for the document's sizes; --quick has smaller ones."));
  tsl_form_add_line(&form, false, tsl_text_get(&legend), &out);
  tsl_text_free(&legend);
  tsl_text_add(&out, "\n");
  if (tsl_course_is_cut_short(&job->run))
    tsl_form_add_line(&form, false, tsl_tr("CUT SHORT by an interrupt: some rows were not measured."), &out);
  add_questions(job, &form, &out);
  add_commands(document, &form, &out);
  return tsl_print(&out);
}

static json_t *json_own_cell(const tsl_course_run *run, tsl_course_cell cell, tsl_course_place place) {
  const tsl_course_table *table = &run->document->tables[cell.table];
  const tsl_point *point = tsl_course_point(run, cell, place);
  if (!point || (place == TSL_COURSE_GPU && table->rows[cell.row].cpu_only))
    return json_null();
  const tsl_exploration *all = &run->tables[cell.table];
  const bool right = point->entry.result == TSL_CASE_RIGHT;
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "device", all->devices.items[point->device]->name,
                   "result", tsl_point_result(point), "why", point->entry.why, "seconds",
                   tsl_json_real(right ? point->entry.timing.median : NAN), "value",
                   tsl_json_real(right ? tsl_course_value(table, point) : NAN), "speedup",
                   tsl_json_real(right ? tsl_point_speedup(all, point) : NAN));
}

static json_t *json_course_row(const tsl_course_run *run, tsl_course_cell cell) {
  const tsl_course_document *document = run->document;
  const tsl_course_table *table = &document->tables[cell.table];
  const tsl_course_row *row = &table->rows[cell.row];
  json_t *own = json_object(), *published = json_object();
  for (int place = 0; place < TSL_COURSE_PLACES; place++)
    json_object_set_new(own, place_title((tsl_course_place)place),
                        json_own_cell(run, cell, (tsl_course_place)place));
  for (int i = 0; i < TSL_COURSE_PUBLISHED_MAX; i++)
    if (row->published[i] != 0)
      json_object_set_new(published, document->published[i].title, json_real(row->published[i]));
  return json_pack("{s:s, s:s, s:o, s:o}", "name", row->name, "strategy", row->strategy, "here", own,
                   "published", published);
}

static json_t *json_course_table(const tsl_course_run *run, int index) {
  const tsl_course_table *table = &run->document->tables[index];
  const tsl_size *size = &run->tables[index].sizes.items[0];
  json_t *rows = json_array();
  for (int row = 0; row < tsl_course_rows(table); row++)
    json_array_append_new(rows, json_course_row(run, (tsl_course_cell){index, row}));
  return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:o}", "title", table->title, "op",
                   tsl_op_name(table->op), "type", table->type, "m", (json_int_t)size->m, "n",
                   (json_int_t)size->n, "k", (json_int_t)size->k, "unit", unit_title(table->unit), "rows",
                   rows);
}

static json_t *json_cell(const tsl_course_document *document, tsl_course_cell cell) {
  return json_pack("{s:i, s:i, s:s}", "table", cell.table, "row", cell.row, "name", row_name(document, cell));
}

static json_t *json_question(const tsl_course_run *run, const tsl_course_question *question) {
  json_t *checks = json_object();
  for (int place = 0; place < TSL_COURSE_PLACES; place++) {
    const tsl_course_check check = tsl_course_check_answer(run, question, (tsl_course_place)place);
    json_object_set_new(checks, place_title((tsl_course_place)place),
                        json_pack("{s:s, s:o, s:o, s:o}", "verdict", tsl_course_verdict_name(check.verdict),
                                  "factor", tsl_json_real(check.factor), "low", tsl_json_real(check.low),
                                  "high", tsl_json_real(check.high)));
  }
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "question", question->question, "answer",
                   question->answer, "fast", json_cell(run->document, question->fast), "slow",
                   json_cell(run->document, question->slow), "min", tsl_json_real(question->min), "max",
                   question->max > 0 ? json_real(question->max) : json_null(), "checks", checks);
}

static tesela_status course_print_json(const course_work *job) {
  const tsl_course_document *document = job->run.document;
  json_t *tables = json_array(), *questions = json_array();
  for (int i = 0; i < job->run.table_count; i++)
    json_array_append_new(tables, json_course_table(&job->run, i));
  for (int i = 0; i < TSL_COURSE_QUESTIONS; i++)
    json_array_append_new(questions, json_question(&job->run, &document->questions[i]));
  return tsl_print_json(job->call,
                        json_pack("{s:s, s:s, s:s, s:b, s:b, s:o, s:o, s:o}", "document", document->name,
                                  "language", document->language, "subject", document->subject, "quick",
                                  job->given->quick, "cut_short", tsl_course_is_cut_short(&job->run),
                                  "machine", tsl_explore_json_machine(&job->run.tables[0]), "tables", tables,
                                  "questions", questions));
}

/* Returns a wrong or failed entry's status, or a failure if no table has a time. */
static tesela_status course_conclude(const tsl_course_run *run) {
  const bool has_times = tsl_course_has_times(run);
  for (int i = 0; i < run->table_count; i++) {
    const tesela_status status = tsl_explore_conclude(&run->tables[i]);
    if (status != TESELA_OK && !(status == TESELA_UNSUPPORTED && has_times))
      return status;
  }
  return TESELA_OK;
}

/* --- the list --- */

static json_t *json_documents(void) {
  const tsl_course_document *document;
  json_t *list = json_array();
  for (int i = 0; (document = tsl_course_at(i)) != NULL; i++)
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "document", document->name, "language",
                                          document->language, "kernels", document->kind, "subject",
                                          document->subject));
  return list;
}

static tesela_status print_documents(const tsl_command_call *call) {
  const course_options *given = call->options;
  const tsl_form form = tsl_form_for(given->markdown);
  const tsl_course_document *document;
  if (given->json)
    return tsl_print_json(call, json_pack("{s:o}", "documents", json_documents()));
  tsl_table table = {0};
  tsl_text out = {0};
  tsl_table_column(&table, tsl_tr("document"), TSL_ALIGN_LEFT, false);
  tsl_table_column(&table, tsl_tr("language"), TSL_ALIGN_LEFT, false);
  tsl_table_column(&table, tsl_tr("kernels"), TSL_ALIGN_LEFT, false);
  tsl_table_column(&table, tsl_tr("subject"), TSL_ALIGN_LEFT, true);
  for (int i = 0; (document = tsl_course_at(i)) != NULL; i++) {
    tsl_table_add(&table, "%s", document->name);
    tsl_table_add(&table, "%s", tsl_tr(document->language));
    tsl_table_add(&table, "%s", document->kind);
    tsl_table_add(&table, "%s", tsl_tr(document->subject));
  }
  tsl_form_add_table(&form, tsl_tr("Documents; tesela course NAME runs the experiments of one"), &table,
                     &out);
  tsl_table_free(&table);
  return tsl_print(&out);
}

/* --- */

static tesela_status course_print(course_work *job, tsl_devices *devices) {
  if (tsl_course_is_cut_short(&job->run) && !tsl_course_has_times(&job->run))
    return course_conclude(&job->run); /* there is nothing to print */
  TSL_TRY(job->given->json ? course_print_json(job) : course_print_text(job, devices));
  return course_conclude(&job->run);
}

typedef struct course_interrupt {
  course_work *job;
  tsl_devices **devices;
} course_interrupt;

/* Prints the results so far after an interrupt, while a long run continues. */
static void course_interrupted(void *argument) {
  const course_interrupt *interrupt = argument;
  tsl_progress_stop(interrupt->job->run.progress);
  if (course_print(interrupt->job, *interrupt->devices) != TESELA_OK)
    fprintf(stderr, "tesela course: %s\n", tesela_last_error());
}

static const tsl_course_document *find_document(const char *name) {
  const tsl_course_document *document;
  for (int i = 0; (document = tsl_course_at(i)) != NULL; i++)
    if (strcmp(document->name, name) == 0)
      return document;
  return NULL;
}

static tesela_status course_run(const tsl_command_call *call) {
  const course_options *given = call->options;
  course_work job = {.call = call, .given = given};
  tsl_devices *devices = NULL;
  tesela_status status = TESELA_OK;
  if (given->json && given->markdown)
    return tsl_fail(TESELA_BAD_CALL, "--json and --markdown exclude each other");
  if (call->word_count == 0 && (given->devices || given->quick || given->threads > 0))
    return tsl_fail(TESELA_BAD_CALL,
                    "no document is named, and the list needs no %s; write tesela course mattson, or another "
                    "one of the list",
                    given->devices ? "--devices"
                    : given->quick ? "--quick"
                                   : "--threads");
  if (!given->json)
    tsl_locale_use(given->locale);
  if (call->word_count == 0)
    return print_documents(call);
  const tsl_explore_options race = {.devices = given->devices,
                                    .seconds = given->quick ? 0.01 : given->seconds,
                                    .noise = given->quick ? 1 : 0.02,
                                    .time_limit = 60,
                                    .seed = 1};
  tsl_interrupt_catch(course_interrupted, &(course_interrupt){&job, &devices});
  TSL_GO(tsl_set_threads(given->threads));
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(tsl_course_prepare(find_document(call->words[0]), &race, given->quick, devices, &job.run));
  TSL_GO(tsl_course_measure(&job.run, devices));
  tsl_interrupt_concluding();
  status = course_print(&job, devices);
out:
  tsl_interrupt_concluding();
  tsl_course_free(&job.run);
  tsl_devices_destroy(devices);
  return status;
}

static const char *const names[] = {"mattson", "bulic", "obuda", "adreno", "wb", NULL};

const tsl_command tsl_command_course = {
    .name = "course",
    .what =
        "run the experiments of a teaching document, and compare its figures and answers with this machine",
    .arguments = "[mattson | bulic | obuda | adreno | wb]",
    .details =
        "The tables have the document's rows and units. The CPU's column is of the host's C code and of "
        "OpenCL on the processor, the GPU's column of the first GPU. Every entry is verified first, as "
        "in tesela explore. Each document has three questions. Their answers are compared with the "
        "run: an answer that the measured times contradict is printed as such, and one within the noise as "
        "undecided.",
    .options = options,
    .examples = examples,
    .choices = names,
    .words_max = 1,
    .options_bytes = sizeof(course_options),
    .run = course_run,
};

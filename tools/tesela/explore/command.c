#include "explore/command.h"

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "core/status.h"
#include "explore/report.h"
#include "page/page.h"

#include <stdio.h>

typedef struct command_work {
  const tsl_command_call *call;
  const tsl_explore_options *given;
  const tsl_explore_command *command;
  tsl_exploration all;
  tsl_devices *devices;
  tsl_page_file page;
  tsl_progress *progress;
} command_work;

static tesela_status print_report(const command_work *job) {
  const tsl_form form = tsl_form_for(job->given->markdown);
  tsl_text out = {0};
  const tesela_status status = job->command->report(&job->all, job->devices, &form, &out);
  const tesela_status printed = tsl_print(&out);
  return printed == TESELA_OK ? status : printed;
}

/* Makes the page, whose text has the report at this width. */
static tesela_status write_page(command_work *job) {
  const tsl_form form = {.width = 100};
  tsl_text report = {0};
  tesela_status status = TESELA_OK;
  if (job->given->html)
    TSL_GO(job->command->report(&job->all, job->devices, &form, &report));
  status = tsl_page_end(job->call, &job->all, job->devices, tsl_text_get(&report), &job->page);
out:
  tsl_text_free(&report);
  return status;
}

static tesela_status command_print(command_work *job) {
  const tsl_exploration *all = &job->all;
  if (tsl_explore_is_cut_short(all) && !tsl_explore_has_times(all))
    return tsl_explore_conclude(all); /* there is nothing to print */
  TSL_TRY(job->given->json  ? tsl_print_json(job->call, tsl_explore_json(all, job->devices, &job->page.roofs))
          : job->given->csv ? tsl_explore_print_csv(all)
                            : print_report(job));
  return write_page(job);
}

/* Prints the results so far after an interrupt, while a long run continues. */
static void command_conclude(void *argument) {
  command_work *job = argument;
  tsl_progress_stop(job->progress);
  const tesela_status status =
      tsl_explore_has_times(&job->all)
          ? command_print(job)
          : tsl_fail(TESELA_UNSUPPORTED, "it was interrupted before anything was measured");
  if (status != TESELA_OK)
    fprintf(stderr, "tesela %s: %s\n", job->call->command->name, tesela_last_error());
}

static tesela_status command_measure(command_work *job) {
  job->progress = tsl_progress_start(true);
  const tesela_status status = tsl_explore_run(&job->all, job->devices, job->progress);
  tsl_progress *const progress = job->progress;
  job->progress = NULL;
  tsl_progress_end(progress);
  if (status != TESELA_OK || tsl_explore_is_cut_short(&job->all))
    return status;
  tsl_interrupt_wait_begin();
  const tesela_status measured = tsl_page_measure(&job->all, &job->page);
  tsl_interrupt_wait_end();
  return measured;
}

tesela_status tsl_explore_command_run(const tsl_command_call *call, const tsl_explore_options *options,
                                      const tsl_explore_command *command) {
  command_work job = {
      .call = call, .given = options, .command = command, .page = {.locale = options->locale}};
  tesela_status status = TESELA_OK;
  tsl_interrupt_catch(command_conclude, &job);
  TSL_GO(tsl_set_threads(options->threads));
  TSL_GO(command->select(call, &job.all));
  TSL_GO(tsl_devices_create(&job.devices));
  TSL_GO(tsl_explore_prepare(options, command->default_sizes[job.all.op], job.devices, &job.all));
  TSL_GO(tsl_page_begin(options->html, &job.all, &job.page));
  TSL_GO(command_measure(&job));
  tsl_interrupt_concluding();
  status = command_print(&job);
out:
  tsl_interrupt_concluding();
  tsl_page_close(&job.page);
  tsl_explore_free(&job.all);
  tsl_devices_destroy(job.devices);
  return status;
}

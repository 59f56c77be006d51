#include "explore/command.h"

#include "base/status.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "explore/report.h"
#include "page/page.h"

tesela_status tsl_explore_command_run(const tsl_call *call, const tsl_explore_options *given,
                                      const tsl_explore_command *command) {
  tsl_exploration all = {.point_count = 0};
  tsl_devices *devices = NULL;
  tsl_page_file page = {.roofs = {.count = 0}};
  tesela_status status = TESELA_OK;
  tsl_interrupt_catch();
  TSL_GO(tsl_set_threads(given->threads));
  TSL_GO(command->select(call, &all));
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(tsl_explore_prepare(given, command->default_sizes[all.op], devices, &all));
  TSL_GO(tsl_page_begin(given->html, &all, &page));
  tsl_progress *progress = tsl_progress_start();
  status = tsl_explore_run(&all, devices, progress);
  tsl_progress_end(progress);
  TSL_GO(status);
  if (tsl_explore_is_cut_short(&all) && !tsl_explore_has_times(&all)) {
    status = tsl_explore_conclude(&all); /* there is nothing to print */
    goto out;
  }
  if (!tsl_explore_is_cut_short(&all))
    TSL_GO(tsl_page_measure(&all, &page));
  TSL_GO(given->json  ? tsl_print_json(call, tsl_explore_json(&all, devices, &page.roofs))
         : given->csv ? tsl_explore_print_csv(&all)
                      : command->print(&all, devices, given->markdown));
  status = tsl_page_end(call, &all, devices, &page);
out:
  tsl_page_close(&page);
  tsl_explore_free(&all);
  tsl_devices_destroy(devices);
  return status;
}

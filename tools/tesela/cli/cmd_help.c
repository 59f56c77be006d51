/* tesela help: the overview, a command, the environment, the manual page. */
#include "cli/commands.h"
#include "cli/help.h"
#include "core/status.h"

#include <string.h>

typedef struct help_options {
  bool manual, markdown;
} help_options;

static const tsl_option options[] = {
    TSL_OPTION(help_options, manual, "man", FLAG, NULL, "print the manual page (roff)"),
    TSL_OPTION(help_options, markdown, "markdown", FLAG, NULL,
               "environment, plan: print Markdown (docs/ENVIRONMENT.md, docs/PLANS.md)"),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela help multiply", "every option of tesela multiply in full, and all examples"},
    {"tesela help environment", "every variable that tesela reads"},
    {"tesela help plan", "each key of a plan's text"},
    {"tesela help --man | man -l -", "the manual page"},
    {NULL, NULL},
};

static const char *const topics[] = {
    "environment",
    "plan",
#define TOPIC_ROW(name) #name,
    TSL_COMMAND_LIST(TOPIC_ROW)
#undef TOPIC_ROW
        NULL,
};

static tesela_status help_run(const tsl_command_call *call) {
  const help_options *given = call->options;
  const char *topic = call->word_count ? call->words[0] : NULL;
  const int width = tsl_prose_width();
  const bool colour = tsl_output_colour();
  tsl_text out = {0};
  const bool is_reference =
      !given->manual && topic && tsl_help_reference(topic, &out, width, colour, given->markdown);
  if (given->markdown && !is_reference)
    return tsl_fail(TESELA_BAD_CALL,
                    "--markdown goes with environment and plan: tesela help environment --markdown");
  if (given->manual)
    tsl_help_manual(call->commands, &out);
  else if (!topic)
    tsl_help_overview(call->commands, &out, tsl_help_width(), colour);
  else if (!is_reference) {
    const tsl_command *command = tsl_command_find(call->commands, topic);
    if (!command)
      return TESELA_BAD_CALL;
    tsl_help_command(command, false, &out, width, colour);
  }
  return tsl_print(&out);
}

const tsl_command tsl_command_help = {
    .name = "help",
    .what = "explain a command, the environment variables, or a plan's text",
    .arguments = "[COMMAND | environment | plan]",
    .details = "",
    .options = options,
    .examples = examples,
    .choices = topics,
    .words_max = 1,
    .options_bytes = sizeof(help_options),
    .run = help_run,
};

/* tesela completion: what a shell needs to complete commands, options and values. */
#include "base/status.h"
#include "tool.h"

#include <string.h>

/* There is nothing to choose, but every command has a struct. */
typedef struct completion_options {
  bool unused;
} completion_options;

static const tsl_option options[] = {TSL_OPTIONS_END};

static const tsl_example examples[] = {
    {"source <(tesela completion bash)", "for the present shell"},
    {"tesela completion bash > ~/.local/share/bash-completion/completions/tesela", "for every new one"},
    {NULL, NULL},
};

static const char *const shells[] = {"bash", NULL};

static tesela_status run(const tsl_call *call) {
  if (strcmp(call->words[0], shells[0]) != 0)
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a shell that completion is written for; bash is",
                    call->words[0]);
  tsl_text out = {0};
  tsl_help_completion(&out);
  return tsl_print(&out);
}

const tsl_command tsl_command_completion = {
    .name = "completion",
    .what = "print the completion script of a shell",
    .arguments = "bash",
    .details = "",
    .options = options,
    .examples = examples,
    .choices = shells,
    .words_min = 1,
    .words_max = 1,
    .options_bytes = sizeof(completion_options),
    .run = run,
};

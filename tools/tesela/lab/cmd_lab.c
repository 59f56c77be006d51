/* tesela lab: a kernel of one's own, from an empty folder to a judged and timed result. */
#include "cli/language.h"
#include "lab/lab.h"

#include "core/status.h"

#include <string.h>

static const tsl_option lab_options[] = {
    TSL_OPTION(
        tsl_lab_options, from, "from", TEXT, "tile_local",
        "new: begin as this strategy, such as tile_local, \"dot block_tree\" or \"transpose element\""),
    TSL_OPTION(tsl_lab_options, language, "language", TEXT, "opencl", "new: opencl, cuda or c"),
    TSL_OPTION(tsl_lab_options, type, "type", TYPE, "f32", "new: f32 or f64"),
    TSL_OPTION(tsl_lab_options, device, "device", DEVICE, NULL,
               "run on this device; the default is the first of the kernel's language"),
    TSL_OPTION(tsl_lab_options, sizes, "size", TEXT, NULL,
               "time this size; the default is 512 (dot: 1000000, transpose: 2048)"),
    TSL_OPTION(tsl_lab_options, plain, "no-race", FLAG, NULL, "judge only, without times"),
    TSL_OPTION(tsl_lab_options, peers, "peers", FLAG, NULL, "time vendors' libraries as well"),
    TSL_OPTION(tsl_lab_options, seconds, "seconds", SECONDS, "120",
               "end a kernel that uses more processor time"),
    TSL_OPTION(tsl_lab_options, memory, "memory", BYTES, "8GiB", "end a kernel that uses more memory"),
    TSL_OPTION(tsl_lab_options, markdown, "markdown", FLAG, NULL, "grade: print Markdown"),
    TSL_OPTION(tsl_lab_options, times, "times", COUNT, NULL, "watch: end after so many runs"),
    TSL_OPTION(tsl_lab_options, html, "html", FILE, NULL,
               "write a page with verdict, faults in the kernel's lines, and rates; not for new"),
    {"output", 'o', TSL_VALUE_FILE, NULL, "pack: write this file (default: NAME.lab.json)",
     offsetof(tsl_lab_options, output)},
    TSL_OPTION_LOCALE(tsl_lab_options, locale, "the text"),
    TSL_OPTION_JSON(tsl_lab_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela lab new mine --from tile_local", "a folder with a kernel, its parameters and a README"},
    {"tesela lab run mine", "compile, look for faults, judge, and time it among its neighbours"},
    {"tesela lab watch mine", "again each time that the file is saved"},
    {"tesela lab grade class", "every kernel of a class, ranked"},
    {"tesela lab pack mine", "one file to hand in"},
    {NULL, NULL},
};

static const struct {
  const char *name;
  tesela_status (*run)(const tsl_command_call *call);
} actions[] = {{"new", tsl_lab_new},
               {"run", tsl_lab_run},
               {"watch", tsl_lab_watch},
               {"grade", tsl_lab_grade},
               {"pack", tsl_lab_pack}};
static const char *const action_names[] = {"new", "run", "watch", "grade", "pack", NULL};

/* Refuses options that the action would ignore. */
static tesela_status lab_check_options(const tsl_lab_options *options, const char *action) {
  const struct {
    bool is_given;
    const char *option, *action;
  } owned[] = {{options->output != NULL, "--output", "pack"},
               {options->times > 0, "--times", "watch"},
               {options->markdown, "--markdown", "grade"}};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
    if (owned[i].is_given && strcmp(owned[i].action, action) != 0)
      return tsl_fail(TESELA_BAD_CALL, "%s is for tesela lab %s", owned[i].option, owned[i].action);
  return options->html && strcmp(action, "new") == 0
             ? tsl_fail(TESELA_BAD_CALL, "--html is for run, watch, grade and pack")
             : TESELA_OK;
}

static tesela_status lab_run(const tsl_command_call *call) {
  int action = 0;
  while (strcmp(actions[action].name, call->words[0]) != 0)
    action++;
  if (call->word_count != 2)
    return tsl_fail(TESELA_BAD_CALL, "the folder is missing; write tesela lab %s NAME", actions[action].name);
  TSL_TRY(lab_check_options(call->options, actions[action].name));
  tsl_locale_use(((const tsl_lab_options *)call->options)->locale);
  return actions[action].run(call);
}

const tsl_command tsl_command_lab = {
    .name = "lab",
    .what = "write a kernel of your own, and see whether it is right and how fast it is",
    .arguments = "new NAME | run NAME | watch NAME | grade FOLDER | pack NAME",
    .details = "A kernel is a folder with one plain file, kernel.cl (OpenCL C), kernel.cu (CUDA C++) or "
               "kernel.c (C11), and a file of parameters. `run` compiles it by the device's own compiler. It "
               "runs it item by item on the processor, and names missing barriers and elements outside of "
               "operands. Then it judges the device's results on the standard shapes, and times it. "
               "docs/LAB.md is the manual.",
    .options = lab_options,
    .examples = examples,
    .choices = action_names,
    .words_min = 1,
    .words_max = 2,
    .options_bytes = sizeof(tsl_lab_options),
    .run = lab_run,
};

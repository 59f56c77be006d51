/* tesela run: starts a program with a drop-in loaded before the program's own BLAS or cuBLAS. */
#include "cli/tool.h"

#include "cli/interrupt.h"
#include "cli/library_paths.h"
#include "core/env.h"
#include "core/status.h"
#include "inventory/select.h"
#include "record/record.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLAS_LIBRARY "libtesela_blas.so.2"
#define CUBLAS_LIBRARY "libtesela_cublas.so.2"

typedef struct run_options {
  bool log, trial, cublas;
  const char *device, *report, *locale;
} run_options;

static const tsl_option options[] = {
    TSL_OPTION(run_options, log, "log", FLAG, NULL,
               "print a table of the calls to stderr at the end (TESELA_LOG=calls)"),
    TSL_OPTION(run_options, device, "device", DEVICE, NULL,
               "device for products, as TESELA_DEVICE; auto: each call goes to the device with the shortest "
               "predicted time, copies included, otherwise to the cpu"),
    TSL_OPTION(run_options, report, "report", FILE, NULL,
               "write the products of the program and faster ways: a page (.html), else JSON "
               "(docs/RECORDER.md)"),
    TSL_OPTION(run_options, trial, "trial", FLAG, NULL,
               "with --report: measure the advice for the five heaviest products, after the program"),
    TSL_OPTION_LOCALE(run_options, locale, "the page"),
    TSL_OPTION(run_options, cublas, "cublas", FLAG, NULL,
               "put tesela in front of cuBLAS, for programs that compute on a GPU, and not of BLAS"),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela run --log -- python3 solve.py", "NumPy's products by tesela, with a list of the calls"},
    {"tesela run -- octave-cli model.m", "Octave's products by tesela, without messages"},
    {"tesela run --report page.html --trial -- R -f fit.R", "what R computed, and what would be faster"},
    {"tesela run --device auto -- python3 solve.py", "large products on the GPU, where it is faster"},
    {"TESELA_BLAS=other tesela run --log -- R -f fit.R", "only look: everything by the program's own BLAS"},
    {"tesela run --cublas -- python3 train.py", "PyTorch's products on the GPU, where tesela is faster"},
    {NULL, NULL},
};

static tesela_status run_set(const char *variable, const char *value) {
  return setenv(variable, value, 1) == 0 ? TESELA_OK
                                         : tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for %s", variable);
}

/* Sets the variable to `first`, followed by the separator and its earlier value. */
static tesela_status put_in_front(const char *variable, const char *first, const char *separator) {
  const char *before = getenv(variable);
  tsl_text value = {0};
  tsl_text_add(&value, "%s", first);
  if (before && *before)
    tsl_text_add(&value, "%s%s", separator, before);
  tesela_status status = tsl_text_status(&value);
  if (status == TESELA_OK)
    status = run_set(variable, tsl_text_get(&value));
  tsl_text_free(&value);
  return status;
}

/* Makes the library in the started process log its calls; TESELA_RUN names the process, which
 * reports also if there were none. */
static tesela_status listen_to(void) {
  char process[24];
  snprintf(process, sizeof process, "%ld", (long)getpid());
  TSL_TRY(run_set("TESELA_RUN", process));
  return put_in_front("TESELA_LOG", "calls", ",");
}

/* Returns an error if the device is missing; the library would silently compute on the processor. */
static tesela_status check_device(const char *argument) {
  const char *const name = argument ? argument : tsl_env_get(TSL_ENV_DEVICE);
  tsl_devices *devices;
  tsl_device *device;
  if (!*name || strcmp(name, "auto") == 0 || strcmp(name, "cpu") == 0)
    return TESELA_OK;
  TSL_TRY(tsl_devices_create(&devices));
  const tesela_status status = tsl_devices_find(devices, name, &device);
  tsl_devices_destroy(devices);
  return status == TESELA_OK ? status : tsl_fail_in(status, argument ? "--device" : "TESELA_DEVICE");
}

/* Replaces the tool by the program (exec), so that signals, terminal and exit code are the
 * program's. With a report the tool waits for the program, and ends as the program did. */
static tesela_status run_run(const tsl_command_call *call) {
  const run_options *given = call->options;
  char library[PATH_MAX];
  if (given->trial && !given->report)
    return tsl_fail(TESELA_BAD_CALL, "--trial needs --report FILE");
  if (given->cublas && (given->device || given->report))
    return tsl_fail(TESELA_BAD_INPUT, "--%s is for BLAS, and not for programs of cuBLAS (--cublas)",
                    given->device ? "device" : "report");
  TSL_TRY(check_device(given->device));
  TSL_TRY(tsl_library_beside(given->cublas ? CUBLAS_LIBRARY : BLAS_LIBRARY, library));
  if (strpbrk(library, " :"))
    return tsl_fail(TESELA_BAD_INPUT, "%s: LD_PRELOAD takes no path with a blank or a colon", library);
  TSL_TRY(put_in_front("LD_PRELOAD", library, ":"));
  if (given->log)
    TSL_TRY(listen_to());
  if (given->device)
    TSL_TRY(run_set("TESELA_DEVICE", given->device));
  if (given->report)
    return tsl_record_run(call, given->report, given->trial, given->locale);
  tsl_interrupt_restore();
  execvp(call->words[0], call->words);
  return tsl_fail(TESELA_BAD_INPUT, "%s: %s", call->words[0], strerror(errno));
}

const tsl_command tsl_command_run = {
    .name = "run",
    .what = "start a program whose BLAS calls tesela serves where it is faster",
    .arguments = "[--log] [--report FILE] [--device DEVICE] [--cublas] [--] PROGRAM ARGS",
    .details = "Puts libtesela_blas.so in front of the program's own BLAS (LD_PRELOAD). Products, vector "
               "routines and BLAS's Level 3 are tesela's where its way is known or was measured to be the "
               "faster one; the rest stays with the BLAS that the program has. The exit code is the "
               "program's. docs/BLAS.md lists the routes. With --cublas, libtesela_cublas.so is put in front "
               "of the program's cuBLAS (docs/CUBLAS.md).\n",
    .options = options,
    .examples = examples,
    .words_min = 1,
    .words_max = INT_MAX,
    .starts_program = true,
    .options_bytes = sizeof(run_options),
    .run = run_run,
};

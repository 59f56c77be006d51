#include "record/record.h"

#include "cli/interrupt.h"
#include "core/clock.h"
#include "core/status.h"
#include "io/output.h"
#include "page/page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the program --- */

static volatile sig_atomic_t program; /* its process, for signals */

static void pass_on(int signal_number) {
  if (program > 0)
    kill((pid_t)program, signal_number);
}

/* Leaves the terminal's signals to the program, and passes the others on. */
static void listen_for_signals(void) {
  const int left[] = {SIGINT, SIGQUIT}, passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  struct sigaction action = {.sa_handler = SIG_IGN};
  for (size_t i = 0; i < sizeof left / sizeof *left; i++)
    sigaction(left[i], &action, NULL);
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
    sigaction(passed[i], &action, NULL);
}

/* Becomes the program; tells the parent through `pipe_end` why it could not. */
static _Noreturn void become(char *const *words, const char *folder, int pipe_end) {
  int reason = ENOMEM;
  tsl_interrupt_restore();
  if (setenv("TESELA_RECORD", folder, 1) == 0) {
    execvp(words[0], words);
    reason = errno;
  }
  if (write(pipe_end, &reason, sizeof reason) < 0)
    reason = ENOMEM;
  _exit(127);
}

static tesela_status start_program(char *const *words, const char *folder) {
  int ends[2], reason;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no pipe to start %s: %s", words[0], strerror(errno));
  const pid_t started = fork();
  if (started == 0)
    become(words, folder, ends[1]);
  close(ends[1]);
  const ssize_t count = started > 0 ? read(ends[0], &reason, sizeof reason) : 0;
  close(ends[0]);
  if (started < 0)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no process for %s: %s", words[0], strerror(errno));
  if (count == (ssize_t)sizeof reason) {
    waitpid(started, NULL, 0);
    return tsl_fail(TESELA_BAD_INPUT, "%s: %s", words[0], strerror(reason));
  }
  program = started;
  listen_for_signals();
  return TESELA_OK;
}

static int wait_for_program(void) {
  int state = 0;
  while (waitpid((pid_t)program, &state, 0) < 0 && errno == EINTR)
    continue;
  program = 0;
  return state;
}

/* Ends this process as the program ended. */
static _Noreturn void end_alike(int state) {
  if (WIFSIGNALED(state)) {
    const int number = WTERMSIG(state);
    signal(number, SIG_DFL);
    raise(number);
  }
  exit(WIFEXITED(state) ? WEXITSTATUS(state) : 3);
}

/* --- its files --- */

static void remove_folder(const char *folder) {
  DIR *const list = opendir(folder);
  for (const struct dirent *entry; list && (entry = readdir(list)) != NULL;)
    if (entry->d_name[0] != '.')
      unlinkat(dirfd(list), entry->d_name, 0);
  if (list)
    closedir(list);
  rmdir(folder);
}

/* Creates a folder and writes its absolute path, since the program may change its directory. */
static tesela_status make_folder(char *out, size_t size) {
  const char *const given = getenv("TMPDIR"), *const parent = given && *given ? given : "/tmp";
  char *whole = realpath(parent, NULL);
  const int length = snprintf(out, size, "%s/tesela-record-XXXXXX", whole ? whole : parent);
  const bool is_made = whole && (size_t)length < size && mkdtemp(out);
  const char *const reason = strerror((size_t)length < size ? errno : ENAMETOOLONG);
  free(whole);
  return is_made ? TESELA_OK : tsl_fail(TESELA_IO_FAILED, "%s: no folder for counts: %s", out, reason);
}

/* --- the report --- */

static bool is_page(const char *path) {
  const size_t length = strlen(path);
  return length > 5 && strcmp(path + length - 5, ".html") == 0;
}

static void add_words(char *const *words, tsl_text *out) {
  for (int i = 0; words[i]; i++)
    tsl_text_add(out, "%s%s", i ? " " : "", words[i]);
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

/* Appends the heading: the names of the program and of its first argument. */
static void add_heading(char *const *words, tsl_text *out) {
  tsl_text_add(out, "%s", base_of(words[0]));
  if (words[1])
    tsl_text_add(out, " %s", base_of(words[1]));
}

static tesela_status write_report(const tsl_command_call *call, const char *locale, json_t *run,
                                  const tsl_text *text, tsl_output *output) {
  tsl_text made = {0};
  tesela_status status;
  if (is_page(output->path)) {
    add_heading(call->words, &made);
    status = tsl_page_write_object(call, locale, tsl_text_get(&made), "run", run, text, output);
  } else {
    status = tsl_add_json(call, run, &made);
    if (status == TESELA_OK)
      status = tsl_page_write(&made, output);
  }
  tsl_text_free(&made);
  return status;
}

static void tell(const tsl_text *text, const char *path) {
  fprintf(stderr, "\ntesela: report in %s\n%s", path, tsl_text_get(text));
}

static tesela_status report(const tsl_command_call *call, const char *folder, double seconds, int state,
                            bool tries, const char *locale, tsl_output *output) {
  const int code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  tsl_run_record recording;
  tsl_advice_list advice = {0};
  tsl_text words = {0}, plain = {0}, shown = {0};
  tesela_status status;
  json_t *run = NULL;
  TSL_TRY(tsl_record_read(folder, seconds, tsl_clock(), &recording));
  TSL_GO(tsl_advice_create(&recording, &advice));
  if (tries && advice.count > 0)
    TSL_GO(tsl_record_try(&recording, &advice));
  add_words(call->words, &words);
  run = tsl_record_json(&recording, &advice, tsl_text_get(&words), code);
  TSL_GO(run ? TESELA_OK : tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the report"));
  tsl_record_text(run, false, 0, &plain);
  tsl_record_text(run, false, tsl_output_width(), &shown);
  TSL_GO(write_report(call, locale, json_incref(run), &plain, output));
  tell(&shown, output->path ? output->path : "-");
out:
  json_decref(run);
  free(advice.items);
  tsl_run_record_free(&recording);
  tsl_text_free(&words);
  tsl_text_free(&plain);
  tsl_text_free(&shown);
  return status;
}

tesela_status tsl_record_run(const tsl_command_call *call, const char *path, bool tries, const char *locale) {
  char folder[TSL_CALLS_PATH];
  tsl_output output = {0};
  tesela_status status;
  TSL_TRY(tsl_page_open(path, &output));
  TSL_GO(make_folder(folder, sizeof folder));
  const double start = tsl_clock();
  status = start_program(call->words, folder);
  if (status == TESELA_OK) {
    const int state = wait_for_program();
    const double seconds = tsl_clock() - start;
    unsetenv("LD_PRELOAD");
    status = report(call, folder, seconds, state, tries, locale, &output);
    remove_folder(folder);
    if (status == TESELA_OK)
      end_alike(state);
  } else {
    remove_folder(folder);
  }
out:
  tsl_output_close(&output);
  tsl_interrupt_guard(NULL);
  return status;
}

/* A signal between the creation of the temporary file and the moment when the tool knows its name. The
 * process ends by the signal, and leaves no file. */
#include "unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"

static int raised;

/* open() of everything here (ld's --wrap): a new file for itself comes with a signal. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  const int fd = __real_open(path, flags, mode);
  if (raised != 0 && (flags & O_EXCL) != 0)
    raise(raised);
  return fd;
}

static const int few[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGPIPE, SIGXCPU, SIGSEGV, 0};
static char folder[1024], output[1100], page[1100];

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "%s/test_interrupt_XXXXXX", TESELA_BINARY_DIR);
  if (mkdtemp(folder) == NULL)
    return -1;
  snprintf(output, sizeof output, "%s/out.npy", folder);
  snprintf(page, sizeof page, "%s/out.html", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

static int count_files(void) {
  DIR *const files = opendir(folder);
  int count = -2; /* "." and ".." */
  assert_non_null(files);
  while (readdir(files) != NULL)
    count++;
  closedir(files);
  return count;
}

/* Runs the tool in another process, with this signal at the first new file; its wait status. */
static int run(int number, const char *const *argument) {
  enum { WORDS_MAX = 16, WORD_MAX = 1200 };
  static char text[WORDS_MAX][WORD_MAX];
  char *words[WORDS_MAX + 1] = {NULL};
  int status, count = 0;
  for (; argument[count] != NULL; count++) {
    snprintf(text[count], WORD_MAX, "%s", argument[count]);
    words[count] = text[count];
  }
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = __real_open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    raised = number;
    if (number != 0) /* cmocka and sanitizers have handlers of their own */
      signal(number, SIG_DFL);
    _exit(tsl_tool_main(count, words));
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

/* Returns true if the signal's default action ends the process; SIGXFSZ is an error of the write instead. */
static bool is_deadly(int number) {
  static const int others[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT,  SIGTSTP,
                               SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH, SIGXFSZ};
  struct sigaction now;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (number == others[i])
      return false;
  return sigaction(number, NULL, &now) == 0;
}

/* By each of these signals (0 ends the list; NULL: by all that there are) the process ends, and leaves no
 * file. */
static void check(const char *const *words, const char *result, const int *numbers) {
  int all[128] = {0}, count = 0;
  for (int number = 1; number <= SIGRTMAX; number++)
    if (is_deadly(number))
      all[count++] = number;
  for (const int *number = numbers ? numbers : all; *number != 0; number++) {
    const int status = run(*number, words);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != *number || count_files() != 0)
      fail_msg("signal %d (%s): wait status %d, files left: %d", *number, strsignal(*number), status,
               count_files());
  }
  /* Undisturbed, the same call makes its file: the signal came while there was something to leave behind. */
  const int status = run(0, words);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_int_equal(count_files(), 1);
  unlink(result);
}

static void test_generate(void **state) {
  (void)state;
  const char *const words[] = {"tesela", "generate", "3x4", "-o", output, NULL};
  check(words, output, NULL);
}

static void test_multiply(void **state) {
  (void)state;
  char input[1200];
  snprintf(input, sizeof input, "%s/tests/data/npy/f8.npy", TESELA_SOURCE_DIR);
  const char *const words[] = {"tesela", "multiply", input,      input, "--transpose-b",
                               "-o",     output,     "--device", "cpu", NULL};
  check(words, output, few);
}

static void test_page(void **state) {
  (void)state;
  const char *const words[] = {"tesela",     "explore", "--devices", "cpu",     "--strategies",
                               "sequential", "--sizes", "8",         "--types", "f32",
                               "--seconds",  "0.001",   "--html",    page,      NULL};
  check(words, page, few);
}

int main(void) {
  setenv("TESELA_WISDOM", "none", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_generate),
      cmocka_unit_test(test_multiply),
      cmocka_unit_test(test_page),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* Programs that the lab starts, such as compilers, and temporary folders. */
#include "core/clock.h"
#include "core/status.h"
#include "lab/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 25 };

/* Blocks or unblocks the signals that end the tool. */
static void command_hold(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  sigprocmask(how, &set, NULL);
}

bool tsl_lab_is_interrupted(void) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) || sigismember(&pending, SIGHUP);
}

/* Reads the output until it ends, or until the program has ended, whose own children may keep the pipe open.
 * Ends the program when the time is over, or by an interrupt. Returns the program's state. */
static int command_read(int input, pid_t child, double seconds, tsl_text *output) {
  const double end = tsl_clock() + seconds;
  bool has_ended = false;
  int state = 0;
  char block[4096];
  fcntl(input, F_SETFL, O_NONBLOCK);
  while (true) {
    const ssize_t count = read(input, block, sizeof block);
    if (count > 0 && output->length < OUTPUT_MAX)
      tsl_text_add_bytes(output, block, (size_t)count);
    else if (has_ended || count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
      break;
    else if (tsl_clock() > end || tsl_lab_is_interrupted()) {
      kill(child, tsl_lab_is_interrupted() ? SIGTERM : SIGKILL); /* compilers remove their files */
      break;
    } else if (waitpid(child, &state, WNOHANG) == child)
      has_ended = true;
    else
      nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
  while (!has_ended && waitpid(child, &state, 0) < 0 && errno == EINTR)
    continue;
  return state;
}

tesela_status tsl_lab_command(const char *const *words, double seconds, tsl_text *output, int *code) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return tsl_fail(TESELA_IO_FAILED, "no pipe to %s: %s", words[0], strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    command_hold(SIG_UNBLOCK);
    setenv("LC_ALL", "C", 1);
    char *copies[32];
    int count = 0;
    for (; words[count] && count < 31; count++)
      copies[count] = strdup(words[count]);
    copies[count] = NULL;
    execvp(copies[0], copies);
    _exit(127);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return tsl_fail(TESELA_IO_FAILED, "%s does not start: %s", words[0], strerror(errno));
  }
  const int state = command_read(ends[0], child, seconds, output);
  close(ends[0]);
  *code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  return tsl_text_status(output);
}

tesela_status tsl_lab_temporary(char path[TSL_LAB_PATH_MAX]) {
  const char *named = getenv("TMPDIR"), *folder = named && *named ? named : "/tmp";
  if (strlen(folder) > 400)
    return tsl_fail(TESELA_IO_FAILED, "the path in TMPDIR is longer than 400 bytes");
  snprintf(path, TSL_LAB_PATH_MAX, "%.450s/tesela-lab-XXXXXX", folder);
  command_hold(SIG_BLOCK);
  if (mkdtemp(path))
    return TESELA_OK;
  const int error = errno;
  command_hold(SIG_UNBLOCK);
  return tsl_fail(TESELA_IO_FAILED, "%s: %s", path, strerror(error));
}

static int command_remove_one(const char *path, const struct stat *state, int kind, struct FTW *place) {
  (void)state;
  (void)kind;
  (void)place;
  remove(path);
  return 0;
}

void tsl_lab_remove(const char *path) {
  nftw(path, command_remove_one, 8, FTW_DEPTH | FTW_PHYS);
  command_hold(SIG_UNBLOCK);
}

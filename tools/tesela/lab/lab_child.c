/* Child processes of the lab: compilers, and kernels with limits of time and memory. */
#include "core/clock.h"
#include "core/status.h"
#include "lab/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 22 };

static void child_limit(int resource, rlim_t value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) == 0 && (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max)) {
    limit.rlim_cur = value;
    setrlimit(resource, &limit);
  }
}

/* Reads the output until it ends, or until the time is over, when the program is ended. */
static void command_read(int input, pid_t child, double seconds, tsl_text *output) {
  const double end = tsl_clock() + seconds;
  char block[4096];
  fcntl(input, F_SETFL, O_NONBLOCK);
  while (true) {
    const ssize_t count = read(input, block, sizeof block);
    if (count > 0 && output->length < OUTPUT_MAX)
      tsl_text_add_bytes(output, block, (size_t)count);
    else if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
      return;
    else if (tsl_clock() > end) {
      kill(child, SIGKILL);
      return;
    } else
      nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
}

tesela_status tsl_lab_command(const char *const *words, double seconds, tsl_text *output, int *code) {
  int ends[2], state = 0;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return tsl_fail(TESELA_IO_FAILED, "no pipe to %s: %s", words[0], strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
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
  command_read(ends[0], child, seconds, output);
  close(ends[0]);
  while (waitpid(child, &state, 0) < 0 && errno == EINTR)
    continue;
  *code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  return tsl_text_status(output);
}

tesela_status tsl_lab_temporary(char path[64]) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, 64, "%.40s/tesela-lab-XXXXXX", folder && *folder && strlen(folder) < 40 ? folder : "/tmp");
  return mkdtemp(path) ? TESELA_OK : tsl_fail(TESELA_IO_FAILED, "%s: %s", path, strerror(errno));
}

static int child_remove_one(const char *path, const struct stat *state, int kind, struct FTW *place) {
  (void)state;
  (void)kind;
  (void)place;
  remove(path);
  return 0;
}

void tsl_lab_remove(const char *path) {
  nftw(path, child_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Limits this process: time, memory, files' size, no new rights, and no network where the system permits. */
static void child_confine(const tsl_lab_options *options) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  setpgid(0, 0);
  /* Output of the kernel goes to standard error, messages of drivers go nowhere. */
  const int nothing = open("/dev/null", O_WRONLY);
  dup2(options->quiet ? nothing : STDERR_FILENO, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  (void)unshare(CLONE_NEWUSER | CLONE_NEWNET);
  child_limit(RLIMIT_CPU, (rlim_t)options->seconds + 1);
  child_limit(RLIMIT_DATA, (rlim_t)options->memory);
  child_limit(RLIMIT_FSIZE, (rlim_t)1 << 28);
  child_limit(RLIMIT_CORE, 0);
}

/* Waits for the child, and ends its group after four times its limit by the wall clock. */
static int child_wait(pid_t child, double seconds) {
  const double end = tsl_clock() + 4 * seconds + 10;
  int state = 0;
  while (waitpid(child, &state, WNOHANG) == 0) {
    if (tsl_clock() > end)
      kill(-child, SIGKILL);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  kill(-child, SIGKILL);
  return state;
}

static void child_explain(const tsl_lab_kernel *kernel, const tsl_lab_options *options, int number,
                          tsl_lab_report *report) {
  char where[256];
  snprintf(where, sizeof where, "%s%.200s", *report->wrong ? " on " : "", report->wrong);
  report->outcome = TSL_LAB_BROKEN;
  report->status = TESELA_DEVICE_FAILED;
  if (number == SIGXCPU || number == SIGKILL)
    snprintf(report->failure, sizeof report->failure,
             "%.500s: the kernel used more than %g s of processor time, or the system ended it%s",
             kernel->file, options->seconds, where);
  else if (number == SIGSEGV || number == SIGBUS)
    snprintf(report->failure, sizeof report->failure,
             "%.500s: the kernel accessed memory that it does not own (%s)%s", kernel->file,
             strsignal(number), where);
  else
    snprintf(report->failure, sizeof report->failure, "%.500s: the kernel ended by a signal (%s)%s",
             kernel->file, strsignal(number), where);
}

tesela_status tsl_lab_try(const tsl_lab_kernel *kernel, const tsl_lab_options *options,
                          tsl_lab_report *report) {
  tsl_lab_report *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char folder[64];
  if (shared == MAP_FAILED)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a report");
  tesela_status status = tsl_lab_temporary(folder);
  if (status != TESELA_OK) {
    munmap(shared, sizeof *shared);
    return status;
  }
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    child_confine(options);
    setenv("TMPDIR", folder, 1);
    tsl_lab_work(kernel, options, shared);
    _exit(0);
  }
  if (child < 0)
    status = tsl_fail(TESELA_IO_FAILED, "no child process: %s", strerror(errno));
  const int state = child < 0 ? 0 : child_wait(child, options->seconds);
  tsl_lab_remove(folder);
  *report = *shared;
  munmap(shared, sizeof *shared);
  if (WIFSIGNALED(state))
    child_explain(kernel, options, WTERMSIG(state), report);
  else if (!report->is_complete) {
    report->outcome = TSL_LAB_BROKEN;
    report->status = TESELA_DEVICE_FAILED;
    snprintf(report->failure, sizeof report->failure, "%.500s: the kernel ended its process, with code %d",
             kernel->file, WEXITSTATUS(state));
  }
  return status;
}

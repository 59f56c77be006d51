/* A kernel in a child process with limits of time and memory. */
#include "cli/language.h"
#include "core/clock.h"
#include "core/status.h"
#include "lab/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void child_limit(int resource, rlim_t value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) == 0 && (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max)) {
    limit.rlim_cur = value;
    setrlimit(resource, &limit);
  }
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

/* Waits for the child, and ends its group by an interrupt, or after four times its limit by the wall clock.
 */
static int child_wait(pid_t child, double seconds) {
  const double end = tsl_clock() + 4 * seconds + 10;
  int state = 0;
  while (waitpid(child, &state, WNOHANG) == 0) {
    if (tsl_clock() > end || tsl_lab_is_interrupted())
      kill(-child, SIGKILL);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  kill(-child, SIGKILL);
  return state;
}

static void child_explain(const tsl_lab_kernel *kernel, const tsl_lab_options *options, int number,
                          tsl_lab_report *report) {
  char where[256];
  snprintf(where, sizeof where, "%s%.200s", *report->wrong ? N_(" on ") : "", report->wrong);
  report->outcome = TSL_LAB_BROKEN;
  report->status = TESELA_DEVICE_FAILED;
  if (number == SIGXCPU || number == SIGKILL)
    snprintf(report->failure, sizeof report->failure,
             N_("%.500s: the kernel used more than %g s of processor time, or the system ended it%s"),
             kernel->file, options->seconds, where);
  else if (number == SIGSEGV || number == SIGBUS)
    snprintf(report->failure, sizeof report->failure,
             N_("%.500s: the kernel accessed memory that it does not own (%s)%s"), kernel->file,
             strsignal(number), where);
  else
    snprintf(report->failure, sizeof report->failure, N_("%.500s: the kernel ended by a signal (%s)%s"),
             kernel->file, strsignal(number), where);
}

tesela_status tsl_lab_try(const tsl_lab_kernel *kernel, const tsl_lab_options *options,
                          tsl_lab_report *report) {
  tsl_lab_report *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char folder[TSL_LAB_PATH_MAX];
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
    snprintf(report->failure, sizeof report->failure,
             N_("%.500s: the kernel ended its process, with code %d"), kernel->file, WEXITSTATUS(state));
  }
  return status;
}

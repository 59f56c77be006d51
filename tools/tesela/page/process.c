#include "page/process.h"

#include "core/clock.h"
#include "core/status.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Limits: bytes of stderr that are kept, bytes of a transfer, words of a command. */
enum { ERRORS_MAX = 1 << 16, PIPE_BLOCK = 1 << 16, WORDS_MAX = 15 };
enum { IN, OUT, ERR, PIPES };

/* A running program. Closed ends of pipes are -1. */
typedef struct process_running {
  const tsl_process *what;
  pid_t pid;
  int own[PIPES], its[PIPES];
  size_t written; /* bytes of the input written so far */
  tsl_text *texts[PIPES];
  double end;
  bool is_late, is_too_much;
} process_running;

static void close_one(int *fd) {
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

static void close_all(int *fds) {
  for (int i = 0; i < PIPES; i++)
    close_one(&fds[i]);
}

/* Moves a descriptor above the standard streams, so that it does not collide with a stream of the
 * started program. */
static int raise_fd(int fd) {
  if (fd < 0 || fd > STDERR_FILENO)
    return fd;
  const int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(fd);
  return higher;
}

static bool open_pipes(process_running *run) {
  for (int i = 0; i < PIPES; i++)
    run->own[i] = run->its[i] = -1;
  for (int i = 0; i < PIPES; i++) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return false;
    run->own[i] = raise_fd(ends[i == IN ? 1 : 0]);
    run->its[i] = raise_fd(ends[i == IN ? 0 : 1]);
    if (run->own[i] < 0 || run->its[i] < 0 || fcntl(run->own[i], F_SETFL, O_NONBLOCK) != 0)
      return false;
  }
  return true;
}

/* Starts the program in its own process group, which can be killed as a whole, with the default
 * signal handling. */
static int process_start(process_running *run) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, defaults;
  /* posix_spawnp() takes writable words but does not change them. */
  char *words[WORDS_MAX + 1] = {NULL};
  size_t count = 0;
  for (; run->what->arguments[count] && count < WORDS_MAX; count++)
    memcpy(&words[count], &run->what->arguments[count], sizeof words[count]);
  if (!words[0] || run->what->arguments[count])
    return E2BIG;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  for (int i = 0; i < PIPES; i++)
    posix_spawn_file_actions_adddup2(&files, run->its[i], i);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  const int failed = posix_spawnp(&run->pid, words[0], &files, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

static void write_some(process_running *run) {
  const size_t length = strlen(run->what->input);
  const ssize_t now = write(run->own[IN], run->what->input + run->written, length - run->written);
  if (now > 0)
    run->written += (size_t)now;
  if (run->written == length || (now < 0 && errno != EAGAIN && errno != EINTR))
    close_one(&run->own[IN]); /* all was written, or the program closed its input */
}

static void process_read_some(process_running *run, int from) {
  char block[PIPE_BLOCK];
  tsl_text *text = run->texts[from];
  const ssize_t now = read(run->own[from], block, sizeof block);
  if (now < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (now <= 0)
    close_one(&run->own[from]);
  else if (from == OUT && text->length + (size_t)now > run->what->output_max)
    run->is_too_much = true;
  else if (from == OUT || text->length < ERRORS_MAX)
    tsl_text_add_bytes(text, block, (size_t)now);
}

/* Exchanges data until the program closes its outputs or must be killed. */
static void process_exchange(process_running *run) {
  while (run->own[OUT] >= 0 || run->own[ERR] >= 0) {
    struct pollfd waits[PIPES];
    const double left = run->end - tsl_clock();
    if (left <= 0)
      run->is_late = true;
    if (run->is_late || run->is_too_much)
      return;
    for (int i = 0; i < PIPES; i++)
      waits[i] = (struct pollfd){.fd = run->own[i], .events = i == IN ? POLLOUT : POLLIN};
    if (poll(waits, PIPES, (int)(left * 1000) + 1) <= 0)
      continue;
    if (waits[IN].revents)
      write_some(run);
    for (int i = OUT; i <= ERR; i++)
      if (waits[i].revents)
        process_read_some(run, i);
  }
}

/* Returns the status of waitpid(); a program that closed its outputs may use the rest of its time. */
static int process_wait_for(process_running *run) {
  int code = 0;
  while (!run->is_late && !run->is_too_much) {
    const pid_t ended = waitpid(run->pid, &code, WNOHANG);
    if (ended == run->pid || (ended < 0 && errno != EINTR))
      return code;
    run->is_late = tsl_clock() > run->end;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  kill(-run->pid, SIGKILL);
  while (waitpid(run->pid, &code, 0) < 0 && errno == EINTR)
    continue;
  return code;
}

/* Copies the last line that is not blank, without control characters. */
static void last_line(const char *text, char *line, size_t size) {
  const char *best = "";
  size_t best_length = 0;
  for (const char *at = text; *at;) {
    const size_t length = strcspn(at, "\n"), blanks = strspn(at, " \t\r");
    if (blanks < length) {
      best = at + blanks;
      best_length = length - blanks;
    }
    at += length + (at[length] == '\n');
  }
  if (best_length >= size)
    best_length = size - 1;
  for (size_t i = 0; i < best_length; i++)
    line[i] = (unsigned char)best[i] < ' ' ? ' ' : best[i];
  line[best_length] = '\0';
}

static tesela_status process_judge(const process_running *run, int code) {
  const char *name = run->what->arguments[0];
  char line[256];
  last_line(tsl_text_get(run->texts[ERR]), line, sizeof line);
  if (run->is_late)
    return tsl_fail(TESELA_IO_FAILED, "%s took longer than %g s and was ended", name, run->what->seconds);
  if (run->is_too_much)
    return tsl_fail(TESELA_IO_FAILED, "%s wrote more than %zu bytes and was ended", name,
                    run->what->output_max);
  if (WIFSIGNALED(code))
    return tsl_fail(TESELA_IO_FAILED, "%s was ended by signal %d", name, WTERMSIG(code));
  if (WEXITSTATUS(code) != 0)
    return tsl_fail(TESELA_IO_FAILED, "%s ended with exit code %d%s%s", name, WEXITSTATUS(code),
                    *line ? ": " : "", line);
  return TESELA_OK;
}

/* The SIGPIPE state. A closed pipe shall be an error and no signal, so the signal is blocked in
 * this thread and then discarded. */
typedef struct held {
  sigset_t before;
  bool was_pending;
} held;

static held hold_sigpipe(void) {
  held kept;
  sigset_t pipes, pending;
  sigemptyset(&pipes);
  sigaddset(&pipes, SIGPIPE);
  sigpending(&pending);
  kept.was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipes, &kept.before);
  return kept;
}

static void release_sigpipe(const held *kept) {
  sigset_t pipes;
  sigemptyset(&pipes);
  sigaddset(&pipes, SIGPIPE);
  if (!kept->was_pending)
    while (sigtimedwait(&pipes, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
      continue;
  pthread_sigmask(SIG_SETMASK, &kept->before, NULL);
}

tesela_status tsl_process_run(const tsl_process *process, tsl_text *output, bool *found) {
  tsl_text errors = {0};
  process_running run = {
      .what = process, .end = tsl_clock() + process->seconds, .texts = {NULL, output, &errors}};
  tesela_status status = TESELA_OK;
  *found = true;
  const held kept = hold_sigpipe();
  const int failed = open_pipes(&run) ? process_start(&run) : errno;
  close_all(run.its);
  if (failed == ENOENT)
    *found = false;
  else if (failed)
    status = tsl_fail(TESELA_IO_FAILED, "%s cannot be started: %s", process->arguments[0], strerror(failed));
  else {
    process_exchange(&run);
    close_all(run.own);
    status = process_judge(&run, process_wait_for(&run));
  }
  close_all(run.own);
  release_sigpipe(&kept);
  tsl_text_free(&errors);
  if (status == TESELA_OK)
    status = tsl_text_status(output);
  return status;
}

#include "cli/interrupt.h"

#include "core/clock.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The signal handler reads these in any thread, so they are filled first and enabled last. */
static char guarded[2][PATH_MAX];
static char kept_file[PATH_MAX];
static const char *_Atomic last_words;
static atomic_int is_guarded, is_held, waiting, is_catching, is_terminal, noted;
static atomic_long owner; /* the process that made the files; a child of fork() removes nothing */

/* Signals of a fault of the process itself, unless another process sent them. The handler must not
 * return, or the fault repeats. */
static const int faults[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
/* Signals whose default action does not end the process, or cannot be changed. */
static const int harmless[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGTSTP,
                               SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH};

static bool is_among(int number, const int *numbers, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (numbers[i] == number)
      return true;
  return false;
}

static bool is_fault(int number, const siginfo_t *info) {
  return info->si_code > 0 && is_among(number, faults, sizeof faults / sizeof *faults);
}

/* --- the first interrupt of a measurement --- */

/* A measurement stops after the present run. If the run takes longer, another thread prints the
 * results and ends the process within one second of the interrupt. */
static const double grace_seconds = 0.45, limit_seconds = 0.9;
static sem_t interrupted;
static pthread_mutex_t results = PTHREAD_MUTEX_INITIALIZER; /* held while results change */
static atomic_bool is_concluding;
static tsl_interrupt_conclusion *conclude;
static void *conclude_argument;

/* Removes files, prints the remaining text, and ends the process by the signal's default action.
 * The parent then sees which signal it was. */
static void end_by(int number) {
  const bool is_own = owner == (long)getpid();
  for (int i = 0; i < is_guarded && is_own; i++)
    unlink(guarded[i]);
  const char *const text = last_words;
  const ssize_t ignored = text && access(kept_file, F_OK) == 0 ? write(STDERR_FILENO, text, strlen(text)) : 0;
  (void)ignored;
  signal(number, SIG_DFL);
  raise(number);
}

static void *interrupt_watch(void *argument) {
  static const struct timespec tick = {.tv_nsec = 10 * 1000 * 1000};
  (void)argument;
  while (sem_wait(&interrupted) != 0)
    ;
  for (const double start = tsl_clock(); !is_concluding && tsl_clock() - start < limit_seconds;
       nanosleep(&tick, NULL)) {
    if (tsl_clock() - start < grace_seconds || pthread_mutex_trylock(&results) != 0)
      continue;
    if (!is_concluding && conclude)
      conclude(conclude_argument);
    break;
  }
  if (is_concluding)
    return NULL;
  fflush(stdout);
  end_by(noted);
  return NULL;
}

/* --- signals --- */

static void take_signal(int number, siginfo_t *info, void *context) {
  const int before = errno;
  (void)context;
  if (is_catching && !noted && number == SIGINT) {
    static const char text[] =
        "\ntesela: finishing with the results so far; interrupt again to stop at once\n";
    noted = number;
    const ssize_t ignored = is_terminal ? write(STDERR_FILENO, text, sizeof text - 1) : 0;
    (void)ignored;
    sem_post(&interrupted);
    errno = before;
    return;
  }
  if (is_held && !is_fault(number, info)) {
    waiting = number;
    if (is_held) /* else the guard ended in another thread, which may not have seen this signal */
      return;
  }
  end_by(number);
}

/* Installs the handler for all signals that would end the process. Ignored signals (nohup) stay
 * ignored, and existing handlers are kept. */
static void listen_to_signals(void) {
  struct sigaction action = {.sa_sigaction = take_signal, .sa_flags = SA_RESTART | SA_SIGINFO};
  owner = (long)getpid();
  for (int number = 1; number <= SIGRTMAX; number++) {
    struct sigaction before;
    if (!is_among(number, harmless, sizeof harmless / sizeof *harmless) &&
        sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction(number, &action, NULL);
  }
}

void tsl_interrupt_hold(void) {
  is_held = 1;
  listen_to_signals();
}

/* Sets the guarded files; first clears the list, since the handler may read it at any time. */
static void guard(const char *const *paths) {
  is_guarded = 0;
  for (int i = 0; i < 2 && paths[i]; i++) {
    const size_t length = strlen(paths[i]);
    if (length == 0 || length >= sizeof guarded[i])
      break;
    memcpy(guarded[i], paths[i], length + 1);
    is_guarded = i + 1;
  }
  if (is_guarded)
    listen_to_signals();
  is_held = 0;
  if (waiting)
    end_by(waiting);
}

void tsl_interrupt_guard(const char *path) {
  guard((const char *const[2]){path});
}

void tsl_interrupt_guard_two(const char *path, const char *other) {
  guard((const char *const[2]){path, other});
}

void tsl_interrupt_tell(const char *text, const char *file) {
  last_words = NULL;
  if (text)
    snprintf(kept_file, sizeof kept_file, "%s", file);
  last_words = text;
  is_guarded = 0;
  if (text)
    listen_to_signals();
}

void tsl_interrupt_catch(tsl_interrupt_conclusion *conclusion, void *argument) {
  pthread_t thread;
  conclude = conclusion;
  conclude_argument = argument;
  is_terminal = isatty(STDERR_FILENO);
  pthread_mutex_lock(&results);
  if (sem_init(&interrupted, 0, 0) != 0 || pthread_create(&thread, NULL, interrupt_watch, NULL) != 0)
    return; /* without the thread an interrupt ends the process at once */
  pthread_detach(thread);
  is_catching = 1;
  listen_to_signals();
}

void tsl_interrupt_wait_begin(void) {
  if (is_catching)
    pthread_mutex_unlock(&results);
}

void tsl_interrupt_wait_end(void) {
  if (is_catching)
    pthread_mutex_lock(&results);
}

void tsl_interrupt_concluding(void) {
  is_concluding = true;
}

bool tsl_interrupted(void) {
  return noted != 0;
}

void tsl_interrupt_end(void) {
  if (noted)
    end_by(noted);
}

static void (*before_setup)(int) = SIG_DFL;

void tsl_interrupt_setup(void) {
  before_setup = signal(SIGXFSZ, SIG_IGN);
}

void tsl_interrupt_restore(void) {
  signal(SIGXFSZ, before_setup);
}

#include "cli/interrupt.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Read by the signal handler, in whatever thread: filled first, switched on last. */
static char guarded[2][PATH_MAX];
static const char *_Atomic last_words;
static atomic_int is_guarded, is_held, waiting, is_catching, is_terminal, noted;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static void remove_and_end(int number) {
  if (is_catching && !noted && number == SIGINT) {
    static const char told[] = "\ntesela: ending after the run under way; once more ends at once\n";
    noted = number;
    const ssize_t ignored = is_terminal ? write(STDERR_FILENO, told, sizeof told - 1) : 0;
    (void)ignored;
    return;
  }
  if (is_held) {
    waiting = number;
    if (is_held) /* else it ended meanwhile, in another thread, which may have seen nobody waiting */
      return;
  }
  for (int i = 0; i < is_guarded; i++)
    unlink(guarded[i]);
  const char *const text = last_words;
  const ssize_t ignored = text ? write(STDERR_FILENO, text, strlen(text)) : 0;
  (void)ignored;
  /* By the default action, so that the caller sees which signal it was. */
  signal(number, SIG_DFL);
  raise(number);
}

static void listen_to_signals(void) {
  struct sigaction action = {.sa_handler = remove_and_end, .sa_flags = SA_RESTART};
  for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
    struct sigaction before;
    /* What is ignored (nohup) stays ignored. */
    if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(ending[i], &action, NULL);
  }
}

void tsl_interrupt_hold(void) {
  is_held = 1;
  listen_to_signals();
}

/* The files are none at first: the handler may look at any time. */
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
    remove_and_end(waiting);
}

void tsl_interrupt_guard(const char *path) {
  guard((const char *const[2]){path});
}

void tsl_interrupt_guard_two(const char *path, const char *other) {
  guard((const char *const[2]){path, other});
}

void tsl_interrupt_tell(const char *text) {
  last_words = text;
  is_guarded = 0;
  if (text)
    listen_to_signals();
}

void tsl_interrupt_catch(void) {
  is_terminal = isatty(STDERR_FILENO);
  is_catching = 1;
  listen_to_signals();
}

bool tsl_interrupted(void) {
  return noted != 0;
}

void tsl_interrupt_end(void) {
  if (noted)
    remove_and_end(noted);
}

void tsl_interrupt_setup(void) {
  signal(SIGXFSZ, SIG_IGN);
}

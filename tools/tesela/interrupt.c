#include "interrupt.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Read by the signal handler: filled first, switched on last. */
static char guarded[PATH_MAX];
static volatile sig_atomic_t is_guarded;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static void remove_and_end(int number) {
  if (is_guarded)
    unlink(guarded);
  /* The default action is back (SA_RESETHAND), so that the caller sees which signal it was. */
  raise(number);
}

void tsl_interrupt_guard(const char *path) {
  is_guarded = 0;
  const size_t length = path ? strlen(path) : 0;
  if (length == 0 || length >= sizeof guarded)
    return;
  memcpy(guarded, path, length + 1);
  is_guarded = 1;
  struct sigaction action = {.sa_handler = remove_and_end, .sa_flags = (int)SA_RESETHAND};
  for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
    struct sigaction before;
    /* What is ignored (nohup) stays ignored. */
    if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(ending[i], &action, NULL);
  }
}

void tsl_interrupt_setup(void) {
  signal(SIGXFSZ, SIG_IGN);
}

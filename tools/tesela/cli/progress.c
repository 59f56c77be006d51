#include "cli/progress.h"

#include "core/clock.h"
#include "core/progress_hook.h"
#include "core/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { NARROWEST = 30, NARROWEST_BAR = 4, WIDEST_BAR = 40, TICK_NANOSECONDS = 100 * 1000 * 1000 };
static const double quiet_seconds = 1.0, line_seconds = 10;

struct tsl_progress {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool stop, drawn;
  bool is_terminal; /* true: draws one line in place; false: prints a line every ten seconds */
  double printed;   /* the time of the last printed line, or of the start */
  double started;
  char what[64];
  char note[160];                /* the name of a wait within the activity; shown in its place */
  double fraction, told;         /* the fraction last set, and the time when it was set */
  double creep_more, creep_over; /* the growth of the fraction, and the seconds it takes; 0: no growth */
};

/* Protects the progress that receives the library's notes. */
static pthread_mutex_t present_lock = PTHREAD_MUTEX_INITIALIZER;
static tsl_progress *present;

static void take_note(const char *what) {
  pthread_mutex_lock(&present_lock);
  if (present) {
    pthread_mutex_lock(&present->lock);
    snprintf(present->note, sizeof present->note, "%s", what ? what : "");
    pthread_mutex_unlock(&present->lock);
  }
  pthread_mutex_unlock(&present_lock);
}

static void listen_for(tsl_progress *progress) {
  pthread_mutex_lock(&present_lock);
  present = progress;
  pthread_mutex_unlock(&present_lock);
  tsl_long_operation_set_callback(progress ? take_note : NULL);
}

/* Returns the fraction now: linear up to the prediction, then ever slower if the prediction was too
 * short. */
static double present_fraction(const tsl_progress *progress, double now) {
  if (progress->creep_over <= 0)
    return progress->fraction;
  const double part = (now - progress->told) / progress->creep_over;
  const double moved = part < 0.8 ? part : 1 - 0.16 / part;
  return progress->fraction + progress->creep_more * moved;
}

/* Formats remaining seconds: "40 s", "3 min", "2.5 h". */
static const char *format_left(double seconds, char *out, size_t size) {
  if (seconds < 100)
    snprintf(out, size, "  %.0f s left", seconds);
  else if (seconds < 6000)
    snprintf(out, size, "  %.0f min left", seconds / 60);
  else
    snprintf(out, size, "  %.1f h left", seconds / 3600);
  return out;
}

/* Prints a whole line every ten seconds, where stderr is a file or a pipe. */
static void print_line(tsl_progress *progress) {
  const double now = tsl_clock(), elapsed = now - progress->started;
  char left[32] = "";
  if (now - progress->printed < line_seconds)
    return;
  const double fraction = present_fraction(progress, now);
  if (fraction > 0.02 && fraction < 0.99)
    format_left(elapsed * (1 - fraction) / fraction, left, sizeof left);
  progress->printed = now;
  fprintf(stderr, "tesela: %3.0f%%%s  %s\n", 100 * fraction, left,
          progress->note[0] ? progress->note : progress->what);
}

static void progress_draw(tsl_progress *progress) {
  const double now = tsl_clock(), elapsed = now - progress->started;
  struct winsize size;
  if (elapsed < quiet_seconds || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < NARROWEST)
    return;
  const double fraction = present_fraction(progress, now);
  char line[256], bar[WIDEST_BAR + 1], left[32] = "";
  if (fraction > 0.02 && fraction < 0.99)
    format_left(elapsed * (1 - fraction) / fraction, left, sizeof left);
  const char *const what = progress->note[0] ? progress->note : progress->what;
  const int shown = (int)strlen(what) < size.ws_col - 1 ? (int)strlen(what) : size.ws_col - 1;
  const int space = size.ws_col - shown - 32;
  const int width = space > WIDEST_BAR ? WIDEST_BAR : space > 0 ? space : 0;
  const int full = (int)(fraction * width + 0.5);
  for (int i = 0; i < width; i++)
    bar[i] = i < full ? '=' : i == full ? '>' : ' ';
  bar[width] = '\0';
  if (progress->note[0] && space < NARROWEST_BAR)
    snprintf(line, sizeof line, "\r\033[K%.*s", shown, what);
  else
    snprintf(line, sizeof line, "\r\033[K%.*s [%s] %3.0f%%%s", shown, what, bar, 100 * fraction, left);
  fputs(line, stderr);
  fflush(stderr);
  progress->drawn = true;
}

static void *progress_watch(void *argument) {
  tsl_progress *progress = argument;
  pthread_mutex_lock(&progress->lock);
  while (!progress->stop) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += TICK_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&progress->wake, &progress->lock, &until);
    if (!progress->stop && progress->is_terminal)
      progress_draw(progress);
    else if (!progress->stop)
      print_line(progress);
  }
  pthread_mutex_unlock(&progress->lock);
  return NULL;
}

tsl_progress *tsl_progress_start(bool lines) {
  const bool is_terminal = isatty(STDERR_FILENO);
  if (!is_terminal && !lines)
    return NULL;
  tsl_progress *progress = calloc(1, sizeof *progress);
  if (!progress)
    return NULL;
  progress->started = progress->printed = tsl_clock();
  progress->is_terminal = is_terminal;
  pthread_mutex_init(&progress->lock, NULL);
  pthread_cond_init(&progress->wake, NULL);
  if (pthread_create(&progress->thread, NULL, progress_watch, progress) == 0) {
    listen_for(progress);
    return progress;
  }
  pthread_cond_destroy(&progress->wake);
  pthread_mutex_destroy(&progress->lock);
  free(progress);
  return NULL;
}

void tsl_progress_at(tsl_progress *progress, const char *what, double fraction) {
  if (!progress)
    return;
  pthread_mutex_lock(&progress->lock);
  snprintf(progress->what, sizeof progress->what, "%s", what);
  progress->fraction = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
  progress->told = tsl_clock();
  progress->creep_over = 0;
  pthread_mutex_unlock(&progress->lock);
}

void tsl_progress_creep(tsl_progress *progress, double more, double seconds) {
  if (!progress)
    return;
  pthread_mutex_lock(&progress->lock);
  progress->creep_more = more;
  progress->creep_over = seconds > 1e-3 ? seconds : 1e-3;
  pthread_mutex_unlock(&progress->lock);
}

/* Erases the line, if drawn, and stops drawing. */
static void stop(tsl_progress *progress) {
  pthread_mutex_lock(&progress->lock);
  progress->stop = true;
  if (progress->drawn)
    fputs("\r\033[K", stderr);
  progress->drawn = false;
  fflush(stderr);
  pthread_cond_signal(&progress->wake);
  pthread_mutex_unlock(&progress->lock);
}

void tsl_progress_stop(tsl_progress *progress) {
  if (progress)
    stop(progress);
}

void tsl_progress_end(tsl_progress *progress) {
  if (!progress)
    return;
  listen_for(NULL);
  stop(progress);
  pthread_join(progress->thread, NULL);
  pthread_cond_destroy(&progress->wake);
  pthread_mutex_destroy(&progress->lock);
  free(progress);
}

#include "scalapack/calls.h"

#include "core/clock.h"
#include "core/library.h"
#include "core/log.h"
#include "core/text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_logging;

/* The library's own log of each process's products would hide these lines. */
__attribute__((constructor)) static void read_log_topics(void) {
  is_logging = tsl_log_wants(TSL_LOG_CALLS);
  tsl_log_mute(TSL_LOG_CALLS);
}

void tsl_scalapack_begin(tsl_scalapack_call *call) {
  call->started = is_logging && call->position.row == 0 && call->position.col == 0 ? tsl_clock() : 0;
}

static void add_call_text(const tsl_scalapack_call *call, tsl_text *line) {
  tsl_text_add(line, "tesela calls: %s %s %lld x %lld", call->symbol->name, call->letters,
               (long long)call->sizes[0], (long long)call->sizes[1]);
  if (call->sizes[2] > 0)
    tsl_text_add(line, " x %lld", (long long)call->sizes[2]);
  tsl_text_add(line, " on %d x %d", call->position.rows, call->position.cols);
}

static void print_and_free(tsl_text *line) {
  fputs(tsl_text_get(line), stderr);
  tsl_text_free(line);
}

void tsl_scalapack_end(const tsl_scalapack_call *call, const tesela_mpi_record *record) {
  tsl_text line = {0};
  if (call->started == 0)
    return;
  add_call_text(call, &line);
  tsl_text_add(&line, ": tesela, %.6f s (%.6f computing, %.6f waiting, %.6f moving), %s\n",
               tsl_clock() - call->started, record->seconds_compute, record->seconds_wait,
               record->seconds_move, record->plan);
  print_and_free(&line);
}

static void print_forwarded(const tsl_scalapack_call *call, tsl_next_function *next, const char *why) {
  char path[PATH_MAX];
  tsl_text line = {0};
  tsl_library_file(next, path, sizeof path);
  const char *slash = strrchr(path, '/');
  add_call_text(call, &line);
  tsl_text_add(&line, ": %s, %s\n", slash ? slash + 1 : "another library", why);
  print_and_free(&line);
}

static void print_problem(const tsl_scalapack_call *call, const char *consequence, const char *why) {
  fprintf(stderr, "tesela: %s: %s; %s\n", call->symbol->name, why, consequence);
}

tsl_next_function *tsl_scalapack_forward(const tsl_scalapack_call *call, const char *why) {
  tsl_next_function *next = tsl_interpose_next(&call->symbol->next, call->symbol->name);
  if (!next)
    print_problem(call, "the process has no other ScaLAPACK, so C is unchanged", why);
  else if (call->started > 0)
    print_forwarded(call, next, why);
  return next;
}

void tsl_scalapack_report_lost(const tsl_scalapack_call *call, const char *why) {
  print_problem(call, "the result is wrong", why);
}

#include "tune/log.h"

#include "core/reserve.h"
#include "core/status.h"
#include "planner/planner_wisdom.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char calls_mark[] = "tesela calls: ";

void tsl_call_log_free(tsl_call_log *log) {
  free(log->items);
  *log = (tsl_call_log){0};
}

static bool log_same_problem(const tsl_problem *a, const tsl_problem *b) {
  tsl_text one = {0}, other = {0};
  tsl_problem_print(a, &one);
  tsl_problem_print(b, &other);
  const bool same = a->op == b->op && strcmp(tsl_text_get(&one), tsl_text_get(&other)) == 0;
  tsl_text_free(&one);
  tsl_text_free(&other);
  return same;
}

static tesela_status log_add(tsl_call_log *log, const tsl_logged *call) {
  for (int i = 0; i < log->count; i++)
    if (strcmp(log->items[i].device, call->device) == 0 &&
        log_same_problem(&log->items[i].problem, &call->problem)) {
      log->items[i].calls += call->calls;
      log->items[i].seconds += call->seconds;
      return TESELA_OK;
    }
  TSL_TRY(tsl_list_reserve(&log->items, log->count, &log->capacity, sizeof *log->items, "logged calls"));
  log->items[log->count++] = *call;
  return TESELA_OK;
}

/* Sets alpha to 1 and beta to 0 or 1. Returns true if the problem can be tuned: C has elements, and sums have
 * terms. */
static bool normalise(tsl_problem *problem) {
  const bool scaled = problem->alpha[0] != 0 || problem->alpha[1] != 0;
  const bool beta = problem->beta[0] != 0 || problem->beta[1] != 0;
  problem->alpha[0] = 1;
  problem->beta[0] = beta;
  problem->alpha[1] = problem->beta[1] = 0;
  return scaled && problem->m > 0 && problem->n > 0 && (problem->k > 0 || problem->op == TSL_OP_TRANSPOSE);
}

/* --- the library's lines: "tesela calls: <plan>: 0.01 s, of which ..." --- */

static bool log_read_plan(const char *plan, tsl_logged *out) {
  tsl_record record;
  bool good = false;
  if (tsl_record_parse(plan, &record) != TESELA_OK)
    return false;
  const char *word = tsl_record_word(&record, 0), *device = tsl_record_get(&record, "device");
  for (int op = 0; word && op < TSL_OP_COUNT && !good; op++)
    good = strcmp(tsl_op_name((tsl_op)op), word) == 0 &&
           tsl_problem_parse(&record, (tsl_op)op, &out->problem) == TESELA_OK &&
           tsl_problem_check(&out->problem) == TESELA_OK;
  snprintf(out->device, sizeof out->device, "%s", device ? device : "");
  tsl_record_free(&record);
  return good && normalise(&out->problem);
}

static bool read_call(const char *line, tsl_logged *out) {
  char word[32];
  const char *end = strstr(line, ": ");
  char *plan = end ? strndup(line, (size_t)(end - line)) : NULL;
  if (!plan)
    return false;
  snprintf(word, sizeof word, "%.*s", (int)strcspn(end + 2, " "), end + 2);
  out->calls = 1;
  const bool good = tsl_parse_double(word, &out->seconds) && log_read_plan(plan, out);
  free(plan);
  return good;
}

/* --- the drop-in's table: "cblas_sgemm  1024 x 512 x 64  12  tesela host_packed cpu  0.123456  12.3" --- */

/* Reads the operation and type from a BLAS routine's name. Returns false for a routine that is not tuned. */
static bool read_routine(const char *name, tsl_op *op, tesela_type *type) {
  static const struct {
    const char *word;
    tsl_op op;
  } words[] = {{"gemm", TSL_OP_GEMM}, {"dot", TSL_OP_DOT}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *at = strstr(name, words[i].word);
    if (!at || at == name || (at[-1] != 's' && at[-1] != 'd') ||
        isalpha((unsigned char)at[strlen(words[i].word)]))
      continue;
    *op = words[i].op;
    *type = at[-1] == 's' ? TESELA_F32 : TESELA_F64;
    return true;
  }
  return false;
}

/* Reads "300", or the larger number of "260..300", which has most of the work. Returns -1 for other text. */
static int64_t log_read_size(const char **rest) {
  char *end;
  int64_t size = strtoll(*rest, &end, 10);
  if (end == *rest || size < 0)
    return -1;
  *rest = end;
  if (strncmp(end, "..", 2) == 0) {
    const int64_t most = strtoll(end + 2, &end, 10);
    size = most > size ? most : -1;
    *rest = end;
  }
  return size;
}

/* "1024 x 260..300 x 64": how many sizes there are, and where the text goes on. */
static int log_read_sizes(const char **rest, int64_t sizes[3]) {
  int count = 0;
  while (count < 3) {
    sizes[count] = log_read_size(rest);
    if (sizes[count] < 0)
      return 0;
    count++;
    if (strncmp(*rest, " x ", 3) != 0)
      break;
    *rest += 3;
  }
  return count;
}

/* The last word but one. */
static bool log_read_seconds(const char *line, double *out) {
  const char *end = line + strlen(line);
  char word[32];
  for (int words = 0; words < 2; words++) {
    while (end > line && end[-1] == ' ')
      end--;
    const char *start = end;
    while (start > line && start[-1] != ' ')
      start--;
    snprintf(word, sizeof word, "%.*s", (int)(end - start), start);
    end = start;
  }
  return tsl_parse_double(word, out);
}

static bool log_read_row(const char *line, tsl_logged *out) {
  char name[64];
  tsl_op op;
  tesela_type type;
  int64_t sizes[3];
  const size_t length = strcspn(line, " ");
  if (length == 0 || length >= sizeof name)
    return false;
  snprintf(name, sizeof name, "%.*s", (int)length, line);
  const char *rest = line + length;
  if (!read_routine(name, &op, &type) || log_read_sizes(&rest, sizes) != (op == TSL_OP_GEMM ? 3 : 1))
    return false;
  char *end;
  out->calls = strtoll(rest, &end, 10);
  if (end == rest || out->calls < 1 || !log_read_seconds(line, &out->seconds))
    return false;
  out->problem = op == TSL_OP_GEMM ? tsl_problem_gemm(sizes[0], sizes[1], sizes[2], type)
                                   : tsl_problem_of(op, 1, 1, sizes[0], type);
  const char *device = strstr(end, "tesela ");
  const char *blank = device ? strchr(device + strlen("tesela "), ' ') : NULL;
  if (blank && blank[1] != ' ')
    snprintf(out->device, sizeof out->device, "%.*s", (int)strcspn(blank + 1, " "), blank + 1);
  return tsl_problem_check(&out->problem) == TESELA_OK && normalise(&out->problem);
}

/* --- the whole --- */

static int log_by_seconds(const void *a, const void *b) {
  const double x = ((const tsl_logged *)a)->seconds, y = ((const tsl_logged *)b)->seconds;
  return x < y ? 1 : x > y ? -1 : 0;
}

static tesela_status log_read_line(tsl_call_log *out, const char *line) {
  const size_t mark = strlen(calls_mark);
  tsl_logged call = {.calls = 0};
  const bool is_call =
      strncmp(line, calls_mark, mark) == 0 ? read_call(line + mark, &call) : log_read_row(line, &call);
  if (is_call && call.seconds >= 0)
    return log_add(out, &call);
  out->passed_over += *line != '\0';
  return TESELA_OK;
}

tesela_status tsl_call_log_read(const char *path, tsl_call_log *out) {
  tsl_text text = {0};
  *out = (tsl_call_log){0};
  tesela_status status = tsl_wisdom_read(path, false, &text);
  if (status == TESELA_IO_FAILED)
    status = TESELA_BAD_INPUT; /* an input that cannot be opened */
  for (char *line = text.data; status == TESELA_OK && line && *line;) {
    char *end = strchr(line, '\n');
    if (end)
      *end = '\0';
    status = log_read_line(out, line);
    line = end ? end + 1 : line + strlen(line);
  }
  tsl_text_free(&text);
  if (status == TESELA_OK && out->count == 0)
    status =
        tsl_fail(TESELA_BAD_INPUT,
                 "%s: there is no call in it that can be tuned; TESELA_LOG=calls writes such logs", path);
  if (out->count > 0)
    qsort(out->items, (size_t)out->count, sizeof *out->items, log_by_seconds);
  return status;
}

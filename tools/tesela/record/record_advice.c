#include "record/record.h"

#include "cli/language.h"
#include "core/status.h"
#include "core/types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, PAGE = 4096, SMALL_SIDE = 256, FEW_TERMS = 256 };

static const char *const names[] = {
    [TSL_ADVICE_TRANSPOSED] = "transposed", [TSL_ADVICE_TRIANGULAR] = "triangular",
    [TSL_ADVICE_SYMMETRIC] = "symmetric",   [TSL_ADVICE_JOIN] = "join",
    [TSL_ADVICE_BATCH] = "batch",           [TSL_ADVICE_DEEPEN] = "deepen",
    [TSL_ADVICE_ALIGN] = "align",           [TSL_ADVICE_THREADS] = "threads",
    [TSL_ADVICE_SINGLE] = "single",         [TSL_ADVICE_ROUND] = "round",
};

const char *tsl_advice_name(tsl_advice_kind kind) {
  return names[kind];
}

static bool is_plain_gemm(const tsl_calls_row *row) {
  return row->key.sizes == TSL_CALLS_SIZES && !row->key.rounded && row->key.count == 1 &&
         strstr(row->name, "gemm") && !strstr(row->name, "gemmt") && row->key.layout[0] != 'S' &&
         row->key.layout[1] != 'S' && row->key.layout[2] != 'S';
}

static bool was_seen(const tsl_calls_row *row, unsigned property) {
  return row->samples > 0 && (row->seen & property) != 0;
}

static bool is_most(uint64_t part, uint64_t calls) {
  return 10 * part >= 7 * calls;
}

/* Returns the calls of a run of equal calls, on average. */
static int64_t run_of(uint64_t calls, uint64_t followed) {
  return (int64_t)(calls / (calls > followed ? calls - followed : 1));
}

static int64_t bytes_of(const tsl_calls_row *row, int operand) {
  const tsl_type_info *type = tsl_type((tesela_type)row->key.type);
  return row->key.ld[operand] * (int64_t)(type ? type->size : 1);
}

/* Returns true if a factor is triangular; *right: it is B. */
static bool has_triangle(const tsl_calls_row *row, bool *right) {
  *right = !was_seen(row, TSL_SEEN_A_LOWER | TSL_SEEN_A_UPPER);
  return !*right || was_seen(row, TSL_SEEN_B_LOWER | TSL_SEEN_B_UPPER);
}

static bool is_transposed(const tsl_recorded *recorded, tsl_advice *out) {
  const tsl_calls_row *row = &recorded->row;
  if (!is_plain_gemm(row) || row->key.size[0] != row->key.size[1] || !was_seen(row, TSL_SEEN_TRANSPOSED))
    return false;
  out->most = 2;
  snprintf(out->text, sizeof out->text,
           N_("B is the transpose of A: syrk needs half the operations for one triangle of C."));
  return true;
}

static bool is_triangular(const tsl_recorded *recorded, tsl_advice *out) {
  bool right;
  if (!is_plain_gemm(&recorded->row) || recorded->row.key.beta != 0 || !has_triangle(&recorded->row, &right))
    return false;
  out->most = 2;
  snprintf(out->text, sizeof out->text, N_("%s is triangular: trmm needs half the operations."),
           right ? "B" : "A");
  return true;
}

static bool is_symmetric(const tsl_recorded *recorded, tsl_advice *out) {
  bool right;
  if (!is_plain_gemm(&recorded->row) ||
      !was_seen(&recorded->row, TSL_SEEN_A_SYMMETRIC | TSL_SEEN_B_SYMMETRIC) ||
      has_triangle(&recorded->row, &right))
    return false;
  snprintf(out->text, sizeof out->text, N_("%s is symmetric: symm reads one half of it."),
           was_seen(&recorded->row, TSL_SEEN_A_SYMMETRIC) ? "A" : "B");
  return true;
}

static bool is_small(const tsl_calls_row *row) {
  return row->key.size[0] <= SMALL_SIDE && row->key.size[1] <= SMALL_SIDE && row->key.size[2] <= SMALL_SIDE;
}

/* Returns true if most calls follow an equal one at a constant distance. */
static bool is_in_rows(const tsl_calls_row *row) {
  return is_plain_gemm(row) && row->calls >= 8 && is_most(row->strided, row->calls);
}

/* Returns true if the calls share a factor, and the lines of the other one follow each other. */
static bool shares_factor(const tsl_calls_row *row) {
  const char *layout = row->key.layout;
  if (layout[0] == 'R')
    return row->same_b == row->followed && layout[1] == 'N' &&
           row->distance[0] == row->key.size[0] * bytes_of(row, 0);
  return row->same_a == row->followed && layout[2] == 'N' &&
         row->distance[1] == row->key.size[1] * bytes_of(row, 1);
}

static bool can_join(const tsl_recorded *recorded, tsl_advice *out) {
  const tsl_calls_row *row = &recorded->row;
  const int64_t run = run_of(row->calls, row->followed);
  if (!is_in_rows(row) || run < 4 || !shares_factor(row) || row->key.beta != 0)
    return false;
  snprintf(out->text, sizeof out->text,
           N_("%lld calls in a row share %s, and %s lies in one piece: one product computes all, if no "
              "call needs an earlier result."),
           (long long)run, row->key.layout[0] == 'R' ? "B" : "A", row->key.layout[0] == 'R' ? "A" : "B");
  return true;
}

static bool can_batch(const tsl_recorded *recorded, tsl_advice *out) {
  const tsl_calls_row *row = &recorded->row;
  const int64_t run = run_of(row->calls, row->followed);
  if (!is_in_rows(row) || run < 8 || !is_small(row) || shares_factor(row))
    return false;
  snprintf(out->text, sizeof out->text,
           N_("%lld small calls in a row have operands at constant distances: one "
              "gemm_batch_strided computes all, if no call needs an earlier result."),
           (long long)run);
  return true;
}

static bool can_deepen(const tsl_recorded *recorded, tsl_advice *out) {
  const tsl_calls_row *row = &recorded->row;
  if (!is_plain_gemm(row) || row->key.beta == 0 || row->calls < 2 || !is_most(row->continued, row->calls) ||
      row->key.size[2] > FEW_TERMS)
    return false;
  snprintf(out->text, sizeof out->text,
           N_("Each call reads and writes the C of the call before: one product with the terms of all calls "
              "writes C once."));
  return true;
}

static bool can_align(const tsl_recorded *recorded, tsl_advice *out) {
  const tsl_calls_row *row = &recorded->row;
  if (!is_plain_gemm(row) || is_small(row))
    return false;
  for (int i = 0; i < TSL_CALLS_OPERANDS; i++) {
    const char name[] = {(char)('A' + i), '\0'};
    if (bytes_of(row, i) % PAGE == 0) {
      snprintf(
          out->text, sizeof out->text,
          N_("The lines of %s are a multiple of 4096 bytes apart: a leading dimension larger by 64 bytes "
             "spreads them in the caches."),
          name);
      return true;
    }
    if (bytes_of(row, i) % LINE != 0 || row->key.align[i] < 6) {
      snprintf(
          out->text, sizeof out->text,
          N_("The lines of %s do not begin at multiples of 64 bytes: align its start, and make the leading "
             "dimension a multiple of 64 bytes."),
          name);
      return true;
    }
  }
  return false;
}

static bool can_spare_threads(const tsl_recorded *recorded, tsl_advice *out) {
  const tsl_calls_row *row = &recorded->row;
  const double callers = row->looks > 0 ? 1 + (double)row->others / (double)row->looks : 1;
  const int own = recorded->threads > 0 ? recorded->threads : recorded->processors;
  if (row->looks < 4 || callers < 1.5 || own < 2 || callers * own <= 1.2 * recorded->processors)
    return false;
  const int fit = (int)fmax(1, floor(recorded->processors / callers));
  snprintf(out->text, sizeof out->text,
           N_("%.3g threads call at once, each call with %d threads, on %d processors: let a call use %d "
              "(TESELA_THREADS, OPENBLAS_NUM_THREADS)."),
           callers, own, recorded->processors, fit);
  return fit < own;
}

static bool is_double(const tsl_calls_row *row) {
  return is_plain_gemm(row) && row->key.type == TESELA_F64;
}

static bool has_single_numbers(const tsl_recorded *recorded, tsl_advice *out) {
  if (!is_double(&recorded->row) || !was_seen(&recorded->row, TSL_SEEN_SINGLE))
    return false;
  out->most = 2;
  snprintf(out->text, sizeof out->text,
           N_("The sampled elements of A and B are numbers of f32: f32 takes half the memory and time."));
  return true;
}

static bool may_round(const tsl_recorded *recorded, tsl_advice *out) {
  if (!is_double(&recorded->row) || was_seen(&recorded->row, TSL_SEEN_SINGLE))
    return false;
  out->most = 2;
  snprintf(out->text, sizeof out->text,
           N_("If seven digits are enough, f32 takes half the memory and time."));
  return true;
}

bool tsl_advice_applies(const tsl_recorded *recorded, tsl_advice_kind kind, tsl_advice *out) {
  static bool (*const rules[])(const tsl_recorded *, tsl_advice *) = {
      [TSL_ADVICE_TRANSPOSED] = is_transposed,  [TSL_ADVICE_TRIANGULAR] = is_triangular,
      [TSL_ADVICE_SYMMETRIC] = is_symmetric,    [TSL_ADVICE_JOIN] = can_join,
      [TSL_ADVICE_BATCH] = can_batch,           [TSL_ADVICE_DEEPEN] = can_deepen,
      [TSL_ADVICE_ALIGN] = can_align,           [TSL_ADVICE_THREADS] = can_spare_threads,
      [TSL_ADVICE_SINGLE] = has_single_numbers, [TSL_ADVICE_ROUND] = may_round,
  };
  *out = (tsl_advice){.kind = kind, .most = NAN, .error = NAN};
  return rules[kind](recorded, out);
}

double tsl_advice_gain(const tsl_advice *advice) {
  return advice->is_tried ? advice->without / advice->with : advice->most;
}

double tsl_advice_saved(const tsl_advice *advice) {
  return advice->seconds * (1 - 1 / tsl_advice_gain(advice));
}

/* Advice that is measured comes first, then advice with a limit. f32 that loses digits is last of its rank.
 */
static double rank_of(const tsl_advice *advice, const tsl_run_record *recording) {
  const double saved = tsl_advice_saved(advice),
               place = isnan(saved) ? -1 : saved / tsl_run_record_whole(recording);
  return place + (advice->kind == TSL_ADVICE_ROUND ? -2 : 0) + (advice->is_tried ? 1 : 0);
}

void tsl_advice_sort(const tsl_run_record *recording, tsl_advice_list *list) {
  for (int i = 1; i < list->count; i++) {
    const tsl_advice moved = list->items[i];
    int at = i;
    for (; at > 0 && rank_of(&list->items[at - 1], recording) < rank_of(&moved, recording); at--)
      list->items[at] = list->items[at - 1];
    list->items[at] = moved;
  }
}

/* Returns true for calls that differ in the alignment of their operands or in the library only. */
static bool is_alike(const tsl_calls_row *a, const tsl_calls_row *b) {
  tsl_calls_key x = a->key, y = b->key;
  x.name = y.name = x.who = y.who = 0;
  memset(x.align, 0, sizeof x.align);
  memset(y.align, 0, sizeof y.align);
  return strcmp(a->name, b->name) == 0 && memcmp(&x, &y, sizeof x) == 0;
}

/* Returns the listed advice of this kind for a product that is alike; NULL: none. */
static tsl_advice *find_alike(const tsl_run_record *recording, const tsl_advice_list *list,
                              tsl_advice_kind kind, const tsl_calls_row *row) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i].kind == kind && is_alike(&recording->products[list->items[i].product].row, row))
      return &list->items[i];
  return NULL;
}

static tesela_status add_advice(const tsl_run_record *recording, int product, const tsl_advice *advice,
                                tsl_advice_list *out) {
  const tsl_calls_row *row = &recording->products[product].row;
  tsl_advice *known = find_alike(recording, out, advice->kind, row);
  if (!known) {
    tsl_advice *more = realloc(out->items, (size_t)(out->count + 1) * sizeof *more);
    if (!more)
      return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for advice");
    out->items = more;
    known = &more[out->count++];
    *known = *advice;
    known->product = product;
  }
  known->alike++;
  known->seconds += row->seconds;
  return TESELA_OK;
}

tesela_status tsl_advice_create(const tsl_run_record *recording, tsl_advice_list *out) {
  static const double least = 0.01;
  *out = (tsl_advice_list){.count = 0};
  for (int i = 0; i < recording->count; i++)
    for (int kind = 0; kind < TSL_ADVICE_KINDS; kind++) {
      tsl_advice advice;
      if (recording->products[i].row.seconds >= least * tsl_run_record_whole(recording) &&
          tsl_advice_applies(&recording->products[i], (tsl_advice_kind)kind, &advice))
        TSL_TRY(add_advice(recording, i, &advice, out));
    }
  tsl_advice_sort(recording, out);
  return TESELA_OK;
}

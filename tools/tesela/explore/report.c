#include "explore/report.h"

#include "cli/language.h"
#include "cli/report.h"
#include "core/status.h"

#include <math.h>
#include <string.h>

tsl_form tsl_form_for(bool markdown) {
  return (tsl_form){.markdown = markdown,
                    .colour = !markdown && tsl_output_colour(),
                    .width = markdown ? 0 : tsl_output_width()};
}

void tsl_form_add_table(const tsl_form *form, const char *title, const tsl_table *table, tsl_text *out) {
  if (form->markdown) {
    tsl_text_add(out, "### %s\n\n", title);
    tsl_table_markdown(table, out);
  } else {
    tsl_text_add_painted(out, TSL_PAINT_STRONG, form->colour, title);
    tsl_text_add(out, "\n");
    tsl_table_text(table, 2, form->width, form->colour, out);
  }
  tsl_text_add(out, "\n");
  out->failed |= table->failed;
}

void tsl_form_add_line(const tsl_form *form, bool is_point, const char *text, tsl_text *out) {
  tsl_text_add(out, "%s", form->markdown && is_point ? "- " : "");
  tsl_text_add_wrapped(out, text, 0, is_point ? 4 : 0, form->width);
  tsl_text_add(out, "\n");
}

void tsl_explore_add_size(const tsl_exploration *all, int size, tsl_text *out) {
  const tsl_size *extent = &all->sizes.items[size];
  if (all->op == TSL_OP_DOT)
    tsl_text_add(out, "%lld", (long long)extent->k);
  else
    tsl_text_add(out, "%lld x %lld", (long long)extent->m, (long long)extent->n);
  if (all->op == TSL_OP_GEMM)
    tsl_text_add(out, " x %lld", (long long)extent->k);
}

void tsl_explore_add_peer(const tsl_exploration *all, int strategy, tsl_text *out) {
  const char *peer = "";
  for (int d = 0; d < all->devices.count && !*peer; d++)
    peer = tsl_strategy_peer(all->strategies.items[strategy].strategy, all->devices.items[d]);
  if (*peer)
    tsl_text_add(out, " (%s)", peer);
}

static void report_add_missing(tsl_devices *devices, const tsl_form *form, tsl_text *out) {
  for (int kind = 0; kind < tsl_device_kind_count(); kind++) {
    const char *name, *what, *why;
    int count;
    tsl_text line = {0};
    if (tsl_devices_kind(devices, kind, &name, &what, &count, &why) != TESELA_OK || count > 0)
      continue;
    tsl_text_add(&line, tsl_tr("No %s (%s): %s."), name, tsl_tr(what), why);
    tsl_form_add_line(form, true, tsl_text_get(&line), out);
    tsl_text_free(&line);
  }
}

void tsl_explore_add_devices(const tsl_exploration *all, tsl_devices *devices, const tsl_form *form,
                             tsl_text *out) {
  for (int d = 0; d < all->devices.count; d++) {
    const tsl_device *device = all->devices.items[d];
    tsl_text line = {0};
    tsl_text_add(&line, "%s: %s, %s", device->name, device->label, device->platform);
    tsl_form_add_line(form, true, tsl_text_get(&line), out);
    tsl_text_free(&line);
  }
  if (all->all_devices)
    report_add_missing(devices, form, out);
  tsl_text_add(out, "\n");
}

void tsl_explore_add_result(const tsl_point *point, double value, tsl_table *table) {
  char text[32];
  if (point->entry.result == TSL_CASE_WRONG)
    tsl_table_add_painted(table, TSL_PAINT_BAD, "%s", tsl_tr("WRONG"));
  else if (point->entry.result == TSL_CASE_FAILED)
    tsl_table_add_painted(table, TSL_PAINT_BAD, "%s", tsl_tr("failed"));
  else if (point->entry.result == TSL_CASE_REFUSED || isnan(value))
    tsl_table_add_painted(table, TSL_PAINT_FAINT, "-");
  else
    tsl_table_add_painted(table, point->entry.timing.noisy ? TSL_PAINT_FAINT : TSL_PAINT_NONE, "%s%s",
                          point->entry.timing.noisy ? "~" : "", tsl_format_number(value, text, sizeof text));
}

static bool same_reason(const tsl_point *a, const tsl_point *b) {
  return a->entry.result != TSL_CASE_RIGHT && b->entry.result != TSL_CASE_RIGHT && a->device == b->device &&
         strcmp(a->entry.why, b->entry.why) == 0;
}

/* Returns true if a point's strategy has a row; strategies without a row share a line of text. */
static bool is_row(const tsl_exploration *all, const tsl_point *point) {
  return !all->all_strategies || !tsl_explore_is_left_out(all, point->type, point->size, point->strategy);
}

void tsl_explore_add_reason(const tsl_exploration *all, int first, tsl_text *line) {
  const tsl_point *point = &all->points[first];
  int last = -1;
  if (!is_row(all, point))
    return;
  for (int i = 0; i < first; i++)
    if (same_reason(&all->points[i], point) && is_row(all, &all->points[i]))
      return;
  for (int i = first; i < all->point_count; i++) {
    const tsl_point *other = &all->points[i];
    if (!same_reason(other, point) || other->strategy <= last || !is_row(all, other))
      continue;
    tsl_text_add(line, "%s", last >= 0 ? ", " : "");
    tsl_explore_add_strategy(all, other->strategy, line);
    last = other->strategy;
  }
  if (last >= 0)
    tsl_text_add(line, " on %s: %s", all->devices.items[point->device]->name, point->entry.why);
}

void tsl_explore_add_reasons(const tsl_exploration *all, const tsl_form *form, tsl_text *out) {
  const size_t length = out->length;
  for (int i = 0; i < all->point_count; i++) {
    tsl_text line = {0};
    tsl_explore_add_reason(all, i, &line);
    if (line.length > 0)
      tsl_form_add_line(form, true, tsl_text_get(&line), out);
    out->failed |= line.failed;
    tsl_text_free(&line);
  }
  if (out->length > length)
    tsl_text_add(out, "\n");
}

/* Appends "CUT SHORT by an interrupt: ..."; nothing if all points were measured. */
static void add_cut(const tsl_exploration *all, tsl_text *out) {
  int right = 0, cut = 0;
  for (int i = 0; i < all->point_count; i++) {
    right += all->points[i].entry.result == TSL_CASE_RIGHT;
    cut += strcmp(all->points[i].entry.why, tsl_race_cut_short) == 0;
  }
  if (cut > 0)
    tsl_text_add(out, "CUT SHORT by an interrupt: %d entries were measured, %d were not.", right, cut);
}

void tsl_explore_add_conditions(const tsl_exploration *all, const tsl_form *form, tsl_text *out) {
  int measured = 0, warm = 0, rounds = 0, discarded = 0;
  for (int i = 0; i < all->types.count * all->sizes.count * all->devices.count; i++) {
    const tsl_race_report *race = &all->races[i];
    measured += race->sets > 0;
    warm += race->sets > 0 && !race->cold;
    rounds += race->rounds;
    discarded += race->discarded;
  }
  tsl_text line = {0};
  add_cut(all, &line);
  if (line.length > 0 && measured > 0)
    tsl_text_add(&line, " ");
  if (measured > 0)
    tsl_text_add(&line, "Operands were %s.",
                 warm == 0          ? "cold: each run takes others, past the last cache"
                 : warm == measured ? "warm: one set, or too few to fill the last cache twice"
                                    : "cold where memory allowed so many, else warm (--json says where)");
  if (measured > 0 && all->options.data != TSL_KIND_NORMAL)
    tsl_text_add(&line, " A's numbers were %s, not normal.", tsl_kind_name(all->options.data));
  if (discarded > 0)
    tsl_text_add(&line, " %d of %d rounds were dropped: the machine was busy.", discarded, rounds);
  for (int i = 0; i < all->types.count * all->sizes.count * all->devices.count; i++)
    if (all->races[i].hardware_why[0]) {
      tsl_text_add(&line, " No hardware counts: %s.", all->races[i].hardware_why);
      break;
    }
  if (line.length > 0)
    tsl_form_add_line(form, false, tsl_text_get(&line), out);
  tsl_text_free(&line);
}

tesela_status tsl_explore_conclude(const tsl_exploration *all) {
  int counts[TSL_CASE_FAILED + 1] = {0};
  const tsl_point *first = NULL;
  for (int i = 0; i < all->point_count; i++) {
    const tsl_case_result result = all->points[i].entry.result;
    counts[result]++;
    if (!first && (result == TSL_CASE_WRONG || result == TSL_CASE_FAILED))
      first = &all->points[i];
  }
  if (first)
    return tsl_fail(counts[TSL_CASE_WRONG] ? TESELA_WRONG_RESULT : TESELA_DEVICE_FAILED,
                    "%d wrong and %d failed entries; the first, %s on %s: %s", counts[TSL_CASE_WRONG],
                    counts[TSL_CASE_FAILED], first->entry.strategy->name,
                    all->devices.items[first->device]->name, first->entry.why);
  if (counts[TSL_CASE_RIGHT] == 0 && tsl_explore_is_cut_short(all))
    return tsl_fail(TESELA_UNSUPPORTED, "it was interrupted before anything was measured");
  if (counts[TSL_CASE_RIGHT] == 0)
    return tsl_fail(TESELA_UNSUPPORTED, "nothing was measured: every strategy refused");
  return TESELA_OK;
}

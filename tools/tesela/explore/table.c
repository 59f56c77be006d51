/* Prints the tables of `tesela explore` for each type and size: strategies down, devices across. */
#include "cli/report.h"
#include "core/status.h"
#include "explore/reasons.h"
#include "explore/report.h"

#include <math.h>
#include <string.h>

/* A kind of table: its cells' value and unit. */
typedef struct table_kind {
  double (*value)(const tsl_exploration *all, const tsl_point *point);
  const char *title;
  const char *small_title; /* the title in thousandths, if no value reaches 1; NULL: not used */
  double unit;
  bool has_errors;
} table_kind;

static double flops(const tsl_exploration *all, const tsl_point *point) {
  (void)all;
  return tsl_point_flops(point);
}
static double bandwidth(const tsl_exploration *all, const tsl_point *point) {
  (void)all;
  return tsl_point_bandwidth(point);
}

static const table_kind flops_kind = {flops, "GFLOP/s", "MFLOP/s", 1e9, true};
static const table_kind read_kind = {bandwidth, "GB/s", "MB/s", 1e9, true};
static const table_kind move_kind = {bandwidth, "GB/s", "MB/s", 1e9, false};
static const table_kind speedup_kind = {tsl_point_speedup, "Speed-up", NULL, 1, false};

static const table_kind *const gemm_kinds[] = {&flops_kind, &speedup_kind, NULL};
static const table_kind *const dot_kinds[] = {&read_kind, &speedup_kind, NULL};
static const table_kind *const transpose_kinds[] = {&move_kind, &speedup_kind, NULL};
static const table_kind *const *const kinds[TSL_OP_COUNT] = {[TSL_OP_GEMM] = gemm_kinds,
                                                             [TSL_OP_DOT] = dot_kinds,
                                                             [TSL_OP_TRANSPOSE] = transpose_kinds,
                                                             [TSL_OP_SOLVE] = gemm_kinds};

/* Returns the largest value of a table; NaN if it has none. */
static double table_largest(const tsl_exploration *all, int type, int size, const table_kind *kind) {
  double most = NAN;
  for (int s = 0; s < all->strategies.count; s++)
    for (int d = 0; d < all->devices.count; d++)
      most = fmax(most, kind->value(all, tsl_explore_at(all, type, size, s, d)));
  return most;
}

/* Adds the largest errors of a strategy over all devices. */
static void table_add_errors(const tsl_exploration *all, int type, int size, int strategy, tsl_table *table) {
  char text[32];
  double grade = NAN, ratio = NAN;
  for (int d = 0; d < all->devices.count; d++) {
    const tsl_race_entry *entry = &tsl_explore_at(all, type, size, strategy, d)->entry;
    if (entry->result == TSL_CASE_RIGHT || entry->result == TSL_CASE_WRONG) {
      grade = fmax(grade, entry->verdict.grade);
      ratio = fmax(ratio, entry->verdict.error_ratio);
    }
  }
  tsl_table_add(table, "%s", tsl_format_number(grade, text, sizeof text));
  tsl_table_add(table, "%s", tsl_format_number(ratio, text, sizeof text));
}

static void table_fill(const tsl_exploration *all, int type, int size, const table_kind *kind, double unit,
                       tsl_table *table) {
  tsl_table_column(table, "strategy", TSL_ALIGN_LEFT, true);
  for (int d = 0; d < all->devices.count && d < TSL_TABLE_COLUMNS_MAX - 4; d++)
    tsl_table_column(table, all->devices.items[d]->name, TSL_ALIGN_RIGHT, false);
  if (kind->has_errors)
    TSL_TABLE_COLUMNS(table, ">grade", ">of bound");
  for (int s = 0; s < all->strategies.count; s++) {
    tsl_text name = {0};
    if (tsl_explore_is_left_out(all, type, size, s))
      continue;
    tsl_explore_add_strategy(all, s, &name);
    tsl_explore_add_peer(all, s, &name);
    tsl_table_add(table, "%s", tsl_text_get(&name));
    tsl_text_free(&name);
    for (int d = 0; d < all->devices.count && d < TSL_TABLE_COLUMNS_MAX - 4; d++) {
      const tsl_point *point = tsl_explore_at(all, type, size, s, d);
      tsl_explore_add_result(point, kind->value(all, point) / unit, table);
    }
    if (kind->has_errors)
      table_add_errors(all, type, size, s, table);
  }
}

static void table_add_table(const tsl_exploration *all, int type, int size, const table_kind *kind,
                            const tsl_form *form, tsl_text *out) {
  const double most = table_largest(all, type, size, kind);
  const bool is_first = kind == kinds[all->op][0];
  tsl_table table = {0};
  tsl_text title = {0};
  if (isnan(most) && !is_first)
    return;
  const bool is_small = kind->small_title && most < kind->unit;
  table_fill(all, type, size, kind, is_small ? kind->unit / 1000 : kind->unit, &table);
  tsl_text_add(&title, "%s, %s, ", is_small ? kind->small_title : kind->title, all->types.items[type].name);
  tsl_explore_add_size(all, size, &title);
  tsl_form_add_table(form, tsl_text_get(&title), &table, out);
  tsl_text_free(&title);
  tsl_table_free(&table);
}

/* Adds measured and predicted factors over the partners; nothing where no partner was measured. */
static tesela_status add_reasons_table(const tsl_exploration *all, int type, int size, const tsl_form *form,
                                       tsl_text *out) {
  tsl_reasons reasons;
  tsl_table table = {0};
  tsl_text title = {0};
  TSL_TRY(tsl_reasons_make(all, type, size, &reasons));
  tsl_reasons_table(all, &reasons, &table);
  if (tsl_table_rows(&table) > 0) {
    tsl_text_add(&title, "Over the partner, %s, ", all->types.items[type].name);
    tsl_explore_add_size(all, size, &title);
    tsl_form_add_table(form, tsl_text_get(&title), &table, out);
  }
  tsl_text_free(&title);
  tsl_table_free(&table);
  tsl_reasons_free(&reasons);
  return TESELA_OK;
}

tesela_status tsl_explore_add_tables(const tsl_exploration *all, const tsl_form *form, tsl_text *out) {
  for (int t = 0; t < all->types.count; t++)
    for (int s = 0; s < all->sizes.count; s++) {
      for (const table_kind *const *of = kinds[all->op]; *of; of++)
        table_add_table(all, t, s, *of, form, out);
      TSL_TRY(add_reasons_table(all, t, s, form, out));
    }
  return TESELA_OK;
}

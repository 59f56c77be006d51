#include "explain/shares.h"

#include "cli/report.h"

#include <math.h>

static bool shares_share_of(const tsl_explanation *found, int index, tsl_subplan_info *share) {
  return found->plan && tsl_plan_share(found->plan, index, share);
}

/* Adds the time of the slowest shard, relative to a perfect balance, and the bytes over links. */
void tsl_shares_add_pair(const tsl_explanation *found, tsl_table *table) {
  const tsl_candidate *best = tsl_explain_chosen(found);
  double slowest = 0, bytes = 0;
  char took[32], moved[32];
  tsl_subplan_info share;
  int count = 0, links = 0;
  for (; shares_share_of(found, count, &share); count++) {
    links += share.link_count;
    slowest = fmax(slowest, share.seconds);
    bytes += share.in_bytes + share.out_bytes;
  }
  /* Sub-plans that work where the operands are run one after another; no balance is shown. */
  if (count == 0 || !found->plan->work.strategy->splits.parts)
    return;
  if (slowest > 0 && best)
    tsl_table_add_pair(
        table, "together", "%s for the slowest of %d shares: %.0f%% of the best possible speed",
        tsl_format_seconds(slowest, took, sizeof took), count, 100 * fmin(1, best->seconds / slowest));
  tsl_table_add_pair(table, "over links", "%s between %s",
                     tsl_format_bytes((uint64_t)bytes, moved, sizeof moved),
                     links > 0 ? "devices" : "the host and devices");
  if (found->link_rate > 0)
    tsl_table_add_pair(table, "scaling",
                       "on devices like %s, with operands in equal parts and links of %s, as measured",
                       found->plan->work.device->members[0]->name,
                       tsl_format_bandwidth(found->link_rate, took, sizeof took));
  else if (found->scaling_count > 0)
    tsl_table_add_pair(table, "scaling", "on devices like %s", found->plan->work.device->members[0]->name);
}

static void shares_add_bytes(tsl_table *table, double bytes) {
  char text[32];
  tsl_table_add(table, "%s", bytes > 0 ? tsl_format_bytes((uint64_t)bytes, text, sizeof text) : "-");
}

static void add_share(const tsl_subplan_info *share, tsl_table *table) {
  char text[32];
  tsl_table_add(table, "%s", share->device);
  if (share->count > 1)
    tsl_table_add(table, "%lld of %lld x %lld from (%lld, %lld)", (long long)share->count,
                  (long long)share->rows, (long long)share->cols, (long long)share->row,
                  (long long)share->col);
  else
    tsl_table_add(table, "%lld x %lld from (%lld, %lld)", (long long)share->rows, (long long)share->cols,
                  (long long)share->row, (long long)share->col);
  tsl_table_add(table, "%lld", (long long)share->depth);
  tsl_table_add(table, "%s",
                share->seconds > 0 ? tsl_format_seconds(share->seconds, text, sizeof text) : "-");
  shares_add_bytes(table, share->in_bytes);
  shares_add_bytes(table, share->out_bytes);
  tsl_table_add(table, "%s", share->plan);
  tsl_table_end_row(table);
}

void tsl_shares_table(const tsl_explanation *found, tsl_table *table) {
  tsl_subplan_info share;
  tsl_table_column(table, "who", TSL_ALIGN_LEFT, false);
  tsl_table_column(table, "what of C", TSL_ALIGN_LEFT, false);
  tsl_table_column(table, "terms", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "expected", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "in", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "out", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "by", TSL_ALIGN_LEFT, true);
  for (int i = 0; shares_share_of(found, i, &share); i++)
    add_share(&share, table);
}

void tsl_scaling_table(const tsl_explanation *found, tsl_table *table) {
  char text[32];
  tsl_table_column(table, "scaling", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "expected", TSL_ALIGN_RIGHT, false);
  tsl_table_column(table, "of linear", TSL_ALIGN_RIGHT, false);
  for (int i = 0; i < found->scaling_count; i++) {
    const double seconds = found->scaling[i].seconds, linear = tsl_explain_of_linear(found, i);
    tsl_table_add(table, "%d", found->scaling[i].devices);
    tsl_table_add(table, "%s", seconds > 0 ? tsl_format_seconds(seconds, text, sizeof text) : "-");
    if (isfinite(linear))
      tsl_table_add(table, "%.3f", linear);
    else
      tsl_table_add(table, "-");
    tsl_table_end_row(table);
  }
}

#include "explain/ranks.h"

#include "cli/report.h"
#include "comm/comm_grid.h"
#include "comm/transport_name.h"
#include "core/memory.h"
#include "core/status.h"

#include <math.h>

/* A grid, and the figures it is compared with. */
typedef struct ranks_found {
  tsl_task task;
  tsl_process_grid grid;
  tsl_process_grid usual; /* the grid that the library chooses from its own figures */
  /* the words that some rank must receive; the words of operands that each used rank holds */
  double bound, held;
  double seconds_words;
  int64_t words; /* words received by the busiest rank, or sent if that is more */
} ranks_found;

static tesela_status ranks_find(const tsl_explain_options *options, const tsl_problem *p, ranks_found *out) {
  const tsl_type_info *sums = tsl_type(tsl_type(p->c.type)->sums);
  const uint64_t memory = options->memory ? options->memory : tsl_memory_available() / 2;
  out->task = (tsl_task){.m = p->m,
                         .n = p->n,
                         .k = p->k,
                         .ranks = (int)options->ranks,
                         .size_a = (int64_t)tsl_type(p->a.type)->size,
                         .size_b = (int64_t)tsl_type(p->b.type)->size,
                         .size_c = (int64_t)tsl_type(p->c.type)->size,
                         .size_sum = (int64_t)sums->size,
                         .operations = sums->is_complex ? 8 : 2,
                         .memory = memory < INT64_MAX ? (int64_t)memory : INT64_MAX};
  const tsl_links links = {tsl_links_default.seconds_per_message,
                           options->link ? (double)options->link : tsl_links_default.bytes_per_second,
                           options->gflops.value * 1e9};
  if (tsl_grid_list(&out->task, &links, &out->grid, 1) == 0 ||
      tsl_grid_list(&out->task, &tsl_links_default, &out->usual, 1) == 0)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%llu bytes a rank are too few: --memory gives more",
                    (unsigned long long)memory);
  tsl_grid_time(&out->task, &links, &out->usual);
  out->words = out->grid.words > out->grid.words_sent ? out->grid.words : out->grid.words_sent;
  out->seconds_words = out->grid.seconds - out->grid.seconds_compute;
  const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
  /* Operands are distributed evenly over the ranks that multiply. */
  const int used = out->grid.used;
  out->held = (m * n + m * k + k * n) / used;
  out->bound = tsl_grid_bound(p->m, p->n, p->k, used, (double)memory / (double)sums->size);
  return TESELA_OK;
}

/* Returns true if the library, which does not know --link and --gflops, chooses another grid. */
static bool differs(const ranks_found *f) {
  const tsl_process_grid *g = &f->grid, *u = &f->usual;
  return g->used != u->used || g->depth != u->depth || g->slabs != u->slabs || g->by_columns != u->by_columns;
}

static tesela_status ranks_print_text(const ranks_found *f) {
  char bytes[32], time[32], part[32], way[400];
  tsl_text grid = {0};
  tsl_grid_print(&f->grid, &grid);
  tsl_table table = tsl_table_of_pairs();
  tsl_table_add_pair(&table, "plan", "%s", tsl_text_get(&grid));
  if (f->grid.used < f->grid.ranks)
    tsl_table_add_pair(&table, "ranks", "%d multiply and hold the operands, %d more would make it no faster",
                       f->grid.used, f->grid.ranks - f->grid.used);
  tsl_table_add_pair(&table, "memory", "%s of %s a rank, in addition to its operands",
                     tsl_format_bytes((uint64_t)f->grid.memory, bytes, sizeof bytes),
                     tsl_format_bytes((uint64_t)f->task.memory, part, sizeof part));
  tsl_table_add_pair(&table, "words",
                     "%lld to or from the busiest rank, %.0f at least (%.2f times); %.0f lie there",
                     (long long)f->words, f->bound, f->bound > 0 ? (double)f->words / f->bound : 1, f->held);
  tsl_table_add_pair(
      &table, "bytes", "%s to or from the busiest rank",
      tsl_format_bytes((uint64_t)((double)f->words * (double)f->task.size_a), bytes, sizeof bytes));
  tsl_table_add_pair(&table, "time", "%s: products %s, words %s where nothing overlaps",
                     tsl_format_seconds(f->grid.seconds, time, sizeof time),
                     tsl_format_seconds(f->grid.seconds_compute, part, sizeof part),
                     tsl_format_seconds(f->seconds_words, bytes, sizeof bytes));
  tsl_transfer_path_name(way, sizeof way);
  tsl_table_add_pair(&table, "panels", "%s", way);
  tsl_text_free(&grid);
  tsl_text usual = {0};
  tsl_grid_print(&f->usual, &usual);
  if (differs(f))
    tsl_table_add_pair(&table, "library", "chooses %s without these figures: %s", tsl_text_get(&usual),
                       tsl_format_seconds(f->usual.seconds, time, sizeof time));
  tsl_text_free(&usual);
  tsl_text out = {0};
  tsl_text_add(&out, "C,  %lld x %lld by %lld x %lld\n", (long long)f->grid.m, (long long)f->grid.k,
               (long long)f->grid.k, (long long)f->grid.n);
  tsl_table_text(&table, 2, tsl_output_width(), tsl_output_colour(), &out);
  out.failed |= table.failed;
  tsl_table_free(&table);
  return tsl_print(&out);
}

static tesela_status ranks_print_json(const tsl_command_call *call, const ranks_found *f) {
  const tsl_process_grid *g = &f->grid;
  tsl_text text = {0}, usual = {0};
  char way[400];
  tsl_grid_print(g, &text);
  tsl_grid_print(&f->usual, &usual);
  tsl_transfer_path_name(way, sizeof way);
  json_t *object = json_pack(
      "{s:I, s:I, s:I, s:i, s:s, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:s, s:s, s:o}", "m",
      (json_int_t)g->m, "n", (json_int_t)g->n, "k", (json_int_t)g->k, "ranks", g->ranks, "plan",
      tsl_text_get(&text), "used", g->used, "depth", g->depth, "slabs", g->slabs, "steps",
      g->tiles_m * g->tiles_n * g->panels, "memory_bytes", (json_int_t)g->memory, "words",
      (json_int_t)f->words, "words_all", (json_int_t)g->words_all, "bound", tsl_json_real(f->bound),
      "predicted_seconds", tsl_json_real(g->seconds), "compute_seconds", tsl_json_real(g->seconds_compute),
      "words_seconds", tsl_json_real(f->seconds_words), "panels", way, "library_plan", tsl_text_get(&usual),
      "library_seconds", tsl_json_real(f->usual.seconds));
  tsl_text_free(&text);
  tsl_text_free(&usual);
  return tsl_print_json(call, object);
}

tesela_status tsl_explain_ranks(const tsl_command_call *call, const tsl_problem *problem) {
  const tsl_explain_options *given = call->options;
  ranks_found f;
  if (!(given->gflops.value > 0) || isinf(given->gflops.value))
    return tsl_fail(TESELA_BAD_CALL, "--gflops is %g, and must be a number above 0", given->gflops.value);
  if (given->ranks > 1 << 20)
    return tsl_fail(TESELA_BAD_CALL, "--ranks is %lld, and %d are the most", (long long)given->ranks,
                    1 << 20);
  if (problem->m == 0 || problem->n == 0 || problem->k == 0)
    return tsl_fail(TESELA_BAD_CALL, "there is nothing to multiply, and nothing travels");
  TSL_TRY(ranks_find(given, problem, &f));
  return given->json ? ranks_print_json(call, &f) : ranks_print_text(&f);
}

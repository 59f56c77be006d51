/* Prints the report of a product by ranks, on rank 0. */
#include "cli/report.h"
#include "core/status.h"
#include "product/mpi_product.h"

static double mpi_product_report_rate_of(const tsl_together *work) {
  const double seconds = work->record.seconds;
  return seconds > 0 ? tsl_problem_flops(&work->product.whole) / seconds : 0;
}

static void add_rate(const tsl_together *work, tsl_table *table) {
  const int64_t repeats = work->product.request.repeat;
  char rate[32], fastest[32];
  tsl_format_flops(mpi_product_report_rate_of(work), rate, sizeof rate);
  if (repeats == 1)
    tsl_table_add_pair(table, "rate", "%s", rate);
  else
    tsl_table_add_pair(table, "rate", "%s, the median of %lld times; the fastest took %s", rate,
                       (long long)repeats, tsl_format_seconds(work->fastest, fastest, sizeof fastest));
}

static tesela_status mpi_product_report_print_text(const tsl_together *work, const char *output) {
  const tesela_mpi_record *r = &work->record;
  char one[32], two[32], three[32], four[32];
  tsl_text out = {0};
  tsl_table table = tsl_table_of_pairs();
  tsl_product_add_heading(&work->product, &out);
  tsl_table_add_pair(&table, "ranks", "%d, of which %d multiply", work->ranks->size, r->ranks);
  tsl_table_add_pair(&table, "plan", "%s", r->plan);
  tsl_table_add_pair(&table, "memory", "%s of A, B and C on the rank that has most, %s for panels and sums",
                     tsl_format_bytes(work->held_most, one, sizeof one),
                     tsl_format_bytes((uint64_t)r->memory_bytes, two, sizeof two));
  tsl_table_add_pair(&table, "words",
                     "%lld to or from the busiest rank, %.0f at least where operands lie evenly",
                     (long long)r->words, r->bound);
  tsl_table_add_pair(&table, "bound", "%.2g (|alpha||A||B| + |beta||C0|), element by element",
                     r->error_bound);
  tsl_product_add_checks(&work->product, &table);
  tsl_table_add_pair(&table, "multiply", "%s: products %s, waiting %s, moving %s",
                     tsl_format_seconds(r->seconds, one, sizeof one),
                     tsl_format_seconds(r->seconds_compute, two, sizeof two),
                     tsl_format_seconds(r->seconds_wait, three, sizeof three),
                     tsl_format_seconds(r->seconds_move, four, sizeof four));
  add_rate(work, &table);
  tsl_table_add_pair(&table, "files", "read in %s, written in %s, %d of %d by MPI-IO",
                     tsl_format_seconds(work->read, one, sizeof one),
                     tsl_format_seconds(work->write, two, sizeof two), work->shared, work->files);
  if (*work->unshared.sentence)
    tsl_table_add_pair(&table, "no MPI-IO", "%s", work->unshared.sentence);
  tsl_table_add_pair(&table, "total", "%s", tsl_format_seconds(work->total, one, sizeof one));
  tsl_table_text(&table, 2, tsl_output_width(), tsl_output_colour(), &out);
  if (output)
    tsl_text_add(&out, "\n  wrote %s\n", output);
  out.failed |= table.failed;
  tsl_table_free(&table);
  return tsl_print(&out);
}

static tesela_status mpi_product_report_print_json(const tsl_command_call *call, const tsl_together *work,
                                                   const char *output) {
  const tesela_mpi_record *r = &work->record;
  const tsl_product *p = &work->product;
  const tsl_product_request *request = &p->request;
  const bool complex = tsl_type(p->type)->is_complex;
  tsl_text types = {0};
  tsl_types_print(request->op, &p->types, &types);
  json_t *seconds =
      json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "read", tsl_json_real(work->read),
                "multiply", tsl_json_real(r->seconds), "compute", tsl_json_real(r->seconds_compute), "wait",
                tsl_json_real(r->seconds_wait), "move", tsl_json_real(r->seconds_move), "fastest",
                tsl_json_real(work->fastest), "verify", tsl_json_real(work->verify), "write",
                tsl_json_real(work->write), "total", tsl_json_real(work->total));
  json_t *ranks =
      json_pack("{s:i, s:i, s:s, s:i, s:i, s:i, s:I, s:I, s:o, s:i, s:I, s:I}", "count", work->ranks->size,
                "used", r->ranks, "plan", r->plan, "depth", r->depth, "slabs", r->slabs, "steps", r->steps,
                "words", (json_int_t)r->words, "words_all", (json_int_t)r->words_all, "bound",
                tsl_json_real(r->bound), "files_shared", work->shared, "held_bytes",
                (json_int_t)work->held_most, "memory_bytes", (json_int_t)r->memory_bytes);
  json_t *object =
      json_pack("{s:I, s:I, s:I, s:s, s:o, s:o, s:b, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o}",
                "m", (json_int_t)p->m, "n", (json_int_t)p->n, "k", (json_int_t)p->k, "type",
                tsl_text_get(&types), "alpha", tsl_json_scalar(complex, request->alpha), "beta",
                tsl_json_scalar(complex, request->beta), "transpose_a", request->transpose_a, "transpose_b",
                request->transpose_b, "conjugate_a", request->conjugate_a, "conjugate_b",
                request->conjugate_b, "ranks", ranks, "seconds", seconds, "flops_per_second",
                tsl_json_real(mpi_product_report_rate_of(work)), "error_bound", tsl_json_real(r->error_bound),
                "repeats", (json_int_t)request->repeat, "verified", tsl_product_json_verified(p), "expected",
                tsl_product_json_expected(p), "output", output ? json_string(output) : json_null());
  tsl_text_free(&types);
  return tsl_print_json(call, object);
}

tesela_status tsl_together_report(const tsl_command_call *call, const tsl_together *work, bool json,
                                  bool is_written) {
  const char *output = is_written ? work->product.request.output : NULL;
  return json ? mpi_product_report_print_json(call, work, output)
              : mpi_product_report_print_text(work, output);
}

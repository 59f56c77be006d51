#include "product/mpi_product.h"

#include "cli/interrupt.h"
#include "cli/matrix_output.h"
#include "cli/ranks.h"
#include "comm/collective_status.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

/* --- options that ranks do not support --- */

/* Refuses options that ranks do not support. Each rank does so alone before MPI begins, since all
 * have the same options. */
static tesela_status mpi_product_refuse_options(const tsl_product_request *request) {
  const struct {
    bool given;
    const char *name, *why;
  } alone[] = {
      {request->measure != 0, "--measure-error", "several processes verify their product with --verify"},
      {request->checksums != NULL && strcmp(request->checksums, "none") != 0, "--checksums",
       "several processes verify their product with --verify"},
      {request->resume, "--resume",
       "several processes write all parts of C at once; no part is kept after an interrupt"},
      {request->accuracy != NULL, "--accuracy",
       "several processes add partial sums, and the report has the resulting guarantee; --type f64 makes the "
       "error small"},
      {request->bias != NULL, "--bias", "several processes compute plain products without an epilogue"},
      {request->activation != TESELA_NO_ACTIVATION, "--activation",
       "several processes compute plain products without an epilogue"},
      {request->scales[0] != NULL, "--scale-a",
       "several processes compute plain products without an epilogue"},
      {request->scales[1] != NULL, "--scale-b",
       "several processes compute plain products without an epilogue"},
      {request->format != NULL, "--format", "it is about -, and each process opens the files for itself"},
  };
  const char *const inputs[] = {request->a, request->b, request->c0, request->expected};
  for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
    if (alone[i].given)
      return tsl_fail(TESELA_UNSUPPORTED, "%s is of one process: %s", alone[i].name, alone[i].why);
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    if (inputs[i] && strcmp(inputs[i], "-") == 0)
      return tsl_fail(TESELA_UNSUPPORTED,
                      "standard input, -, is of one process, and each of several opens the files for itself; "
                      "write it to a file that all can read");
  return TESELA_OK;
}

/* Makes a file readable by parts: each rank converts a text or compressed file to a temporary file
 * of its own. */
static tesela_status make_readable(const tsl_together *work, tsl_matrix_source *feed) {
  enum { SHARE = 4 };
  if (!feed->reader || feed->by_blocks)
    return TESELA_OK;
  TSL_TRY(tsl_reader_spool(feed->reader, feed->as, tsl_together_memory(work) / SHARE));
  const tsl_file_info *info = tsl_reader_info(feed->reader);
  feed->by_blocks = info->by_blocks;
  feed->columns_first = info->columns_first;
  return TESELA_OK;
}

static tesela_status make_all_readable(tsl_together *work) {
  tsl_product *p = &work->product;
  tsl_matrix_source *const feeds[] = {&p->a, &p->b, &p->c0, &p->expected};
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++)
    TSL_TRY(make_readable(work, feeds[i]));
  return TESELA_OK;
}

static tesela_status refuse_output(const tsl_together *work) {
  const char *output = work->product.request.output;
  if (output && !tsl_io_takes_blocks(output, NULL))
    return tsl_fail(
        TESELA_UNSUPPORTED,
        "%s: each of the processes writes a part of C, which a .npy file takes; name one, and one "
        "process can copy it to another format",
        output);
  return TESELA_OK;
}

/* --- distribution of the operands --- */

static int64_t mpi_product_share(int64_t size, int64_t index, int64_t count) {
  const int64_t each = size / count, rest = size % count;
  return index * each + index * rest / count; /* equals size * index / count, without overflow */
}

static void deal(const tsl_ranks *ranks, int64_t rows, int64_t cols, bool columns_first, tsl_dealt *out) {
  const int64_t size = columns_first ? cols : rows, first = mpi_product_share(size, ranks->rank, ranks->size),
                count = mpi_product_share(size, ranks->rank + 1, ranks->size) - first;
  out->layout = (tesela_layout){.kind = TESELA_LAYOUT_BLOCKS,
                                .grid_rows = columns_first ? 1 : ranks->size,
                                .grid_cols = columns_first ? ranks->size : 1};
  out->own = columns_first ? (tsl_rectangle){.rows = rows, .col = first, .cols = count}
                           : (tsl_rectangle){.row = first, .rows = count, .cols = cols};
  out->row_stride = columns_first ? 1 : cols;
  out->col_stride = columns_first ? rows : 1;
}

static tesela_status count_bytes(const tsl_dealt *dealt, tesela_type type, const char *what, size_t *bytes) {
  if (!tsl_size_mul((size_t)dealt->own.rows, (size_t)dealt->own.cols, bytes) ||
      !tsl_size_mul(*bytes, tsl_type(type)->size, bytes))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s has more bytes than 64 bits count", what);
  return TESELA_OK;
}

static tesela_status mpi_product_take(tsl_dealt *dealt, tesela_type type, const char *what) {
  size_t bytes = 0;
  TSL_TRY(count_bytes(dealt, type, what, &bytes));
  /* one byte more, so that an empty part has an address, too */
  return tsl_alloc(bytes + 1, what, &dealt->data);
}

static bool keeps_c0(const tsl_together *work) {
  return work->product.request.repeat > 1 && work->product.c0.reader;
}

/* Counts the bytes that this rank will hold; fails if they exceed --memory. */
static tesela_status count_held(tsl_together *work) {
  const tsl_product *p = &work->product;
  const uint64_t memory = p->request.memory;
  size_t a = 0, b = 0, c = 0, all = 0;
  char held[32], allowed[32];
  TSL_TRY(count_bytes(&work->a, p->types.a, p->a.path, &a));
  TSL_TRY(count_bytes(&work->b, p->types.b, p->b.path, &b));
  TSL_TRY(count_bytes(&work->c, p->types.c, "the product", &c));
  if (!tsl_size_add(a, b, &all) || !tsl_size_add(all, c, &all) ||
      (keeps_c0(work) && !tsl_size_add(all, c, &all)))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "the matrices have more bytes than 64 bits count");
  work->held = all;
  if (memory == 0 || all < memory)
    return TESELA_OK;
  return tsl_fail(
      TESELA_OUT_OF_MEMORY,
      "its parts of A, B and C take %s, and --memory is %s a process: allow more, or start more processes",
      tsl_format_bytes(all, held, sizeof held), tsl_format_bytes(memory, allowed, sizeof allowed));
}

static tesela_status read_part(const tsl_matrix_source *feed, const tsl_dealt *dealt) {
  if (dealt->own.rows == 0 || dealt->own.cols == 0)
    return TESELA_OK;
  const tesela_status status = tsl_reader_block(feed->reader, &dealt->own, feed->as, dealt->data,
                                                dealt->row_stride, dealt->col_stride);
  return status == TESELA_IO_FAILED ? TESELA_BAD_INPUT : status;
}

static void deal_all(tsl_together *work) {
  const tsl_product *p = &work->product;
  const tsl_ranks *ranks = work->ranks;
  deal(ranks, p->a.rows, p->a.cols, p->a.columns_first, &work->a);
  deal(ranks, p->b.rows, p->b.cols, p->b.columns_first, &work->b);
  deal(ranks, p->m, p->n, false, &work->c);
}

static tesela_status mpi_product_read_all(tsl_together *work) {
  tsl_product *p = &work->product;
  deal_all(work);
  TSL_TRY(count_held(work));
  TSL_TRY(mpi_product_take(&work->a, p->types.a, p->a.path));
  TSL_TRY(mpi_product_take(&work->b, p->types.b, p->b.path));
  TSL_TRY(mpi_product_take(&work->c, p->types.c, "the product"));
  TSL_TRY(read_part(&p->a, &work->a));
  TSL_TRY(read_part(&p->b, &work->b));
  return p->c0.reader ? read_part(&p->c0, &work->c) : TESELA_OK;
}

/* --- the output --- */

static bool leads(const tsl_together *work) {
  return work->ranks->rank == 0;
}

static tesela_status begin_output(tsl_together *work) {
  const char *path = work->product.request.output;
  const tsl_rectangle whole = {.rows = work->product.m, .cols = work->product.n};
  if (!path || !leads(work))
    return TESELA_OK;
  TSL_TRY(tsl_resumable_open(path, &work->part));
  if (tsl_resumable_finished_blocks(work->part) > 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: an earlier run of one process was interrupted and left %lld blocks of it; one "
                    "process goes on with "
                    "them by --resume, and without %s there are none",
                    path, (long long)tsl_resumable_finished_blocks(work->part),
                    tsl_resumable_journal_name(work->part));
  tsl_interrupt_guard_two(tsl_resumable_data_name(work->part), tsl_resumable_journal_name(work->part));
  return tsl_resumable_begin(work->part, &whole, work->product.type, work->ranks->size,
                             "by several processes\n");
}

/* --- all of it --- */

static int64_t left_of_memory(const tsl_together *work) {
  const uint64_t left = tsl_together_memory(work);
  return left < INT64_MAX ? (int64_t)left : INT64_MAX;
}

static tesela_status multiply_once(tsl_together *work, tesela_mpi_record *record) {
  const tsl_product *p = &work->product;
  const tsl_product_request *request = &p->request;
  const tesela_gemm_desc gemm = {
      .m = p->m,
      .n = p->n,
      .k = p->k,
      .a = {.data = work->a.data,
            .row_stride = work->a.row_stride,
            .col_stride = work->a.col_stride,
            .transpose = request->transpose_a,
            .conjugate = request->conjugate_a,
            .type = p->types.a},
      .b = {.data = work->b.data,
            .row_stride = work->b.row_stride,
            .col_stride = work->b.col_stride,
            .transpose = request->transpose_b,
            .conjugate = request->conjugate_b,
            .type = p->types.b},
      .c = {.data = work->c.data,
            .row_stride = work->c.row_stride,
            .col_stride = work->c.col_stride,
            .type = p->types.c},
      .alpha = request->alpha,
      .beta = request->beta,
      .options.device = request->device,
      .options.strategy = request->strategy,
      .options.reproducibility = request->bits,
  };
  const tesela_mpi_desc desc = {.gemm = &gemm,
                                .a = work->a.layout,
                                .b = work->b.layout,
                                .c = work->c.layout,
                                .memory = request->memory ? left_of_memory(work) : 0};
  return tsl_ranks_multiply(work->ranks, &desc, record);
}

static int mpi_product_by_seconds(const void *left, const void *right) {
  const double a = ((const tesela_mpi_record *)left)->seconds,
               b = ((const tesela_mpi_record *)right)->seconds;
  return (a > b) - (a < b);
}

/* The state of --repeat: a record of each repeat, and C0 for each. */
typedef struct repeating {
  tesela_mpi_record *records;
  void *before;
  size_t bytes;
} repeating;

static tesela_status take_repeats(const tsl_together *work, repeating *out) {
  const tsl_dealt *c = &work->c;
  const tsl_product_request *request = &work->product.request;
  void *records;
  size_t bytes = 0;
  if (!tsl_size_mul((size_t)request->repeat, sizeof *out->records, &bytes))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "--repeat is more than memory has room for");
  TSL_TRY(tsl_alloc(bytes, "the times of all repeats", &records));
  out->records = records;
  if (!keeps_c0(work))
    return TESELA_OK;
  out->bytes = (size_t)(c->own.rows * c->own.cols) * tsl_type(work->product.type)->size;
  TSL_TRY(tsl_alloc(out->bytes + 1, "a copy of C0", &out->before));
  memcpy(out->before, c->data, out->bytes);
  return TESELA_OK;
}

/* Multiplies repeatedly from equal operands; keeps the record of the median time. */
static tesela_status multiply_repeatedly(tsl_together *work, repeating *state) {
  const int64_t repeats = work->product.request.repeat;
  for (int64_t i = 0; i < repeats; i++) {
    state->records[i] = (tesela_mpi_record){0};
    if (i > 0 && state->before)
      memcpy(work->c.data, state->before, state->bytes);
    TSL_TRY(multiply_once(work, &state->records[i]));
  }
  qsort(state->records, (size_t)repeats, sizeof *state->records, mpi_product_by_seconds);
  work->record = state->records[(repeats - 1) / 2];
  work->fastest = state->records[0].seconds;
  return TESELA_OK;
}

static tesela_status mpi_product_multiply(tsl_together *work) {
  repeating all = {.records = NULL};
  tsl_status_saved saved;
  tesela_status status = tsl_agree(work->ranks, take_repeats(work, &all));
  if (status == TESELA_OK)
    status = multiply_repeatedly(work, &all);
  tsl_status_save(&saved);
  tsl_free(all.records);
  tsl_free(all.before);
  tsl_status_restore(&saved);
  return status;
}

/* Checks C on all ranks. If one rank finds an error, all end with its status and message. */
static tesela_status mpi_product_check(tsl_together *work) {
  tsl_status_saved saved;
  if (!work->product.request.verify && !work->product.expected.reader)
    return TESELA_OK;
  const tesela_status status = tsl_agree(work->ranks, tsl_together_check(work));
  if (status != TESELA_OK && status != TESELA_WRONG_RESULT)
    return status;
  tsl_status_save(&saved);
  TSL_TRY(tsl_together_sum_up(work));
  tsl_status_restore(&saved);
  return status;
}

static tesela_status mpi_product_prepare(const tsl_product_request *request, tsl_together *work) {
  TSL_TRY(tsl_product_open(request, &work->product));
  return refuse_output(work);
}

static tesela_status find_most_held(tsl_together *work) {
  double least = 0;
  TSL_TRY(work->ranks->ops->least(work->ranks, -(double)work->held, &least));
  work->held_most = (uint64_t)-least;
  return TESELA_OK;
}

/* Runs all stages. All ranks take part in each stage, and all stop if one fails. */
static tesela_status mpi_product_run(const tsl_product_request *request, tsl_together *work) {
  TSL_TRY(tsl_agree(work->ranks, mpi_product_prepare(request, work)));
  TSL_TRY(tsl_agree(work->ranks, begin_output(work)));
  const double reading = tsl_clock();
  TSL_TRY(tsl_agree(work->ranks, make_all_readable(work)));
  TSL_TRY(tsl_together_open(work));
  TSL_TRY(tsl_agree(work->ranks, mpi_product_read_all(work)));
  TSL_TRY(find_most_held(work));
  work->read = tsl_clock() - reading;
  TSL_TRY(mpi_product_multiply(work));
  TSL_TRY(mpi_product_check(work));
  const double writing = tsl_clock();
  if (request->output)
    TSL_TRY(tsl_together_write(work));
  work->write = tsl_clock() - writing;
  return TESELA_OK;
}

/* Reports a wrong result in full before its message; it is not written. */
static tesela_status mpi_product_report(const tsl_command_call *call, const tsl_together *work,
                                        const tsl_product_options *options, tesela_status status) {
  tsl_status_saved saved;
  if ((status != TESELA_OK && status != TESELA_WRONG_RESULT) || !leads(work) ||
      (options->quiet && status == TESELA_OK))
    return status;
  tsl_status_save(&saved);
  const tesela_status printed = tsl_together_report(call, work, options->json, status == TESELA_OK);
  if (printed != TESELA_OK)
    return printed;
  tsl_status_restore(&saved);
  return status;
}

static void mpi_product_release(tsl_together *work) {
  tsl_status_saved saved;
  tsl_status_save(&saved);
  tsl_resumable_close(work->part);
  tsl_together_close(work);
  tsl_product_close(&work->product);
  tsl_free(work->a.data);
  tsl_free(work->b.data);
  tsl_free(work->c.data);
  tsl_interrupt_guard(NULL);
  tsl_status_restore(&saved);
}

tesela_status tsl_product_together(const tsl_command_call *call, const tsl_product_request *given_request,
                                   const tsl_product_options *options) {
  tsl_together work = {.ranks = NULL};
  tsl_product_request request = *given_request;
  request.in_parts = true;
  TSL_TRY(tsl_product_check_request(&request));
  TSL_TRY(mpi_product_refuse_options(&request));
  TSL_TRY(tsl_matrix_check_json(request.output, options->json));
  tesela_status status = tsl_ranks_join(&work.ranks);
  if (status == TESELA_OK) {
    const double start = tsl_clock();
    status = mpi_product_run(&request, &work);
    work.total = tsl_clock() - start;
    status = mpi_product_report(call, &work, options, status);
  }
  mpi_product_release(&work);
  return status;
}

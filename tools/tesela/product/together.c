#include "product/together.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/interrupt.h"
#include "cli/matrix_output.h"
#include "cli/ranks.h"
#include "comm/agree.h"

#include <string.h>

/* --- what ranks do not do --- */

static tesela_status refuse_options(const tsl_product_request *request) {
  const struct {
    bool given;
    const char *name;
  } alone[] = {
      {request->expected != NULL, "--expect"},    {request->verify, "--verify"},
      {request->measure != 0, "--measure-error"}, {request->resume, "--resume"},
      {request->accuracy != NULL, "--accuracy"},  {request->bits != NULL, "--bits"},
      {request->repeat > 1, "--repeat"},          {request->format != NULL, "--format"},
  };
  for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
    if (alone[i].given)
      return tsl_fail(TESELA_UNSUPPORTED, "%s is of one process; those that MPI starts multiply, and write C",
                      alone[i].name);
  return TESELA_OK;
}

/* A file of which each rank can read its part. */
static tesela_status refuse_file(const tsl_feed *feed) {
  if (!feed->reader || feed->by_blocks)
    return TESELA_OK;
  return tsl_fail(TESELA_UNSUPPORTED,
                  "%s: each of the processes reads a part of its own, which of .npy files that are not "
                  "packed can be done; "
                  "one process takes it as it is",
                  feed->path);
}

static tesela_status refuse(const tsl_together *work) {
  const char *output = work->product.request.output;
  TSL_TRY(refuse_file(&work->product.a));
  TSL_TRY(refuse_file(&work->product.b));
  TSL_TRY(refuse_file(&work->product.c0));
  if (output && !tsl_io_takes_blocks(output, NULL))
    return tsl_fail(TESELA_UNSUPPORTED,
                    "%s: each of the processes writes a part of C, which a .npy file takes", output);
  return TESELA_OK;
}

/* --- who has what --- */

static int64_t share(int64_t size, int64_t index, int64_t count) {
  const int64_t each = size / count, rest = size % count;
  return index * each + index * rest / count; /* size * index / count, without its overflow */
}

static void deal(const tsl_ranks *ranks, int64_t rows, int64_t cols, bool columns_first, tsl_dealt *out) {
  const int64_t size = columns_first ? cols : rows, first = share(size, ranks->rank, ranks->size),
                count = share(size, ranks->rank + 1, ranks->size) - first;
  out->layout = (tesela_layout){.kind = TESELA_LAYOUT_BLOCKS,
                                .grid_rows = columns_first ? 1 : ranks->size,
                                .grid_cols = columns_first ? ranks->size : 1};
  out->own = columns_first ? (tsl_rectangle){.rows = rows, .col = first, .cols = count}
                           : (tsl_rectangle){.row = first, .rows = count, .cols = cols};
  out->row_stride = columns_first ? 1 : cols;
  out->col_stride = columns_first ? rows : 1;
}

static tesela_status take(tsl_dealt *dealt, tesela_type type, const char *what) {
  size_t bytes;
  if (!tsl_size_mul((size_t)dealt->own.rows, (size_t)dealt->own.cols, &bytes) ||
      !tsl_size_mul(bytes, tsl_type(type)->size, &bytes))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s has more bytes than 64 bits count", what);
  return tsl_alloc(bytes + 1, what, &dealt->data); /* nothing of it is somewhere, too */
}

static tesela_status read_part(const tsl_feed *feed, const tsl_dealt *dealt) {
  if (dealt->own.rows == 0 || dealt->own.cols == 0)
    return TESELA_OK;
  const tesela_status status = tsl_reader_block(feed->reader, &dealt->own, feed->as, dealt->data,
                                                dealt->row_stride, dealt->col_stride);
  return status == TESELA_IO_FAILED ? TESELA_BAD_INPUT : status;
}

static tesela_status read_all(tsl_together *work) {
  tsl_product *p = &work->product;
  const tsl_ranks *ranks = work->ranks;
  deal(ranks, p->a.rows, p->a.cols, p->a.columns_first, &work->a);
  deal(ranks, p->b.rows, p->b.cols, p->b.columns_first, &work->b);
  deal(ranks, p->m, p->n, false, &work->c);
  TSL_TRY(take(&work->a, p->types.a, p->a.path));
  TSL_TRY(take(&work->b, p->types.b, p->b.path));
  TSL_TRY(take(&work->c, p->types.c, "the product"));
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
  TSL_TRY(tsl_part_open(path, &work->part));
  if (tsl_part_done(work->part) > 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: an earlier run of one process was interrupted and left %lld blocks of it; one "
                    "process goes on with "
                    "them by --resume, and without %s there are none",
                    path, (long long)tsl_part_done(work->part), tsl_part_journal_name(work->part));
  tsl_interrupt_guard_two(tsl_part_data_name(work->part), tsl_part_journal_name(work->part));
  return tsl_part_begin(work->part, &whole, work->product.type, work->ranks->size, "by several processes\n");
}

static tesela_status write_own(tsl_together *work) {
  const tsl_rectangle whole = {.rows = work->product.m, .cols = work->product.n};
  if (!leads(work))
    TSL_TRY(tsl_part_join(work->product.request.output, &whole, work->product.type, &work->part));
  if (work->c.own.rows > 0 && work->c.own.cols > 0)
    TSL_TRY(tsl_part_write(work->part, &work->c.own, work->c.data, work->c.row_stride));
  return tsl_part_flush(work->part);
}

static tesela_status write_all(tsl_together *work) {
  if (!work->product.request.output)
    return TESELA_OK;
  TSL_TRY(tsl_agree(work->ranks, write_own(work)));
  return tsl_agree(work->ranks, leads(work) ? tsl_part_commit(work->part) : TESELA_OK);
}

/* --- all of it --- */

static tesela_status multiply(tsl_together *work) {
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
      .device = request->device,
      .strategy = request->strategy,
  };
  const tesela_mpi_desc desc = {.gemm = &gemm,
                                .a = work->a.layout,
                                .b = work->b.layout,
                                .c = work->c.layout,
                                .memory = request->memory < INT64_MAX ? (int64_t)request->memory : INT64_MAX};
  return tsl_ranks_multiply(work->ranks, &desc, &work->record);
}

static tesela_status prepare(const tsl_product_request *request, tsl_together *work) {
  TSL_TRY(refuse_options(request));
  TSL_TRY(tsl_product_open(request, &work->product));
  return refuse(work);
}

/* Each step is all ranks', and none goes on where one failed. */
static tesela_status run(const tsl_product_request *request, tsl_together *work) {
  const double start = tsl_clock();
  TSL_TRY(tsl_agree(work->ranks, prepare(request, work)));
  TSL_TRY(tsl_agree(work->ranks, begin_output(work)));
  const double reading = tsl_clock();
  TSL_TRY(tsl_agree(work->ranks, read_all(work)));
  work->read = tsl_clock() - reading;
  TSL_TRY(multiply(work));
  const double writing = tsl_clock();
  TSL_TRY(write_all(work));
  work->write = tsl_clock() - writing;
  work->total = tsl_clock() - start;
  return TESELA_OK;
}

static void release(tsl_together *work) {
  tsl_status_saved saved;
  tsl_status_save(&saved);
  tsl_part_close(work->part);
  tsl_product_close(&work->product);
  tsl_free(work->a.data);
  tsl_free(work->b.data);
  tsl_free(work->c.data);
  tsl_interrupt_guard(NULL);
  tsl_status_restore(&saved);
}

tesela_status tsl_product_together(const tsl_call *call, const tsl_product_request *given_request,
                                   const tsl_product_options *given) {
  tsl_together work = {.ranks = NULL};
  tsl_product_request request = *given_request;
  request.in_parts = true;
  TSL_TRY(tsl_product_check_request(&request));
  TSL_TRY(tsl_matrix_check_json(request.output, given->json));
  tesela_status status = tsl_ranks_join(&work.ranks);
  if (status == TESELA_OK)
    status = run(&request, &work);
  if (status == TESELA_OK && leads(&work) && !given->quiet)
    status = tsl_together_report(call, &work, given->json);
  release(&work);
  return status;
}

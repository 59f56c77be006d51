/* Reads ahead: pieces of A and B for later steps that are not yet in memory, and blocks of C0 into
 * C's memory. */
#include "core/clock.h"
#include "product/block_work.h"

#include <string.h>

/* A read error of an input is TESELA_BAD_INPUT, unlike a disk error of an output. */
tesela_status tsl_block_read(tsl_block_work *work, const tsl_matrix_source *feed, const tsl_rectangle *piece,
                             void *dst, int64_t row_stride, int64_t col_stride) {
  pthread_mutex_lock(&work->files);
  const double start = tsl_clock();
  const tesela_status status = tsl_reader_block(feed->reader, piece, feed->as, dst, row_stride, col_stride);
  work->product->blocks->read_seconds += tsl_clock() - start;
  work->product->blocks->read_bytes +=
      (double)piece->rows * (double)piece->cols * (double)tsl_type(feed->type)->size;
  pthread_mutex_unlock(&work->files);
  return status == TESELA_IO_FAILED ? TESELA_BAD_INPUT : status;
}

static bool block_prefetch_is_same(const tsl_rectangle *a, const tsl_rectangle *b) {
  return a->row == b->row && a->rows == b->rows && a->col == b->col && a->cols == b->cols;
}

/* Sets *data to the slot that holds a piece. If no slot does, waits until the last step of the
 * least recently used slot is done, and reads the piece into it. Returns false if all threads are
 * to end. */
static bool block_prefetch_provide(tsl_block_work *work, const tsl_matrix_source *feed, tsl_block_slot *slots,
                                   const tsl_rectangle *piece, int64_t step, const void **data) {
  tsl_block_slot *slot = slots[0].last_step <= slots[1].last_step ? &slots[0] : &slots[1];
  for (int i = 0; i < TSL_BLOCK_SLOTS; i++)
    if (slots[i].is_filled && block_prefetch_is_same(&slots[i].piece, piece)) {
      slots[i].last_step = step;
      *data = slots[i].data;
      return true;
    }
  int64_t row_stride, col_stride;
  if (!tsl_block_await(work, &work->computed, slot->last_step + 1))
    return false;
  tsl_blocks_strides(feed, piece, &row_stride, &col_stride);
  const tesela_status status = tsl_block_read(work, feed, piece, slot->data, row_stride, col_stride);
  if (status != TESELA_OK) {
    tsl_block_end(work, status);
    return false;
  }
  *slot = (tsl_block_slot){.data = slot->data, .is_filled = true, .piece = *piece, .last_step = step};
  *data = slot->data;
  return true;
}

/* Reads C0's block into the memory of C's block, after the earlier block in it was written. */
static bool provide_c0(tsl_block_work *work, const tsl_block_step *step) {
  const tsl_matrix_source *feed = &work->product->c0;
  const double *beta = work->product->request.beta;
  if (!feed->reader || !step->is_first || (beta[0] == 0 && beta[1] == 0))
    return true;
  if (!tsl_block_await(work, &work->written, step->ordinal - TSL_BLOCK_SLOTS + 1))
    return false;
  const tesela_status status =
      tsl_block_read(work, feed, &step->c, work->c[step->ordinal % TSL_BLOCK_SLOTS], step->c.cols, 1);
  if (status != TESELA_OK)
    tsl_block_end(work, status);
  return status == TESELA_OK;
}

void *tsl_block_read_ahead(void *argument) {
  tsl_block_work *work = argument;
  const tsl_product *product = work->product;
  tsl_block_step step;
  int64_t index = 0;
  for (bool more = tsl_blocks_first(product, &step); more; more = tsl_blocks_next(product, &step), index++) {
    const tsl_rectangle a = tsl_blocks_piece_of_a(product, &step), b = tsl_blocks_piece_of_b(product, &step);
    const void *pieces[2] = {NULL, NULL};
    if (!tsl_block_await(work, &work->computed, index - TSL_BLOCK_SLOTS + 1) ||
        !block_prefetch_provide(work, &product->a, work->a, &a, index, &pieces[0]) ||
        (product->b.reader && !block_prefetch_provide(work, &product->b, work->b, &b, index, &pieces[1])) ||
        !provide_c0(work, &step))
      break;
    work->pieces[index % TSL_BLOCK_SLOTS].a = pieces[0];
    work->pieces[index % TSL_BLOCK_SLOTS].b = pieces[1];
    tsl_block_advance(work, &work->read);
  }
  return NULL;
}

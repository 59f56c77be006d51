/* Writes blocks of C in the order of computing. Each block is first compared if --expect is given,
 * and is recorded in the journal once it is on disk. */
#include "cli/interrupt.h"
#include "core/clock.h"
#include "product/block_work.h"

static tesela_status write_block(tsl_block_work *work, const tsl_block_step *step) {
  tsl_blocks *blocks = work->product->blocks;
  const void *c = work->c[step->ordinal % TSL_BLOCK_SLOTS];
  TSL_TRY(tsl_block_expect(work, &step->c, c));
  if (!blocks->part)
    return TESELA_OK;
  const double start = tsl_clock();
  TSL_TRY(tsl_resumable_write(blocks->part, &step->c, c, step->c.cols));
  /* the inputs must be unchanged, or the journal would record a block of other data */
  TSL_TRY(tsl_blocks_check_inputs(work->product));
  /* From now on an interrupt leaves a file that --resume can use. This precedes the record: an interrupt
   * after the record would remove a recorded block. */
  tsl_interrupt_tell(tsl_blocks_kept, tsl_resumable_data_name(blocks->part));
  TSL_TRY(tsl_resumable_mark_written(blocks->part, step->block));
  blocks->write_seconds += tsl_clock() - start;
  blocks->written_bytes +=
      (double)step->c.rows * (double)step->c.cols * (double)tsl_type(work->product->type)->size;
  return TESELA_OK;
}

void *tsl_block_write_behind(void *argument) {
  tsl_block_work *work = argument;
  const tsl_product *product = work->product;
  tsl_block_step step;
  for (bool more = tsl_blocks_first(product, &step); more; more = tsl_blocks_next(product, &step)) {
    if (!step.is_last)
      continue;
    if (!tsl_block_await(work, &work->blocks_done, step.ordinal + 1))
      break;
    const tesela_status status = write_block(work, &step);
    if (status != TESELA_OK) {
      tsl_block_end(work, status);
      break;
    }
    tsl_block_advance(work, &work->written);
  }
  return NULL;
}

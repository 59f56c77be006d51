/* Opens files for ranks. All ranks open a .npy file by MPI-IO, and each reads and writes its part.
 * For other files, or if MPI-IO fails, each rank opens the file itself. */
#include "cli/ranks.h"
#include "comm/collective_status.h"
#include "core/status.h"
#include "product/mpi_product.h"

/* Opens a file by MPI-IO; called by all ranks. Returns NULL if MPI cannot open it, and keeps the
 * reason of the first such file. */
static tsl_ranks_file *open_shared(tsl_together *work, const char *path, bool writes) {
  tsl_ranks_file *file;
  if (tsl_ranks_open(path, writes, &file) == TESELA_OK) {
    work->shared++;
    return file;
  }
  if (!*work->unshared.sentence)
    tsl_status_save(&work->unshared);
  return NULL;
}

tesela_status tsl_together_open(tsl_together *work) {
  tsl_product *p = &work->product;
  tsl_matrix_source *const feeds[TSL_TOGETHER_INPUTS] = {&p->a, &p->b, &p->c0, &p->expected};
  for (int i = 0; i < TSL_TOGETHER_INPUTS; i++) {
    tsl_reader *reader = feeds[i]->reader;
    double plain = 0;
    work->files += reader != NULL;
    TSL_TRY(work->ranks->ops->least(work->ranks, reader && tsl_reader_reads_file_directly(reader), &plain));
    if (plain > 0)
      work->inputs[i] = open_shared(work, feeds[i]->path, false);
    if (work->inputs[i])
      tsl_reader_set_read_function(reader, tsl_ranks_read, work->inputs[i]);
  }
  return TESELA_OK;
}

void tsl_together_close(tsl_together *work) {
  for (int i = 0; i < TSL_TOGETHER_INPUTS; i++)
    (void)tsl_ranks_close(work->inputs[i]); /* all data was read before */
}

/* Opens rank 0's temporary file for writing; it already has its full size. */
static tesela_status mpi_product_files_join(tsl_together *work) {
  const tsl_rectangle whole = {.rows = work->product.m, .cols = work->product.n};
  return work->part ? TESELA_OK
                    : tsl_resumable_open_shared(work->product.request.output, &whole, work->product.type,
                                                &work->part);
}

static tesela_status write_own(const tsl_together *work) {
  const tsl_dealt *c = &work->c;
  return c->own.rows == 0 || c->own.cols == 0
             ? TESELA_OK
             : tsl_resumable_write(work->part, &c->own, c->data, c->row_stride);
}

tesela_status tsl_together_write(tsl_together *work) {
  TSL_TRY(tsl_agree(work->ranks, mpi_product_files_join(work)));
  tsl_ranks_file *file = open_shared(work, tsl_resumable_data_name(work->part), true);
  work->files++;
  tsl_resumable_set_write_function(work->part, file ? tsl_ranks_write : NULL, file);
  /* MPI opens the file by name, and the name may meanwhile belong to another file. */
  tesela_status status =
      tsl_resumable_keeps_its_names(work->part)
          ? write_own(work)
          : tsl_fail(TESELA_IO_FAILED, "%s was replaced by another file before it was written",
                     tsl_resumable_data_name(work->part));
  tsl_resumable_set_write_function(work->part, NULL, NULL);
  if (status == TESELA_OK)
    status = tsl_ranks_close(file);
  else
    (void)tsl_ranks_close(file);
  if (status == TESELA_OK)
    status = tsl_resumable_sync_data(work->part);
  TSL_TRY(tsl_agree(work->ranks, status));
  return tsl_agree(work->ranks, work->ranks->rank == 0 ? tsl_resumable_commit(work->part) : TESELA_OK);
}

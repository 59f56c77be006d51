/* A product of matrix files by processes that MPI started: each reads its part of A, B and C0 by itself, all
 * multiply together, and each writes its part of C into one file, which appears when it is whole. .npy files
 * are open on all of them by MPI-IO.
 *
 *   rank 0   rows of A | rows of B | rows of C     of a file in Fortran order columns, so that each reads and
 * writes one piece rank 1   ...       | ...       | ...
 *
 * Whatever fails on one of them, all end with its status and its sentence, which rank 0 tells. */
#ifndef TSL_TOOL_PRODUCT_MPI_PRODUCT_H
#define TSL_TOOL_PRODUCT_MPI_PRODUCT_H

#include "base/status.h"
#include "comm/comm.h"
#include "io/resumable_npy.h"
#include "product/product.h"

#include <tesela/tesela_layout.h>

/* A matrix that lies on the ranks. */
typedef struct tsl_dealt {
  tesela_layout layout;
  tsl_rectangle own; /* of the file: this rank's */
  int64_t row_stride, col_stride;
  void *data;
} tsl_dealt;

enum { TSL_TOGETHER_INPUTS = 4 }; /* A, B, C0, and the expected file */

typedef struct tsl_together {
  tsl_ranks *ranks;
  tsl_product product; /* its files, sizes and types; not its plans */
  tsl_dealt a, b, c;
  uint64_t held;      /* bytes of this rank's parts of A, B and C, and of a copy of C0 */
  uint64_t held_most; /* of the rank that holds most */
  tesela_mpi_record record;
  double fastest; /* seconds of the fastest repeat; the record is of the one in the middle */
  tsl_part *part; /* NULL: nothing is written */
  tsl_ranks_file *inputs[TSL_TOGETHER_INPUTS]; /* NULL: each reads by itself */
  int files, shared;                           /* that are read and written; of these, by MPI-IO */
  tsl_status_saved unshared;         /* why MPI did not open the first that it did not; TESELA_OK: it did */
  double read, verify, write, total; /* seconds */
} tsl_together;

/* All of it, on each of the processes; the report is rank 0's. */
tesela_status tsl_product_together(const tsl_call *call, const tsl_product_request *request,
                                   const tsl_product_options *options);

/* All ranks: files of which each can read its part (rows, blocks) by itself already, are opened for all; and
 * closed. */
tesela_status tsl_together_open(tsl_together *work);
void tsl_together_close(tsl_together *work);
/* All ranks: C into the output that rank 0 began. All come to one end. */
tesela_status tsl_together_write(tsl_together *work);
/* Bytes that one of the processes may take of its host's memory, beside what it holds; 1 at least. */
uint64_t tsl_together_memory(const tsl_together *work);
/* --verify and --expect: this rank's elements of C, into the product's verdict and difference.
 * TESELA_WRONG_RESULT. */
tesela_status tsl_together_check(tsl_together *work);
/* Makes these what all ranks found: of all of them, the same on each. TESELA_WRONG_RESULT where C differs
 * from what is expected, and the judge found nothing. */
tesela_status tsl_together_sum_up(tsl_together *work);
/* Prints what was done: the speaker's. */
tesela_status tsl_together_report(const tsl_call *call, const tsl_together *work, bool json, bool is_written);

#endif

/* Multiplies matrix files on the processes that MPI started. Each rank reads its part of A, B and C0.
 * All ranks multiply together, and each writes its part of C into one file, which appears when it is
 * complete. All ranks open .npy files by MPI-IO.
 *
 *   rank 0   rows of A | rows of B | rows of C     of a file in Fortran order: columns,
 *   rank 1   ...       | ...       | ...           so that each rank reads and writes one contiguous piece
 *
 * If a rank fails, all ranks end with its status and its message, which rank 0 prints. */
#ifndef TSL_TOOL_PRODUCT_MPI_PRODUCT_H
#define TSL_TOOL_PRODUCT_MPI_PRODUCT_H

#include "comm/comm.h"
#include "core/status.h"
#include "io/resumable_npy.h"
#include "product/product.h"

#include <tesela/tesela_layout.h>

/* A matrix distributed over the ranks. */
typedef struct tsl_dealt {
  tesela_layout layout;
  tsl_rectangle own; /* this rank's rectangle of the file */
  int64_t row_stride, col_stride;
  void *data;
} tsl_dealt;

enum { TSL_TOGETHER_INPUTS = 4 }; /* A, B, C0, and the expected file */

typedef struct tsl_together {
  tsl_ranks *ranks;
  tsl_product product; /* files, sizes and types; its plans are not used */
  tsl_dealt a, b, c;
  uint64_t held;      /* bytes of this rank's parts of A, B and C, and of a copy of C0 */
  uint64_t held_most; /* the largest `held` of all ranks */
  tesela_mpi_record record;
  double fastest;      /* seconds of the fastest repeat; `record` is the median repeat's */
  tsl_resumable *part; /* the output under way; NULL: nothing is written */
  tsl_ranks_file *inputs[TSL_TOGETHER_INPUTS]; /* NULL: each rank reads by itself */
  /* the number of files read and written; the number of these opened by MPI-IO */
  int files, shared;
  /* the reason why MPI did not open the first file that it refused; TESELA_OK: it opened all */
  tsl_status_saved unshared;
  double read, verify, write, total; /* seconds */
} tsl_together;

/* Runs the whole command on each of the processes; rank 0 prints the report. Called by all ranks. */
tesela_status tsl_product_together(const tsl_command_call *call, const tsl_product_request *request,
                                   const tsl_product_options *options);

/* Open by MPI-IO, and close, the files of which a rank can read its part alone. Called by all
 * ranks. */
tesela_status tsl_together_open(tsl_together *work);
void tsl_together_close(tsl_together *work);
/* Writes C into the output that rank 0 opened. Called by all ranks; all return the same status. */
tesela_status tsl_together_write(tsl_together *work);
/* Returns the bytes of host memory that one process may take in addition to `held`; at least 1. */
uint64_t tsl_together_memory(const tsl_together *work);
/* Checks this rank's elements of C for --verify and --expect, and adds to the product's verdict and
 * difference. Returns TESELA_WRONG_RESULT if an element is wrong. */
tesela_status tsl_together_check(tsl_together *work);
/* Combines the verdicts and differences of all ranks; all get the same result. Returns
 * TESELA_WRONG_RESULT if C differs from the expected file and --verify found no error. */
tesela_status tsl_together_sum_up(tsl_together *work);
/* Prints the report. Called by rank 0 only. */
tesela_status tsl_together_report(const tsl_command_call *call, const tsl_together *work, bool json,
                                  bool is_written);

#endif

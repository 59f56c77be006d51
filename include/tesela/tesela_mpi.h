/** @file tesela_mpi.h
 * @brief Products and transposes of matrices that are distributed over the ranks of an MPI communicator, in
 * libtesela_mpi.
 *
 * The product of two square matrices whose rows are divided evenly among all ranks:
 *
 *     tesela_gemm_desc gemm = {.m = n, .n = n, .k = n, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
 *     tesela_mpi_desc desc = {.gemm = &gemm};
 *     if (tesela_mpi_gemm(MPI_COMM_WORLD, NULL, &desc, NULL) != TESELA_OK) puts(tesela_last_error());
 *
 * All calls are collective: every rank of the communicator calls them, in the same order. tesela_mpi_desc
 * tells which members must be equal on all ranks. All ranks return the same status, and tesela_last_error()
 * returns the same message, which names the lowest rank that failed. After a failure the result is unchanged,
 * unless the message says that it is lost. A rank that ends during a call ends the job, as MPI defines.
 *
 * The first call with a communicator duplicates it; the duplicate exists until the communicator is freed.
 * Only one thread at a time may call with one communicator. Only that thread calls MPI. */
#ifndef TESELA_TESELA_MPI_H
#define TESELA_TESELA_MPI_H

#include <mpi.h>
#include <tesela/tesela.h>
#include <tesela/tesela_layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Sized calls
 * See tesela.h.
 * @{ */
/** Is tesela_mpi_gemm() with sizes. gemm_size is the size of desc->gemm. */
TESELA_API tesela_status tesela_mpi_gemm_sized(MPI_Comm communicator, tesela_context *context,
                                               const tesela_mpi_desc *desc, tesela_mpi_record *record,
                                               size_t desc_size, size_t gemm_size, size_t record_size);
/** Is tesela_mpi_transpose() with sizes. */
TESELA_API tesela_status tesela_mpi_transpose_sized(MPI_Comm communicator, tesela_context *context,
                                                    const tesela_mpi_transpose_desc *desc,
                                                    tesela_mpi_record *record, size_t desc_size,
                                                    size_t record_size);
/** @} */

/** Computes C = alpha A B + beta C for matrices that are distributed over the communicator's ranks.
 *
 * context is the calling rank's own. It computes the local products, on its device or on gemm->device. NULL:
 * the library creates a context for this communicator. It uses the rank's part of the host's processors: the
 * processors that it is bound to, else an even part. The record may be NULL.
 *
 * Panels and sums stay in device memory between steps if operands are in device buffers, or if gemm->device
 * has its own memory ("cuda:0"). Messages go from GPU to GPU by NCCL if every rank has its own GPU and NCCL
 * is installed (docs/SCALE.md). Otherwise they pass through host memory, where operands in buffers are copied
 * for the call.
 *
 * Reproducibility: the order of sums depends only on the grid (record->plan). The grid depends only on sizes,
 * types, layouts, memory and the number of ranks. So equal calls give equal bits. If C stays on the GPUs that
 * compute it (docs/SCALE.md) the grid depends on this, too, unless gemm->bits is "devices".
 *
 * On each rank elements of C must not overlap each other, nor elements of A and B that are read. They may lie
 * between elements of A and B, as blocks of one array do. An overlap on one rank is refused on all ranks.
 *
 * @return TESELA_BAD_CALL if an argument is wrong or differs from rank 0's, C overlaps, or the ranks have
 * different versions of the library; TESELA_UNSUPPORTED if operands are packed; TESELA_OUT_OF_MEMORY; else as
 * tesela_gemm(). */
static inline tesela_status tesela_mpi_gemm(MPI_Comm communicator, tesela_context *context,
                                            const tesela_mpi_desc *desc, tesela_mpi_record *record) {
  return tesela_mpi_gemm_sized(communicator, context, desc, record, sizeof *desc, sizeof *desc->gemm,
                               sizeof *record);
}

/** Transposes a distributed matrix, or changes its layout; see tesela_mpi_transpose_desc. A and B must
 * not overlap, which is checked. context and record are as in tesela_mpi_gemm(), but no local products
 * are computed.
 * @return as tesela_mpi_gemm(). */
static inline tesela_status tesela_mpi_transpose(MPI_Comm communicator, tesela_context *context,
                                                 const tesela_mpi_transpose_desc *desc,
                                                 tesela_mpi_record *record) {
  return tesela_mpi_transpose_sized(communicator, context, desc, record, sizeof *desc, sizeof *record);
}

#ifdef __cplusplus
}
#endif

#endif

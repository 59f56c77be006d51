/**
 * @file tesela_mpi.h
 * @brief Products and transposes of matrices that lie on the ranks of an MPI communicator, in libtesela_mpi.
 *
 * Two square matrices whose rows lie in equal blocks on all ranks (lda elements from one local row to the
 * next):
 *
 *     tesela_gemm_desc gemm = {.m = n, .n = n, .k = n, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
 *     tesela_mpi_desc desc = {.gemm = &gemm};
 *     if (tesela_mpi_gemm(MPI_COMM_WORLD, NULL, &desc, NULL) != TESELA_OK) puts(tesela_last_error());
 *
 * All calls are collective: every rank of the communicator makes them, in the same order, with what
 * tesela_mpi_desc says is the same on all. All ranks return the same status, and tesela_last_error() the same
 * sentence, which names the lowest rank that failed; a result is as it was then, unless the sentence says
 * that it is lost. A rank that ends in the middle ends the job, as MPI has it.
 *
 * The communicator is copied at its first call, and the copy kept until it is freed. One thread at a time may
 * be in a call with one communicator; MPI is called by that thread alone.
 */
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
/** tesela_mpi_gemm() with sizes; gemm_size is that of desc->gemm. */
TESELA_API tesela_status tesela_mpi_gemm_sized(MPI_Comm communicator, tesela_context *context,
                                               const tesela_mpi_desc *desc, tesela_mpi_record *record,
                                               size_t desc_size, size_t gemm_size, size_t record_size);
/** tesela_mpi_transpose() with sizes. */
TESELA_API tesela_status tesela_mpi_transpose_sized(MPI_Comm communicator, tesela_context *context,
                                                    const tesela_mpi_transpose_desc *desc,
                                                    tesela_mpi_record *record, size_t desc_size,
                                                    size_t record_size);
/** @} */

/** Multiplies matrices that lie on the communicator's ranks.
 *
 * context is the calling rank's, and its local products are made by it, on the device that it or gemm->device
 * names. NULL: one of the library's own for this communicator, on the rank's share of its host's processors
 * (what it was bound to, else an even part of all). record may be NULL.
 *
 * Where operands are in buffers of a device, or gemm->device names one device with memory of its own
 * ("cuda:0"), panels and sums stay in its memory from step to step. Messages go from GPU to GPU by NCCL where
 * all ranks have one each and the library is there (docs/SCALE.md); else they pass through host memory, where
 * a rank's part of an operand in a buffer has a copy meanwhile.
 *
 * The sums of each element are those of a grid (record->plan) that depends on sizes, types, layouts, memory
 * and the number of ranks, and on nothing else: the same call gives the same bits, whatever came when. Where
 * C stays on the GPUs on which it is made (docs/SCALE.md) the grid also depends on that, unless gemm->bits is
 * "devices".
 *
 * On each rank, elements of C share memory neither with each other nor with elements of A and B that are
 * read; they may lie between them, as blocks of one array do. An overlap on any rank is refused on all.
 *
 *  @return TESELA_BAD_CALL where an argument is wrong or not that of rank 0, C overlaps, or the ranks have
 * different versions of the library; TESELA_UNSUPPORTED where operands are packed; TESELA_OUT_OF_MEMORY; and
 * what tesela_gemm() returns. */
static inline tesela_status tesela_mpi_gemm(MPI_Comm communicator, tesela_context *context,
                                            const tesela_mpi_desc *desc, tesela_mpi_record *record) {
  return tesela_mpi_gemm_sized(communicator, context, desc, record, sizeof *desc, sizeof *desc->gemm,
                               sizeof *record);
}

/** Transposes a matrix that lies on the communicator's ranks, or brings it into another layout. context and
 * record as in tesela_mpi_gemm(); nothing is multiplied. A and B do not overlap, which is checked.
 *  @return as tesela_mpi_gemm(). */
static inline tesela_status tesela_mpi_transpose(MPI_Comm communicator, tesela_context *context,
                                                 const tesela_mpi_transpose_desc *desc,
                                                 tesela_mpi_record *record) {
  return tesela_mpi_transpose_sized(communicator, context, desc, record, sizeof *desc, sizeof *record);
}

#ifdef __cplusplus
}
#endif

#endif

/* What libtesela offers to libraries that have ranks (libtesela_mpi): the calls of tesela_mpi.h, with ranks
 * in place of a communicator. Exported, but not public: both libraries are of one version, which is checked.
 */
#ifndef TSL_COMM_COMM_CALL_H
#define TSL_COMM_COMM_CALL_H

#include "comm/comm.h"

#include <tesela/tesela_layout.h>

/* As tesela_mpi_gemm_sized() and tesela_mpi_transpose_sized(). */
TESELA_API tesela_status tesela_ranks_gemm(tsl_ranks *ranks, tesela_context *context,
                                           const tesela_mpi_desc *desc, tesela_mpi_record *record,
                                           size_t desc_size, size_t gemm_size, size_t record_size);
TESELA_API tesela_status tesela_ranks_transpose(tsl_ranks *ranks, tesela_context *context,
                                                const tesela_mpi_transpose_desc *desc,
                                                tesela_mpi_record *record, size_t desc_size,
                                                size_t record_size);
/* Frees what calls have made for the ranks: before these end, while all of them end. */
TESELA_API void tesela_ranks_end(tsl_ranks *ranks);
/* Sets the sentence that tesela_last_error() gives, and returns the status. */
TESELA_API tesela_status tesela_ranks_fail(tesela_status status, const char *sentence);

#endif

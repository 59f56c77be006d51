/* Calls of tesela_mpi.h with ranks in place of a communicator, for libtesela_mpi. Exported, not public: both
 * libraries must have one version, which is checked. */
#ifndef TSL_COMM_COMM_CALL_H
#define TSL_COMM_COMM_CALL_H

#include "comm/comm.h"

#include <tesela/tesela_layout.h>

TESELA_API tesela_status tesela_ranks_gemm(tsl_ranks *ranks, tesela_context *context,
                                           const tesela_mpi_desc *desc, tesela_mpi_record *record,
                                           size_t desc_size, size_t gemm_size, size_t record_size);
TESELA_API tesela_status tesela_ranks_transpose(tsl_ranks *ranks, tesela_context *context,
                                                const tesela_mpi_transpose_desc *desc,
                                                tesela_mpi_record *record, size_t desc_size,
                                                size_t record_size);
/* Frees everything that calls made for the ranks. Collective; call it before the ranks end. */
TESELA_API void tesela_ranks_end(tsl_ranks *ranks);
/* Sets the message of tesela_last_error() and returns the status. */
TESELA_API tesela_status tesela_ranks_fail(tesela_status status, const char *sentence);

#endif

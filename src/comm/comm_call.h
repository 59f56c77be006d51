/* Calls of tesela_mpi.h with ranks in place of a communicator. */
#ifndef TSL_COMM_COMM_CALL_H
#define TSL_COMM_COMM_CALL_H

#include "comm/comm.h"

#include <tesela/tesela_layout.h>

tesela_status tsl_ranks_gemm(tsl_ranks *ranks, tesela_context *context, const tesela_mpi_desc *desc,
                             tesela_mpi_record *record, size_t desc_size, size_t gemm_size,
                             size_t record_size);
tesela_status tsl_ranks_transpose(tsl_ranks *ranks, tesela_context *context,
                                  const tesela_mpi_transpose_desc *desc, tesela_mpi_record *record,
                                  size_t desc_size, size_t record_size);
/* Frees everything that calls made for the ranks. Collective; call it before the ranks end. */
void tsl_ranks_end(tsl_ranks *ranks);

/* Functions that libtesela_mpi calls. */
typedef struct tsl_ranks_calls {
  tesela_status (*gemm)(tsl_ranks *ranks, tesela_context *context, const tesela_mpi_desc *desc,
                        tesela_mpi_record *record, size_t desc_size, size_t gemm_size, size_t record_size);
  tesela_status (*transpose)(tsl_ranks *ranks, tesela_context *context, const tesela_mpi_transpose_desc *desc,
                             tesela_mpi_record *record, size_t desc_size, size_t record_size);
  void (*end)(tsl_ranks *ranks);
  /* Sets the message of tesela_last_error() and returns the status. */
  tesela_status (*fail)(tesela_status status, const char *sentence);
} tsl_ranks_calls;
/* Returns the functions. Exported, not public: both libraries must have one version, which is checked. */
TESELA_API const tsl_ranks_calls *tesela_ranks_calls(void);

#endif

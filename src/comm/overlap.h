/* A result is written while operands are read, so its elements must not overlap anything. */
#ifndef TSL_COMM_OVERLAP_H
#define TSL_COMM_OVERLAP_H

#include "comm/job.h"

/* Checks that a rank's elements lie within 2^63 bytes of the operand's data. TESELA_BAD_CALL. */
tesela_status tsl_overlap_check_reach(const tsl_rank_part *part, const char *name, int rank);

/* Checks that no two elements of a result share memory, after tsl_overlap_check_reach(). TESELA_BAD_CALL. */
tesela_status tsl_overlap_check_result(const tsl_rank_part *result, const char *name, int rank);

/* Checks that a result and an operand share no memory; interleaving is allowed. TESELA_BAD_CALL. */
tesela_status tsl_overlap_check_operand(const tsl_rank_part *result, const char *result_name,
                                        const tsl_rank_part *operand, const char *operand_name, int rank);

#endif

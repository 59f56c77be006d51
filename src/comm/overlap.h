/* Checks for operands that share memory. The result of a product or transpose is written while
 * operands are read, so its elements must not overlap anything. */
#ifndef TSL_COMM_OVERLAP_H
#define TSL_COMM_OVERLAP_H

#include "comm/job.h"

/* Checks that a rank's elements of an operand lie within 2^63 bytes of its data. TESELA_BAD_CALL. */
tesela_status tsl_overlap_check_reach(const tsl_rank_part *part, const char *name, int rank);

/* Checks that no two elements of a result share memory. TESELA_BAD_CALL. Call
 * tsl_overlap_check_reach() first. */
tesela_status tsl_overlap_check_result(const tsl_rank_part *result, const char *name, int rank);

/* Checks that no element of a result shares memory with an element of an operand. Interleaved
 * elements, such as two blocks of one array, are allowed. TESELA_BAD_CALL. */
tesela_status tsl_overlap_check_apart(const tsl_rank_part *result, const char *result_name,
                                      const tsl_rank_part *operand, const char *operand_name, int rank);

#endif

/* Elements of a rank's operands that share memory. The result of a product or transpose is written while
 * operands are read, so its elements share memory with nothing. */
#ifndef TSL_COMM_OVERLAP_H
#define TSL_COMM_OVERLAP_H

#include "comm/job.h"

/* Checks that all elements that a rank has of an operand lie within 2^63 bytes of its data. TESELA_BAD_CALL.
 */
tesela_status tsl_overlap_check_reach(const tsl_rank_part *part, const char *name, int rank);

/* Checks that no two elements of a result share memory. TESELA_BAD_CALL. The part's reach is right. */
tesela_status tsl_overlap_check_result(const tsl_rank_part *result, const char *name, int rank);

/* Checks that no element of a result shares memory with one of an operand. Elements that lie between each
 * other, as those of two blocks of one array do, are allowed. TESELA_BAD_CALL. */
tesela_status tsl_overlap_check_apart(const tsl_rank_part *result, const char *result_name,
                                      const tsl_rank_part *operand, const char *operand_name, int rank);

#endif

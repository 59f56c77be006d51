/* What becomes of sums at their owners: they are added over the layers, scaled, and stored. */
#ifndef TSL_COMM_REDUCE_H
#define TSL_COMM_REDUCE_H

#include "base/types.h"
#include "comm/layout.h"

/* Adds `slots` arrays of `count` sums, slot after slot in memory, into the first one, in a fixed tree:
 * neighbours first, whatever came when. type is a type of sums. */
void tsl_tree_add(tesela_type type, void *sums, int slots, int64_t count);

/* alpha x + beta c of what two patches have in common: x of type `from` is a's, c of type `to` is b's. */
typedef struct tsl_finish {
  const tsl_type_info *from, *to;
  double alpha[2], beta[2]; /* as the type of the sums has them */
  bool conjugate;           /* x is conjugated before */
  const void *sums;         /* in a's places, or where `is_message`, a message of what they have in common */
  bool is_message;
  void *c;
  tsl_order order;
} tsl_finish;
/* Returns how many elements were stored. beta = 0 does not read c. */
int64_t tsl_finish_store(const tsl_finish *finish, const tsl_patch *a, const tsl_patch *b);

#endif

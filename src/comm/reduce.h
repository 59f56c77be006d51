/* Last steps for sums at their owners. */
#ifndef TSL_COMM_REDUCE_H
#define TSL_COMM_REDUCE_H

#include "comm/layout.h"
#include "core/types.h"

/* Adds `slots` consecutive arrays of `count` sums into the first one, in a fixed tree, neighbours first. */
void tsl_tree_add(tesela_type type, void *sums, int slots, int64_t count);

/* Store of alpha x + beta c for the intersection of two patches: x is a's, c is b's. */
typedef struct tsl_scaled_store {
  const tsl_type_info *from, *to; /* types of x and of c */
  double alpha[2], beta[2];       /* rounded to the type of the sums */
  bool conjugate;                 /* x is conjugated first */
  const void *sums;               /* x: at a's positions, or a message */
  bool is_message;                /* the sums are dense in `order` */
  void *c;
  tsl_order order;
} tsl_scaled_store;
/* Returns the number of elements. beta = 0 does not read c. */
int64_t tsl_scaled_store_run(const tsl_scaled_store *scaled_store, const tsl_patch *a, const tsl_patch *b);

#endif

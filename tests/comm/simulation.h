/* A simulation of each message of a product by ranks: those of the real plan, each of which takes a moment
 * and its bytes over the link, on ranks that send one message and receive one at a time, and multiply beside
 * as the product does (src/comm/product.c). */
#ifndef TESTS_COMM_SIMULATION_H
#define TESTS_COMM_SIMULATION_H

#include <stdint.h>

/* What is told, and what was simulated. */
typedef struct simulated {
  double told, seconds;
  int64_t words, most; /* of the busiest rank, told and counted */
  int messages, steps, tiles;
} simulated;

/* Of m x n x k numbers of f64 that lie as the plan would have them, with so many bytes of memory a rank.
 * Fails the test where the messages are not those that the product counts, or ranks wait for ever. */
simulated simulate(const int64_t *shape, int ranks, int64_t memory);

#endif

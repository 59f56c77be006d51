/* A simulation of every message of a product by ranks. The messages are the real plan's; each takes
 * the latency plus its bytes over the link's bandwidth. A rank sends one message and receives one
 * at a time, and multiplies meanwhile as the product does (src/comm/product.c). */
#ifndef TESTS_COMM_SIMULATION_H
#define TESTS_COMM_SIMULATION_H

#include "comm/comm_grid.h"

#include <stdint.h>

/* Best distribution of operands: even parts of A, B and C (row, column, rows, columns) of a block's rank. */
typedef struct grid_shares {
  int64_t a[4], b[4], c[4];
} grid_shares;
grid_shares grid_shares_of(const tsl_process_grid *grid, int block_index);

/* The plan's estimate (`told`) and the simulated figures. */
typedef struct simulated {
  double told, seconds;
  int64_t words, most; /* words of the busiest rank: the plan's estimate, and the count of the simulation */
  int messages, steps, tiles;
} simulated;

/* Simulates a product of m x n x k numbers of f64, distributed as the plan prefers, with `memory`
 * bytes for each rank. Fails the test where the messages differ from the count of the product, or
 * where ranks wait for ever. */
simulated simulate(const int64_t *shape, int ranks, int64_t memory);

#endif

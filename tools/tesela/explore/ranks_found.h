/* What several ranks measured: tesela's product of all of them, and a peer's. */
#ifndef TSL_TOOL_EXPLORE_RANKS_FOUND_H
#define TSL_TOOL_EXPLORE_RANKS_FOUND_H

#include "explore/cyclic.h"
#include "explore/explore.h"

/* Who multiplies. X(NAME, name) */
#define TSL_RANKS_WAY_LIST(X) X(TESELA, tesela_mpi) X(PEER, vendor_scalapack)
typedef enum tsl_ranks_way {
#define TSL_RANKS_WAY_MEMBER(name, text) TSL_RANKS_WAY_##name,
  TSL_RANKS_WAY_LIST(TSL_RANKS_WAY_MEMBER)
#undef TSL_RANKS_WAY_MEMBER
      TSL_RANKS_WAYS
} tsl_ranks_way;
/* "vendor_scalapack" */
const char *tsl_ranks_way_name(int way);

typedef struct tsl_ranks_entry {
  tsl_case_result result;
  tsl_verdict verdict;    /* of all ranks: where it is right or wrong */
  tsl_measurement timing; /* of the slowest rank */
  char why[256];          /* where it is not right */
  char plan[256];         /* of tesela's, the grid in words */
} tsl_ranks_entry;

/* Of one type and size. */
typedef struct tsl_ranks_point {
  int type, size;
  double flops;
  tsl_ranks_entry entries[TSL_RANKS_WAYS];
} tsl_ranks_point;

typedef struct tsl_ranks_exploration {
  tsl_ranks *ranks;
  tsl_cyclic_grid grid;
  int64_t block;       /* of the matrices, square */
  int threads;         /* of each rank */
  int ways;            /* how many of the list take part */
  char peer[512];      /* the library; "": there is none */
  tsl_exploration all; /* its types, sizes, options, date and machine */
  tsl_ranks_point *points;
} tsl_ranks_exploration;

#endif

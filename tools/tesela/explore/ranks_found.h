/* Results of products by several ranks: tesela's, and a peer's. */
#ifndef TSL_TOOL_EXPLORE_RANKS_FOUND_H
#define TSL_TOOL_EXPLORE_RANKS_FOUND_H

#include "explore/cyclic.h"
#include "explore/explore.h"

/* Libraries that multiply. X(NAME, name) */
#define TSL_RANKS_WAY_LIST(X) X(TESELA, tesela_mpi) X(PEER, vendor_scalapack)
typedef enum tsl_ranks_way {
#define TSL_RANKS_WAY_MEMBER(name, text) TSL_RANKS_WAY_##name,
  TSL_RANKS_WAY_LIST(TSL_RANKS_WAY_MEMBER)
#undef TSL_RANKS_WAY_MEMBER
      TSL_RANKS_WAYS
} tsl_ranks_way;
/* Returns the name, such as "vendor_scalapack". */
const char *tsl_ranks_way_name(int way);

typedef struct tsl_ranks_entry {
  tsl_case_result result;
  tsl_verdict verdict;    /* the verdict over all ranks; valid if the result is right or wrong */
  tsl_measurement timing; /* the time of the slowest rank */
  char why[256];          /* the reason if the result is not right */
  char plan[256];         /* the plan's text of tesela's product, with the grid */
} tsl_ranks_entry;

/* Results of one type and size. */
typedef struct tsl_ranks_point {
  int type, size;
  double flops;
  tsl_ranks_entry entries[TSL_RANKS_WAYS];
} tsl_ranks_point;

typedef struct tsl_ranks_exploration {
  tsl_ranks *ranks;
  tsl_cyclic_grid grid;
  int64_t block;       /* rows and columns of a block of the layout */
  int threads;         /* host threads of each rank */
  int ways;            /* the number of entries of the list that take part */
  char peer[512];      /* the peer's library; "": there is none */
  tsl_exploration all; /* types, sizes, options, date and machine */
  tsl_ranks_point *points;
} tsl_ranks_exploration;

#endif

#ifndef TSL_BLAS_PEER_RATING_H
#define TSL_BLAS_PEER_RATING_H

#include "blas/background.h"

/* Rates the symbol's library, which is unknown, as tuned or plain by its report about its kernels, else by a
 * race in the background; until then it is pending and counts as tuned. With TESELA_WISDOM=none, or without a
 * background thread, it is tuned. */
void tsl_blas_rate(tsl_blas_symbol *symbol);

/* Share of tesela: work below which calls are forwarded (0: all), and the route of the current call. */
typedef struct tsl_blas_share {
  double from;
  bool is_ours;
} tsl_blas_share;
/* Returns tesela's share of a tuned library's calls of Level 3, by the race of their sizes. The first call
 * begins it, once per machine, library and number of threads; until it has ended, the crossovers decide. */
tsl_blas_share tsl_blas_share_of_level3(tsl_blas_routine routine, tsl_blas_symbol *symbol, double volume);

enum { TSL_BLAS_RACE_SIZES = 5 };
/* Races of the host BLAS against tesela (peer_race.c), for the background. Take milliseconds to 0.2 s. */
/* Returns true if the library takes more than twice tesela's time for a product. */
bool tsl_blas_race_gemm(tsl_blas_symbol *symbol);
/* Returns the sizes, as a bit mask, at which tesela is faster. */
unsigned tsl_blas_race_level3(tsl_blas_symbol *symbol, tsl_blas_routine routine);
/* Returns the number of threads of the calling thread's products. */
int tsl_blas_race_threads(void);

#endif

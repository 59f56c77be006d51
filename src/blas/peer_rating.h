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

/* Races for the background (peer_race.c). Store in the symbol's `peer` whether its library is tuned or plain,
 * and by tsl_blas_store_standing() at which sizes tesela is faster. Take milliseconds to 0.2 s. */
void tsl_blas_race_gemm(tsl_blas_symbol *symbol, tsl_blas_routine routine);
void tsl_blas_race_level3(tsl_blas_symbol *symbol, tsl_blas_routine routine);

enum { TSL_BLAS_RACE_SIZES = 5 };
/* Stores the sizes, as a bit mask, at which tesela is faster in the symbol and as wisdom. */
void tsl_blas_store_standing(tsl_blas_symbol *symbol, tsl_blas_routine routine, unsigned sizes);
/* Returns the number of threads of the calling thread's products. */
int tsl_blas_race_threads(void);

#endif

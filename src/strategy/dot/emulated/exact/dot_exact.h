#ifndef TSL_STRATEGY_DOT_EXACT_DOT_EXACT_H
#define TSL_STRATEGY_DOT_EXACT_DOT_EXACT_H

#include "strategy/strategy.h"

/* Computes the dot on the cpu with all threads. */
tesela_status tsl_exact_run_host(const tsl_work *work, const tsl_operands *operands);

#endif

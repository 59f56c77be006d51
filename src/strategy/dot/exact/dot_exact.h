/* What the descriptor and the host's part of `exact` share. */
#ifndef TSL_STRATEGY_DOT_EXACT_DOT_EXACT_H
#define TSL_STRATEGY_DOT_EXACT_DOT_EXACT_H

#include "strategy/strategy.h"

/* The dot on the cpu, on all threads. */
tesela_status tsl_exact_run_host(const tsl_work *work, const tsl_operands *operands);

#endif

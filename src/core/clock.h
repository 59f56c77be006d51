#ifndef TSL_CORE_CLOCK_H
#define TSL_CORE_CLOCK_H

/* Returns seconds of the monotonic clock since a fixed moment. */
double tsl_clock(void);

#endif

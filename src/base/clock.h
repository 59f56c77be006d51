/* Time on the host. */
#ifndef TSL_BASE_CLOCK_H
#define TSL_BASE_CLOCK_H

/* Seconds of the monotonic clock since some fixed moment. */
double tsl_clock(void);

#endif

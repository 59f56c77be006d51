/* The host's processor, as far as the files that Linux shows tell. `root` stands in front of every path: "" for this
 * machine, another folder in tests. */
#ifndef TSL_BASE_PROCESSOR_H
#define TSL_BASE_PROCESSOR_H

#include <stdint.h>

/* Bytes of the last level of cache, all of its parts together (a processor may have one for every few cores); 0
 * where nothing tells. */
uint64_t tsl_processor_cache_at(const char *root);
/* The clock of the fastest core at this moment, in MHz: cpufreq's, else that of /proc/cpuinfo, which virtual
 * machines keep constant; 0 where nothing tells. */
int tsl_processor_mhz_at(const char *root);

#endif

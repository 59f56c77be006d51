/* The host's processor, as far as the files that Linux shows tell. `root` stands in front of every path: ""
 * for this machine, another folder in tests. */
#ifndef TSL_BASE_PROCESSOR_H
#define TSL_BASE_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the last level of cache, all of its parts together (a processor may have one for every few cores);
 * 0 where nothing tells. */
uint64_t tsl_processor_cache_at(const char *root);
/* Bytes of the first processor's data caches, levels 1 to 3, each whole, whoever shares it; 0 for a level
 * that is not there or not told. */
void tsl_processor_caches_at(const char *root, uint64_t bytes[3]);
/* The value of the first line "key : value" of /proc/cpuinfo, without blanks around it; false where there is
 * none. */
bool tsl_processor_info_at(const char *root, const char *key, char *value, size_t size);
/* Which design it is, where its name does not say: "25.17", family and model of x86-64, which virtual
 * machines show beside a name that stands for several generations; "" where nothing tells. */
void tsl_processor_model_at(const char *root, char *model, size_t size);
/* The clock of the fastest core at this moment, in MHz: cpufreq's, else that of /proc/cpuinfo, which virtual
 * machines keep constant; 0 where nothing tells. */
int tsl_processor_mhz_at(const char *root);

#endif

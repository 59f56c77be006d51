/* Properties of the host's processor from Linux's files. `root` ("", or a test's folder) prefixes paths. */
#ifndef TSL_CORE_PROCESSOR_H
#define TSL_CORE_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of all last-level caches together; 0: unknown. */
uint64_t tsl_processor_last_caches_at(const char *root);
/* Writes bytes of the first processor's data caches, levels 1 to 3; 0: missing or unknown. */
void tsl_processor_data_caches_at(const char *root, uint64_t bytes[3]);
/* Reads the value of the first line "key : value" of /proc/cpuinfo; false: none. */
bool tsl_processor_cpuinfo_at(const char *root, const char *key, char *value, size_t size);
/* Writes family and model of an x86-64 processor, such as "25.17"; "": unknown. */
void tsl_processor_model_at(const char *root, char *model, size_t size);
/* Returns the temperature of the hottest thermal zone in degrees Celsius; 0: unknown. */
int tsl_processor_celsius_at(const char *root);
/* Returns the current clock of the fastest core in MHz, by cpufreq, else /proc/cpuinfo; 0: unknown. */
int tsl_processor_mhz_at(const char *root);

#endif

/* Properties of the host's processor, read from Linux's files. `root` is a prefix of every path: "" for
 * this machine, a folder in tests. */
#ifndef TSL_BASE_PROCESSOR_H
#define TSL_BASE_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of all last-level caches together (a processor may have one for every few cores);
 * 0: unknown. */
uint64_t tsl_processor_cache_at(const char *root);
/* Writes the bytes of the first processor's data caches, levels 1 to 3, including shared parts; 0: the
 * level is missing or unknown. */
void tsl_processor_caches_at(const char *root, uint64_t bytes[3]);
/* Reads the value of the first line "key : value" of /proc/cpuinfo, without surrounding blanks. Returns
 * false if there is none. */
bool tsl_processor_info_at(const char *root, const char *key, char *value, size_t size);
/* Writes family and model of an x86-64 processor, such as "25.17"; "" if unknown. Virtual machines
 * report one name for several generations. */
void tsl_processor_model_at(const char *root, char *model, size_t size);
/* Returns the current clock of the fastest core in MHz; 0: unknown. The source is cpufreq, else
 * /proc/cpuinfo, which is constant in virtual machines. */
int tsl_processor_mhz_at(const char *root);

#endif

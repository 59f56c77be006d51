#ifndef TSL_CORE_HASH_H
#define TSL_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* 128-bit FNV-1a hash, for content addresses, not for secrets. */
typedef struct tsl_hash {
  uint64_t high, low;
} tsl_hash;
/* Returns the hash of no bytes. */
tsl_hash tsl_hash_start(void);
/* Returns the hash of `state` continued with these bytes. */
tsl_hash tsl_hash_add(tsl_hash state, const void *bytes, size_t count);
/* Writes 32 hexadecimal digits and a NUL. */
void tsl_hash_text(tsl_hash hash, char out[33]);

#endif

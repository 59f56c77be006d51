/* NumPy's .npz: a zip archive (APPNOTE.TXT of PKWARE, sections 4.3 to 4.5). One array is readable. */
#ifndef TSL_IO_NPZ_H
#define TSL_IO_NPZ_H

#include "io/input.h"

typedef struct tsl_npz_entry {
  uint64_t offset; /* offset of its first byte in the archive */
  uint64_t size;   /* uncompressed bytes of the .npy file */
  uint32_t crc;    /* CRC-32 of the .npy file */
  bool deflated;   /* compressed by deflate; false: stored */
} tsl_npz_entry;

/* Returns true if a file may be a zip archive by its first bytes. */
bool tsl_npz_recognise(const char *bytes, size_t count);
/* Finds the single array. TESELA_BAD_INPUT for none, several (with their names), or a damaged archive. */
tesela_status tsl_npz_find_single_array(const tsl_input *in, tsl_npz_entry *entry);

#endif

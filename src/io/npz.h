/* NumPy's .npz: a zip archive of .npy files (APPNOTE.TXT of PKWARE, sections 4.3 to 4.5). One that holds a
 * single array is read like that array's own file. */
#ifndef TSL_IO_NPZ_H
#define TSL_IO_NPZ_H

#include "io/input.h"

typedef struct tsl_npz_entry {
  uint64_t offset; /* of its first byte in the archive */
  uint64_t size;   /* of the .npy file */
  uint32_t check;  /* CRC-32 of it */
  bool deflated;   /* else it is stored as it is */
} tsl_npz_entry;

/* Whether a file that starts like this is a zip archive. */
bool tsl_npz_recognise(const char *bytes, size_t count);
/* Finds the one array of an archive. TESELA_BAD_INPUT where there are several, with their names and the
 * command that unpacks one; where there is none; or where the archive is damaged. */
tesela_status tsl_npz_find(const tsl_input *in, tsl_npz_entry *entry);

#endif

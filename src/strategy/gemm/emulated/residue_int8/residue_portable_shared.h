/* Sizes of residue_int8's portable kernels, for these and the host. */
#ifndef TSL_RESIDUE_PORTABLE_SHARED_H
#define TSL_RESIDUE_PORTABLE_SHARED_H

#ifdef TSL_KERNEL /* of dialect.h */
#define TSL_RESIDUE_PORTABLE
#endif
#include "residue_int8_shared.h"

#define TSL_RESIDUE_ITEMS 256      /* items of a group that measures or chooses */
#define TSL_RESIDUE_LINES_ALONG 2  /* lines of a measuring group with numbers along lines */
#define TSL_RESIDUE_LINES_ACROSS 8 /* lines of a measuring group with numbers across lines */
#define TSL_RESIDUE_GROUP_ITEMS 64 /* items of all other groups */
#define TSL_RESIDUE_NUMBERS 16     /* numbers of a line that an item converts */
#define TSL_RESIDUE_FOUR 4         /* adjacent elements of a row of C that an item computes */
#define TSL_RESIDUE_TILE 16        /* side of a group's tile of native elements of C */

/* Piece of the rules as a kernel argument; arguments are limited to 1024 bytes. */
#define TSL_RESIDUE_SOME 192
typedef struct residue_some {
  unsigned word[TSL_RESIDUE_SOME];
  residue_index at; /* byte offset in the workspace */
  int count;
} residue_some;

#endif

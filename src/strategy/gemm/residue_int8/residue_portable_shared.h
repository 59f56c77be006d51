/* What residue_int8's portable kernels are told, for the host and for them. Behind residue_int8_shared.h. */
#ifndef TSL_RESIDUE_PORTABLE_SHARED_H
#define TSL_RESIDUE_PORTABLE_SHARED_H

#define TSL_RESIDUE_ITEMS 256      /* of a group that measures, and of the one that chooses */
#define TSL_RESIDUE_LINES_ALONG 2  /* of a group that measures, whose numbers follow each other; */
#define TSL_RESIDUE_LINES_ACROSS 8 /* where numbers of different lines do */
#define TSL_RESIDUE_GROUP_ITEMS 64 /* of all other groups */
#define TSL_RESIDUE_NUMBERS 16     /* of a line that an item makes residues of */
#define TSL_RESIDUE_FOUR 4         /* neighbours in a row of C that an item makes */
#define TSL_RESIDUE_TILE 16        /* side of a group's tile of C where that is multiplied as it is */

/* Offsets into scratch memory are bytes. Terms are cut into `parts` of `depth` each, zeros behind the k-th;
 * plane l parts + i (of complex numbers (3 l + kind) parts + i) has part i modulo p_l: of an operand a line
 * of `depth` bytes after the other, a plane every plane[operand] bytes; of C in bytes, in rows of rest_row,
 * and one plane in whole numbers, sums_row of them a row. Strides count real numbers. */
typedef struct residue_portable {
  residue_matrix of[2];
  residue_index c_offset, c_row, c_col;
  residue_index planes[2], plane[2], keys[2], candidates[2], scales[2]; /* candidates: of each, all lines */
  residue_index rules, choice, sums, sums_row, rests, rest_plane, rest_row;
  residue_index made; /* the choice by which residues of operand `stays` were made */
  double alpha, beta;
  int m, n, k, parts, depth;
  int blocks[2];      /* groups that measure lines of A, of B */
  int is_empty;       /* there are no products */
  int stays, is_kept; /* the operand that lies first, for later runs; whether the run before left its lines
                         measured, and residues */
  int is_wide; /* four neighbours of a row of C that start at a multiple of four are aligned to 16 bytes; not
                  of complex numbers */
} residue_portable;

/* Some words of the rules, as a kernel is given them: arguments have 1024 bytes at least, which they do not
 * fit. */
#define TSL_RESIDUE_SOME 192
typedef struct residue_some {
  unsigned word[TSL_RESIDUE_SOME];
  residue_index at; /* bytes, in scratch memory */
  int count;
} residue_some;

#endif

/* Arguments of residue_int8's portable kernels, for the host and the kernels. Include after
 * residue_int8_shared.h. */
#ifndef TSL_RESIDUE_PORTABLE_SHARED_H
#define TSL_RESIDUE_PORTABLE_SHARED_H

#define TSL_RESIDUE_ITEMS 256      /* items of a group that measures or chooses */
#define TSL_RESIDUE_LINES_ALONG 2  /* lines of a measuring group with numbers along lines */
#define TSL_RESIDUE_LINES_ACROSS 8 /* lines of a measuring group with numbers across lines */
#define TSL_RESIDUE_GROUP_ITEMS 64 /* items of all other groups */
#define TSL_RESIDUE_NUMBERS 16     /* numbers of a line that an item converts */
#define TSL_RESIDUE_FOUR 4         /* adjacent elements of a row of C that an item computes */
#define TSL_RESIDUE_TILE 16        /* side of a group's tile of native elements of C */

/* Arguments. Workspace offsets are in bytes, strides in real numbers. k is split into `parts` of `depth`,
 * padded with zeros. Plane l parts + i (complex: (3 l + kind) parts + i) holds part i modulo p_l. Planes of
 * an operand have lines of `depth` bytes and a distance of plane[operand] bytes. Planes of C are bytes in
 * rows of rest_row, and one plane of integers in rows of sums_row. */
typedef struct residue_portable {
  residue_matrix operands[2];
  residue_index c_offset, c_row, c_col;
  /* candidates: scales of all lines, for each candidate */
  residue_index planes[2], plane[2], keys[2], candidates[2], scales[2];
  residue_index rules, choice, sums, sums_row, rests, rest_plane, rest_row;
  residue_index made; /* choice by which the residues of operand `stays` were made */
  double alpha, beta;
  int m, n, k, parts, depth;
  int blocks[2]; /* groups that measure lines of A and of B */
  int is_empty;  /* k is 0 */
  /* operand whose data is first in the workspace, for reuse by later runs; is_kept: the previous
   * run left its measured lines and residues */
  int stays, is_kept;
  /* four adjacent elements of a row of C, from a multiple of four on, are aligned to 16 bytes; not
   * for complex C */
  int is_wide;
} residue_portable;

/* Words of the rules as a kernel argument. Arguments are limited to 1024 bytes, so the rules are
 * sent in pieces. */
#define TSL_RESIDUE_SOME 192
typedef struct residue_some {
  unsigned word[TSL_RESIDUE_SOME];
  residue_index at; /* byte offset in the workspace */
  int count;
} residue_some;

#endif

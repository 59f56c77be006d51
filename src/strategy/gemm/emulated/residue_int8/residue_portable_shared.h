/* Arguments of residue_int8's portable kernels. Include after residue_int8_shared.h. */
#ifndef TSL_RESIDUE_PORTABLE_SHARED_H
#define TSL_RESIDUE_PORTABLE_SHARED_H

#define TSL_RESIDUE_ITEMS 256      /* items of a group that measures or chooses */
#define TSL_RESIDUE_LINES_ALONG 2  /* lines of a measuring group with numbers along lines */
#define TSL_RESIDUE_LINES_ACROSS 8 /* lines of a measuring group with numbers across lines */
#define TSL_RESIDUE_GROUP_ITEMS 64 /* items of all other groups */
#define TSL_RESIDUE_NUMBERS 16     /* numbers of a line that an item converts */
#define TSL_RESIDUE_FOUR 4         /* adjacent elements of a row of C that an item computes */
#define TSL_RESIDUE_TILE 16        /* side of a group's tile of native elements of C */

/* Workspace offsets are in bytes, strides in real numbers. k is split into `parts` of `depth`, padded with
 * zeros. Plane l parts + i (complex: (3 l + kind) parts + i) holds part i modulo p_l. An operand's planes
 * have lines of `depth` bytes and a distance of plane[operand] bytes. Planes of C are bytes in rows of
 * rest_row, and one plane of integers in rows of sums_row. */
typedef struct residue_portable {
  residue_matrix operands[2];
  residue_index c_offset, c_row, c_col;
  residue_index planes[2], plane[2], keys[2], candidates[2], scales[2];
  /* bytes of the workspace; sums_row, rest_plane, rest_row: strides in integers, bytes and bytes */
  residue_index rules, choice, sums, sums_row, rests, rest_plane, rest_row;
  residue_index made; /* choice by which the residues of operand `stays` were made */
  double alpha, beta;
  int m, n, k, parts, depth;
  int blocks[2]; /* groups that measure lines of A and of B */
  int is_empty;
  int stays, is_kept; /* reused operand, whose data lies first; the previous run left its data */
  int is_wide; /* real C: each aligned group of four elements of a row starts at a multiple of 16 bytes */
} residue_portable;

/* Piece of the rules as a kernel argument; arguments are limited to 1024 bytes. */
#define TSL_RESIDUE_SOME 192
typedef struct residue_some {
  unsigned word[TSL_RESIDUE_SOME];
  residue_index at; /* byte offset in the workspace */
  int count;
} residue_some;

#endif

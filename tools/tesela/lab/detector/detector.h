/* Shared by the two files of the detector: arrays with the uses of their elements, and the present run. */
#ifndef LAB_DETECTOR_H
#define LAB_DETECTOR_H

/* Marks a sentence for the catalogues; the lab translates it. */
#define N_(sentence) sentence

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lab_vector {
  unsigned x, y, z;
} lab_vector;
/* The running item and its group, items of a group, groups; by dimension. */
extern lab_vector lab_item, lab_group, lab_items, lab_groups;
/* Values of the kernel's arguments: m, n, k, rows, cols, lda, ldb, ldc; alpha, beta; elements of local
 * memory. */
extern long lab_sizes[8], lab_local_counts[8];
extern double lab_scalars[2];
/* A use of an element: item and group (-1: none), interval, number of the access in the interval, address. */
typedef struct use {
  int item, group;
  unsigned interval, step;
  uintptr_t code;
} use;

typedef struct cell {
  use write, reads[2];
  bool was_written, was_read;
} cell;

/* Accesses outside of an array, in one direction. */
typedef struct outside {
  long count, index, max_row, max_col, min_row;
  use first;
} outside;

typedef struct array {
  char name[64];
  char *start;
  long count; /* elements */
  size_t element;
  long rows, cols, pitch; /* a matrix; a local array of one dimension has one row */
  bool is_local, is_input, is_result, has_race;
  cell *cells;
  outside out[2]; /* reads, writes */
  use unset;      /* the first read of an element without a value */
  long unset_index, unset_count;
} array;

/* The present run. */
typedef struct lab_run {
  long m, n, k, lda, ldb, ldc;
  double alpha, beta;
  size_t size;
  char op;
  bool is_real, backwards;
  long tile;
} lab_run;
extern lab_run lab_job;

/* Gets each use of an element of an array; NULL (default): none. */
typedef void lab_use_hook(const array *list, long index, bool is_write, const use *by);
extern lab_use_hook *lab_on_use;
/* Returns the latest use, whose item is the running one. */
const use *lab_now(void);

/* Prepares memory and the handler of signals. */
void lab_start(void);
/* Adds an operand of `rows` rows of `cols` elements, `pitch` elements apart. */
array *lab_add_operand(const char *name, long rows, long cols, long pitch);
/* Calls the kernel for every item of all groups, or of one. */
void lab_run_all(void);
void lab_run_group(unsigned group);
/* Prints faults of memory, and the counts of a run with so many multiply-adds (or elements). */
void lab_tell_memory(void);
void lab_tell_counts(double products);

#endif

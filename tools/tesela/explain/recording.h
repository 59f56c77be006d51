/* Recording of a rung. Its own kernel text is compiled as C with the lab's detector, and runs for one
 * work-group. Each load, store and multiply-add is noted in order. Needs the system's compiler and no
 * device. */
#ifndef TSL_TOOL_EXPLAIN_RECORDING_H
#define TSL_TOOL_EXPLAIN_RECORDING_H

#include "strategy/strategy.h"

/* How a rung is launched and told. */
typedef struct tsl_rung {
  tsl_op op;
  const char *name, *entry, *file; /* of the strategy, the kernel, and its file (NULL: `plain`) */
  /* names of the parameters with work-items along dimensions 0 and 1; NULL: one */
  const char *items_x, *items_y;
  const char *small; /* parameters of a recording with few work-items: "tile=4" */
  bool has_rows;     /* each work-item computes whole rows of C */
  bool is_image;     /* B is an image */
  /* definitions of the lab's plain kernel in C, which is recorded in place of a kernel of one instruction
   * set; NULL: the library's kernel is recorded */
  const char *plain;
  bool draws_whole; /* a drawing has all steps; false: the first few and the last */
  const char *then; /* after the loads of a step */
  const char *end;
} tsl_rung;

/* Returns the rung of a strategy; NULL: it cannot be recorded. */
const tsl_rung *tsl_rung_of(const tsl_strategy *strategy);

typedef enum tsl_event_kind { TSL_EVENT_LOAD, TSL_EVENT_STORE, TSL_EVENT_ADD } tsl_event_kind;

/* One load or store of an element, or one multiply-add of an element of A and one of B (of x and y). */
typedef struct tsl_event {
  tsl_event_kind kind;
  int item;
  unsigned interval;    /* numbered from 1; barriers of the group separate intervals */
  int64_t step;         /* numbered from 0: loads, the multiply-adds after them, stores */
  int array;            /* index in `arrays`; of a multiply-add 0 */
  int64_t row, col;     /* of the element; of A */
  int64_t b_row, b_col; /* of B; of a store of an element that was loaded, its place */
  int from;             /* of such a store TSL_OPERAND_A or _B; else -1 */
} tsl_event;

enum { TSL_RECORDED_ARRAYS_MAX = 32 };
typedef struct tsl_recorded_array {
  char name[32]; /* A, B, C, x, y, sums, or the kernel's name of local memory */
  bool is_local;
  int operand; /* TSL_OPERAND_A, ...; of local memory TSL_OPERANDS */
  int64_t rows, cols;
} tsl_recorded_array;

typedef struct tsl_recording {
  const tsl_rung *rung;
  const tsl_problem *problem;
  int64_t groups[2], items[2]; /* by dimension */
  int64_t group;               /* number of the recorded group, dimension 0 first */
  int item;                    /* item that stores the element; -1: no element was given */
  tsl_recorded_array arrays[TSL_RECORDED_ARRAYS_MAX];
  int array_count;
  tsl_event *events;
  size_t count;
  int64_t steps;
  unsigned intervals;
} tsl_recording;

/* Group to record: by its numbers in dimensions 0 and 1, or by an element of C that it stores. */
typedef struct tsl_recording_place {
  bool has_element;
  int64_t group[2];
  int64_t row, col;
} tsl_recording_place;

/* Records; tsl_recording_free() frees. TESELA_UNSUPPORTED: no such rung, type or compiler, or too long. */
tesela_status tsl_record_rung(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_recording_place *place,
                              tsl_recording *recording);
void tsl_recording_free(tsl_recording *recording);

/* Returns the line of memory (64 bytes) of an operand's element, counted from the operand's start. */
int64_t tsl_recording_line(const tsl_recording *recording, int operand, int64_t row, int64_t col);

#endif

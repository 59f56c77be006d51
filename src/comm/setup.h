/* Conversion of each rank's arguments to a job that is equal on all ranks. */
#ifndef TSL_COMM_SETUP_H
#define TSL_COMM_SETUP_H

#include "comm/collective_status.h"
#include "comm/job.h"

/* Operand as given by the caller. */
typedef struct tsl_rank_operand {
  const char *name; /* "a", "b" or "c" */
  int part;         /* TSL_PART_A ...; the result is TSL_PART_C */
  const tesela_matrix *matrix;
  const tesela_layout *layout;
  int64_t rows, cols; /* size of op(operand) */
  bool used;          /* read or written */
  bool read;          /* its elements are needed, not only overwritten */
  bool copies_later;  /* elements in a buffer are copied later, by tsl_part_make_host_copy() */
} tsl_rank_operand;

typedef struct tsl_agreed_list {
  tsl_agreed_value items[TSL_AGREED_VALUE_MAX];
  int count;
} tsl_agreed_list;
void tsl_agreed_list_add(tsl_agreed_list *list, const char *name, int64_t value);
void tsl_agreed_list_add_word(tsl_agreed_list *list, const char *name, const char *word);
/* Adds both libraries' versions. Must be first: other versions may add other values. */
void tsl_agreed_list_add_version(tsl_agreed_list *list, const tsl_ranks *ranks);
/* Adds an operand's properties; its matrix and layout need not be valid. */
void tsl_agreed_list_add_operand(tsl_agreed_list *list, const tsl_rank_operand *operand, int ranks);
extern const char *const tsl_alpha_names[2], *const tsl_beta_names[2];
/* Adds real and imaginary part; `default_value` if the pointer is NULL. */
void tsl_agreed_list_add_scalar(tsl_agreed_list *list, const char *const names[2], const double *scalar,
                                bool is_complex, double default_value);

/* Checks an operand on the calling rank. TESELA_BAD_CALL, TESELA_UNSUPPORTED. */
tesela_status tsl_rank_operand_check(const tsl_rank_operand *operand, int ranks);
/* Rounds alpha or beta to the sums' type. TESELA_BAD_CALL for a fraction with an integer type. */
tesela_status tsl_load_scalar(const double *argument, const char *name, const tsl_type_info *sums,
                              double default_value, double out[2]);

/* Makes a job's parts, operands before the result: exchanges rectangles, makes layouts, checks overlaps,
 * agrees on message orders. Collective; one status on all ranks. Call tsl_parts_free() even on failure. */
tesela_status tsl_parts_make(tsl_job *job, const tsl_rank_operand *operands, int count);
/* Makes the missing host copy of this rank's elements; fills it if `reads`. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_part_make_host_copy(const tsl_ranks *ranks, tsl_rank_part *part, bool reads);
/* Writes C back to the caller's buffer. Collective; one status on all ranks. After a failure C is lost. */
tesela_status tsl_part_store(tsl_ranks *ranks, const tsl_rank_part *part);
void tsl_parts_free(tsl_rank_part *parts, int count);

#endif

/* From what each rank's caller says to a job that all ranks know alike. */
#ifndef TSL_COMM_SETUP_H
#define TSL_COMM_SETUP_H

#include "comm/collective_status.h"
#include "comm/job.h"

/* An operand as the caller gives it. */
typedef struct tsl_given {
  const char *name; /* "a" */
  int part;         /* of the job: TSL_PART_A ... The result is TSL_PART_C. */
  const tesela_matrix *matrix;
  const tesela_layout *layout;
  int64_t rows, cols; /* of the operand as it takes part */
  bool used;          /* its elements are read or written ... */
  bool read;          /* ... read */
  bool stays;         /* what lies in a buffer is not copied to host memory yet: tsl_part_copy() */
} tsl_given;

/* A list of what all ranks must say alike, as it grows. */
typedef struct tsl_sayings {
  tsl_agreed_value said[TSL_AGREED_VALUE_MAX];
  int count;
} tsl_sayings;
void tsl_say(tsl_sayings *sayings, const char *name, int64_t value);
void tsl_say_word(tsl_sayings *sayings, const char *name, const char *word);
/* Versions of this library and of what made the ranks: the first that is said, because others might know
 * other things. */
void tsl_say_version(tsl_sayings *sayings, const tsl_ranks *ranks);
/* All that counts of an operand. Its matrix and layout may be wrong in any way. */
void tsl_say_operand(tsl_sayings *sayings, const tsl_given *state, int ranks);
extern const char *const tsl_alpha_names[2], *const tsl_beta_names[2];
/* Adds a scalar's real and imaginary part, or `otherwise` where it is NULL. */
void tsl_say_scalar(tsl_sayings *sayings, const char *const names[2], const double *scalar, bool is_complex,
                    double otherwise);

/* What one rank can check of an operand by itself. TESELA_BAD_CALL, TESELA_UNSUPPORTED. */
tesela_status tsl_given_check(const tsl_given *state, int ranks);
/* alpha or beta, rounded to the type of the sums. TESELA_BAD_CALL where that is whole numbers, and it is
 * none. */
tesela_status tsl_given_scalar(const double *argument, const char *name, const tsl_type_info *sums,
                               double otherwise, double out[2]);

/* Makes parts of a job, operands before the result: exchanges rectangles, makes layouts, checks that the
 * result shares memory with nothing, and has all ranks agree on orders of messages. Called by all ranks,
 * whose arguments are alike and right; all return the same. tsl_parts_free() in any case. */
tesela_status tsl_parts_make(tsl_job *job, const tsl_given *state, int count);
/* Copies what this rank has of a part in a buffer to host memory, if that was not done: its elements where it
 * `reads`, else takes the memory alone. Of this rank alone. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_part_copy(const tsl_ranks *ranks, tsl_rank_part *part, bool reads);
/* What was computed of a part, back to where the caller has it. Called by all ranks; all return the same, and
 * where that is not TESELA_OK the part is lost. */
tesela_status tsl_part_store(tsl_ranks *ranks, const tsl_rank_part *part);
void tsl_parts_free(tsl_rank_part *parts, int count);

#endif

/* A library with ScaLAPACK's names that computes nothing. FAKE_PBLAS selects an additional fault:
 * alone (it sees one process, as another MPI's would), columns (its grid is column-major), wide
 * (its integers have 64 bits). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING(name)                                                                                        \
  void name(void);                                                                                           \
  void name(void) {}
NOTHING(psgemm_)
NOTHING(pdgemm_)
NOTHING(pcgemm_)
NOTHING(pzgemm_)
NOTHING(blacs_gridexit_)

void blacs_pinfo_(int32_t *rank, int32_t *count);
void blacs_get_(const int32_t *context, const int32_t *what, int32_t *value);
void blacs_gridinit_(int32_t *context, const char *order, const int32_t *rows, const int32_t *cols);
void blacs_gridinfo_(const int32_t *context, int32_t *rows, int32_t *cols, int32_t *row, int32_t *col);
int64_t numroc_(const int64_t *size, const int64_t *block, const int64_t *process, const int64_t *first,
                const int64_t *processes);

static int is(const char *word) {
  const char *said = getenv("FAKE_PBLAS");
  return said && strcmp(said, word) == 0;
}

static int32_t number(const char *item, const char *other) {
  const char *text = getenv(item) ? getenv(item) : getenv(other);
  return text ? (int32_t)strtol(text, NULL, 10) : -1;
}

static int32_t grid_rows, grid_cols;

void blacs_pinfo_(int32_t *rank, int32_t *count) {
  *rank = is("alone") ? 0 : number("OMPI_COMM_WORLD_RANK", "PMI_RANK");
  *count = is("alone") ? 1 : number("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");
}

void blacs_get_(const int32_t *context, const int32_t *what, int32_t *value) {
  (void)context;
  (void)what;
  *value = 0;
}

void blacs_gridinit_(int32_t *context, const char *order, const int32_t *rows, const int32_t *cols) {
  (void)context;
  (void)order;
  grid_rows = *rows;
  grid_cols = *cols;
}

void blacs_gridinfo_(const int32_t *context, int32_t *rows, int32_t *cols, int32_t *row, int32_t *col) {
  const int32_t rank = number("OMPI_COMM_WORLD_RANK", "PMI_RANK");
  (void)context;
  *rows = grid_rows;
  *cols = grid_cols;
  *row = is("columns") ? rank % grid_rows : rank / grid_cols;
  *col = is("columns") ? rank / grid_rows : rank % grid_cols;
}

int64_t numroc_(const int64_t *size, const int64_t *block, const int64_t *process, const int64_t *first,
                const int64_t *processes) {
  (void)block;
  (void)process;
  (void)first;
  (void)processes;
  return is("wide") ? *size : (int64_t)(int32_t)*size;
}

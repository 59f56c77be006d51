#include "cli/ranks.h"

#include "cli/library_paths.h"
#include "comm/comm_call.h"
#include "core/env.h"
#include "core/library.h"
#include "core/status.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Environment variables of MPI launchers: the number of processes, this process's rank, and the MPI
 * if the launcher belongs to one. */
static const struct starter {
  const char *size, *rank, *name, *mpi;
} starters[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun", "openmpi"},
    {"PMI_SIZE", "PMI_RANK", "MPICH's mpirun, or one like it,", "mpich"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun", ""},
};

static int64_t ranks_number_of(const char *variable) {
  const char *text = getenv(variable);
  int64_t number = 0;
  return text && tsl_parse_i64(text, &number) ? number : -1;
}

static const struct starter *find_starter(void) {
  for (size_t i = 0; i < sizeof starters / sizeof *starters; i++)
    if (ranks_number_of(starters[i].size) > 1 && ranks_number_of(starters[i].rank) >= 0)
      return &starters[i];
  return NULL;
}

bool tsl_ranks_started(void) {
  return strcmp(tsl_env_get(TSL_ENV_MPI), "none") != 0 && find_starter() != NULL;
}

bool tsl_ranks_is_speaker(void) {
  const struct starter *by = tsl_ranks_started() ? find_starter() : NULL;
  return !by || ranks_number_of(by->rank) == 0;
}

const char *tsl_ranks_mpi(void) {
  const struct starter *by = find_starter();
  return by ? by->mpi : "";
}

/* The functions taken from libtesela_mpi. Its messages come from its own copy of libtesela. */
static struct library {
  tesela_status (*world)(tsl_ranks **ranks);
  void (*end)(void);
  const char *(*last_error)(void);
  const tsl_ranks_calls *(*calls)(void);
} library;

static tsl_ranks *joined; /* NULL: MPI did not begin */

static const tsl_library_symbol symbols[] = {
    {"tesela_mpi_world", offsetof(struct library, world), 0},
    {"tesela_mpi_world_end", offsetof(struct library, end), 0},
    {"tesela_last_error", offsetof(struct library, last_error), 0},
    {"tesela_ranks_calls", offsetof(struct library, calls), 0},
};

/* Copies the message of a failure from the library to the tool. */
static tesela_status ranks_told(tesela_status status) {
  return status == TESELA_OK ? status : tsl_fail(status, "%s", library.last_error());
}

static tesela_status ranks_load(const struct starter *by) {
  static char beside[PATH_MAX];
  static const char file[] = "libtesela_mpi.so.2";
  const char *names[] = {file, NULL, NULL};
  const char *chosen = tsl_env_get(TSL_ENV_MPI);
  if (tsl_library_beside(file, beside) == TESELA_OK) {
    names[0] = beside;
    names[1] = file;
  }
  const tesela_status status = tsl_library_load("libtesela_mpi", *chosen ? chosen : NULL, names, symbols,
                                                sizeof symbols / sizeof *symbols, &library);
  if (status == TESELA_OK)
    return status;
  tsl_status_saved why;
  tsl_status_save(&why);
  return tsl_fail(
      status,
      "%s started %lld processes, which multiply together by libtesela_mpi, and that is not there (%s); with "
      "TESELA_MPI=none each would work for itself",
      by->name, (long long)ranks_number_of(by->size), why.sentence);
}

tesela_status tsl_ranks_join(tsl_ranks **ranks) {
  const struct starter *by = find_starter();
  *ranks = NULL;
  TSL_TRY(ranks_load(by));
  TSL_TRY(ranks_told(library.world(ranks)));
  joined = *ranks;
  if ((*ranks)->size != ranks_number_of(by->size))
    return tsl_fail(TESELA_UNSUPPORTED,
                    "%s started %lld processes, and libtesela_mpi's MPI sees %d: it was built for another "
                    "MPI; start the tool by "
                    "that one, or with TESELA_MPI=none, each for itself",
                    by->name, (long long)ranks_number_of(by->size), (*ranks)->size);
  return TESELA_OK;
}

tesela_status tsl_ranks_multiply(tsl_ranks *ranks, const tesela_mpi_desc *desc, tesela_mpi_record *record) {
  return ranks_told(
      library.calls()->gemm(ranks, NULL, desc, record, sizeof *desc, sizeof *desc->gemm, sizeof *record));
}

tesela_status tsl_ranks_open(const char *path, bool writes, tsl_ranks_file **file) {
  return ranks_told(joined->ops->files->open(joined, path, writes, file));
}

tesela_status tsl_ranks_close(tsl_ranks_file *file) {
  return file ? ranks_told(joined->ops->files->close(file)) : TESELA_OK;
}

size_t tsl_ranks_read(void *file, uint64_t place, void *data, size_t bytes) {
  return joined->ops->files->read(file, place, data, bytes);
}

size_t tsl_ranks_write(void *file, uint64_t place, const void *data, size_t bytes) {
  return joined->ops->files->write(file, place, data, bytes);
}

void tsl_ranks_leave(bool failed) {
  static const struct timespec moment = {.tv_nsec = 300000000};
  double least = 0;
  if (joined) {
    (void)joined->ops->least(joined, 0, &least); /* a barrier: no rank ends before all ranks arrive */
    library.end();
  } else if (failed && !tsl_ranks_is_speaker())
    nanosleep(&moment, NULL);
  joined = NULL;
}

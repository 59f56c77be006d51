/* Ranks that compute together: what src/comm needs of MPI, or of whatever stands in its place. An
 * implementation is a table of functions: comm/comm_threads.c has ranks that are threads of one process
 * (tests, and counting words); comm/mpi is the library libtesela_mpi.
 *
 * Messages belong to one of a few batches, which are waited for as a whole, so that the messages of the next
 * step travel while those of this one are computed with. Between two ranks, messages of one tag arrive in the
 * order in which they were sent.
 * Measurements: docs/lab/ranks.md. */
#ifndef TSL_COMM_COMM_H
#define TSL_COMM_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

enum {
  TSL_BATCH_STEPS, /* of even and odd steps */
  TSL_BATCH_SUMS = 2,
  TSL_BATCH_ALARM, /* from each neighbour (comm/failure_broadcast.h), and to all of them */
  TSL_BATCH_ALARM_TOLD = 6,
  TSL_BATCHES
};

typedef struct tsl_ranks tsl_ranks;

/* What a message, a byte and an operation are taken to cost where a grid is chosen (comm/comm_grid.h). */
typedef struct tsl_links {
  double seconds_message, bytes_second, operations_second;
} tsl_links;

/* A file that all ranks have open, of which each reads and writes what it likes, by itself: so nobody waits
 * in a read for one that failed in it (docs/lab/ranks.md has what MPI's collective ones do then). */
typedef struct tsl_ranks_file tsl_ranks_file;
typedef struct tsl_ranks_files {
  /* All ranks, each with a file that it can open by itself already: it exists, and `writes` is allowed. All
   * come to the same end, and *file is NULL after a failure. */
  tesela_status (*open)(tsl_ranks *ranks, const char *path, bool writes, tsl_ranks_file **file);
  /* One rank. Any number of bytes; returns how many were, from the first one on: fewer where the file ends,
   * and where it could not be, of which MPI does not always say why. */
  size_t (*read)(tsl_ranks_file *file, uint64_t place, void *data, size_t bytes);
  size_t (*write)(tsl_ranks_file *file, uint64_t place, const void *data, size_t bytes);
  /* All ranks, once each is done, NULL on all of them or on none; what was written is the system's then. */
  tesela_status (*close)(tsl_ranks_file *file);
} tsl_ranks_files;

/* All are called by one thread of a rank at a time. What fails here (a message that cannot be sent) has no
 * remedy: the other ranks may wait for ever, as MPI has it, and its error handler ends the job before. */
typedef struct tsl_ranks_ops {
  const char *name;
  /* Room for so many messages in a batch, which has none now. TESELA_OUT_OF_MEMORY. */
  tesela_status (*reserve)(tsl_ranks *ranks, int batch, int messages);
  /* Begin a message; the memory stays as it is until its batch was waited for. Not to itself. */
  tesela_status (*send)(tsl_ranks *ranks, int batch, int end, int tag, const void *data, size_t bytes);
  tesela_status (*receive)(tsl_ranks *ranks, int batch, int from, int tag, void *data, size_t bytes);
  /* Lets messages go on that need the processor for it, and tells whether all of the batch have arrived; it
   * is waited for all the same. */
  tesela_status (*progress)(tsl_ranks *ranks, int batch, int *done);
  /* Waits for all messages of the batch, and leaves it empty. */
  tesela_status (*wait)(tsl_ranks *ranks, int batch);
  /* The following are called by all ranks, with the same sizes and root, take no memory, and are not counted.
   * Every rank's `bytes` bytes, in the order of ranks; the root's; the least of all ranks' values. */
  tesela_status (*gather)(tsl_ranks *ranks, const void *state, size_t bytes, void *all);
  tesela_status (*broadcast)(tsl_ranks *ranks, int root, void *data, size_t bytes);
  tesela_status (*least)(tsl_ranks *ranks, double value, double *least);
  const tsl_ranks_files *files; /* NULL: each opens files for itself */
} tsl_ranks_ops;

struct tsl_ranks {
  const tsl_ranks_ops *ops;
  int rank, size;
  int version;            /* TESELA_VERSION_NUMBER of what made this struct */
  int host_ranks;         /* ranks on this rank's host, itself included */
  const tsl_links *links; /* the same figures on all ranks; NULL: tsl_links_default */
  uint64_t sent;          /* bytes of messages begun since the last reset, by the implementation */
  uint64_t received;      /* likewise */
  tesela_context
      *context; /* for calls that bring none; made when it is first needed, and freed by tesela_ranks_end() */
  struct tsl_lane *lane; /* of the ranks' devices (comm/gpu_transport.h), likewise */
};

#endif

/* Interface of src/comm to message passing. An implementation is a table of functions. There are two:
 *
 * comm/comm_threads.c  Ranks are threads of one process (for tests, and to count transferred words).
 * comm/mpi             Ranks are MPI processes, in the library libtesela_mpi.
 *
 * Each message belongs to a batch. A batch is waited for as a whole, so that the messages of the next step
 * travel during the computation of the current step. Messages with one tag between two ranks arrive in the
 * order in which they were sent.
 * Measurements: docs/lab/ranks.md. */
#ifndef TSL_COMM_COMM_H
#define TSL_COMM_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

enum {
  TSL_BATCH_STEPS, /* batches 0 and 1: messages of even and of odd steps */
  TSL_BATCH_SUMS = 2,
  TSL_BATCH_ALARM, /* batches 3 to 5: messages from each neighbour (comm/failure_broadcast.h) */
  /* messages to the neighbours */
  TSL_BATCH_ALARM_TOLD = 6,
  TSL_BATCHES
};

typedef struct tsl_ranks tsl_ranks;

/* Cost model of an operation and of a message, used to choose a grid (comm/comm_grid.h). */
typedef struct tsl_links {
  double seconds_message, bytes_second, operations_second;
} tsl_links;

/* File that all ranks have open. Each rank reads and writes independently of the others. Collective
 * reads are not used: they hang when one rank fails (docs/lab/ranks.md). */
typedef struct tsl_ranks_file tsl_ranks_file;
typedef struct tsl_ranks_files {
  /* Opens an existing file on all ranks. Collective. Each rank must be able to open the file on its
   * own. All ranks return the same status. *file is NULL after a failure. */
  tesela_status (*open)(tsl_ranks *ranks, const char *path, bool writes, tsl_ranks_file **file);
  /* Reads up to `bytes` bytes from byte `place`. Not collective. Returns the number of bytes read,
   * which is smaller at the end of the file or after an error. */
  size_t (*read)(tsl_ranks_file *file, uint64_t place, void *data, size_t bytes);
  /* Writes like read; a smaller result means an error. */
  size_t (*write)(tsl_ranks_file *file, uint64_t place, const void *data, size_t bytes);
  /* Closes the file and flushes it to the operating system. Collective. The file is NULL on all
   * ranks or on none. */
  tesela_status (*close)(tsl_ranks_file *file);
} tsl_ranks_files;

/* Functions that one thread of a rank calls at a time. A failed message has no remedy: other ranks
 * may wait for ever. MPI's error handler ends the job before that. */
typedef struct tsl_ranks_ops {
  const char *name;
  /* Reserves room for `messages` messages in an empty batch. TESELA_OUT_OF_MEMORY. */
  tesela_status (*reserve)(tsl_ranks *ranks, int batch, int messages);
  /* Begins to send a message to rank `end`, which is another rank. The memory must not change until
   * the batch was waited for. */
  tesela_status (*send)(tsl_ranks *ranks, int batch, int end, int tag, const void *data, size_t bytes);
  /* Begins to receive a message from rank `from`, which is another rank. */
  tesela_status (*receive)(tsl_ranks *ranks, int batch, int from, int tag, void *data, size_t bytes);
  /* Advances messages and sets *done to whether all messages of the batch have arrived. The batch
   * must be waited for in any case. */
  tesela_status (*progress)(tsl_ranks *ranks, int batch, int *done);
  /* Waits for all messages of the batch and empties it. */
  tesela_status (*wait)(tsl_ranks *ranks, int batch);
  /* Gathers `bytes` bytes of each rank into `all`, in order of ranks. Collective, as are broadcast
   * and least: all ranks call them with equal sizes and root. The three take no memory, and their
   * bytes are not counted. */
  tesela_status (*gather)(tsl_ranks *ranks, const void *state, size_t bytes, void *all);
  /* Copies the root's data to all ranks. */
  tesela_status (*broadcast)(tsl_ranks *ranks, int root, void *data, size_t bytes);
  /* Sets *least to the minimum of the values of all ranks. */
  tesela_status (*least)(tsl_ranks *ranks, double value, double *least);
  const tsl_ranks_files *files; /* NULL: each rank opens files by itself */
} tsl_ranks_ops;

struct tsl_ranks {
  const tsl_ranks_ops *ops;
  int rank, size;
  int version;             /* TESELA_VERSION_NUMBER of the library that made the struct */
  int host_ranks;          /* number of ranks on the host of this rank, itself included */
  const tsl_links *links;  /* equal on all ranks; NULL: tsl_links_default */
  uint64_t sent;           /* bytes of messages sent since the last reset; counted by the implementation */
  uint64_t received;       /* bytes of messages received since the last reset */
  tesela_context *context; /* context for calls without one; made at first use, freed by tesela_ranks_end() */
  /* transport between the ranks' devices (comm/gpu_transport.h); made and freed like `context` */
  struct tsl_lane *lane;
};

#endif

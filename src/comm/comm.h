/* Interface of src/comm to message passing: a table of functions. In comm/mpi, ranks are MPI processes (the
 * library libtesela_mpi); in tests/comm/comm_threads.c they are threads of one process.
 *
 * A batch of messages is waited for as a whole, so the next step's messages travel during the computation of
 * the current step. Messages with one tag between two ranks keep their order. Measurements:
 * docs/lab/ranks.md. */
#ifndef TSL_COMM_COMM_H
#define TSL_COMM_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

enum {
  TSL_BATCH_STEPS, /* batches 0 and 1: messages of even and of odd steps */
  TSL_BATCH_SUMS = 2,
  TSL_BATCH_ALARM,          /* batches 3 to 5: messages from each neighbour (comm/gpu_transport.c) */
  TSL_BATCH_ALARM_SENT = 6, /* messages to neighbours */
  TSL_BATCHES
};

typedef struct tsl_ranks tsl_ranks;

/* Cost model of operations and messages, to choose a grid (comm/comm_grid.h). */
typedef struct tsl_links {
  double seconds_per_message, bytes_per_second, operations_per_second;
} tsl_links;

/* File that all ranks have open and access independently: collective reads hang when one rank fails. */
typedef struct tsl_ranks_file tsl_ranks_file;
typedef struct tsl_ranks_files {
  /* Opens an existing file. Collective: all ranks return one status; *file is NULL after a failure. */
  tesela_status (*open)(tsl_ranks *ranks, const char *path, bool writes, tsl_ranks_file **file);
  /* Reads up to `bytes` bytes from byte `offset`. Returns the bytes read: fewer at the file's end or after an
   * error. */
  size_t (*read)(tsl_ranks_file *file, uint64_t offset, void *data, size_t bytes);
  /* Writes like read; a smaller result means an error. */
  size_t (*write)(tsl_ranks_file *file, uint64_t offset, const void *data, size_t bytes);
  /* Closes and flushes the file. Collective. The file is NULL on all ranks or on none. */
  tesela_status (*close)(tsl_ranks_file *file);
} tsl_ranks_files;

/* Functions that one thread of a rank calls at a time. A failed message has no remedy: other ranks may wait
 * for ever, unless MPI's error handler ends the job. */
typedef struct tsl_ranks_ops {
  const char *name;
  /* Reserves room for messages in an empty batch. TESELA_OUT_OF_MEMORY. */
  tesela_status (*reserve)(tsl_ranks *ranks, int batch, int messages);
  /* Begins to send to another rank. The memory must not change until the batch was waited for. */
  tesela_status (*send)(tsl_ranks *ranks, int batch, int destination, int tag, const void *data,
                        size_t bytes);
  /* Begins to receive from another rank. */
  tesela_status (*receive)(tsl_ranks *ranks, int batch, int from, int tag, void *data, size_t bytes);
  /* Sets *done to whether all messages of the batch have arrived. The batch must still be waited for. */
  tesela_status (*progress)(tsl_ranks *ranks, int batch, int *done);
  /* Waits for all messages of the batch and empties it. */
  tesela_status (*wait)(tsl_ranks *ranks, int batch);
  /* Gathers `bytes` bytes of each rank, in order of ranks. gather, broadcast and least are collective, take
   * no memory, and are not counted. */
  tesela_status (*gather)(tsl_ranks *ranks, const void *data, size_t bytes, void *all);
  tesela_status (*broadcast)(tsl_ranks *ranks, int root, void *data, size_t bytes);
  /* Sets *least to the minimum over all ranks. */
  tesela_status (*least)(tsl_ranks *ranks, double value, double *least);
  const tsl_ranks_files *files; /* NULL: each rank opens files by itself */
} tsl_ranks_ops;

struct tsl_ranks {
  const tsl_ranks_ops *ops;
  int rank, size;
  int version;             /* TESELA_VERSION_NUMBER of the struct's library */
  int host_ranks;          /* ranks on this host, itself included */
  const tsl_links *links;  /* equal on all ranks; NULL: tsl_links_default */
  uint64_t sent;           /* bytes sent since the last reset; counted by the implementation */
  uint64_t received;       /* bytes received since the last reset */
  tesela_context *context; /* for calls without one; made at first use, freed by tsl_ranks_end() */
  struct tsl_gpu_transport
      *transport; /* transport between devices (comm/gpu_transport.h); freed like `context` */
};

#endif

/* Ranks of an MPI communicator. They are its attribute, freed with it or at the end of MPI, and use a
 * duplicate, so that no message meets the caller's. */
#include <tesela/tesela_mpi.h>

#include "comm/comm_call.h"
#include "comm/world.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK (1 << 20)              /* bytes: MPI's counts are ints */
#define FILE_CHUNK ((size_t)1 << 30) /* bytes of a file transfer */

typedef struct requests {
  MPI_Request *list;
  int count, capacity;
} requests;

typedef struct mpi_ranks {
  tsl_ranks ranks;     /* first: both addresses are equal */
  MPI_Comm home, copy; /* the caller's communicator; its duplicate, for messages */
  requests batches[TSL_BATCHES];
  struct mpi_ranks *next;
} mpi_ranks;

/* No lock: the program lets one thread at a time call MPI. */
static int key = MPI_KEYVAL_INVALID, key_of_end = MPI_KEYVAL_INVALID;
static mpi_ranks *all_ranks;

/* Converts MPI's result. Most programs' error handler ends the job before a failure is returned. */
static tesela_status mpi_check(int code) {
  if (code == MPI_SUCCESS)
    return TESELA_OK;
  char sentence[MPI_MAX_ERROR_STRING + 16] = "MPI: ";
  int length = 0;
  MPI_Error_string(code, sentence + strlen(sentence), &length);
  return tesela_ranks_calls()->fail(TESELA_DEVICE_FAILED, sentence);
}

static mpi_ranks *self_of(tsl_ranks *ranks) {
  return (mpi_ranks *)ranks;
}

static tesela_status mpi_reserve(tsl_ranks *ranks, int batch, int messages) {
  requests *r = &self_of(ranks)->batches[batch];
  if (messages > INT_MAX / 2)
    return tesela_ranks_calls()->fail(TESELA_OUT_OF_MEMORY, "more messages than MPI can count");
  if (2 * messages <= r->capacity)
    return TESELA_OK;
  MPI_Request *more = malloc(2 * (size_t)messages * sizeof *more);
  if (!more)
    return tesela_ranks_calls()->fail(TESELA_OUT_OF_MEMORY, "out of memory for MPI's requests");
  free(r->list);
  *r = (requests){more, 0, 2 * messages};
  return TESELA_OK;
}

/* Begins whole chunks, then the remaining bytes; messages of one tag keep their order. */
static tesela_status mpi_begin(mpi_ranks *self, int batch, int other, int tag, void *data, size_t bytes,
                               int is_send) {
  requests *r = &self->batches[batch];
  size_t done = 0;
  int code = MPI_SUCCESS;
  if (r->count + 2 > r->capacity)
    return tesela_ranks_calls()->fail(TESELA_INTERNAL, "more messages than were reserved");
  if (bytes > INT_MAX) {
    MPI_Datatype chunk;
    const size_t chunks = bytes / CHUNK;
    done = chunks * CHUNK;
    MPI_Type_contiguous(CHUNK, MPI_BYTE, &chunk);
    MPI_Type_commit(&chunk);
    code = is_send ? MPI_Isend(data, (int)chunks, chunk, other, tag, self->copy, &r->list[r->count++])
                   : MPI_Irecv(data, (int)chunks, chunk, other, tag, self->copy, &r->list[r->count++]);
    MPI_Type_free(&chunk);
  }
  if (code == MPI_SUCCESS && (done < bytes || done == 0)) {
    char *rest = (char *)data + done;
    const int count = (int)(bytes - done);
    code = is_send ? MPI_Isend(rest, count, MPI_BYTE, other, tag, self->copy, &r->list[r->count++])
                   : MPI_Irecv(rest, count, MPI_BYTE, other, tag, self->copy, &r->list[r->count++]);
  }
  return mpi_check(code);
}

static tesela_status mpi_send_message(tsl_ranks *ranks, int batch, int destination, int tag, const void *data,
                                      size_t bytes) {
  union {
    const void *read;
    void *any;
  } memory = {data};
  ranks->sent += bytes;
  return mpi_begin(self_of(ranks), batch, destination, tag, memory.any, bytes, 1);
}

static tesela_status mpi_receive_message(tsl_ranks *ranks, int batch, int from, int tag, void *data,
                                         size_t bytes) {
  ranks->received += bytes;
  return mpi_begin(self_of(ranks), batch, from, tag, data, bytes, 0);
}

static tesela_status mpi_progress(tsl_ranks *ranks, int batch, int *done) {
  requests *r = &self_of(ranks)->batches[batch];
  *done = 1;
  return r->count == 0 ? TESELA_OK : mpi_check(MPI_Testall(r->count, r->list, done, MPI_STATUSES_IGNORE));
}

static tesela_status mpi_wait_batch(tsl_ranks *ranks, int batch) {
  requests *r = &self_of(ranks)->batches[batch];
  const int count = r->count;
  r->count = 0;
  return count == 0 ? TESELA_OK : mpi_check(MPI_Waitall(count, r->list, MPI_STATUSES_IGNORE));
}

static tesela_status mpi_gather(tsl_ranks *ranks, const void *data, size_t bytes, void *all) {
  if (bytes > INT_MAX)
    return tesela_ranks_calls()->fail(TESELA_OUT_OF_MEMORY, "more rectangles than MPI can count");
  return mpi_check(
      MPI_Allgather(data, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, self_of(ranks)->copy));
}

static tesela_status mpi_broadcast(tsl_ranks *ranks, int root, void *data, size_t bytes) {
  return mpi_check(MPI_Bcast(data, (int)bytes, MPI_BYTE, root, self_of(ranks)->copy));
}

static tesela_status mpi_least(tsl_ranks *ranks, double value, double *out) {
  return mpi_check(MPI_Allreduce(&value, out, 1, MPI_DOUBLE, MPI_MIN, self_of(ranks)->copy));
}

struct tsl_ranks_file {
  MPI_File handle;
  char name[];
};

/* Converts the result of a file call; MPI returns file errors by default. */
static tesela_status mpi_check_file(const char *name, int code) {
  char why[MPI_MAX_ERROR_STRING] = "", sentence[MPI_MAX_ERROR_STRING + 512];
  int length = 0;
  if (code == MPI_SUCCESS)
    return TESELA_OK;
  MPI_Error_string(code, why, &length);
  snprintf(sentence, sizeof sentence, "%.400s: MPI: %s", name, why);
  return tesela_ranks_calls()->fail(TESELA_IO_FAILED, sentence);
}

/* Returns this rank's failure; else a general one if another rank failed. Collective. */
static tesela_status mpi_agree(tsl_ranks *ranks, tesela_status status_in) {
  double well = 0;
  const tesela_status status = mpi_least(ranks, status_in == TESELA_OK, &well);
  if (status_in != TESELA_OK || status != TESELA_OK || well > 0)
    return status_in != TESELA_OK ? status_in : status;
  return tesela_ranks_calls()->fail(TESELA_IO_FAILED, "MPI opened a file on some of the ranks only");
}

/* Prepends "./": ROMIO reads "nfs:a.npy" as file system and name, but not after a folder. */
static tesela_status make_file(const char *path, tsl_ranks_file **out) {
  static const char here[] = "./";
  tsl_ranks_file *file = malloc(sizeof *file + sizeof here + strlen(path));
  *out = file;
  if (!file)
    return tesela_ranks_calls()->fail(TESELA_OUT_OF_MEMORY, "out of memory for a file");
  strcpy(file->name, path[0] == '/' ? "" : here);
  strcat(file->name, path);
  return TESELA_OK;
}

/* Opens a file on all ranks. Closing is collective: a file that only some could open stays open. */
static tesela_status mpi_open_file(tsl_ranks *ranks, const char *path, bool writes, tsl_ranks_file **out) {
  tsl_ranks_file *file;
  const int mode = writes ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
  tesela_status status = mpi_agree(ranks, make_file(path, &file));
  if (status == TESELA_OK)
    status = mpi_agree(ranks, mpi_check_file(path, MPI_File_open(self_of(ranks)->copy, file->name, mode,
                                                                 MPI_INFO_NULL, &file->handle)));
  if (status != TESELA_OK) {
    free(file);
    file = NULL;
  }
  *out = file;
  return status;
}

/* Counts a block only if MPI moved it completely: after a partial transfer, MPI may have skipped bytes. */
static size_t mpi_transfer(tsl_ranks_file *file, uint64_t offset, void *data, size_t bytes, bool writes) {
  size_t done = 0;
  while (done < bytes) {
    const int count = (int)(bytes - done < FILE_CHUNK ? bytes - done : FILE_CHUNK);
    const MPI_Offset at = (MPI_Offset)(offset + done);
    MPI_Status about;
    int moved = 0;
    const int code = writes
                         ? MPI_File_write_at(file->handle, at, (char *)data + done, count, MPI_BYTE, &about)
                         : MPI_File_read_at(file->handle, at, (char *)data + done, count, MPI_BYTE, &about);
    if (code != MPI_SUCCESS || MPI_Get_count(&about, MPI_BYTE, &moved) != MPI_SUCCESS || moved != count)
      break;
    done += (size_t)count;
  }
  return done;
}

static size_t mpi_read_file(tsl_ranks_file *file, uint64_t offset, void *data, size_t bytes) {
  return mpi_transfer(file, offset, data, bytes, false);
}

static size_t mpi_write_file(tsl_ranks_file *file, uint64_t offset, const void *data, size_t bytes) {
  union {
    const void *read;
    void *any;
  } memory = {data};
  return mpi_transfer(file, offset, memory.any, bytes, true);
}

static tesela_status close_file(tsl_ranks_file *file) {
  if (!file)
    return TESELA_OK;
  const tesela_status status = mpi_check_file(file->name, MPI_File_close(&file->handle));
  free(file);
  return status;
}

static const tsl_ranks_files mpi_files = {
    .open = mpi_open_file, .read = mpi_read_file, .write = mpi_write_file, .close = close_file};

static const tsl_ranks_ops mpi_ops = {
    .name = "MPI",
    .reserve = mpi_reserve,
    .send = mpi_send_message,
    .receive = mpi_receive_message,
    .progress = mpi_progress,
    .wait = mpi_wait_batch,
    .gather = mpi_gather,
    .broadcast = mpi_broadcast,
    .least = mpi_least,
    .files = &mpi_files,
};

/* Frees the ranks of a communicator that is freed or loses its attribute. */
static int mpi_forget(MPI_Comm communicator, int keyval, void *value, void *extra) {
  (void)communicator, (void)keyval, (void)extra;
  mpi_ranks *self = value;
  for (mpi_ranks **at = &all_ranks; *at; at = &(*at)->next)
    if (*at == self) {
      *at = self->next;
      break;
    }
  for (int i = 0; i < TSL_BATCHES; i++)
    free(self->batches[i].list);
  tesela_ranks_calls()->end(&self->ranks);
  const int code = MPI_Comm_free(&self->copy);
  free(self);
  return code;
}

/* Frees all ranks: MPI deletes the attributes of MPI_COMM_SELF first, while it still works. */
static int mpi_forget_all(MPI_Comm communicator, int keyval, void *value, void *extra) {
  (void)communicator, (void)keyval, (void)value, (void)extra;
  while (all_ranks)
    MPI_Comm_delete_attr(all_ranks->home, key);
  return MPI_SUCCESS;
}

static tesela_status make_keys(void) {
  if (key != MPI_KEYVAL_INVALID)
    return TESELA_OK;
  if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, mpi_forget, &key, NULL) != MPI_SUCCESS ||
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, mpi_forget_all, &key_of_end, NULL) != MPI_SUCCESS ||
      MPI_Comm_set_attr(MPI_COMM_SELF, key_of_end, NULL) != MPI_SUCCESS)
    return tesela_ranks_calls()->fail(TESELA_DEVICE_FAILED,
                                      "MPI could not create an attribute of communicators");
  return TESELA_OK;
}

static int ranks_of_host(MPI_Comm communicator) {
  MPI_Comm host;
  int count = 1;
  if (MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) == MPI_SUCCESS) {
    MPI_Comm_size(host, &count);
    MPI_Comm_free(&host);
  }
  return count;
}

/* Makes ranks on a duplicate of the communicator, which then owns them. Collective. */
static tesela_status mpi_make(MPI_Comm communicator, mpi_ranks **out) {
  mpi_ranks *self = calloc(1, sizeof *self);
  if (!self)
    return tesela_ranks_calls()->fail(TESELA_OUT_OF_MEMORY, "out of memory for a communicator");
  self->home = communicator;
  tesela_status status = mpi_check(MPI_Comm_dup(communicator, &self->copy));
  if (status != TESELA_OK) {
    free(self);
    return status;
  }
  self->ranks.ops = &mpi_ops;
  self->ranks.version = TESELA_VERSION_NUMBER;
  MPI_Comm_rank(self->copy, &self->ranks.rank);
  MPI_Comm_size(self->copy, &self->ranks.size);
  self->ranks.host_ranks = ranks_of_host(self->copy);
  self->next = all_ranks;
  all_ranks = self;
  *out = self;
  return mpi_check(MPI_Comm_set_attr(communicator, key, self));
}

/* Finds the ranks of a communicator; its first call makes them and is collective. */
static tesela_status mpi_find(MPI_Comm communicator, tsl_ranks **out) {
  int initialized = 0, finalized = 0, found = 0, inter = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized)
    return tesela_ranks_calls()->fail(
        TESELA_BAD_CALL, initialized ? "MPI was finalized" : "MPI is not initialized: call MPI_Init() first");
  if (communicator == MPI_COMM_NULL)
    return tesela_ranks_calls()->fail(TESELA_BAD_CALL, "the communicator is MPI_COMM_NULL");
  if (MPI_Comm_test_inter(communicator, &inter) != MPI_SUCCESS || inter)
    return tesela_ranks_calls()->fail(TESELA_BAD_CALL, "the communicator has two groups");
  tesela_status status = make_keys();
  if (status != TESELA_OK)
    return status;
  mpi_ranks *self = NULL;
  status = mpi_check(MPI_Comm_get_attr(communicator, key, &self, &found));
  if (status == TESELA_OK && !found)
    status = mpi_make(communicator, &self);
  if (status == TESELA_OK)
    *out = &self->ranks;
  return status;
}

tesela_status tesela_mpi_gemm_sized(MPI_Comm communicator, tesela_context *context,
                                    const tesela_mpi_desc *desc, tesela_mpi_record *record, size_t desc_size,
                                    size_t gemm_size, size_t record_size) {
  tsl_ranks *ranks = NULL;
  const tesela_status status = mpi_find(communicator, &ranks);
  return status != TESELA_OK
             ? status
             : tesela_ranks_calls()->gemm(ranks, context, desc, record, desc_size, gemm_size, record_size);
}

tesela_status tesela_mpi_transpose_sized(MPI_Comm communicator, tesela_context *context,
                                         const tesela_mpi_transpose_desc *desc, tesela_mpi_record *record,
                                         size_t desc_size, size_t record_size) {
  tsl_ranks *ranks = NULL;
  const tesela_status status = mpi_find(communicator, &ranks);
  return status != TESELA_OK
             ? status
             : tesela_ranks_calls()->transpose(ranks, context, desc, record, desc_size, record_size);
}

static int must_finalize;

tesela_status tesela_mpi_world(tsl_ranks **ranks) {
  int initialized = 0, level = 0;
  *ranks = NULL;
  MPI_Initialized(&initialized);
  if (!initialized && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
    return tesela_ranks_calls()->fail(TESELA_DEVICE_FAILED, "MPI did not begin");
  must_finalize = must_finalize || !initialized;
  return mpi_find(MPI_COMM_WORLD, ranks);
}

void tesela_mpi_world_end(void) {
  if (must_finalize)
    MPI_Finalize();
  must_finalize = 0;
}

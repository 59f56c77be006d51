/* The grid is an attribute of the BLACS context's communicator, freed when the program ends the context. */
#include "scalapack/scalapack_grid.h"

#include "core/affinity.h"
#include "core/cancel.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/hash.h"
#include "core/library.h"
#include "core/text.h"
#include "interpose/next_symbol.h"
#include "scalapack/width.h"

#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Processes of a job without this library: a collective call of the others would wait for ever. */
typedef struct tsl_scalapack_processes {
  int rank_without_library; /* rank in MPI_COMM_WORLD of the first process; -1: none known */
  bool all_on_this_host;
  bool is_first; /* the caller is the first process with the library */
} tsl_scalapack_processes;

typedef enum library_state { NOT_SEEN, WITHOUT, WITH } library_state;

typedef struct processes_search {
  char pmix_namespace[256];
  char library_file[256];
  library_state *states; /* by rank in MPI_COMM_WORLD */
  int count;             /* ranks of MPI_COMM_WORLD */
} processes_search;

/* Reads a file of /proc with a terminating 0, which the caller frees; NULL on failure. */
static char *processes_read_whole(const char *folder, const char *name, size_t *size) {
  char path[320];
  tsl_text text = {0};
  char piece[4096];
  snprintf(path, sizeof path, "/proc/%.200s/%.40s", folder, name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return NULL;
  for (ssize_t got; (got = read(file, piece, sizeof piece)) > 0;)
    tsl_text_add_bytes(&text, piece, (size_t)got);
  close(file);
  *size = text.length;
  return tsl_text_take(&text);
}

/* Returns a variable's value in zero-terminated NAME=VALUE entries; NULL: none. */
static const char *find_variable(const char *list, size_t size, const char *name) {
  const size_t length = strlen(name);
  for (size_t at = 0; at < size; at += strlen(list + at) + 1)
    if (strncmp(list + at, name, length) == 0 && list[at + length] == '=')
      return list + at + length + 1;
  return NULL;
}

/* Returns a process's rank in MPI_COMM_WORLD by its PMIX_RANK; -1 for processes of other jobs. */
static int rank_of(const processes_search *s, const char *process) {
  size_t size = 0;
  int64_t rank = -1;
  char *list = processes_read_whole(process, "environ", &size);
  const char *pmix_namespace = list ? find_variable(list, size, "PMIX_NAMESPACE") : NULL;
  const char *number = list ? find_variable(list, size, "PMIX_RANK") : NULL;
  if (!pmix_namespace || !number || strcmp(pmix_namespace, s->pmix_namespace) != 0 ||
      !tsl_parse_i64(number, &rank) || rank >= s->count)
    rank = -1;
  free(list);
  return (int)rank;
}

/* Records if a process with an MPI library has this library; a shell may have the program's rank, too. */
static void record_process(processes_search *s, const char *process) {
  const int rank = rank_of(s, process);
  size_t size = 0;
  char *maps = rank < 0 ? NULL : processes_read_whole(process, "maps", &size);
  if (maps && strstr(maps, s->library_file))
    s->states[rank] = WITH;
  else if (maps && strstr(maps, "/libmpi") && s->states[rank] == NOT_SEEN)
    s->states[rank] = WITHOUT;
  free(maps);
}

static void address_in_this_library(void) {}

/* Sets the job and this library's name. Returns false if MPI's environment does not show the job. */
static bool processes_init_search(processes_search *s) {
  const char *pmix_namespace = tsl_env_foreign("PMIX_NAMESPACE");
  char path[4096];
  tsl_library_file(address_in_this_library, path, sizeof path);
  const char *slash = strrchr(path, '/');
  if (!pmix_namespace || !slash || strlen(slash) >= sizeof s->library_file ||
      strlen(pmix_namespace) >= sizeof s->pmix_namespace ||
      MPI_Comm_size(MPI_COMM_WORLD, &s->count) != MPI_SUCCESS)
    return false;
  strcpy(s->pmix_namespace, pmix_namespace);
  strcpy(s->library_file, slash);
  s->states = calloc((size_t)s->count, sizeof *s->states);
  return s->states != NULL;
}

static void scan_processes(processes_search *s) {
  DIR *folder = opendir("/proc");
  if (!folder)
    return;
  for (const struct dirent *entry; (entry = readdir(folder));)
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
      record_process(s, entry->d_name);
  closedir(folder);
}

/* Gets ranks in MPI_COMM_WORLD in `out`; MPI_UNDEFINED for another job. `ranks_in_comm`: work array. */
static bool find_ranks(MPI_Comm comm, int count, int *ranks_in_comm, int *out) {
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  for (int i = 0; i < count; i++)
    ranks_in_comm[i] = i;
  const bool found = MPI_Comm_group(comm, &group) == MPI_SUCCESS &&
                     MPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS &&
                     MPI_Group_translate_ranks(group, count, ranks_in_comm, world, out) == MPI_SUCCESS;
  if (group != MPI_GROUP_NULL)
    MPI_Group_free(&group);
  if (world != MPI_GROUP_NULL)
    MPI_Group_free(&world);
  return found;
}

/* Evaluates the states of the communicator's processes. */
static void processes_set_result(const processes_search *s, MPI_Comm comm, tsl_scalapack_processes *out) {
  int count = 0, rank = 0, first_with = -1;
  (void)MPI_Comm_size(comm, &count);
  (void)MPI_Comm_rank(comm, &rank);
  int *ranks = malloc(2 * (size_t)count * sizeof *ranks + 1);
  out->all_on_this_host = ranks && find_ranks(comm, count, ranks + count, ranks);
  for (int i = 0; out->all_on_this_host && i < count; i++)
    out->all_on_this_host = ranks[i] != MPI_UNDEFINED;
  const bool is_known = out->all_on_this_host;
  for (int i = 0; is_known && i < count; i++) {
    const library_state state_of = s->states[ranks[i]];
    out->all_on_this_host = out->all_on_this_host && state_of != NOT_SEEN;
    if (state_of == WITHOUT && out->rank_without_library < 0)
      out->rank_without_library = ranks[i];
    if (state_of == WITH && first_with < 0)
      first_with = i;
  }
  out->is_first = first_with == rank;
  free(ranks);
}

/* Inspects this host's processes by /proc, without messages. Finds none without the library if the system or
 * MPI's environment does not show them. */
static tsl_scalapack_processes scalapack_inspect_processes(MPI_Comm comm) {
  /* One search is enough: libraries are loaded before a process joins a grid. Needs a lock. */
  static processes_search known;
  static bool is_known, has_looked;
  tsl_scalapack_processes out = {.rank_without_library = -1};
  if (!has_looked) {
    has_looked = true;
    is_known = processes_init_search(&known);
    if (is_known)
      scan_processes(&known);
  }
  if (is_known)
    processes_set_result(&known, comm, &out);
  return out;
}

enum { GET_COMMUNICATOR = 10 }; /* blacs_get(): system handle of the communicator */

static int64_t scalapack_grid_integer(tsl_scalapack_word word) {
  return tsl_scalapack_integer(&word, 0);
}

bool tsl_scalapack_find_position(int64_t context, tsl_scalapack_position *position) {
  typedef void gridinfo(const void *, void *, void *, void *, void *);
  static tsl_lazy_symbol late;
  gridinfo *ask = (gridinfo *)tsl_interpose_program(&late, "blacs_gridinfo_");
  if (!ask)
    return false;
  const tsl_scalapack_word number = tsl_scalapack_word_of(context);
  tsl_scalapack_word rows = {.wide = 0}, cols = rows, row = rows, col = rows;
  ask(&number, &rows, &cols, &row, &col);
  *position = (tsl_scalapack_position){(int)scalapack_grid_integer(rows), (int)scalapack_grid_integer(cols),
                                       (int)scalapack_grid_integer(row), (int)scalapack_grid_integer(col)};
  return position->rows > 0 && position->cols > 0 && position->row >= 0 && position->row < position->rows &&
         position->col >= 0 && position->col < position->cols;
}

/* Returns MPI_COMM_NULL if BLACS does not tell the communicator, or if it has other processes. */
static MPI_Comm communicator_of(int64_t context, const tsl_scalapack_position *position) {
  typedef void get(const void *, const void *, void *);
  typedef int64_t to_system(const void *);
  static tsl_lazy_symbol late_get, late_system;
  get *ask = (get *)tsl_interpose_program(&late_get, "blacs_get_");
  to_system *translate = (to_system *)tsl_interpose_program(&late_system, "blacs2sys_handle_");
  const tsl_scalapack_word number = tsl_scalapack_word_of(context),
                           what = tsl_scalapack_word_of(GET_COMMUNICATOR);
  tsl_scalapack_word handle = {.wide = 0};
  if (!ask)
    return MPI_COMM_NULL;
  ask(&number, &what, &handle);
  /* Fortran handles have 32 bits with any integer width. */
  const int64_t system = translate ? translate(&handle) : scalapack_grid_integer(handle);
  const MPI_Comm comm = MPI_Comm_f2c((MPI_Fint)system);
  int size = 0, inter = 0;
  if (comm == MPI_COMM_NULL || MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ||
      MPI_Comm_size(comm, &size) != MPI_SUCCESS || size != position->rows * position->cols)
    return MPI_COMM_NULL;
  return comm;
}

static int scalapack_grid_free(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)extra;
  free(value);
  return MPI_SUCCESS;
}

static int get_attribute_key(void) {
  static int key = MPI_KEYVAL_INVALID;
  if (key == MPI_KEYVAL_INVALID)
    (void)MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, scalapack_grid_free, &key, NULL);
  return key;
}

/* Members have eight bytes. */
typedef struct grid_report {
  int64_t position;          /* row * columns + column */
  int64_t settings;          /* tsl_scalapack_settings() of the process */
  uint64_t host, processors; /* equal only on one host and one set of processors */
} grid_report;
enum { WORDS = sizeof(grid_report) / sizeof(int64_t) };

static grid_report make_report(const tsl_scalapack_position *position, int64_t settings) {
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  (void)MPI_Get_processor_name(name, &length);
  return (grid_report){.position = (int64_t)position->row * position->cols + position->col,
                       .settings = settings,
                       .host = tsl_hash_add(tsl_hash_start(), name, (size_t)length).low,
                       .processors = tsl_affinity_hash()};
}

/* Sets grid->ranks. Returns false if `settings` differs between processes or two have one position. */
static bool check_reports(tsl_scalapack_grid *grid, const grid_report *all) {
  const int count = grid->rows * grid->cols;
  for (int i = 0; i < count; i++)
    grid->ranks[i] = -1;
  for (int rank = 0; rank < count; rank++) {
    if (all[rank].settings != all[0].settings || all[rank].position < 0 || all[rank].position >= count ||
        grid->ranks[all[rank].position] >= 0)
      return false;
    grid->ranks[all[rank].position] = rank;
  }
  return true;
}

/* Gathers all reports; sets ranks and sharing. Returns false if check_reports() does. Collective. */
static bool exchange_reports(tsl_scalapack_grid *grid, const tsl_scalapack_position *position,
                             int64_t settings, grid_report *all) {
  const grid_report mine = make_report(position, settings);
  if (MPI_Allgather(&mine, WORDS, MPI_INT64_T, all, WORDS, MPI_INT64_T, grid->comm) != MPI_SUCCESS ||
      !check_reports(grid, all))
    return false;
  for (int rank = 0; rank < grid->rows * grid->cols; rank++)
    grid->sharing += all[rank].host == mine.host && all[rank].processors == mine.processors;
  return true;
}

/* Waits for a collective call. After 20 s a line on stderr names a probable reason: a missing library. */
static bool scalapack_grid_wait_for_all(MPI_Request *request, const tsl_scalapack_position *position) {
  static const double patience = 20;
  static const struct timespec pause = {0, 100000};
  const double begun = tsl_clock();
  int done = 0;
  while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
    if (tsl_clock() - begun > patience) {
      fprintf(
          stderr,
          "tesela: process (%d, %d) of a grid of %d x %d has waited %.0f s for the others. A process "
          "started "
          "without libtesela_scalapack never arrives: load the library into all processes, or into none\n",
          position->row, position->col, position->rows, position->cols, patience);
      return MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    }
    nanosleep(&pause, NULL);
  }
  return done != 0;
}

/* Returns true if all processes pass true. Collective. */
static bool all_true(MPI_Comm comm, const tsl_scalapack_position *position, bool value) {
  int mine = value, everyone = 0;
  MPI_Request request;
  return MPI_Iallreduce(&mine, &everyone, 1, MPI_INT, MPI_MIN, comm, &request) == MPI_SUCCESS &&
         scalapack_grid_wait_for_all(&request, position) && everyone;
}

/* Returns true if a process lacks this library. On one host all others find this, and the host ScaLAPACK
 * computes; on several hosts some would wait for ever, so the job is ended. */
static bool lacks_library(MPI_Comm comm) {
  const tsl_scalapack_processes processes = scalapack_inspect_processes(comm);
  if (processes.rank_without_library < 0)
    return false;
  static bool has_spoken;
  if ((processes.is_first && !has_spoken) || !processes.all_on_this_host)
    fprintf(stderr,
            "tesela: rank %d was started without libtesela_scalapack, and others with it; %s. Load the "
            "library into all processes, or into none\n",
            processes.rank_without_library,
            processes.all_on_this_host
                ? "the program's own ScaLAPACK computes on all of their grid"
                : "processes on other hosts would wait for it for ever, and the job ends");
  has_spoken = true;
  if (!processes.all_on_this_host)
    MPI_Abort(comm, EXIT_FAILURE);
  return true;
}

/* Makes a context's grid, an attribute of the communicator, which frees it. `sharing` is 0 if tesela must not
 * compute. Collective; NULL on all ranks: memory ran out on one. */
static tsl_scalapack_grid *scalapack_grid_make(MPI_Comm user_comm, const tsl_scalapack_position *position,
                                               int64_t settings) {
  const size_t count = (size_t)position->rows * (size_t)position->cols;
  tsl_scalapack_grid *grid = malloc(sizeof *grid + count * sizeof *grid->ranks);
  grid_report *all = malloc(count * sizeof *all);
  const int key = get_attribute_key();
  const bool has_memory = grid && all && key != MPI_KEYVAL_INVALID, lacks = lacks_library(user_comm);
  if (lacks ? !has_memory : !all_true(user_comm, position, has_memory)) {
    free(grid);
    free(all);
    return NULL;
  }
  *grid = (tsl_scalapack_grid){.comm = user_comm, .rows = position->rows, .cols = position->cols};
  /* Caches a grid without tesela, too, so that processes are asked once. */
  if (lacks || !exchange_reports(grid, position, settings, all))
    grid->sharing = 0;
  free(all);
  if (MPI_Comm_set_attr(user_comm, key, grid) != MPI_SUCCESS)
    grid->sharing = 0;
  return grid;
}

const tsl_scalapack_grid *tsl_scalapack_grid_of(int64_t context, const tsl_scalapack_position *position,
                                                int64_t settings) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const MPI_Comm of = communicator_of(context, position);
  tsl_scalapack_grid *grid = NULL;
  int found = 0;
  if (of == MPI_COMM_NULL)
    return NULL;
  TSL_NOT_CANCELLED;
  pthread_mutex_lock(&lock);
  if (MPI_Comm_get_attr(of, get_attribute_key(), &grid, &found) != MPI_SUCCESS || !found)
    grid = scalapack_grid_make(of, position, settings);
  pthread_mutex_unlock(&lock);
  return grid && grid->sharing > 0 ? grid : NULL;
}

bool tsl_scalapack_any_true(const tsl_scalapack_grid *grid, bool value) {
  int mine = value, all = value;
  (void)MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, grid->comm);
  return all != 0;
}

/* Processes of a job share PMIX_NAMESPACE; PMIX_RANK is their rank; /proc/PID/maps lists their libraries. */
#include "scalapack/processes.h"

#include "core/env.h"
#include "core/library.h"
#include "core/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

tsl_scalapack_processes tsl_scalapack_inspect_processes(MPI_Comm comm) {
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

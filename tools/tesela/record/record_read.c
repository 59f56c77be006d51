#include "record/record.h"

#include "core/memory.h"
#include "core/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tsl_run_record_free(tsl_run_record *recording) {
  free(recording->products);
  free(recording->processes);
  *recording = (tsl_run_record){.count = 0};
}

double tsl_run_record_whole(const tsl_run_record *recording) {
  return recording->seconds > recording->call_seconds ? recording->seconds : recording->call_seconds;
}

/* Vector routines are summed whatever their sizes. */
static bool is_product(const tsl_calls_row *row) {
  return row->key.sizes == TSL_CALLS_SIZES;
}

static bool is_alike(const tsl_calls_row *a, const tsl_calls_row *b) {
  tsl_calls_key x = a->key, y = b->key;
  if (strcmp(a->name, b->name) != 0 || strcmp(a->who, b->who) != 0 || is_product(a) != is_product(b))
    return false;
  x.name = y.name = x.who = y.who = 0; /* addresses of one process */
  return !is_product(a) || memcmp(&x, &y, sizeof x) == 0;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static void merge_row(tsl_calls_row *into, const tsl_calls_row *row) {
  into->calls += row->calls;
  into->seconds += row->seconds;
  into->flops += row->flops;
  into->fastest = row->fastest < into->fastest ? row->fastest : into->fastest;
  into->followed += row->followed;
  into->strided += row->strided;
  into->same_a += row->same_a;
  into->same_b += row->same_b;
  into->continued += row->continued;
  into->looks += row->looks;
  into->others += row->others;
  into->seen = into->samples == 0 ? row->seen : row->samples == 0 ? into->seen : into->seen & row->seen;
  into->samples += row->samples;
  for (int i = 0; i < TSL_CALLS_SIZES; i++) {
    into->least[i] = smaller(into->least[i], row->least[i]);
    into->most[i] = larger(into->most[i], row->most[i]);
  }
}

static tesela_status add_row(const tsl_calls_file *file, const tsl_calls_row *row, tsl_run_record *out) {
  out->calls += row->calls;
  out->call_seconds += row->seconds;
  for (int i = 0; i < out->count; i++)
    if (is_alike(&out->products[i].row, row)) {
      merge_row(&out->products[i].row, row);
      out->products[i].callers++;
      return TESELA_OK;
    }
  tsl_recorded *more = realloc(out->products, (size_t)(out->count + 1) * sizeof *more);
  if (!more)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the calls of a program");
  out->products = more;
  more[out->count++] =
      (tsl_recorded){.row = *row, .callers = 1, .threads = file->threads, .processors = file->processors};
  return TESELA_OK;
}

/* Returns the process of the file, in which its block is counted. */
static tsl_recorded_process *process_of(const tsl_calls_file *file, double end, tsl_run_record *out) {
  for (int i = 0; i < out->process_count; i++) {
    tsl_recorded_process *known = &out->processes[i];
    if (known->process == file->process && strcmp(known->program, file->program) == 0 &&
        strcmp(known->library, file->library) == 0)
      return known;
  }
  tsl_recorded_process *more = realloc(out->processes, (size_t)(out->process_count + 1) * sizeof *more);
  if (!more)
    return NULL;
  out->processes = more;
  tsl_recorded_process *made = &more[out->process_count++];
  *made = (tsl_recorded_process){.process = file->process, .parent = file->parent};
  snprintf(made->program, sizeof made->program, "%.*s", (int)sizeof made->program - 1, file->program);
  snprintf(made->library, sizeof made->library, "%.*s", (int)sizeof made->library - 1, file->library);
  made->has_ended = file->ended > 0;
  made->seconds = (file->ended > 0 ? file->ended : end) - file->started;
  return made;
}

static void add_libraries(const tsl_calls_file *file, tsl_run_record *out) {
  for (int f = 0; f < TSL_CALLS_LIBRARIES && file->libraries[f][0]; f++)
    for (int i = 0; i < TSL_CALLS_LIBRARIES; i++) {
      if (strncmp(out->libraries[i], file->libraries[f], TSL_CALLS_PATH) == 0)
        break;
      if (!out->libraries[i][0]) {
        snprintf(out->libraries[i], TSL_CALLS_PATH, "%.*s", TSL_CALLS_PATH - 1, file->libraries[f]);
        break;
      }
    }
}

static tesela_status add_block(const tsl_calls_file *file, double end, tsl_run_record *out) {
  const tsl_calls_row *rows = (const tsl_calls_row *)((const char *)file + TSL_CALLS_HEAD);
  tsl_recorded_process *process = process_of(file, end, out);
  if (!process)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the processes of a program");
  process->callers++;
  process->lost += file->lost;
  out->lost += file->lost;
  add_libraries(file, out);
  for (int i = 0; i < TSL_CALLS_ROWS; i++)
    if (rows[i].calls > 0) {
      process->calls += rows[i].calls;
      process->call_seconds += rows[i].seconds;
      TSL_TRY(add_row(file, &rows[i], out));
    }
  return TESELA_OK;
}

/* Ends the texts of a row, which another process wrote. */
static void end_texts(void *block) {
  tsl_calls_row *rows = (tsl_calls_row *)((char *)block + TSL_CALLS_HEAD);
  for (int i = 0; i < TSL_CALLS_ROWS; i++) {
    rows[i].name[sizeof rows[i].name - 1] = '\0';
    rows[i].who[sizeof rows[i].who - 1] = '\0';
    rows[i].why[sizeof rows[i].why - 1] = '\0';
  }
}

/* Reads a file whole; false: it is none of the table's files. */
static bool read_block(int folder, const char *name, void *block) {
  const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  size_t done = 0;
  while (file >= 0 && done < TSL_CALLS_BYTES) {
    const ssize_t count = read(file, (char *)block + done, TSL_CALLS_BYTES - done);
    if (count == 0 || (count < 0 && errno != EINTR))
      break;
    done += count > 0 ? (size_t)count : 0;
  }
  if (file >= 0)
    close(file);
  const tsl_calls_file *head = block;
  return done == TSL_CALLS_BYTES && memcmp(head->magic, TSL_CALLS_MAGIC, sizeof head->magic) == 0;
}

static int by_seconds(const void *a, const void *b) {
  const double x = ((const tsl_recorded *)a)->row.seconds, y = ((const tsl_recorded *)b)->row.seconds;
  return x < y ? 1 : x > y ? -1 : 0;
}

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), count = strlen(end);
  return length >= count && strcmp(text + length - count, end) == 0;
}

tesela_status tsl_record_read(const char *folder, double seconds, double end, tsl_run_record *out) {
  DIR *const list = opendir(folder);
  void *block = NULL;
  tesela_status status = TESELA_OK;
  *out = (tsl_run_record){.seconds = seconds};
  if (!list)
    return tsl_fail(TESELA_IO_FAILED, "%s: %s", folder, strerror(errno));
  TSL_GO(tsl_alloc(TSL_CALLS_BYTES, "a file of calls", &block));
  for (const struct dirent *entry; (entry = readdir(list)) != NULL;) {
    if (!ends_with(entry->d_name, TSL_CALLS_SUFFIX))
      continue;
    if (!read_block(dirfd(list), entry->d_name, block)) {
      out->unreadable++;
      continue;
    }
    end_texts(block);
    TSL_GO(add_block(block, end, out));
  }
  if (out->count > 0)
    qsort(out->products, (size_t)out->count, sizeof *out->products, by_seconds);
out:
  closedir(list);
  tsl_free(block);
  if (status != TESELA_OK)
    tsl_run_record_free(out);
  return status;
}

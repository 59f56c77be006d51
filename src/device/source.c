#include "device/source.h"

#include "core/env.h"
#include "core/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text of one file: embedded, or read from disk into `storage`. */
typedef struct source_text {
  const char *data;
  size_t length;
  tsl_text storage;
} source_text;

typedef struct include_chain {
  const char *path;
  const struct include_chain *includer;
} include_chain;

typedef struct source_flattening {
  const char *const *folders;
  tsl_text *out;
  char **seen_paths;
  int seen_count;
} source_flattening;

/* Reads a whole file. A missing file is no failure: *found stays unchanged. */
static tesela_status read_disk(const char *name, source_text *text, bool *found) {
  FILE *file = fopen(name, "rb");
  if (!file && (errno == ENOENT || errno == ENOTDIR))
    return TESELA_OK;
  if (!file)
    return tsl_fail(TESELA_IO_FAILED, "kernel source %s: %s", name, strerror(errno));
  char chunk[4096];
  size_t count;
  while ((count = fread(chunk, 1, sizeof chunk, file)) > 0)
    tsl_text_add_bytes(&text->storage, chunk, count);
  const int broken = ferror(file) ? errno : 0;
  fclose(file);
  if (broken)
    return tsl_fail(TESELA_IO_FAILED, "kernel source %s: %s", name, strerror(broken));
  TSL_TRY(tsl_text_status(&text->storage));
  text->data = tsl_text_get(&text->storage);
  text->length = text->storage.length;
  *found = true;
  return TESELA_OK;
}

static void find_embedded(const char *path, source_text *text, bool *found) {
  const tsl_source_file *file;
  for (int i = 0; (file = tsl_source_at(i)) != NULL; i++)
    if (strcmp(file->path, path) == 0) {
      text->data = (const char *)file->text;
      text->length = file->length;
      *found = true;
      return;
    }
}

/* Finds a file: an absolute path on disk; others in TESELA_KERNEL_DIR, or embedded. *found: it exists. The
 * caller frees text->storage after any status. */
static tesela_status find_text(const char *path, source_text *text, bool *found) {
  const char *tree = tsl_env_get(TSL_ENV_KERNEL_DIR);
  *text = (source_text){0};
  *found = false;
  if (path[0] == '/')
    return read_disk(path, text, found);
  if (tree[0] == '\0') {
    find_embedded(path, text, found);
    return TESELA_OK;
  }
  tsl_text name = {0};
  tsl_text_add(&name, "%s/src/%s", tree, path);
  tesela_status status = tsl_text_status(&name);
  if (status == TESELA_OK)
    status = read_disk(tsl_text_get(&name), text, found);
  tsl_text_free(&name);
  return status;
}

/* Removes "." and "folder/.." in place, so that each file has one name. */
static void simplify_path(char *path) {
  char *const start = path[0] == '/' ? path + 1 : path;
  char *target = start, *floor = start; /* start of the part that ".." may remove */
  for (const char *from = start; *from;) {
    const size_t length = strcspn(from, "/");
    const bool up = length == 2 && from[0] == '.' && from[1] == '.';
    const bool is_current = length == 0 || (length == 1 && from[0] == '.');
    if (up && target > floor) {
      while (target > floor && target[-1] != '/')
        target--;
      if (target > floor)
        target--;
    } else if (!is_current) {
      if (target > start)
        *target++ = '/';
      memmove(target, from, length);
      target += length;
      if (up)
        floor = target;
    }
    from += length;
    from += *from == '/';
  }
  *target = '\0';
}

/* Returns folder/name, simplified, or an absolute `name`. The caller frees it; NULL: no memory. */
static char *join_path(const char *folder, size_t folder_length, const char *name, size_t name_length) {
  char *path = malloc(folder_length + name_length + 2);
  if (!path)
    return NULL;
  size_t length = 0;
  if (name[0] != '/' && folder_length > 0) {
    memcpy(path, folder, folder_length);
    length = folder_length;
    path[length++] = '/';
  }
  memcpy(path + length, name, name_length);
  path[length + name_length] = '\0';
  simplify_path(path);
  return path;
}

static tesela_status source_out_of_memory(void) {
  return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to put a kernel's sources together");
}

/* Adds `path` to the seen files, which own it. *was_seen: it was there already, and path is freed. */
static tesela_status mark_seen(source_flattening *flat, char *path, bool *was_seen) {
  *was_seen = false;
  for (int i = 0; i < flat->seen_count && !*was_seen; i++)
    *was_seen = strcmp(flat->seen_paths[i], path) == 0;
  if (*was_seen) {
    free(path);
    return TESELA_OK;
  }
  char **seen_paths = realloc(flat->seen_paths, (size_t)(flat->seen_count + 1) * sizeof *seen_paths);
  if (!seen_paths) {
    free(path);
    return source_out_of_memory();
  }
  flat->seen_paths = seen_paths;
  seen_paths[flat->seen_count++] = path;
  return TESELA_OK;
}

static void add_line_directive(tsl_text *out, const char *path, long line) {
  if (out->length > 0 && out->data[out->length - 1] != '\n')
    tsl_text_add_bytes(out, "\n", 1);
  tsl_text_add(out, "#line %ld \"", line);
  for (const char *c = path; *c; c++)
    tsl_text_add(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
  tsl_text_add(out, "\"\n");
}

static size_t count_blanks(const char *from, const char *end) {
  size_t count = 0;
  while (from + count < end && strchr(" \t\f\v\r", from[count]) && from[count])
    count++;
  return count;
}

/* Parses #include "..." and returns its end; NULL: no directive. An unclosed name has length 0. */
static const char *parse_include(const char *line, const char *end, const char **name, size_t *length) {
  static const char word[] = "include";
  const size_t word_length = sizeof word - 1;
  const char *at = line + count_blanks(line, end);
  if (at == end || *at != '#')
    return NULL;
  at++;
  at += count_blanks(at, end);
  if ((size_t)(end - at) < word_length || memcmp(at, word, word_length) != 0)
    return NULL;
  at += word_length;
  at += count_blanks(at, end);
  if (at == end || *at != '"')
    return NULL;
  *name = ++at;
  const char *close = memchr(at, '"', (size_t)(end - at));
  *length = close ? (size_t)(close - at) : 0;
  return close ? close + 1 : end;
}

static tesela_status source_add_file(source_flattening *flat, const char *path, const source_text *text,
                                     const include_chain *includer);

static tesela_status fail_cycle(const include_chain *from, const char *path, long line) {
  tsl_text path_text = {0};
  for (const include_chain *at = from; at; at = at->includer) {
    tsl_text_add(&path_text, "%s, which is included by ", at->path);
    if (strcmp(at->path, path) == 0)
      break;
  }
  const tesela_status status = tsl_fail(TESELA_BAD_INPUT, "%s, line %ld: including %s makes a cycle: %s%s",
                                        from->path, line, path, tsl_text_get(&path_text), from->path);
  tsl_text_free(&path_text);
  return status;
}

static tesela_status fail_missing(const source_flattening *flat, const char *path, long line,
                                  const char *name, size_t length) {
  tsl_text tried = {0};
  for (const char *const *folder = flat->folders; folder && *folder; folder++)
    tsl_text_add(&tried, "%s%s", folder == flat->folders ? " or in " : ", ", *folder);
  const tesela_status status =
      tsl_fail(TESELA_BAD_INPUT, "%s, line %ld: there is no \"%.*s\" in its folder%s", path, line,
               (int)length, name, tsl_text_get(&tried));
  tsl_text_free(&tried);
  return status;
}

/* Includes a file if it exists (*found); TESELA_BAD_INPUT for a cycle. Frees path. */
static tesela_status try_include(source_flattening *flat, const include_chain *from, char *path, long line,
                                 bool *found) {
  source_text text = {0};
  bool before;
  tesela_status status = path ? find_text(path, &text, found) : source_out_of_memory();
  if (status != TESELA_OK || !*found) {
    free(path);
    goto out;
  }
  for (const include_chain *at = from; at; at = at->includer)
    if (strcmp(at->path, path) == 0) {
      status = fail_cycle(from, path, line);
      free(path);
      goto out;
    }
  TSL_GO(mark_seen(flat, path, &before));
  if (!before)
    status = source_add_file(flat, flat->seen_paths[flat->seen_count - 1], &text, from);
out:
  tsl_text_free(&text.storage);
  return status;
}

static tesela_status add_include(source_flattening *flat, const include_chain *from, long line,
                                 const char *name, size_t length) {
  const char *slash = strrchr(from->path, '/');
  const size_t folder_length = slash ? (size_t)(slash - from->path) : 0;
  bool found = false;
  /* The folder of a file in the root is "/.", not "". */
  char *path = slash == from->path ? join_path("/.", 2, name, length)
                                   : join_path(from->path, folder_length, name, length);
  TSL_TRY(try_include(flat, from, path, line, &found));
  for (const char *const *folder = flat->folders; folder && *folder && !found; folder++) {
    path = join_path(*folder, strlen(*folder), name, length);
    TSL_TRY(try_include(flat, from, path, line, &found));
  }
  return found ? TESELA_OK : fail_missing(flat, from->path, line, name, length);
}

/* Appends a file with #line directives; its includes are replaced by their files. TESELA_BAD_INPUT. */
static tesela_status source_add_file(source_flattening *flat, const char *path, const source_text *text,
                                     const include_chain *includer) {
  const include_chain link = {path, includer};
  const char *const end = text->data + text->length;
  const char *pending = text->data; /* start of unwritten text */
  long number = 1;
  add_line_directive(flat->out, path, 1);
  for (const char *line = text->data; line < end; number++) {
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    const char *const stop = newline ? newline : end;
    const char *name;
    size_t length;
    const char *after = parse_include(line, stop, &name, &length);
    if (after) {
      if (length == 0)
        return tsl_fail(TESELA_BAD_INPUT, "%s, line %ld: the name after #include is empty or not closed",
                        path, number);
      tsl_text_add_bytes(flat->out, pending, (size_t)(line - pending));
      const size_t length_before = flat->out->length;
      TSL_TRY(add_include(flat, &link, number, name, length));
      /* Text after the directive keeps its line number. */
      if (flat->out->length > length_before)
        add_line_directive(flat->out, path, number);
      pending = after;
    }
    line = newline ? newline + 1 : end;
  }
  tsl_text_add_bytes(flat->out, pending, (size_t)(end - pending));
  return tsl_text_status(flat->out);
}

tesela_status tsl_source_flatten(const char *path, const char *const *folders, tsl_text *out) {
  source_flattening flat = {.folders = folders, .out = out};
  const size_t length_before = out->length;
  source_text text = {0};
  bool found = false, before;
  tesela_status status;
  char *name = join_path("", 0, path, strlen(path));
  if (!name)
    return source_out_of_memory();
  TSL_GO(mark_seen(&flat, name, &before));
  TSL_GO(find_text(name, &text, &found));
  if (!found) {
    const char *tree = tsl_env_get(TSL_ENV_KERNEL_DIR);
    status = tsl_fail(TESELA_BAD_INPUT, "there is no kernel source %s%s%s", path,
                      tree[0] && path[0] != '/' ? " under src in TESELA_KERNEL_DIR=" : "",
                      path[0] != '/' ? tree : "");
    goto out;
  }
  status = source_add_file(&flat, name, &text, NULL);
out:
  if (status != TESELA_OK && out->length > length_before) {
    out->length = length_before;
    out->data[length_before] = '\0';
  }
  tsl_text_free(&text.storage);
  for (int i = 0; i < flat.seen_count; i++)
    free(flat.seen_paths[i]);
  free(flat.seen_paths);
  return status;
}

static void add_comment_line(const char *from, const char *end, tsl_text *out) {
  if (end - from >= 2 && (from[0] == '/' || from[0] == ' ') && from[1] == '*')
    from += end - from >= 3 && from[2] == ' ' ? 3 : 2;
  while (end > from && end[-1] == ' ')
    end--;
  tsl_text_add_bytes(out, from, (size_t)(end - from));
  tsl_text_add(out, "\n");
}

tesela_status tsl_source_comment(const char *path, tsl_text *out) {
  source_text text;
  bool found;
  TSL_TRY(find_text(path, &text, &found));
  const char *end =
      found && text.length > 2 && memcmp(text.data, "/*", 2) == 0 ? strstr(text.data, "*/") : NULL;
  for (const char *line = text.data; end && line < end;) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    add_comment_line(line, stop ? stop : end, out);
    line = stop ? stop + 1 : end;
  }
  tsl_text_free(&text.storage);
  return end ? tsl_text_status(out)
             : tsl_fail(TESELA_BAD_INPUT, "there is no comment at the beginning of %s", path);
}

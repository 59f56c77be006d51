#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "core/locale.h"
#include "core/memory.h"
#include "core/status.h"
#include "io/spool.h"

const char *tsl_input_name(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

void tsl_input_close(tsl_input *in) {
  if (in->path != NULL && in->fd >= 0)
    close(in->fd);
  tsl_unpack_end(in->unpacking);
  tsl_free(in->block);
  *in = (tsl_input){0};
}

/* Reads by read(), or by pread() at `offset`, until all bytes are there or the file ends. */
static tesela_status read_fully(const tsl_input *in, const uint64_t *offset, char *out, size_t count,
                                size_t *got) {
  size_t done = 0;
  if (in->unpacking != NULL)
    return tsl_unpack_read(in->unpacking, in->path, out, count, got);
  while (done < count) {
    /* Linux moves at most 2 GiB. */
    const ssize_t now = offset == NULL ? read(in->fd, out + done, count - done)
                                       : pread(in->fd, out + done, count - done, (off_t)(*offset + done));
    if (now < 0 && errno == EINTR)
      continue;
    if (now < 0)
      return tsl_fail(TESELA_IO_FAILED, "%s: cannot be read: %s", in->path, strerror(errno));
    if (now == 0)
      break;
    done += (size_t)now;
  }
  *got = done;
  return TESELA_OK;
}

tesela_status tsl_input_fill(tsl_input *in, size_t count) {
  if (in->end - in->at >= count || in->eof)
    return TESELA_OK;
  memmove(in->block, in->block + in->at, in->end - in->at);
  in->offset += in->at;
  in->end -= in->at;
  in->at = 0;
  const size_t space = TSL_INPUT_BLOCK - in->end;
  size_t got = 0;
  TSL_TRY(read_fully(in, NULL, in->block + in->end, space, &got));
  in->end += got;
  in->eof = got < space;
  return TESELA_OK;
}

tesela_status tsl_input_read(tsl_input *in, void *out, size_t count, size_t *got) {
  const size_t waiting = in->end - in->at;
  const size_t first = waiting < count ? waiting : count;
  memcpy(out, in->block + in->at, first);
  in->at += first;
  *got = first;
  if (first == count || in->eof)
    return TESELA_OK;
  size_t direct = 0;
  TSL_TRY(read_fully(in, NULL, (char *)out + first, count - first, &direct));
  *got += direct;
  in->offset += in->end + direct;
  in->at = in->end = 0;
  in->eof = *got < count;
  return TESELA_OK;
}

tesela_status tsl_input_read_at(const tsl_input *in, uint64_t offset, void *out, size_t count, size_t *got) {
  const size_t done = in->read_function != NULL ? in->read_function(in->read_state, offset, out, count) : 0;
  offset += done;
  TSL_TRY(read_fully(in, &offset, (char *)out + done, count - done, got));
  *got += done;
  return TESELA_OK;
}

void tsl_input_announce(const tsl_input *in, uint64_t offset, size_t count) {
  (void)posix_fadvise(in->fd, (off_t)offset, (off_t)count, POSIX_FADV_WILLNEED);
}

tesela_status tsl_input_seek(tsl_input *in, uint64_t offset, int64_t line) {
  if (lseek(in->fd, (off_t)offset, SEEK_SET) < 0)
    return tsl_fail(TESELA_IO_FAILED, "%s: cannot be read twice: %s", in->path, strerror(errno));
  in->at = in->end = 0;
  in->offset = offset;
  in->line = line;
  in->eof = false;
  return TESELA_OK;
}

uint64_t tsl_input_tell(const tsl_input *in) {
  return in->offset + in->at;
}

uint64_t tsl_input_bytes_left(const tsl_input *in) {
  const uint64_t at = tsl_input_tell(in);
  return in->size > at ? in->size - at : 0;
}

tesela_status tsl_input_replace(tsl_input *in, int fd, uint64_t size) {
  tsl_unpack_end(in->unpacking);
  in->unpacking = NULL;
  in->read_function = NULL;
  close(in->fd);
  in->fd = fd;
  in->size = size;
  in->regular = true;
  return tsl_input_seek(in, 0, in->line);
}

tesela_status tsl_input_spool(tsl_input *in) {
  tesela_status status = TESELA_OK;
  int fd;
  uint64_t size = 0;
  if (in->regular)
    return TESELA_OK;
  TSL_TRY(tsl_spool_open(in->path, &fd));
  for (;;) {
    TSL_GO(tsl_input_fill(in, 1));
    const size_t waiting = in->end - in->at;
    if (waiting == 0)
      break;
    TSL_GO(tsl_spool_write(fd, in->path, in->block + in->at, waiting));
    size += waiting;
    in->at = in->end;
  }
  return tsl_input_replace(in, fd, size);
out:
  close(fd);
  return status;
}

tesela_status tsl_input_skip_byte_order_mark(tsl_input *in) {
  TSL_TRY(tsl_input_fill(in, 3));
  const char *const start = in->block + in->at;
  const size_t waiting = in->end - in->at;
  if (waiting >= 2 && (memcmp(start, "\xff\xfe", 2) == 0 || memcmp(start, "\xfe\xff", 2) == 0))
    return tsl_fail(TESELA_BAD_INPUT, "%s: is UTF-16 text: save it as UTF-8", in->path);
  if (waiting >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0)
    in->at += 3;
  return TESELA_OK;
}

static bool input_is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

tesela_status tsl_input_word(tsl_input *in, tsl_word *word) {
  TSL_TRY(tsl_input_fill(in, 1));
  for (;;) {
    while (in->at < in->end && input_is_blank(in->block[in->at]))
      in->at++;
    if (in->at < in->end || in->eof)
      break;
    TSL_TRY(tsl_input_fill(in, 1));
  }
  size_t length = 0;
  for (;;) {
    const char *const text = in->block + in->at;
    const size_t waiting = in->end - in->at;
    while (length < waiting && !input_is_blank(text[length]) && text[length] != '\n')
      length++;
    if (length < waiting || in->eof || length > TSL_WORD_MAX)
      break;
    TSL_TRY(tsl_input_fill(in, TSL_WORD_MAX + 2));
  }
  if (length > TSL_WORD_MAX)
    return tsl_input_bad_line(in, in->line, "has a word of more than %zu characters, which is no number",
                              TSL_WORD_MAX);
  *word = (tsl_word){.text = in->block + in->at, .length = length};
  in->at += length;
  return TESELA_OK;
}

tesela_status tsl_input_skip_line(tsl_input *in) {
  for (;;) {
    TSL_TRY(tsl_input_fill(in, 1));
    const size_t waiting = in->end - in->at;
    if (waiting == 0)
      return TESELA_OK;
    const char *const end = memchr(in->block + in->at, '\n', waiting);
    if (end != NULL) {
      in->at = (size_t)(end - in->block) + 1;
      in->line++;
      return TESELA_OK;
    }
    in->at = in->end;
  }
}

tesela_status tsl_input_next_line(tsl_input *in, bool *more) {
  for (;;) {
    TSL_TRY(tsl_input_fill(in, 1));
    for (; in->at < in->end; in->at++) {
      const char c = in->block[in->at];
      if (c == '\n')
        in->line++;
      else if (!input_is_blank(c)) {
        *more = true;
        return TESELA_OK;
      }
    }
    if (in->eof) {
      *more = false;
      return TESELA_OK;
    }
  }
}

tesela_status tsl_input_bad_line(const tsl_input *in, int64_t line, const char *format, ...) {
  char sentence[512];
  va_list arguments;
  va_start(arguments, format);
  tsl_locale_format(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  return tsl_fail(TESELA_BAD_INPUT, "%s: line %" PRId64 " %s", in->path, line, sentence);
}

const char *tsl_input_quote(const char *text, size_t length, char out[TSL_QUOTE_MAX]) {
  const size_t space = TSL_QUOTE_MAX - 4;
  const size_t shown = length < space ? length : space;
  for (size_t i = 0; i < shown; i++)
    out[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
  memcpy(out + shown, length > space ? "..." : "", length > space ? 4 : 1);
  return out;
}

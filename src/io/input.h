/* File as a stream with line numbers and words, read in blocks. "-": standard input. Decompresses gzip. */
#ifndef TSL_IO_INPUT_H
#define TSL_IO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

#include "io/backend.h"
#include "io/gunzip.h"

/* Tests define a small block. */
#ifndef TSL_INPUT_BLOCK_BITS
#define TSL_INPUT_BLOCK_BITS 20
#endif
#define TSL_INPUT_BLOCK ((size_t)1 << TSL_INPUT_BLOCK_BITS)
#define TSL_WORD_MAX (TSL_INPUT_BLOCK / 64)

typedef struct tsl_input {
  const char *path; /* name for messages, owned by the caller */
  int fd;
  char *block;
  size_t at, end;                  /* unused bytes: block[at] to block[end - 1] */
  uint64_t offset;                 /* offset of block[0] in the file */
  int64_t line;                    /* line of block[at], from 1; not updated by tsl_input_read() */
  uint64_t size;                   /* bytes of a regular file, else 0 */
  bool regular;                    /* size and offsets are usable; false for pipes and compressed files */
  bool archive;                    /* the array of an .npz file */
  bool eof;                        /* the file has no bytes after block[end - 1] */
  tsl_unpacking *unpacking;        /* NULL: not compressed */
  tsl_read_function read_function; /* read function of tsl_input_read_at(); NULL: the system's */
  void *read_state;                /* first argument of `read_function` */
} tsl_input;

/* Returns the path, or "standard input". */
const char *tsl_input_name(const char *path);
/* Opens a file. `name`: tsl_input_name(), owned by the caller. TESELA_IO_FAILED, also for folders. */
tesela_status tsl_input_open(const char *path, const char *name, tsl_input *in);
/* Replaces the file by another open regular file, from its start. Closes the old file; owns `fd`. */
tesela_status tsl_input_replace(tsl_input *in, int fd, uint64_t size);
/* Closes the file and frees the block. An input of zeros is allowed. */
void tsl_input_close(tsl_input *in);

/* Provides at least `count` bytes (at most a block) at block[at], or the rest. */
tesela_status tsl_input_fill(tsl_input *in, size_t count);
/* Reads up to `count` bytes; fewer only at the end. Large requests bypass the block. */
tesela_status tsl_input_read(tsl_input *in, void *out, size_t count, size_t *got);
/* Reads `count` bytes at an offset of a regular file, fewer only at the end. The stream does not move. */
tesela_status tsl_input_read_at(const tsl_input *in, uint64_t offset, void *out, size_t count, size_t *got);
/* Announces to the system that bytes of a regular file will be read. */
void tsl_input_announce(const tsl_input *in, uint64_t offset, size_t count);
/* Moves the stream to an offset of a regular file, on line `line`. */
tesela_status tsl_input_seek(tsl_input *in, uint64_t offset, int64_t line);
/* Returns the offset of the next byte. */
uint64_t tsl_input_tell(const tsl_input *in);
/* Returns the bytes until the end of a regular file. */
uint64_t tsl_input_bytes_left(const tsl_input *in);

/* Copies the rest of a pipe or compressed file to an unnamed temporary file; then the input is regular. */
tesela_status tsl_input_spool(tsl_input *in);

/* Skips a UTF-8 byte order mark at the start. TESELA_BAD_INPUT for UTF-16. */
tesela_status tsl_input_skip_byte_order_mark(tsl_input *in);

typedef struct tsl_word {
  const char *text; /* word without NUL; valid until the next call on the input */
  size_t length;
} tsl_word;

/* Reads the line's next word, between blanks. Length 0 at the line's end, which is not skipped. */
tesela_status tsl_input_word(tsl_input *in, tsl_word *word);
tesela_status tsl_input_skip_line(tsl_input *in);
/* Skips line ends and blanks up to a word; *more is false at the end of the file. */
tesela_status tsl_input_next_line(tsl_input *in, bool *more);

/* Sets the message "path: line 7: sentence" and returns TESELA_BAD_INPUT. */
tesela_status tsl_input_bad_line(const tsl_input *in, int64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

#define TSL_QUOTE_MAX 48
/* Writes a word for messages to `out`: truncated, unprintable bytes as '?'. Returns `out`. */
const char *tsl_input_quote(const char *text, size_t length, char out[TSL_QUOTE_MAX]);

#endif

/* A file as a stream of bytes: read in large blocks, with lines counted and words found. Nothing larger than
 * one block is ever held. "-" is standard input. What is packed with gzip is unpacked. */
#ifndef TSL_IO_INPUT_H
#define TSL_IO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

#include "io/backend.h"
#include "io/gunzip.h"

/* Tests make the block small, so that small files cross its ends. */
#ifndef TSL_INPUT_BLOCK_BITS
#define TSL_INPUT_BLOCK_BITS 20
#endif
#define TSL_INPUT_BLOCK ((size_t)1 << TSL_INPUT_BLOCK_BITS)
/* Longest word, in bytes: no number needs more. */
#define TSL_WORD_MAX (TSL_INPUT_BLOCK / 64)

typedef struct tsl_input {
  const char *path; /* for messages; the owner keeps it */
  int fd;
  char *block;     /* TSL_INPUT_BLOCK bytes */
  size_t at, end;  /* bytes not yet used: block[at] to block[end - 1] */
  uint64_t offset; /* of block[0] in the file */
  int64_t line;    /* of block[at], from 1; kept by the word functions, not by tsl_input_read() */
  uint64_t size;   /* bytes of the file; 0 where it is not regular */
  bool regular;    /* has a size and can be read anywhere; a pipe cannot, nor a file that is packed */
  bool archive;    /* the one array of an .npz */
  bool eof;        /* the file has no bytes beyond block[end - 1] */
  tsl_unpacking *unpacking; /* NULL: the bytes are as they lie */
  tsl_read_way way;         /* of tsl_input_read_at(); NULL: the system's */
  void *way_by;
} tsl_input;

/* How messages call the file of this path: the path, or "standard input". */
const char *tsl_input_name(const char *path);
/* Opens a file; `name` is tsl_input_name() of its path, kept by the owner. TESELA_IO_FAILED for a folder or
 * what cannot be opened. */
tesela_status tsl_input_open(const char *path, const char *name, tsl_input *in);
/* Goes on with another file, from its start, which is open and regular; the one before is closed. */
tesela_status tsl_input_replace(tsl_input *in, int fd, uint64_t size);
/* Also on an input that was never opened, if it is all zeros. */
void tsl_input_close(tsl_input *in);

/* Makes at least `count` bytes (at most a block) wait at block[at], or all that the file still has. */
tesela_status tsl_input_fill(tsl_input *in, size_t count);
/* Takes up to `count` bytes; fewer only at the end of the file. Large requests do not pass through the
 * block. */
tesela_status tsl_input_read(tsl_input *in, void *out, size_t count, size_t *got);
/* `count` bytes from a place of a regular file; the stream stays where it is. Fewer only at the end. */
tesela_status tsl_input_read_at(const tsl_input *in, uint64_t offset, void *out, size_t count, size_t *got);
/* Tells the system that these bytes of a regular file are read soon. */
void tsl_input_expect(const tsl_input *in, uint64_t offset, size_t count);
/* Continues at a place of a regular file, which is on line `line`. */
tesela_status tsl_input_seek(tsl_input *in, uint64_t offset, int64_t line);
/* Place of the next byte. */
uint64_t tsl_input_tell(const tsl_input *in);
/* Bytes from the next one to the end of a regular file. */
uint64_t tsl_input_left(const tsl_input *in);

/* Copies what is left of an input that is not regular to a file without a name, and goes on from there: it is
 * regular then. Nothing where it is. */
tesela_status tsl_input_spool(tsl_input *in);

/* Skips the byte order mark of UTF-8. TESELA_BAD_INPUT for UTF-16. For the start of a text file. */
tesela_status tsl_input_skip_mark(tsl_input *in);

typedef struct tsl_word {
  const char *text; /* not NUL-terminated; valid until the next call on the input */
  size_t length;
} tsl_word;

/* The next word of this line: what stands between spaces and tabs. Length 0 at the end of the line, which is
 * not passed. */
tesela_status tsl_input_word(tsl_input *in, tsl_word *word);
/* Passes the rest of the line. */
tesela_status tsl_input_skip_line(tsl_input *in);
/* Passes the end of the line, and blank lines, to the first byte that is neither a blank nor a line end;
 * false in *more at the end of the file. */
tesela_status tsl_input_next_line(tsl_input *in, bool *more);

/* TESELA_BAD_INPUT with "path: line 7: sentence". */
tesela_status tsl_input_bad_line(const tsl_input *in, int64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

#define TSL_QUOTE_MAX 48
/* A word as a message shows it: cut to what fits, unprintable bytes as '?'. Returns `out`. */
const char *tsl_input_quote(const char *text, size_t length, char out[TSL_QUOTE_MAX]);

#endif

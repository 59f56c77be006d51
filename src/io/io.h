/* Matrix files. A reader gives shape and type first and then rows, or columns, so that a file larger than
 * memory can be read in panels; a writer takes rows. Formats are rows of one table (src/io/io_list.h), each
 * in its own file format_<name>.c.
 *
 * "-" is standard input or standard output. What is packed with gzip (.gz) is read as what is in it, and so
 * is a .npz that holds one array: checksums of both are compared. Written is neither.
 *
 * npy: NumPy's .npy, versions 1 to 3, both byte orders, C and Fortran order; f2 f4 f8 i1 i4 c8 c16, and b1 u1
 * i2 u2 u4 i8 u8, which are read as f64 (an i8 or u8 that no f64 is equal to is an error). Written as
 * version 1, native and C order; bf16, e4m3 and e5m2, which NumPy does not have, as f4.
 *
 * mtx: Matrix Market, array and coordinate; general, symmetric, skew-symmetric, hermitian; real, integer,
 * unsigned-integer, complex, pattern. Integers have digits alone, and one that no f64 is equal to is an
 * error. Duplicate coordinates are summed. Written as a general array, which goes by columns: rows that come
 * in parts are kept in memory until the commit.
 *
 * csv: numbers by commas, semicolons or tabs, one row a line; an optional header line, in which no cell is a
 * number; quoted numbers, and decimal commas between semicolons. Read twice: what comes through a pipe is
 * kept in a temporary file. Written with commas, or tabs where the name ends in .tsv.
 *
 * txt: first line "rows columns", then the values row by row, separated by blanks and line ends as they like.
 *
 * Text is written with as few digits as read back to the same value, in its own type. csv and txt hold no
 * complex numbers, and csv no matrix without elements.
 *
 * Errors name the file and the line, or row and column counted from 1, and say what would be right:
 * TESELA_IO_FAILED when the file cannot be opened, read or written, TESELA_BAD_INPUT when its contents are
 * wrong. Values that do not fit the type asked for (a finite number that would become infinite, a fraction
 * for an integer type) are TESELA_BAD_INPUT; rounding to nearest is not an error. */
#ifndef TSL_IO_IO_H
#define TSL_IO_IO_H

#include "base/types.h"
#include "io/backend.h"
#include "io/io_number.h"

typedef struct tsl_reader tsl_reader;
typedef struct tsl_writer tsl_writer;

typedef struct tsl_file_info {
  const char *format; /* "npy" */
  int64_t rows, cols; /* one-dimensional files are one column */
  tesela_type type;   /* of the file's values; f64 for text formats (c128 for complex Matrix Market) */
  bool by_rows;       /* rows can be read in panels without holding the file in memory */
  bool by_columns;    /* so can columns: tsl_reader_columns() */
  bool by_blocks;     /* so can any block, for no more than its own bytes: tsl_reader_block() */
  bool columns_first; /* the file has column after column: Fortran order */
  bool text;          /* numbers are printed: tsl_reader_printed() */
  bool header;        /* csv: the first line was taken for names, and passed over */
} tsl_file_info;

/* Opens a file and reads its header. The format is that of the name's ending (before .gz), else of the first
 * bytes. csv is scanned once, for its shape. *reader is NULL after a failure. */
tesela_status tsl_reader_open(const char *path, tsl_reader **reader);
/* The same of a file whose name says nothing: where its first bytes are no mark of a format, it is `format`
 * ("csv"). NULL: nothing is known. TESELA_BAD_CALL where there is no such format. */
tesela_status tsl_reader_open_as(const char *path, const char *format, tsl_reader **reader);
/* ".npy, .mtx, ...", and "npy, mtx, ...", for messages. */
const char *tsl_io_endings(void);
const char *tsl_io_formats(void);
/* Whether there is a format of this name. */
bool tsl_io_has_format(const char *name);
const tsl_file_info *tsl_reader_info(const tsl_reader *reader);
/* Reads the next `rows` rows (in order, from row 0) as `type` into `out` with the given strides in elements.
 * After the last row, checks that nothing follows. Reading all rows at once works for every format; fewer
 * only where info->by_rows. After an error nothing more can be read. */
tesela_status tsl_reader_rows(tsl_reader *reader, int64_t rows, tesela_type type, void *out,
                              int64_t row_stride, int64_t col_stride);
/* Reads `cols` columns of all rows, from column `first` on, likewise; of a file that info->by_columns says it
 * of, in any order, any number of times, and before or after other rows: those begin again with row 0. */
tesela_status tsl_reader_columns(tsl_reader *reader, int64_t first, int64_t cols, tesela_type type, void *out,
                                 int64_t row_stride, int64_t col_stride);
/* A block of a matrix. */
typedef struct tsl_rectangle {
  int64_t row, rows, col, cols;
} tsl_rectangle;
/* Reads any block likewise, of a file that info->by_blocks says it of. Where the file has the order that the
 * strides have, and its type, bytes go where they belong at once. */
tesela_status tsl_reader_block(tsl_reader *reader, const tsl_rectangle *block, tesela_type type, void *out,
                               int64_t row_stride, int64_t col_stride);
/* Makes a file one that can be read by blocks, where it is none, before anything is read of it: what is
 * packed or comes through a pipe is unpacked, and text is read once, as `type`, into a file without a name in
 * TMPDIR, for which there must be room. `most` bytes of memory are for that; Matrix Market is read once for
 * each such part of the matrix. */
tesela_status tsl_reader_spool(tsl_reader *reader, tesela_type type, uint64_t most);
/* What tells one state of a file from another: its bytes and the time of its last change, in nanoseconds;
 * zeros where it is none but a pipe. Of the file itself, whether or not it is spooled since. */
typedef struct tsl_file_state {
  uint64_t size;
  int64_t seconds, nanoseconds;
} tsl_file_state;
tsl_file_state tsl_reader_state(const tsl_reader *reader);
/* Whether the file's bytes are the values' and lie where it is: a .npy file that is not packed, no pipe, and
 * not spooled. */
bool tsl_reader_is_plain(const tsl_reader *reader);
/* Blocks of such a file come by another way from now on. NULL: the system's. */
void tsl_reader_read_by(tsl_reader *reader, tsl_read_way way, void *by);
/* How the numbers that were read so far are printed; zeros where the file is no text. */
const tsl_printed *tsl_reader_printed(const tsl_reader *reader);
void tsl_reader_close(tsl_reader *reader);

/* Starts a file: it is written under a temporary name beside `path` and appears, whole, at commit. The format
 * is that of the name's ending; TESELA_BAD_CALL lists the endings. An unwritable folder is reported here. A
 * symbolic link is followed; an older file's permissions are kept. *writer is NULL after a failure. */
tesela_status tsl_writer_open(const char *path, int64_t rows, int64_t cols, tesela_type type,
                              tsl_writer **writer);
/* The same, in a format by name where the path's ending says nothing: for "-", which is standard output, and
 * other names. What goes to standard output is kept in a temporary file until the commit. NULL: nothing is
 * known. */
tesela_status tsl_writer_open_as(const char *path, const char *format, int64_t rows, int64_t cols,
                                 tesela_type type, tsl_writer **writer);
/* Whether rows that come in parts are kept in memory, all of them, until the commit. */
bool tsl_writer_keeps_rows(const tsl_writer *writer);
/* Whether a file of that name, or else of that format (NULL: nothing is known), may be written in blocks:
 * tsl_part_open(). */
bool tsl_io_takes_blocks(const char *path, const char *format);
/* Appends rows. */
tesela_status tsl_writer_rows(tsl_writer *writer, int64_t rows, const void *data, int64_t row_stride,
                              int64_t col_stride);
/* Flushes, syncs, renames and syncs the folder. On failure (a full disk) nothing is left behind and an older
 * file of that name is as it was. */
tesela_status tsl_writer_commit(tsl_writer *writer);
/* Closes; removes the temporary file when there was no commit. NULL is allowed. */
void tsl_writer_close(tsl_writer *writer);
/* The temporary file's name until commit or close, for signal handlers that end the process; else NULL. */
const char *tsl_writer_temporary(const tsl_writer *writer);

/* Whether two paths name the same existing file. */
bool tsl_io_same_file(const char *a, const char *b);

#endif

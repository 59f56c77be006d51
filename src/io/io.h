/* Matrix files. A reader first gives shape and type, then rows or columns, so that a file larger than memory
 * can be read in panels. A writer takes rows. Formats are listed in src/io/io_list.h; each has a file
 * format_<name>.c.
 *
 * "-" is standard input or standard output. Compressed files are only read: gzip (.gz), and .npz with one
 * array. Their checksums are compared.
 *
 * npy  NumPy's .npy, versions 1 to 3, both byte orders, C and Fortran order. Elements f2 f4 f8 i1 i4 c8 c16.
 *      b1 u1 i2 u2 u4 i8 u8 are read as f64; an i8 or u8 without an equal f64 is an error. Written as
 *      version 1, native order, C order; bf16, e4m3 and e5m2, which NumPy lacks, as f4.
 *
 * mtx  Matrix Market: array and coordinate; general, symmetric, skew-symmetric, hermitian; real, integer,
 *      unsigned-integer, complex, pattern. Integers have only digits, and one without an equal f64 is an
 *      error. Values of duplicate coordinates are added. Written as a general array, by columns: rows that
 *      come in parts are held in memory until the commit.
 *
 * csv  Numbers separated by commas, semicolons or tabs, one row a line; an optional header line without
 *      numbers; quoted numbers; decimal commas with semicolons. Read twice: a pipe is copied to a temporary
 *      file.
 *      Written with commas, or with tabs if the name ends in .tsv.
 *
 * txt  "rows columns" on the first line, then the values row by row, separated by blanks or line ends.
 *
 * Text files have the fewest digits that read back to an equal value of the type. Files csv and txt hold
 * no complex numbers, and csv no empty matrix.
 *
 * Errors name the file and the line, or row and column counted from 1, and the remedy. TESELA_IO_FAILED: the
 * file cannot be opened, read or written. TESELA_BAD_INPUT: its contents are wrong, or a value does not fit
 * the requested type. A finite number that would become infinite does not fit, nor a fraction for an integer
 * type; rounding to nearest is no error. */
#ifndef TSL_IO_IO_H
#define TSL_IO_IO_H

#include "base/types.h"
#include "io/backend.h"
#include "io/io_number.h"

typedef struct tsl_reader tsl_reader;
typedef struct tsl_writer tsl_writer;

typedef struct tsl_file_info {
  const char *format; /* "npy" */
  int64_t rows, cols; /* a one-dimensional file is one column */
  tesela_type type;   /* type of the file's values; f64 for text (c128 for complex Matrix Market) */
  bool by_rows;       /* rows can be read in panels without holding the file in memory */
  bool by_columns;    /* tsl_reader_columns() is possible */
  bool by_blocks;     /* tsl_reader_block() is possible and reads only the block's bytes */
  bool columns_first; /* the file is stored by columns: Fortran order */
  bool text;          /* numbers are decimal text: tsl_reader_printed() */
  bool header;        /* csv: the first line was skipped as a header */
} tsl_file_info;

/* Opens a file and reads its header. The format follows from the name's ending (before .gz), else
 * from the first bytes. csv is scanned once for its shape. The caller calls tsl_reader_close().
 * *reader is NULL after a failure. */
tesela_status tsl_reader_open(const char *path, tsl_reader **reader);
/* Opens a file whose name does not tell its format. `format` ("csv") is used if the first bytes are
 * no mark of a format. NULL: as tsl_reader_open(). TESELA_BAD_CALL for an unknown format. */
tesela_status tsl_reader_open_as(const char *path, const char *format, tsl_reader **reader);
/* Returns ".npy, .mtx, ..." for messages. */
const char *tsl_io_endings(void);
/* Returns "npy, mtx, ..." for messages. */
const char *tsl_io_formats(void);
bool tsl_io_has_format(const char *name);
const tsl_file_info *tsl_reader_info(const tsl_reader *reader);
/* Reads the next `rows` rows, from row 0 on, as `type` into `out` with the given strides in
 * elements. After the last row it checks that no data follows. All rows at once work for every
 * format, fewer only with info->by_rows. After an error no further call succeeds. */
tesela_status tsl_reader_rows(tsl_reader *reader, int64_t rows, tesela_type type, void *out,
                              int64_t row_stride, int64_t col_stride);
/* Reads `cols` columns of all rows, from column `first` on. Needs info->by_columns. Any order and
 * repetition is allowed. Afterwards tsl_reader_rows() begins again at row 0. */
tesela_status tsl_reader_columns(tsl_reader *reader, int64_t first, int64_t cols, tesela_type type, void *out,
                                 int64_t row_stride, int64_t col_stride);
/* Block of a matrix. */
typedef struct tsl_rectangle {
  int64_t row, rows, col, cols;
} tsl_rectangle;
/* Reads any block. Needs info->by_blocks. If the file's order and type match, bytes are read
 * directly into `out`. */
tesela_status tsl_reader_block(tsl_reader *reader, const tsl_rectangle *block, tesela_type type, void *out,
                               int64_t row_stride, int64_t col_stride);
/* Makes a file readable by blocks, before anything is read. Compressed files and pipes are copied,
 * and text is converted to `type`, to an unnamed file in TMPDIR. Uses at most `most` bytes of
 * memory. Matrix Market is read once for each part that fits into this memory. */
tesela_status tsl_reader_spool(tsl_reader *reader, tesela_type type, uint64_t most);
/* State of a file, to detect changes: size and time of the last change. All zeros for a pipe. */
typedef struct tsl_file_state {
  uint64_t size;
  int64_t seconds, nanoseconds;
} tsl_file_state;
/* Returns the state of the original file, even if it was spooled. */
tsl_file_state tsl_reader_state(const tsl_reader *reader);
/* Returns true if blocks are read directly from an uncompressed .npy file that was not spooled. */
bool tsl_reader_is_plain(const tsl_reader *reader);
/* Sets the function that reads blocks of such a file. NULL: the system's. */
void tsl_reader_read_by(tsl_reader *reader, tsl_read_way way, void *by);
/* Returns the decimal precision of the numbers read so far; zeros for binary formats. */
const tsl_printed *tsl_reader_printed(const tsl_reader *reader);
void tsl_reader_close(tsl_reader *reader);

/* Starts a file. It is written under a temporary name in its folder and appears completely at
 * commit. The format follows from the name's ending; TESELA_BAD_CALL lists the endings. Fails if
 * the folder is not writable. Symbolic links are followed; permissions of an existing file are
 * preserved. The caller calls tsl_writer_close(). *writer is NULL after a failure. */
tesela_status tsl_writer_open(const char *path, int64_t rows, int64_t cols, tesela_type type,
                              tsl_writer **writer);
/* Starts a file in format `format` if the path's ending tells none, as for "-", standard output.
 * Output to standard output goes to a temporary file until the commit. NULL: as tsl_writer_open(). */
tesela_status tsl_writer_open_as(const char *path, const char *format, int64_t rows, int64_t cols,
                                 tesela_type type, tsl_writer **writer);
/* Returns true if rows that come in parts are all held in memory until the commit. */
bool tsl_writer_keeps_rows(const tsl_writer *writer);
/* Returns true if a file of this name, or else of this format (may be NULL), can be written in
 * blocks by tsl_part_open(). */
bool tsl_io_takes_blocks(const char *path, const char *format);
/* Appends rows. */
tesela_status tsl_writer_rows(tsl_writer *writer, int64_t rows, const void *data, int64_t row_stride,
                              int64_t col_stride);
/* Flushes, syncs, renames, and syncs the folder. After a failure, such as a full disk, an existing
 * file is unchanged. */
tesela_status tsl_writer_commit(tsl_writer *writer);
/* Closes and frees the writer; removes the temporary file if there was no commit. NULL is allowed. */
void tsl_writer_close(tsl_writer *writer);
/* Returns the temporary file's name until commit or close, for signal handlers that end the
 * process; else NULL. */
const char *tsl_writer_temporary(const tsl_writer *writer);

/* Returns true if two paths name one existing file. */
bool tsl_io_same_file(const char *a, const char *b);

#endif

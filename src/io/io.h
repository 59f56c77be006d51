/* Matrix files. A reader gives shape and type first, then rows or columns, so that a file larger than memory
 * can be read in panels. A writer takes rows. Formats are listed in src/io/io_list.h. "-" is standard input
 * or output. gzip (.gz), and .npz with one array, are only read; checksums are compared.
 *
 * npy  NumPy's .npy, versions 1 to 3, both byte orders, C and Fortran order. Elements f2 f4 f8 i1 i4 c8 c16.
 *      b1 u1 i2 u2 u4 i8 u8 are read as f64; an i8 or u8 without an equal f64 is an error. Written as
 *      version 1, native order, C order; bf16, e4m3 and e5m2, which NumPy lacks, as f4.
 *
 * mtx  Matrix Market: array and coordinate; general, symmetric, skew-symmetric, hermitian; real, integer,
 *      unsigned-integer, complex, pattern. Integers without an equal f64 are an error. Duplicate coordinates
 *      are added. Written as a general array by columns: row parts stay in memory until the commit.
 *
 * csv  Numbers separated by commas, semicolons or tabs, one row a line; an optional header line without
 *      numbers; quoted numbers; decimal commas with semicolons. Read twice: a pipe is copied to a temporary
 *      file. Written with commas, or with tabs if the name ends in .tsv. No empty matrix.
 *
 * txt  "rows columns" on the first line, then the values row by row, separated by blanks or line ends.
 *
 * Text has the fewest digits that read back to an equal value. csv and txt hold no complex numbers.
 *
 * Errors name the file and the line, or row and column from 1, and the remedy. TESELA_IO_FAILED: the file
 * cannot be opened, read or written. TESELA_BAD_INPUT: wrong contents, or a value that does not fit the type.
 * A finite number must stay finite, and an integer type holds no fraction; rounding is no error. */
#ifndef TSL_IO_IO_H
#define TSL_IO_IO_H

#include "core/types.h"
#include "io/backend.h"
#include "io/io_number.h"

typedef struct tsl_reader tsl_reader;
typedef struct tsl_writer tsl_writer;

typedef struct tsl_file_info {
  const char *format;
  int64_t rows, cols; /* one dimension: one column */
  tesela_type type;   /* type of the file's values; text: f64, or c128 for complex Matrix Market */
  bool by_rows;       /* rows can be read in panels, without the file in memory */
  bool by_columns;    /* tsl_reader_columns() is possible */
  bool by_blocks;     /* tsl_reader_block() is possible, and reads only the block */
  bool columns_first; /* stored by columns: Fortran order */
  bool text;          /* decimal text: tsl_reader_printed() */
  bool header;        /* csv: a header was skipped */
} tsl_file_info;

/* Opens a file and reads its header. The format follows from the name's ending (before .gz), else from the
 * first bytes; `format` ("csv"; NULL: unknown) applies if neither tells another. csv is scanned once. Close
 * with tsl_reader_close(); *reader is NULL on failure. */
tesela_status tsl_reader_open(const char *path, const char *format, tsl_reader **reader);
/* Returns ".npy, .mtx, ..."; tsl_io_formats() returns "npy, mtx, ...". For messages. */
const char *tsl_io_endings(void);
const char *tsl_io_formats(void);
bool tsl_io_has_format(const char *name);
/* Returns the header's information, owned by the reader. */
const tsl_file_info *tsl_reader_info(const tsl_reader *reader);
/* Reads the next `rows` rows, from row 0 on, as `type` into `out`; strides in elements. The last row checks
 * that no data follows. Fewer than all rows need info->by_rows. After an error all calls fail. */
tesela_status tsl_reader_rows(tsl_reader *reader, int64_t rows, tesela_type type, void *out,
                              int64_t row_stride, int64_t col_stride);
/* Reads columns from `first` on, in any order; needs info->by_columns. Resets tsl_reader_rows() to row 0. */
tesela_status tsl_reader_columns(tsl_reader *reader, int64_t first, int64_t cols, tesela_type type, void *out,
                                 int64_t row_stride, int64_t col_stride);
typedef struct tsl_rectangle {
  int64_t row, rows, col, cols; /* first row and number of rows, first column and number of columns */
} tsl_rectangle;
/* Reads any block; needs info->by_blocks. Directly into `out` if order and type match. */
tesela_status tsl_reader_block(tsl_reader *reader, const tsl_rectangle *block, tesela_type type, void *out,
                               int64_t row_stride, int64_t col_stride);
/* Makes a file readable by blocks, before any read: copies compressed files and pipes, or text as `type`, to
 * an unnamed file in TMPDIR. Reads Matrix Market per `bytes_max` bytes of memory. */
tesela_status tsl_reader_spool(tsl_reader *reader, tesela_type type, uint64_t bytes_max);
/* Size and time of the last change, to detect changes. Zeros: a pipe. */
typedef struct tsl_file_state {
  uint64_t size;
  int64_t seconds, nanoseconds;
} tsl_file_state;
/* Returns the original file's state, also after a spool. */
tsl_file_state tsl_reader_get_file_state(const tsl_reader *reader);
/* Returns true if blocks are read directly from an uncompressed .npy file that was not spooled. */
bool tsl_reader_reads_file_directly(const tsl_reader *reader);
/* Sets the function that reads blocks of a file that is read directly; NULL: the system's. */
void tsl_reader_set_read_function(tsl_reader *reader, tsl_read_function read_function, void *read_state);
/* Returns the decimal precision of the numbers read so far; zeros for binary formats. */
const tsl_printed *tsl_reader_printed(const tsl_reader *reader);
void tsl_reader_close(tsl_reader *reader);

/* Starts a file under a temporary name in its folder; it appears at the commit. The name's ending gives the
 * format, else `format`, or NULL; TESELA_BAD_CALL lists the endings. "-" is a temporary file until the
 * commit. Symbolic links are followed, permissions preserved. Fails if the folder is not writable. Close with
 * tsl_writer_close(); *writer is NULL on failure. */
tesela_status tsl_writer_open(const char *path, const char *format, int64_t rows, int64_t cols,
                              tesela_type type, tsl_writer **writer);
/* Returns true if row parts stay in memory until the commit. */
bool tsl_writer_keeps_rows(const tsl_writer *writer);
/* Returns true if tsl_resumable_open() can write `path`: by its ending, else by `format`, or NULL. */
bool tsl_io_takes_blocks(const char *path, const char *format);
/* Appends rows; strides in elements. */
tesela_status tsl_writer_rows(tsl_writer *writer, int64_t rows, const void *data, int64_t row_stride,
                              int64_t col_stride);
/* Makes the file durable and renames it. After a failure (full disk) an existing file is unchanged. */
tesela_status tsl_writer_commit(tsl_writer *writer);
/* Frees the writer; removes an uncommitted temporary file. NULL is allowed. */
void tsl_writer_close(tsl_writer *writer);
/* Returns the temporary file's name, for signal handlers that end the process; NULL after commit. */
const char *tsl_writer_temporary(const tsl_writer *writer);

/* Returns true if both paths name one existing file. */
bool tsl_io_same_file(const char *a, const char *b);

#endif

/* A format of matrix files: one const table of functions, in its own file format_<name>.c, listed in
 * io_list.h. reader.c and writer.c check what a caller asks for and hold the file; a format knows its bytes
 * only. formats.c is the table, io_values.c what formats share.
 *
 *   tsl_reader_open    path -> format -> input -> read_header: info, state
 *   tsl_reader_rows    checks rows and type -> read_rows: values into the caller's strides -> read_end
 *   tsl_writer_open    path -> format -> may_write -> output -> write_header
 *   tsl_writer_rows    checks rows -> write_rows; npy, csv and txt write at once, mtx keeps the columns
 *
 * To add a format: a line in io_list.h, a file format_<name>.c, and files of it in tests/data. */
#ifndef TSL_IO_IO_FORMAT_H
#define TSL_IO_IO_FORMAT_H

#include "io/input.h"
#include "io/io.h"
#include "io/output.h"

typedef struct tsl_format tsl_format;

struct tsl_reader {
  const tsl_format *format;
  char *path;
  tsl_input in;
  tsl_file_info info; /* read_header fills all but the format's name */
  int64_t row;        /* rows read so far */
  uint64_t start;     /* place of the first value, and its line */
  int64_t start_line;
  tsl_printed printed;
  bool failed;               /* a call failed: where the stream stands is unknown */
  bool spooled;              /* `in` is another file by now, */
  tsl_file_state state_then; /* and the file was this when it was left */
  void *state;               /* the format's own, one block that tsl_free() takes */
};

/* Compares what is left of a spooled .npy file with its header, which was read before. */
tesela_status tsl_npy_check_size(const tsl_reader *reader);

struct tsl_writer {
  const tsl_format *format;
  int64_t rows, cols;
  tesela_type type;
  tsl_output out;
  int64_t row; /* rows written so far */
  bool failed;
  void *state; /* the format's own, one block that tsl_free() takes */
};

/* Where elements are in memory, on either side: (i, j) at data + (i * row_stride + j * col_stride) elements.
 * Row 0 is the first of this call, which is row `first` of the matrix. */
typedef struct tsl_file_panel {
  union {
    void *data;         /* for reading a file */
    const void *source; /* for writing one */
  };
  int64_t row_stride, col_stride;
  int64_t first, rows, cols;
  int64_t first_col; /* of reading columns */
  tesela_type type;
  size_t size; /* bytes of an element */
} tsl_file_panel;

struct tsl_format {
  const char *name;    /* "npy", which is also the ending that asks for it */
  const char *endings; /* all endings, lower case, each with its point and a blank after it: ".csv .tsv " */

  /* Whether a file starts like this; `count` is at most 4096 bytes, fewer in a smaller file. */
  bool (*recognise)(const char *bytes, size_t count);
  bool marked;       /* no other file starts so */
  bool text;         /* numbers are printed */
  bool real_only;    /* it holds no complex numbers */
  bool takes_blocks; /* an element's place in a file that is written is known */
  bool keeps_rows;   /* a writer of rows in parts keeps them in memory */

  /* Reads what stands before the values and fills info and state. The shape goes through
   * tsl_reader_set_shape() and is compared with the size of a regular file, so that a shape which cannot be
   * true is refused before anybody takes memory for it. */
  tesela_status (*read_header)(tsl_reader *reader);
  /* Reads the next panel->rows rows; all of them where info.by_rows is false. */
  tesela_status (*read_rows)(tsl_reader *reader, const tsl_file_panel *panel);
  /* Reads a panel that is any block of the matrix, of a regular file; where info.by_blocks is false the
   * stream is at the first value, and all of it is read. NULL: rows are read, and what is not asked for is
   * left out. */
  tesela_status (*read_block)(tsl_reader *reader, const tsl_file_panel *panel);
  /* Whether columns are better read as whole rows all the same. With read_block, of formats whose info says
   * by_blocks. */
  bool (*is_narrow)(const tsl_reader *reader);
  /* After the last row: nothing may follow. */
  tesela_status (*read_end)(tsl_reader *reader);

  /* Whether the format can hold this shape and type; TESELA_BAD_CALL says which can. NULL: it holds all. */
  tesela_status (*may_write)(const char *path, int64_t rows, int64_t cols, tesela_type type);
  tesela_status (*write_header)(tsl_writer *writer);
  tesela_status (*write_rows)(tsl_writer *writer, const tsl_file_panel *panel);
  /* After the last row. NULL: nothing to do. */
  tesela_status (*write_end)(tsl_writer *writer);
};

/* The format of a name's ending, any case; NULL when the ending is none of them. */
const tsl_format *tsl_format_of_name(const char *path);
/* By its own name ("npy"); NULL when there is none. */
const tsl_format *tsl_format_find(const char *name);
/* By the first bytes that wait; NULL where they say nothing. `marked`: only if they are a format's alone. */
const tsl_format *tsl_format_recognise(const tsl_input *in, bool marked);
/* Whether a name ends so (".gz"), any case. */
bool tsl_format_name_ends(const char *path, const char *ending);

/* Address of an element of a panel. */
void *tsl_panel_at(const tsl_file_panel *panel, int64_t i, int64_t j);
/* Sets info.rows and info.cols; TESELA_BAD_INPUT for a shape that no memory can hold, so that products of the
 * two, times an element's size, never overflow afterwards. */
tesela_status tsl_reader_set_shape(tsl_reader *reader, int64_t rows, int64_t cols);
/* Stores one value that stands on line `line`; TESELA_BAD_INPUT, with the place, when it does not fit. */
tesela_status tsl_reader_put(const tsl_reader *reader, const tsl_file_panel *panel, int64_t i, int64_t j,
                             int64_t line, const double value[2]);
/* Back to row 0, of a regular file. */
tesela_status tsl_reader_restart(tsl_reader *reader);
/* Whether a text that is no number is a complex one ("1+2i"), which needs a sentence of its own in formats of
 * real numbers. */
bool tsl_reader_is_complex(const char *text, size_t length);
/* Reads a word as a number; TESELA_BAD_INPUT names the line. `flags` as in io_number.h. */
tesela_status tsl_reader_number(tsl_reader *reader, tsl_word word, int flags, double *value);
/* TESELA_BAD_INPUT when a regular file has not `count` values of at least `bytes` bytes left. */
tesela_status tsl_reader_expect(const tsl_reader *reader, int64_t count, int64_t bytes, const char *what);
/* Writes one component of a real type as text. */
tesela_status tsl_writer_number(tsl_writer *writer, tesela_type type, double value);
/* Writes rows of a real type, one a line. */
tesela_status tsl_writer_lines(tsl_writer *writer, const tsl_file_panel *panel, char separator);

#endif

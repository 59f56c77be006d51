/* Format of matrix files: a const table of functions in format_<name>.c, listed in io_list.h. Readers and
 * writers check calls and own the file. The format handles bytes. Shared functions are in io_values.c.
 *
 *   tsl_reader_open    path -> format -> input -> read_header: info, state
 *   tsl_reader_rows    checks rows and type -> read_rows: values into the caller's strides -> read_end
 *   tsl_writer_open    path -> format -> may_write -> output -> write_header
 *   tsl_writer_rows    checks rows -> write_rows; npy, csv and txt write at once, mtx buffers the rows
 *
 * To add a format: a line in io_list.h, a file format_<name>.c, and example files in tests/data. */
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
  tsl_file_info info; /* read_header sets all but `format` */
  int64_t row;        /* number of rows read */
  uint64_t start;     /* offset of the first value */
  int64_t start_line; /* line of the first value */
  tsl_printed printed;
  bool failed;                   /* a call failed: the stream's position is unknown */
  bool spooled;                  /* `in` is a temporary copy of the file */
  tsl_file_state original_state; /* state of the file before its spool */
  void *state;                   /* the format's, one block for tsl_free() */
};

/* Compares the rest of a spooled .npy file with its header. */
tesela_status tsl_npy_check_size(const tsl_reader *reader);

struct tsl_writer {
  const tsl_format *format;
  int64_t rows, cols;
  tesela_type type;
  tsl_output out;
  int64_t row; /* number of rows written */
  bool failed;
  void *state; /* the format's, one block for tsl_free() */
};

/* Elements from row `first` on: (i, j) is i * row_stride + j * col_stride elements after `data`. */
typedef struct tsl_file_panel {
  union {
    void *data;         /* element (0, 0) to read to */
    const void *source; /* element (0, 0) to write from */
  };
  int64_t row_stride, col_stride;
  int64_t first, rows, cols; /* first row in the file; size */
  int64_t first_col;         /* first column, when columns are read */
  tesela_type type;
  size_t size; /* bytes of an element */
} tsl_file_panel;

struct tsl_format {
  const char *name; /* "npy", also an ending */
  /* All endings in lower case with point and blank: ".csv .tsv ". */
  const char *endings;

  /* Returns true if a file may start with these bytes, at most 4096. */
  bool (*recognise)(const char *bytes, size_t count);
  bool marked; /* `recognise` is certain: no other format starts so */
  bool is_text;
  bool real_only;    /* holds no complex numbers */
  bool takes_blocks; /* an element's offset is known: tsl_resumable_open() works */
  bool keeps_rows;   /* a writer buffers rows that come in parts */

  /* Reads the header and sets info and state. Passes the shape to tsl_reader_set_shape() and compares it with
   * a regular file's size, before memory is allocated for it. */
  tesela_status (*read_header)(tsl_reader *reader);
  /* Reads the next panel->rows rows; all if info.by_rows is false. */
  tesela_status (*read_rows)(tsl_reader *reader, const tsl_file_panel *panel);
  /* Reads any block of a regular file, at its first value without info.by_blocks. NULL: reads whole rows. */
  tesela_status (*read_block)(tsl_reader *reader, const tsl_file_panel *panel);
  /* Returns true if columns are faster read as whole rows. Not NULL where info.by_blocks may be true. */
  bool (*has_short_rows)(const tsl_reader *reader);
  /* Checks that nothing follows the last value. */
  tesela_status (*read_end)(tsl_reader *reader);

  /* Checks shape and type. TESELA_BAD_CALL names formats that hold them. NULL: holds all. */
  tesela_status (*may_write)(const char *path, int64_t rows, int64_t cols, tesela_type type);
  tesela_status (*write_header)(tsl_writer *writer);
  tesela_status (*write_rows)(tsl_writer *writer, const tsl_file_panel *panel);
  /* Called after the last row. NULL: nothing to do. */
  tesela_status (*write_end)(tsl_writer *writer);
};

/* Returns the format of a name's ending, in any case; NULL: none. */
const tsl_format *tsl_format_of_name(const char *path);
/* Returns the format by its name ("npy"); NULL: none. */
const tsl_format *tsl_format_find(const char *name);
/* Returns the format by the buffered first bytes, or NULL. marked: only formats with a certain mark. */
const tsl_format *tsl_format_recognise(const tsl_input *in, bool marked);
/* Returns true if a name ends in `ending` (".gz"), in any case. */
bool tsl_format_name_ends(const char *path, const char *ending);

void *tsl_panel_address(const tsl_file_panel *panel, int64_t i, int64_t j);
/* Sets info.rows and info.cols. TESELA_BAD_INPUT beyond any memory, so that byte counts cannot overflow. */
tesela_status tsl_reader_set_shape(tsl_reader *reader, int64_t rows, int64_t cols);
/* Stores a value from line `line`. TESELA_BAD_INPUT, with the place, if it does not fit. */
tesela_status tsl_reader_store_value(const tsl_reader *reader, const tsl_file_panel *panel, int64_t i,
                                     int64_t j, int64_t line, const double value[2]);
/* Moves a regular file to row 0. */
tesela_status tsl_reader_restart(tsl_reader *reader);
/* Returns true if a text that is no real number is a complex one ("1+2i"), for a special message. */
bool tsl_reader_is_complex(const char *text, size_t length);
/* Reads a word as a number; `flags` as in io_number.h. TESELA_BAD_INPUT names the line. */
tesela_status tsl_reader_read_number(tsl_reader *reader, tsl_word word, int flags, double *value);
/* Fails with TESELA_BAD_INPUT if a regular file is too short for `count` values of `bytes` or more bytes. */
tesela_status tsl_reader_check_length(const tsl_reader *reader, int64_t count, int64_t bytes,
                                      const char *what);
/* Writes a real number as text. */
tesela_status tsl_writer_write_number(tsl_writer *writer, tesela_type type, double value);
/* Writes rows of a real type, one row a line. */
tesela_status tsl_writer_write_lines(tsl_writer *writer, const tsl_file_panel *panel, char separator);

#endif

/* Format of matrix files. It is a const table of functions in a file format_<name>.c, listed in io_list.h.
 * The functions
 * of reader.c and writer.c check the calls and own the file. A format handles the bytes only. The table of
 * formats is in formats.c; shared functions are in io_values.c.
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
  tsl_file_info info; /* read_header sets all but the format's name */
  int64_t row;        /* number of rows read so far */
  uint64_t start;     /* offset of the first value */
  /* line of the first value */
  int64_t start_line;
  tsl_printed printed;
  bool failed;               /* a call failed: the position in the stream is unknown */
  bool spooled;              /* `in` is a temporary copy of the file */
  tsl_file_state state_then; /* state of the file before it was spooled */
  void *state;               /* the format's own, one block for tsl_free() */
};

/* Compares the rest of a spooled .npy file with its header, which was read before. */
tesela_status tsl_npy_check_size(const tsl_reader *reader);

struct tsl_writer {
  const tsl_format *format;
  int64_t rows, cols;
  tesela_type type;
  tsl_output out;
  int64_t row; /* number of rows written so far */
  bool failed;
  void *state; /* the format's own, one block for tsl_free() */
};

/* Elements in memory: (i, j) is at data + (i * row_stride + j * col_stride) elements. Row 0 of the
 * panel is row `first` of the matrix. */
typedef struct tsl_file_panel {
  union {
    void *data;         /* target of a read */
    const void *source; /* source of a write */
  };
  int64_t row_stride, col_stride;
  int64_t first, rows, cols;
  int64_t first_col; /* first column, when columns are read */
  tesela_type type;
  size_t size; /* bytes of an element */
} tsl_file_panel;

struct tsl_format {
  const char *name; /* "npy", which is also an ending */
  /* all endings in lower case, each with its point and followed by a blank: ".csv .tsv " */
  const char *endings;

  /* Returns true if a file may start with these bytes; `count` is at most 4096, less for a smaller
   * file. */
  bool (*recognise)(const char *bytes, size_t count);
  bool marked;       /* `recognise` is certain: no other format starts in this way */
  bool text;         /* numbers are decimal text */
  bool real_only;    /* holds no complex numbers */
  bool takes_blocks; /* files can be written in blocks: an element's offset is known */
  bool keeps_rows;   /* a writer buffers rows that come in parts */

  /* Reads the header and sets info and state. Passes the shape to tsl_reader_set_shape() and
   * compares it with the size of a regular file, so that an impossible shape is refused before
   * memory is allocated for it. */
  tesela_status (*read_header)(tsl_reader *reader);
  /* Reads the next panel->rows rows; all rows if info.by_rows is false. */
  tesela_status (*read_rows)(tsl_reader *reader, const tsl_file_panel *panel);
  /* Reads any block of a regular file. If info.by_blocks is false, the stream is at the first value
   * and the whole file is read. NULL: whole rows are read instead. */
  tesela_status (*read_block)(tsl_reader *reader, const tsl_file_panel *panel);
  /* Returns true if columns are faster read as whole rows. Needed with read_block if info.by_blocks
   * may be true. */
  bool (*is_narrow)(const tsl_reader *reader);
  /* Checks after the last row that no data follows. */
  tesela_status (*read_end)(tsl_reader *reader);

  /* Checks that the format can hold this shape and type. TESELA_BAD_CALL names formats that can.
   * NULL: holds all. */
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
/* Returns the format by the buffered first bytes; NULL: unknown. marked: only formats with a
 * certain mark. */
const tsl_format *tsl_format_recognise(const tsl_input *in, bool marked);
/* Returns true if a name ends in `ending` (".gz"), in any case. */
bool tsl_format_name_ends(const char *path, const char *ending);

/* Returns the address of an element of a panel. */
void *tsl_panel_at(const tsl_file_panel *panel, int64_t i, int64_t j);
/* Sets info.rows and info.cols. TESELA_BAD_INPUT for a shape beyond any memory, so that rows * cols
 * * element size never overflows later. */
tesela_status tsl_reader_set_shape(tsl_reader *reader, int64_t rows, int64_t cols);
/* Stores a value from line `line`. TESELA_BAD_INPUT, with the place, if it does not fit. */
tesela_status tsl_reader_put(const tsl_reader *reader, const tsl_file_panel *panel, int64_t i, int64_t j,
                             int64_t line, const double value[2]);
/* Moves a regular file back to row 0. */
tesela_status tsl_reader_restart(tsl_reader *reader);
/* Returns true if a text that is no real number is a complex one ("1+2i"), for a special message. */
bool tsl_reader_is_complex(const char *text, size_t length);
/* Reads a word as a number; TESELA_BAD_INPUT names the line. `flags` as in io_number.h. */
tesela_status tsl_reader_number(tsl_reader *reader, tsl_word word, int flags, double *value);
/* Checks that a regular file has room for `count` values of at least `bytes` bytes.
 * TESELA_BAD_INPUT. */
tesela_status tsl_reader_expect(const tsl_reader *reader, int64_t count, int64_t bytes, const char *what);
/* Writes a real number as text. */
tesela_status tsl_writer_number(tsl_writer *writer, tesela_type type, double value);
/* Writes rows of a real type as text, one row a line. */
tesela_status tsl_writer_lines(tsl_writer *writer, const tsl_file_panel *panel, char separator);

#endif

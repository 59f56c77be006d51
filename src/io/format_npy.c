/* https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "io/cast.h"
#include "io/io_format.h"
#include "io/npy_header.h"

enum { LARGEST_SIZE = 16, BLOCK_COUNT = TSL_INPUT_BLOCK / LARGEST_SIZE };

typedef struct npy_state {
  tsl_npy_header header;
  bool widened_to_f64; /* integers without a type of tesela, read as f64 */
  bool swapped;        /* bytes are in the other order */
  size_t swap_size;    /* bytes reversed together: an element, or half a complex one */
  double widened_values[BLOCK_COUNT];
  unsigned char bytes[BLOCK_COUNT * LARGEST_SIZE];
} npy_state;

static const struct {
  tesela_type type;
  int size;
  char kind;
  bool widened_to_f64;
} elements[] = {
    {TESELA_F16, 2, 'f', false},   {TESELA_F32, 4, 'f', false}, {TESELA_F64, 8, 'f', false},
    {TESELA_I8, 1, 'i', false},    {TESELA_I32, 4, 'i', false}, {TESELA_C64, 8, 'c', false},
    {TESELA_C128, 16, 'c', false}, {TESELA_F64, 1, 'b', true},  {TESELA_U8, 1, 'u', false},
    {TESELA_F64, 2, 'i', true},    {TESELA_F64, 2, 'u', true},  {TESELA_F64, 4, 'u', true},
    {TESELA_F64, 8, 'i', true},    {TESELA_F64, 8, 'u', true},
};
enum { ELEMENT_COUNT = sizeof elements / sizeof elements[0] };

static const bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

static bool npy_recognise(const char *bytes, size_t count) {
  return count >= TSL_NPY_MAGIC_LENGTH && memcmp(bytes, TSL_NPY_MAGIC, TSL_NPY_MAGIC_LENGTH) == 0;
}

/* Fails if a regular file's rest has not exactly the bytes of the values. */
static tesela_status check_size(const tsl_reader *reader, const tsl_npy_header *header) {
  const int64_t bytes = header->rows * header->cols * header->size;
  const uint64_t have = tsl_input_bytes_left(&reader->in);
  if (!reader->in.regular || have == (uint64_t)bytes)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT,
                  "%s: is %s: its header says %" PRId64 " x %" PRId64 " elements of %d bytes, %" PRId64
                  " in all, but %" PRIu64 " bytes follow",
                  reader->path, have < (uint64_t)bytes ? "truncated" : "oversized", header->rows,
                  header->cols, header->size, bytes, have);
}

tesela_status tsl_npy_check_size(const tsl_reader *reader) {
  return check_size(reader, &((const npy_state *)reader->state)->header);
}

static tesela_status npy_read_header(tsl_reader *reader) {
  tsl_npy_header header;
  TSL_TRY(tsl_npy_header_read(&reader->in, &header));
  int element = 0;
  while (element < ELEMENT_COUNT &&
         (elements[element].kind != header.kind || elements[element].size != header.size))
    element++;
  if (element == ELEMENT_COUNT)
    return tsl_fail(
        TESELA_BAD_INPUT,
        "%s: holds elements '%c%d', which are not supported: f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 c8 c16 are",
        reader->path, header.kind >= ' ' && header.kind <= '~' ? header.kind : '?', header.size);
  TSL_TRY(tsl_reader_set_shape(reader, header.rows, header.cols));
  TSL_TRY(check_size(reader, &header));

  TSL_TRY(tsl_alloc(sizeof(npy_state), "reading a .npy file", &reader->state));
  npy_state *const state = reader->state;
  if (header.rows == 1 || header.cols == 1)
    header.fortran = false; /* a vector has one order only */
  state->header = header;
  state->widened_to_f64 = elements[element].widened_to_f64;
  state->swapped = header.size > 1 && header.order == (host_is_little ? '>' : '<');
  state->swap_size = (size_t)(header.kind == 'c' ? header.size / 2 : header.size);
  reader->info.type = elements[element].type;
  reader->info.by_rows = !header.fortran || reader->in.regular;
  reader->info.by_blocks = true;
  reader->info.columns_first = header.fortran;
  return TESELA_OK;
}

static void swap_bytes(unsigned char *bytes, size_t size, size_t count) {
  for (unsigned char *const end = bytes + size * count; bytes < end; bytes += size) {
    for (size_t i = 0; i < size / 2; i++) {
      const unsigned char swapped_byte = bytes[i];
      bytes[i] = bytes[size - 1 - i];
      bytes[size - 1 - i] = swapped_byte;
    }
  }
}

/* Converts an integer of 1, 2, 4 or 8 bytes; false: no double is equal. */
static bool widen_integer(const tsl_npy_header *header, const unsigned char *bytes, double *out) {
  uint64_t bits = 0;
  const size_t size = (size_t)header->size;
  memcpy((unsigned char *)&bits + (host_is_little ? 0 : sizeof bits - size), bytes, size);
  if (header->kind == 'b')
    bits = bits != 0;
  const bool negative = header->kind == 'i' && bits >> (8 * size - 1) != 0;
  if (negative && size < sizeof bits)
    bits |= ~(uint64_t)0 << (8 * size);
  const uint64_t magnitude = negative ? 0 - bits : bits;
  *out = negative ? -(double)magnitude : (double)magnitude;
  return magnitude == 0 || magnitude >> __builtin_ctzll(magnitude) < (uint64_t)1 << 53;
}

/* Consecutive values in the file. */
typedef struct value_run {
  int64_t row, col;           /* position of value 0 in the matrix */
  int64_t row_step, col_step; /* step from value to value: 1 in one direction, 0 in the other */
  void *at;                   /* target of value 0; value n goes to n * `step` elements after it */
  int64_t step;
} value_run;

/* Prepends value n's position to the message. */
static tesela_status fail_at_value(const tsl_reader *reader, const value_run *target, size_t n) {
  return tsl_fail_in(TESELA_BAD_INPUT, "%s: row %" PRId64 ", column %" PRId64, reader->path,
                     target->row + (int64_t)n * target->row_step + 1,
                     target->col + (int64_t)n * target->col_step + 1);
}

static tesela_status widen_integers(const tsl_reader *reader, const value_run *target,
                                    const unsigned char *bytes, size_t count) {
  npy_state *const state = reader->state;
  for (size_t n = 0; n < count; n++) {
    if (!widen_integer(&state->header, bytes + n * (size_t)state->header.size, &state->widened_values[n])) {
      tsl_fail(TESELA_BAD_INPUT, "holds an integer beyond 2^53 that no f64 is equal to");
      return fail_at_value(reader, target, n);
    }
  }
  return TESELA_OK;
}

/* Converts `count` values of state->bytes, from value `from` on, into a run. */
static tesela_status convert_into_panel(const tsl_reader *reader, const tsl_file_panel *panel,
                                        const value_run *target, size_t from, size_t count) {
  const npy_state *const state = reader->state;
  const unsigned char *const bytes = state->bytes + from * (size_t)state->header.size;
  const tesela_type type = reader->info.type;
  const void *source = bytes;
  if (state->widened_to_f64) {
    TSL_TRY(widen_integers(reader, target, bytes, count));
    source = state->widened_values;
  }
  size_t bad;
  if (tsl_cast(type, source, panel->type, target->at, target->step, count, &bad))
    return TESELA_OK;
  double value[2];
  tsl_type_load(type, (const char *)source + bad * tsl_type(type)->size, value);
  tsl_cast_fail(value, panel->type);
  return fail_at_value(reader, target, bad);
}

static tesela_status fail_truncated(const tsl_reader *reader) {
  return tsl_fail(TESELA_BAD_INPUT, "%s: is truncated: it ends before the last value", reader->path);
}

/* Reads the stream's next `count` values, at most a block, into state->bytes. */
static tesela_status read_block(tsl_reader *reader, size_t count) {
  npy_state *const state = reader->state;
  const size_t bytes = count * (size_t)state->header.size;
  size_t got;
  TSL_TRY(tsl_input_read(&reader->in, state->bytes, bytes, &got));
  if (got < bytes)
    return fail_truncated(reader);
  if (state->swapped)
    swap_bytes(state->bytes, state->swap_size, bytes / state->swap_size);
  return TESELA_OK;
}

/* Reads the panel in order of the stream: lines are rows, or columns in Fortran order. */
static tesela_status read_stream(tsl_reader *reader, const tsl_file_panel *panel) {
  const npy_state *const state = reader->state;
  const bool fortran = state->header.fortran;
  const int64_t length = fortran ? panel->rows : panel->cols;
  const int64_t total = panel->rows * panel->cols;
  const int64_t inner = fortran ? panel->row_stride : panel->col_stride;
  const int64_t outer = fortran ? panel->col_stride : panel->row_stride;
  const bool plain = !state->widened_to_f64 && !state->swapped && reader->info.type == panel->type &&
                     inner == 1 && (outer == length || length == total);
  if (plain) {
    size_t got;
    TSL_TRY(tsl_input_read(&reader->in, panel->data, (size_t)total * panel->size, &got));
    return got == (size_t)total * panel->size ? TESELA_OK : fail_truncated(reader);
  }
  for (int64_t done = 0; done < total;) {
    const int64_t block = total - done < BLOCK_COUNT ? total - done : BLOCK_COUNT;
    TSL_TRY(read_block(reader, (size_t)block));
    for (int64_t from = 0; from < block;) {
      const int64_t line = (done + from) / length, index_in_line = (done + from) % length;
      const int64_t left = length - index_in_line;
      const int64_t count = left < block - from ? left : block - from;
      const int64_t i = fortran ? index_in_line : line, j = fortran ? line : index_in_line;
      const value_run target = {.row = panel->first + i,
                                .col = j,
                                .row_step = fortran,
                                .col_step = !fortran,
                                .at = tsl_panel_address(panel, i, j),
                                .step = inner};
      TSL_TRY(convert_into_panel(reader, panel, &target, (size_t)from, (size_t)count));
      from += count;
    }
    done += block;
  }
  return TESELA_OK;
}

/* Lines of the file (rows, or columns in Fortran order) with a piece of a block. */
typedef struct npy_lines {
  int64_t lines, length; /* size of the block */
  int64_t pitch;         /* elements of a line in the file */
  int64_t first;         /* index of the block's first element in the file */
  int64_t memory_pitch;  /* elements from line to line in memory */
} npy_lines;
/* pieces announced to the system */
enum { LINES_AHEAD = 64 };

/* Reads a piece of a file's line into the panel from element (i, j) on. */
static tesela_status read_converted_values(tsl_reader *reader, const tsl_file_panel *panel, int64_t i,
                                           int64_t j, int64_t count) {
  npy_state *const state = reader->state;
  const bool fortran = state->header.fortran;
  const int64_t size = state->header.size, row = panel->first + i, col = panel->first_col + j;
  const int64_t index = fortran ? col * reader->info.rows + row : row * reader->info.cols + col;
  size_t got;
  TSL_TRY(tsl_input_read_at(&reader->in, reader->start + (uint64_t)(index * size), state->bytes,
                            (size_t)(count * size), &got));
  if (got < (size_t)(count * size))
    return fail_truncated(reader);
  if (state->swapped)
    swap_bytes(state->bytes, state->swap_size, got / state->swap_size);
  const value_run target = {.row = row,
                            .col = col,
                            .row_step = fortran,
                            .col_step = !fortran,
                            .at = tsl_panel_address(panel, i, j),
                            .step = fortran ? panel->row_stride : panel->col_stride};
  return convert_into_panel(reader, panel, &target, 0, (size_t)count);
}

/* Reads without conversion; whole lines that are consecutive in memory at once. */
static tesela_status read_lines_directly(tsl_reader *reader, const tsl_file_panel *panel,
                                         const npy_lines *layout) {
  const bool whole = layout->length == layout->pitch && layout->memory_pitch == layout->length;
  const uint64_t size = panel->size,
                 read_bytes = (uint64_t)layout->length * size * (whole ? (uint64_t)layout->lines : 1);
  for (int64_t line = 0; line < (whole ? 1 : layout->lines); line++) {
    const uint64_t offset = reader->start + (uint64_t)(layout->first + line * layout->pitch) * size;
    size_t got;
    if (!whole && line + LINES_AHEAD < layout->lines)
      tsl_input_announce(&reader->in, offset + (uint64_t)(LINES_AHEAD * layout->pitch) * size,
                         (size_t)read_bytes);
    TSL_TRY(tsl_input_read_at(&reader->in, offset,
                              (char *)panel->data + (uint64_t)(line * layout->memory_pitch) * size,
                              (size_t)read_bytes, &got));
    if (got < read_bytes)
      return fail_truncated(reader);
  }
  return TESELA_OK;
}

static tesela_status read_block_by_lines(tsl_reader *reader, const tsl_file_panel *panel) {
  const npy_state *const state = reader->state;
  const bool fortran = state->header.fortran;
  const npy_lines layout = {
      .lines = fortran ? panel->cols : panel->rows,
      .length = fortran ? panel->rows : panel->cols,
      .pitch = fortran ? reader->info.rows : reader->info.cols,
      .first = fortran ? panel->first_col * reader->info.rows + panel->first
                       : panel->first * reader->info.cols + panel->first_col,
      .memory_pitch = fortran ? panel->col_stride : panel->row_stride,
  };
  if (!state->widened_to_f64 && !state->swapped && reader->info.type == panel->type &&
      (fortran ? panel->row_stride : panel->col_stride) == 1)
    return read_lines_directly(reader, panel, &layout);
  for (int64_t line = 0; line < layout.lines; line++)
    for (int64_t at = 0; at < layout.length; at += BLOCK_COUNT) {
      const int64_t count = layout.length - at < BLOCK_COUNT ? layout.length - at : BLOCK_COUNT;
      TSL_TRY(read_converted_values(reader, panel, fortran ? at : line, fortran ? line : at, count));
    }
  return TESELA_OK;
}

/* Returns true if the disk reads several rows at once anyway. */
static bool npy_has_short_rows(const tsl_reader *reader) {
  enum { SHORT_ROW = TSL_INPUT_BLOCK / 64 };
  const npy_state *const state = reader->state;
  return !state->header.fortran && reader->info.cols * state->header.size < SHORT_ROW;
}

static tesela_status npy_read_rows(tsl_reader *reader, const tsl_file_panel *panel) {
  const npy_state *const state = reader->state;
  if (panel->rows == 0 || panel->cols == 0)
    return TESELA_OK;
  if (state->header.fortran && panel->rows < reader->info.rows)
    return read_block_by_lines(reader, panel);
  return read_stream(reader, panel);
}

static tesela_status npy_read_end(tsl_reader *reader) {
  if (reader->in.regular)
    return TESELA_OK; /* checked with the header */
  TSL_TRY(tsl_input_fill(&reader->in, 1));
  if (reader->in.at == reader->in.end)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT, "%s: is oversized: bytes follow the last value", reader->path);
}

static int find_element_or_count(tesela_type type) {
  int element = 0;
  while (element < ELEMENT_COUNT && elements[element].type != type)
    element++;
  return element;
}

tesela_type tsl_npy_stored_type(tesela_type type) {
  return find_element_or_count(type) < ELEMENT_COUNT ? type : tsl_type(type)->sums; /* f32 for narrow types */
}

size_t tsl_npy_header_print(tesela_type type, int64_t rows, int64_t cols, char header[TSL_NPY_HEADER_MAX]) {
  enum { ALIGNMENT = 64, PREFIX = TSL_NPY_MAGIC_LENGTH + 4 };
  const int element = find_element_or_count(tsl_npy_stored_type(type));
  const char order = elements[element].size == 1 ? '|' : host_is_little ? '<' : '>';
  int length =
      PREFIX + snprintf(header + PREFIX, TSL_NPY_HEADER_MAX - PREFIX,
                        "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (%" PRId64 ", %" PRId64 "), }",
                        order, elements[element].kind, elements[element].size, rows, cols);
  while ((length + 1) % ALIGNMENT != 0)
    header[length++] = ' ';
  header[length++] = '\n';
  memcpy(header, TSL_NPY_MAGIC "\x01\x00", TSL_NPY_MAGIC_LENGTH + 2);
  header[PREFIX - 2] = (char)((length - PREFIX) & 0xff);
  header[PREFIX - 1] = (char)((length - PREFIX) >> 8);
  return (size_t)length;
}

static tesela_status npy_write_header(tsl_writer *writer) {
  char header[TSL_NPY_HEADER_MAX];
  const size_t length = tsl_npy_header_print(writer->type, writer->rows, writer->cols, header);
  return tsl_output_write(&writer->out, header, length);
}

static tesela_status npy_write_rows(tsl_writer *writer, const tsl_file_panel *panel) {
  const tesela_type stored = tsl_npy_stored_type(writer->type);
  const size_t size = tsl_type(stored)->size;
  const bool dense = panel->col_stride == 1 && (panel->row_stride == panel->cols || panel->rows == 1);
  if (stored == writer->type && dense)
    return tsl_output_write(&writer->out, panel->data, (size_t)(panel->rows * panel->cols) * size);
  for (int64_t i = 0; i < panel->rows && panel->cols > 0; i++) {
    for (int64_t j = 0; j < panel->cols; j += BLOCK_COUNT) {
      const size_t count = (size_t)(panel->cols - j < BLOCK_COUNT ? panel->cols - j : BLOCK_COUNT);
      char *space;
      TSL_TRY(tsl_output_space(&writer->out, count * size, &space));
      tsl_type_convert(writer->type, tsl_panel_address(panel, i, j), panel->col_stride, stored, space, 1,
                       count);
      writer->out.used += count * size;
    }
  }
  return TESELA_OK;
}

const tsl_format tsl_format_npy = {
    .name = "npy",
    .endings = ".npy ",
    .marked = true,
    .takes_blocks = true,
    .recognise = npy_recognise,
    .read_header = npy_read_header,
    .read_rows = npy_read_rows,
    .read_block = read_block_by_lines,
    .has_short_rows = npy_has_short_rows,
    .read_end = npy_read_end,
    .write_header = npy_write_header,
    .write_rows = npy_write_rows,
};

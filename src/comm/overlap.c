#include "comm/overlap.h"

#include "core/checked.h"
#include "core/status.h"
#include "core/strides.h"

#include <stdlib.h>
#include <string.h>

/* Memory of a patch: equidistant lines of equidistant elements, in bytes of one address space. */
typedef struct lattice {
  uintptr_t space;      /* 0: host memory */
  int64_t start;        /* first byte of the lowest element */
  int64_t count, pitch; /* lines, and bytes between lines */
  int64_t length, step; /* elements of a line, and bytes between elements; pitch >= step */
  int64_t size;         /* bytes of an element */
  int64_t index;        /* number of the patch */
} lattice;

/* One line of a lattice. `length` counts elements; other members are bytes. */
typedef struct line {
  int64_t start, length, step, size;
} line;

static int64_t first_position(const tsl_dim *dim) {
  return dim->count > 0 ? dim->list[0].local : 0;
}

static int64_t absolute(int64_t value) {
  return value < 0 ? -value : value;
}

/* Returns false if bytes exceed 63 bits. The patch's rows and columns have consecutive positions. */
static bool make_lattice(const tsl_patch *patch, int64_t size, lattice *out) {
  const int64_t rows = tsl_dim_total(&patch->rows), cols = tsl_dim_total(&patch->cols);
  int64_t first[2], last[2], row_bytes, col_bytes, low = 0, high = 0;
  *out = (lattice){.size = size};
  if (rows == 0 || cols == 0)
    return true;
  first[0] = first_position(&patch->rows);
  first[1] = first_position(&patch->cols);
  last[0] = first[0] + rows - 1;
  last[1] = first[1] + cols - 1;
  const int64_t strides[2] = {patch->row_stride, patch->col_stride};
  if (!tsl_i64_mul(patch->offset, size, &low))
    return false;
  high = low;
  for (int i = 0; i < 2; i++) {
    int64_t stride, from, to;
    if (strides[i] == INT64_MIN || !tsl_i64_mul(strides[i], size, &stride) ||
        !tsl_i64_mul(stride, first[i], &from) || !tsl_i64_mul(stride, last[i], &to) ||
        !tsl_i64_add(low, from < to ? from : to, &low) || !tsl_i64_add(high, from < to ? to : from, &high))
      return false;
  }
  if (!tsl_i64_add(high, size, &high))
    return false;
  row_bytes = absolute(patch->row_stride) * size;
  col_bytes = absolute(patch->col_stride) * size;
  const bool by_rows = cols == 1 || (rows > 1 && row_bytes < col_bytes); /* lines are columns */
  out->start = low;
  out->count = by_rows ? cols : rows;
  out->pitch = by_rows ? col_bytes : row_bytes;
  out->length = by_rows ? rows : cols;
  out->step = by_rows ? row_bytes : col_bytes;
  return true;
}

/* Adds the operand's address in its address space, and sets that space. */
static void set_address(lattice *l, const tsl_host_copy *mirror) {
  if (!mirror->buffer) {
    l->start = (int64_t)((uintptr_t)mirror->data + (uintptr_t)l->start);
    return;
  }
  const uintptr_t native = (uintptr_t)tesela_buffer_memory(mirror->buffer).native;
  /* Compared by address, because several CUDA buffers may share memory. */
  const bool is_address = strncmp(tesela_buffer_memory(mirror->buffer).device, "cuda", 4) == 0;
  l->space = is_address ? 1 : native;
  l->start += mirror->at * l->size + (is_address ? (int64_t)native : 0);
}

static int64_t overlap_line_bytes(const lattice *l) {
  return (l->length - 1) * l->step + l->size;
}

static int64_t lattice_end(const lattice *l) {
  return l->start + (l->count - 1) * l->pitch + overlap_line_bytes(l);
}

/* Rounds down; b > 0. */
static int64_t floor_quotient(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

static bool elements_share_byte(int64_t a, int64_t a_size, int64_t b, int64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

static bool lines_share_byte(line a, line b) {
  if (b.step > a.step) {
    const line t = a;
    a = b;
    b = t;
  }
  const int64_t b_end = b.start + (b.length - 1) * b.step + b.size;
  int64_t i =
      a.step == 0 || a.start + a.size > b.start ? 0 : floor_quotient(b.start - a.start - a.size, a.step) + 1;
  /* If one line has no gaps or both have equal steps, all elements of `a` within b lie alike relative to b's,
   * and three decide. */
  const bool is_alike = a.step == b.step || b.step <= b.size;
  const int64_t last = is_alike && a.length - i > 2 ? i + 2 : a.length;
  for (; i < last; i++) {
    const int64_t at = a.start + i * a.step;
    if (at >= b_end)
      return false;
    int64_t j = b.step == 0 ? 0 : floor_quotient(at - b.start, b.step);
    j = j < 0 ? 0 : j > b.length - 1 ? b.length - 1 : j;
    for (int64_t k = j; k <= j + 1 && k < b.length; k++)
      if (elements_share_byte(at, a.size, b.start + k * b.step, b.size))
        return true;
  }
  return false;
}

/* Returns true if elements of a and b share a byte. Within a lattice no two elements overlap. */
static bool lattices_share_byte(lattice a, lattice b) {
  if (a.count == 0 || b.count == 0 || a.space != b.space || a.start >= lattice_end(&b) ||
      b.start >= lattice_end(&a))
    return false;
  if (a.count > 1 && a.pitch == b.pitch) {
    /* The relative position of lines i of `a` and j of b depends on j - i only. */
    b.start -= (a.count - 1) * a.pitch;
    b.count += a.count - 1;
    a.count = 1;
  }
  for (int64_t i = 0; i < a.count; i++) {
    const line of_a = {a.start + i * a.pitch, a.length, a.step, a.size};
    const int64_t behind = of_a.start + overlap_line_bytes(&a) - b.start;
    const int64_t before = of_a.start - b.start - overlap_line_bytes(&b);
    if (behind <= 0)
      continue;
    int64_t first = b.pitch == 0 ? 0 : floor_quotient(before, b.pitch) + 1;
    int64_t last = b.pitch == 0 ? b.count - 1 : floor_quotient(behind - 1, b.pitch);
    first = first < 0 ? 0 : first;
    last = last > b.count - 1 ? b.count - 1 : last;
    for (int64_t j = first; j <= last; j++)
      if (lines_share_byte(of_a, (line){b.start + j * b.pitch, b.length, b.step, b.size}))
        return true;
  }
  return false;
}

static int compare_starts(const void *a, const void *b) {
  const lattice *x = a, *y = b;
  return x->start < y->start ? -1 : x->start > y->start;
}

/* Makes the lattices of a rank's patches, sorted by start. The caller frees *out. */
static tesela_status make_lattices(const tsl_rank_part *part, int rank, lattice **out, int64_t *count) {
  *count = tsl_layout_patch_count(&part->layout, rank);
  *out = malloc((size_t)*count * sizeof **out + 1);
  if (!*out)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for comparing where %lld patches lie",
                    (long long)*count);
  for (int64_t i = 0; i < *count; i++) {
    const tsl_patch patch = tsl_layout_patch(&part->layout, rank, i);
    if (make_lattice(&patch, (int64_t)part->type->size, &(*out)[i]) && (*out)[i].count > 0)
      set_address(&(*out)[i], &part->mirror);
    (*out)[i].index = i;
  }
  qsort(*out, (size_t)*count, sizeof **out, compare_starts);
  return TESELA_OK;
}

tesela_status tsl_overlap_check_reach(const tsl_rank_part *part, const char *name, int rank) {
  for (int64_t i = 0; i < tsl_layout_patch_count(&part->layout, rank); i++) {
    const tsl_patch patch = tsl_layout_patch(&part->layout, rank, i);
    lattice ignored;
    if (!make_lattice(&patch, (int64_t)part->type->size, &ignored))
      return tsl_fail(TESELA_BAD_CALL, "%s: %lld x %lld elements with strides %lld, %lld pass 2^63 bytes",
                      name, (long long)tsl_dim_total(&patch.rows), (long long)tsl_dim_total(&patch.cols),
                      (long long)patch.row_stride, (long long)patch.col_stride);
  }
  return TESELA_OK;
}

tesela_status tsl_overlap_check_result(const tsl_rank_part *result, const char *name, int rank) {
  int64_t count = tsl_layout_patch_count(&result->layout, rank);
  for (int64_t i = 0; i < count; i++) {
    const tsl_patch patch = tsl_layout_patch(&result->layout, rank, i);
    const int64_t rows = tsl_dim_total(&patch.rows), cols = tsl_dim_total(&patch.cols);
    if (tsl_strides_overlap(rows, cols, patch.row_stride, patch.col_stride))
      return tsl_fail(TESELA_BAD_CALL, "elements of %s (%lld x %lld, strides %lld, %lld) overlap each other",
                      name, (long long)rows, (long long)cols, (long long)patch.row_stride,
                      (long long)patch.col_stride);
  }
  if (count < 2)
    return TESELA_OK;
  lattice *list;
  tesela_status status = make_lattices(result, rank, &list, &count);
  for (int64_t i = 0; i < count && status == TESELA_OK; i++)
    for (int64_t j = i + 1; j < count && list[j].start < lattice_end(&list[i]) && status == TESELA_OK; j++)
      if (lattices_share_byte(list[i], list[j]))
        status = tsl_fail(TESELA_BAD_CALL, "rectangles %lld and %lld of %s overlap in memory",
                          (long long)(list[i].index < list[j].index ? list[i].index : list[j].index),
                          (long long)(list[i].index < list[j].index ? list[j].index : list[i].index), name);
  free(list);
  return status;
}

tesela_status tsl_overlap_check_operand(const tsl_rank_part *result, const char *result_name,
                                        const tsl_rank_part *operand, const char *operand_name, int rank) {
  lattice *results = NULL, *operands = NULL;
  int64_t result_count, operand_count;
  tesela_status status = make_lattices(result, rank, &results, &result_count);
  if (status == TESELA_OK)
    status = make_lattices(operand, rank, &operands, &operand_count);
  for (int64_t i = 0; status == TESELA_OK && i < result_count; i++)
    for (int64_t j = 0;
         status == TESELA_OK && j < operand_count && operands[j].start < lattice_end(&results[i]); j++)
      if (lattices_share_byte(results[i], operands[j]))
        status = tsl_fail(TESELA_BAD_CALL, "%s overlaps %s: in-place results are not supported on ranks",
                          result_name, operand_name);
  free(results);
  free(operands);
  return status;
}

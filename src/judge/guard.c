#include "judge/guard.h"

#include "core/memory.h"
#include "core/status.h"
#include "problem/structure.h"

#include <string.h>

enum { PAGE = 4096, TAIL = 512 };

/* Fills with a pattern whose neighbouring bytes differ, and whose words are unusual numbers. */
static void fill_pattern(unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    bytes[i] = (unsigned char)(0xa5 ^ i * 29);
}

tesela_status tsl_guarded_create(const tsl_shape *shape, int skew, tsl_guarded *out) {
  const size_t size = tsl_type(shape->type)->size;
  const size_t extent = (size_t)tsl_shape_extent(shape) * size;
  void *memory;
  *out = (tsl_guarded){.shape = *shape};
  out->head = PAGE + (size_t)skew * size;
  out->bytes = out->head + extent + TAIL;
  TSL_TRY(tsl_alloc(out->bytes + PAGE, "an operand", &memory));
  out->memory = memory;
  out->block = out->memory + (PAGE - (uintptr_t)memory % PAGE) % PAGE;
  out->origin = out->block + (size_t)tsl_guarded_offset(out) * size;
  fill_pattern(out->block, out->bytes);
  return TESELA_OK;
}

void tsl_guarded_free(tsl_guarded *guarded) {
  tsl_free(guarded->memory);
  tsl_free(guarded->before);
  *guarded = (tsl_guarded){0};
}

int64_t tsl_guarded_offset(const tsl_guarded *guarded) {
  return (int64_t)(guarded->head / tsl_type(guarded->shape.type)->size) + tsl_shape_below(&guarded->shape);
}

void tsl_guarded_part_without_guards(const tsl_guarded *guarded, size_t *first, size_t *bytes) {
  *first = PAGE;
  *bytes = guarded->bytes - PAGE - TAIL;
}

/* Returns a checksum. Equal sums of different blocks need at least two changes that cancel. */
static uint64_t guard_checksum(const unsigned char *bytes, size_t count) {
  uint64_t sum = count, word;
  size_t i = 0;
  for (; i + sizeof word <= count; i += sizeof word) {
    memcpy(&word, bytes + i, sizeof word);
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    sum ^= sum >> 29;
  }
  for (; i < count; i++)
    sum = (sum ^ bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
  return sum;
}

void tsl_guarded_store_checksum(tsl_guarded *guarded) {
  guarded->checksum = guard_checksum(guarded->block, guarded->bytes);
}

bool tsl_guarded_matches_checksum(const tsl_guarded *guarded) {
  return guarded->checksum == guard_checksum(guarded->block, guarded->bytes);
}

tesela_status tsl_guarded_save_copy(tsl_guarded *guarded) {
  void *copy;
  TSL_TRY(tsl_alloc(guarded->bytes, "a copy of an operand", &copy));
  guarded->before = copy;
  memcpy(guarded->before, guarded->block, guarded->bytes);
  return TESELA_OK;
}

void tsl_guarded_restore_copy(tsl_guarded *guarded) {
  memcpy(guarded->block, guarded->before, guarded->bytes);
}

const unsigned char *tsl_guarded_copied_origin(const tsl_guarded *guarded) {
  return guarded->before + (guarded->origin - guarded->block);
}

/* Overwrites `image`, a copy of the block, with the saved elements of C: any other difference stays. */
static void restore_elements(const tsl_guarded *guarded, unsigned char *image) {
  const tsl_shape *shape = &guarded->shape;
  const int64_t size = (int64_t)tsl_type(shape->type)->size;
  unsigned char *origin = image + (guarded->origin - guarded->block);
  memcpy(image, guarded->block, guarded->bytes);
  if (shape->triangle != TESELA_WHOLE) {
    tsl_shape_copy_stored(shape, tsl_guarded_copied_origin(guarded), origin);
    return;
  }
  for (int64_t i = 0; i < shape->rows; i++)
    tsl_type_convert(shape->type, tsl_guarded_copied_origin(guarded) + i * shape->row_stride * size,
                     shape->col_stride, shape->type, origin + i * shape->row_stride * size, shape->col_stride,
                     (size_t)shape->cols);
}

tesela_status tsl_guarded_check_writes(const tsl_guarded *guarded, bool *good, int64_t *offset,
                                       const char **why) {
  const size_t tail_at = guarded->bytes - TAIL;
  void *image;
  *good = memcmp(guarded->block, guarded->before, guarded->head) == 0 &&
          memcmp(guarded->block + tail_at, guarded->before + tail_at, TAIL) == 0;
  const bool is_whole = guarded->shape.triangle == TESELA_WHOLE;
  if (*good && (guarded->shape.rows == 0 || guarded->shape.cols == 0 ||
                (is_whole && tsl_shape_is_dense(&guarded->shape))))
    return TESELA_OK;
  TSL_TRY(tsl_alloc(guarded->bytes, "checking guards", &image));
  restore_elements(guarded, image);
  size_t i = 0;
  while (i < guarded->bytes && ((unsigned char *)image)[i] == guarded->before[i])
    i++;
  *good = i == guarded->bytes;
  *offset = (int64_t)i - (int64_t)guarded->head;
  *why = i < guarded->head ? "in front of"
         : i >= tail_at    ? "behind"
         : is_whole        ? "in a gap of"
                           : "outside of the triangle or in a gap of";
  tsl_free(image);
  return TESELA_OK;
}

#include "tune/operand_sets.h"

#include "core/memory.h"
#include "core/status.h"
#include "judge/solve_data.h"

#include <stdlib.h>

/* Bytes: alignment of OpenCL sub-buffers, at most (NVIDIA: 4096 bits), and of cache lines. */
enum { ALIGNMENT = 512, LINE = 128, SETS_MAX = 1 << 16, MEMORY_DIVISOR = 4 };
static const uint64_t cache_bytes_guess = (uint64_t)64 << 20;

typedef struct operand_sets_layout {
  const tsl_shape *shape;
  size_t bytes;          /* bytes of its extent */
  size_t stride;         /* bytes from set to set */
  int64_t origin_offset; /* elements from the extent's start to element (0, 0) */
} operand_sets_layout;

static size_t operand_sets_round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/* Computes each operand's layout. TESELA_OUT_OF_MEMORY: an operand exceeds the address space. */
static tesela_status operand_sets_lay_out(const tsl_problem *problem,
                                          operand_sets_layout layouts[TSL_OPERANDS]) {
  for (int i = 0; i < TSL_OPERANDS; i++) {
    operand_sets_layout *layout = &layouts[i];
    layout->shape = tsl_problem_shape(problem, i);
    layout->origin_offset = tsl_shape_below(layout->shape);
    if (!tsl_size_mul((size_t)tsl_shape_extent(layout->shape), tsl_type(layout->shape->type)->size,
                      &layout->bytes) ||
        layout->bytes > SIZE_MAX / 4)
      return tsl_fail(TESELA_OUT_OF_MEMORY, "operand %c is larger than memory", "ABC"[i]);
    layout->stride = operand_sets_round_up(layout->bytes, ALIGNMENT) + ALIGNMENT;
  }
  return TESELA_OK;
}

/* Returns the number of sets by the caches, limited by memory. *cold: they are enough. */
static int count_sets(const operand_sets_layout layouts[TSL_OPERANDS], const tsl_device *device, bool warm,
                      bool *cold) {
  const uint64_t cache = device->cache_bytes ? device->cache_bytes : cache_bytes_guess;
  uint64_t in_cache = 0, in_memory = 0, most = SETS_MAX, free_bytes = device->memory_bytes;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    in_cache += operand_sets_round_up(layouts[i].bytes, LINE);
    in_memory += layouts[i].stride;
    if (device->allocation_max / layouts[i].stride < most)
      most = device->allocation_max / layouts[i].stride;
  }
  if (device->is_cpu && tsl_memory_available() < free_bytes)
    free_bytes = tsl_memory_available();
  const uint64_t wanted = in_cache > 0 ? (2 * cache + in_cache - 1) / in_cache : 1,
                 space = free_bytes / MEMORY_DIVISOR / in_memory;
  most = space < most ? space : most;
  const uint64_t count = warm || most == 0 ? 1 : wanted < most ? wanted : most;
  *cold = in_cache > 0 && count >= wanted;
  return (int)count;
}

/* Copies the first set to all others, and doubles the number of sets each time. */
static tesela_status copy_first_set(tsl_stream *stream, tsl_buffer *buffer, const operand_sets_layout *layout,
                                    int count) {
  const tsl_device_ops *ops = buffer->device->ops;
  for (int copied = 1; copied < count; copied *= 2) {
    const int more = copied < count - copied ? copied : count - copied;
    TSL_TRY(
        ops->copy(stream, buffer, 0, buffer, (size_t)copied * layout->stride, (size_t)more * layout->stride));
  }
  return TESELA_OK;
}

static tesela_status fill_with_kind(tsl_kind data, uint64_t seed, const tsl_shape *shape,
                                    unsigned char *origin) {
  const size_t size = tsl_type(shape->type)->size;
  void *dense;
  TSL_TRY(tsl_alloc((size_t)(shape->rows * shape->cols) * size, "operands to measure with", &dense));
  const tesela_status status = tsl_kind_fill(data, seed, shape->rows, shape->cols, shape->type, dense);
  for (int64_t row = 0; row < shape->rows && status == TESELA_OK; row++)
    tsl_type_convert(shape->type, (unsigned char *)dense + (size_t)(row * shape->cols) * size, 1, shape->type,
                     origin + row * shape->row_stride * (int64_t)size, shape->col_stride,
                     (size_t)shape->cols);
  tsl_free(dense);
  return status;
}

static tesela_status fill_buffer(tsl_operand_sets *sets, int operand, const operand_sets_layout *layout,
                                 tsl_kind data, uint64_t seed, tsl_stream *stream) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(layout->stride, "operands to measure with", &block));
  tesela_status status;
  unsigned char *origin =
      (unsigned char *)block + layout->origin_offset * (int64_t)tsl_type(layout->shape->type)->size;
  if (data == TSL_KIND_NORMAL)
    TSL_GO(tsl_data_fill(TSL_DATA_NORMAL, seed + (uint64_t)operand, layout->shape, 1, origin));
  else
    TSL_GO(fill_with_kind(data, seed + (uint64_t)operand, layout->shape, origin));
  if (layout->shape->structure == TESELA_TRIANGULAR || layout->shape->structure == TESELA_UNIT_TRIANGULAR)
    tsl_solve_make_triangle(TSL_DATA_NORMAL, seed, layout->shape, origin);
  TSL_GO(tsl_device_write(stream, sets->buffers[operand], 0, block, layout->stride));
  TSL_GO(copy_first_set(stream, sets->buffers[operand], layout, sets->count));
  status = sets->device->ops->finish(stream);
out:
  tsl_free(block);
  return status;
}

static tesela_status make_operands_of_sets(tsl_operand_sets *sets,
                                           const operand_sets_layout layouts[TSL_OPERANDS]) {
  sets->items = calloc((size_t)sets->count, sizeof *sets->items);
  if (!sets->items)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a list of %d sets of operands", sets->count);
  for (int set = 0; set < sets->count; set++) {
    tsl_operand operands[TSL_OPERANDS];
    for (int i = 0; i < TSL_OPERANDS; i++) {
      const int64_t stride = (int64_t)(layouts[i].stride / tsl_type(layouts[i].shape->type)->size);
      operands[i] =
          (tsl_operand){.buffer = sets->buffers[i], .offset = set * stride + layouts[i].origin_offset};
    }
    sets->items[set] = (tsl_operands){
        .a = operands[TSL_OPERAND_A], .b = operands[TSL_OPERAND_B], .c = operands[TSL_OPERAND_C]};
  }
  return TESELA_OK;
}

/* Allocates the buffers, fills the first set and copies it to the others. */
static tesela_status operand_sets_fill(tsl_operand_sets *sets,
                                       const operand_sets_layout layouts[TSL_OPERANDS], tsl_kind data,
                                       uint64_t seed) {
  tsl_device *device = sets->device;
  tsl_stream *stream;
  tesela_status status = TESELA_OK;
  for (int i = 0; i < TSL_OPERANDS; i++)
    TSL_TRY(device->ops->buffer_create(device, (size_t)sets->count * layouts[i].stride, &sets->buffers[i]));
  TSL_TRY(device->ops->stream_create(device, &stream));
  for (int i = 0; i < TSL_OPERANDS && status == TESELA_OK; i++)
    status = fill_buffer(sets, i, &layouts[i], i == TSL_OPERAND_A ? data : TSL_KIND_NORMAL, seed, stream);
  device->ops->stream_destroy(stream);
  return status == TESELA_OK ? make_operands_of_sets(sets, layouts) : status;
}

tesela_status tsl_operand_sets_create(const tsl_problem *problem, tsl_device *device, tsl_kind data,
                                      uint64_t seed, bool warm, tsl_operand_sets *out) {
  operand_sets_layout layouts[TSL_OPERANDS];
  *out = (tsl_operand_sets){.device = device};
  TSL_TRY(operand_sets_lay_out(problem, layouts));
  out->count = count_sets(layouts, device, warm, &out->cold);
  for (int i = 0; i < TSL_OPERANDS; i++)
    out->set_bytes += layouts[i].bytes;
  const tesela_status status = operand_sets_fill(out, layouts, data, seed);
  if (status != TESELA_OK)
    tsl_operand_sets_free(out);
  return status;
}

void tsl_operand_sets_free(tsl_operand_sets *sets) {
  for (int i = 0; i < TSL_OPERANDS; i++)
    if (sets->buffers[i])
      sets->device->ops->buffer_destroy(sets->buffers[i]);
  free(sets->items);
  *sets = (tsl_operand_sets){.device = sets->device};
}

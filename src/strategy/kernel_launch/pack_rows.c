#include "strategy/kernel_launch/pack_rows.h"

#include "core/status.h"
#include "host/int_math.h"
#include "strategy/kernel_launch/pack_rows_shared.h"

#include <stdio.h>

enum { CHUNK = 16, PACK_ITEMS = 256, UNIT_GROUPS = 16 };

tsl_rows tsl_rows_of(int64_t lines, int64_t k, bool across, int element) {
  const int64_t elements = across ? lines : k;
  return (tsl_rows){across ? k : lines, elements, tsl_round_up(elements * element, CHUNK)};
}

int64_t tsl_rows_bytes(const tsl_rows *rows) {
  return tsl_round_up(rows->rows * rows->pitch, 128);
}

tesela_status tsl_pack_rows_kernel(tsl_work *work, int element, tsl_kernel **kernel) {
  char defines[32];
  snprintf(defines, sizeof defines, "#define SIZE %d\n", element);
  return tsl_launch_kernel_with(work, "strategy/kernel_launch/pack_rows.cl", "tsl_pack_rows", PACK_ITEMS,
                                defines, kernel);
}

tesela_status tsl_pack_rows(const tsl_work *work, tsl_kernel *kernel, const tsl_rows *rows, int element,
                            int64_t products, tsl_buffer *scratch, int64_t end, tsl_stream *stream,
                            tsl_rows_place *place) {
  const tsl_device *device = work->device;
  const int64_t packed = place->apart != 0 ? products : 1, bytes = tsl_rows_bytes(rows);
  const tsl_pack_rows_arguments given = {.rows = rows->rows,
                                         .elements = rows->elements,
                                         .offset = place->offset,
                                         .row_stride = place->row_stride,
                                         .step = place->step,
                                         .to = end,
                                         .pitch = rows->pitch,
                                         .products = packed,
                                         .apart = place->apart,
                                         .packed = bytes};
  const tsl_argument list[] = {TSL_ARG_BUFFER(place->buffer), TSL_ARG_BUFFER(scratch), TSL_ARG_VALUE(given)};
  const int64_t needed = (rows->rows * (rows->pitch / CHUNK) + PACK_ITEMS - 1) / PACK_ITEMS,
                most = (int64_t)UNIT_GROUPS * (device->compute_units > 0 ? device->compute_units : 1);
  const tsl_grid grid = {{tsl_launch_limited(device, 0, needed < most ? needed : most),
                          tsl_launch_limited(device, 1, packed), 1},
                         {PACK_ITEMS, 1, 1}};
  TSL_TRY(device->ops->launch(stream, kernel, &grid, list, sizeof list / sizeof *list));
  *place =
      (tsl_rows_place){scratch, end / element, rows->pitch / element, 1, packed > 1 ? bytes / element : 0};
  return TESELA_OK;
}

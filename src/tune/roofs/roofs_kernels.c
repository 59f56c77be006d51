#include "core/status.h"
#include "tune/roofs/kernel_bench.h"

static const tsl_kernel_shape gpu = {
    .items = 256, .lanes_f32 = 4, .flight = 4, .chains = 8, .round = 16, .launches = 4, .groups_per_unit = 4};
static const tsl_kernel_shape processor = {.items = 1,
                                           .lanes_f32 = 0,
                                           .flight = 8,
                                           .chains = 12,
                                           .round = 16,
                                           .launches = 1,
                                           .chunk_bytes = 1 << 20,
                                           .groups_per_unit = 4};

static tsl_kernel_shape shape_for(const tsl_device *device) {
  tsl_kernel_shape chosen = device->is_cpu ? processor : gpu;
  if (device->is_cpu)
    chosen.lanes_f32 = device->vector_f32 >= 16 ? 16 : device->vector_f32 >= 8 ? 8 : 4;
  while (chosen.items > device->group_items_max)
    chosen.items /= 2;
  return chosen;
}

tesela_status tsl_roofs_on_kernels(tsl_device *device, double seconds, tsl_roofs *roofs) {
  tsl_kernel_bench b = {.device = device, .ops = device->ops, .shape = shape_for(device)};
  tesela_status status;
  TSL_GO(b.ops->stream_create(device, &b.stream));
  TSL_GO(b.ops->event_create(device, &b.begin));
  TSL_GO(b.ops->event_create(device, &b.end));
  if (roofs->bytes > 0)
    TSL_GO(tsl_kernel_bench_memory(&b, seconds, roofs));
  TSL_GO(tsl_kernel_bench_fma(&b, TESELA_F32, 0.15 * seconds, &roofs->roof[TSL_ROOF_FMA_F32]));
  if (device->capabilities & TSL_CAN_F64)
    TSL_GO(tsl_kernel_bench_fma(&b, TESELA_F64, 0.15 * seconds, &roofs->roof[TSL_ROOF_FMA_F64]));
out:
  if (b.begin)
    b.ops->event_destroy(b.begin);
  if (b.end)
    b.ops->event_destroy(b.end);
  if (b.stream)
    b.ops->stream_destroy(b.stream);
  return status;
}

#include "unit/mock.h"

#include "core/status.h"

static tesela_status mock_does_not_open(tsl_device *device) {
  return tsl_fail(TESELA_DEVICE_FAILED, "%s: a mock, which does not open", device->name);
}

static void mock_does_not_close(tsl_device *device) {
  (void)device;
}

static const tsl_device_ops mock_ops = {.open = mock_does_not_open, .close = mock_does_not_close};

const tsl_device mock_device = {.ops = &mock_ops,
                                .capabilities = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64,
                                .key = "mock/1",
                                .compute_units = 100,
                                .clock_mhz = 1500,
                                .memory_bytes = (uint64_t)1 << 36,
                                .allocation_max = (uint64_t)1 << 34,
                                .local_bytes = 49152,
                                .group_items_max = 1024,
                                .group_size_max = {1024, 1024, 64},
                                .group_count_max = {(uint64_t)1 << 31, 65535, 65535},
                                .warp = 32,
                                .peak_f32 = 2e13,
                                .peak_f64 = 1e13,
                                .bandwidth = 1e12,
                                .launch_seconds = 5e-6};

/* Buffers that wrap CUDA memory, found by address: asking the driver about memory takes microseconds. A
 * buffer whose allocation has ended only names addresses. */
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <tesela/tesela.h>

namespace core {

/* Name of a device, such as "cuda:0". */
struct DeviceName {
  char text[24];
  explicit DeviceName(int id) { snprintf(text, sizeof text, "cuda:%d", id); }
};

class DeviceRanges {
public:
  struct Place {
    std::shared_ptr<tesela_buffer> buffer;
    int device = -1;
    uintptr_t start = 0, end = 0; /* addresses of the buffer */
  };

  /* Finds a buffer with some bytes of a device's memory, or makes one. It begins a multiple of `unit` bytes
   * below the address; 0: at the address. */
  tesela_status find(tesela_context *where, int device, uintptr_t address, size_t bytes, size_t unit,
                     Place *place) {
    std::lock_guard guard(lock_);
    if (owner_ != where) /* the context may have died with a fork: its buffers stay in memory */
      new Ranges(std::exchange(ranges_, {}));
    owner_ = where;
    const auto fits = [&](const Place &found) {
      return found.device == device && found.start <= address && address + bytes <= found.end &&
             (unit ? (address - found.start) % unit == 0 : address == found.start);
    };
    const auto after = ranges_.upper_bound(address);
    if (after != ranges_.begin() && fits(*place = std::prev(after)->second))
      return TESELA_OK;
    if (ranges_.size() >= RANGES_MAX)
      ranges_.clear();
    /* Allocations begin at multiples of 2 MiB, or these bytes are in another one. */
    const uintptr_t below = unit ? address & ~(ALIGNMENT - 1) : address;
    const tesela_status status = wrap(where, device, below, 0, place);
    if (status != TESELA_OK || !fits(*place)) {
      const tesela_status exactly = wrap(where, device, address, bytes, place);
      if (exactly != TESELA_OK)
        return exactly;
    }
    ranges_[place->start] = *place;
    return TESELA_OK;
  }

private:
  using Ranges = std::map<uintptr_t, Place>;
  static constexpr size_t RANGES_MAX = 1 << 14;
  static constexpr uintptr_t ALIGNMENT = 1 << 21;

  /* Wraps memory up to the end of its allocation if bytes is 0. */
  static tesela_status wrap(tesela_context *where, int device, uintptr_t address, size_t bytes,
                            Place *place) {
    tesela_buffer *made = nullptr;
    const tesela_status status =
        tesela_buffer_wrap(where, DeviceName(device).text, reinterpret_cast<void *>(address), bytes, &made);
    if (status != TESELA_OK)
      return status;
    *place = {std::shared_ptr<tesela_buffer>(made, tesela_buffer_destroy), device, address,
              address + tesela_buffer_memory(made).bytes};
    return TESELA_OK;
  }

  std::mutex lock_;
  Ranges ranges_;
  tesela_context *owner_ = nullptr;
};

} // namespace core

/* Checks that addresses of freed memory find no old buffer: of another device, or without some of the bytes.
 */
#include "device_ranges.h"

#include <cstdlib>

struct tesela_buffer {
  uintptr_t start;
  size_t bytes;
  char device;
};

static uintptr_t memory_start, memory_end; /* the only allocation */
static int live, wraps;

tesela_status tesela_buffer_wrap(tesela_context *, const char *device, void *native, size_t bytes,
                                 tesela_buffer **buffer) {
  const auto start = reinterpret_cast<uintptr_t>(native);
  if (start < memory_start || start + bytes > memory_end)
    return TESELA_BAD_CALL;
  live++, wraps++;
  *buffer = new tesela_buffer{start, bytes ? bytes : memory_end - start, device[5]};
  return TESELA_OK;
}
tesela_memory tesela_buffer_memory(const tesela_buffer *buffer) {
  return {nullptr, "", buffer->bytes};
}
void tesela_buffer_destroy(tesela_buffer *buffer) {
  live--;
  delete buffer;
}

static void check(bool is_right, int line) {
  if (!is_right) {
    printf("line %d\n", line);
    exit(1);
  }
}
#define CHECK(x) check(x, __LINE__)

int main() {
  core::DeviceRanges ranges;
  core::DeviceRanges::Place place;
  const auto find = [&](int device, uintptr_t address, size_t bytes, size_t unit) {
    const int before = wraps;
    CHECK(ranges.find(nullptr, device, address, bytes, unit, &place) == TESELA_OK);
    CHECK(place.buffer->device == '0' + device && place.start == place.buffer->start);
    CHECK(place.start <= address && address + bytes <= place.start + place.buffer->bytes);
    CHECK(unit ? (address - place.start) % unit == 0 : address == place.start);
    return wraps > before;
  };
  const uintptr_t base = uintptr_t{5} << 21;
  memory_start = base, memory_end = base + 4096;
  CHECK(find(0, base + 256, 512, 4));
  CHECK(!find(0, base + 64, 4000, 8)); /* the allocation is known */
  CHECK(find(0, base + 66, 64, 4));    /* no multiple of 4 bytes away */
  memory_end = base + 8192;            /* freed, and allocated again: larger, then on another device */
  CHECK(find(0, base + 256, 7000, 4));
  CHECK(find(1, base + 256, 512, 4));
  CHECK(find(0, base + 256, 512, 4));
  CHECK(find(0, base + 128, 512, 0) && !find(0, base + 128, 512, 0)); /* a workspace begins its buffer */
  memory_start = base + 512;
  CHECK(find(2, base + 1024, 512, 4)); /* memory below it is not allocated */
  core::DeviceRanges::Place kept = place;
  for (int i = 0; i < 20000; i++)
    (void)find(3, base + 512 + i % 4096, 1, 0);
  CHECK(kept.buffer->device == '2' && live <= 5000);
  return 0;
}

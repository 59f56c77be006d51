/* Tensor maps for the tensor memory accelerator from sm_90 on. A map depends only on address and layout, and
 * needs the driver, so the latest maps are cached. A map with an equal key is valid for any memory at its
 * address. The cache is not per thread: threads of the BLAS drop-in have little thread-local storage. */
#include "core/status.h"
#include "device/cuda/cuda_device.h"

#include <pthread.h>
#include <string.h>

/* All that determines a map, without padding. */
typedef struct map_key {
  uint64_t address;
  int64_t size[3], pitch[2];
  int32_t box[2];
  int32_t element_bytes;
  tsl_cu_device ordinal; /* other generations may have other formats */
} map_key;
_Static_assert(sizeof(map_key) == 6 * sizeof(uint64_t) + 4 * sizeof(int32_t), "keys are compared by bytes");

/* A, B, C and sums of alternating products on all devices. */
enum { CACHED_MAPS = 64 };
typedef struct cached_map {
  map_key key; /* element 0: empty */
  tsl_tensor_map map;
} cached_map;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cached_map cached_maps[CACHED_MAPS];
static unsigned next_replaced;

static map_key tensor_map_key_of(const tsl_tensor *tensor) {
  const tsl_cuda_buffer *buffer = (const tsl_cuda_buffer *)tensor->buffer;
  const tsl_cuda_device *own = tensor->buffer->device->impl;
  map_key key = {
      .address = buffer->address + tensor->offset, .element_bytes = tensor->element, .ordinal = own->ordinal};
  memcpy(key.size, tensor->size, sizeof key.size);
  memcpy(key.pitch, tensor->pitch, sizeof key.pitch);
  key.box[0] = tensor->box[0], key.box[1] = tensor->box[1];
  return key;
}

static tesela_status encode_map(tsl_device *device, const map_key *key, tsl_tensor_map *map) {
  const int type = key->element_bytes == 1   ? TSL_CU_TENSOR_U8
                   : key->element_bytes == 2 ? TSL_CU_TENSOR_U16
                                             : TSL_CU_TENSOR_U32;
  uint64_t sizes[3], pitches[2];
  const unsigned box[3] = {(unsigned)key->box[0], (unsigned)key->box[1], 1}, steps[3] = {1, 1, 1};
  for (int d = 0; d < 3; d++)
    sizes[d] = (uint64_t)key->size[d];
  for (int d = 0; d < 2; d++)
    pitches[d] = (uint64_t)key->pitch[d];
  memset(map, 0, sizeof *map);
  TSL_TRY(tsl_cuda_enter(device)); /* the driver needs a current context, though it does not use the device */
  const int code = tsl_cuda.tensor_map(map, type, 3, key->address, sizes, pitches, box, steps, 0,
                                       TSL_CU_TENSOR_SWIZZLE_128, TSL_CU_TENSOR_FETCH_128, 0);
  tsl_cuda_leave_quietly();
  if (code == TSL_CU_SUCCESS)
    return TESELA_OK;
  return tsl_cuda_fail(device, "cuTensorMapEncodeTiled", code,
                       " (the device cannot copy a matrix at this address or with this pitch)");
}

static bool tensor_map_find_cached(const map_key *key, tsl_tensor_map *map) {
  bool found = false;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < CACHED_MAPS && !found; i++) {
    found = cached_maps[i].key.address == key->address && memcmp(&cached_maps[i].key, key, sizeof *key) == 0;
    if (found)
      *map = cached_maps[i].map;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static void tensor_map_add_cached(const map_key *key, const tsl_tensor_map *map) {
  pthread_mutex_lock(&lock);
  cached_maps[next_replaced] = (cached_map){*key, *map};
  next_replaced = (next_replaced + 1) % CACHED_MAPS;
  pthread_mutex_unlock(&lock);
}

tesela_status tsl_cuda_tensor_map(const tsl_tensor *tensor, tsl_tensor_map *map) {
  const map_key key = tensor_map_key_of(tensor);
  if (tensor_map_find_cached(&key, map))
    return TESELA_OK;
  TSL_TRY(encode_map(tensor->buffer->device, &key, map));
  tensor_map_add_cached(&key, map);
  return TESELA_OK;
}

/* Maps that are kept: made once, and one for whatever differs. Needs no GPU: the driver's functions are this
 * file's. */
#include "unit/unit.h"

#include "device/cuda/cuda_device.h"

#include <pthread.h>
#include <string.h>

static atomic_int made, refused;

static int push(tsl_cu_context context) {
  (void)context;
  return TSL_CU_SUCCESS;
}
static int pop(tsl_cu_context *context) {
  *context = NULL;
  return TSL_CU_SUCCESS;
}
static int say(int code, const char **text) {
  (void)code;
  *text = "no";
  return TSL_CU_SUCCESS;
}

/* Writes the arguments of the call into the map. Fails for a pitch that is no multiple of 16. */
static int encode(void *map, int type, unsigned dimensions, tsl_cu_address address, const uint64_t *sizes,
                  const uint64_t *pitches, const unsigned *box, const unsigned *steps, int interleave,
                  int swizzle, int promotion, int outside) {
  (void)steps, (void)interleave, (void)swizzle, (void)promotion, (void)outside;
  const uint64_t words[] = {address,    sizes[0], sizes[1], sizes[2],   pitches[0],
                            pitches[1], box[0],   box[1],   dimensions, (uint64_t)type};
  atomic_fetch_add(&made, 1);
  if (pitches[0] % 16 != 0) {
    atomic_fetch_add(&refused, 1);
    return 1;
  }
  memcpy(map, words, sizeof words);
  return TSL_CU_SUCCESS;
}

static tsl_cuda_device impls[2] = {{.ordinal = 0}, {.ordinal = 1}};
static tsl_device devices[2] = {{.name = "cuda:0", .impl = &impls[0]}, {.name = "cuda:1", .impl = &impls[1]}};

/* Asks for a map, which has to be right; says whether it was made now. */
static bool makes(int device, tsl_cu_address address, const tsl_tensor *layout) {
  tsl_cuda_buffer buffer = {.base = {.device = &devices[device]}, .address = address};
  tsl_tensor tensor = *layout;
  tsl_tensor_map map;
  uint64_t words[8];
  const int before = atomic_load(&made);
  tensor.buffer = &buffer.base;
  assert_int_equal(tsl_cuda_tensor_map(&tensor, &map), TESELA_OK);
  memcpy(words, map.bytes, sizeof words);
  assert_int_equal(words[0], address + tensor.offset);
  for (int d = 0; d < 3; d++)
    assert_int_equal(words[1 + d], tensor.size[d]);
  for (int d = 0; d < 2; d++) {
    assert_int_equal(words[4 + d], tensor.pitch[d]);
    assert_int_equal(words[6 + d], tensor.box[d]);
  }
  return atomic_load(&made) != before;
}

static const tsl_tensor plain = {
    .offset = 256, .element = 2, .size = {64, 128, 1}, .pitch = {128, 16}, .box = {64, 128}};

static void made_once(void **state) {
  (void)state;
  assert_true(makes(0, 1 << 20, &plain));
  assert_false(makes(0, 1 << 20, &plain));
  /* Another buffer and offset with an equal address have the same map. */
  tsl_tensor moved = plain;
  moved.offset = 0;
  assert_false(makes(0, (1 << 20) + 256, &moved));
}

static void whatever_differs_has_its_own(void **state) {
  (void)state;
  enum { FIELDS = 9 };
  tsl_tensor others[FIELDS];
  for (int i = 0; i < FIELDS; i++)
    others[i] = plain;
  others[0].offset += 16;
  others[1].element = 1;
  others[2].size[0] += 1;
  others[3].size[1] += 1;
  others[4].size[2] += 1;
  others[5].pitch[0] += 16;
  others[6].pitch[1] += 16;
  others[7].box[0] /= 2;
  others[8].box[1] /= 2;
  makes(0, 1 << 21, &plain);
  for (int i = 0; i < FIELDS; i++)
    assert_true(makes(0, 1 << 21, &others[i]));
  assert_true(makes(1, 1 << 21, &plain)); /* a device of another generation, perhaps */
  for (int i = 0; i < FIELDS; i++)
    assert_false(makes(0, 1 << 21, &others[i]));
  assert_false(makes(0, 1 << 21, &plain));
}

/* Makes more maps than the cache holds: each is right, and a few maps in frequent use stay in the
 * cache. */
static void many(void **state) {
  (void)state;
  for (int i = 0; i < 200; i++)
    makes(0, (tsl_cu_address)(i + 8) << 20, &plain);
  for (int i = 0; i < 200; i++)
    makes(0, (tsl_cu_address)(i + 8) << 20, &plain);
  for (int i = 0; i < 3; i++)
    makes(0, (tsl_cu_address)(i + 8) << 20, &plain);
  for (int i = 0; i < 30; i++)
    assert_false(makes(0, (tsl_cu_address)(i % 3 + 8) << 20, &plain));
}

static void a_refusal_is_not_kept(void **state) {
  (void)state;
  tsl_cuda_buffer buffer = {.base = {.device = &devices[0]}, .address = 1 << 22};
  tsl_tensor tensor = plain;
  tsl_tensor_map map;
  const int before = atomic_load(&refused);
  tensor.buffer = &buffer.base;
  tensor.pitch[0] = 130;
  for (int i = 0; i < 2; i++)
    assert_int_not_equal(tsl_cuda_tensor_map(&tensor, &map), TESELA_OK);
  assert_int_equal(atomic_load(&refused), before + 2);
}

/* Makes forty layouts, in turn with other threads' layouts: more than the cache holds. */
static void *ask(void *first) {
  for (int i = 0; i < 4000; i++)
    makes(0, (tsl_cu_address)(*(int *)first + i % 40) << 24, &plain);
  return NULL;
}

static void threads_share_them(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  int first[THREADS];
  for (int t = 0; t < THREADS; t++) {
    first[t] = 1 + 20 * t;
    assert_int_equal(pthread_create(&threads[t], NULL, ask, &first[t]), 0);
  }
  for (int t = 0; t < THREADS; t++)
    assert_int_equal(pthread_join(threads[t], NULL), 0);
}

int main(void) {
  tsl_cuda.context_push = push;
  tsl_cuda.context_pop = pop;
  tsl_cuda.error_name = tsl_cuda.error_text = say;
  tsl_cuda.tensor_map = encode;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(made_once),
      cmocka_unit_test(whatever_differs_has_its_own),
      cmocka_unit_test(many),
      cmocka_unit_test(a_refusal_is_not_kept),
      cmocka_unit_test(threads_share_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

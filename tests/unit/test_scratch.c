/* Memory for a moment: reuse, growth, alignment, several at once, threads. */
#include "unit/unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "core/memory.h"
#include "core/scratch.h"

static unsigned char *take(size_t bytes) {
  void *block;
  assert_int_equal(tsl_scratch_take(bytes, "a test", &block), TESELA_OK);
  assert_int_equal((uintptr_t)block % TSL_CACHE_LINE, 0);
  memset(block, 0xa5, bytes);
  return block;
}

static void reuses(void **state) {
  (void)state;
  unsigned char *first = take(1000);
  tsl_scratch_give(first);
  unsigned char *second = take(900);
  assert_ptr_equal(first, second);
  unsigned char *other = take(900); /* the first is in use */
  assert_ptr_not_equal(second, other);
  tsl_scratch_give(second);
  tsl_scratch_give(other);
  tsl_scratch_give(NULL);
  assert_ptr_equal(take(900), other);
  tsl_scratch_give(other);
  tsl_scratch_give(take(1 << 20));
  tsl_scratch_give(take(0));
}

/* One inside of the other, whichever is larger: both come again. */
static void nests(void **state) {
  (void)state;
  for (int larger = 0; larger < 2; larger++) {
    const size_t outer_bytes = larger ? 5000 : 3000, inner_bytes = larger ? 2000 : 4000;
    unsigned char *outer = take(outer_bytes), *inner = take(inner_bytes);
    tsl_scratch_give(inner);
    tsl_scratch_give(outer);
    for (int i = 0; i < 3; i++) {
      unsigned char *one = take(outer_bytes), *other = take(inner_bytes);
      assert_true((one == outer && other == inner) || (one == inner && other == outer));
      tsl_scratch_give(other);
      tsl_scratch_give(one);
    }
    tsl_scratch_give(take(1 << 20)); /* and go, where more is needed than they have */
    tsl_scratch_give(take(1 << 20));
  }
}

static void refuses(void **state) {
  (void)state;
  void *block = &block;
  assert_int_equal(tsl_scratch_take(SIZE_MAX, "all there is", &block), TESELA_OUT_OF_MEMORY);
  assert_null(block);
  assert_non_null(strstr(tesela_last_error(), "all there is"));
  assert_int_equal(tsl_scratch_take(SIZE_MAX / 2, "half of it", &block), TESELA_OUT_OF_MEMORY);
}

/* Each thread writes its own number all over its block and finds nothing else there. */
static void *use(void *argument) {
  const unsigned char number = *(const unsigned char *)argument;
  for (int round = 0; round < 2000; round++) {
    const size_t bytes = 64 + (size_t)(round * 37 % 500);
    void *block;
    if (tsl_scratch_take(bytes, "a test", &block) != TESELA_OK)
      return argument;
    memset(block, number, bytes);
    for (size_t i = 0; i < bytes; i++)
      if (((unsigned char *)block)[i] != number)
        return argument;
    tsl_scratch_give(block);
  }
  return NULL;
}

static void threads(void **state) {
  (void)state;
  pthread_t thread[4];
  unsigned char numbers[4] = {1, 2, 3, 4};
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, use, &numbers[i]), 0);
  for (int i = 0; i < 4; i++) {
    void *failed;
    pthread_join(thread[i], &failed);
    assert_null(failed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reuses), cmocka_unit_test(nests),
                                     cmocka_unit_test(refuses), cmocka_unit_test(threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

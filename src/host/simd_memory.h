/* Part of simd.h, for SUFFIX and REAL of an element. */

typedef REAL NAME(loose) __attribute__((vector_size(sizeof(NAME(vector))), may_alias, aligned(sizeof(REAL))));
static inline NAME(vector) NAME(load)(const NAME(element) * from) {
  return *(const NAME(loose) *)from;
}
static inline void NAME(store)(NAME(element) * to, NAME(vector) value) {
  *(NAME(loose) *)to = value;
}

/* Loads the first `count` elements and zeros. */
static inline NAME(vector) NAME(load_part)(const NAME(element) * from, int64_t count) {
  return NAME(load_masked)(from, NAME(mask_of)(count));
}
static inline void NAME(store_part)(NAME(element) * to, NAME(vector) value, int64_t count) {
  NAME(store_masked)(to, value, NAME(mask_of)(count));
}

/* Loads a row's last vector of `count` elements, possibly all. */
static inline NAME(vector) NAME(load_edge)(const NAME(element) * from, int64_t count) {
  return count == NAME(LANES) ? NAME(load)(from) : NAME(load_part)(from, count);
}
static inline void NAME(store_edge)(NAME(element) * to, NAME(vector) value, int64_t count) {
  if (count == NAME(LANES))
    NAME(store)(to, value);
  else
    NAME(store_part)(to, value, count);
}

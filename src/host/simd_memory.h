/* Vectors in memory, as text inside simd.h: with SUFFIX, the element's, and the REAL that it is made of. */

/* A vector where it need not be aligned. */
typedef REAL NAME(loose) __attribute__((vector_size(sizeof(NAME(vector))), may_alias, aligned(sizeof(REAL))));
static inline NAME(vector) NAME(load)(const NAME(element) * from) {
  return *(const NAME(loose) *)from;
}
static inline void NAME(store)(NAME(element) * to, NAME(vector) value) {
  *(NAME(loose) *)to = value;
}

/* The first `count` elements. */
static inline NAME(vector) NAME(load_part)(const NAME(element) * from, int64_t count) {
  return NAME(load_masked)(from, NAME(mask_of)(count));
}
static inline void NAME(store_part)(NAME(element) * to, NAME(vector) value, int64_t count) {
  NAME(store_masked)(to, value, NAME(mask_of)(count));
}

/* The last vector of a row, of which `count` elements are there. */
static inline NAME(vector) NAME(load_edge)(const NAME(element) * from, int64_t count) {
  return count == NAME(LANES) ? NAME(load)(from) : NAME(load_part)(from, count);
}
static inline void NAME(store_edge)(NAME(element) * to, NAME(vector) value, int64_t count) {
  if (count == NAME(LANES))
    NAME(store)(to, value);
  else
    NAME(store_part)(to, value, count);
}

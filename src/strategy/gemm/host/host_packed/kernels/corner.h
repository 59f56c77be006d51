
static void conjugate(void *elements, int64_t count) {
  REAL *number = elements;
  if (COMPONENTS == 2)
    for (int64_t i = 0; i < count; i++)
      number[2 * i + 1] = -number[2 * i + 1];
}

/* Copies `count` elements with a stride; imaginary parts are multiplied by `sign`. */
static inline void copy_corner_run(const REAL *from, int64_t stride, int64_t count, REAL sign, REAL *dst) {
  for (int64_t t = 0; t < count; t++, from += stride * COMPONENTS, dst += COMPONENTS) {
    dst[0] = from[0];
    if (COMPONENTS == 2)
      dst[COMPONENTS - 1] = sign * from[COMPONENTS - 1];
  }
}
static inline void clear_corner_run(int64_t count, REAL *dst) {
  for (int64_t t = 0; t < count * COMPONENTS; t++)
    dst[t] = 0;
}

/* Copies elements `first` to before `end` of step l, on one side of the diagonal. */
static inline void copy_corner_side(const tsl_packed_corner *corner, bool is_stored, int64_t l, int64_t first,
                                    int64_t end, REAL *dst) {
  const REAL *src = corner->at;
  const bool is_mirrored = corner->structure == TESELA_SYMMETRIC || corner->structure == TESELA_HERMITIAN;
  if (is_stored)
    copy_corner_run(src + (first * corner->across + l * corner->along) * COMPONENTS, corner->across,
                    end - first, 1, dst + first * COMPONENTS);
  else if (is_mirrored)
    copy_corner_run(src + (l * corner->across + first * corner->along) * COMPONENTS, corner->along,
                    end - first, corner->structure == TESELA_HERMITIAN ? -1 : 1, dst + first * COMPONENTS);
  else
    clear_corner_run(end - first, dst + first * COMPONENTS);
}

static void set_diagonal_to_one(const tsl_packed_corner *corner) {
  REAL *dst = corner->out;
  for (int64_t l = corner->first; l < corner->end; l++, dst += corner->width * COMPONENTS) {
    clear_corner_run(1, dst + l * COMPONENTS);
    dst[l * COMPONENTS] = 1;
  }
}

static void pack_corner_any(const tsl_packed_corner *corner) {
  const REAL *src = corner->at;
  REAL *dst = corner->out;
  const int64_t count = corner->count;
  for (int64_t l = corner->first; l < corner->end; l++, dst += corner->width * COMPONENTS) {
    copy_corner_side(corner, !corner->stores_before, l, 0, l, dst);
    copy_corner_side(corner, corner->stores_before, l, l + 1, count, dst);
    if (corner->structure == TESELA_UNIT_TRIANGULAR) {
      clear_corner_run(1, dst + l * COMPONENTS);
      dst[l * COMPONENTS] = 1;
    } else
      copy_corner_run(src + l * (corner->across + corner->along) * COMPONENTS, 0, 1, 1, dst + l * COMPONENTS);
    if (COMPONENTS == 2 && corner->structure == TESELA_HERMITIAN)
      dst[l * COMPONENTS + COMPONENTS - 1] = 0;
    clear_corner_run(corner->width - count, dst + count * COMPONENTS);
  }
}

static void pack_corner(const tsl_packed_corner *corner) {
  const bool is_unit = corner->structure == TESELA_UNIT_TRIANGULAR;
  if (corner->across != 1 || (!is_unit && corner->structure != TESELA_TRIANGULAR)) {
    pack_corner_any(corner);
    return;
  }
  pack_triangle(corner);
  if (is_unit)
    set_diagonal_to_one(corner);
}

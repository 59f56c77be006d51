#ifndef REGISTER_FILE
#define REGISTER_FILE (void)0
#endif

static void REGISTER_NAME(multiply_16_by_32)(const tsl_amx_tile *tile) {
  const unsigned char *a = (const unsigned char *)tile->a, *b = (const unsigned char *)tile->b;
  const int64_t row = tile->a_row, step = UNIT_BYTES * tile->a_step;
  const uint32_t *const sums = tile->sums;
  REGISTER_FILE;
  write_state pending_sums = write_state_of(tile, 1);
  copy_state rows = copy_state_of(tile, 1);
  if (tile->adds_to_sums) {
    REGISTER_LOAD(0, sums, B_BYTES);
    REGISTER_LOAD(1, sums + 16, B_BYTES);
  } else {
    REGISTER_ZERO(0);
    REGISTER_ZERO(1);
  }
  for (int64_t u = 0; u < tile->units; u += TSL_AMX_REGISTER_UNITS) {
    REGISTER_LOAD(6, a, row);
    REGISTER_LOAD_ONCE(4, b, B_BYTES);
    REGISTER_LOAD_ONCE(5, b + REGISTER_BYTES, B_BYTES);
    REGISTER_DOT(0, 6, 4);
    REGISTER_DOT(1, 6, 5);
    a += step;
    b += 16 * B_BYTES;
  }
  write_rows(&pending_sums, pending_sums.left);
  copy_lines(&rows, rows.left, REGISTER_FINDS_LEAST);
  store_least(&rows, tile, REGISTER_FINDS_LEAST);
  REGISTER_STORE(0, tile->out, UNIT_BYTES * tile->out_row);
  REGISTER_STORE(1, tile->out + 16, UNIT_BYTES * tile->out_row);
}

static void REGISTER_NAME(multiply_32_by_32)(const tsl_amx_tile *tile) {
  const unsigned char *a = (const unsigned char *)tile->a, *b = (const unsigned char *)tile->b;
  const int64_t row = tile->a_row, step = UNIT_BYTES * tile->a_step;
  const uint32_t *const sums = tile->sums, *const below = sums + 16 * 32;
  uint32_t *const out_below = tile->out + 16 * tile->out_row;
  const int64_t out_bytes = UNIT_BYTES * tile->out_row;
  REGISTER_FILE;
  if (tile->adds_to_sums) {
    REGISTER_LOAD(0, sums, B_BYTES);
    REGISTER_LOAD(1, sums + 16, B_BYTES);
    REGISTER_LOAD(2, below, B_BYTES);
    REGISTER_LOAD(3, below + 16, B_BYTES);
  } else {
    REGISTER_ZERO(0);
    REGISTER_ZERO(1);
    REGISTER_ZERO(2);
    REGISTER_ZERO(3);
  }
  write_state pending_sums = write_state_of(tile, tile->units / TSL_AMX_REGISTER_UNITS);
  copy_state rows = copy_state_of(tile, tile->units / TSL_AMX_REGISTER_UNITS);
  for (int64_t u = 0; u < tile->units; u += TSL_AMX_REGISTER_UNITS) {
    REGISTER_LOAD(6, a, row);
    REGISTER_LOAD_ONCE(4, b, B_BYTES);
    REGISTER_DOT(0, 6, 4);
    REGISTER_LOAD(7, a + 16 * row, row);
    REGISTER_DOT(2, 7, 4);
    REGISTER_LOAD_ONCE(5, b + REGISTER_BYTES, B_BYTES);
    write_rows(&pending_sums, pending_sums.each);
    REGISTER_DOT(1, 6, 5);
    copy_lines(&rows, rows.each, REGISTER_FINDS_LEAST);
    REGISTER_DOT(3, 7, 5);
    a += step;
    b += 16 * B_BYTES;
  }
  write_rows(&pending_sums, pending_sums.left);
  copy_lines(&rows, rows.left, REGISTER_FINDS_LEAST);
  store_least(&rows, tile, REGISTER_FINDS_LEAST);
  REGISTER_STORE(0, tile->out, out_bytes);
  REGISTER_STORE(1, tile->out + 16, out_bytes);
  REGISTER_STORE(2, out_below, out_bytes);
  REGISTER_STORE(3, out_below + 16, out_bytes);
}

/* A tile of one register or two, with registers 2 and 3 for every other 16 units. */
static inline __attribute__((always_inline)) void
REGISTER_NAME(multiply_alternately)(const tsl_amx_tile *tile, const bool is_tall, const bool is_wide) {
  const unsigned char *a = (const unsigned char *)tile->a, *b = (const unsigned char *)tile->b;
  const int64_t row = tile->a_row, step = UNIT_BYTES * tile->a_step, out_bytes = UNIT_BYTES * tile->out_row;
  const uint32_t *const sums = tile->sums;
  uint32_t *const out_next = is_tall ? tile->out + 16 * tile->out_row : tile->out + 16;
  uint32_t others[2][TSL_AMX_REGISTER_ROWS][16];
  REGISTER_FILE;
  REGISTER_ZERO(1);
  REGISTER_ZERO(2);
  REGISTER_ZERO(3);
  if (tile->adds_to_sums) {
    REGISTER_LOAD(0, sums, B_BYTES);
    if (is_tall || is_wide)
      REGISTER_LOAD(1, sums + (is_tall ? 16 * 32 : 16), B_BYTES);
  } else {
    REGISTER_ZERO(0);
  }
  write_state pending_sums = write_state_of(tile, tile->units / TSL_AMX_REGISTER_UNITS);
  copy_state rows = copy_state_of(tile, tile->units / TSL_AMX_REGISTER_UNITS);
  for (int64_t u = 0; u < tile->units; u += 2 * TSL_AMX_REGISTER_UNITS) {
    REGISTER_LOAD(6, a, row);
    REGISTER_LOAD_ONCE(4, b, B_BYTES);
    REGISTER_DOT(0, 6, 4);
    if (is_tall) {
      REGISTER_LOAD(7, a + 16 * row, row);
      REGISTER_DOT(1, 7, 4);
    } else if (is_wide) {
      REGISTER_LOAD_ONCE(5, b + REGISTER_BYTES, B_BYTES);
      REGISTER_DOT(1, 6, 5);
    }
    write_rows(&pending_sums, pending_sums.each);
    copy_lines(&rows, rows.each, REGISTER_FINDS_LEAST);
    a += step;
    b += 16 * B_BYTES;
    if (u + TSL_AMX_REGISTER_UNITS >= tile->units)
      break;
    REGISTER_LOAD(6, a, row);
    REGISTER_LOAD_ONCE(4, b, B_BYTES);
    REGISTER_DOT(2, 6, 4);
    if (is_tall) {
      REGISTER_LOAD(7, a + 16 * row, row);
      REGISTER_DOT(3, 7, 4);
    } else if (is_wide) {
      REGISTER_LOAD_ONCE(5, b + REGISTER_BYTES, B_BYTES);
      REGISTER_DOT(3, 6, 5);
    }
    write_rows(&pending_sums, pending_sums.each);
    copy_lines(&rows, rows.each, REGISTER_FINDS_LEAST);
    a += step;
    b += 16 * B_BYTES;
  }
  write_rows(&pending_sums, pending_sums.left);
  copy_lines(&rows, rows.left, REGISTER_FINDS_LEAST);
  store_least(&rows, tile, REGISTER_FINDS_LEAST);
  REGISTER_STORE(0, tile->out, out_bytes);
  if (is_tall || is_wide)
    REGISTER_STORE(1, out_next, out_bytes);
  if (tile->units <= TSL_AMX_REGISTER_UNITS)
    return;
  REGISTER_STORE(2, others[0], REGISTER_BYTES);
  REGISTER_STORE(3, others[1], REGISTER_BYTES);
  for (int i = 0; i < TSL_AMX_REGISTER_ROWS; i++) {
    REGISTER_ADD(tile->out + i * tile->out_row, others[0][i]);
    if (is_tall || is_wide)
      REGISTER_ADD(out_next + i * tile->out_row, others[1][i]);
  }
}

static void REGISTER_NAME(multiply_16_by_32_alternately)(const tsl_amx_tile *tile) {
  REGISTER_NAME(multiply_alternately)(tile, false, true);
}
static void REGISTER_NAME(multiply_32_by_16_alternately)(const tsl_amx_tile *tile) {
  REGISTER_NAME(multiply_alternately)(tile, true, false);
}
static void REGISTER_NAME(multiply_16_by_16_alternately)(const tsl_amx_tile *tile) {
  REGISTER_NAME(multiply_alternately)(tile, false, false);
}

static tsl_amx_tile_function *const REGISTER_NAME(tiles)[] = {
    REGISTER_NAME(multiply_16_by_32), REGISTER_NAME(multiply_32_by_32),
    REGISTER_NAME(multiply_16_by_32_alternately), REGISTER_NAME(multiply_32_by_16_alternately),
    REGISTER_NAME(multiply_16_by_16_alternately)};
#undef REGISTER_NAME
#undef REGISTER_DOT
#undef REGISTER_FINDS_LEAST

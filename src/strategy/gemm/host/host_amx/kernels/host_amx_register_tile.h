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

static tsl_amx_tile_function *const REGISTER_NAME(tiles)[] = {REGISTER_NAME(multiply_16_by_32),
                                                              REGISTER_NAME(multiply_32_by_32)};
#undef REGISTER_NAME
#undef REGISTER_DOT
#undef REGISTER_FINDS_LEAST

/* Output of C without a tensor map: 64 rows of a warpgroup's accumulators go through shared memory to C. Rows
 * of C begin at any address. They are stored by aligned chunks of 16 bytes, so each row has the alignment of
 * C in shared memory. Element x of row y is
 *   word (x + shift(y) + turn(y)) modulo WIDTH of row y   shift(y): elements from an aligned chunk to the row
 *   16 bytes:      |        |        |        |        |
 *   a row of C:        x x x x x x x x x x x x x x         one thread for each chunk; the first chunk and the
 *   in memory:     | e e    |        |        |            chunk past the last are partial and share a slot
 * turn(y) puts eight rows, and eight columns, into different banks. */
constexpr int CHUNK = 16 / (int)sizeof(c_element);

/* Returns the elements of a row in front of `line` within its aligned chunk; row_turn(): turn(y) above. */
SM90_FUNCTION int row_shift(const c_element *line) {
  return (int)((unsigned long long)line / sizeof(c_element) % CHUNK);
}

/* Wraps a word number below 2 WIDTH. */
template <int WIDTH>
SM90_FUNCTION int row_word(int word) {
  return word >= WIDTH ? word - WIDTH : word;
}
SM90_FUNCTION int row_turn(int y) {
  return 8 * (y & 3) + (y & 4);
}

/* Writes accumulator columns from `column` on, at most WIDTH, times alpha, to shared memory. Threads of rows
 * 4 to 7 of each 8 write the odd column first, to other banks. `shift`: row_shift() of all of the thread's
 * rows. */
template <int WIDTH>
SM90_FUNCTION void put_rows(shared_t end, wgmma_sums sums, int column, int shift, cuda_wgmma_scalar alpha) {
  const int thread = threadIdx.x % 128, row = thread / 32 * 16 + thread % 32 / 4, other = row >> 2 & 1,
            place = shift + row_turn(row) + thread % 4 * 2;
  const int first = row_word<WIDTH>(place + other), second = row_word<WIDTH>(place + 1 - other);
  end += row * WIDTH * 4;
#pragma unroll
  for (int j = 0; j < WIDTH / 8; j++) {
    if (column + 8 * j >= BLOCK_N)
      break;
    const sum_t *own = sums[column / 8 + j];
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const shared_t line = end + 8 * h * WIDTH * 4;
      store_shared(line + 4 * row_word<WIDTH>(8 * j + first),
                   scaled(other ? own[2 * h + 1] : own[2 * h], alpha));
      store_shared(line + 4 * row_word<WIDTH>(8 * j + second),
                   scaled(other ? own[2 * h] : own[2 * h + 1], alpha));
    }
  }
}

SM90_FUNCTION void store_bits(c_element *dst, unsigned bits) {
  if (sizeof(c_element) == 4)
    *(unsigned *)dst = bits;
  else
    *(unsigned short *)dst = (unsigned short)bits;
}

/* Returns the bits of an element of C that is not read (beta = 0), from the word of its sum. */
SM90_FUNCTION unsigned result_bits(unsigned word, int row, int col, int product,
                                   const epilogue_vectors &vectors) {
  if constexpr (FINISH)
    word = __float_as_uint(epilogue_element(wgmma_tile_sum(word), 0, row, col, product, vectors, 0));
  if constexpr (C_IS_16_BITS)
    return c_pair(__uint_as_float(word), 0) & 0xffff;
  else
    return word;
}

SM90_FUNCTION void store_chunk(c_element *dst, const unsigned *words, int row, int col, int product,
                               const epilogue_vectors &vectors) {
  unsigned elements[CHUNK];
#pragma unroll
  for (int e = 0; e < CHUNK; e++)
    elements[e] = result_bits(words[e], row, col + e, product, vectors);
  if (CHUNK == 4)
    store_global_chunk(dst, elements[0], elements[1], elements[2], elements[3]);
  else
    store_global_chunk(dst, elements[0] | elements[1] << 16, elements[2] | elements[3] << 16,
                       elements[CHUNK - 4] | elements[CHUNK - 3] << 16,
                       elements[CHUNK - 2] | elements[CHUNK - 1] << 16);
}

/* Stores 64 rows that put_rows() wrote, from (first_row, first_col) to column last_col, to a C that is not
 * read. Partial chunks at row ends have their own loop: in one loop every row paid for both. */
template <int WIDTH>
SM90_FUNCTION void store_rows(c_element *c, shared_t from, int first_row, int first_col, int last_col,
                              int product, const epilogue_vectors &vectors,
                              const cuda_wgmma_arguments &args) {
  constexpr int CHUNKS = WIDTH / CHUNK, APART_ROWS = 128 / CHUNKS, TOGETHER_ROWS = 16 / CHUNK;
  const int end = min(WIDTH, last_col - first_col), rows = min(64, args.m - first_row),
            thread = threadIdx.x % 128, own = thread % CHUNKS * CHUNK;
  if (end <= 0)
    return;
  c += first_row * args.c_row + first_col;
#pragma unroll 1
  for (int i = thread < CHUNKS * APART_ROWS ? thread / CHUNKS : rows; i < rows;
       i += APART_ROWS * TOGETHER_ROWS) {
    unsigned words[TOGETHER_ROWS][CHUNK];
#pragma unroll
    for (int r = 0; r < TOGETHER_ROWS; r++) {
      const int y = min(i + r * APART_ROWS, 63);
#pragma unroll
      for (int e = 0; e < CHUNK; e += 4)
        load_shared_chunk(from + 4 * (y * WIDTH + row_word<WIDTH>(own + e + row_turn(y))), words[r] + e);
    }
#pragma unroll
    for (int r = 0; r < TOGETHER_ROWS; r++) {
      const int y = i + r * APART_ROWS;
      c_element *const line = c + y * args.c_row;
      const int first = own - row_shift(line);
      if (y < rows && first >= 0 && first + CHUNK <= end)
        store_chunk(line + first, words[r], first_row + y, first_col + first, product, vectors);
    }
  }
  const int y = thread % 64;
  c_element *const line = c + y * args.c_row;
  const int shift = row_shift(line), place = row_word<WIDTH>(shift + row_turn(y));
  const int last = (end + shift) / CHUNK * CHUNK - shift, begin = thread < 64 ? 0 : last;
  const int behind = y >= rows      ? begin
                     : thread >= 64 ? (last >= 0 ? end : begin)
                     : shift == 0   ? 0
                                    : min(CHUNK - shift, end);
#pragma unroll
  for (int e = 0; e < CHUNK; e++)
    if (begin + e < behind)
      store_bits(line + begin + e,
                 result_bits(load_shared(from + 4 * (y * WIDTH + row_word<WIDTH>(begin + e + place))),
                             first_row + y, first_col + begin + e, product, vectors));
}

/* Stores accumulators to C in boxes of 32 columns, as many at a time as shared memory holds. Chunks are
 * stored where C is not read and its rows are dense, else elements. Rows of fragments (A_FROM_REGISTERS) lie
 * in boxes as for a tensor map. */
SM90_FUNCTION void store_by_threads(c_element *c, wgmma_sums sums[WAVES], const work_tile &tile,
                                    const epilogue_vectors &vectors, const cuda_wgmma_arguments &args,
                                    shared_t boxes) {
  constexpr int WIDE = BLOCK_N <= 8    ? 8
                       : BLOCK_N <= 16 ? 16
                                       : 32,
                COUNT = (BLOCK_N + WIDE - 1) / WIDE,
                TOGETHER_ACROSS = A_FROM_REGISTERS ? 1
                                  : BOXES < COUNT  ? BOXES
                                                   : COUNT, /* boxes of the same rows */
      ACROSS = (COUNT + TOGETHER_ACROSS - 1) / TOGETHER_ACROSS * TOGETHER_ACROSS, ALL = WAVES * ACROSS,
                AT_ONCE = (BOXES < ALL ? BOXES : ALL) / TOGETHER_ACROSS * TOGETHER_ACROSS;
  constexpr int WIDTH = 32 * TOGETHER_ACROSS;
  const int group = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
  const bool by_chunks =
      !A_FROM_REGISTERS && !SPLIT && WIDE == 32 && args.c_col == 1 && args.beta.integer == 0;
  const bool rows_first = args.c_row == 1 && args.c_col != 1;
  /* (x, y): the thread's first element of a box. down: rows (or columns) between its elements. */
  const int y = rows_first ? thread % 64 : thread / WIDE, x = rows_first ? thread / 64 : thread % WIDE,
            down = rows_first ? 2 : 128 / WIDE;
  const long long step = down * (rows_first ? args.c_col : args.c_row);
  c += args.c_offset + tile.layer * args.c_part;
  const int row = tile.row + rows_above(), last_col = min(args.n, tile.col + BLOCK_N);
  const int shift =
      by_chunks ? row_shift(c + (row + thread / 32 * 16 + thread % 32 / 4) * args.c_row + tile.col) : 0;
#pragma unroll
  for (int i = 0; i < ALL; i += AT_ONCE) {
    warpgroup_barrier(group);
#pragma unroll
    for (int j = i; j < min(i + AT_ONCE, ALL); j += TOGETHER_ACROSS)
      if constexpr (A_FROM_REGISTERS)
        put_fragment_rows(boxes + (j - i) * BOX_BYTES, sums[j / ACROSS], j % ACROSS * WIDE, args.alpha);
      else
        put_rows<WIDTH>(boxes + (j - i) * BOX_BYTES, sums[j / ACROSS], j % ACROSS * WIDE, shift, args.alpha);
    warpgroup_barrier(group);
    if (by_chunks) {
      for (int j = i; j < min(i + AT_ONCE, ALL); j += TOGETHER_ACROSS)
        store_rows<WIDTH>(c, boxes + (j - i) * BOX_BYTES, row + j / ACROSS * 64, tile.col + j % ACROSS * WIDE,
                          last_col, tile.layer, vectors, args);
      continue;
    }
    for (int j = i; j < min(i + AT_ONCE, ALL); j++) {
      const int first = row + j / ACROSS * 64 + y, col = tile.col + j % ACROSS * WIDE + x,
                place = (j - i) % TOGETHER_ACROSS * 32 + x;
      const shared_t from = boxes + (j - i) / TOGETHER_ACROSS * TOGETHER_ACROSS * BOX_BYTES;
      const int left = rows_first ? (first < args.m ? (last_col - col + down - 1) / down : 0)
                                  : (col < last_col ? (args.m - first + down - 1) / down : 0);
      c_element *to = c + first * args.c_row + col * args.c_col;
#pragma unroll 8
      for (int e = 0; e < WIDE / 2; e++, to += step)
        if (e < left) {
          const int line = rows_first ? y : y + e * down, at = rows_first ? place + e * down : place;
          const shared_t word = A_FROM_REGISTERS ? swizzled(line, 4 * at)
                                                 : 4 * (line * WIDTH + row_word<WIDTH>(at + row_turn(line)));
          store_element(to, wgmma_tile_sum(load_shared(from + word)), wgmma_identity_scale(),
                        first + (rows_first ? 0 : e * down), col + (rows_first ? e * down : 0), tile.layer,
                        vectors, args.beta);
        }
    }
  }
}

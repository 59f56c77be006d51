/* Tiles of C in tile registers: 2 x 2 registers of 16 x 16 sums. The including file defines
 *
 *   REGISTER_COPY_TAIL(to, from, bytes)    copies the first bytes of a line, and clears the others
 *   REGISTER_NONTEMPORAL(to, from)         optional: copies a line past the caches
 *   REGISTER_LEAST                         optional: type of the minimum magnitudes of bf16 in some lines
 *   REGISTER_LEAST_NONE                    its value for no lines
 *   REGISTER_LEAST_ADD(least, line)        its value with one line more
 *   REGISTER_LEAST_OF(least)               the minimum of all
 *
 * and for each inclusion of host_amx_register_tile.h
 *
 *   REGISTER_NAME(word)                    a name of this kind of tile
 *   REGISTER_LOAD(t, at, stride in bytes)  loads register number t
 *   REGISTER_LOAD_ONCE(t, at, stride)      loads data that is not needed again soon
 *   REGISTER_STORE(t, at, stride), REGISTER_ZERO(t), REGISTER_DOT(c, a, b)
 *   REGISTER_FILE                          optional: declares registers that are variables
 *   REGISTER_FINDS_LEAST                   1: computes the minimum magnitude of copied lines; else 0
 *
 * Tests include them with macros in plain C, to check the addresses on processors without AMX.
 *
 *          4        5        16 units (64 bytes) of B: a register holds 16 columns' units, unit after unit
 *      +--------+--------+
 *   6  |   0    |   1    |   16 rows of A by 16 units
 *      +--------+--------+
 *   7  |   2    |   3    |   for each 16 units: four loads, and four products of 16 clocks each; no product
 *      +--------+--------+   waits for the sum of the one before
 *
 * A copy of A has blocks of 16 units: rows x 64 bytes, dense. Blocks of B have rows of 64 bytes, 128 apart.
 * Loads of B have a non-temporal hint, otherwise each would evict a part of A from the first-level cache. */
#include "strategy/gemm/host/host_amx/host_amx_kernels.h"

#include <string.h>

enum { UNIT_BYTES = 4, REGISTER_BYTES = 64, B_BYTES = 2 * REGISTER_BYTES };

/* Work during a tile's steps: prefetch of the next tile's sums, stores of an earlier tile's sums to C. */
typedef struct write_state {
  const unsigned char *sums;
  const uint32_t *pending_sums;
  unsigned char *c;
  int64_t c_row, each, left; /* distances in bytes, and rows for each step and in all */
  bool nontemporal;
} write_state;

static inline __attribute__((always_inline)) write_state write_state_of(const tsl_amx_tile *tile,
                                                                        int64_t steps) {
  return (write_state){.sums = (const unsigned char *)tile->next_sums,
                       .pending_sums = tile->pending_sums,
                       .c = tile->pending_c,
                       .c_row = tile->pending_c_row,
                       .nontemporal = tile->pending_nontemporal,
                       .each = steps < 16 ? 32 / steps + 1 : 2,
                       .left = tile->next_sums || tile->pending_sums ? 32 : 0};
}

static inline __attribute__((always_inline)) void write_row(const write_state *state) {
#ifdef REGISTER_NONTEMPORAL
  if (state->nontemporal) {
    REGISTER_NONTEMPORAL(state->c, state->pending_sums);
    REGISTER_NONTEMPORAL(state->c + REGISTER_BYTES, state->pending_sums + 16);
    return;
  }
#endif
  memcpy(state->c, state->pending_sums, B_BYTES);
}

/* Prefetches rows of the next sums and writes rows of pending sums to C, at most `count`. */
static inline __attribute__((always_inline)) void write_rows(write_state *state, int64_t count) {
  for (int64_t i = 0; i < count && state->left > 0; i++, state->left--) {
    if (state->sums) {
      __builtin_prefetch(state->sums);
      __builtin_prefetch(state->sums + REGISTER_BYTES);
      state->sums += B_BYTES;
    }
    if (state->pending_sums) {
      write_row(state);
      state->pending_sums += B_BYTES / UNIT_BYTES;
      state->c += state->c_row;
    }
  }
}

typedef struct copy_state {
  const unsigned char *in;
  unsigned char *out;
  int64_t each, left, line, lines; /* cache lines: of each step, in all, left in this row, of a row */
  int64_t tail, in_gap, out_gap;   /* bytes: of a row's last line, from a row's end to the next row */
#ifdef REGISTER_LEAST
  REGISTER_LEAST least;
#endif
} copy_state;

static inline __attribute__((always_inline)) copy_state copy_state_of(const tsl_amx_tile *tile,
                                                                      int64_t steps) {
  copy_state made;
  made.in = tile->copy_in;
  made.left = made.each = made.line = made.lines = made.tail = made.in_gap = made.out_gap = 0;
  made.out = NULL;
#ifdef REGISTER_LEAST
  made.least = REGISTER_LEAST_NONE;
#endif
  if (made.in) {
    made.out = tile->copy_out;
    made.left = tile->copy_rows * tile->copy_lines;
    made.each = made.left / steps + 1;
    made.line = made.lines = tile->copy_lines;
    made.tail = tile->copy_tail;
    made.in_gap = tile->copy_in_row - REGISTER_BYTES * made.lines;
    made.out_gap = tile->copy_out_row - REGISTER_BYTES * made.lines;
  }
  return made;
}

/* Copies `count` lines; `finds` (a compile-time constant): also computes the minimum magnitude. */
static inline __attribute__((always_inline)) void copy_lines(copy_state *state, int64_t count, bool finds) {
  for (int64_t i = 0; i < count && state->left > 0; i++, state->left--) {
    if (state->line == 1 && state->tail > 0)
      REGISTER_COPY_TAIL(state->out, state->in, state->tail);
    else
      memcpy(state->out, state->in, REGISTER_BYTES);
#ifdef REGISTER_LEAST
    if (finds)
      state->least = REGISTER_LEAST_ADD(state->least, state->out);
#else
    (void)finds;
#endif
    state->in += REGISTER_BYTES;
    state->out += REGISTER_BYTES;
    if (--state->line == 0) {
      state->line = state->lines;
      state->in += state->in_gap;
      state->out += state->out_gap;
    }
  }
}

static inline __attribute__((always_inline)) void store_least(const copy_state *state,
                                                              const tsl_amx_tile *tile, bool finds) {
#ifdef REGISTER_LEAST
  if (finds && tile->copy_in) {
    const uint32_t least = REGISTER_LEAST_OF(state->least);
    *tile->copy_least = least < *tile->copy_least ? least : *tile->copy_least;
  }
#else
  (void)state, (void)tile, (void)finds;
#endif
}

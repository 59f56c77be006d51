/* Idea: packs both operands in one launch at memory speed, to K-major lines that suit tensor maps (pitches of
 * 16 bytes). Elements have 8 bits, or are bytes of larger contiguous elements. Lines in other layouts are
 * copied, transposed or gathered.
 *   a line: a row of A (column of B); with WIDENED (numbers become f16), contiguous elements
 *   K-major: contiguous elements of a line         MN-major: adjacent lines, blocks of 128 x 128
 *   | l l l l l l l l ... |  any address             read: 4 bytes of 4 lines of an element, at 16 elements
 *   16 bytes are five words, shifted                 transposed in registers, 16 bytes of each of 4 lines
 *                                                    written to shared memory; then whole lines stored
 * K-major lines come to shared memory by bulk copies of multiples of 16 bytes, with STAGES units in flight,
 * and are shifted on their way out. Short lines are read directly. Aligned words are read and shifted, so
 * lines may begin at any address. Words may extend beyond a line, but not beyond the operand (`end`): near it
 * bytes are read one by one. Padding bytes of a line's last 16 are undefined; no tensor map reads them. Other
 * strides are gathered byte by byte. A unit of work has CHUNKS (BULK) chunks of 16 elements, of lines with
 * 2^shift chunks each.
 * Defines of the host: WIDENED, RESIDENT (blocks of a multiprocessor). */
#include "cuda_wgmma_shared.h"
#include "sm90.h"

typedef unsigned char byte;
constexpr int ITEMS = 256, CHUNKS = TSL_CUDA_WGMMA_LINES_CHUNKS, SIDE = TSL_CUDA_WGMMA_LINES_SIDE,
              BULK = TSL_CUDA_WGMMA_LINES_BULK, STAGES = 3;
/* Chunks of a stage: the lines of a unit, with one more chunk per line for unaligned beginnings. */
constexpr int STAGE = BULK + (BULK >> TSL_CUDA_WGMMA_LINES_BULK_SHIFT);
static_assert(BULK >> TSL_CUDA_WGMMA_LINES_BULK_SHIFT <= 32, "a warp asks for a unit's lines");
static_assert(STAGES * STAGE >= SIDE * SIDE / 16, "blocks that are turned lie where stages do");

SM90_FUNCTION unsigned long long number_of(const byte *src) {
  return (unsigned long long)src;
}
SM90_FUNCTION const unsigned *aligned_word(const byte *src) {
  return (const unsigned *)(src - (number_of(src) & 3));
}
/* Bytes that are readable from an address on: a warp's aligned words and one more; two chunks. */
enum { WARP_READS = 132, CHUNK_READS = 32 };

/* Returns 16 bytes from byte `apart` of two chunks on. */
SM90_FUNCTION uint4 shifted(const uint4 &low, const uint4 &high, unsigned apart) {
  unsigned words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; i++)
    words[i] = apart & 8 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; i++)
    words[i] = apart & 4 ? words[i + 1] : words[i];
  const unsigned bits = 8 * (apart & 3);
  return {__funnelshift_r(words[0], words[1], bits), __funnelshift_r(words[1], words[2], bits),
          __funnelshift_r(words[2], words[3], bits), __funnelshift_r(words[3], words[4], bits)};
}

/* Returns up to 16 elements of a line with stride `step`. */
SM90_FUNCTION uint4 gathered(const byte *src, long long step, long long count) {
  unsigned words[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < 16; i++)
    if (i < count)
      words[i / 4] |= (unsigned)src[i * step] << i % 4 * 8;
  return {words[0], words[1], words[2], words[3]};
}

/* Returns two of the four numbers of a word as f16, exactly: e5m2 is the upper half of an f16. */
SM90_FUNCTION unsigned widened(unsigned word, int upper, int is_e5m2) {
  unsigned pair;
  if (is_e5m2)
    return __byte_perm(word, 0, upper ? 0x3424 : 0x1404);
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)(upper ? word >> 16 : word)));
  return pair;
}

/* Stores a chunk of a line that has `count` elements left. */
SM90_FUNCTION void put(byte *dst, const uint4 &chunk, long long count, int is_e5m2) {
  if (WIDENED) {
    ((uint4 *)dst)[0] = {widened(chunk.x, 0, is_e5m2), widened(chunk.x, 1, is_e5m2),
                         widened(chunk.y, 0, is_e5m2), widened(chunk.y, 1, is_e5m2)};
    if (count > 8) /* lines are padded to multiples of 16 bytes */
      ((uint4 *)dst)[1] = {widened(chunk.z, 0, is_e5m2), widened(chunk.z, 1, is_e5m2),
                           widened(chunk.w, 0, is_e5m2), widened(chunk.w, 1, is_e5m2)};
  } else {
    *(uint4 *)dst = chunk;
  }
}

struct line_unit {
  long long line, first; /* first line; first element of its lines */
};
template <int MOST>
SM90_FUNCTION line_unit unit_of(int unit, const cuda_wgmma_lines &lines) {
  const int group = lines.segments == 1 ? unit : unit / lines.segments;
  return {(long long)group * (MOST >> lines.shift), (long long)(unit - group * lines.segments)
                                                        << (lines.shift + 4)};
}

/* Chunk of a unit: source, target, and the elements left in its line from here on (<= 0: none). */
struct line_chunk {
  const byte *from;
  byte *to;
  long long left;
};
SM90_FUNCTION line_chunk chunk_of(const byte *from, byte *dst, const line_unit &unit, int number,
                                  const cuda_wgmma_lines &wgmma_lines) {
  const long long line = unit.line + (number >> wgmma_lines.shift),
                  first = unit.first + ((number & ((1 << wgmma_lines.shift) - 1)) << 4);
  return {from + wgmma_lines.offset + line * wgmma_lines.line + first * wgmma_lines.step,
          dst + wgmma_lines.to + line * wgmma_lines.pitch + first * (WIDENED ? 2 : 1),
          line < wgmma_lines.lines ? wgmma_lines.elements - first : 0};
}

/* Copies a unit of lines with any stride. Each thread issues all its loads at once; mixed with byte reads,
 * the compiler would wait for each chunk. */
SM90_FUNCTION void copy_lines(const byte *from, byte *dst, int number, const cuda_wgmma_lines &lines) {
  constexpr int OWN = CHUNKS / ITEMS;
  const line_unit unit = unit_of<CHUNKS>(number, lines);
  line_chunk own[OWN];
  bool is_whole = lines.step == 1;
#pragma unroll
  for (int i = 0; i < OWN; i++) {
    own[i] = chunk_of(from, dst, unit, i * ITEMS + (int)threadIdx.x, lines);
    is_whole = is_whole && (own[i].left <= 0 || own[i].from + CHUNK_READS <= from + lines.end);
  }
  if (is_whole) {
    uint4 low[OWN], high[OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++)
      if (own[i].left > 0) {
        const uint4 *aligned = (const uint4 *)(own[i].from - (number_of(own[i].from) & 15));
        low[i] = aligned[0];
        if (number_of(own[i].from) & 15)
          high[i] = aligned[1];
      }
#pragma unroll
    for (int i = 0; i < OWN; i++)
      if (own[i].left > 0)
        put(own[i].to, shifted(low[i], high[i], (unsigned)number_of(own[i].from) & 15), own[i].left,
            lines.is_e5m2);
  } else {
#pragma unroll 1
    for (int i = 0; i < OWN; i++) {
      const line_chunk one = chunk_of(from, dst, unit, i * ITEMS + (int)threadIdx.x, lines);
      if (one.left > 0)
        put(one.to, gathered(one.from, lines.step, one.left), one.left, lines.is_e5m2);
    }
  }
}

/* Issues the bulk copies of a unit: one warp, a line per lane, 32 arrivals. */
SM90_FUNCTION void issue_bulk_copies(shared_t stage, shared_t barrier, const byte *from, int number,
                                     const cuda_wgmma_lines &lines, unsigned long long policy) {
  const int lane = (int)threadIdx.x % 32, room = (16 << lines.shift) + 16;
  const line_chunk first = chunk_of(from, nullptr, unit_of<BULK>(number, lines), lane << lines.shift, lines);
  unsigned bytes = 0;
  const unsigned apart = (unsigned)number_of(first.from) & 15;
  if (lane < BULK >> lines.shift && first.left > 0) {
    const long long left = apart + min(first.left, 16ll << lines.shift) + 15,
                    readable = from + lines.end - (first.from - apart);
    bytes = (unsigned)min(left, readable) & ~15u;
  }
  mbarrier_arrive_expect_tx(barrier, bytes);
  if (bytes > 0)
    cp_async_bulk_load(stage + lane * room, first.from - apart, bytes, barrier, policy);
}

/* Copies all units of both operands that use bulk copies; no copy is in flight at the end. */
SM90_FUNCTION void copy_by_bulk(const uint4 *stages, unsigned long long *arrived, const byte *a,
                                const byte *b, byte *dst, const cuda_wgmma_lines_arguments &args,
                                int units_of_a, int units) {
  constexpr int OWN = BULK / ITEMS;
  const bool asks = threadIdx.x < 32;
  const unsigned long long policy = args.fits ? cache_policy_evict_first() : 0;
  int stage = 0;
  unsigned parity = 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; i++)
      mbarrier_init(shared_address(arrived + i), 32);
    fence_mbarrier_init();
  }
  __syncthreads();
  const auto ask = [&](int number, int into) {
    const bool is_b = number >= units_of_a;
    if (asks && number < units)
      issue_bulk_copies(shared_address(stages + into * STAGE), shared_address(arrived + into), is_b ? b : a,
                        is_b ? number - units_of_a : number, args.of[is_b], policy);
  };
  for (int i = 0; i < STAGES; i++)
    ask((int)(blockIdx.x + i * gridDim.x), i);
  for (int number = (int)blockIdx.x; number < units; number += (int)gridDim.x) {
    const bool is_b = number >= units_of_a;
    const cuda_wgmma_lines &of = args.of[is_b];
    const byte *from = is_b ? b : a, *end = from + of.end;
    const line_unit unit = unit_of<BULK>(is_b ? number - units_of_a : number, of);
    line_chunk own[OWN];
    uint4 low[OWN], high[OWN];
    bool is_whole = true;
#pragma unroll
    for (int i = 0; i < OWN; i++) {
      own[i] = chunk_of(from, dst, unit, i * ITEMS + (int)threadIdx.x, of);
      is_whole = is_whole && (own[i].left <= 0 || own[i].from + CHUNK_READS <= end);
    }
    mbarrier_wait_parity(shared_address(arrived + stage), parity);
#pragma unroll
    for (int i = 0; i < OWN; i++) {
      const int chunk = i * ITEMS + (int)threadIdx.x;
      const uint4 *at = stages + stage * STAGE + chunk + (chunk >> of.shift);
      low[i] = at[0];
      high[i] = at[1];
    }
    __syncthreads(); /* all threads have read the stage */
    ask(number + STAGES * (int)gridDim.x, stage);
#pragma unroll
    for (int i = 0; i < OWN; i++)
      if (own[i].left > 0)
        put(own[i].to, shifted(low[i], high[i], (unsigned)number_of(own[i].from) & 15), own[i].left,
            of.is_e5m2);
    if (!is_whole) /* bulk copies leave out the operand's last bytes */
#pragma unroll 1
      for (int i = 0; i < OWN; i++) {
        const line_chunk one = chunk_of(from, dst, unit, i * ITEMS + (int)threadIdx.x, of);
        if (one.left > 0 && one.from + CHUNK_READS > end)
          put(one.to, gathered(one.from, 1, one.left), one.left, of.is_e5m2);
      }
    stage = stage + 1 < STAGES ? stage + 1 : 0;
    parity ^= stage == 0;
  }
}

/* Transposes 4 x 4 bytes: four words become a word of each of four lines, stored `apart` words apart. */
SM90_FUNCTION void turn_bytes(const unsigned *from, unsigned *dst, int apart) {
  const unsigned low_a = __byte_perm(from[0], from[1], 0x5140),
                 high_a = __byte_perm(from[0], from[1], 0x7362),
                 low_b = __byte_perm(from[2], from[3], 0x5140),
                 high_b = __byte_perm(from[2], from[3], 0x7362);
  dst[0] = __byte_perm(low_a, low_b, 0x5410);
  dst[apart] = __byte_perm(low_a, low_b, 0x7632);
  dst[2 * apart] = __byte_perm(high_a, high_b, 0x5410);
  dst[3 * apart] = __byte_perm(high_a, high_b, 0x7632);
}

/* Returns the slot of a chunk in shared memory, swizzled by line / 4 against bank conflicts. */
SM90_FUNCTION int place_of(int line, int chunk) {
  return line * (SIDE / 16) + (chunk ^ line / 4 % 8);
}

/* Transposes a block of SIDE adjacent lines by SIDE elements. */
SM90_FUNCTION void turn_block(uint4 *block, const byte *from, byte *dst, int unit,
                              const cuda_wgmma_lines &wgmma_lines) {
  const int down = (int)((wgmma_lines.lines - 1) / SIDE) + 1, own_line = (int)threadIdx.x % 32 * 4,
            own_chunk = (int)threadIdx.x / 32;
  const long long line = (long long)(unit % down) * SIDE, first = (long long)(unit / down) * SIDE;
  unsigned words[16], turned[16];
  const byte *warp = from + wgmma_lines.offset + line + (first + own_chunk * 16) * wgmma_lines.step,
             *own = warp + own_line;
  const long long left = wgmma_lines.elements - first - own_chunk * 16;
  /* Conditions are uniform within a warp. */
  if (line + SIDE <= wgmma_lines.lines && left >= 16 &&
      ((number_of(warp) | (unsigned long long)wgmma_lines.step) & 3) == 0) {
#pragma unroll
    for (int e = 0; e < 16; e++)
      words[e] = *(const unsigned *)(own + e * wgmma_lines.step);
  } else if (left > 0 && warp + (wgmma_lines.step > 0 ? 15 * wgmma_lines.step : 0) + WARP_READS <=
                             from + wgmma_lines.end) {
    /* A warp's lines are 32 aligned words and one; each word is completed from its neighbour. */
    const int lane = (int)threadIdx.x % 32, last = left < 16 ? (int)left - 1 : 15;
    unsigned behind = 0;
#pragma unroll
    for (int e = 0; e < 16; e++)
      words[e] = *aligned_word(own + min(e, last) * wgmma_lines.step);
    if (lane < 16)
      behind = *aligned_word(warp + min(lane, last) * wgmma_lines.step + 128);
#pragma unroll
    for (int e = 0; e < 16; e++) {
      const unsigned other = __shfl_down_sync(0xffffffff, words[e], 1),
                     end = __shfl_sync(0xffffffff, behind, e);
      words[e] = __funnelshift_r(words[e], lane == 31 ? end : other,
                                 8 * ((unsigned)number_of(warp + min(e, last) * wgmma_lines.step) & 3));
    }
  } else {
#pragma unroll
    for (int e = 0; e < 16; e++) {
      words[e] = 0;
#pragma unroll
      for (int l = 0; l < 4; l++)
        if (e < left && line + own_line + l < wgmma_lines.lines)
          words[e] |= (unsigned)own[e * wgmma_lines.step + l] << 8 * l;
    }
  }
#pragma unroll
  for (int w = 0; w < 4; w++)
    turn_bytes(words + 4 * w, turned + w, 4);
  __syncthreads(); /* the previous block has been written */
#pragma unroll
  for (int l = 0; l < 4; l++)
    block[place_of(own_line + l, own_chunk)] = {turned[4 * l], turned[4 * l + 1], turned[4 * l + 2],
                                                turned[4 * l + 3]};
  __syncthreads();
#pragma unroll
  for (int i = 0; i < SIDE * SIDE / 16 / ITEMS; i++) {
    const int own = i * 32 + (int)threadIdx.x / 8, chunk = (int)threadIdx.x % 8;
    if (line + own < wgmma_lines.lines && first + chunk * 16 < wgmma_lines.elements)
      *(uint4 *)(dst + wgmma_lines.to + (line + own) * wgmma_lines.pitch + first + chunk * 16) =
          block[place_of(own, chunk)];
  }
}

extern "C" __global__ void __launch_bounds__(ITEMS, RESIDENT)
    tsl_gemm_cuda_wgmma_lines(const byte *a, const byte *b, byte *dst,
                              const __grid_constant__ cuda_wgmma_lines_arguments args) {
  __shared__ __align__(128) uint4 room[STAGES * STAGE];
  __shared__ __align__(8) unsigned long long arrived[STAGES];
  const int bulk_of_a = args.of[0].way == TSL_CUDA_WGMMA_LINES_BY_BULK ? args.of[0].units : 0,
            bulk_of_b = args.of[1].way == TSL_CUDA_WGMMA_LINES_BY_BULK ? args.of[1].units : 0,
            bulk = bulk_of_a + bulk_of_b, others_of_a = args.of[0].units - bulk_of_a,
            others = others_of_a + args.of[1].units - bulk_of_b;
  grid_dependency_launch();
  grid_dependency_wait();
  if (bulk > 0)
    copy_by_bulk(room, arrived, a, b, dst, args, bulk_of_a, bulk);
  /* Blocks that had one unit less begin. */
  const int begin = (int)((blockIdx.x + gridDim.x - (unsigned)bulk % gridDim.x) % gridDim.x);
  for (int unit = begin; unit < others; unit += (int)gridDim.x) {
    const bool is_b = unit >= others_of_a;
    const cuda_wgmma_lines &of = args.of[is_b];
    const byte *from = is_b ? b : a;
    const int own = is_b ? unit - others_of_a : unit;
    if (!WIDENED && of.way == TSL_CUDA_WGMMA_LINES_TURNED)
      turn_block(room, from, dst, own, of);
    else
      copy_lines(from, dst, own, of);
  }
}

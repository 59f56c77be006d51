/* Idea: factors on their way to the kernels, both in one launch: of 8-bit elements, or as bytes of larger ones that lie side by side. The units take such elements along k alone and maps take
 * rows at multiples of 16 bytes: what lies otherwise is copied, or turned, to lines of k elements that do, at the speed of memory.
 *
 *   a line: a row of A (column of B); or, of numbers that become f16 (WIDENED), what lies side by side
 *
 *   along: elements of a line side by side         across: lines side by side, blocks of 128 x 128, turned in registers
 *   | l l l l l l l l ... |  any address                    read: 4 bytes of 4 lines of an element, at 16 elements
 *   16 bytes are five words, shifted                        written to local memory: 16 bytes to each of 4 lines; then lines whole
 *
 * Lines along k come to local memory by bulk copies, from the multiple of 16 bytes before to that behind them, STAGES units of lines one behind the other, and leave shifted
 * into place: memory is asked for what threads will need long before they do. Short lines, which would be copies of a few bytes each, are read where they lie.
 *
 * Words are read where they are aligned and shifted into place, at any address. They may begin before a line or end behind it, but never
 * behind the factor (`end`): there bytes are read one by one. What a line's last 16 bytes have too much is anything, and no map reads it.
 * Other strides are gathered, byte by byte.
 *
 * Threads of a unit of work: CHUNKS (BULK) chunks of 16 elements, of so many lines that each has 2^shift of them.
 *
 * From the host: WIDENED, RESIDENT (blocks of a multiprocessor). */
#include "cuda_wgmma_shared.h"
#include "sm90.h"

typedef unsigned char byte;
constexpr int ITEMS = 256, CHUNKS = TSL_CUDA_WGMMA_LINES_CHUNKS, SIDE = TSL_CUDA_WGMMA_LINES_SIDE,
              BULK = TSL_CUDA_WGMMA_LINES_BULK, STAGES = 3;
/* A stage has a unit's lines and one chunk more of each, for lines that begin anywhere; in chunks. */
constexpr int STAGE = BULK + (BULK >> TSL_CUDA_WGMMA_LINES_BULK_SHIFT);
static_assert(BULK >> TSL_CUDA_WGMMA_LINES_BULK_SHIFT <= 32, "a warp asks for a unit's lines");
static_assert(STAGES * STAGE >= SIDE * SIDE / 16, "blocks that are turned lie where stages do");

SM90_FUNCTION unsigned long long number_of(const byte *src) {
  return (unsigned long long)src;
}
SM90_FUNCTION const unsigned *aligned_word(const byte *src) {
  return (const unsigned *)(src - (number_of(src) & 3));
}
/* Bytes from somewhere on that may be read: a warp's aligned words and one more; two chunks. */
enum { WARP_READS = 132, CHUNK_READS = 32 };

/* 16 bytes from the `apart`th of two chunks on: moved by two words, by one, and by bytes. */
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

/* Up to 16 elements of a line, anyhow apart. */
SM90_FUNCTION uint4 gathered(const byte *src, long long step, long long count) {
  unsigned words[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < 16; i++)
    if (i < count)
      words[i / 4] |= (unsigned)src[i * step] << i % 4 * 8;
  return {words[0], words[1], words[2], words[3]};
}

/* Two of four numbers of a word as f16, exactly: e5m2 is the upper half of an f16. */
SM90_FUNCTION unsigned widened(unsigned word, int upper, int is_e5m2) {
  unsigned pair;
  if (is_e5m2)
    return __byte_perm(word, 0, upper ? 0x3424 : 0x1404);
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)(upper ? word >> 16 : word)));
  return pair;
}

/* A chunk of a line, of which `count` elements are left. */
SM90_FUNCTION void put(byte *dst, const uint4 &chunk, long long count, int is_e5m2) {
  if (WIDENED) {
    ((uint4 *)dst)[0] = {widened(chunk.x, 0, is_e5m2), widened(chunk.x, 1, is_e5m2),
                        widened(chunk.y, 0, is_e5m2), widened(chunk.y, 1, is_e5m2)};
    if (count > 8) /* lines end at multiples of 16 bytes */
      ((uint4 *)dst)[1] = {widened(chunk.z, 0, is_e5m2), widened(chunk.z, 1, is_e5m2),
                          widened(chunk.w, 0, is_e5m2), widened(chunk.w, 1, is_e5m2)};
  } else {
    *(uint4 *)dst = chunk;
  }
}

/* A unit's first line, and the first element of its lines, or of its part of them. */
struct line_unit {
  long long line, first;
};
template <int MOST>
SM90_FUNCTION line_unit unit_of(int unit, const cuda_wgmma_lines &lines) {
  const int group = lines.segments == 1 ? unit : unit / lines.segments;
  return {(long long)group * (MOST >> lines.shift), (long long)(unit - group * lines.segments) << (lines.shift + 4)};
}

/* Chunk `number` of a unit: from where, whereto, and elements of its line from its first on; none: there is no such chunk. */
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

/* A unit of lines whose elements lie side by side, or anyhow. What a thread reads it asks for at once: of a way that bytes may be read one by one in between, the compiler would
 * wait for each chunk. */
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

/* A unit of lines is asked for by a warp, a line each, as 32 arrivals. */
SM90_FUNCTION void ask_for(shared_t stage, shared_t barrier, const byte *from, int number,
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
  barrier_arrive_expect(barrier, bytes);
  if (bytes > 0)
    bulk_load(stage + lane * room, first.from - apart, bytes, barrier, policy);
}

/* All units of lines that come so, of both factors. Ends when nothing is on its way. */
SM90_FUNCTION void copy_by_bulk(const uint4 *stages, unsigned long long *arrived, const byte *a,
                                const byte *b, byte *dst, const cuda_wgmma_lines_arguments &args,
                                int units_of_a, int units) {
  constexpr int OWN = BULK / ITEMS;
  const bool asks = threadIdx.x < 32;
  const unsigned long long policy = args.fits ? cache_policy_first() : 0;
  int stage = 0;
  unsigned parity = 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; i++)
      barrier_init(shared_address(arrived + i), 32);
    barriers_made_visible();
  }
  __syncthreads();
  const auto ask = [&](int number, int into) {
    const bool is_b = number >= units_of_a;
    if (asks && number < units)
      ask_for(shared_address(stages + into * STAGE), shared_address(arrived + into), is_b ? b : a,
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
    barrier_wait(shared_address(arrived + stage), parity);
#pragma unroll
    for (int i = 0; i < OWN; i++) {
      const int chunk = i * ITEMS + (int)threadIdx.x;
      const uint4 *at = stages + stage * STAGE + chunk + (chunk >> of.shift);
      low[i] = at[0];
      high[i] = at[1];
    }
    __syncthreads(); /* the stage has been read */
    ask(number + STAGES * (int)gridDim.x, stage);
#pragma unroll
    for (int i = 0; i < OWN; i++)
      if (own[i].left > 0)
        put(own[i].to, shifted(low[i], high[i], (unsigned)number_of(own[i].from) & 15), own[i].left,
            of.is_e5m2);
    if (!is_whole) /* the factor's last bytes have not come */
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

/* Four words of four lines each become a word of each line. */
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

/* Where a chunk of a line lies in local memory: exchanged by the number of its four lines, so that eight lie in different banks. */
SM90_FUNCTION int place_of(int line, int chunk) {
  return line * (SIDE / 16) + (chunk ^ line / 4 % 8);
}

/* A block of SIDE lines, which lie side by side, by SIDE elements. */
SM90_FUNCTION void turn_block(uint4 *block, const byte *from, byte *dst, int unit,
                              const cuda_wgmma_lines &wgmma_lines) {
  const int down = (int)((wgmma_lines.lines - 1) / SIDE) + 1, own_line = (int)threadIdx.x % 32 * 4,
            own_chunk = (int)threadIdx.x / 32;
  const long long line = (long long)(unit % down) * SIDE, first = (long long)(unit / down) * SIDE;
  unsigned words[16], turned[16];
  const byte *warp = from + wgmma_lines.offset + line + (first + own_chunk * 16) * wgmma_lines.step, *own = warp + own_line;
  const long long left = wgmma_lines.elements - first - own_chunk * 16; /* of them */
  /* All questions are a warp's. */
  if (line + SIDE <= wgmma_lines.lines && left >= 16 && ((number_of(warp) | (unsigned long long)wgmma_lines.step) & 3) == 0) {
#pragma unroll
    for (int e = 0; e < 16; e++)
      words[e] = *(const unsigned *)(own + e * wgmma_lines.step);
  } else if (left > 0 && warp + (wgmma_lines.step > 0 ? 15 * wgmma_lines.step : 0) + WARP_READS <= from + wgmma_lines.end) {
    /* Of each element, a warp's lines are 32 aligned words and one behind them, which a thread each asks for: what a word begins its neighbour ends. */
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
  __syncthreads(); /* the block before has been written */
#pragma unroll
  for (int l = 0; l < 4; l++)
    block[place_of(own_line + l, own_chunk)] = {turned[4 * l], turned[4 * l + 1], turned[4 * l + 2],
                                                turned[4 * l + 3]};
  __syncthreads();
#pragma unroll
  for (int i = 0; i < SIDE * SIDE / 16 / ITEMS; i++) {
    const int own = i * 32 + (int)threadIdx.x / 8, chunk = (int)threadIdx.x % 8;
    if (line + own < wgmma_lines.lines && first + chunk * 16 < wgmma_lines.elements)
      *(uint4 *)(dst + wgmma_lines.to + (line + own) * wgmma_lines.pitch + first + chunk * 16) = block[place_of(own, chunk)];
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
  dependency_launch();
  dependency_wait();
  if (bulk > 0)
    copy_by_bulk(room, arrived, a, b, dst, args, bulk_of_a, bulk);
  /* Who had one unit less begins. */
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

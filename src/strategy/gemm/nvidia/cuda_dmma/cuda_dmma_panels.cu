/* Element trait of cuda_dmma: f64, c128 as two f64, or c64 as two f32; panels in shared memory, and their
 * copies. */
#include "../sm80/sm80_number.cu"

typedef c_number element;
constexpr int NUMBERS = IS_COMPLEX ? 2 : 1 /* real numbers of an element */,
              NUMBER_BYTES = (int)sizeof(real_t) * NUMBERS;
constexpr int TILE_M = TSL_PARAM_TILE_M, TILE_N = TSL_PARAM_TILE_N;
constexpr int SLICES = TSL_PARAM_SLICES, CLUSTER = TSL_PARAM_CLUSTER;
constexpr int SLICE = 16, DEPTH = SLICE * SLICES; /* elements of k in a slice, and in a panel */
constexpr int WARPS_N = TILE_N / WARP_N, WARPS = TILE_M / WARP_M * WARPS_N /* warps of a slice */,
              THREADS = 32 * WARPS * SLICES;

/* Returns true if A can be copied by A_COPY bytes, and B by B_COPY. */
SM80_FUNCTION bool is_wide(const sm80_arguments &args) {
  return args.a.width >= A_COPY && args.b.width >= B_COPY;
}
/* Tiles of MN-major lines begin at pairs, if pairs are copied. Whole panels are copied for any strides,
 * unless elements of c64 are not aligned to 8 bytes. */
SM80_FUNCTION bool keeps_chunks(const sm80_arguments &args) {
  return NUMBER_BYTES == 8 && A_COPY + B_COPY > 16 && is_wide(args);
}
SM80_FUNCTION bool copies_chunks(const sm80_arguments &args) {
  return C_FORM != 6 || (args.a.width >= 8 && args.b.width >= 8);
}
constexpr int LINE_CHUNK = 2;
/* Bytes of a copy with SHORT where chunks of 16 bytes do not fit: c64 may be aligned to 4 bytes only. */
constexpr int SHORT_COPY = C_FORM == 6 ? 4 : 8;
/* Returns true if chunks of two elements do not exceed the lines of memory. */
SM80_FUNCTION bool has_even_lines(const sm80_arguments &args) {
  return NUMBER_BYTES == 16 || ((A_MN_MAJOR ? args.m : args.k) % LINE_CHUNK == 0 &&
                                (B_MN_MAJOR ? args.n : args.k) % LINE_CHUNK == 0);
}

/* Panel of LINES rows of A or columns of B, copied by BYTES. Padding between memory rows avoids bank
 * conflicts. A complex element that is not aligned takes two copies. */
template <int MN_MAJOR_, int LINES, int BYTES_>
struct panel {
  static constexpr int MN_MAJOR = MN_MAJOR_, COPY = BYTES_,
                       CHUNK = COPY > NUMBER_BYTES ? COPY / NUMBER_BYTES : 1 /* elements */,
                       HALVES = COPY < NUMBER_BYTES ? 2 : 1, ROW = (MN_MAJOR ? LINES : DEPTH) / CHUNK,
                       PERIOD = 1,
                       PITCH = (MN_MAJOR ? LINES : DEPTH) * NUMBER_BYTES + (C_FORM == 6                 ? 16
                                                                            : NUMBERS == 2 && !MN_MAJOR ? 64
                                                                                                        : 32),
                       BYTES = PITCH * (MN_MAJOR ? DEPTH : LINES);
  SM80_FUNCTION int place(int line, int k) {
    return MN_MAJOR ? k * PITCH + line * NUMBER_BYTES : line * PITCH + k * NUMBER_BYTES;
  }
  SM80_FUNCTION int first_place(int line, int k) {
    return MN_MAJOR ? k * PITCH + line * NUMBER_BYTES : line * PITCH + k * NUMBER_BYTES;
  }
};
typedef shared_t place_t;
constexpr int A_BYTES = panel<A_MN_MAJOR, TILE_M, 16>::BYTES, B_PLACE = A_BYTES,
              STAGE_BYTES = A_BYTES + panel<B_MN_MAJOR, TILE_N, 16>::BYTES;

#include "../sm80/sm80_panels.cu"

/* Copies an element, or stores zero; c64 may be aligned to 4 bytes only. */
SM80_FUNCTION void copy_element(shared_t target, const element *from, bool is_inside, int width) {
#pragma unroll
  for (int byte = 0; byte < NUMBER_BYTES; byte += 8)
    if (!is_inside) {
      store_double(target + byte, 0);
    } else if (C_FORM == 6 && width < 8) {
      cp_async_if<4>(true, target, from);
      cp_async_if<4>(true, target + 4, (const char *)from + 4);
    } else {
      cp_async_if<8>(true, target + byte, (const char *)from + byte);
    }
}

/* Copies a partial panel from k = `depth` on, with zeros outside of the matrix. Memory checkers would report
 * cp.async's own zeros as copies of 16 bytes. */
template <class PANEL>
SM80_FUNCTION void copy_partial_panel(shared_t panel, const lines &operand, int depth) {
  typedef copies<PANEL> each;
  const int side = threadIdx.x % PANEL::ROW * PANEL::CHUNK;
  int row = threadIdx.x / PANEL::ROW;
  const element *from = operand.from + (PANEL::MN_MAJOR ? side * operand.line + (depth + row) * operand.k
                                                        : row * operand.line + (depth + side) * operand.k);
#pragma unroll 1
  for (int i = threadIdx.x; i < each::CHUNKS; i += THREADS) {
    const int line = PANEL::MN_MAJOR ? side : row, k = PANEL::MN_MAJOR ? row : side;
    const int more_lines = operand.count - line, more_depth = operand.depth - depth - k,
              there = PANEL::MN_MAJOR ? (more_depth > 0 ? more_lines : 0) : (more_lines > 0 ? more_depth : 0);
    const shared_t to = panel + PANEL::place(line, k);
    if (PANEL::COPY == 16 && there >= PANEL::CHUNK)
      cp_async_if<16>(true, to, from);
    else
#pragma unroll
      for (int e = 0; e < PANEL::CHUNK; e++)
        copy_element(to + NUMBER_BYTES * e, from + e, there > e, operand.width);
    row += each::APART;
    from += each::APART * (PANEL::MN_MAJOR ? operand.k : operand.line);
  }
}

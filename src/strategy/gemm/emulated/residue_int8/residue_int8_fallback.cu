/* Native elements: lines that have no bound by residues, or are not finite. The k products are added one
 * after the other, each fused. A tile has LISTED native lines and WIDE lines of the other operand, so that
 * few lines take few clocks. Without residues, all tiles of SIDE x SIDE elements are computed, PER x PER by a
 * thread. For k = 0, C = beta C. Complex: both operands have twice as many lines, alternating real and
 * imaginary parts, and each 2 x 2 products are an element's (residue_native_part()): tiles have half as many
 * lines. Defines of the host: TSL_RESIDUE_F64 or not, TSL_RESIDUE_COMPLEX or not; TSL_RESIDUE_PRECISE: f32 is
 * summed in double (panels are double, too, so that a number is converted once). */
#include "sm90.h"

#include "residue_int8_shared.h"

constexpr int THREADS = 256, FOUR = 4, EACH_ELEMENT = TSL_RESIDUE_EACH;
#if defined(TSL_RESIDUE_F64) || defined(TSL_RESIDUE_PRECISE)
#define SUMS_DOUBLE
constexpr int PER = 4;
#else
constexpr int PER = 8;
#endif
constexpr int SIDE = 16 * PER, DEPTH = 8, ROW = SIDE + 4, EACH = SIDE * DEPTH / THREADS;

typedef residue_native panel_t[DEPTH][ROW];

SM90_FUNCTION residue_native fused(residue_native a, residue_native b, residue_native c) {
#ifdef SUMS_DOUBLE
  return __fma_rn(a, b, c);
#else
  return __fmaf_rn(a, b, c);
#endif
}

SM90_FUNCTION long long line_start(const residue_matrix &matrix, int line) {
  return matrix.offset + line / EACH_ELEMENT * matrix.across + line % EACH_ELEMENT;
}

/* Returns the line, in a panel of SIDE lines by DEPTH numbers, of a thread's number `e`. */
SM90_FUNCTION int line_of(bool is_across, int e) {
  return is_across ? threadIdx.x % 32 + e % (SIDE / 32) * 32 : threadIdx.x / (DEPTH / EACH);
}
SM90_FUNCTION int depth_of(bool is_across, int e) {
  return is_across ? threadIdx.x / 32 + e / (SIDE / 32) * 8 : threadIdx.x % (DEPTH / EACH) * EACH + e;
}

/* Loads a thread's numbers of a panel; 0 outside of the matrix. */
SM90_FUNCTION void fetch(residue_real state[EACH], const residue_real *from, const residue_matrix &matrix,
                         int line, int lines, int h, int k) {
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int i = line + line_of(matrix.is_across, e), d = h + depth_of(matrix.is_across, e);
    state[e] = i < lines && d < k ? from[line_start(matrix, i) + d * matrix.along] : (residue_real)0;
  }
}

SM90_FUNCTION void put(panel_t dst, const residue_real state[EACH], bool is_across) {
#pragma unroll
  for (int e = 0; e < EACH; e++)
    dst[depth_of(is_across, e)][line_of(is_across, e)] = state[e];
}

/* Returns a thread's line i: four adjacent lines, then four more, 64 lines further. */
SM90_FUNCTION int line_at(int thread, int i) {
  return i / FOUR * 64 + thread * FOUR + i % FOUR;
}

SM90_FUNCTION void take(residue_native state[PER], const residue_native *row, int thread) {
#pragma unroll
  for (int i = 0; i < PER; i++)
    state[i] = row[line_at(thread, i)];
}

SM90_FUNCTION void multiply(residue_native sums[PER][PER], const panel_t rows, const panel_t columns,
                            int depth) {
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  residue_native left[PER], above[PER];
#pragma unroll
  for (int d = 0; d < DEPTH; d++)
    if (d < depth) {
      take(left, rows[d], y);
      take(above, columns[d], x);
#pragma unroll
      for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++)
          sums[i][j] = fused(left[i], above[j], sums[i][j]);
    }
}

struct place {
  const residue_real *a, *b;
  residue_real *c;
  const int *row_scales, *rows, *columns; /* scales; lists of native lines */
};

#ifdef TSL_RESIDUE_COMPLEX
SM90_FUNCTION void finish_element(residue_real *dst, const residue_real parts[2][2], residue_real alpha,
                                  residue_real beta, const residue_arguments &args) {
#pragma unroll
  for (int part = 0; part < 2; part++)
    dst[part] = residue_finish(
        residue_native_part(part, parts, args.operands[0].is_conjugate, args.operands[1].is_conjugate), alpha,
        beta, dst + part);
}
#endif

/* Computes all of C, or C = beta C for k = 0. */
SM90_FUNCTION void compute_all(const place &place_in, panel_t rows[2], panel_t columns[2],
                               const residue_arguments &args) {
  const int m = args.m * EACH_ELEMENT, n = args.n * EACH_ELEMENT, across = (n + SIDE - 1) / SIDE,
            down = (m + SIDE - 1) / SIDE;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16, k = args.is_empty ? 0 : args.k;
  const residue_real alpha = args.is_empty ? (residue_real)0 : (residue_real)args.alpha,
                     beta = (residue_real)args.beta;
  for (long long tile = blockIdx.x; tile < (long long)across * down; tile += gridDim.x) {
    const int row = (int)(tile % down) * SIDE, col = (int)(tile / down) * SIDE;
    residue_native sums[PER][PER] = {};
    residue_real left[EACH], above[EACH];
    int in = 0;
    if (k > 0) {
      fetch(left, place_in.a, args.operands[0], row, m, 0, k);
      fetch(above, place_in.b, args.operands[1], col, n, 0, k);
    }
    for (int h = 0; h < k; h += DEPTH, in ^= 1) {
      put(rows[in], left, args.operands[0].is_across);
      put(columns[in], above, args.operands[1].is_across);
      __syncthreads();
      if (h + DEPTH < k) {
        fetch(left, place_in.a, args.operands[0], row, m, h + DEPTH, k);
        fetch(above, place_in.b, args.operands[1], col, n, h + DEPTH, k);
      }
      if (k - h >= DEPTH)
        multiply(sums, rows[in], columns[in], DEPTH);
      else
        multiply(sums, rows[in], columns[in], k - h);
    }
#ifdef TSL_RESIDUE_COMPLEX
#pragma unroll
    for (int i = 0; i < PER; i += 2)
#pragma unroll
      for (int j = 0; j < PER; j += 2) {
        const int r = row + line_at(y, i), s = col + line_at(x, j);
        const residue_real parts[2][2] = {{sums[i][j], sums[i][j + 1]}, {sums[i + 1][j], sums[i + 1][j + 1]}};
        if (r < m && s < n)
          finish_element(place_in.c + args.c_offset + r / 2 * args.c_row + s / 2 * args.c_col, parts, alpha,
                         beta, args);
      }
#else
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
      for (int j = 0; j < PER; j++) {
        const int r = row + line_at(y, i), s = col + line_at(x, j);
        residue_real *to = place_in.c + args.c_offset + r * args.c_row + s * args.c_col;
        if (r < m && s < n)
          *to = residue_finish(sums[i][j], alpha, beta, to);
      }
#endif
    __syncthreads(); /* before the next tile's panels are written */
  }
}

constexpr int LISTED = 16, WIDE = 128, FEW_DEPTH = 16, FEW_EACH = WIDE * FEW_DEPTH / THREADS;
struct few_t {
  residue_native listed[FEW_DEPTH][LISTED + 2], other[FEW_DEPTH][WIDE + 4];
};

/* Returns the line, in the panel of WIDE lines by FEW_DEPTH numbers, of a thread's number `e`. */
SM90_FUNCTION int few_line(bool is_across, int e) {
  return is_across ? threadIdx.x % WIDE : threadIdx.x / (FEW_DEPTH / FEW_EACH);
}
SM90_FUNCTION int few_depth(bool is_across, int e) {
  return is_across ? threadIdx.x / WIDE + e * (THREADS / WIDE)
                   : threadIdx.x % (FEW_DEPTH / FEW_EACH) * FEW_EACH + e;
}

/* Computes a tile: listed lines of `operand` from `first` on, lines of the other operand from `line` on; a
 * thread has 2 x 4 elements. Listed columns skip native rows, which are computed with the rows. */
SM90_FUNCTION void few_lines(const place &place_in, int operand, int first, int count, int line,
                             few_t panels[2], const residue_arguments &args) {
  const residue_matrix &own = args.operands[operand], &matrix = args.operands[1 - operand];
  const residue_real *from = operand ? place_in.b : place_in.a, *other = operand ? place_in.a : place_in.b;
  const int *natives = operand ? place_in.columns : place_in.rows;
  const int lines = (operand ? args.m : args.n) * EACH_ELEMENT, x = threadIdx.x % 32, y = threadIdx.x / 32,
            in = threadIdx.x % LISTED, depth = threadIdx.x / LISTED;
  const bool loads = depth < FEW_DEPTH && first + in < count;
  const residue_real *mine = from + own.offset +
                             (loads ? natives[(first + in) / EACH_ELEMENT] : 0) * own.across +
                             (first + in) % EACH_ELEMENT;
  residue_native sums[2][FOUR] = {};
  residue_real next[FEW_EACH], one = 0;
  for (int h = -FEW_DEPTH, panel = 0; h < args.k; h += FEW_DEPTH, panel ^= 1) {
    if (h >= 0) {
      if (depth < FEW_DEPTH)
        panels[panel].listed[depth][in] = one;
#pragma unroll
      for (int e = 0; e < FEW_EACH; e++)
        panels[panel].other[few_depth(matrix.is_across, e)][few_line(matrix.is_across, e)] = next[e];
      __syncthreads();
    }
    const int ahead = h + FEW_DEPTH;
    one = loads && ahead + depth < args.k ? mine[(ahead + depth) * own.along] : (residue_real)0;
#pragma unroll
    for (int e = 0; e < FEW_EACH; e++) {
      const int i = line + few_line(matrix.is_across, e), d = ahead + few_depth(matrix.is_across, e);
      next[e] = i < lines && d < args.k ? other[line_start(matrix, i) + d * matrix.along] : (residue_real)0;
    }
    if (h < 0)
      continue;
#pragma unroll
    for (int d = 0; d < FEW_DEPTH; d++)
      if (h + d < args.k)
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
          for (int j = 0; j < FOUR; j++) {
            const residue_native left = panels[panel].listed[d][2 * y + i],
                                 right = panels[panel].other[d][FOUR * x + j];
            sums[i][j] = operand ? fused(right, left, sums[i][j]) : fused(left, right, sums[i][j]);
          }
  }
#ifdef TSL_RESIDUE_COMPLEX
#pragma unroll
  for (int j = 0; j < FOUR; j += 2) {
    const int l = first + 2 * y, their = (line + FOUR * x + j) / 2;
    if (l >= count || line + FOUR * x + j >= lines ||
        (operand && place_in.row_scales[their] == TSL_RESIDUE_NO_SCALE))
      continue;
    const int listed = natives[l / 2];
    const residue_real one = operand ? sums[1][j] : sums[0][j + 1],
                       two = operand ? sums[0][j + 1] : sums[1][j],
                       parts[2][2] = {{sums[0][j], one}, {two, sums[1][j + 1]}};
    finish_element(place_in.c + args.c_offset + (operand ? their : listed) * args.c_row +
                       (operand ? listed : their) * args.c_col,
                   parts, (residue_real)args.alpha, (residue_real)args.beta, args);
  }
#else
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < FOUR; j++) {
      const int l = first + 2 * y + i, their = line + FOUR * x + j;
      if (l >= count || their >= lines || (operand && place_in.row_scales[their] == TSL_RESIDUE_NO_SCALE))
        continue;
      const int listed = natives[l];
      residue_real *to = place_in.c + args.c_offset + (operand ? their : listed) * args.c_row +
                         (operand ? listed : their) * args.c_col;
      *to = residue_finish(sums[i][j], (residue_real)args.alpha, (residue_real)args.beta, to);
    }
#endif
  __syncthreads(); /* before the next tile's panels are written */
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    tsl_gemm_residue_int8_native(const residue_real *a, const residue_real *b, residue_real *c,
                                 const unsigned char *scratch,
                                 const __grid_constant__ residue_arguments args) {
  union panels_t {
    panel_t all[4];
    few_t few[2];
  };
  alignas(16) __shared__ panels_t panels;
  const place at = {a,
                    b,
                    c,
                    (const int *)(scratch + args.scales[0]),
                    (const int *)(scratch + args.natives[0]),
                    (const int *)(scratch + args.natives[1])};
  grid_dependency_wait();
  const residue_choice *choice = (const residue_choice *)(scratch + args.choice);
  if (!args.is_empty && choice->moduli == 0 && args.has_whole)
    return;
  if (args.is_empty || choice->moduli == 0) {
    compute_all(at, panels.all, panels.all + 2, args);
    return;
  }
  const int rows = choice->native[0] * EACH_ELEMENT, columns = choice->native[1] * EACH_ELEMENT;
  const int across = (args.n * EACH_ELEMENT + WIDE - 1) / WIDE,
            down = (args.m * EACH_ELEMENT + WIDE - 1) / WIDE;
  const long long first = (long long)((rows + LISTED - 1) / LISTED) * across,
                  tiles = first + (long long)((columns + LISTED - 1) / LISTED) * down;
  for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int operand = tile >= first, wide = operand ? down : across;
    const long long in = operand ? tile - first : tile;
    few_lines(at, operand, (int)(in / wide) * LISTED, operand ? columns : rows, (int)(in % wide) * WIDE,
              panels.few, args);
  }
}

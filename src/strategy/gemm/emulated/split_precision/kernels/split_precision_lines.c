/* Measures and cuts lines, and computes rows of C; plain loops that compilers vectorize. */
#include "host/simd.h"

#include "host/int_math.h"
#include "strategy/gemm/emulated/split_precision/split_precision_host.h"

#include <string.h>

enum { BLOCK = TSL_SPLIT_BLOCK, CHUNK = TSL_SPLIT_HOST_CHUNK };

typedef struct chunk { /* a chunk of each line of a block; zeros after the last number */
  uint32_t bits[BLOCK][CHUNK];
} chunk;

/* Reads `count` numbers from `h` on of `lines` lines from `first` on. */
static void read_chunk(const tsl_split_lines *lines_in, int64_t first, int64_t lines, int64_t h,
                       int64_t count, chunk *target) {
  const float *const from = lines_in->at + first * lines_in->across + h * lines_in->along;
  if (count < CHUNK)
    memset(target, 0, sizeof *target);
  if (lines_in->along == 1) {
    for (int64_t i = 0; i < lines; i++)
      memcpy(target->bits[i], from + i * lines_in->across, (size_t)count * sizeof(float));
    return;
  }
  for (int64_t j = 0; j < count; j++)
    for (int64_t i = 0; i < lines; i++)
      memcpy(&target->bits[i][j], from + i * lines_in->across + j * lines_in->along, sizeof(float));
}

static void measure(const tsl_split_job *job, int operand, int64_t first) {
  const tsl_split_lines *operand_lines = &job->operands[operand];
  const int64_t lines = tsl_min(BLOCK, operand_lines->count - first);
  uint32_t largest[BLOCK] = {0}, least[BLOCK]; /* magnitudes minus one; 0 becomes the maximum */
  chunk numbers;
  memset(least, 0xff, sizeof least);
  for (int64_t h = 0; h < job->k; h += CHUNK) {
    read_chunk(operand_lines, first, lines, h, tsl_min(CHUNK, job->k - h), &numbers);
    for (int64_t i = 0; i < lines; i++) {
      uint32_t most = largest[i], fewest = least[i];
      for (int j = 0; j < CHUNK; j++) {
        const uint32_t magnitude = numbers.bits[i][j] & 0x7fffffffu, less = magnitude - 1;
        most = magnitude > most ? magnitude : most;
        fewest = less < fewest ? less : fewest;
      }
      largest[i] = most;
      least[i] = fewest;
    }
  }
  for (int64_t i = 0; i < lines; i++)
    operand_lines->scales[first + i] = split_bf16_scale(largest[i], least[i] + 1);
}

/* Cuts `count` numbers of a line into parts, and stores each part to a plane of its own. */
static void cut_line(const uint32_t *bits, int scale, int parts, int64_t count, uint16_t *dst,
                     int64_t plane) {
  const float first_factor = TSL_AS_FLOAT((127 + scale / 2) << 23),
              second_factor = TSL_AS_FLOAT((127 + scale - scale / 2) << 23);
  float left[CHUNK], whole[CHUNK];
  uint32_t value[CHUNK];
  memcpy(left, bits, sizeof left);
  for (int j = 0; j < CHUNK; j++)
    left[j] = left[j] * first_factor * second_factor;
  for (int s = 0; s < parts; s++) {
    uint16_t part[CHUNK];
    memcpy(value, left, sizeof value);
    for (int j = 0; j < CHUNK; j++) {
      const uint32_t rounded = split_bf16_rounded(value[j]);
      part[j] = (uint16_t)rounded;
      value[j] = rounded << 16;
    }
    memcpy(whole, value, sizeof whole);
    for (int j = 0; j < CHUNK; j++)
      left[j] -= whole[j];
    memcpy(dst + s * plane, part, (size_t)count * sizeof *part);
  }
}

static void cut(const tsl_split_job *job, int operand, int64_t first) {
  const tsl_split_lines *operand_lines = &job->operands[operand];
  const int64_t lines = tsl_min(BLOCK, operand_lines->count - first);
  chunk numbers;
  for (int64_t h = 0; h < job->depth; h += CHUNK) {
    const int64_t count = tsl_min(CHUNK, job->depth - h);
    read_chunk(operand_lines, first, lines, h, tsl_min(CHUNK, job->k - h), &numbers);
    for (int64_t i = 0; i < lines; i++) {
      const int scale = operand_lines->scales[first + i];
      const bool is_native = scale == TSL_SPLIT_NATIVE;
      if (is_native)
        memset(numbers.bits[i], 0, sizeof numbers.bits[i]);
      cut_line(numbers.bits[i], is_native ? 0 : scale, job->parts, count,
               operand_lines->planes + (first + i) * job->depth + h, operand_lines->plane);
    }
  }
}

/* Returns an element in f32, by k fused multiply-adds. */
static float native_element(const tsl_split_job *job, int64_t row, int64_t col) {
  const tsl_split_lines *a = &job->operands[0], *b = &job->operands[1];
  const float *left = a->at + row * a->across, *right = b->at + col * b->across;
  float sum = 0;
  for (int64_t h = 0; h < job->k; h++)
    sum = fma_number_f32(sum, left[h * a->along], right[h * b->along]);
  return sum;
}

static void join(const tsl_split_job *job, int64_t row) {
  const int down = job->operands[0].scales[row], *right = job->operands[1].scales;
  const float *sums = job->sums + row * job->n;
  float *c = job->c + row * job->c_row;
  for (int64_t j = 0; j < job->n; j++) {
    const float sum = down == TSL_SPLIT_NATIVE || right[j] == TSL_SPLIT_NATIVE
                          ? native_element(job, row, j)
                          : split_unscaled(sums[j], down + right[j]);
    float *element = c + j * job->c_col;
    *element = job->beta != 0 ? job->alpha * sum + job->beta * *element : job->alpha * sum;
  }
}

const tsl_split_kernel TSL_ISA_NAME(tsl_split_kernel) = {measure, cut, join};

/* Idea: the five loops of a packed product (Goto, van de Geijn 2008; Van Zee, van de Geijn 2015) around a tile of C
 * that fills the vector registers.
 * What it adds to `blocked`: tiles for every number of rows and for parts of vectors, so that edges cost what they
 * compute; copies made by vector instructions, also where rows become columns; panels that fit the caches of this
 * processor; C and the next sliver fetched before they are needed.
 *
 *                      n                     for each panel of A's rows (a quarter of the third-level cache):
 *                    columns                   for each panel of k (depth):
 *               B |   block   |  |  |  |         copy A's panel as slivers: rows of a tile, step after step
 *           depth |s|t|r|i|p|s|  |  |  |         for each block of B (half of the second-level cache):
 *                 +-----------+--+--+--+           copy it as strips: vectors of a tile, step after step
 *      A   depth                                   for each sliver (first-level cache):
 *       +--------+ +----------+--+--+--+             for each strip:
 *  rows | sliver | | |t| | | |                        c tile = alpha sliver strip + beta c tile
 *  panel| sliver | | | | | | |      C
 *       | sliver |
 *
 * A tile has ROWS rows of a sliver, broadcast number by number, times two vectors of a strip. The m rows of a panel
 * are cut into as few slivers as can be, all nearly alike: no row is computed in vain. The last strip has one vector
 * where one is enough, and its last vector is loaded and stored in part. Where C's rows lie side by side instead of
 * its columns, the transposed product is computed; where neither do, a tile is stored number by number.
 *
 * A product is rounded at most `depth` times in its panel, once with alpha and once for each panel. The order depends
 * on the shape and the parameters alone.
 *
 * Parameters: depth of a panel, KiB of a block of B; the model's choice follows the caches. Limits: f32 and f64. */
#include "strategy/gemm/host_packed/job.h"

#include <math.h>

enum { DEPTH, BLOCK };
static const tsl_param params[] = {
    [DEPTH] = {"depth", "products of a panel", 512, {128, 256, 384, 512}},
    [BLOCK] = {"block", "KiB of a block of B", 512, {256, 512, 1024}},
    {NULL, NULL, 0, {0}},
};

static tsl_accuracy accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_of_panels(problem, config->value[DEPTH]);
}

/* Clocks of one core: the multiply-adds, of which a tile's end costs about six steps more; four clocks for a vector of
 * a copy; what C's passes wait for. A sliver that the first-level cache does not hold, and a block that is not half of
 * the second, cost a little: the best config is the one that fits. */
static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_packed_kernels *kernels = tsl_packed_kernels_for(problem->c.type, device->capabilities);
  const double size = (double)tsl_type(problem->c.type)->size, depth = (double)config->value[DEPTH];
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
  const double clock = 1e6 * device->clock_mhz;
  const double fused =
      (problem->c.type == TESELA_F64 ? device->peak_f64 : device->peak_f32) / (2 * clock * device->threads);
  const double half_level_2 = device->level_bytes[1] ? (double)device->level_bytes[1] / 2 : 256 << 10;
  const double level_1 = device->level_bytes[0] ? (double)device->level_bytes[0] : 32 << 10;
  const double misfit = (kernels->rows[1] * depth * size > 0.9 * level_1 ? 0.01 : 0) +
                        0.002 * fabs(log2((double)config->value[BLOCK] * 1024 / half_level_2));
  const double panels = ceil(fmax(k, 1) / depth);
  const double products = m * n * (k + 6 * panels) / (0.95 * fused) * (1 + misfit);
  const double copies = (m * k + k * n) * 4 / kernels->lanes;
  const double seconds = (products + copies) / clock;
  return 3e-7 + fmax(seconds, tsl_problem_bytes(problem) / device->bandwidth);
}

/* Below this many operations a second thread costs more than it saves. */
static const double alone_flops = 4e6;

static tesela_status run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  static tesela_status (*const schedules[])(const tsl_packed_job *, bool) = {
      [TSL_PACKED_PANELS] = tsl_packed_run_panels,
      [TSL_PACKED_ROWS] = tsl_packed_run_streams,
      [TSL_PACKED_COLUMNS] = tsl_packed_run_streams,
      [TSL_PACKED_PARTS] = tsl_packed_run_parts,
  };
  (void)stream;
  const int64_t *value = work->config.value;
  const tsl_packed_job job =
      tsl_packed_job_for(&work->problem, operands, value[DEPTH], value[BLOCK] * 1024, work->device);
  return schedules[job.schedule](&job, tsl_problem_flops(&work->problem) < alone_flops);
}

const tsl_strategy tsl_gemm_host_packed = {
    .name = "host_packed",
    .idea = "five loops over packed panels around tiles of C in the vector registers",
    .lifts = "addresses far apart, and every cache level in turn",
    .op = TSL_OP_GEMM,
    .rung = 7,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = accuracy,
    .params = params,
    .score = score,
    .run = run,
};

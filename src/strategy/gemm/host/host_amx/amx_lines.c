/* Products of which one operand has few lines: the other one's lines are contiguous along k and read in
 * place, with vectors along k. The thin operand alone is packed.
 *
 *             k
 *   large  +--------+      thin   k
 *   line   |=======>|          +--------+      sums of 32 lines by all thin lines, then the epilogue
 *   line   |=======>|          |=======>|
 *   ...    +--------+          +--------+ */
#include "core/memory.h"
#include "core/scratch.h"
#include "core/status.h"
#include "strategy/gemm/host/host_amx/host_amx_job.h"

#include <string.h>

enum { LINES_OF_A_TASK = TSL_AMX_WIDTH_MAX };

typedef struct lines_launch {
  const tsl_amx_job *job;
  const unsigned char *large;
  int64_t large_line, large_lines; /* bytes from line to line; lines */
  const uint32_t *thin;
  int64_t thin_lines, thin_width;
  uint32_t start[TSL_AMX_LINES_MAX]; /* sums start with these, for flipped sign bits */
} lines_launch;

static void multiply_lines(void *argument, int64_t index, int worker) {
  const lines_launch *run = argument;
  const tsl_amx_job *job = run->job;
  const int64_t first = index * LINES_OF_A_TASK, per = tsl_amx_elements(job->kernels->format),
                /* units of a lane are as many as of a panel */
      most = TSL_AMX_REGISTER_UNITS * job->depth * per;
  uint32_t sums[TSL_AMX_LINES_MAX * TSL_AMX_WIDTH_MAX];
  tsl_amx_lines lines = {.large_line = run->large_line,
                         .thin_width = run->thin_width,
                         .count = tsl_min(LINES_OF_A_TASK, run->large_lines - first),
                         .sums = sums};
  (void)worker;
  for (int64_t j = 0; j < run->thin_width; j++)
    for (int64_t i = 0; i < lines.count; i++)
      sums[j * TSL_AMX_WIDTH_MAX + i] = run->start[j];
  for (int64_t l = 0; l < job->views.k; l += most) {
    lines.large = run->large + first * run->large_line + l * job->size;
    lines.thin = run->thin + l / per * run->thin_width;
    lines.elements = tsl_min(most, job->views.k - l);
    job->kernels->lines[!job->large_is_a](&lines);
  }
  tsl_amx_epilogue last = tsl_amx_epilogue_of(job, job->large_is_a ? first : 0, job->large_is_a ? 0 : first);
  last.sums = sums;
  last.rows = run->thin_lines;
  last.columns = lines.count;
  last.width = TSL_AMX_WIDTH_MAX;
  if (job->large_is_a) {
    last.c_row = job->views.c.col_stride;
    last.c_column = job->views.c.row_stride;
  }
  job->epilogue(&last);
}

/* Sets the sums to start with: -bias times the sum of a thin line. */
static void set_starts(lines_launch *run, const uint32_t *thin, int64_t units) {
  const tsl_amx_kernels *kernels = run->job->kernels;
  const int64_t width = run->thin_width;
  for (int64_t u = 0; kernels->bias != 0 && u < units; u += TSL_AMX_REGISTER_UNITS)
    for (int64_t j = 0; j < run->thin_lines; j++) {
      const unsigned char *const line =
          (const unsigned char *)(thin + u * width + j * TSL_AMX_REGISTER_UNITS);
      int32_t sum = 0;
      for (int i = 0; i < TSL_AMX_REGISTER_UNITS * (int)sizeof(uint32_t); i++)
        sum += kernels->a == TESELA_I8 ? (int8_t)line[i] : line[i];
      run->start[j] += (uint32_t)(-kernels->bias * sum);
    }
}

/* Returns the bytes from line to line of the large operand in place. */
static int64_t large_line_of(const tsl_amx_job *job) {
  return (job->large_is_a ? job->views.a.row_stride : job->views.b.col_stride) * job->size;
}

void tsl_amx_lines_pack(const tsl_amx_job *job, bool is_a, uint32_t *dst) {
  tsl_amx_copy copy = tsl_amx_thin_copy_of(job);
  copy.out = dst;
  if (is_a != job->large_is_a) {
    (is_a ? job->pack_a : job->pack_b)(&copy);
    return;
  }
  const unsigned char *const large = is_a ? job->views.a.at : job->views.b.at;
  const int64_t line = large_line_of(job);
  for (int64_t i = 0; i < tsl_amx_large_lines_of(job); i++)
    memcpy((unsigned char *)dst + i * tsl_amx_packed_line_of(job), large + i * line,
           (size_t)(job->views.k * job->size));
}

tesela_status tsl_amx_run_lines(const tsl_amx_job *job, tsl_team team) {
  enum { STACK_WORDS = 2048 };
  _Alignas(TSL_CACHE_LINE) uint32_t stack[STACK_WORDS];
  const tsl_view *large = job->large_is_a ? &job->views.a : &job->views.b,
                 *thin = job->large_is_a ? &job->views.b : &job->views.a;
  const tsl_amx_copy copy = tsl_amx_thin_copy_of(job);
  const int64_t words = copy.units * copy.width;
  lines_launch run = {.job = job,
                      .large = large->packed ? large->packed : large->at,
                      .large_line = large->packed ? tsl_amx_packed_line_of(job) : large_line_of(job),
                      .large_lines = tsl_amx_large_lines_of(job),
                      .thin = thin->packed,
                      .thin_lines = copy.count,
                      .thin_width = copy.width};
  void *memory = NULL;
  if (!thin->packed) {
    if (words > STACK_WORDS)
      TSL_TRY(tsl_scratch_take((size_t)words * sizeof(uint32_t), "copies of the operands", &memory));
    uint32_t *const made = memory ? memory : stack;
    tsl_amx_lines_pack(job, !job->large_is_a, made);
    run.thin = made;
  }
  set_starts(&run, run.thin, copy.units);
  tsl_team_run(team, tsl_ceil_div(run.large_lines, LINES_OF_A_TASK), multiply_lines, &run);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

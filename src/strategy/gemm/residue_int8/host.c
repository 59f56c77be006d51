/* residue_int8 on the processor: lines are measured, a number of moduli is chosen, lines become residues, and tiles of C are
 * made of these; each step by all threads. */
#include "base/scratch.h"
#include "base/status.h"
#include "host/split.h"
#include "strategy/gemm/residue_int8/residue_int8.h"

#include <string.h>

enum { TILE = 32 };

typedef struct running {
  tsl_residue_job job;
  const tsl_residue_kernel *kernel;
  tsl_residue_state *state;
  int64_t down; /* tiles along a column of C */
} running;

static const tsl_residue_kernel *kernel_for(const tsl_device *device, tesela_type type) {
#define KERNELS(isa, header, needs, ...) {&tsl_residue_kernel_##isa##_f32, &tsl_residue_kernel_##isa##_f64},
  static const tsl_residue_kernel *const kernels[][2] = {TSL_ISA_LIST(KERNELS)};
#undef KERNELS
  return kernels[tsl_isa_best(device->capabilities)][type == TESELA_F64];
}

/* --- steps --- */

static void measure(void *argument, int64_t line, int worker) {
  const running *run = argument;
  const int operand = line >= run->job.m;
  (void)worker;
  run->kernel->measure(&run->job, operand, operand ? line - run->job.m : line);
}

static void convert(void *argument, int64_t line, int worker) {
  const running *run = argument;
  const int operand = line >= run->job.m;
  (void)worker;
  run->kernel->convert(&run->job, operand, operand ? line - run->job.m : line);
}

static void multiply(void *argument, int64_t tile, int worker) {
  const running *run = argument;
  const int64_t row = tile % run->down * TILE, column = tile / run->down * TILE;
  (void)worker;
  run->kernel->multiply(&run->job, row, tsl_least(TILE, run->job.m - row), column,
                        tsl_least(TILE, run->job.n - column));
}

static void count_lines(const tsl_residue_job *job, residue_counts *counts) {
  memset(counts, 0, sizeof *counts);
  for (int o = 0; o < 2; o++)
    for (int64_t i = 0; i < job->rules->lines[o]; i++) {
      const unsigned key = job->of[o].lines[i].key;
      if (key & TSL_RESIDUE_ZERO)
        continue;
      counts->has[o][residue_has(key)]++;
      for (int c = 0; c < job->rules->candidates; c++)
        if (key & TSL_RESIDUE_LOST << c)
          counts->lost[c][o]++;
        else
          counts->needs[c][o][residue_need(key, c)]++;
    }
}

static void choose(tsl_residue_job *job, tsl_residue_state *state) {
  residue_word costs[TSL_RESIDUE_CANDIDATES][2];
  int levels[TSL_RESIDUE_CANDIDATES][2];
  residue_counts counts;
  count_lines(job, &counts);
  for (int c = 0; c < job->rules->candidates; c++)
    for (int o = 0; o < 2; o++)
      for (int level = TSL_RESIDUE_LEVELS; level >= 0; level--) {
        const residue_word cost = residue_cost(job->rules, &counts, c, o, level);
        if (level == TSL_RESIDUE_LEVELS || cost <= costs[c][o]) {
          costs[c][o] = cost;
          levels[c][o] = level;
        }
      }
  residue_choose(job->rules, &counts, costs, levels, &job->choice);
  for (int o = 0; o < 2; o++)
    for (int64_t i = 0; i < job->rules->lines[o]; i++) {
      const residue_line *line = &job->of[o].lines[i];
      const bool is_native = residue_is_native(&job->choice, o, line->key);
      job->of[o].scales[i] = is_native ? TSL_RESIDUE_NO_SCALE : line->scale[job->choice.candidate];
      job->choice.native[o] += is_native;
    }
  state->moduli = job->choice.moduli;
  state->native_lines = job->choice.native[0] + job->choice.native[1];
}

/* --- a run --- */

static tesela_status run_all(running *run, const tsl_operands *operands) {
  tsl_residue_job *job = &run->job;
  const int64_t lines = job->m + job->n;
  void *planes;
  tsl_team_run(operands->team, lines, measure, run);
  choose(job, run->state);
  TSL_TRY(tsl_scratch_take((size_t)(lines * job->choice.moduli * job->pitch + 1), "residues", &planes));
  job->of[0].planes = planes;
  job->of[1].planes = job->of[0].planes + job->m * job->choice.moduli * job->pitch;
  if (job->choice.moduli > 0)
    tsl_team_run(operands->team, lines, convert, run);
  tsl_team_run(operands->team, run->down * tsl_pieces(job->n, TILE), multiply, run);
  tsl_scratch_give(planes);
  return TESELA_OK;
}

tesela_status tsl_residue_int8_run_host(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem *problem = &work->problem;
  const tsl_operand *a = &operands->a, *b = &operands->b, *c = &operands->c;
  const residue_rules rules = tsl_residue_rules(problem, &work->config, problem->m, problem->n);
  const bool reads = problem->alpha[0] != 0 && problem->k > 0;
  void *lines;
  running run = {.job = {.rules = &rules,
                         .of = {{.at = a->host, .across = a->row_stride, .along = a->col_stride},
                                {.at = b->host, .across = b->col_stride, .along = b->row_stride}},
                         .m = problem->m,
                         .n = problem->n,
                         .k = reads ? problem->k : 0,
                         .pitch = tsl_round_up(problem->k, 64),
                         .c = c->host,
                         .c_row = c->row_stride,
                         .c_col = c->col_stride,
                         .alpha = reads ? problem->alpha[0] : 0,
                         .beta = problem->beta[0]},
                 .state = work->state,
                 .kernel = kernel_for(work->device, problem->c.type),
                 .down = tsl_pieces(problem->m, TILE)};
  if (!reads) {
    tsl_team_run(operands->team, run.down * tsl_pieces(problem->n, TILE), multiply, &run);
    return TESELA_OK;
  }
  const size_t both = (size_t)(problem->m + problem->n);
  TSL_TRY(tsl_scratch_take(both * (sizeof(residue_line) + sizeof(int)), "lines", &lines));
  run.job.of[0].lines = lines;
  run.job.of[1].lines = run.job.of[0].lines + problem->m;
  run.job.of[0].scales = (int *)(void *)(run.job.of[0].lines + both);
  run.job.of[1].scales = run.job.of[0].scales + problem->m;
  const tesela_status status = run_all(&run, operands);
  tsl_scratch_give(lines);
  return status;
}

/* residue_int8 on sm_90a: kernels, and the launches of a run.
 *   (glance: measure -> choose) -> measure -> choose -> for each block of rows: convert -> multiply -> join
 *   -> native -> whole, which exits at once if residues were chosen
 * The choice that the last run reported selects the launches. After residues there is no glance. After a run
 * of the subplan, it is queued alone; some of these runs have a glance (has_glance()). */
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8_device.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8_host.h"

#include <stddef.h>
#include <stdio.h>

#define FOLDER "strategy/gemm/emulated/residue_int8/"

enum {
  TILE_M = 128,
  TILE_N = 256,
  PANEL = TSL_RESIDUE_PANEL,
  STAGES = 4,
  BAND = 16, /* raster height in tiles */
  MEASURE_ITEMS = 256,
  CONVERT_ITEMS = 256,
  CONVERT_NUMBERS = 16,
  CHOOSE_ITEMS = 1024,
  MULTIPLY_ITEMS = 384,
  JOIN_ITEMS = 64, /* items of a row: few, so that most have columns in narrow C */
  JOIN_COLUMNS = 4 * JOIN_ITEMS,
  JOIN_ROWS = 65535,
  UNIT_JOIN = 48, /* blocks per unit; with more rows than blocks, a block takes several */
  NATIVE_ITEMS = 256,
  CLUSTERED_TILES = 16, /* rows of tiles for clusters; twice as many where the last row is odd */
  UNIT_NATIVE = 4,      /* blocks per unit */
  UNIT_MEASURE = 5,     /* resident measuring blocks per unit */
  UNIT_CONVERT = 16,    /* converting blocks per unit; each takes one block of numbers after another */
  GLANCE_LINES = 256,   /* lines of each operand that a glance measures, approximately */
  GLANCE_SHARE = 16,    /* minimum ratio of all numbers to the numbers that a glance reads */
  GLANCE_RUNS = 64,     /* runs of the subplan alone per glance, after the first ones */
  FEW_ALONG = 2,        /* lines of a measuring block if all are resident, else a multiple */
  FEW_ACROSS = 4
};
/* Shared memory of the integer product in bytes: stages, their alignment, mbarriers. */
static const size_t shared_bytes = (size_t)STAGES * (TILE_M + TILE_N) * PANEL + 1024 + 16 * STAGES;

static tesela_status load_kernel(tsl_work *work, const char *path, const char *name, int items,
                                 const char *defines, tsl_kernel **kernel) {
  TSL_TRY(tsl_launch_kernel_with(work, path, name, items, defines, kernel));
  work->device->ops->kernel_early(*kernel);
  return TESELA_OK;
}

/* Returns true if pairs of blocks leave few without a tile in the last row of tiles. */
static bool is_paired(int64_t lines) {
  const int64_t down = tsl_ceil_div(lines, TILE_M);
  return down >= 2 * CLUSTERED_TILES || (down >= CLUSTERED_TILES && down % 2 == 0);
}

/* Returns the blocks of a cluster; both sizes count, because a run may compute C' = B' A'. */
static int cluster_of(const tsl_problem *problem, const tsl_config *config) {
  return is_paired(tsl_residue_rows(config, problem->m)) && is_paired(tsl_residue_rows(config, problem->n))
             ? 2
             : 1;
}

tesela_status tsl_residue_int8_build_cuda(tsl_work *work) {
  const tsl_device_ops *ops = work->device->ops;
  const char *type = tsl_residue_defines(&work->problem);
  char stages[140], moduli[240];
  tsl_residue_state made = {.host_choice = NULL};
  made.cluster = cluster_of(&work->problem, &work->config);
  snprintf(stages, sizeof stages, "%s#define STAGES %d\n#define CLUSTER %d\n",
           tsl_residue_kinds(&work->problem) > 1 ? "#define TSL_RESIDUE_COMPLEX\n" : "", STAGES,
           made.cluster);
  snprintf(
      moduli, sizeof moduli,
      "%s#define IS_CUT %d\n#define MODULI_FIRST %d\n#define MODULI_SECOND %d\n#define MODULI_THIRD %d\n",
      type, work->problem.k > TSL_RESIDUE_PART, tsl_residue_candidate(&work->problem, &work->config, 0),
      tsl_residue_candidate(&work->problem, &work->config, 1),
      tsl_residue_candidate(&work->problem, &work->config, 2));
  const char *native = tsl_residue_native_defines(&work->problem);
  const tsl_launch_module modules[] = {{FOLDER "residue_int8_fallback.cu", native},
                                       {FOLDER "residue_int8_reconstruct.cu", moduli},
                                       {FOLDER "residue_int8_multiply.cu", stages},
                                       {FOLDER "residue_int8_scaling.cu", type},
                                       {FOLDER "residue_int8_convert.cu", type}};
  tsl_launch_compile_ahead(work, modules, sizeof modules / sizeof *modules);
  TSL_TRY(load_kernel(work, FOLDER "residue_int8_scaling.cu", "tsl_gemm_residue_int8_measure", MEASURE_ITEMS,
                      type, &made.measure));
  TSL_TRY(load_kernel(work, FOLDER "residue_int8_scaling.cu", "tsl_gemm_residue_int8_choose", CHOOSE_ITEMS,
                      type, &made.choose));
  TSL_TRY(load_kernel(work, FOLDER "residue_int8_convert.cu", "tsl_gemm_residue_int8_convert", CONVERT_ITEMS,
                      type, &made.convert));
  TSL_TRY(load_kernel(work, FOLDER "residue_int8_multiply.cu", "tsl_gemm_residue_int8_multiply",
                      MULTIPLY_ITEMS, stages, &made.multiply));
  TSL_TRY(ops->kernel_local_bytes(&made.multiply, shared_bytes));
  TSL_TRY(load_kernel(work, FOLDER "residue_int8_reconstruct.cu", "tsl_gemm_residue_int8_join", JOIN_ITEMS,
                      moduli, &made.join));
  TSL_TRY(load_kernel(work, FOLDER "residue_int8_fallback.cu", "tsl_gemm_residue_int8_native", NATIVE_ITEMS,
                      native, &made.native));
  if (ops->pinned_create &&
      ops->pinned_create(work->device, sizeof(residue_choice), &made.host_choice) != TESELA_OK)
    made.host_choice = NULL; /* no memory: the choice is not reported */
  if (made.host_choice)
    *(residue_choice *)made.host_choice->host = (residue_choice){
        .candidate = TSL_RESIDUE_UNKNOWN, .moduli = tsl_residue_least(&work->problem, &work->config)};
  tsl_residue_state *state = work->state;
  *state = made;
  return TESELA_OK;
}

static int64_t count_converters(const tsl_problem *problem, const residue_arguments *args, int operand) {
  const int64_t chunks = PANEL * tsl_residue_reals(problem, 1) / CONVERT_NUMBERS;
  return tsl_ceil_div(operand ? args->n : args->m, CONVERT_ITEMS / chunks) * tsl_ceil_div(args->k, PANEL);
}

static int64_t count_measuring_blocks(const int64_t lines[2], const int block_lines[2]) {
  return tsl_ceil_div(lines[0], block_lines[0]) + tsl_ceil_div(lines[1], block_lines[1]);
}

void tsl_residue_block_lines(const int64_t lines[2], const bool is_across[2], const tsl_device *device,
                             int block_lines[2]) {
  const int64_t room = (int64_t)UNIT_MEASURE * device->compute_units;
  for (int o = 0; o < 2; o++)
    block_lines[o] = is_across[o] ? FEW_ACROSS : FEW_ALONG;
  for (int step = 0; step < 2; step++)
    for (int o = 0; o < 2; o++)
      if (is_across[o] == (step == 1) && count_measuring_blocks(lines, block_lines) > room)
        block_lines[o] *= 2;
  for (int o = 0; o < 2; o++) {
    int more[2] = {block_lines[0], block_lines[1]};
    more[o] *= is_across[o] ? 1 : 2;
    if (count_measuring_blocks(lines, block_lines) > room && count_measuring_blocks(lines, more) <= room)
      block_lines[o] = more[o];
  }
}

static tsl_residue_run run_of(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  tsl_residue_run run = tsl_residue_run_of(work, operands, stream);
  residue_arguments *args = &run.args;
  const bool is_across[2] = {args->operands[0].is_across != 0, args->operands[1].is_across != 0};
  int64_t lines[2] = {args->m, args->n};
  args->tiles_m = (int)tsl_ceil_div(args->m, TILE_M), args->tiles_n = (int)tsl_ceil_div(args->n, TILE_N);
  args->raster_height = BAND / run.state->cluster;
  args->has_whole = run.state->whole != NULL;
  args->apart[0] = args->apart[1] = 1;
  args->host_choice = run.state->host_choice ? run.state->host_choice->host : NULL;
  for (int l = 0; l < TSL_RESIDUE_MODULI; l++)
    args->reductions[l] = tsl_residue_reduction(args->rules.moduli[l].p);
  if (!args->has_whole || run.reuse || args->is_empty)
    args->glance = -1;
  if (args->is_kept) /* the previous run measured these lines */
    lines[args->stays] = 0;
  tsl_residue_block_lines(lines, is_across, work->device, args->block_lines);
  for (int o = 0; o < 2; o++)
    args->blocks[o] = (int)tsl_ceil_div(lines[o], args->block_lines[o]);
  args->converters = (int)count_converters(&work->problem, args, 0);
  return run;
}

static tesela_status map_planes(const residue_arguments *args, int operand, int planes, int cluster,
                                tsl_buffer *scratch, tsl_tensor_map *map) {
  const int64_t lines = operand ? tsl_round_up(args->n, TSL_RESIDUE_GROUP) : args->m,
                panels = tsl_ceil_div(args->k, PANEL);
  const tsl_tensor tensor = {.buffer = scratch,
                             .offset = (size_t)args->planes[operand],
                             .element = 1,
                             .size = {PANEL, lines, planes * panels},
                             .pitch = {PANEL, args->panel[operand]},
                             .box = {PANEL, operand ? TILE_N / cluster : TILE_M}};
  return scratch->device->ops->tensor_map(&tensor, map);
}

static tesela_status launch_native(const tsl_residue_run *run) {
  const tsl_problem *problem = &run->work->problem;
  const bool sums_are_double = tsl_residue_type(problem) == TESELA_F64 || tsl_residue_is_precise(problem);
  const int64_t side = sums_are_double ? 64 : 128;
  const int64_t tiles = tsl_ceil_div(tsl_residue_reals(problem, run->args.m), side) *
                        tsl_ceil_div(tsl_residue_reals(problem, run->args.n), side),
                most = (int64_t)UNIT_NATIVE * run->work->device->compute_units;
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->args.is_empty ? run->c : run->a),
                               TSL_ARG_BUFFER(run->args.is_empty ? run->c : run->b), TSL_ARG_BUFFER(run->c),
                               TSL_ARG_BUFFER(run->scratch), TSL_ARG_VALUE(run->args)};
  return tsl_residue_launch(run, run->state->native, tsl_min(tiles, most), 1, NATIVE_ITEMS, list,
                            sizeof list / sizeof *list);
}

/* Returns a run that measures a few evenly spaced lines, and chooses as if all lines were like them. Lines
 * are read whole if the product has many lines, because a line's rare large numbers decide. */
static tsl_residue_run glance_of(const tsl_residue_run *whole) {
  tsl_residue_run run = *whole;
  residue_arguments *args = &run.args;
  const int64_t thin = tsl_max(1, GLANCE_SHARE * GLANCE_LINES / tsl_min(args->m, args->n)),
                each_term = args->rules.k / args->k;
  args->k = (int)tsl_ceil_div(args->k, thin);
  args->rules.k = each_term * args->k;
  for (int o = 0; o < 2; o++) {
    const int64_t lines = o ? args->n : args->m, each = args->operands[o].is_across ? FEW_ACROSS : FEW_ALONG,
                  blocks = tsl_ceil_div(lines, each);
    args->block_lines[o] = (int)each;
    args->apart[o] = (int)tsl_max(1, blocks * each / GLANCE_LINES);
    args->blocks[o] = (int)tsl_ceil_div(blocks, args->apart[o]);
    const int64_t last = (int64_t)(args->blocks[o] - 1) * args->apart[o] * each;
    args->rules.lines[o] = (args->blocks[o] - 1) * each + tsl_min(each, lines - last);
    args->operands[o].along *= thin;
    args->operands[o].is_wide = args->operands[o].is_wide && thin == 1;
  }
  args->rules.native_once = 0;
  args->choice = args->glance;
  args->made = args->glance + (int64_t)sizeof(residue_choice);
  args->glance = -1;
  return run;
}

/* Measures lines and chooses; a glance that is queued alone reports its choice itself. */
static tesela_status choose(const tsl_residue_run *run, bool reports) {
  residue_arguments chosen = run->args;
  const residue_arguments *args = &chosen;
  chosen.host_choice = reports ? chosen.host_choice : NULL;
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a), TSL_ARG_BUFFER(run->b), TSL_ARG_BUFFER(run->scratch),
                               TSL_ARG_VALUE(*args)};
  TSL_TRY(tsl_residue_launch(run, run->state->measure, args->blocks[0] + args->blocks[1], 1, MEASURE_ITEMS,
                             list, 4));
  return tsl_residue_launch(run, run->state->choose, 1, 1, CHOOSE_ITEMS, list + 2, 2);
}

/* Converts the block's rows of A and, for the first block, all of B. */
static tesela_status convert(const tsl_residue_run *run, bool is_first) {
  residue_arguments args = run->args;
  args.conversions = args.converters + (is_first ? (int)count_converters(&run->work->problem, &args, 1) : 0);
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a), TSL_ARG_BUFFER(run->b), TSL_ARG_BUFFER(run->scratch),
                               TSL_ARG_VALUE(args)};
  return tsl_residue_launch(
      run, run->state->convert,
      tsl_min(args.conversions, (int64_t)UNIT_CONVERT * run->work->device->compute_units), 1, CONVERT_ITEMS,
      list, 4);
}

static tesela_status multiply(const tsl_residue_run *run) {
  const residue_arguments *args = &run->args;
  const int planes =
      args->rules.sieves[args->rules.candidates - 1].moduli * tsl_residue_kinds(&run->work->problem);
  const int cluster = run->state->cluster;
  const int64_t work_tiles =
      (int64_t)planes * args->parts * tsl_ceil_div(args->tiles_m, cluster) * args->tiles_n;
  _Alignas(64) tsl_tensor_map maps[2];
  for (int o = 0; o < 2; o++)
    TSL_TRY(map_planes(args, o, planes, cluster, run->scratch, &maps[o]));
  const tsl_argument products[] = {TSL_ARG_VALUE(maps[0]), TSL_ARG_VALUE(maps[1]),
                                   TSL_ARG_BUFFER(run->scratch), TSL_ARG_VALUE(*args)};
  TSL_TRY(tsl_residue_launch(run, run->state->multiply,
                             cluster * tsl_min(work_tiles, tsl_launch_units(run->work->device) / cluster), 1,
                             MULTIPLY_ITEMS, products, 4));
  residue_tables tables = {.candidates = {{.parts = 0}}};
  for (int c = 0; c < args->rules.candidates; c++)
    tables.candidates[c] = tsl_residue_weights_of(&args->rules.sieves[c]);
  const tsl_argument joining[] = {TSL_ARG_BUFFER(run->c), TSL_ARG_BUFFER(run->scratch), TSL_ARG_VALUE(*args),
                                  TSL_ARG_VALUE(tables)};
  const int64_t across = tsl_ceil_div(args->n, JOIN_COLUMNS),
                down = tsl_max(1, (int64_t)UNIT_JOIN * run->work->device->compute_units / across);
  return tsl_residue_launch(run, run->state->join, across, tsl_min(args->m, tsl_min(down, JOIN_ROWS)),
                            JOIN_ITEMS, joining, 4);
}

/* Enqueues the subplan, whose kernels return at once if residues were chosen, or unconditionally. */
static tesela_status multiply_whole(const tsl_work *work, const tsl_operands *operands,
                                    const residue_arguments *args, bool is_conditional, tsl_stream *stream) {
  const tsl_residue_state *state = work->state;
  tsl_operands own = *operands;
  if (!state->whole)
    return TESELA_OK;
  const tsl_run_hints hints = {.wanted = {.is_set = is_conditional,
                                          .at = args->choice + (int64_t)offsetof(residue_choice, is_whole),
                                          .above = 0}};
  own.hints = &hints;
  return work->subplans->enqueue_as_given(state->whole, &own, stream, operands->scratch);
}

/* Returns true if run `index` of the subplan alone has a glance at the numbers. Glances become rare, because
 * numbers that were refused several times will probably be refused again. */
static bool has_glance(unsigned index) {
  return index < GLANCE_RUNS ? (index & (index - 1)) == 0 : index % GLANCE_RUNS == 0;
}

/* Enqueues the subplan alone, and a glance at the numbers now and then. Residues may give other bits, so
 * a run's bits depend on the numbers of the run before. A subplan needs bits=any. */
static tesela_status run_whole(const tsl_work *work, const tsl_operands *operands,
                               const tsl_residue_run *run) {
  tsl_residue_state *state = work->state;
  TSL_TRY(multiply_whole(work, operands, &run->args, false, run->stream));
  if (!has_glance(atomic_fetch_add_explicit(&state->whole_runs, 1, memory_order_relaxed)))
    return TESELA_OK;
  const tsl_residue_run glance = glance_of(run);
  return choose(&glance, true);
}

tesela_status tsl_residue_int8_run_cuda(const tsl_work *work, const tsl_operands *operands,
                                        tsl_stream *stream) {
  tsl_residue_run run = run_of(work, operands, stream);
  if (run.args.is_empty)
    return launch_native(&run);
  if (run.args.glance >= 0 && run.args.host_choice) {
    const volatile residue_choice *last = run.args.host_choice; /* which an earlier run may still write */
    if (last->is_whole)
      return run_whole(work, operands, &run);
    run.args.glance = last->candidate == TSL_RESIDUE_UNKNOWN ? run.args.glance : -1;
  }
  if (run.args.glance >= 0) {
    const tsl_residue_run glance = glance_of(&run);
    TSL_TRY(choose(&glance, false));
  }
  TSL_TRY(choose(&run, false));
  const int64_t rows = tsl_residue_rows(&work->config, run.args.m);
  for (int64_t first = 0; first < run.args.m; first += rows) {
    tsl_residue_run block = tsl_residue_block_of(&run, first, rows);
    block.args.tiles_m = (int)tsl_ceil_div(block.args.m, TILE_M);
    block.args.converters = (int)count_converters(&work->problem, &block.args, 0);
    TSL_TRY(convert(&block, first == 0));
    TSL_TRY(multiply(&block));
  }
  TSL_TRY(launch_native(&run));
  TSL_TRY(multiply_whole(work, operands, &run.args, true, stream));
  tsl_operand_reuse_leave(run.reuse, run.made);
  return TESELA_OK;
}

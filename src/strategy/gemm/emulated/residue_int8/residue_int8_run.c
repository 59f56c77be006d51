#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8_host.h"
#include "strategy/kernel_launch/launch.h"

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
  FEW_ALONG = 2,        /* lines of a measuring block if all are resident, else a multiple */
  FEW_ACROSS = 4,
  ALIGNED = 256
};
/* Shared memory of the integer product in bytes: stages, their alignment, mbarriers. */
static const size_t shared_bytes = (size_t)STAGES * (TILE_M + TILE_N) * PANEL + 1024 + 16 * STAGES;

bool tsl_residue_has_cuda(const tsl_device *device) {
  const unsigned needs = TSL_CAN_CUDA | TSL_CAN_WGMMA;
  return (device->capabilities & needs) == needs;
}

static int64_t residue_reserve(int64_t *bytes, int64_t more) {
  const int64_t at = *bytes;
  *bytes += tsl_round_up(more, ALIGNED);
  return at;
}

/* Returns the bytes of the whole product's subplan at the start of the workspace: partial sums of split-k,
 * and copies of complex numbers. 0 where the product is too small for residues or must be reproducible. */
uint64_t tsl_residue_int8_whole_bytes(const tsl_problem *problem) {
  enum { SIDE = 256, SUMS = 32 << 20, VOLUME = 1 << 30 };
  const double volume = (double)problem->m * (double)problem->n * (double)problem->k;
  if (problem->ask.bits != TSL_REPRODUCIBILITY_ANY || volume < VOLUME)
    return 0;
  const int64_t copied = (tsl_round_up(problem->m, SIDE) + tsl_round_up(problem->n, SIDE)) *
                         tsl_round_up(problem->k, SIDE) * (int64_t)tsl_type(problem->c.type)->size;
  return SUMS + (problem->c.type == TESELA_C64 ? (uint64_t)copied : 0);
}

/* Fills in offsets and pitches for m rows of A and n columns of B. Operand args->stays lies first; planes of
 * A and C are a block's. Returns all bytes. */
static int64_t lay_out(const tsl_problem *problem, const tsl_config *config, int64_t m, int64_t n,
                       residue_arguments *args) {
  const int64_t lines[2] = {m, n}, rows = tsl_residue_rows(config, m), held[2] = {rows, n},
                parts = tsl_ceil_div_or_one(problem->k, TSL_RESIDUE_PART);
  const int64_t planes = tsl_residue_kinds(problem) *
                         (int64_t)tsl_residue_candidate(problem, config, TSL_RESIDUE_CANDIDATES - 1);
  int64_t bytes = 0;
  (void)residue_reserve(&bytes, (int64_t)tsl_residue_int8_whole_bytes(problem));
  for (int turn = 0; turn < 2; turn++) {
    const int o = turn == 0 ? args->stays : 1 - args->stays;
    args->panel[o] = tsl_round_up(held[o], TSL_RESIDUE_GROUP) * PANEL;
    args->plane[o] = tsl_ceil_div(problem->k, PANEL) * args->panel[o];
    args->planes[o] = residue_reserve(&bytes, planes * args->plane[o]);
    args->keys[o] = residue_reserve(&bytes, lines[o] * 4);
    for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
      args->candidates[o][c] = residue_reserve(&bytes, lines[o] * 4);
    args->scales[o] = residue_reserve(&bytes, tsl_round_up(lines[o], 4) * 4);
    args->natives[o] = residue_reserve(&bytes, lines[o] * 4);
    if (o == args->stays)
      args->made = residue_reserve(&bytes, sizeof(residue_choice));
  }
  args->choice = residue_reserve(&bytes, sizeof(residue_choice));
  args->glance = residue_reserve(&bytes, 2 * sizeof(residue_choice));
  args->rest_pitch = tsl_round_up(n, TSL_RESIDUE_GROUP);
  args->rest_plane = tsl_round_up(rows * args->rest_pitch, ALIGNED);
  args->rests = residue_reserve(&bytes, planes * parts * args->rest_plane);
  args->parts = (int)parts;
  return bytes;
}

uint64_t tsl_residue_int8_scratch(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) {
  residue_arguments args = {.stays = 0};
  (void)device;
  return (uint64_t)tsl_max(lay_out(problem, config, problem->m, problem->n, &args),
                           lay_out(problem, config, problem->n, problem->m, &args));
}

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
  TSL_TRY(ops->kernel_local_bytes(made.multiply, shared_bytes));
  TSL_TRY(load_kernel(work, FOLDER "residue_int8_reconstruct.cu", "tsl_gemm_residue_int8_join", JOIN_ITEMS,
                      moduli, &made.join));
  TSL_TRY(load_kernel(work, FOLDER "residue_int8_fallback.cu", "tsl_gemm_residue_int8_native", NATIVE_ITEMS,
                      native, &made.native));
  if (ops->pinned_create &&
      ops->pinned_create(work->device, sizeof(residue_choice), &made.host_choice) != TESELA_OK)
    made.host_choice = NULL; /* no memory: the choice is not reported */
  if (made.host_choice)
    *(residue_choice *)made.host_choice->host =
        (residue_choice){.moduli = tsl_residue_least(&work->problem, &work->config)};
  tsl_residue_state *state = work->state;
  *state = made;
  return TESELA_OK;
}

typedef struct residue_run {
  tsl_buffer *a, *b;
  tsl_hash made; /* of all that the derived data of a reused operand depend on */
  residue_arguments args;
} residue_run;

/* Returns 1 if 16-byte groups along a line are aligned in every line, else 0. A NULL buffer gives 0. */
static int is_wide(tsl_buffer *buffer, int64_t size, int64_t each, int64_t along, int64_t across,
                   int64_t offset) {
  const int64_t unit = 16 / size;
  return buffer && along == each && across % unit == 0 && offset % unit == 0 &&
         (uintptr_t)buffer->device->ops->native_buffer(buffer) % 16 == 0;
}

static residue_matrix matrix_of(tsl_buffer *buffer, const tsl_problem *problem, int64_t offset,
                                int64_t across, int64_t along, bool is_conjugate) {
  const int64_t size = (int64_t)tsl_type(tsl_residue_type(problem))->size,
                each = tsl_residue_reals(problem, 1);
  return (residue_matrix){.offset = each * offset,
                          .across = each * across,
                          .along = each * along,
                          .is_across = !tsl_launch_along(along, across),
                          .is_wide = is_wide(buffer, size, each, each * along, each * across, each * offset),
                          .is_conjugate = is_conjugate};
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

/* Sets up operand reuse: lines that the previous run measured are not measured again, their count becomes 0.
 * Blocks of rows overwrite each other's data, so they reuse nothing. */
static void keep(const tsl_work *work, const tsl_operands *operands, int64_t lines[2], residue_run *run) {
  residue_arguments *args = &run->args;
  const int o = args->stays;
  if (!tsl_residue_reuse(operands) || args->is_empty || tsl_residue_rows(&work->config, args->m) < args->m)
    return;
  const tsl_residue_lying lying = {args->planes[o], args->plane[o], args->keys[o], args->candidates[o][0],
                                   args->made};
  run->made = tsl_residue_made_of(&work->problem, &args->rules, o, lines[o], &args->operands[o],
                                  o ? run->b : run->a, operands->scratch, &lying);
  args->is_kept = tsl_operand_reuse_has(tsl_residue_reuse(operands), run->made);
  lines[o] = args->is_kept ? 0 : lines[o];
}

static residue_run run_of(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem *problem = &work->problem;
  const tsl_residue_state *state = work->state;
  const int64_t size = (int64_t)tsl_type(tsl_residue_type(problem))->size,
                each = tsl_residue_reals(problem, 1);
  const tsl_gemm_sizes plain = tsl_launch_sizes(work, operands);
  const bool is_swapped = plain.c_col_stride != 1 && plain.c_row_stride == 1;
  const tsl_gemm_sizes s = is_swapped ? tsl_launch_swapped(&plain) : plain;
  residue_run run = {.a = is_swapped ? operands->b.buffer : operands->a.buffer,
                     .b = is_swapped ? operands->a.buffer : operands->b.buffer};
  residue_arguments *args = &run.args;
  args->rules = tsl_residue_rules(problem, &work->config, s.m, s.n);
  tsl_residue_int8_weigh(work, &args->rules);
  args->operands[0] = matrix_of(run.a, problem, s.a_offset, s.a_row_stride, s.a_col_stride,
                                is_swapped ? problem->conjugate_b : problem->conjugate_a);
  args->operands[1] = matrix_of(run.b, problem, s.b_offset, s.b_col_stride, s.b_row_stride,
                                is_swapped ? problem->conjugate_a : problem->conjugate_b);
  args->c_offset = each * s.c_offset, args->c_row = each * s.c_row_stride,
  args->c_col = each * s.c_col_stride;
  args->alpha = problem->alpha[0], args->beta = problem->beta[0];
  args->m = (int)s.m, args->n = (int)s.n, args->k = (int)s.k;
  args->tiles_m = (int)tsl_ceil_div(s.m, TILE_M), args->tiles_n = (int)tsl_ceil_div(s.n, TILE_N);
  args->raster_height = BAND / state->cluster;
  args->is_wide = is_wide(operands->c.buffer, size, each, args->c_col, args->c_row, args->c_offset);
  args->is_empty = s.k == 0;
  args->has_whole = state->whole != NULL;
  args->apart[0] = args->apart[1] = 1;
  args->host_choice = state->host_choice ? state->host_choice->host : NULL;
  for (int l = 0; l < TSL_RESIDUE_MODULI; l++)
    args->reductions[l] = tsl_residue_reduction(args->rules.moduli[l].p);
  args->stays = tsl_residue_stays(operands, is_swapped);
  lay_out(problem, &work->config, s.m, s.n, args);
  if (!state->whole || tsl_residue_reuse(operands) || args->is_empty)
    args->glance = -1;
  int64_t lines[2] = {s.m, s.n};
  keep(work, operands, lines, &run);
  const bool is_across[2] = {args->operands[0].is_across != 0, args->operands[1].is_across != 0};
  tsl_residue_block_lines(lines, is_across, work->device, args->block_lines);
  for (int o = 0; o < 2; o++)
    args->blocks[o] = (int)tsl_ceil_div(lines[o], args->block_lines[o]);
  args->converters = (int)count_converters(problem, args, 0);
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

static tesela_status launch(const tsl_work *work, tsl_stream *stream, tsl_kernel *kernel, int64_t across,
                            int64_t down, int items, const tsl_argument *list, int count) {
  const tsl_grid grid = {{(uint64_t)across, (uint64_t)down, 1}, {items, 1, 1}};
  return work->device->ops->launch(stream, kernel, &grid, list, count);
}

static tesela_status launch_native(const tsl_work *work, const residue_run *run, tsl_buffer *c,
                                   tsl_buffer *scratch, tsl_stream *stream) {
  const tsl_residue_state *kernels = work->state;
  const bool sums_are_double =
      tsl_residue_type(&work->problem) == TESELA_F64 || tsl_residue_is_precise(&work->problem);
  const int64_t side = sums_are_double ? 64 : 128;
  const int64_t tiles = tsl_ceil_div(tsl_residue_reals(&work->problem, run->args.m), side) *
                        tsl_ceil_div(tsl_residue_reals(&work->problem, run->args.n), side),
                most = (int64_t)UNIT_NATIVE * work->device->compute_units;
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a), TSL_ARG_BUFFER(run->b), TSL_ARG_BUFFER(c),
                               TSL_ARG_BUFFER(scratch), TSL_ARG_VALUE(run->args)};
  return launch(work, stream, kernels->native, tsl_min(tiles, most), 1, NATIVE_ITEMS, list,
                sizeof list / sizeof *list);
}

/* Returns a run that measures a few evenly spaced lines, and chooses as if all lines were like them. Lines
 * are read whole if the product has many lines, because a line's rare large numbers decide. */
static residue_run glance_of(const residue_run *whole) {
  residue_run run = *whole;
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

static tesela_status choose(const tsl_work *work, const residue_run *run, tsl_buffer *scratch,
                            tsl_stream *stream) {
  const tsl_residue_state *kernels = work->state;
  const residue_arguments *args = &run->args;
  const tsl_argument choosing[] = {TSL_ARG_BUFFER(scratch), TSL_ARG_VALUE(*args)};
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a), TSL_ARG_BUFFER(run->b), TSL_ARG_BUFFER(scratch),
                               TSL_ARG_VALUE(*args)};
  TSL_TRY(
      launch(work, stream, kernels->measure, args->blocks[0] + args->blocks[1], 1, MEASURE_ITEMS, list, 4));
  return launch(work, stream, kernels->choose, 1, 1, CHOOSE_ITEMS, choosing, 2);
}

/* Converts the block's rows of A and, for the first block, all of B. */
static tesela_status convert(const tsl_work *work, const residue_run *run, bool is_first, tsl_buffer *scratch,
                             tsl_stream *stream) {
  const tsl_residue_state *kernels = work->state;
  residue_arguments args = run->args;
  args.conversions = args.converters + (is_first ? (int)count_converters(&work->problem, &args, 1) : 0);
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a), TSL_ARG_BUFFER(run->b), TSL_ARG_BUFFER(scratch),
                               TSL_ARG_VALUE(args)};
  return launch(work, stream, kernels->convert,
                tsl_min(args.conversions, (int64_t)UNIT_CONVERT * work->device->compute_units), 1,
                CONVERT_ITEMS, list, 4);
}

static tesela_status multiply(const tsl_work *work, const residue_run *run, const tsl_operands *operands,
                              tsl_stream *stream) {
  const tsl_residue_state *kernels = work->state;
  const residue_arguments *args = &run->args;
  const int planes =
      args->rules.sieves[args->rules.candidates - 1].moduli * tsl_residue_kinds(&work->problem);
  const int cluster = kernels->cluster;
  const int64_t shares = (int64_t)planes * args->parts * tsl_ceil_div(args->tiles_m, cluster) * args->tiles_n;
  _Alignas(64) tsl_tensor_map maps[2];
  for (int o = 0; o < 2; o++)
    TSL_TRY(map_planes(args, o, planes, kernels->cluster, operands->scratch, &maps[o]));
  const tsl_argument products[] = {TSL_ARG_VALUE(maps[0]), TSL_ARG_VALUE(maps[1]),
                                   TSL_ARG_BUFFER(operands->scratch), TSL_ARG_VALUE(*args)};
  TSL_TRY(launch(work, stream, kernels->multiply,
                 cluster * tsl_min(shares, tsl_launch_units(work->device) / cluster), 1, MULTIPLY_ITEMS,
                 products, 4));
  residue_tables tables = {.candidates = {{.parts = 0}}};
  for (int c = 0; c < args->rules.candidates; c++)
    tables.candidates[c] = tsl_residue_weights_of(&args->rules.sieves[c]);
  const tsl_argument joining[] = {TSL_ARG_BUFFER(operands->c.buffer), TSL_ARG_BUFFER(operands->scratch),
                                  TSL_ARG_VALUE(*args), TSL_ARG_VALUE(tables)};
  const int64_t across = tsl_ceil_div(args->n, JOIN_COLUMNS),
                down = tsl_max(1, (int64_t)UNIT_JOIN * work->device->compute_units / across);
  return launch(work, stream, kernels->join, across, tsl_min(args->m, tsl_min(down, JOIN_ROWS)), JOIN_ITEMS,
                joining, 4);
}

/* Returns the run of a block: at most `most` rows of C from `first` on, with the whole run's choice. */
static residue_run block_of(const tsl_problem *problem, const residue_run *whole, int64_t first,
                            int64_t most) {
  residue_run block = *whole;
  residue_arguments *args = &block.args;
  const int64_t rows = tsl_min(most, whole->args.m - first);
  args->operands[0].offset += first * args->operands[0].across;
  args->scales[0] += first * (int64_t)sizeof(int);
  args->c_offset += first * args->c_row;
  args->m = (int)rows;
  args->tiles_m = (int)tsl_ceil_div(rows, TILE_M);
  args->converters = (int)count_converters(problem, args, 0);
  return block;
}

/* Enqueues the subplan, whose kernels return at once if residues were chosen. */
static tesela_status multiply_whole(const tsl_work *work, const tsl_operands *operands,
                                    const residue_arguments *args, tsl_stream *stream) {
  const tsl_residue_state *state = work->state;
  tsl_operands own = *operands;
  if (!state->whole)
    return TESELA_OK;
  const tsl_run_hints hints = {.wanted = {.is_set = true,
                                          .at = args->choice + (int64_t)offsetof(residue_choice, is_whole),
                                          .above = 0}};
  own.hints = &hints;
  return work->subplans->enqueue_as_given(state->whole, &own, stream, operands->scratch);
}

tesela_status tsl_residue_int8_run_cuda(const tsl_work *work, const tsl_operands *operands,
                                        tsl_stream *stream) {
  const residue_run run = run_of(work, operands);
  tsl_buffer *scratch = operands->scratch;
  if (run.args.is_empty) {
    residue_run empty = run;
    empty.a = empty.b = operands->c.buffer;
    return launch_native(work, &empty, operands->c.buffer, scratch, stream);
  }
  if (run.args.glance >= 0) {
    const residue_run glance = glance_of(&run);
    TSL_TRY(choose(work, &glance, scratch, stream));
  }
  TSL_TRY(choose(work, &run, scratch, stream));
  const int64_t rows = tsl_residue_rows(&work->config, run.args.m);
  for (int64_t first = 0; first < run.args.m; first += rows) {
    const residue_run block = block_of(&work->problem, &run, first, rows);
    TSL_TRY(convert(work, &block, first == 0, scratch, stream));
    TSL_TRY(multiply(work, &block, operands, stream));
  }
  TSL_TRY(launch_native(work, &run, operands->c.buffer, scratch, stream));
  TSL_TRY(multiply_whole(work, operands, &run.args, stream));
  tsl_operand_reuse_leave(tsl_residue_reuse(operands), run.made);
  return TESELA_OK;
}

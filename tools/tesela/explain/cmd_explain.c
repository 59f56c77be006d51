/* tesela explain: the plan for a problem, its needs, and why other strategies were not chosen. */
#include "api/api.h"
#include "cli/interrupt.h"
#include "cli/language.h"
#include "cli/report.h"
#include "comm/comm_grid.h"
#include "comm/transport_name.h"
#include "core/env.h"
#include "core/memory.h"
#include "core/status.h"
#include "explain/device_counters.h"
#include "explain/options.h"
#include "explain/trace.h"
#include "inventory/select.h"
#include "inventory/strategy_limits.h"
#include "page/page.h"
#include "strategy/params.h"

#include <math.h>

/* A grid, and the figures it is compared with. */
typedef struct ranks_found {
  tsl_task task;
  tsl_process_grid grid;
  tsl_process_grid usual; /* the grid that the library chooses from its own figures */
  /* the words that some rank must receive; the words of operands that each used rank holds */
  double bound, held;
  double seconds_words;
  int64_t words; /* words received by the busiest rank, or sent if that is more */
} ranks_found;

static tesela_status ranks_find(const tsl_explain_options *options, const tsl_problem *p, ranks_found *out) {
  const tsl_type_info *sums = tsl_type(tsl_type(p->c.type)->sums);
  const uint64_t memory = options->memory ? options->memory : tsl_memory_available() / 2;
  out->task = (tsl_task){.m = p->m,
                         .n = p->n,
                         .k = p->k,
                         .ranks = (int)options->ranks,
                         .size_a = (int64_t)tsl_type(p->a.type)->size,
                         .size_b = (int64_t)tsl_type(p->b.type)->size,
                         .size_c = (int64_t)tsl_type(p->c.type)->size,
                         .size_sum = (int64_t)sums->size,
                         .operations = sums->is_complex ? 8 : 2,
                         .memory = memory < INT64_MAX ? (int64_t)memory : INT64_MAX};
  const tsl_links links = {tsl_links_default.seconds_per_message,
                           options->link ? (double)options->link : tsl_links_default.bytes_per_second,
                           options->gflops.value * 1e9};
  if (tsl_grid_list(&out->task, &links, &out->grid, 1) == 0 ||
      tsl_grid_list(&out->task, &tsl_links_default, &out->usual, 1) == 0)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%llu bytes a rank are too few: --memory gives more",
                    (unsigned long long)memory);
  tsl_grid_time(&out->task, &links, &out->usual);
  out->words = out->grid.words > out->grid.words_sent ? out->grid.words : out->grid.words_sent;
  out->seconds_words = out->grid.seconds - out->grid.seconds_compute;
  const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
  /* Operands are distributed evenly over the ranks that multiply. */
  const int used = out->grid.used;
  out->held = (m * n + m * k + k * n) / used;
  out->bound = tsl_grid_bound(p->m, p->n, p->k, used, (double)memory / (double)sums->size);
  return TESELA_OK;
}

/* Returns true if the library, which does not know --link and --gflops, chooses another grid. */
static bool differs(const ranks_found *f) {
  const tsl_process_grid *g = &f->grid, *u = &f->usual;
  return g->used != u->used || g->depth != u->depth || g->slabs != u->slabs || g->by_columns != u->by_columns;
}

static tesela_status ranks_print_text(const ranks_found *f) {
  char bytes[32], time[32], part[32], way[400];
  tsl_text grid = {0};
  tsl_grid_print(&f->grid, &grid);
  tsl_table table = tsl_table_of_pairs();
  tsl_table_add_pair(&table, "plan", "%s", tsl_text_get(&grid));
  if (f->grid.used < f->grid.ranks)
    tsl_table_add_pair(&table, "ranks", "%d multiply and hold the operands, %d more would make it no faster",
                       f->grid.used, f->grid.ranks - f->grid.used);
  tsl_table_add_pair(&table, "memory", "%s of %s a rank, in addition to its operands",
                     tsl_format_bytes((uint64_t)f->grid.memory, bytes, sizeof bytes),
                     tsl_format_bytes((uint64_t)f->task.memory, part, sizeof part));
  tsl_table_add_pair(&table, "words",
                     "%lld to or from the busiest rank, %.0f at least (%.2f times); %.0f lie there",
                     (long long)f->words, f->bound, f->bound > 0 ? (double)f->words / f->bound : 1, f->held);
  tsl_table_add_pair(
      &table, "bytes", "%s to or from the busiest rank",
      tsl_format_bytes((uint64_t)((double)f->words * (double)f->task.size_a), bytes, sizeof bytes));
  tsl_table_add_pair(&table, "time", "%s: products %s, words %s where nothing overlaps",
                     tsl_format_seconds(f->grid.seconds, time, sizeof time),
                     tsl_format_seconds(f->grid.seconds_compute, part, sizeof part),
                     tsl_format_seconds(f->seconds_words, bytes, sizeof bytes));
  tsl_transfer_path_name(way, sizeof way);
  tsl_table_add_pair(&table, "panels", "%s", way);
  tsl_text_free(&grid);
  tsl_text usual = {0};
  tsl_grid_print(&f->usual, &usual);
  if (differs(f))
    tsl_table_add_pair(&table, "library", "chooses %s without these figures: %s", tsl_text_get(&usual),
                       tsl_format_seconds(f->usual.seconds, time, sizeof time));
  tsl_text_free(&usual);
  tsl_text out = {0};
  tsl_text_add(&out, "C,  %lld x %lld by %lld x %lld\n", (long long)f->grid.m, (long long)f->grid.k,
               (long long)f->grid.k, (long long)f->grid.n);
  tsl_table_text(&table, 2, tsl_output_width(), tsl_output_colour(), &out);
  out.failed |= table.failed;
  tsl_table_free(&table);
  return tsl_print(&out);
}

static tesela_status ranks_print_json(const tsl_command_call *call, const ranks_found *f) {
  const tsl_process_grid *g = &f->grid;
  tsl_text text = {0}, usual = {0};
  char way[400];
  tsl_grid_print(g, &text);
  tsl_grid_print(&f->usual, &usual);
  tsl_transfer_path_name(way, sizeof way);
  json_t *object = json_pack(
      "{s:I, s:I, s:I, s:i, s:s, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:s, s:s, s:o}", "m",
      (json_int_t)g->m, "n", (json_int_t)g->n, "k", (json_int_t)g->k, "ranks", g->ranks, "plan",
      tsl_text_get(&text), "used", g->used, "depth", g->depth, "slabs", g->slabs, "steps",
      g->tiles_m * g->tiles_n * g->panels, "memory_bytes", (json_int_t)g->memory, "words",
      (json_int_t)f->words, "words_all", (json_int_t)g->words_all, "bound", tsl_json_real(f->bound),
      "predicted_seconds", tsl_json_real(g->seconds), "compute_seconds", tsl_json_real(g->seconds_compute),
      "words_seconds", tsl_json_real(f->seconds_words), "panels", way, "library_plan", tsl_text_get(&usual),
      "library_seconds", tsl_json_real(f->usual.seconds));
  tsl_text_free(&text);
  tsl_text_free(&usual);
  return tsl_print_json(call, object);
}

/* Prints the prediction for --ranks ranks with evenly distributed operands. Returns
 * TESELA_OUT_OF_MEMORY if --memory is too small. */
static tesela_status explain_ranks(const tsl_command_call *call, const tsl_problem *problem) {
  const tsl_explain_options *given = call->options;
  ranks_found f;
  if (!(given->gflops.value > 0) || isinf(given->gflops.value))
    return tsl_fail(TESELA_BAD_CALL, "--gflops is %g, and must be a number above 0", given->gflops.value);
  if (given->ranks > 1 << 20)
    return tsl_fail(TESELA_BAD_CALL, "--ranks is %lld, and %d are the most", (long long)given->ranks,
                    1 << 20);
  if (problem->m == 0 || problem->n == 0 || problem->k == 0)
    return tsl_fail(TESELA_BAD_CALL, "there is nothing to multiply, and nothing travels");
  TSL_TRY(ranks_find(given, problem, &f));
  return given->json ? ranks_print_json(call, &f) : ranks_print_text(&f);
}

/* Maximum of each size of a trace. */
enum { TRACED_MAX = 256 };

static const tsl_option options[] = {
    TSL_OPTION(tsl_explain_options, type, "type", TYPE, "f32", "type of the elements"),
    TSL_OPTION(tsl_explain_options, device, "device", DEVICE, NULL,
               "only this device (default: TESELA_DEVICE, else all)"),
    TSL_OPTION(tsl_explain_options, strategy, "strategy", STRATEGY, NULL,
               "only this strategy; or all except some: \"not residue_int8, exact\""),
    TSL_OPTION(tsl_explain_options, accuracy, "accuracy", ACCURACY, NULL,
               "required accuracy, such as 1e-5 or exact; all: default, a number (of |A||B|), e4m3, tf32, "
               "bf16, f32, f64, exact (default: TESELA_ACCURACY)"),
    TSL_OPTION(tsl_explain_options, bits, "bits", BITS, NULL,
               "when results must be bit-for-bit the same; any, run, threads, rows or devices (default: "
               "TESELA_BITS)"),
    TSL_OPTION(tsl_explain_options, transpose_a, "transpose-a", FLAG, NULL, "A is stored transposed"),
    TSL_OPTION(tsl_explain_options, transpose_b, "transpose-b", FLAG, NULL, "B is stored transposed"),
    TSL_OPTION(tsl_explain_options, a_is, "a-is", STRUCTURE, NULL,
               "structure of A, such as triangular_lower; one triangle of A is stored: symmetric_lower, "
               "hermitian_upper, triangular_lower, unit_upper (triangular, with a diagonal of ones), ..."),
    TSL_OPTION(tsl_explain_options, b_is, "b-is", STRUCTURE, NULL, "structure of B; as --a-is"),
    TSL_OPTION(tsl_explain_options, symmetric, "symmetric", FLAG, NULL,
               "B is A's transpose, C is one triangle; M equals N, and the lower triangle is computed"),
    TSL_OPTION(tsl_explain_options, solve, "solve", FLAG, NULL,
               "solve A X = B; X is M x N, K is omitted, and A is triangular_lower unless --a-is sets "
               "another structure"),
    TSL_OPTION(tsl_explain_options, alpha, "alpha", NUMBER, "1", "the factor of A B"),
    TSL_OPTION(tsl_explain_options, beta, "beta", NUMBER, "0", "the factor of C0"),
    TSL_OPTION(tsl_explain_options, bias_axis, "bias-along", ALONG, NULL, "add a bias, a row or a column"),
    TSL_OPTION(tsl_explain_options, activation, "activation", ACTIVATION, NULL,
               "activation of the result: relu, gelu or gelu_tanh"),
    TSL_OPTION(tsl_explain_options, scale_a, "scale-a", SCALING, NULL,
               "scale A by one number (tensor), or one for each row (lines)"),
    TSL_OPTION(tsl_explain_options, scale_b, "scale-b", SCALING, NULL,
               "scale B by one number (tensor), or one for each column (lines)"),
    TSL_OPTION(tsl_explain_options, resident, "resident", FLAG, NULL,
               "the operands are in the device's memory, and nothing is copied; of several devices each has "
               "equal rows of A and C and columns of B"),
    TSL_OPTION(tsl_explain_options, counters, "counters", FLAG, NULL,
               "run the product of --strategy once under NVIDIA's ncu; print the device's counters and "
               "the strategy's counts"),
    TSL_OPTION(tsl_explain_options, trace, "trace", FLAG, NULL,
               "draw which work-item loads which element at each step; recorded while the kernel of "
               "--strategy runs on "
               "this processor, for at most 16 x 16 x 16"),
    TSL_OPTION(tsl_explain_options, element, "element", TEXT, NULL,
               "with --trace: row and column of C, as 5,2; what its work-item loads, adds and stores"),
    TSL_OPTION(tsl_explain_options, group, "group", TEXT, NULL,
               "with --trace: row and column of the work-group, as 1,0; the default is 0,0"),
    TSL_OPTION(tsl_explain_options, html, "html", FILE, NULL,
               "with --trace: write a page that plays the trace in a browser, step by step, for at most "
               "16 x 16 x 16"),
    TSL_OPTION_LOCALE(tsl_explain_options, locale, "the page"),
    TSL_OPTION(tsl_explain_options, ranks, "ranks", COUNT, NULL,
               "plan for this many ranks of a cluster; prints the grid, the words sent, and the time"),
    TSL_OPTION(tsl_explain_options, memory, "memory", BYTES, NULL,
               "with --ranks: memory of a rank besides its operands; the default is half of the free memory "
               "of this machine"),
    TSL_OPTION(tsl_explain_options, link, "link", BYTES, NULL,
               "with --ranks: bytes a second to and from a rank; the default is 2.5 GB/s"),
    TSL_OPTION(tsl_explain_options, gflops, "gflops", NUMBER, "200", "with --ranks: GFLOP/s of a rank"),
    TSL_OPTION_JSON(tsl_explain_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela explain 1000 300 700", "for C (1000 x 300) = A (1000 x 700) B (700 x 300)"},
    {"tesela explain 4096 4096 4096 --type f64 --device cuda", "for one device only"},
    {"tesela explain 2000 2000 300 --symmetric --type f64", "for a triangle of A A^T"},
    {"tesela explain 1000 16 --solve --a-is unit_upper", "for a triangular solve with 16 right-hand sides"},
    {"tesela explain 512 4096 1024 --bias-along row --activation gelu",
     "for a product with a bias and an activation"},
    {"tesela explain 1024 1024 1024 --device cuda --strategy tile_local --counters",
     "counted loads, and the device's counters"},
    {"tesela explain 8 8 8 --strategy \"tile_local tile=4\" --trace", "a tile, step by step"},
    {"tesela explain 8 8 8 --strategy \"tile_local tile=4\" --trace --element 5,2",
     "one element's work-item"},
    {"tesela explain 8 8 8 --strategy \"tile_local tile=4\" --trace --html trace.html",
     "a page that plays the steps"},
    {"tesela explain 8 8 --strategy \"transpose tile_local tile=16\" --trace", "a transpose"},
    {"tesela explain 65536 65536 65536 --type f64 --ranks 1024 --memory 64GiB", "on a cluster"},
    {NULL, NULL},
};

static const char *asked(const char *argument, tsl_env otherwise) {
  return argument ? argument : tsl_env_get(otherwise);
}

/* Reads M, N and K. A solve has no K: sets it to M. */
static tesela_status explain_read_sizes(const tsl_command_call *call, int64_t sizes[3]) {
  const tsl_explain_options *given = call->options;
  const int count = given->solve ? 2 : 3;
  if (call->word_count != count)
    return tsl_fail(TESELA_BAD_CALL, given->solve ? "a solve has two sizes; write tesela explain M N --solve"
                                                  : "too few arguments; write tesela explain M N K");
  for (int i = 0; i < count; i++)
    if (!tsl_parse_i64(call->words[i], &sizes[i]) || sizes[i] < 0)
      return tsl_fail(TESELA_BAD_CALL, "%s: \"%s\" is not a size, a whole number from 0 up",
                      (const char *[]){"M", "N", "K"}[i], call->words[i]);
  if (given->solve)
    sizes[2] = sizes[0];
  return TESELA_OK;
}

/* Adds the structures and stored triangles of the operands to the request. */
static tesela_status explain_add_structures(const tsl_explain_options *settings, tsl_request *request) {
  static const tsl_option_structure lower = {TESELA_TRIANGULAR, TESELA_LOWER};
  const bool plain_solve = settings->solve && settings->a_is.structure == TESELA_GENERAL;
  const tsl_option_structure *a = plain_solve ? &lower : &settings->a_is;
  if (settings->symmetric && settings->solve)
    return tsl_fail(TESELA_BAD_CALL, "--symmetric applies to a product; leave out --symmetric or --solve");
  if (settings->solve &&
      (settings->transpose_b || settings->b_is.structure != TESELA_GENERAL || settings->beta.value != 0))
    return tsl_fail(TESELA_BAD_CALL, "--transpose-b, --b-is and --beta are about products");
  if ((settings->solve || settings->symmetric || a->structure != TESELA_GENERAL ||
       settings->b_is.structure != TESELA_GENERAL) &&
      (settings->bias_axis != TESELA_NO_BIAS || settings->activation != TESELA_NO_ACTIVATION ||
       settings->scale_a != TESELA_NO_SCALE || settings->scale_b != TESELA_NO_SCALE))
    return tsl_fail(TESELA_BAD_CALL,
                    "--bias-along, --activation and scales are about products of general matrices");
  request->desc.structure =
      (tesela_structures){.a = a->structure,
                          .a_triangle = a->triangle,
                          .b = settings->b_is.structure,
                          .b_triangle = settings->b_is.triangle,
                          .c_triangle = settings->symmetric ? TESELA_LOWER : TESELA_WHOLE};
  if (settings->symmetric)
    request->desc.b.transpose = !settings->transpose_a;
  return TESELA_OK;
}

static tesela_status read_problem(const tsl_command_call *call, tsl_problem *problem) {
  const tsl_explain_options *given = call->options;
  const tsl_op op = given->solve ? TSL_OP_SOLVE : TSL_OP_GEMM;
  int64_t sizes[3];
  TSL_TRY(explain_read_sizes(call, sizes));
  TSL_TRY(tsl_terms_check_type(op, given->type));
  const double alpha[2] = {given->alpha.value}, beta[2] = {given->beta.value};
  const tesela_epilogue epilogue = {.bias_axis = given->bias_axis,
                                    .activation = given->activation,
                                    .scaling_a = given->scale_a,
                                    .scaling_b = given->scale_b};
  tsl_request request = {.op = op,
                         .desc = {.m = sizes[0],
                                  .n = sizes[1],
                                  .k = sizes[2],
                                  .a = {.transpose = given->transpose_a, .type = given->type},
                                  .b = {.transpose = given->transpose_b, .type = given->type},
                                  .epilogue = &epilogue,
                                  .alpha = alpha,
                                  .beta = beta},
                         .sizes = {"M", "N", "K"},
                         .fields = {"A", "B", "C"}};
  TSL_TRY(explain_add_structures(given, &request));
  TSL_TRY(tsl_api_problem(&request, problem));
  TSL_TRY(tsl_numeric_requirements_parse_accuracy(asked(given->accuracy, TSL_ENV_ACCURACY), &problem->ask));
  TSL_TRY(tsl_numeric_requirements_parse_bits(asked(given->bits, TSL_ENV_BITS), &problem->ask));
  return tsl_problem_check(problem);
}

/* Reads "5,2", a row and a column; a missing text leaves both 0. */
static tesela_status read_pair(const char *option, const char *text, int64_t *row, int64_t *col) {
  char first[24] = "", second[24] = "", more;
  if (text && (sscanf(text, "%23[^,],%23[^,]%c", first, second, &more) != 2 || !tsl_parse_i64(first, row) ||
               !tsl_parse_i64(second, col) || *row < 0 || *col < 0))
    return tsl_fail(TESELA_BAD_CALL, "%s: \"%s\" is no row and column, such as 5,2", option, text);
  return TESELA_OK;
}

/* Reads the strategy and the problem of a trace: N of a dot, M N of a transpose, M N K of a product. */
static tesela_status read_traced(const tsl_command_call *call, tsl_chosen_strategy *chosen,
                                 tsl_problem *problem) {
  static const tsl_op ops[] = {TSL_OP_DOT, TSL_OP_TRANSPOSE, TSL_OP_GEMM};
  const tsl_explain_options *given = call->options;
  const tsl_op op = ops[call->word_count - 1];
  tsl_strategy_list list;
  int64_t sizes[3] = {1, 1, 1};
  TSL_TRY(tsl_select_strategies(op, given->strategy, false, &list));
  if (list.count != 1)
    return tsl_fail(TESELA_BAD_CALL, "--trace is of one strategy; name it with --strategy");
  *chosen = list.items[0];
  for (int i = 0; i < call->word_count; i++)
    if (!tsl_parse_i64(call->words[i], &sizes[i]) || sizes[i] < 1 || sizes[i] > TRACED_MAX)
      return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a size of a trace, a whole number from 1 to %d",
                      call->words[i], TRACED_MAX);
  *problem = op == TSL_OP_DOT ? tsl_problem_dot(sizes[0], given->type)
                              : tsl_problem_of(op, sizes[0], sizes[1], sizes[2], given->type);
  problem->beta[0] = given->beta.value;
  if (op == TSL_OP_GEMM && given->transpose_a)
    problem->a.row_stride = 1, problem->a.col_stride = sizes[0];
  if (op == TSL_OP_GEMM && given->transpose_b)
    problem->b.row_stride = 1, problem->b.col_stride = sizes[2];
  return TESELA_OK;
}

/* Appends the drawing of the whole group, the life of the element, or both. */
static tesela_status add_trace(const tsl_chosen_strategy *chosen, const tsl_recording *recording,
                               const tsl_recording_place *place, bool is_whole, tsl_text *out) {
  const tsl_problem *problem = recording->problem;
  tsl_trace_add_name(chosen, recording, out);
  if (problem->op == TSL_OP_GEMM)
    tsl_text_add(out, ", C %lld x %lld, %lld products each: ", (long long)problem->m, (long long)problem->n,
                 (long long)problem->k);
  else if (problem->op == TSL_OP_DOT)
    tsl_text_add(out, ", %lld products: ", (long long)problem->k);
  else
    tsl_text_add(out, ", C %lld x %lld: ", (long long)problem->m, (long long)problem->n);
  if (is_whole || !place->has_element)
    TSL_TRY(tsl_trace_draw(recording, out));
  if (is_whole && place->has_element)
    tsl_text_add(out, "\n");
  if (place->has_element)
    tsl_trace_element(recording, place->row, place->col, out);
  return tsl_text_status(out);
}

/* Writes the page of a trace: the recording as JSON, drawn by the page's script, and as text. */
static tesela_status write_trace(const tsl_command_call *call, const tsl_chosen_strategy *chosen,
                                 const tsl_recording *recording, const tsl_recording_place *place,
                                 tsl_output *output) {
  tsl_text report = {0}, heading = {0}, traced = {0};
  tsl_trace_add_name(chosen, recording, &traced);
  tsl_text_add(&heading, N_("Trace of %s"), tsl_text_get(&traced));
  tesela_status status = add_trace(chosen, recording, place, true, &report);
  if (status == TESELA_OK)
    status = tsl_page_write_object(call, ((const tsl_explain_options *)call->options)->locale,
                                   tsl_text_get(&heading), "trace", tsl_trace_json(chosen, recording, place),
                                   &report, output);
  tsl_text_free(&report);
  tsl_text_free(&heading);
  tsl_text_free(&traced);
  return status;
}

static tesela_status print_trace(const tsl_command_call *call, const tsl_chosen_strategy *chosen,
                                 const tsl_recording *recording, const tsl_recording_place *place) {
  const tsl_explain_options *given = call->options;
  tsl_text out = {0};
  if (given->json)
    return tsl_print_json_line(call, tsl_trace_json(chosen, recording, place));
  const tesela_status status = add_trace(chosen, recording, place, false, &out);
  if (status == TESELA_OK)
    return tsl_print(&out);
  tsl_text_free(&out);
  return status;
}

/* Records and prints. Needs no device. */
static tesela_status explain_trace(const tsl_command_call *call) {
  const tsl_explain_options *given = call->options;
  tsl_recording_place place = {.has_element = given->element != NULL};
  tsl_chosen_strategy chosen;
  tsl_problem problem;
  tsl_recording recording = {0};
  tsl_output output = {0};
  tesela_status status;
  TSL_TRY(read_pair("--element", given->element, &place.row, &place.col));
  TSL_TRY(read_pair("--group", given->group, &place.group[1], &place.group[0]));
  if (!given->strategy)
    return tsl_fail(TESELA_BAD_CALL, "--trace is of one strategy; name it with --strategy");
  if (given->element && given->group)
    return tsl_fail(TESELA_BAD_CALL, "--element has a group of its own; leave out --group");
  if (given->solve || given->symmetric || given->a_is.structure != TESELA_GENERAL ||
      given->b_is.structure != TESELA_GENERAL || given->bias_axis != TESELA_NO_BIAS ||
      given->activation != TESELA_NO_ACTIVATION || given->scale_a != TESELA_NO_SCALE ||
      given->scale_b != TESELA_NO_SCALE || given->alpha.value != 1)
    return tsl_fail(TESELA_BAD_CALL, "--trace is of A B + beta C0 of general matrices, without an epilogue");
  TSL_TRY(read_traced(call, &chosen, &problem));
  if (given->html)
    TSL_GO(tsl_page_open(given->html, &output));
  TSL_GO(tsl_record_rung(chosen.strategy, &problem, &chosen.config, &place, &recording));
  if (given->html)
    TSL_GO(write_trace(call, &chosen, &recording, &place, &output));
  status = print_trace(call, &chosen, &recording, &place);
out:
  tsl_recording_free(&recording);
  tsl_output_close(&output);
  tsl_interrupt_guard(NULL);
  return status;
}

/* Prints the counters of one run as a table, or why there are none. */
static tesela_status print_counters(const tsl_explanation *found, const tsl_device_counts *counts) {
  const tsl_candidate *best = tsl_explain_chosen(found);
  tsl_text out = {0};
  tsl_table table = {0};
  if (counts->why[0])
    tsl_text_add(&out, "\n  no counters: %s\n", counts->why);
  else {
    tsl_device_counters_table(&found->problem, &found->counted[best - found->candidates], counts, &table);
    tsl_text_add(&out, "\n");
    tsl_table_text(&table, 2, tsl_output_width(), tsl_output_colour(), &out);
    tsl_text_add(&out, "  %d kernel%s; an item that loads a vector counts once\n", counts->kernels,
                 counts->kernels == 1 ? "" : "s");
  }
  out.failed |= table.failed;
  tsl_table_free(&table);
  return tsl_print(&out);
}

static tesela_status explain_explain(const tsl_command_call *call, const tsl_problem *problem,
                                     const tsl_choice *choice) {
  const tsl_explain_options *given = call->options;
  tsl_explanation found;
  tsl_device_counts counts = {.why = "no plan"};
  tsl_text json = {0};
  tesela_status status = tsl_explain_find(problem, choice, &found);
  if (status == TESELA_OK && given->counters && tsl_explain_chosen(&found))
    tsl_device_counters_read(call, tsl_explain_chosen(&found)->device, &counts);
  if (status == TESELA_OK && given->json) {
    tsl_explain_json(&found, &json);
    json_t *object = tsl_json_parse(&json);
    if (object && given->counters)
      json_object_set_new(object, "counters", tsl_device_counters_json(&counts));
    status = tsl_print_json(call, object);
  } else if (status == TESELA_OK)
    status = tsl_explain_text(&found, given);
  if (status == TESELA_OK && given->counters && !given->json)
    status = print_counters(&found, &counts);
  if (status == TESELA_OK && found.plan_status != TESELA_OK)
    status = tsl_fail(found.plan_status, "%s", tsl_text_get(&found.failure));
  tsl_explanation_free(&found);
  return status;
}

/* On a group, resident operands are in equal parts in the memories of its devices. */
static tesela_status place_in_parts(const tsl_problem *problem, tsl_choice *choice, tsl_sharding **sharding) {
  tsl_device *device;
  if (choice->place != TSL_PLACE_DEVICE || tsl_choice_any_device(choice))
    return TESELA_OK;
  TSL_TRY(tsl_devices_find(choice->devices, choice->device, &device));
  if (device->member_count == 0)
    return TESELA_OK;
  TSL_TRY(tsl_sharding_even(problem, device->member_count, sharding));
  choice->place = TSL_PLACE_PIECES;
  choice->spread = *sharding;
  return TESELA_OK;
}

static tesela_status explain_run(const tsl_command_call *call) {
  const tsl_explain_options *given = call->options;
  tsl_problem problem;
  tsl_devices *devices = NULL;
  tsl_wisdom *wisdom = NULL;
  tsl_sharding *sharding = NULL;
  tesela_status status = TESELA_OK;
  if (given->trace)
    return explain_trace(call);
  if (given->element || given->group || given->html)
    return tsl_fail(TESELA_BAD_CALL, "--element, --group and --html are for --trace");
  TSL_GO(read_problem(call, &problem));
  if (given->ranks > 0 && (given->solve || tsl_problem_has_structure(&problem)))
    return tsl_fail(TESELA_BAD_CALL, "--ranks multiply general matrices");
  if (given->ranks > 0 && tsl_problem_has_epilogue(&problem))
    return tsl_fail(TESELA_BAD_CALL,
                    "--ranks multiply, and have neither --bias-along nor --activation nor scales");
  if (given->ranks > 0)
    return explain_ranks(call, &problem);
  if (given->counters && (!given->strategy || given->solve || tsl_problem_has_structure(&problem) ||
                          tsl_problem_has_epilogue(&problem) || tsl_type(problem.c.type)->is_complex ||
                          (given->type != TESELA_F32 && given->type != TESELA_F64)))
    return tsl_fail(TESELA_BAD_CALL, "--counters is of a product of general matrices in f32 or f64 by one "
                                     "strategy; name it with --strategy");
  if (given->counters && tsl_device_counters_is_child())
    return tsl_device_counters_run(given, &problem);
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(tsl_wisdom_open(&wisdom));
  tsl_choice choice = {.devices = devices,
                       .device = tsl_device_or_default(given->device),
                       .place = given->resident ? TSL_PLACE_DEVICE : TSL_PLACE_HOST,
                       .wisdom = wisdom,
                       .vendors = tsl_planner_vendors()};
  tsl_choice_set_strategy(&choice, given->strategy);
  TSL_GO(place_in_parts(&problem, &choice, &sharding));
  status = explain_explain(call, &problem, &choice);
out:
  tsl_free(sharding);
  tsl_wisdom_close(wisdom);
  tsl_devices_destroy(devices);
  return status;
}

const tsl_command tsl_command_explain = {
    .name = "explain",
    .what = "say, without running it, which plan a product would take and why",
    .arguments = "M N K",
    .details = "The product is C (M x N) = alpha A (M x K) B (K x N) + beta C0; --solve is of A (M x M) X (M "
               "x N) = alpha B. Predictions come from small "
               "models of "
               "each strategy on each device; tesela explore measures.",
    .options = options,
    .examples = examples,
    .words_min = 1,
    .words_max = 3,
    .options_bytes = sizeof(tsl_explain_options),
    .run = explain_run,
};

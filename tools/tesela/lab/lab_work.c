/* The work of a run: compile, look for faults, judge on the standard shapes, time among the neighbours. */
#include "cli/language.h"
#include "lab/lab.h"
#include "lab/lab_strategy.h"

#include "core/status.h"
#include "device/cuda/nvrtc.h"
#include "explain/cost_report.h"
#include "inventory/select.h"
#include "planner/planner.h"
#include "planner/subplan_choice.h"
#include "tune/race.h"
#include "tune/race_entry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the rung's counts with the kernel's own loads, stores and barriers. Sums and vectors are the
 * rung's: a compiler is expected to treat both kernels alike. */
static tsl_cost_counts count_kernel(const tsl_lab_report *report, const tsl_problem *problem,
                                    const tsl_cost_counts *rung) {
  tsl_cost_counts account = *rung;
  const double size = (double)tsl_type(problem->c.type)->size, each = account.useful / report->products,
               before = rung->global.read + rung->local.read;
  account.computed = account.useful;
  account.global = (tsl_moved){each * report->global_reads * size, each * report->global_writes * size};
  account.local = (tsl_moved){each * report->local_reads * size, each * report->local_writes * size};
  if (before > 0) /* as many elements to a load instruction, and bytes to a line, as in the rung */
    account.loads *= (account.global.read + account.local.read) / before;
  if (rung->global.read > 0) {
    account.touched *= account.global.read / rung->global.read;
    account.needed *= account.global.read / rung->global.read;
  }
  account.barriers = report->barriers > 0 ? rung->barriers : 0;
  return account;
}

/* Compares a measured kernel with the measured rung that it began as, by the rule of docs/JSON_COUNTS.md.
 * Fills the report's members from `partner` on; without counts of both, nothing. */
static void lab_explain(const tsl_problem *problem, const tsl_device *device, const tsl_race_entry *kernel,
                        const tsl_race_entry *rung, tsl_lab_report *report) {
  tsl_cost_report partner = tsl_cost_report_make(problem, rung->strategy, &rung->config, device);
  if (report->products <= 0 || !partner.has_counts || kernel->result != TSL_CASE_RIGHT ||
      rung->result != TSL_CASE_RIGHT)
    return;
  tsl_cost_report own = {.strategy = kernel->strategy, .device = device, .has_counts = true};
  own.account = count_kernel(report, problem, &partner.account);
  own.bounds = tsl_cost_counts_bounds(problem, device, &own.account);
  own.seconds = partner.seconds * tsl_cost_counts_seconds(problem, device, &own.account) /
                tsl_cost_counts_seconds(problem, device, &partner.account);
  own.measured = (tsl_cost_measured){kernel->timing.median, kernel->timing.first_quartile,
                                     kernel->timing.third_quartile};
  partner.measured =
      (tsl_cost_measured){rung->timing.median, rung->timing.first_quartile, rung->timing.third_quartile};
  const tsl_cost_comparison comparison = tsl_cost_report_compare(&own, &partner);
  tsl_text text = {0};
  tsl_cost_comparison_print(problem, &own, &comparison, &text);
  snprintf(report->partner, sizeof report->partner, "%.63s", rung->strategy->name);
  snprintf(report->why, sizeof report->why, "%.1000s", tsl_text_get(&text));
  snprintf(report->agreement, sizeof report->agreement, "%s", tsl_agreement_name(comparison.agreement));
  snprintf(report->reason, sizeof report->reason, "%s",
           comparison.reason < TSL_BOUND_COUNT ? tsl_bound_name(comparison.reason) : "");
  report->predicted_factor = comparison.predicted;
  report->measured_factor = comparison.measured;
  tsl_text_free(&text);
}

/* Keeps the present failure, and the compiler's log. */
static void work_fail(tsl_lab_report *report, tesela_status status) {
  report->outcome = TSL_LAB_BROKEN;
  report->status = status;
  snprintf(report->failure, sizeof report->failure, "%s", tesela_last_error());
  if (status == TESELA_BUILD_FAILED)
    snprintf(report->log, sizeof report->log, "%.4000s", tesela_last_log());
}

/* --- kernels in C --- */

/* Writes a file, to follow the kernel's text, that calls the kernel by arrays of arguments. */
static void work_add_entry(const tsl_lab_kernel *kernel, tsl_text *out) {
  tsl_text_add(out,
               "void tsl_lab_entry(const long long *sizes, const double *scalars, "
               "void *const *operands);\nvoid tsl_lab_entry(const long long *sizes, const double *scalars, "
               "void *const *operands) {\n  (void)sizes, (void)scalars;\n  %s(",
               kernel->function);
  for (int i = 0; i < kernel->argument_count; i++) {
    const tsl_lab_argument *argument = &kernel->arguments[i];
    const tsl_lab_role role = tsl_lab_role_of(argument->meaning);
    tsl_text_add(out, "%s%s[%d]", i ? ", " : "",
                 role == TSL_LAB_SIZE     ? argument->bytes == 8 ? "sizes" : "(int)sizes"
                 : role == TSL_LAB_SCALAR ? argument->bytes == 8 ? "scalars" : "(float)scalars"
                                          : "operands",
                 i);
  }
  tsl_text_add(out, ");\n}\n");
}

/* Returns the system's compiler. */
static const char *work_compiler(void) {
  const char *compiler = getenv("CC");
  return compiler && *compiler && !strchr(compiler, ' ') ? compiler : "cc";
}

static tesela_status work_compile_c(const tsl_lab_kernel *kernel, const char *folder,
                                    char library[TSL_LAB_PATH_MAX]) {
  tsl_text entry = {0}, output = {0};
  char source[TSL_LAB_PATH_MAX], path[PATH_MAX];
  int code = 0;
  tesela_status status;
  snprintf(source, sizeof source, "%.490s/entry.c", folder);
  snprintf(library, TSL_LAB_PATH_MAX, "%.490s/kernel.so", folder);
  work_add_entry(kernel, &entry);
  TSL_GO(tsl_text_status(&entry));
  TSL_GO(tsl_lab_write_new(source, tsl_text_get(&entry)));
  const char *const words[] = {work_compiler(),
                               "-std=c11",
                               "-O3",
                               "-march=native",
                               "-Wall",
                               "-fPIC",
                               "-shared",
                               "-o",
                               library,
                               "-include",
                               realpath(kernel->file, path) ? path : kernel->file,
                               source,
                               "-lm",
                               strstr(kernel->text, "#pragma omp") ? "-fopenmp" : NULL,
                               NULL};
  TSL_GO(tsl_lab_command(words, 60, &output, &code));
  if (code != 0) {
    const char *error = strstr(tsl_text_get(&output), "error");
    const char *line = error;
    while (line && line > output.data && line[-1] != '\n')
      line--;
    tsl_status_keep_log(tsl_text_get(&output));
    status = tsl_fail(TESELA_BUILD_FAILED, "%s does not compile: %.*s", kernel->file,
                      line ? (int)strcspn(line, "\n") : 40, line ? line : N_("no compiler cc was found"));
  }
out:
  tsl_text_free(&entry);
  tsl_text_free(&output);
  return status;
}

/* --- CUDA without a device --- */

static tesela_status work_compile_cuda(const tsl_lab_kernel *kernel) {
  tsl_nvrtc_target target;
  tsl_binary binary = {NULL, 0};
  tsl_text source = {0};
  tesela_status status;
  TSL_TRY(tsl_nvrtc_load(0));
  TSL_TRY(tsl_nvrtc_target_for(80, &target));
  tsl_lab_add_source(kernel, &source);
  status = tsl_text_status(&source);
  const tsl_build build = {.name = "kernel.cu", .text = tsl_text_get(&source), .options = ""};
  if (status == TESELA_OK)
    status = tsl_nvrtc_compile("NVRTC", &target, &build, &binary);
  free(binary.data);
  tsl_text_free(&source);
  return status;
}

/* --- judging --- */

/* Makes the standard case `index` fit to the kernel: its sizes and scalars, rows with and without gaps. */
static bool work_case(const tsl_lab_kernel *kernel, int index, tsl_case *out, bool *skip) {
  tsl_case standard;
  if (!tsl_case_standard(kernel->op, index, kernel->type, &standard))
    return false;
  const tsl_problem *like = &standard.problem;
  *out = (tsl_case){.problem = tsl_problem_of(kernel->op, like->m, like->n, like->k, kernel->type),
                    .data = standard.data == TSL_DATA_SPECIAL ? TSL_DATA_NORMAL : standard.data,
                    .seed = 2 * (uint64_t)index + 2,
                    .repeats = 2};
  tsl_problem *problem = &out->problem;
  *skip = like->batch || like->in_place || problem->m == 0 || problem->n == 0;
  problem->alpha[0] = tsl_lab_takes(kernel, TSL_LAB_ARG_ALPHA) ? like->alpha[0] : 1;
  problem->beta[0] = tsl_lab_takes(kernel, TSL_LAB_ARG_BETA) ? like->beta[0] : 0;
  const int64_t gap = kernel->op == TSL_OP_DOT ? 0 : index % 4 * (int64_t)(index % 3);
  if (tsl_lab_takes(kernel, TSL_LAB_ARG_LDA))
    problem->a.row_stride += gap;
  if (tsl_lab_takes(kernel, TSL_LAB_ARG_LDB) && kernel->op == TSL_OP_GEMM)
    problem->b.row_stride += gap ? gap + 1 : 0;
  if (tsl_lab_takes(kernel, TSL_LAB_ARG_LDC))
    problem->c.row_stride += gap ? gap + 2 : 0;
  tsl_problem_round(problem);
  return true;
}

static void work_describe(const tsl_case *tested, char *out, size_t size) {
  tsl_text text = {0};
  tsl_problem_print(&tested->problem, &text);
  snprintf(out, size, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
}

static tesela_status work_judge(const tsl_lab_kernel *kernel, const tsl_strategy *strategy,
                                tsl_device *device, tsl_lab_report *report) {
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_case tested;
  bool skip;
  for (int i = 0; work_case(kernel, i, &tested, &skip); i++) {
    tsl_case_report verdict;
    if (skip)
      continue;
    report->cases++;
    work_describe(&tested, report->wrong, sizeof report->wrong);
    TSL_TRY(tsl_check_case(strategy, &config, device, &tested, &verdict));
    if (verdict.result == TSL_CASE_RIGHT) {
      report->cases_right++;
      report->error = fmax(report->error, verdict.verdict.error_ratio);
      report->wrong[0] = '\0';
      continue;
    }
    const size_t used = strlen(report->wrong);
    snprintf(report->wrong + used, sizeof report->wrong - used, ": %s", verdict.why);
    report->outcome = verdict.result == TSL_CASE_WRONG ? TSL_LAB_WRONG : TSL_LAB_BROKEN;
    if (verdict.result == TSL_CASE_WRONG && report->fault_count == 0 && !*report->undetected &&
        tsl_problem_flops(&tested.problem) < 4e6)
      tsl_lab_detect(kernel, &tested.problem, report);
    if (verdict.result != TSL_CASE_WRONG) {
      report->status = verdict.result == TSL_CASE_REFUSED ? TESELA_UNSUPPORTED : TESELA_DEVICE_FAILED;
      snprintf(report->failure, sizeof report->failure, "%s", verdict.why);
    }
    return TESELA_OK;
  }
  return TESELA_OK;
}

/* --- the race --- */

enum { ENTRIES_MAX = TSL_LAB_RATES_MAX };

typedef struct work_contest {
  tsl_devices *devices;
  tsl_device *device;
  const tsl_problem *problem;
  tsl_race_entry entries[ENTRIES_MAX];
  int count;
} work_contest;

static void contest_add(work_contest *contest, const tsl_strategy *strategy) {
  tsl_candidate *candidates = NULL;
  int count = 0;
  if (contest->count == ENTRIES_MAX || tsl_capability_missing(strategy->needs, contest->device->capabilities))
    return;
  const tsl_choice choice = {.devices = contest->devices,
                             .device = contest->device->name,
                             .strategy = strategy->name,
                             .place = TSL_PLACE_DEVICE};
  if (tsl_planner_list(contest->problem, &choice, &candidates, &count) != TESELA_OK)
    return;
  if (!*candidates[0].refusal)
    contest->entries[contest->count++] =
        (tsl_race_entry){.strategy = strategy, .config = candidates[0].config, .predicted = INFINITY};
  free(candidates);
}

/* Returns the rung that the kernel began as; NULL: none. */
static const tsl_strategy *work_began(const tsl_lab_kernel *kernel) {
  return tsl_strategy_find(kernel->op, *kernel->from ? kernel->from : "tile_local");
}

/* Adds the rung that the kernel began as, its neighbours, tesela's fastest, and vendors' libraries. */
static void contest_fill(work_contest *contest, const tsl_lab_kernel *kernel, bool peers) {
  static const char *const fastest[] = {"register_tile", "host_packed", "fixed_tree", "vector", NULL};
  const tsl_strategy *began = work_began(kernel);
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++) {
    bool is_wanted = strategy->vendor.load && peers;
    for (int f = 0; fastest[f]; f++)
      is_wanted |= strcmp(fastest[f], strategy->name) == 0;
    is_wanted |= began && (strategy == began || strategy == tsl_strategy_partner(began));
    if (began && strategy->rung && began->rung)
      is_wanted |= abs(strategy->rung - began->rung) <= 1;
    if (strategy->op == kernel->op && is_wanted)
      contest_add(contest, strategy);
  }
}

static tesela_status work_race_size(const tsl_lab_kernel *kernel, const char *sizes, tsl_problem *problem) {
  static const char *const defaults[] = {
      [TSL_OP_GEMM] = "512", [TSL_OP_DOT] = "1000000", [TSL_OP_TRANSPOSE] = "2048"};
  tsl_size_list list;
  TSL_TRY(tsl_select_sizes(kernel->op, sizes ? sizes : defaults[kernel->op], &list));
  *problem = tsl_problem_of(kernel->op, list.items[0].m, list.items[0].n, list.items[0].k, kernel->type);
  return TESELA_OK;
}

static tesela_status work_race(const tsl_lab_kernel *kernel, const tsl_lab_options *options,
                               const tsl_strategy *strategy, tsl_devices *devices, tsl_device *device,
                               tsl_lab_report *report) {
  tsl_problem problem;
  TSL_TRY(work_race_size(kernel, options->sizes, &problem));
  work_contest *contest = calloc(1, sizeof *contest);
  if (!contest)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a race");
  *contest = (work_contest){.devices = devices, .device = device, .problem = &problem, .count = 1};
  contest->entries[0] = (tsl_race_entry){
      .strategy = strategy, .config = tsl_strategy_defaults(strategy), .predicted = INFINITY};
  contest_fill(contest, kernel, options->peers);
  tsl_race_entry *entries[ENTRIES_MAX];
  for (int i = 0; i < contest->count; i++)
    entries[i] = &contest->entries[i];
  const tsl_race_options race = {
      .seconds_max = 0.3, .samples_max = 20, .time_limit = 20, .noise = 0.05, .warm = true};
  tesela_status status = tsl_race_run(&problem, device, &race, entries, contest->count, NULL);
  const long long m = problem.m, n = problem.n, k = problem.k;
  if (problem.op == TSL_OP_DOT)
    snprintf(report->size, sizeof report->size, "%lld", k);
  else if (problem.op == TSL_OP_TRANSPOSE)
    snprintf(report->size, sizeof report->size, "%lld x %lld", m, n);
  else
    snprintf(report->size, sizeof report->size, "%lld x %lld x %lld", m, n, k);
  report->flops = tsl_problem_flops(&problem);
  report->bytes = tsl_problem_bytes(&problem);
  for (int i = 0; status == TESELA_OK && i < contest->count; i++) {
    tsl_lab_rate *rate = &report->rates[report->rate_count];
    if (i > 0 && entries[i]->result != TSL_CASE_RIGHT)
      continue;
    snprintf(rate->name, sizeof rate->name, "%.63s", entries[i]->strategy->name);
    rate->seconds = entries[i]->result == TSL_CASE_RIGHT ? entries[i]->timing.median : NAN;
    report->rate_count++;
  }
  for (int i = 1; status == TESELA_OK && i < contest->count; i++)
    if (entries[i]->strategy == work_began(kernel))
      lab_explain(&problem, device, entries[0], entries[i], report);
  if (status == TESELA_OK && entries[0]->result != TSL_CASE_RIGHT) {
    report->outcome = entries[0]->result == TSL_CASE_WRONG ? TSL_LAB_WRONG : TSL_LAB_BROKEN;
    report->status = TESELA_DEVICE_FAILED;
    snprintf(report->wrong, sizeof report->wrong, "%s: %s", report->size, entries[0]->why);
    snprintf(report->failure, sizeof report->failure, "%s", entries[0]->why);
  }
  free(contest);
  return status;
}

/* --- the whole --- */

/* Finds the first device of the kernel's language; *device stays NULL if there is none. */
static tesela_status work_find_device(const tsl_lab_kernel *kernel, const char *name, tsl_devices *devices,
                                      tsl_device **device) {
  static const char *const kinds[] = {
      [TSL_LAB_OPENCL] = "opencl", [TSL_LAB_CUDA] = "cuda", [TSL_LAB_C] = "cpu"};
  const char *const kind = kinds[kernel->language];
  if (name && strcmp(name, "auto") != 0 && strncmp(name, kind, strlen(kind)) != 0)
    return tsl_fail(TESELA_BAD_CALL, "--device: %s does not run %s; a device of kind %s would be right", name,
                    tsl_lab_language_title(kernel->language), kind);
  const bool is_named = name && strcmp(name, "auto") != 0;
  const tesela_status status = tsl_devices_find(devices, is_named ? name : kind, device);
  return status == TESELA_NO_DEVICE && kernel->language == TSL_LAB_CUDA && !is_named ? TESELA_OK : status;
}

/* Compiles for the device, so that an error of the text comes before anything else. */
static tesela_status work_compile(const tsl_lab_kernel *kernel, const tsl_strategy *strategy,
                                  tsl_device *device) {
  const tsl_config config = tsl_strategy_defaults(strategy);
  const tsl_problem problem = tsl_problem_of(kernel->op, 16, 16, 16, kernel->type);
  tsl_plan *plan = NULL;
  const tesela_status status = tsl_planner_create(&problem, strategy, &config, device, TSL_PLACE_HOST, &plan);
  tsl_plan_destroy(plan);
  return status;
}

static tesela_status work_on_device(const tsl_lab_kernel *kernel, const tsl_lab_options *options,
                                    tsl_devices *devices, const char *library, tsl_lab_report *report) {
  const tsl_strategy *strategy;
  tsl_device *device = NULL;
  TSL_TRY(work_find_device(kernel, options->device, devices, &device));
  TSL_TRY(tsl_lab_strategy_make(kernel, library, &strategy));
  if (!device) {
    report->outcome = TSL_LAB_UNTRIED;
    snprintf(report->device, sizeof report->device, N_("none"));
    TSL_TRY(work_compile_cuda(kernel));
    tsl_lab_detect(kernel, NULL, report);
    return TESELA_OK;
  }
  snprintf(report->device, sizeof report->device, "%s", device->name);
  snprintf(report->device_label, sizeof report->device_label, "%s", device->label);
  TSL_TRY(work_compile(kernel, strategy, device));
  tsl_lab_detect(kernel, NULL, report);
  if (report->hangs)
    return TESELA_OK;
  TSL_TRY(work_judge(kernel, strategy, device, report));
  if (report->outcome != TSL_LAB_RIGHT || report->fault_count > 0 || options->plain)
    return TESELA_OK;
  return work_race(kernel, options, strategy, devices, device, report);
}

void tsl_lab_work(const tsl_lab_kernel *kernel, const tsl_lab_options *options, tsl_lab_report *report) {
  tsl_devices *devices = NULL;
  char folder[TSL_LAB_PATH_MAX], library[TSL_LAB_PATH_MAX] = "";
  tesela_status status = tsl_lab_temporary(folder);
  if (status != TESELA_OK) {
    work_fail(report, status);
    report->is_complete = true;
    return;
  }
  if (*kernel->from && !tsl_strategy_find(kernel->op, kernel->from))
    TSL_GO(tsl_fail(TESELA_BAD_INPUT, "%s/parameters: \"from = %s\": there is no such strategy of %s",
                    kernel->folder, kernel->from, tsl_op_name(kernel->op)));
  if (kernel->language == TSL_LAB_C)
    TSL_GO(work_compile_c(kernel, folder, library));
  TSL_GO(tsl_devices_create(&devices));
  status = work_on_device(kernel, options, devices, *library ? library : NULL, report);
out:
  if (status != TESELA_OK)
    work_fail(report, status);
  if (report->fault_count > 0 && report->outcome != TSL_LAB_BROKEN)
    report->outcome = TSL_LAB_WRONG;
  tsl_devices_destroy(devices);
  tsl_lab_remove(folder);
  report->is_complete = true;
}

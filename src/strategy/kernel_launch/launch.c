#include "strategy/kernel_launch/launch.h"

#include "core/clock.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/status.h"
#include "device/jit_cache.h"
#include "device/reserved_units.h"
#include "device/source.h"
#include "host/int_math.h"
#include "strategy/model_constants.h"
#include "strategy/params.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Returns true if `text` has `word` up to a word's end; a longer word may end with it. */
static bool mentions(const char *text, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = strstr(text, word); at; at = strstr(at + length, word))
    if (!isalnum((unsigned char)at[length]) && at[length] != '_')
      return true;
  return false;
}

/* Defines the parameters that a kernel mentions: configs that differ in others share one compiled text. */
static void define_params(const tsl_strategy *strategy, const tsl_config *config, const char *kernel,
                          tsl_text *text) {
  for (int i = 0; i < tsl_strategy_params(strategy); i++) {
    if (tsl_param_is_silent(&strategy->params[i], config->value[i]))
      continue;
    char word[64] = "TSL_PARAM_";
    size_t end = strlen(word);
    for (const char *c = strategy->params[i].name; *c && end + 1 < sizeof word; c++)
      word[end++] = (char)toupper((unsigned char)*c);
    if (!kernel || mentions(kernel, word))
      tsl_text_add(text, "#define %s %lld\n", word, (long long)config->value[i]);
  }
}

void tsl_launch_defines(tesela_type real, const tsl_strategy *strategy, const tsl_config *config,
                        const char *kernel, tsl_text *text) {
  if (real != TESELA_TYPE_DEFAULT) {
    const tsl_type_info *own = tsl_type(tsl_type(real)->component);
    tsl_text_add(text, "#define TSL_REAL %s\n",
                 own->kernel_name ? own->kernel_name : tsl_type(own->sums)->kernel_name);
  }
  if (real == TESELA_C64 || real == TESELA_C128)
    tsl_text_add(text, "#define TSL_COMPLEX 1\n");
  if (real == TESELA_F64 || real == TESELA_C128)
    tsl_text_add(text, "#define TSL_REAL_IS_DOUBLE 1\n");
  if (real == TESELA_I32)
    tsl_text_add(text, "#define TSL_REAL_IS_INTEGER 1\n");
  if (strategy)
    define_params(strategy, config, kernel, text);
}

const char *tsl_launch_ptx_word(tesela_type type) {
  static const struct {
    tesela_type type;
    const char *word;
  } words[] = {{TESELA_BF16, "bf16"}, {TESELA_F16, "f16"},   {TESELA_I8, "s8"},   {TESELA_U8, "u8"},
               {TESELA_E4M3, "e4m3"}, {TESELA_E5M2, "e5m2"}, {TESELA_F32, "tf32"}};
  size_t i = 0;
  while (words[i].type != type)
    i++;
  return words[i].word;
}

int tsl_launch_form(tesela_type type) {
  return type == TESELA_F32 ? 0 : type == TESELA_F16 ? 1 : type == TESELA_BF16 ? 2 : 3;
}

int tsl_launch_fold_items(int64_t parts) {
  return parts >= 32 ? 8 : parts >= 8 ? 4 : 1;
}

int tsl_launch_type_code(tesela_type type) {
  return type == TESELA_F16 ? 1 : type == TESELA_BF16 ? 2 : tsl_type(type)->size == 1 ? 3 : 0;
}

void tsl_launch_define_types(const tsl_problem *problem, tsl_text *text) {
  const int code = tsl_launch_type_code(problem->a.type);
  if (code != 0)
    tsl_text_add(text, "#define TSL_TYPE_AB %d\n#define TSL_TYPE_C %d\n", code,
                 tsl_launch_type_code(problem->c.type));
  if (tsl_type(problem->a.type)->size == 1)
    tsl_text_add(text, "#define TSL_SIGNED_A %d\n#define TSL_SIGNED_B %d\n", problem->a.type == TESELA_I8,
                 problem->b.type == TESELA_I8);
}

static const char *compiler_options_of(const tsl_work *work) {
  static const tsl_param relaxed = {TSL_LAUNCH_RELAXED, {0}};
  for (int i = 0; i < tsl_strategy_params(work->strategy); i++)
    if (strcmp(work->strategy->params[i].name, relaxed.name) == 0 && work->config.value[i] != 0)
      return work->device->ops->relaxed_option;
  return "";
}

/* Maximum length of a build's name: "gemm/residue_int8". */
enum { NAME_SIZE = 64 };

/* Appends the complete source to `text`: definitions, `defines`, and the file `path` with its includes. */
static tesela_status write_source(const tsl_work *work, const char *path, tesela_type real,
                                  const char *defines, tsl_text *text) {
  const char *folders[] = {"kernel", work->device->ops->dialect_folder, NULL};
  tsl_text kernel = {0};
  tesela_status status;
  tsl_text_add(&kernel, "%s", defines);
  TSL_GO(tsl_source_flatten(path, folders, &kernel));
  TSL_GO(tsl_text_status(&kernel));
  tsl_launch_defines(real, work->strategy, &work->config, tsl_text_get(&kernel), text);
  tsl_text_add_bytes(text, kernel.data, kernel.length);
  status = tsl_text_status(text);
out:
  tsl_text_free(&kernel);
  return status;
}

static tsl_build describe_build(const tsl_work *work, const tsl_text *text, char name[NAME_SIZE]) {
  snprintf(name, NAME_SIZE, "%s/%s", tsl_op_name(work->strategy->op), work->strategy->name);
  return (tsl_build){.name = name,
                     .text = tsl_text_get(text),
                     .options = compiler_options_of(work),
                     .loaded_only = work->forbid_compile};
}

/* Compiles a source, adds its seconds and hash to the work, and gets the module, owned by the device. */
static tesela_status launch_compile(tsl_work *work, const char *path, tesela_type real, const char *defines,
                                    tsl_module **module) {
  char name[NAME_SIZE];
  tsl_text text = {0};
  tesela_status status;
  TSL_GO(write_source(work, path, real, defines, &text));
  const tsl_build build = describe_build(work, &text, name);
  double seconds;
  TSL_GO(tsl_jit_module(work->device, &build, module, &seconds));
  work->build_seconds += seconds;
  if (work->source_texts &&
      !(work->source_texts->data && strstr(work->source_texts->data, tsl_text_get(&text))))
    tsl_text_add_bytes(work->source_texts, text.data, text.length);
  work->source_hash =
      tsl_hash_add(work->source_count++ == 0 ? tsl_hash_start() : work->source_hash, text.data, text.length);
out:
  tsl_text_free(&text);
  return status;
}

/* Gets kernel `name` of `path`. TESELA_UNSUPPORTED: it allows fewer than `items` work-items a group. */
static tesela_status launch_find_kernel(tsl_work *work, const char *path, const char *name, int items,
                                        tesela_type real, const char *defines, tsl_kernel **kernel) {
  tsl_module *module;
  TSL_TRY(launch_compile(work, path, real, defines, &module));
  TSL_TRY(work->device->ops->kernel_get(module, name, kernel));
  const int most = work->device->ops->kernel_items_max(*kernel);
  if (items > most)
    return tsl_fail(TESELA_UNSUPPORTED,
                    "%s: kernel %s allows at most %d work-items a group after "
                    "compilation, not %d",
                    work->device->name, name, most, items);
  return TESELA_OK;
}

static tesela_type launch_type_of_sums(const tsl_work *work) {
  return tsl_type(work->problem.c.type)->sums;
}

typedef struct ahead_job {
  const tsl_work *work;
  tsl_text text;
  double seconds;
  pthread_t thread;
  bool has_thread; /* `thread` has started and must be joined */
} ahead_job;

static void *compile_one_ahead(void *argument) {
  ahead_job *job = argument;
  char name[NAME_SIZE];
  const tsl_build build = describe_build(job->work, &job->text, name);
  tsl_module *module;
  (void)tsl_jit_module(job->work->device, &build, &module, &job->seconds);
  return NULL;
}

/* Starts a thread with all signals blocked: signals belong to the application's threads. False: no thread. */
static bool start_ahead(ahead_job *job) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool has_started = pthread_create(&job->thread, NULL, compile_one_ahead, job) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return has_started;
}

void tsl_launch_compile_ahead(tsl_work *work, const tsl_launch_module *modules, int count) {
  ahead_job jobs[TSL_LAUNCH_AHEAD_MAX] = {{.work = NULL}};
  if (work->forbid_compile || tsl_pool_default_threads() < 2)
    return;
  tsl_status_saved saved;
  tsl_status_save(&saved);
  double longest = 0;
  for (int i = 0; i < count; i++) {
    jobs[i].work = work;
    const tesela_status status =
        write_source(work, modules[i].path, launch_type_of_sums(work), modules[i].defines, &jobs[i].text);
    jobs[i].has_thread = status == TESELA_OK && start_ahead(&jobs[i]);
  }
  for (int i = 0; i < count; i++) {
    if (jobs[i].has_thread)
      pthread_join(jobs[i].thread, NULL);
    longest = jobs[i].seconds > longest ? jobs[i].seconds : longest;
    tsl_text_free(&jobs[i].text);
  }
  work->build_seconds += longest;
  tsl_status_restore(&saved);
}

tesela_status tsl_launch_kernel(tsl_work *work, const char *path, const char *name, int items,
                                tsl_kernel **kernel) {
  return launch_find_kernel(work, path, name, items, launch_type_of_sums(work), "", kernel);
}

tesela_status tsl_launch_kernel_with(tsl_work *work, const char *path, const char *name, int items,
                                     const char *defines, tsl_kernel **kernel) {
  return launch_find_kernel(work, path, name, items, launch_type_of_sums(work), defines, kernel);
}

void tsl_launch_early(const tsl_work *work, tsl_kernel *kernel) {
  if (kernel && work->device->capabilities & TSL_CAN_WGMMA)
    work->device->ops->kernel_early(kernel);
}

tesela_status tsl_launch_early_evenly(const tsl_work *work, const tsl_grid *grid, int resident, int64_t bytes,
                                      bool is_requested, tsl_kernel **kernel) {
  enum { RESERVED_BYTES = 1024 }; /* of each group */
  const tsl_device *device = work->device;
  const double groups = (double)grid->groups[0] * (double)grid->groups[1] * (double)grid->groups[2],
               each = ceil(groups / device->compute_units);
  int64_t request = is_requested ? bytes : 0;
  if (device->capabilities & TSL_CAN_WGMMA && each >= 1 && each < resident) {
    const int64_t even =
        ((int64_t)device->local_bytes_inside + RESERVED_BYTES) / (int64_t)(each + 1) - RESERVED_BYTES + 16;
    request = tsl_max(request, even - (is_requested ? 0 : bytes));
  }
  if (request > 0 && device->ops->kernel_local_bytes)
    TSL_TRY(device->ops->kernel_local_bytes(kernel, (size_t)request));
  if (each <= 2 * resident)
    tsl_launch_early(work, *kernel);
  return TESELA_OK;
}

tesela_status tsl_launch_build(tsl_work *work, const char *path, const char *kernel, const tsl_grid *grid) {
  return tsl_launch_build_with(work, path, kernel, grid, launch_type_of_sums(work), "");
}

tesela_status tsl_launch_build_with(tsl_work *work, const char *path, const char *kernel,
                                    const tsl_grid *grid, tesela_type real, const char *defines) {
  tsl_launch launch = {.grid = *grid};
  void *block;
  TSL_TRY(launch_find_kernel(work, path, kernel, grid->items[0] * grid->items[1] * grid->items[2], real,
                             defines, &launch.kernel));
  TSL_TRY(tsl_alloc(sizeof launch, "a kernel's launch", &block));
  *(tsl_launch *)block = launch;
  work->state = block;
  return TESELA_OK;
}

void tsl_launch_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

tsl_gemm_sizes tsl_launch_sizes(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem *problem = &work->problem;
  const tsl_operand *a = &operands->a, *b = &operands->b, *c = &operands->c;
  const bool none = problem->alpha[0] == 0 && problem->alpha[1] == 0;
  return (tsl_gemm_sizes){
      .m = problem->m,
      .n = problem->n,
      .k = none ? 0 : problem->k,
      .a_offset = a->offset,
      .a_row_stride = a->row_stride,
      .a_col_stride = a->col_stride,
      .b_offset = b->offset,
      .b_row_stride = b->row_stride,
      .b_col_stride = b->col_stride,
      .c_offset = c->offset,
      .c_row_stride = c->row_stride,
      .c_col_stride = c->col_stride,
  };
}

unsigned long long tsl_launch_first_ticket(const tsl_work *work) {
  static const unsigned long long odd = 0x9e3779b97f4a7c15ULL;
  return ((unsigned long long)(uintptr_t)work ^ (unsigned long long)(tsl_clock() * 1e9)) * odd;
}

unsigned long long tsl_launch_next_ticket(atomic_ullong *tickets) {
  unsigned long long ticket;
  do
    ticket = atomic_fetch_add(tickets, 1);
  while (ticket == 0);
  return ticket;
}

int tsl_launch_units(const tsl_device *device) {
  const int spared = tsl_reserved_units(), units = device->compute_units;
  return spared < units / 2 ? units - spared : units - units / 2;
}

tsl_launch_wanted tsl_launch_wanted_of(const tsl_work *work, const tsl_operands *operands) {
  const tsl_run_predicate *wanted = operands->hints ? &operands->hints->wanted : NULL;
  if (!wanted || !wanted->is_set || !(work->device->capabilities & TSL_CAN_CUDA))
    return (tsl_launch_wanted){0, 0};
  const uintptr_t start = (uintptr_t)work->device->ops->native_buffer(operands->scratch);
  return (tsl_launch_wanted){(int64_t)start + wanted->at, wanted->above};
}

tsl_gemm_sizes tsl_launch_swapped(const tsl_gemm_sizes *sizes) {
  return (tsl_gemm_sizes){
      .m = sizes->n,
      .n = sizes->m,
      .k = sizes->k,
      .a_offset = sizes->b_offset,
      .a_row_stride = sizes->b_col_stride,
      .a_col_stride = sizes->b_row_stride,
      .b_offset = sizes->a_offset,
      .b_row_stride = sizes->a_col_stride,
      .b_col_stride = sizes->a_row_stride,
      .c_offset = sizes->c_offset,
      .c_row_stride = sizes->c_col_stride,
      .c_col_stride = sizes->c_row_stride,
  };
}

tsl_launch_operands tsl_launch_operands_of(const tsl_work *work, const tsl_operands *operands, bool swapped) {
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  const tsl_operand *a = swapped ? &operands->b : &operands->a, *b = swapped ? &operands->a : &operands->b;
  tsl_buffer *c = operands->c.buffer;
  return (tsl_launch_operands){.sizes = swapped ? tsl_launch_swapped(&sizes) : sizes,
                               .a = a->buffer ? a->buffer : c,
                               .b = b->buffer ? b->buffer : c,
                               .c = c,
                               .a_step = a->batch_step,
                               .b_step = b->batch_step,
                               .c_step = operands->c.batch_step};
}

bool tsl_launch_along(int64_t stride, int64_t other) {
  const int64_t along = stride < 0 ? -stride : stride, across = other < 0 ? -other : other;
  return along == 1 || (across != 1 && along < across);
}

/* Returns the argument with alpha and beta (real, imaginary) in the type of the sums; integers modulo 2^32.
 */
static tsl_gemm_argument launch_scaled(const tsl_work *work, const tsl_gemm_sizes *sizes, const double *alpha,
                                       const double *beta) {
  const tesela_type sums = launch_type_of_sums(work), component = tsl_type(sums)->component;
  const bool is_complex = tsl_type(sums)->is_complex;
  const double numbers[4] = {alpha[0], is_complex ? alpha[1] : beta[0], beta[0], beta[1]};
  tsl_gemm_argument argument = {.sizes = *sizes, .bytes = sizeof *sizes + 2 * tsl_type(sums)->size};
  for (int i = 0; i < (is_complex ? 4 : 2); i++)
    if (component == TESELA_F64)
      argument.scalars.f64[i] = numbers[i];
    else if (component == TESELA_I32)
      argument.scalars.i32[i] = (uint32_t)(int64_t)numbers[i];
    else
      argument.scalars.f32[i] = (float)numbers[i];
  return argument;
}

tsl_gemm_argument tsl_launch_scalars(const tsl_work *work, const tsl_gemm_sizes *sizes) {
  /* An empty sum is not scaled: alpha = infinity must not make it NaN. */
  static const double zero[2] = {0, 0};
  return launch_scaled(work, sizes, sizes->k == 0 ? zero : work->problem.alpha, work->problem.beta);
}

tsl_gemm_argument tsl_launch_unscaled(const tsl_work *work, const tsl_gemm_sizes *sizes) {
  static const double one[2] = {1, 0}, zero[2] = {0, 0};
  return launch_scaled(work, sizes, one, zero);
}

tesela_status tsl_launch_gemm_swapped(const tsl_work *work, const tsl_operands *operands, bool swapped,
                                      tsl_stream *stream) {
  const tsl_launch *launch = work->state;
  const tsl_launch_operands own = tsl_launch_operands_of(work, operands, swapped);
  const tsl_gemm_argument given = tsl_launch_scalars(work, &own.sizes);
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(own.a),
                                    TSL_ARG_BUFFER(own.b),
                                    TSL_ARG_BUFFER(own.c),
                                    {.value = &given, .bytes = given.bytes}};
  return work->device->ops->launch(stream, launch->kernel, &launch->grid, arguments,
                                   sizeof arguments / sizeof *arguments);
}

tesela_status tsl_launch_gemm(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  return tsl_launch_gemm_swapped(work, operands, false, stream);
}

/* Returns the maximum number of groups: the device's, limited because kernels count groups in an int. */
static uint64_t max_groups(const tsl_device *device, int dimension) {
  const uint64_t most = device->group_count_max[dimension];
  return most < INT32_MAX ? most : INT32_MAX;
}

uint64_t tsl_launch_limited(const tsl_device *device, int dimension, int64_t groups) {
  const uint64_t most = max_groups(device, dimension);
  return (uint64_t)groups < most ? (uint64_t)groups : most;
}

const char *tsl_launch_fits(const tsl_device *device, const tsl_grid *grid) {
  int64_t items = 1;
  for (int d = 0; d < 3; d++) {
    items *= grid->items[d];
    if (grid->items[d] > device->group_size_max[d])
      return tsl_refusal("%d work-items along dimension %d are more than the %d of %s", grid->items[d], d,
                         device->group_size_max[d], device->name);
    if (grid->groups[d] > max_groups(device, d))
      return tsl_refusal("%llu work-groups along dimension %d are more than the %llu of %s",
                         (unsigned long long)grid->groups[d], d, (unsigned long long)max_groups(device, d),
                         device->name);
  }
  return items <= device->group_items_max
             ? NULL
             : tsl_refusal("%d x %d work-items a group are more than the %d of %s", grid->items[0],
                           grid->items[1], device->group_items_max, device->name);
}

const char *tsl_launch_grid(const tsl_device *device, int64_t columns, int64_t rows, int items_x, int items_y,
                            tsl_grid *grid) {
  *grid = (tsl_grid){{1, 1, 1}, {items_x, items_y, 1}};
  if (columns > 0)
    grid->groups[0] = (uint64_t)((columns - 1) / items_x + 1);
  if (rows > 0)
    grid->groups[1] = tsl_launch_limited(device, 1, (rows - 1) / items_y + 1);
  return tsl_launch_fits(device, grid);
}

const char *tsl_launch_rows(const tsl_device *device, int64_t rows, int items, tsl_grid *grid) {
  const uint64_t most = max_groups(device, 0);
  const bool fits = rows <= items || (uint64_t)((rows - 1) / items) < most;
  return tsl_launch_grid(device, fits ? rows : (int64_t)most * items, 1, items, 1, grid);
}

double tsl_launch_second_seconds(const tsl_device *device, double share) {
  const bool overlaps = device->is_cpu || (device->capabilities & TSL_CAN_CUDA) != 0;
  return (overlaps ? share : fmax(share, tsl_model_constants_of(device)->simple.opencl_launch_share)) *
         device->launch_seconds;
}

double tsl_launch_seconds(const tsl_problem *problem, const tsl_device *device, double efficiency,
                          int64_t items_x, int64_t items_y) {
  const double width = (double)items_x, height = (double)items_y;
  const double across = ceil((double)problem->n / width), down = ceil((double)problem->m / height);
  const double peak = problem->c.type == TESELA_F64 ? device->peak_f64 : device->peak_f32;
  const double flops = across * width * down * height * 2 * (double)problem->k;
  const double busy = fmin(1, across * down / fmax(1, device->compute_units));
  const double compute = flops / (efficiency * peak * fmax(busy, 1e-9));
  /* An H200's multiprocessor starts a group in so many clocks, or its warps (4341 x 4432 x 1). */
  static const double group_clocks = 130, warp_clocks = 36;
  const double starts = across * down / fmax(1, device->compute_units) *
                        fmax(group_clocks, warp_clocks * width * height / fmax(1, device->warp)),
               clock = 1e6 * device->clock_mhz;
  return compute + (clock > 0 ? starts / clock : 0) + tsl_problem_bytes(problem) / device->bandwidth +
         device->launch_seconds;
}

tsl_launch_pace tsl_launch_pace_of(const tsl_problem *problem, const tsl_device *device) {
  const bool twice = tsl_type(problem->c.type)->component == TESELA_F64;
  const double peak = twice ? device->peak_f64 : device->peak_f32;
  const double count = fmax(1, device->compute_units), clock = 1e6 * fmax(1, device->clock_mhz);
  return (tsl_launch_pace){count, clock, fmax(peak / 2 / count / clock, 1e-3),
                           twice ? fmax(1, device->peak_f32 / peak) : 1};
}

/* The time of a wait is 0.5 to 0.65 us on an H200, for a panel of a single group of tile_local. */
double tsl_launch_chain_seconds(const tsl_device *device, double waits) {
  static const double wait_seconds = 6e-7;
  return device->is_cpu ? 0 : device->launch_seconds + waits * wait_seconds;
}

#include "comm/comm_call.h"

#include "api/struct_abi.h"
#include "comm/device_store.h"
#include "comm/gpu_transport_patch.h"
#include "comm/product.h"
#include "comm/setup.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/types.h"

#include <stdio.h>
#include <string.h>

void tsl_ranks_end(tsl_ranks *ranks) {
  tsl_gpu_transport_free(ranks->transport);
  tesela_context_destroy(ranks->context);
  ranks->transport = NULL;
  ranks->context = NULL;
}

/* Description with defaults filled in. */
typedef struct gemm_call {
  tesela_mpi_desc desc;
  tesela_gemm_desc gemm;
  tesela_matrix c;
  bool has_own_accuracy; /* accuracy is the caller's; false: from TESELA_ACCURACY */
  tsl_rank_operand operands[TSL_PARTS];
} gemm_call;

/* Copies the descriptions of `desc_size` and `gemm_size` bytes. TESELA_BAD_CALL for NULL. */
static tesela_status comm_call_import(gemm_call *out, const tesela_mpi_desc *desc, size_t desc_size,
                                      size_t gemm_size) {
  if (!desc || !desc->gemm)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", desc ? "desc->gemm" : "desc");
  tesela_mpi_desc own;
  tesela_gemm_desc own_gemm;
  TSL_API_STRUCT_IMPORT(desc, desc_size, own, tesela_mpi_desc, memory);
  const tesela_gemm_desc *gemm = desc->gemm;
  TSL_API_STRUCT_IMPORT(gemm, gemm_size, own_gemm, tesela_gemm_desc, beta);
  out->desc = *desc;
  out->gemm = *gemm;
  return TESELA_OK;
}

static void gemm_call_set_defaults(gemm_call *c) {
  tesela_gemm_desc *g = &c->gemm;
  if (g->a.type == TESELA_TYPE_DEFAULT)
    g->a.type = TESELA_F32;
  if (g->b.type == TESELA_TYPE_DEFAULT)
    g->b.type = g->a.type;
  if (g->c.type == TESELA_TYPE_DEFAULT)
    g->c.type = tsl_type_of_products(g->a.type);
  c->has_own_accuracy = g->options.accuracy != NULL;
  if (!g->options.accuracy)
    g->options.accuracy = tsl_env_get_or_null(TSL_ENV_ACCURACY);
  if (!g->options.reproducibility)
    g->options.reproducibility = tsl_env_get_or_null(TSL_ENV_BITS);
  c->c = tsl_api_as_matrix(&g->c);
  c->operands[TSL_PART_A] =
      (tsl_rank_operand){"a", TSL_PART_A, &g->a, &c->desc.a, g->m, g->k, true, true, false};
  c->operands[TSL_PART_B] =
      (tsl_rank_operand){"b", TSL_PART_B, &g->b, &c->desc.b, g->k, g->n, true, true, false};
  c->operands[TSL_PART_C] =
      (tsl_rank_operand){"c", TSL_PART_C, &c->c, &c->desc.c, g->m, g->n, true, true, false};
}

/* Checks this rank's arguments, and sets the job's sizes and scalars. Fails for calls of one rank only. */
static tesela_status comm_call_check(const gemm_call *c, const tsl_ranks *ranks, tsl_job *job) {
  const tesela_gemm_desc *g = &c->gemm;
  if (g->c.reserved != 0)
    return tsl_fail(TESELA_BAD_CALL, "c has reserved fields that are not 0");
  for (int i = 0; i < TSL_PARTS; i++)
    TSL_TRY(tsl_rank_operand_check(&c->operands[i], ranks->size));
  if (g->options.accuracy && strcmp(g->options.accuracy, "default") != 0)
    return tsl_fail(TESELA_UNSUPPORTED,
                    "%s is \"%.32s\", but only \"default\" is supported on ranks: see error_bound in "
                    "the record",
                    c->has_own_accuracy ? "accuracy" : "TESELA_ACCURACY", g->options.accuracy);
  if (g->options.measure_error != 0)
    return tsl_fail(TESELA_UNSUPPORTED, "measure_error is only supported on one rank");
  if (g->options.verify && strcmp(g->options.verify, "none") != 0)
    return tsl_fail(TESELA_UNSUPPORTED, "verify is only supported on one rank");
  if (g->structure.a != TESELA_GENERAL || g->structure.b != TESELA_GENERAL ||
      g->structure.c != TESELA_GENERAL || g->structure.a_triangle != TESELA_WHOLE ||
      g->structure.b_triangle != TESELA_WHOLE || g->structure.c_triangle != TESELA_WHOLE ||
      g->structure.in_place)
    return tsl_fail(TESELA_UNSUPPORTED, "structures, triangles and in_place are only supported on one rank");
  const tesela_epilogue epilogue =
      g->epilogue ? *g->epilogue : (tesela_epilogue){.bias_axis = TESELA_NO_BIAS};
  if (epilogue.bias_axis != TESELA_NO_BIAS || epilogue.bias.data || epilogue.bias.buffer ||
      epilogue.activation != TESELA_NO_ACTIVATION)
    return tsl_fail(TESELA_UNSUPPORTED, "bias and activation are only supported on one rank");
  if (epilogue.scaling_a != TESELA_NO_SCALE || epilogue.scaling_b != TESELA_NO_SCALE ||
      epilogue.scale_a.data || epilogue.scale_a.buffer || epilogue.scale_b.data || epilogue.scale_b.buffer)
    return tsl_fail(TESELA_UNSUPPORTED, "scales are only supported on one rank");
  if (c->desc.memory < 0)
    return tsl_fail(TESELA_BAD_CALL, "memory is %lld", (long long)c->desc.memory);
  job->m = g->m;
  job->n = g->n;
  job->k = g->k;
  job->device = g->options.device;
  job->strategy = g->options.strategy;
  job->bits = g->options.reproducibility;
  job->sums = tsl_type(tsl_type(g->c.type)->sums);
  TSL_TRY(tsl_load_scalar(g->alpha, "alpha", job->sums, 1, job->alpha));
  return tsl_load_scalar(g->beta, "beta", job->sums, 0, job->beta);
}

static tesela_status find_rank_device(const gemm_call *c, tsl_job *job) {
  static const char *const names[] = {"a", "b", "c"};
  const tesela_buffer *const buffers[] = {c->gemm.a.buffer, c->gemm.b.buffer, c->gemm.c.buffer};
  return tsl_rank_device_find(buffers, names, TSL_PARTS, job->device, &job->rank_device);
}

static void list_agreed_values(const gemm_call *c, const tsl_ranks *ranks, tsl_agreed_list *agreed) {
  const tesela_gemm_desc *g = &c->gemm;
  const bool complex_c = g->c.type == TESELA_C64 || g->c.type == TESELA_C128;
  tsl_agreed_list_add(agreed, "m", g->m);
  tsl_agreed_list_add(agreed, "n", g->n);
  tsl_agreed_list_add(agreed, "k", g->k);
  for (int i = 0; i < TSL_PARTS; i++)
    tsl_agreed_list_add_operand(agreed, &c->operands[i], ranks->size);
  tsl_agreed_list_add_word(agreed, "accuracy", g->options.accuracy ? g->options.accuracy : "default");
  tsl_agreed_list_add_word(agreed, "bits", g->options.reproducibility ? g->options.reproducibility : "any");
  tsl_agreed_list_add_scalar(agreed, tsl_alpha_names, g->alpha, complex_c, 1);
  tsl_agreed_list_add_scalar(agreed, tsl_beta_names, g->beta, complex_c, 0);
}

static tesela_status find_or_create_context(tsl_ranks *ranks, tesela_context **context) {
  if (*context)
    return TESELA_OK;
  if (!ranks->context) {
    const tesela_context_desc desc = {.threads = tsl_pool_shared_threads(ranks->host_ranks)};
    TSL_TRY(tesela_context_create(&desc, &ranks->context));
  }
  *context = ranks->context;
  return TESELA_OK;
}

/* Sets the byte limit per rank to the minimum over all ranks. */
static tesela_status agree_memory(tsl_ranks *ranks, int64_t asked, int64_t *out) {
  double least = 0;
  const double free_bytes =
      (double)tsl_memory_available() / 2 / (ranks->host_ranks > 0 ? ranks->host_ranks : 1);
  TSL_TRY(ranks->ops->least(ranks, asked > 0 ? (double)asked : free_bytes, &least));
  *out = least < 4e18 ? (int64_t)least : (int64_t)4e18;
  return TESELA_OK;
}

static double memory_limit_in_sums(const tsl_job *job) {
  return (double)job->memory / (double)job->sums->size;
}

/* Adds "; by NCCL 2.27.3: A, B, sums", or "...: B; C stays where it is made". */
static void print_transports(const tsl_job *job, tsl_text *text) {
  static const char *const names[] = {"A", "B", "sums"};
  int count = 0;
  for (int i = 0; i < TSL_PARTS; i++) {
    if (!job->part[i].between_devices || (i == TSL_PART_C && job->stores_on_device && !job->travels))
      continue;
    if (count++ == 0)
      tsl_text_add(text, "; by %s: %s", tsl_gpu_transport_name(job->transport), names[i]);
    else
      tsl_text_add(text, ", %s", names[i]);
  }
  if (job->stores_on_device)
    tsl_text_add(text, job->travels ? "; added on the devices" : "; C stays where it is made");
}

static void fill_in_record(const tsl_job *job, const tsl_process_grid *grid, tesela_mpi_record *record) {
  tsl_text text = {0};
  tsl_grid_print(grid, &text);
  print_transports(job, &text);
  snprintf(record->plan, sizeof record->plan, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
  record->ranks = grid->used;
  record->depth = grid->depth;
  record->slabs = grid->slabs;
  record->steps = grid->tiles_m * grid->tiles_n * grid->panels;
  record->words = grid->words > grid->words_sent ? grid->words : grid->words_sent;
  record->words_all = grid->words_all;
  record->memory_bytes = grid->memory;
  record->bound = tsl_grid_bound(job->m, job->n, job->k, job->ranks->size, memory_limit_in_sums(job));
  if (job->ranks->rank == 0 && tsl_log_wants(TSL_LOG_PLAN))
    tsl_log(TSL_LOG_PLAN, "product of %lld x %lld x %lld: %s, %lld words of the busiest rank (bound %.0f)",
            (long long)job->m, (long long)job->n, (long long)job->k, record->plan, (long long)record->words,
            record->bound);
}

/* Returns true if this rank can send from device to device: A and B from buffers, sums from its block. */
static bool can_send_from_device(const tsl_job *job, int operand) {
  const tsl_rank_part *part = &job->part[operand];
  const int rank = job->ranks->rank;
  const bool is_c = operand == TSL_PART_C;
  bool fits = is_c || tsl_layout_count_owned(&part->layout, rank) == 0 ||
              (part->mirror.buffer && tsl_gpu_transport_has_buffer(job->transport, part->mirror.buffer));
  for (int64_t i = 0; i < tsl_layout_patch_count(&part->layout, rank); i++) {
    tsl_patch held = tsl_layout_patch(&part->layout, rank, i);
    if (is_c) { /* gaps between C's elements do not matter */
      held.row_stride = part->order == TSL_ROWS ? INT64_MAX : 1;
      held.col_stride = part->order == TSL_ROWS ? 1 : INT64_MAX;
    }
    fits = fits && tsl_gpu_transport_can_copy(&held, part->order, is_c ? job->sums->size : part->type->size);
  }
  return fits;
}

/* Chooses which operands' messages go from device to device. Collective. */
static tesela_status choose_transports(tsl_job *job) {
  tsl_ranks *ranks = job->ranks;
  TSL_TRY(tsl_agree(ranks, tsl_gpu_transport_start(job->transport, job->context)));
  tesela_status status = TESELA_OK;
  for (int i = 0; i < TSL_PARTS; i++) {
    double least;
    TSL_TRY(ranks->ops->least(ranks, can_send_from_device(job, i), &least));
    job->part[i].between_devices = least > 0;
    if (i != TSL_PART_C && !job->part[i].between_devices && status == TESELA_OK)
      status = tsl_part_make_host_copy(ranks, &job->part[i], true);
  }
  return tsl_agree(ranks, status);
}

/* Decides whether C is stored on the devices, and adapts the grid. Collective. */
static tesela_status choose_c_store(tsl_job *job, tsl_process_grid *grid, bool reads) {
  tsl_process_grid tiles = *grid;
  if (tsl_ranks_product_tiles(job, &tiles)) {
    TSL_TRY(tsl_agree(job->ranks, tsl_ranks_product_count(job, &tiles)));
    TSL_TRY(tsl_device_store_choose(job, &tiles));
  }
  if (job->stores_on_device && !job->travels) {
    *grid = tiles;
  } else {
    TSL_TRY(tsl_device_store_choose(job, grid));
  }
  const tesela_status status =
      job->stores_on_device ? TESELA_OK : tsl_part_make_host_copy(job->ranks, &job->part[TSL_PART_C], reads);
  return tsl_agree(job->ranks, status);
}

/* Computes the product, or only scales C if there is nothing to multiply. Collective. */
static tesela_status comm_call_multiply(tsl_job *job, const gemm_call *c, tesela_mpi_record *record) {
  tsl_ranks *ranks = job->ranks;
  const bool empty = job->m == 0 || job->n == 0;
  const bool multiplies = !empty && job->k > 0 && !(job->alpha[0] == 0 && job->alpha[1] == 0);
  tsl_rank_operand operands[TSL_PARTS];
  memcpy(operands, c->operands, sizeof operands);
  operands[TSL_PART_A].used = operands[TSL_PART_B].used = multiplies;
  operands[TSL_PART_C].read = job->beta[0] != 0 || job->beta[1] != 0;
  if (multiplies && ranks->size > 1)
    TSL_TRY(tsl_gpu_transport_find(ranks, &job->rank_device, &job->transport, &job->on_devices));
  operands[TSL_PART_A].copies_later = operands[TSL_PART_B].copies_later = operands[TSL_PART_C].copies_later =
      job->transport != NULL;
  TSL_TRY(tsl_parts_make(job, operands, TSL_PARTS));
  if (!multiplies) {
    const bool is_exact = job->beta[1] == 0 && (job->beta[0] == 0 || job->beta[0] == 1);
    record->error_bound = is_exact ? 0 : tsl_ranks_product_roundings(job, 1);
    if (!empty)
      tsl_ranks_product_scale_c_by_beta(job);
    snprintf(record->plan, sizeof record->plan, "nothing to multiply");
    return tsl_part_store(ranks, &job->part[TSL_PART_C]);
  }
  if (job->transport)
    TSL_TRY(choose_transports(job));
  /* If bits must equal the result of ranks without devices, the grid is not chosen for devices. */
  job->any_steps = job->on_devices && !(job->bits && strcmp(job->bits, "devices") == 0);
  TSL_TRY(agree_memory(ranks, c->desc.memory, &job->memory));
  tsl_process_grid grid;
  TSL_TRY(tsl_agree(ranks, tsl_ranks_product_plan(job, &grid)));
  if (job->transport)
    TSL_TRY(choose_c_store(job, &grid, operands[TSL_PART_C].read));
  fill_in_record(job, &grid, record);
  TSL_TRY(tsl_ranks_product_run(job, &grid, record));
  return tsl_part_store(ranks, &job->part[TSL_PART_C]);
}

tesela_status tsl_ranks_gemm(tsl_ranks *ranks, tesela_context *context, const tesela_mpi_desc *desc,
                             tesela_mpi_record *record, size_t desc_size, size_t gemm_size,
                             size_t record_size) {
  const double begin = tsl_clock();
  gemm_call c = {0};
  tsl_job job = {.ranks = ranks, .context = context};
  tesela_mpi_record own = {0};
  tsl_agreed_list agreed = {.count = 0};
  tsl_agreed_list_add_version(&agreed, ranks);
  tesela_status status = comm_call_import(&c, desc, desc_size, gemm_size);
  if (status == TESELA_OK) {
    gemm_call_set_defaults(&c);
    list_agreed_values(&c, ranks, &agreed);
    status = comm_call_check(&c, ranks, &job);
  }
  if (status == TESELA_OK)
    status = find_rank_device(&c, &job);
  if (status == TESELA_OK)
    status = find_or_create_context(ranks, &job.context);
  status = tsl_agree_start(ranks, status, agreed.items, agreed.count);
  if (status == TESELA_OK)
    status = comm_call_multiply(&job, &c, &own);
  if (job.transport)
    tsl_gpu_transport_stop(job.transport);
  tsl_parts_free(job.part, TSL_PARTS);
  own.seconds = tsl_clock() - begin;
  if (status == TESELA_OK && record)
    tsl_api_struct_export(record, record_size, &own, sizeof own);
  return status;
}

static tesela_status ranks_fail(tesela_status status, const char *sentence) {
  return tsl_fail(status, "%s", sentence);
}

const tsl_ranks_calls *tesela_ranks_calls(void) {
  static const tsl_ranks_calls calls = {tsl_ranks_gemm, tsl_ranks_transpose, tsl_ranks_end, ranks_fail};
  return &calls;
}

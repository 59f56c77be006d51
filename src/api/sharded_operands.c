#include "api/api.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"

#include <stdio.h>
#include <string.h>

static const char letters[] = "abc";

static bool sharded_operands_names_several(const char *device) {
  return device && (strchr(device, ',') || strchr(device, '*'));
}

bool tsl_api_is_spread(const tesela_context *context, const tsl_request *request) {
  const tesela_gemm_desc *desc = &request->desc;
  tsl_device *device;
  if (desc->a.shards || desc->b.shards || desc->c.shards)
    return true;
  const bool buffers = desc->a.buffer || desc->b.buffer || desc->c.buffer;
  return request->op == TSL_OP_GEMM && buffers &&
         sharded_operands_names_several(request->desc.options.device) &&
         tsl_devices_find(context->devices, request->desc.options.device, &device) == TESELA_OK &&
         device->member_count > 0;
}

/* Returns the caller's shards, or one shard for a whole buffer, stored in `room`. */
static tesela_shards sharded_operands_pieces_of(const tesela_matrix *matrix, const tsl_shape *shape,
                                                tesela_shard *room) {
  if (matrix->shards)
    return *matrix->shards;
  if (!matrix->buffer)
    return (tesela_shards){.pieces = NULL};
  *room = (tesela_shard){.buffer = tsl_writable(matrix->buffer),
                         .at = {.rows = matrix->transpose ? shape->cols : shape->rows,
                                .cols = matrix->transpose ? shape->rows : shape->cols,
                                .offset = matrix->offset,
                                .row_stride = matrix->transpose ? shape->col_stride : shape->row_stride,
                                .col_stride = matrix->transpose ? shape->row_stride : shape->col_stride}};
  return (tesela_shards){.pieces = room, .count = 1};
}

typedef struct sharded_request {
  tesela_shard room[TSL_OPERANDS]; /* shards for operands in one whole buffer */
  tesela_shards operands[TSL_OPERANDS];
} sharded_request;

static void read_sharded_request(const tsl_request *request, const tsl_problem *problem,
                                 sharded_request *all) {
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tesela_matrix matrix = tsl_api_matrix(request, i);
    all->operands[i] = sharded_operands_pieces_of(&matrix, tsl_problem_shape(problem, i), &all->room[i]);
  }
}

/* Maximum number of shards; a plan stores the number as an int. */
enum { SHARDS_MAX = 1 << 20 };

static tesela_status check_list(const tesela_shards *pieces, char letter) {
  if (pieces->count < 0 || pieces->count > SHARDS_MAX)
    return tsl_fail(TESELA_BAD_CALL, "desc.%c.shards.count is %lld: there are 0 to %d pieces", letter,
                    (long long)pieces->count, SHARDS_MAX);
  if (pieces->count > 0 && !pieces->pieces)
    return tsl_fail(TESELA_BAD_CALL, "desc.%c.shards.pieces is NULL, and its count %lld", letter,
                    (long long)pieces->count);
  for (int64_t i = 0; i < pieces->count; i++)
    if (!pieces->pieces[i].buffer)
      return tsl_fail(TESELA_BAD_CALL, "desc.%c.shards: piece %lld has no buffer", letter, (long long)i);
  return TESELA_OK;
}

/* Refuses host memory, an operand given twice, invalid lists, error measurement and in-place products. */
static tesela_status check_places(const tsl_request *request, const sharded_request *all) {
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tesela_matrix matrix = tsl_api_matrix(request, i);
    if (matrix.data)
      return tsl_fail(TESELA_BAD_CALL,
                      "%s is in host memory and others in buffers of several devices: all operands are in "
                      "host memory, or all in buffers",
                      request->fields[i]);
    if (matrix.shards && (matrix.buffer || matrix.packed || matrix.offset != 0 || matrix.row_stride != 0 ||
                          matrix.col_stride != 0))
      return tsl_fail(TESELA_BAD_CALL, "%s and desc.%c.shards are both given: set only one",
                      request->fields[i], letters[i]);
    TSL_TRY(check_list(&all->operands[i], letters[i]));
  }
  if (request->desc.options.measure_error != 0)
    return tsl_fail(
        TESELA_UNSUPPORTED,
        "desc.options.measure_error is set: errors are not measured for operands on several devices");
  if (request->desc.options.verify && strcmp(request->desc.options.verify, "none") != 0)
    return tsl_fail(TESELA_UNSUPPORTED,
                    "desc.options.verify is set: results are not verified for operands on several devices");
  if (request->desc.structure.in_place)
    return tsl_fail(TESELA_UNSUPPORTED, "desc.structure.in_place is set: matrices in pieces are general");
  return TESELA_OK;
}

/* Writes the names of the shards' devices, each once, comma-separated. */
static tesela_status add_names(const sharded_request *all, char name[TSL_DEVICE_NAME]) {
  const tsl_device *devices[TSL_MEMBERS_MAX];
  size_t length = 0;
  int count = 0;
  *name = 0;
  for (int i = 0; i < TSL_OPERANDS; i++)
    for (int64_t p = 0; p < all->operands[i].count; p++) {
      const tsl_device *device = all->operands[i].pieces[p].buffer->memory->device;
      int known = 0;
      while (known < count && devices[known] != device)
        known++;
      if (known < count)
        continue;
      const int added =
          snprintf(name + length, TSL_DEVICE_NAME - length, "%s%s", count ? "," : "", device->name);
      if (count == TSL_MEMBERS_MAX || added < 0 || (size_t)added >= TSL_DEVICE_NAME - length)
        return tsl_fail(TESELA_UNSUPPORTED, "the pieces lie on more than %d devices", TSL_MEMBERS_MAX);
      length += (size_t)added;
      devices[count++] = device;
    }
  return TESELA_OK;
}

/* Finds the group of the named devices, or of the shards' devices if the request names none. */
static tesela_status find_group(const tesela_context *context, const tsl_request *request,
                                const sharded_request *all, tsl_device **group) {
  char name[TSL_DEVICE_NAME];
  const bool named = request->desc.options.device && strcmp(request->desc.options.device, "auto") != 0;
  if (!named)
    TSL_TRY(add_names(all, name));
  if (!named && !*name)
    return tsl_fail(TESELA_BAD_CALL, "desc has no piece in a buffer, so the devices are unknown");
  const tesela_status status =
      tsl_devices_find(context->devices, named ? request->desc.options.device : name, group);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "desc.device");
  if ((*group)->member_count == 0)
    return tsl_fail(
        TESELA_BAD_CALL,
        "%s is one device: with pieces desc.device must name several (\"cuda:*\"); on one device use buffers",
        (*group)->name);
  return TESELA_OK;
}

/* Returns the device's index in the group; member_count: it is not in the group. */
static int find_member(const tsl_device *group, const tsl_device *device) {
  int member = 0;
  while (member < group->member_count && group->members[member] != device)
    member++;
  return member;
}

static tesela_status describe_shard(const tesela_shard *piece, bool transposed, const tsl_device *group,
                                    char letter, int64_t index, tsl_shard *hold) {
  const tesela_rectangle *at = &piece->at;
  const tsl_device *device = piece->buffer->memory->device;
  int64_t row_stride, col_stride;
  tsl_strides_from_caller(at->row_stride, at->col_stride, at->cols, &row_stride, &col_stride);
  *hold = (tsl_shard){.member = find_member(group, device)};
  if (hold->member == group->member_count)
    return tsl_fail(TESELA_BAD_CALL, "desc.%c: piece %lld is on %s, which is none of %s%s", letter,
                    (long long)index, device->name, group->name,
                    strstr(group->name, device->name) ? ", or of another context" : "");
  hold->at = transposed ? (tsl_rect){at->col, at->cols, at->row, at->rows}
                        : (tsl_rect){at->row, at->rows, at->col, at->cols};
  hold->row_stride = transposed ? col_stride : row_stride;
  hold->col_stride = transposed ? row_stride : col_stride;
  return TESELA_OK;
}

static tesela_status sharded_operands_fill(const tsl_request *request, const sharded_request *all,
                                           const tsl_device *group, const tsl_problem *problem,
                                           tsl_sharding *spread) {
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tesela_matrix matrix = tsl_api_matrix(request, i);
    char name[32];
    for (int64_t p = 0; p < all->operands[i].count; p++)
      TSL_TRY(describe_shard(&all->operands[i].pieces[p], matrix.transpose != 0, group, letters[i], p,
                             &spread->holds[i][p]));
    snprintf(name, sizeof name, "desc.%c%s", letters[i], matrix.shards ? "_shards" : "");
    if (i == TSL_OPERAND_C || tsl_problem_reads(problem, i))
      TSL_TRY(tsl_sharding_check(spread, i, tsl_problem_shape(problem, i), name));
    else
      spread->counts[i] = 0; /* the operand is not read */
  }
  return TESELA_OK;
}

static tesela_status create_sharding(const tsl_request *request, const sharded_request *all,
                                     const tsl_device *group, const tsl_problem *problem,
                                     tsl_sharding **spread) {
  int counts[TSL_OPERANDS];
  tsl_sharding *sharding;
  for (int i = 0; i < TSL_OPERANDS; i++)
    counts[i] = (int)all->operands[i].count;
  TSL_TRY(tsl_sharding_create(counts, &sharding));
  const tesela_status status = sharded_operands_fill(request, all, group, problem, sharding);
  if (status != TESELA_OK)
    tsl_free(sharding);
  *spread = status == TESELA_OK ? sharding : NULL;
  return status;
}

tesela_status tsl_api_spread(const tesela_context *context, const tsl_request *request, tsl_call_key *key) {
  sharded_request all;
  tsl_device *group;
  read_sharded_request(request, &key->problem, &all);
  TSL_TRY(check_places(request, &all));
  TSL_TRY(find_group(context, request, &all, &group));
  TSL_TRY(create_sharding(request, &all, group, &key->problem, &key->spread));
  key->place = TSL_PLACE_PIECES;
  key->effort = 0;
  memcpy(key->device, group->name, sizeof key->device);
  return TESELA_OK;
}

/* Returns elements from the shard's first one to one past its last. */
static int64_t extent_of(const tsl_shard *hold) {
  return hold->at.rows == 0 || hold->at.cols == 0
             ? 0
             : (hold->at.rows - 1) * hold->row_stride + (hold->at.cols - 1) * hold->col_stride + 1;
}

static tesela_status check_piece(const tesela_plan *plan, const char *where, int operand, int index,
                                 const tesela_shard *piece) {
  const tsl_work *work = &plan->plan->work;
  const tsl_shard *hold = &work->sharding->holds[operand][index];
  const int64_t size = (int64_t)tsl_type(tsl_problem_shape(&work->problem, operand)->type)->size,
                extent = extent_of(hold);
  if (!piece->buffer)
    return tsl_fail(TESELA_BAD_CALL, "%s%c: piece %d has no buffer", where, letters[operand], index);
  const tsl_buffer *memory = piece->buffer->memory;
  const tsl_device *device = work->device->members[hold->member];
  if (memory->device != device)
    return tsl_fail(TESELA_BAD_CALL, "%s%c: piece %d is on %s, and the plan has it on %s%s", where,
                    letters[operand], index, memory->device->name, device->name,
                    strcmp(memory->device->name, device->name) == 0 ? " of another context" : "");
  const int64_t elements = (int64_t)memory->bytes / size;
  if (piece->at.offset < 0 || piece->at.offset > elements || extent > elements - piece->at.offset)
    return tsl_fail(
        TESELA_BAD_CALL,
        "%s%c: piece %d has offset %lld and takes %lld elements from there on, and its buffer has "
        "%lld",
        where, letters[operand], index, (long long)piece->at.offset, (long long)extent, (long long)elements);
  return TESELA_OK;
}

/* Bytes of a shard in its buffer. */
typedef struct sharded_operands_span {
  const tsl_buffer *buffer;
  int64_t start, end;
  bool dense;
} sharded_operands_span;

static sharded_operands_span sharded_operands_span_of(const tsl_work *work, int operand, int index,
                                                      const tsl_shard_buffer *held) {
  const tsl_shard *hold = &work->sharding->holds[operand][index];
  const int64_t size = (int64_t)tsl_type(tsl_problem_shape(&work->problem, operand)->type)->size,
                extent = extent_of(hold);
  return (sharded_operands_span){held->buffer, held->offset * size, (held->offset + extent) * size,
                                 extent == hold->at.rows * hold->at.cols};
}

/* Returns true if two ranges certainly overlap: equal starts, or gapless ranges that meet. */
static bool sharded_operands_overlap(const sharded_operands_span *a, const sharded_operands_span *b) {
  return a->buffer == b->buffer && a->end > a->start && b->end > b->start &&
         (a->start == b->start || (a->dense && b->dense && a->start < b->end && b->start < a->end));
}

static tesela_status sharded_operands_check_overlaps(const tesela_plan *plan, const char *where,
                                                     tsl_shard_buffer *const held[TSL_OPERANDS]) {
  const tsl_work *work = &plan->plan->work;
  const tsl_sharding *spread = work->sharding;
  for (int i = 0; i < spread->counts[TSL_OPERAND_C]; i++) {
    const sharded_operands_span c = sharded_operands_span_of(work, TSL_OPERAND_C, i, &held[TSL_OPERAND_C][i]);
    for (int operand = 0; operand < TSL_OPERANDS; operand++)
      for (int p = 0; p < (operand == TSL_OPERAND_C ? i : spread->counts[operand]); p++) {
        const sharded_operands_span other = sharded_operands_span_of(work, operand, p, &held[operand][p]);
        if (sharded_operands_overlap(&c, &other))
          return tsl_fail(TESELA_BAD_CALL, "%sc: piece %d overlaps piece %d of %s%c in its buffer", where, i,
                          p, where, letters[operand]);
      }
  }
  return TESELA_OK;
}

static tesela_status sharded_operands_gather(const tesela_plan *plan, const char *where,
                                             const tesela_shards *const shards[TSL_OPERANDS],
                                             tsl_shard_buffer *const held[TSL_OPERANDS]) {
  const tsl_sharding *spread = plan->plan->spread;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    if (spread->counts[i] == 0)
      continue;
    if (!shards[i] || shards[i]->count != spread->counts[i] || !shards[i]->pieces)
      return tsl_fail(TESELA_BAD_CALL, "%s%c has %lld pieces, and the plan is for %d", where, letters[i],
                      shards[i] && shards[i]->pieces ? (long long)shards[i]->count : 0, spread->counts[i]);
    for (int p = 0; p < spread->counts[i]; p++) {
      const tesela_shard *piece = &shards[i]->pieces[p];
      TSL_TRY(check_piece(plan, where, i, p, piece));
      held[i][p] = (tsl_shard_buffer){piece->buffer->memory, piece->at.offset};
    }
  }
  return sharded_operands_check_overlaps(plan, where, held);
}

/* Runs a plan for several devices on these shards. `where` prefixes the operands' names in messages. */
static tesela_status run_spread(tesela_plan *plan, const char *where,
                                const tesela_shards *const shards[TSL_OPERANDS], tesela_record *record) {
  const tsl_sharding *spread = plan->plan->spread;
  tsl_shard_buffer *held[TSL_OPERANDS], *next;
  size_t count = 1;
  void *block;
  for (int i = 0; i < TSL_OPERANDS; i++)
    count += (size_t)spread->counts[i];
  TSL_TRY(tsl_alloc_zeroed(count * sizeof **held, "a run's pieces", &block));
  next = block;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    held[i] = next;
    next += spread->counts[i];
  }
  tesela_status status = sharded_operands_gather(plan, where, shards, held);
  const tsl_operands operands = {
      .a.shards = held[TSL_OPERAND_A], .b.shards = held[TSL_OPERAND_B], .c.shards = held[TSL_OPERAND_C]};
  if (status == TESELA_OK)
    status = record || tsl_log_wants(TSL_LOG_CALLS) ? tsl_api_run_timed(plan, &operands, record)
                                                    : tsl_plan_run(plan->plan, &operands, NULL);
  tsl_free(block);
  return status;
}

tesela_status tsl_api_call_spread(tesela_plan *plan, const tsl_request *request, tesela_record *record) {
  sharded_request all;
  read_sharded_request(request, &plan->plan->work.problem, &all);
  const tesela_shards *const given[TSL_OPERANDS] = {&all.operands[0], &all.operands[1], &all.operands[2]};
  return run_spread(plan, "desc.", given, record);
}

tesela_status tsl_api_run_single(tesela_plan *plan, const tesela_matrix *const matrix[TSL_ALL_OPERANDS],
                                 tesela_record *record) {
  tesela_shard room[TSL_OPERANDS];
  tesela_shards operands[TSL_OPERANDS];
  const tesela_shards *const pieces[TSL_OPERANDS] = {&operands[0], &operands[1], &operands[2]};
  for (int i = 0; i < TSL_OPERANDS; i++) {
    if (matrix[i] && matrix[i]->shards) {
      operands[i] = *matrix[i]->shards;
      continue;
    }
    if (plan->plan->spread->counts[i] > 1)
      return tsl_fail(TESELA_BAD_CALL, "%c.shards is NULL: the plan is for %d shards", letters[i],
                      plan->plan->spread->counts[i]);
    if (matrix[i] && matrix[i]->data)
      return tsl_fail(TESELA_BAD_CALL, "%c is in host memory, and the plan is for buffers", letters[i]);
    operands[i] = (tesela_shards){.pieces = room, .count = 0};
    if (!matrix[i] || !matrix[i]->buffer)
      continue;
    room[i] = (tesela_shard){.buffer = tsl_writable(matrix[i]->buffer), .at = {.offset = matrix[i]->offset}};
    operands[i] = (tesela_shards){.pieces = &room[i], .count = 1};
  }
  return run_spread(plan, "", pieces, record);
}

#include "api/api.h"

#include "core/floats.h"
#include "core/status.h"

#include <string.h>

static tesela_status resolve_type(const tesela_matrix *matrix, tesela_type fallback, const char *field,
                                  tesela_type *type) {
  *type = matrix->type == TESELA_TYPE_DEFAULT ? fallback : matrix->type;
  if (!tsl_type(*type))
    return tsl_fail(TESELA_BAD_CALL, "%s.type is %d: it must be one of %s", field, (int)*type,
                    tsl_type_names());
  return TESELA_OK;
}

/* Fills a shape. Default strides depend on the stored matrix, which may be the transpose. */
static tesela_status resolve_shape(const tesela_matrix *matrix, int64_t rows, int64_t cols,
                                   tesela_type fallback, const char *field, tsl_shape *shape) {
  int64_t row_stride, col_stride;
  tesela_type type;
  TSL_TRY(resolve_type(matrix, fallback, field, &type));
  TSL_TRY(tsl_api_one_place(matrix, "", field));
  TSL_TRY(tsl_strides_check(matrix->row_stride, matrix->col_stride, matrix->transpose ? cols : rows,
                            matrix->transpose ? rows : cols, field));
  tsl_api_strides(matrix, rows, cols, &row_stride, &col_stride);
  *shape = (tsl_shape){
      .type = type, .rows = rows, .cols = cols, .row_stride = row_stride, .col_stride = col_stride};
  return TESELA_OK;
}

/* Applies transposes to triangles. A real hermitian A or B becomes symmetric, a real hermitian C general. */
static void resolve_structures(const tsl_request *request, tsl_shape *const shapes[TSL_OPERANDS]) {
  static const tesela_triangle turned[] = {TESELA_WHOLE, TESELA_UPPER, TESELA_LOWER};
  const tesela_gemm_desc *desc = &request->desc;
  const tesela_structures *all = &desc->structure;
  const tesela_structure structures[TSL_OPERANDS] = {all->a, all->b, all->c};
  const tesela_triangle triangles[TSL_OPERANDS] = {all->a_triangle, all->b_triangle, all->c_triangle};
  const int transposes[TSL_OPERANDS] = {desc->a.transpose, desc->b.transpose, desc->c.transpose};
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tesela_triangle triangle = triangles[i];
    const bool turns = transposes[i] && (unsigned)triangle < TESELA_TRIANGLES;
    const bool is_real = !tsl_type(shapes[i]->type)->is_complex;
    const bool is_plain = is_real && structures[i] == TESELA_HERMITIAN;
    const bool is_real_sum = is_real && structures[i] == TESELA_HERMITIAN_SUM;
    shapes[i]->triangle = turns ? turned[triangle] : triangle;
    shapes[i]->structure = is_real_sum          ? TESELA_SYMMETRIC_SUM
                           : !is_plain          ? structures[i]
                           : i == TSL_OPERAND_C ? TESELA_GENERAL
                                                : TESELA_SYMMETRIC;
  }
}

static void resolve_scalar(const double *argument, double fallback, tesela_type type, double out[2]) {
  out[0] = argument ? argument[0] : fallback;
  out[1] = argument && tsl_type(type)->is_complex ? argument[1] : 0;
}

static tesela_status resolve_conjugates(const tsl_request *request, tsl_problem *problem) {
  static const bool conjugates[TSL_OP_COUNT][TSL_OPERAND_C] = {
      [TSL_OP_GEMM] = {true, true}, [TSL_OP_SOLVE] = {true}};
  const int wanted[TSL_OPERAND_C] = {request->desc.a.conjugate, request->desc.b.conjugate};
  for (int i = 0; i < TSL_OPERAND_C; i++)
    if (wanted[i] && !conjugates[request->op][i])
      return tsl_fail(TESELA_BAD_CALL,
                      "%s.conjugate is set: only A and B of a product, and A of a solve, are conjugated",
                      request->fields[i]);
  const bool is_complex = tsl_type(problem->a.type)->is_complex && tsl_type(problem->b.type)->is_complex;
  problem->conjugate_a = is_complex && request->desc.a.conjugate != 0;
  problem->conjugate_b = is_complex && request->desc.b.conjugate != 0;
  return TESELA_OK;
}

static tesela_status resolve_epilogue(const tsl_request *request, tsl_problem *problem) {
  const tesela_epilogue *epilogue = tsl_api_epilogue(&request->desc);
  const tesela_vector *bias = &epilogue->bias;
  const tesela_matrix matrix = tsl_api_as_line(bias);
  tesela_type type = TESELA_TYPE_DEFAULT;
  problem->activation = epilogue->activation;
  if (epilogue->bias_axis == TESELA_NO_BIAS && (bias->data || bias->buffer))
    return tsl_fail(
        TESELA_BAD_CALL,
        "desc.epilogue.bias is given, but bias_axis is 0: set TESELA_BIAS_ROW or TESELA_BIAS_COLUMN");
  if (epilogue->bias_axis == TESELA_NO_BIAS)
    return TESELA_OK;
  TSL_TRY(tsl_api_one_place(&matrix, "", "desc.epilogue.bias"));
  TSL_TRY(resolve_type(&matrix, problem->c.type, "desc.epilogue.bias", &type));
  tsl_problem_add_bias(problem, epilogue->bias_axis, type, tsl_stride_from_caller(bias->stride));
  return TESELA_OK;
}

static tesela_status resolve_scales(const tsl_request *request, tsl_problem *problem) {
  const tesela_epilogue *epilogue = tsl_api_epilogue(&request->desc);
  static const char *const fields[] = {"desc.epilogue.scale_a", "desc.epilogue.scale_b"};
  const tesela_vector *const vectors[] = {&epilogue->scale_a, &epilogue->scale_b};
  const tesela_scaling scalings[] = {epilogue->scaling_a, epilogue->scaling_b};
  for (int i = 0; i < 2; i++) {
    const tesela_matrix matrix = tsl_api_as_line(vectors[i]);
    if (scalings[i] == TESELA_NO_SCALE && (matrix.data || matrix.buffer))
      return tsl_fail(TESELA_BAD_CALL,
                      "%s is given, but scaling_%c is 0: set TESELA_SCALE_TENSOR or TESELA_SCALE_LINES",
                      fields[i], "ab"[i]);
    if (scalings[i] == TESELA_NO_SCALE)
      continue;
    TSL_TRY(tsl_api_one_place(&matrix, "", fields[i]));
    tsl_problem_add_scale(problem, TSL_OPERAND_SCALE_A + i, scalings[i],
                          tsl_stride_from_caller(vectors[i]->stride));
    TSL_TRY(resolve_type(&matrix, TESELA_F32, fields[i],
                         i == 0 ? &problem->scale_a.type : &problem->scale_b.type));
  }
  return TESELA_OK;
}

/* Returns the default type of C for the type `a` of A; scaled integers give f32. */
static tesela_type type_of_result(const tsl_request *request, tesela_type a) {
  const tesela_epilogue *epilogue = tsl_api_epilogue(&request->desc);
  const tesela_type type = tsl_result_type(request->op, a);
  const bool has_scales = epilogue->scaling_a != TESELA_NO_SCALE || epilogue->scaling_b != TESELA_NO_SCALE;
  return has_scales && tsl_type(type)->is_integer ? TESELA_F32 : type;
}

tesela_status tsl_api_problem(const tsl_request *request, tsl_problem *problem) {
  const tesela_gemm_desc *desc = &request->desc;
  const int64_t sizes[] = {desc->m, desc->n, desc->k};
  for (int i = 0; i < TSL_OPERANDS; i++)
    if (sizes[i] < 0)
      return tsl_fail(TESELA_BAD_CALL, "%s is %lld: a size must be 0 or more", request->sizes[i],
                      (long long)sizes[i]);
  *problem = tsl_problem_of(request->op, desc->m, desc->n, desc->k, TESELA_F32);
  problem->in_place = desc->structure.in_place != 0;
  const tesela_matrix c = tsl_api_as_matrix(&desc->c), *const matrices[TSL_OPERANDS] = {&desc->a, &desc->b,
                                                                                        &c};
  tsl_shape *const shapes[TSL_OPERANDS] = {&problem->a, &problem->b, &problem->c};
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tesela_type fallback = i == TSL_OPERAND_C   ? type_of_result(request, problem->a.type)
                                 : i == TSL_OPERAND_B ? problem->a.type
                                                      : TESELA_F32;
    TSL_TRY(resolve_shape(matrices[i], shapes[i]->rows, shapes[i]->cols, fallback, request->fields[i],
                          shapes[i]));
  }
  resolve_structures(request, shapes);
  TSL_TRY(resolve_conjugates(request, problem));
  TSL_TRY(resolve_epilogue(request, problem));
  TSL_TRY(resolve_scales(request, problem));
  resolve_scalar(request->desc.alpha, 1, problem->c.type, problem->alpha);
  resolve_scalar(request->desc.beta, 0, problem->c.type, problem->beta);
  tsl_problem_round(problem);
  return TESELA_OK;
}

/* Returns the end of a message on another device of this name, which belongs to another context. */
static const char *context_of_device(const tsl_device *device, const char *name) {
  return strcmp(device->name, name) == 0 ? " of another context" : "";
}

/* Finds the buffers' device; NULL: none. Refuses several devices, and a mix with host memory. */
static tesela_status device_of_buffers(const tsl_request *request, tsl_device **device) {
  const tesela_epilogue *epilogue = tsl_api_epilogue(&request->desc);
  const tesela_matrix matrices[TSL_ALL_OPERANDS] = {request->desc.a,
                                                    request->desc.b,
                                                    tsl_api_as_matrix(&request->desc.c),
                                                    tsl_api_as_line(&epilogue->bias),
                                                    tsl_api_as_line(&epilogue->scale_a),
                                                    tsl_api_as_line(&epilogue->scale_b)};
  const char *const fields[TSL_ALL_OPERANDS] = {request->fields[0],      request->fields[1],
                                                request->fields[2],      "desc.epilogue.bias",
                                                "desc.epilogue.scale_a", "desc.epilogue.scale_b"};
  int first = -1, host = -1;
  *device = NULL;
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    if (matrices[i].data)
      host = i;
    if (!matrices[i].buffer)
      continue;
    tsl_device *buffer_device = matrices[i].buffer->memory->device;
    if (*device && buffer_device != *device)
      return tsl_fail(TESELA_BAD_CALL, "%s.buffer is on %s and %s.buffer on %s%s: a call runs on one device",
                      fields[first], (*device)->name, fields[i], buffer_device->name,
                      context_of_device(*device, buffer_device->name));
    first = i;
    *device = buffer_device;
  }
  if (first >= 0 && host >= 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s is in host memory and %s in a buffer on %s: all operands are in one place",
                    fields[host], fields[first], (*device)->name);
  return TESELA_OK;
}

static tesela_status check_named_device(const tesela_context *context, const char *name,
                                        const tsl_device *device) {
  tsl_device *named;
  if (!name || strcmp(name, "auto") == 0)
    return TESELA_OK;
  const tesela_status status = tsl_devices_find(context->devices, name, &named);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "desc.options.device");
  if (named != device)
    return tsl_fail(TESELA_BAD_CALL, "desc.options.device is %s, but the buffers are on %s%s", name,
                    device->name, context_of_device(named, device->name));
  return TESELA_OK;
}

static tesela_status resolve_requirements(const tesela_context *context, const tsl_request *request,
                                          tsl_numeric_requirements *ask) {
  tesela_status status = TESELA_OK;
  *ask = context->ask;
  if (request->desc.options.accuracy)
    status = tsl_numeric_requirements_parse_accuracy(request->desc.options.accuracy, ask);
  if (status == TESELA_OK && request->desc.options.reproducibility)
    status = tsl_numeric_requirements_parse_bits(request->desc.options.reproducibility, ask);
  return status == TESELA_OK ? status : tsl_fail_in(status, "desc");
}

tesela_status tsl_api_checks_of(const tesela_context *context, const tsl_request *request,
                                tsl_api_checks *checks) {
  const tesela_options *options = &request->desc.options;
  *checks = context->checks;
  if (options->measure_error != 0)
    checks->seed = options->measure_error;
  if (request->op == TSL_OP_SOLVE)
    checks->seed = 0;
  if (!options->verify)
    return TESELA_OK;
  checks->verifies_by_default = false;
  const tesela_status status = tsl_verify_parse(options->verify, &checks->verify);
  return status == TESELA_OK ? status : tsl_fail_in(status, "desc");
}

tesela_status tsl_api_request(const tesela_context *context, const tsl_request *request, tsl_call_key *key) {
  TSL_DEFAULT_FLOATS;
  tsl_device *device;
  *key = (tsl_call_key){.place = TSL_PLACE_HOST, .effort = request->desc.options.tuning_seconds};
  if (!(request->desc.options.tuning_seconds >= 0))
    return tsl_fail(TESELA_BAD_CALL,
                    "desc.options.tuning_seconds is %g: 0 or more seconds may be spent on measuring",
                    request->desc.options.tuning_seconds);
  for (int i = 0; i < TSL_OPERANDS && request->op != TSL_OP_GEMM; i++)
    if (tsl_api_matrix(request, i).shards)
      return tsl_fail(TESELA_UNSUPPORTED, "%s.shards is set: only products have operands in shards",
                      request->fields[i]);
  TSL_TRY(tsl_api_problem(request, &key->problem));
  TSL_TRY(resolve_requirements(context, request, &key->problem.ask));
  const tesela_status status = tsl_problem_check(&key->problem);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "desc");
  if (tsl_api_is_spread(context, request)) {
    key->strategy = request->desc.options.strategy;
    return tsl_api_spread(context, request, key);
  }
  TSL_TRY(device_of_buffers(request, &device));
  if (device) {
    TSL_TRY(check_named_device(context, request->desc.options.device, device));
    key->place = TSL_PLACE_DEVICE;
    memcpy(key->device, device->name, sizeof key->device);
  } else if (request->desc.options.device) {
    TSL_TRY(tsl_api_device_name(request->desc.options.device, "desc.options.device", key->device));
  } else {
    memcpy(key->device, context->device, sizeof key->device);
  }
  key->strategy = request->desc.options.strategy; /* borrowed; the plan cache copies it */
  return TESELA_OK;
}

void tsl_api_request_end(tsl_call_key *key) {
  tsl_free(key->spread);
  key->spread = NULL;
}

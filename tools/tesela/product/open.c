/* Opens files, checks shapes and types, and opens the output. */
#include "cli/matrix_output.h"
#include "core/clock.h"
#include "core/list_text.h"
#include "core/memory.h"
#include "core/status.h"
#include "inventory/strategy_limits.h"
#include "io/input.h"
#include "product/blocks.h"

#include <math.h>
#include <string.h>

const char *tsl_stage_name(tsl_stage stage) {
  static const char *const names[] = {TSL_STAGE_LIST(TSL_LIST_WORD)};
  return names[stage];
}

/* Opens an input. A failure is TESELA_BAD_INPUT, unlike a disk error of an output. */
static tesela_status open_feed(const char *path, const char *format, tsl_matrix_source *feed) {
  if (!path)
    return TESELA_OK;
  feed->path = tsl_input_name(path);
  const tesela_status status = tsl_reader_open(path, strcmp(path, "-") == 0 ? format : NULL, &feed->reader);
  if (status != TESELA_OK)
    return status == TESELA_IO_FAILED ? TESELA_BAD_INPUT : status;
  const tsl_file_info *info = tsl_reader_info(feed->reader);
  feed->rows = info->rows;
  feed->cols = info->cols;
  feed->type = info->type;
  feed->by_rows = info->by_rows;
  feed->by_columns = info->by_columns;
  feed->by_blocks = info->by_blocks;
  feed->columns_first = info->columns_first;
  feed->state = tsl_reader_get_file_state(feed->reader);
  feed->text = info->text;
  feed->header = info->header;
  feed->printed = info->text ? tsl_reader_printed(feed->reader) : NULL;
  return TESELA_OK;
}

/* Checks that the files of a dot product have one row or one column. */
static tesela_status check_vectors(const tsl_product *product) {
  const tsl_matrix_source *const feeds[] = {&product->a, &product->b};
  for (int i = 0; i < 2; i++)
    if (feeds[i]->rows != 1 && feeds[i]->cols != 1)
      return tsl_fail(TESELA_BAD_INPUT, "%s is %lld x %lld; a vector is one row or one column",
                      feeds[i]->path, (long long)feeds[i]->rows, (long long)feeds[i]->cols);
  const int64_t b = product->b.rows * product->b.cols;
  if (product->k == b)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT,
                  "%s has %lld elements and %s has %lld: a dot product needs as many of each",
                  product->a.path, (long long)product->k, product->b.path, (long long)b);
}

static tesela_status open_check_square(const tsl_product *product) {
  if (!product->request.in_place || product->m == product->n)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT, "%s is %lld x %lld; only a square is transposed in place",
                  product->a.path, (long long)product->a.rows, (long long)product->a.cols);
}

static tesela_status check_inner(const tsl_product *product) {
  const tsl_product_request *request = &product->request;
  const tsl_matrix_source *a = &product->a, *b = &product->b;
  if (request->by_itself)
    return TESELA_OK;
  const int64_t inner = request->transpose_b ? b->cols : b->rows;
  if (product->k == inner)
    return TESELA_OK;
  return tsl_fail(
      TESELA_BAD_INPUT, "%s is %lld x %lld%s and %s is %lld x %lld%s: the inner sizes %lld and %lld differ",
      a->path, (long long)a->rows, (long long)a->cols, request->transpose_a ? ", transposed," : "", b->path,
      (long long)b->rows, (long long)b->cols, request->transpose_b ? ", transposed" : "",
      (long long)product->k, (long long)inner);
}

static tesela_status check_shape(const tsl_product *product, const tsl_matrix_source *feed) {
  if (!feed->reader || (feed->rows == product->m && feed->cols == product->n))
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT, "%s is %lld x %lld, the product is %lld x %lld", feed->path,
                  (long long)feed->rows, (long long)feed->cols, (long long)product->m, (long long)product->n);
}

/* Returns the type of the computation: f32 or c64 if it holds all values of A and B, else f64 or
 * c128, also for integers. It is complex if a file or a scalar is complex. Elements that are only
 * moved keep their type. */
static tesela_type default_type(const tsl_product *product) {
  const tsl_matrix_source *const feeds[] = {&product->a, &product->b, &product->c0, &product->bias};
  const tsl_product_request *request = &product->request;
  bool complex = request->alpha[1] != 0 || request->beta[1] != 0, narrow = true;
  if (request->op == TSL_OP_TRANSPOSE)
    return product->a.type;
  if (tsl_product_is_scaled(product))
    return TESELA_F32;
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++)
    complex = complex || (feeds[i]->reader && tsl_type(feeds[i]->type)->is_complex);
  for (int i = 0; i < 2; i++) {
    const tsl_type_info *part = tsl_type(tsl_type(feeds[i]->type)->component);
    narrow = narrow && !part->is_integer && part->size <= tsl_type(TESELA_F32)->size;
  }
  return complex ? (narrow ? TESELA_C64 : TESELA_C128) : (narrow ? TESELA_F32 : TESELA_F64);
}

/* Returns the type in which the expected file is read, which holds all of its values. */
static tesela_type expected_type(const tsl_product *product) {
  const tsl_type_info *file = tsl_type(product->expected.type), *own = tsl_type(product->type);
  if (file == own)
    return product->type;
  return file->is_complex || own->is_complex ? TESELA_C128 : TESELA_F64;
}

/* Returns the path of a scale; NULL if it is a number. */
static const char *scale_path(const tsl_product_request *request, int value) {
  double number;
  const char *given = request->scales[value];
  return given && !tsl_parse_double(given, &number) ? given : NULL;
}

static tesela_status check_paths(const tsl_product_request *request) {
  const char *const inputs[] = {request->a,
                                request->b,
                                request->c0,
                                request->bias,
                                scale_path(request, 0),
                                scale_path(request, 1),
                                request->expected};
  int standard = 0;
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    standard += inputs[i] && strcmp(inputs[i], "-") == 0;
  if (standard > 1)
    return tsl_fail(TESELA_BAD_CALL, "standard input, -, is one file, but %d inputs name it", standard);
  if (request->format && !standard && !request->output)
    return tsl_fail(TESELA_BAD_CALL, "--format applies to - or to the output, and neither is named");
  for (size_t i = 0; request->output && i < sizeof inputs / sizeof *inputs; i++)
    if (inputs[i] && tsl_io_same_file(inputs[i], request->output))
      return tsl_fail(TESELA_BAD_CALL,
                      "-o %s is the input %s; an input is not overwritten, so name another file",
                      request->output, inputs[i]);
  return TESELA_OK;
}

/* Checks that a strategy takes the types. For a dot product without one, the message suggests
 * `tesela multiply` if gemm takes the types. The types in which scales are summed are checked, not
 * the result's. */
static tesela_status check_types(const tsl_product *product) {
  const tsl_type_info *a = tsl_type(product->types.a), *c = tsl_type(product->types.c);
  tsl_types types = product->types;
  /* sums with scales are converted to C's type at the end */
  if (tsl_product_is_scaled(product) && c->sums == TESELA_F32)
    types.c = a->is_integer ? TESELA_I32 : TESELA_F32;
  const tesela_status status = tsl_terms_check_types(product->request.op, &types);
  tsl_status_saved saved;
  tsl_status_save(&saved);
  if (status != TESELA_UNSUPPORTED || product->request.op != TSL_OP_DOT ||
      tsl_terms_check_types(TSL_OP_GEMM, &product->types) != TESELA_OK) {
    tsl_status_restore(&saved);
    return status;
  }
  return tsl_fail(status, "%s; tesela multiply takes them, as a row and a column", saved.sentence);
}

/* Checks that a real product has real scalars and no conjugates. */
static tesela_status check_factors(const tsl_product *product) {
  const tsl_product_request *request = &product->request;
  const tsl_type_info *type = tsl_type(product->type);
  const bool complex = request->alpha[1] != 0 || request->beta[1] != 0;
  if (type->is_complex || !(complex || request->conjugate_a || request->conjugate_b))
    return TESELA_OK;
  return tsl_fail(
      TESELA_BAD_CALL, "%s for complex products, and this one is %s; --type c64 or c128 makes it complex",
      complex ? "imaginary parts of --alpha and --beta are" : "--conjugate-a and --conjugate-b are",
      type->name);
}

/* Sets the sizes of C from the sizes of the files. */
static tesela_status size_gemm(tsl_product *product) {
  const tsl_product_request *request = &product->request;
  product->m = request->transpose_a ? product->a.cols : product->a.rows;
  product->k = request->transpose_a ? product->a.rows : product->a.cols;
  product->n = request->by_itself ? product->m : request->transpose_b ? product->b.rows : product->b.cols;
  return check_inner(product);
}

static tesela_status size_dot(tsl_product *product) {
  product->m = product->n = 1;
  product->k = product->a.rows * product->a.cols;
  return check_vectors(product);
}

static tesela_status size_transpose(tsl_product *product) {
  product->m = product->a.cols;
  product->n = product->a.rows;
  return open_check_square(product);
}

static tesela_status size_solve(tsl_product *product) {
  const tsl_matrix_source *a = &product->a, *b = &product->b;
  product->m = b->rows;
  product->n = b->cols;
  product->k = product->request.right ? b->cols : b->rows;
  if (a->rows != a->cols)
    return tsl_fail(TESELA_BAD_INPUT, "%s is %lld x %lld; a triangle is half of a square", a->path,
                    (long long)a->rows, (long long)a->cols);
  if (a->rows == product->k)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT, "%s is %lld x %lld and %s has %lld %s; they must be as many", a->path,
                  (long long)a->rows, (long long)a->cols, b->path, (long long)product->k,
                  product->request.right ? "columns" : "rows");
}

static tesela_status (*const size_up[TSL_OP_COUNT])(tsl_product *product) = {
    [TSL_OP_GEMM] = size_gemm,
    [TSL_OP_DOT] = size_dot,
    [TSL_OP_TRANSPOSE] = size_transpose,
    [TSL_OP_SOLVE] = size_solve};

tesela_status tsl_product_check_request(const tsl_product_request *request) {
  for (int part = 0; part < 2; part++)
    if (!isfinite(request->alpha[part]) || !isfinite(request->beta[part]))
      return tsl_fail(TESELA_BAD_CALL, "%s",
                      request->op == TSL_OP_TRANSPOSE ? "--alpha is a finite number"
                                                      : "--alpha and --beta are finite numbers");
  if (request->resume && !request->output)
    return tsl_fail(TESELA_BAD_CALL, "--resume continues an output, and none is named; add -o FILE");
  if (request->op == TSL_OP_SOLVE && request->expected && !request->tolerance.given)
    return tsl_fail(TESELA_BAD_CALL, "two right solutions may differ by the triangle's condition: set the "
                                     "allowed difference with --tolerance");
  if (request->tolerance.given && !request->expected)
    return tsl_fail(TESELA_BAD_CALL, "--tolerance needs a comparison; name the file with --expect");
  if (request->tolerance.given && !(request->tolerance.value >= 0 && isfinite(request->tolerance.value)))
    return tsl_fail(TESELA_BAD_CALL, "--tolerance is the largest allowed difference, a number from 0 up");
  return TESELA_OK;
}

/* Sets the problem of all rows, from which the report counts operations and bytes. */
static tesela_status count_whole(tsl_product *product) {
  const tsl_product_request *request = &product->request;
  tsl_problem *whole = &product->whole;
  *whole = tsl_problem_of(request->op, product->m, product->n, product->k, product->types.a);
  whole->b.type = product->types.b;
  whole->c.type = product->types.c;
  whole->in_place = request->in_place;
  tsl_product_shape(product, whole);
  tsl_product_add_finish(product, whole);
  memcpy(whole->alpha, request->alpha, sizeof whole->alpha);
  memcpy(whole->beta, request->beta, sizeof whole->beta);
  tsl_problem_round(whole);
  return tsl_problem_check(whole);
}

/* Sets the types of a scaled product: 8-bit integers stay as they are unless the user chose a type;
 * the result is floating point. */
static void scale_types(tsl_product *product) {
  const tsl_type_info *a = tsl_type(product->a.type), *b = tsl_type(product->b.type);
  if (product->request.types.a == TESELA_TYPE_DEFAULT && a->is_integer && a->size == 1 && b->is_integer &&
      b->size == 1) {
    product->types.a = a->type;
    product->types.b = b->type;
  }
  if (tsl_type(product->types.c)->is_integer)
    product->types.c = TESELA_F32;
}

tesela_status tsl_product_open(const tsl_product_request *request, tsl_product *product) {
  *product = (tsl_product){.request = *request, .started = tsl_clock()};
  TSL_TRY(check_paths(request));
  TSL_TRY(open_feed(request->a, request->format, &product->a));
  TSL_TRY(open_feed(request->b, request->format, &product->b));
  TSL_TRY(open_feed(request->c0, request->format, &product->c0));
  TSL_TRY(open_feed(request->bias, request->format, &product->bias));
  for (int i = 0; i < 2; i++)
    TSL_TRY(open_feed(scale_path(request, i), request->format, &product->scales[i]));
  TSL_TRY(open_feed(request->expected, request->format, &product->expected));
  if (request->by_itself)
    product->b.type = product->a.type;
  TSL_TRY(size_up[request->op](product));
  TSL_TRY(check_shape(product, &product->c0));
  TSL_TRY(check_shape(product, &product->expected));
  product->types = request->types;
  if (request->types.a == TESELA_TYPE_DEFAULT)
    product->types.a = product->types.b = product->types.c = default_type(product);
  TSL_TRY(tsl_product_size_scales(product));
  if (tsl_product_is_scaled(product))
    scale_types(product);
  TSL_TRY(check_types(product));
  product->type = product->types.c;
  TSL_TRY(tsl_product_check_finish(product));
  TSL_TRY(tsl_product_check_structures(product));
  TSL_TRY(check_factors(product));
  product->bias.as = tsl_type(product->type)->sums;
  TSL_TRY(count_whole(product));
  product->a.as = product->types.a;
  product->b.as = product->types.b;
  product->c0.as = product->types.c;
  product->expected.as = request->expected ? expected_type(product) : product->type;
  /* Opening counts as reading: some formats are scanned for their shape. */
  product->seconds[TSL_STAGE_READ] = tsl_clock() - product->started;
  product->memory = request->memory ? request->memory : tsl_memory_available() / 5 * 4;
  product->by_blocks = tsl_blocks_wanted(product);
  if (request->output && !product->by_blocks && !request->in_parts)
    TSL_TRY(tsl_matrix_output(request->output, request->format, product->m, product->n, product->type,
                              &product->writer));
  return tesela_context_create(&(tesela_context_desc){.device = request->device}, &product->context);
}

static void close_feed(tsl_matrix_source *feed) {
  if (feed->reader)
    tsl_reader_close(feed->reader);
  tsl_free(feed->memory);
}

void tsl_product_close(tsl_product *product) {
  tsl_progress_end(product->progress);
  tsl_plan_facts_free(product->facts);
  tesela_plan_destroy(product->plan);
  tesela_plan_destroy(product->last_plan);
  tsl_plan_choice_free(&product->of_whole);
  tesela_context_destroy(product->context);
  tsl_writer_close(product->writer);
  close_feed(&product->a);
  close_feed(&product->b);
  close_feed(&product->c0);
  close_feed(&product->bias);
  close_feed(&product->scales[0]);
  close_feed(&product->scales[1]);
  close_feed(&product->expected);
  tsl_free(product->c_memory);
  tsl_free(product->before_memory);
  tsl_free(product->samples);
  *product = (tsl_product){.context = NULL};
}

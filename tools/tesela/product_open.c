/* Opening: files, shapes, types, the output. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "product.h"
#include "terms.h"

#include <string.h>

const char *tsl_stage_name(tsl_stage stage) {
  static const char *const names[] = {
#define STAGE_ROW(name, text) [TSL_STAGE_##name] = #text,
      TSL_STAGE_LIST(STAGE_ROW)
#undef STAGE_ROW
  };
  return names[stage];
}

/* An input that cannot be opened is the caller's mistake, unlike a disk that fails under an output. */
static tesela_status open_feed(const char *path, tsl_feed *feed) {
  feed->path = path;
  if (!path)
    return TESELA_OK;
  const tesela_status status = tsl_reader_open(path, &feed->reader);
  if (status != TESELA_OK)
    return status == TESELA_IO_FAILED ? TESELA_BAD_INPUT : status;
  const tsl_file_info *info = tsl_reader_info(feed->reader);
  feed->rows = info->rows;
  feed->cols = info->cols;
  feed->type = info->type;
  feed->by_rows = info->by_rows;
  return TESELA_OK;
}

/* A vector is one row or one column. */
static tesela_status check_vectors(const tsl_product *product) {
  const tsl_feed *const feeds[] = {&product->a, &product->b};
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

static tesela_status check_square(const tsl_product *product) {
  if (!product->wish.in_place || product->m == product->n)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT, "%s is %lld x %lld; only a square is transposed in place",
                  product->a.path, (long long)product->a.rows, (long long)product->a.cols);
}

static tesela_status check_inner(const tsl_product *product) {
  const tsl_product_wish *wish = &product->wish;
  const tsl_feed *a = &product->a, *b = &product->b;
  const int64_t inner = wish->transpose_b ? b->cols : b->rows;
  if (product->k == inner)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT,
                  "%s is %lld x %lld%s and %s is %lld x %lld%s: the inner sizes %lld and %lld differ",
                  a->path, (long long)a->rows, (long long)a->cols, wish->transpose_a ? ", transposed," : "",
                  b->path, (long long)b->rows, (long long)b->cols, wish->transpose_b ? ", transposed" : "",
                  (long long)product->k, (long long)inner);
}

static tesela_status check_shape(const tsl_product *product, const tsl_feed *feed) {
  if (!feed->reader || (feed->rows == product->m && feed->cols == product->n))
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT, "%s is %lld x %lld, the product is %lld x %lld", feed->path,
                  (long long)feed->rows, (long long)feed->cols, (long long)product->m, (long long)product->n);
}

static tesela_status check_real(const tsl_feed *feed) {
  if (!feed->reader || !tsl_type(feed->type)->is_complex)
    return TESELA_OK;
  return tsl_fail(TESELA_UNSUPPORTED,
                  "%s holds complex numbers (%s), and no strategy here multiplies complex numbers yet",
                  feed->path, tsl_type(feed->type)->name);
}

/* f32 where it holds both files' values; f64 otherwise, integers included. What is only moved keeps its type. */
static tesela_type default_type(const tsl_product *product) {
  const tesela_type types[] = {product->a.type, product->b.type};
  if (product->wish.op == TSL_OP_TRANSPOSE)
    return product->a.type;
  for (int i = 0; i < 2; i++)
    if (types[i] != TESELA_F32 && types[i] != TESELA_F16 && types[i] != TESELA_BF16)
      return TESELA_F64;
  return TESELA_F32;
}

static tesela_status check_output(const tsl_product_wish *wish) {
  const char *const inputs[] = {wish->a, wish->b, wish->c0, wish->expected};
  for (size_t i = 0; wish->output && i < sizeof inputs / sizeof *inputs; i++)
    if (inputs[i] && tsl_io_same_file(inputs[i], wish->output))
      return tsl_fail(TESELA_BAD_CALL,
                      "-o %s is the input %s; an input is not overwritten, so name another file",
                      wish->output, inputs[i]);
  return TESELA_OK;
}

/* The sizes of C, from those of the files. */
static tesela_status size_gemm(tsl_product *product) {
  const tsl_product_wish *wish = &product->wish;
  product->m = wish->transpose_a ? product->a.cols : product->a.rows;
  product->k = wish->transpose_a ? product->a.rows : product->a.cols;
  product->n = wish->transpose_b ? product->b.rows : product->b.cols;
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
  return check_square(product);
}

static tesela_status (*const size_up[TSL_OP_COUNT])(tsl_product *product) = {
    [TSL_OP_GEMM] = size_gemm, [TSL_OP_DOT] = size_dot, [TSL_OP_TRANSPOSE] = size_transpose};

tesela_status tsl_product_open(const tsl_product_wish *wish, tsl_product *product) {
  const tsl_feed *const feeds[] = {&product->a, &product->b, &product->c0, &product->expected};
  *product = (tsl_product){.wish = *wish, .started = tsl_clock()};
  TSL_TRY(check_output(wish));
  TSL_TRY(open_feed(wish->a, &product->a));
  TSL_TRY(open_feed(wish->b, &product->b));
  TSL_TRY(open_feed(wish->c0, &product->c0));
  TSL_TRY(open_feed(wish->expected, &product->expected));
  TSL_TRY(size_up[wish->op](product));
  TSL_TRY(check_shape(product, &product->c0));
  TSL_TRY(check_shape(product, &product->expected));
  for (int i = 0; i < 4 && wish->op != TSL_OP_TRANSPOSE; i++)
    TSL_TRY(check_real(feeds[i]));
  product->types = wish->types;
  if (wish->types.a == TESELA_TYPE_DEFAULT)
    product->types.a = product->types.b = product->types.c = default_type(product);
  TSL_TRY(tsl_terms_check_types(wish->op, &product->types));
  product->type = product->types.c;
  product->a.as = product->types.a;
  product->b.as = product->types.b;
  product->c0.as = product->expected.as = product->types.c;
  /* Some formats are scanned for their shape, which is most of the reading. */
  product->seconds[TSL_STAGE_READ] = tsl_clock() - product->started;
  if (wish->output)
    TSL_TRY(tsl_writer_open(wish->output, product->m, product->n, product->type, &product->writer));
  TSL_TRY(tsl_wisdom_open(&product->wisdom));
  return tsl_devices_create(&product->devices);
}

static void close_feed(tsl_feed *feed) {
  if (feed->reader)
    tsl_reader_close(feed->reader);
  tsl_free(feed->memory);
}

void tsl_product_close(tsl_product *product) {
  tsl_progress_end(product->progress);
  tsl_plan_destroy(product->plan);
  tsl_plan_destroy(product->last_plan);
  tsl_devices_destroy(product->devices);
  tsl_wisdom_close(product->wisdom);
  tsl_writer_close(product->writer);
  close_feed(&product->a);
  close_feed(&product->b);
  close_feed(&product->c0);
  close_feed(&product->expected);
  tsl_free(product->c_memory);
  tsl_free(product->before_memory);
  tsl_free(product->samples);
  *product = (tsl_product){.devices = NULL};
}

/* The epilogue of a product from files: a bias (a file with one row or one column), an activation,
 * and scales (vector files or numbers). */
#include "core/status.h"
#include "product/product.h"

bool tsl_product_is_scaled(const tsl_product *product) {
  return product->request.scales[0] || product->request.scales[1];
}

bool tsl_product_is_finished(const tsl_product *product) {
  const tsl_product_request *request = &product->request;
  return request->bias_axis != TESELA_NO_BIAS || request->activation != TESELA_NO_ACTIVATION ||
         tsl_product_is_scaled(product);
}

void tsl_product_add_finish(const tsl_product *product, tsl_problem *whole) {
  const tsl_product_request *request = &product->request;
  whole->activation = request->activation;
  tsl_problem_add_bias(whole, request->bias_axis, product->bias.as, 1);
  for (int i = 0; i < 2; i++)
    tsl_problem_add_scale(whole, TSL_OPERAND_SCALE_A + i, product->scalings[i], 1);
}

static const void *vector_at(const tsl_matrix_source *feed, int64_t first) {
  return feed->reader ? feed->data + first * (int64_t)tsl_type(feed->as)->size : NULL;
}

static const void *scale_at(const tsl_product *product, int value, int64_t first) {
  return product->scalings[value] != TESELA_NO_SCALE && !product->scales[value].reader
             ? &product->scale_numbers[value]
             : vector_at(&product->scales[value], first);
}

tesela_epilogue tsl_product_finish_at(const tsl_product *product, int64_t row) {
  return (tesela_epilogue){
      .bias.data = vector_at(&product->bias, product->request.bias_axis == TESELA_BIAS_COLUMN ? row : 0),
      .scale_a.data = scale_at(product, 0, product->scalings[0] == TESELA_SCALE_LINES ? row : 0),
      .scale_b.data = scale_at(product, 1, 0)};
}

/* --- scales --- */

static tesela_status size_scale(tsl_product *product, int value) {
  const tsl_matrix_source *scale = &product->scales[value];
  const int64_t lines = value == 0 ? product->m : product->n, length = scale->rows * scale->cols;
  const bool is_vector = scale->rows == 1 || scale->cols == 1;
  if (tsl_type(scale->type)->is_complex)
    return tsl_fail(TESELA_BAD_INPUT, "%s is %s; scales are real numbers", scale->path,
                    tsl_type(scale->type)->name);
  if (!is_vector || (length != 1 && length != lines))
    return tsl_fail(TESELA_BAD_INPUT,
                    "%s is %lld x %lld; what scales %c is one number, or a vector of %lld, one for each %s",
                    scale->path, (long long)scale->rows, (long long)scale->cols, "AB"[value],
                    (long long)lines, value == 0 ? "row of the product" : "column of the product");
  product->scalings[value] = length == 1 && lines != 1 ? TESELA_SCALE_TENSOR : TESELA_SCALE_LINES;
  return TESELA_OK;
}

tesela_status tsl_product_size_scales(tsl_product *product) {
  for (int i = 0; i < 2; i++) {
    double number;
    if (!product->request.scales[i])
      continue;
    product->scales[i].as = TESELA_F32;
    if (product->scales[i].reader) {
      TSL_TRY(size_scale(product, i));
      continue;
    }
    if (tsl_parse_double(product->request.scales[i], &number))
      product->scale_numbers[i] = (float)number;
    product->scalings[i] = TESELA_SCALE_TENSOR;
  }
  return TESELA_OK;
}

/* --- what cannot be --- */

static tesela_status check_vector(const tsl_product *product) {
  const tsl_matrix_source *bias = &product->bias;
  const tesela_bias_axis along = product->request.bias_axis;
  const bool is_row = along == TESELA_BIAS_ROW;
  const int64_t wanted = is_row ? product->n : product->m, other = is_row ? product->m : product->n;
  if (bias->rows != 1 && bias->cols != 1)
    return tsl_fail(TESELA_BAD_INPUT, "%s is %lld x %lld; a bias is one row or one column", bias->path,
                    (long long)bias->rows, (long long)bias->cols);
  const int64_t length = bias->rows * bias->cols;
  if (length == wanted)
    return TESELA_OK;
  return tsl_fail(
      TESELA_BAD_INPUT,
      "%s has %lld elements, and a bias along a %s has one for each of the %lld %s of the product%s%s%s",
      bias->path, (long long)length, tsl_along_name(along), (long long)wanted, is_row ? "columns" : "rows",
      length == other ? "; --bias-along " : "",
      length == other ? tsl_along_name(is_row ? TESELA_BIAS_COLUMN : TESELA_BIAS_ROW) : "",
      length == other ? " fits" : "");
}

tesela_status tsl_product_check_finish(const tsl_product *product) {
  const tsl_product_request *request = &product->request;
  const tsl_type_info *type = tsl_type(product->type);
  if (!tsl_product_is_finished(product))
    return TESELA_OK;
  if (request->measure != 0 && tsl_product_is_scaled(product))
    return tsl_fail(
        TESELA_BAD_CALL,
        "--measure-error: the error of a product with scales is not measured; --verify judges it");
  if (tsl_product_is_structured(product))
    return tsl_fail(TESELA_BAD_CALL,
                    "--bias, --activation and scales are of products of general matrices; leave out "
                    "--symmetric, --hermitian, --a-is and --b-is");
  if (type->is_integer)
    return tsl_fail(TESELA_BAD_CALL, "--bias and --activation are not of integers, and this product is %s",
                    type->name);
  if (type->is_complex && request->activation != TESELA_NO_ACTIVATION)
    return tsl_fail(
        TESELA_BAD_CALL,
        "--activation %s is for real products, and this one is %s; complex ones have --bias alone",
        tsl_activation_name(request->activation), type->name);
  return request->bias_axis == TESELA_NO_BIAS ? TESELA_OK : check_vector(product);
}

/* --- in words --- */

void tsl_product_add_vectors(const tsl_product *product, tsl_text *out) {
  for (int i = 0; i < 2; i++)
    if (product->scalings[i] != TESELA_NO_SCALE)
      tsl_text_add(out, ", scale of %c %s", "AB"[i], tsl_scaling_name(product->scalings[i]));
  if (product->request.bias_axis != TESELA_NO_BIAS)
    tsl_text_add(out, ", bias %s", tsl_along_name(product->request.bias_axis));
}

static json_t *finish_json_word(const char *word) {
  return *word ? json_string(word) : json_null();
}

void tsl_product_json_finish(const tsl_product *product, json_t *object) {
  json_object_set_new(object, "bias", finish_json_word(tsl_along_name(product->request.bias_axis)));
  json_object_set_new(object, "scale_a", finish_json_word(tsl_scaling_name(product->scalings[0])));
  json_object_set_new(object, "scale_b", finish_json_word(tsl_scaling_name(product->scalings[1])));
  json_object_set_new(object, "activation",
                      finish_json_word(tsl_activation_name(product->request.activation)));
}

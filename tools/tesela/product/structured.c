/* Products and solves of matrices of which one triangle stands for all. */
#include "core/status.h"
#include "product/product.h"

#include <math.h>

bool tsl_product_is_structured(const tsl_product *product) {
  const tsl_product_request *request = &product->request;
  return request->by_itself || request->op == TSL_OP_SOLVE || request->a_is.structure != TESELA_GENERAL ||
         request->b_is.structure != TESELA_GENERAL;
}

const void *tsl_product_second(const tsl_product *product, const char *a) {
  return product->request.by_itself ? a : product->b.data;
}

/* As it takes part: the transpose of a lower triangle is an upper one. */
static void shape_factor(const tsl_option_structure *is, bool transposed, tsl_shape *shape) {
  static const tesela_triangle other[] = {TESELA_WHOLE, TESELA_UPPER, TESELA_LOWER};
  if (is->structure == TESELA_GENERAL)
    return;
  shape->structure = is->structure;
  shape->triangle = transposed ? other[is->triangle] : is->triangle;
}

void tsl_product_shape(const tsl_product *product, tsl_problem *whole) {
  const tsl_product_request *request = &product->request;
  if (request->op == TSL_OP_SOLVE && request->right)
    *whole = tsl_problem_of(TSL_OP_SOLVE, product->n, product->m, product->k, product->types.a);
  shape_factor(&request->a_is, request->transpose_a != request->right, &whole->a);
  shape_factor(&request->b_is, request->transpose_b, &whole->b);
  if (!request->by_itself)
    return;
  whole->c.triangle = TESELA_LOWER;
  whole->c.structure = request->hermitian ? TESELA_HERMITIAN : TESELA_GENERAL;
}

static tesela_status structured_check_square(const tsl_option_structure *is, const tsl_matrix_source *feed) {
  if (is->structure == TESELA_GENERAL || feed->rows == feed->cols)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT, "%s is %lld x %lld; only a square is symmetric, hermitian or triangular",
                  feed->path, (long long)feed->rows, (long long)feed->cols);
}

tesela_status tsl_product_check_structures(const tsl_product *product) {
  const tsl_product_request *request = &product->request;
  const tsl_type_info *type = tsl_type(product->type);
  const bool mixed = product->types.a != product->type || product->types.b != product->type;
  if (!tsl_product_is_structured(product))
    return TESELA_OK;
  if (request->a_is.structure != TESELA_GENERAL && request->b_is.structure != TESELA_GENERAL)
    return tsl_fail(TESELA_BAD_CALL, "--a-is and --b-is: one factor has a structure, the other is general");
  TSL_TRY(structured_check_square(&request->a_is, &product->a));
  TSL_TRY(structured_check_square(&request->b_is, &product->b));
  if (request->hermitian && !type->is_complex)
    return tsl_fail(TESELA_BAD_CALL,
                    "--hermitian is for complex products, but C is %s; use --symmetric for real products",
                    type->name);
  if (request->hermitian && (request->alpha[1] != 0 || request->beta[1] != 0))
    return tsl_fail(TESELA_BAD_CALL, "--alpha and --beta of a hermitian product are real");
  if (mixed || type->is_integer || tsl_type(type->component)->size < tsl_type(TESELA_F32)->size)
    return tsl_fail(TESELA_BAD_CALL,
                    "triangles are computed in one type, f32, f64, c64 or c128; say it with --type");
  return TESELA_OK;
}

tesela_status tsl_product_check_diagonal(const tsl_product *product) {
  const tsl_matrix_source *a = &product->a;
  if (product->request.op != TSL_OP_SOLVE || product->request.a_is.structure == TESELA_UNIT_TRIANGULAR)
    return TESELA_OK;
  for (int64_t i = 0; i < a->rows; i++) {
    double value[2] = {0, 0};
    tsl_type_load(a->as, a->data + (size_t)(i * a->cols + i) * tsl_type(a->as)->size, value);
    if (value[0] == 0 && value[1] == 0)
      return tsl_fail(TESELA_BAD_INPUT,
                      "%s has a 0 on its diagonal, at (%lld, %lld): such a triangle has no inverse", a->path,
                      (long long)i, (long long)i);
  }
  return TESELA_OK;
}

/* The upper triangle of n x n elements, row by row. */
static void structured_mirror(tesela_type type, bool conjugate, int64_t n, char *elements) {
  const size_t size = tsl_type(type)->size;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++) {
      double value[2] = {0, 0};
      tsl_type_load(type, elements + (size_t)(j * n + i) * size, value);
      if (conjugate)
        value[1] = -value[1];
      tsl_type_store(type, elements + (size_t)(i * n + j) * size, value);
    }
}

void tsl_product_mirror(tsl_product *product) {
  const tsl_product_request *request = &product->request;
  if (!request->by_itself)
    return;
  structured_mirror(product->type, request->hermitian, product->n, product->c);
  if (product->before)
    structured_mirror(product->type, request->hermitian, product->n, product->before);
}

/* --- in words --- */

static void add_one(const char *name, const tsl_option_structure *is, tsl_text *out) {
  if (is->structure == TESELA_GENERAL)
    return;
  tsl_text_add(out, ", %s ", name);
  tsl_structure_print(is->structure, is->triangle, out);
}

void tsl_product_add_structures(const tsl_product *product, tsl_text *out) {
  add_one("A", &product->request.a_is, out);
  add_one("B", &product->request.b_is, out);
  if (product->request.by_itself)
    tsl_text_add(out, ", by its lower triangle");
}

static json_t *structured_json_word(tesela_structure structure, tesela_triangle triangle) {
  tsl_text word = {0};
  tsl_structure_print(structure, triangle, &word);
  json_t *object = word.length > 0 ? json_string(tsl_text_get(&word)) : json_null();
  tsl_text_free(&word);
  return object;
}

void tsl_product_json_structures(const tsl_product *product, json_t *object) {
  const tsl_product_request *request = &product->request;
  json_object_set_new(object, "a_is", structured_json_word(request->a_is.structure, request->a_is.triangle));
  if (request->op == TSL_OP_SOLVE)
    return;
  json_object_set_new(object, "b_is", structured_json_word(request->b_is.structure, request->b_is.triangle));
  json_object_set_new(object, "c_is",
                      structured_json_word(product->whole.c.structure, product->whole.c.triangle));
}

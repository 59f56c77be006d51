/* Calls of the library on operands that Python has looked at: products, batches, dots, transposes, plans. */
#include "arrays.h"

#include <memory>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <tuple>

namespace core {

using Text = std::optional<std::string>;

static const char *or_null(const Text &text) {
  return text ? text->c_str() : nullptr;
}

/* A matrix inside of a view: `offset` elements from its data. */
struct Operand {
  void *data;
  tesela_type type;
  int64_t row_stride, col_stride;
  bool conjugate;
};

static Operand operand(const View &view, int64_t offset, int64_t row_stride, int64_t col_stride,
                       bool conjugate) {
  if (view.copy || !view.type || view.device_type == 0)
    throw nb::value_error("a view that tesela cannot read");
  char *data = view.data;
  return {data ? data + offset * static_cast<int64_t>(type_size(view.type)) : data, view.type, row_stride,
          col_stride, conjugate};
}

static tesela_matrix as_matrix(const Operand &operand) {
  tesela_matrix matrix{};
  matrix.data = operand.data;
  set_strides(operand.row_stride, operand.col_stride, &matrix);
  matrix.type = operand.type;
  matrix.conjugate = operand.conjugate;
  return matrix;
}

static tesela_result as_result(const Operand &operand) {
  tesela_result result{};
  result.data = operand.data;
  set_strides(operand.row_stride, operand.col_stride, &result);
  result.type = operand.type;
  return result;
}

static tesela_vector as_vector(const Operand &operand) {
  tesela_vector vector{};
  vector.data = operand.data;
  vector.stride = operand.row_stride;
  vector.type = operand.type;
  return vector;
}

static tesela_scalar as_scalar(const Operand &operand) {
  tesela_scalar scalar{};
  scalar.data = operand.data;
  scalar.type = operand.type;
  return scalar;
}

/* Calls the library while other threads run Python; what fails is raised. */
template <class Call>
static void unlocked(const Call &call) {
  tesela_status status;
  {
    nb::gil_scoped_release others_run;
    status = call();
  }
  check(status);
}

/* Likewise of a call that fills in a record, and returns what that holds. */
template <class Call>
static nb::object recorded(const Call &call) {
  tesela_record record{};
  unlocked([&] { return call(&record); });
  return info_of(record);
}

template <class Desc>
static void demand(Desc *desc, const Ask &ask) {
  desc->accuracy = ask.accuracy_or_null();
  desc->bits = ask.bits_or_null();
  desc->measure_error = ask.measure_error;
}

/* What a product is, in the struct and behind its pointers. */
struct Described {
  tesela_gemm_desc desc{};
  Scalar alpha, beta;
  Text device, strategy;
  Ask ask;

  Described(int64_t m, int64_t n, int64_t k, const Operand &a, const Operand &b, const Operand &c, Scalar alpha_, Scalar beta_,
            Text device_, Text strategy_, Ask ask_)
      : alpha(alpha_), beta(beta_), device(std::move(device_)), strategy(std::move(strategy_)),
        ask(std::move(ask_)) {
    desc.m = m;
    desc.n = n;
    desc.k = k;
    desc.a = as_matrix(a);
    desc.b = as_matrix(b);
    desc.c = as_result(c);
    desc.alpha = reinterpret_cast<const double *>(&alpha);
    desc.beta = reinterpret_cast<const double *>(&beta);
    desc.device = or_null(device);
    desc.strategy = or_null(strategy);
    demand(&desc, ask);
  }
  Described(const Described &) = delete;
};

/* Products that differ, each as `operands`, but for what they have in common. */
using Member = std::tuple<int64_t, int64_t, int64_t, Operand, Operand, Operand>;
static nb::object multiply_grouped(const std::vector<Member> &members, Scalar alpha, Scalar beta, Text device,
                                  Text strategy, const Ask &ask) {
  std::vector<std::unique_ptr<Described>> products;
  std::vector<tesela_gemm_desc> descs;
  for (const auto &[m, n, k, a, b, c] : members) {
    products.push_back(std::make_unique<Described>(m, n, k, a, b, c, alpha, beta, device, strategy, ask));
    descs.push_back(products.back()->desc);
  }
  tesela_context *const where = open();
  const int64_t count = static_cast<int64_t>(descs.size());
  return recorded([&](tesela_record *record) {
    return tesela_gemm_grouped(where, descs.data(), nullptr, count, record);
  });
}

/* One product with structures. `shapes` has the structure and the triangle of A, of B and of C, as the operands lie, by the header's
 * numbers. In place, the general factor is none. */
static nb::object multiply_structured(int64_t m, int64_t n, int64_t k, std::optional<Operand> a,
                                     std::optional<Operand> b, Operand c, Scalar alpha, Scalar beta,
                                     std::vector<int> shapes, Text device, Text strategy, const Ask &ask) {
  const Operand nothing{nullptr, TESELA_TYPE_DEFAULT, 0, 0, false};
  Described product(m, n, k, a.value_or(nothing), b.value_or(nothing), c, alpha, beta, device, strategy, ask);
  product.desc.a_structure = static_cast<tesela_structure>(shapes.at(0));
  product.desc.a_triangle = static_cast<tesela_triangle>(shapes.at(1));
  product.desc.b_structure = static_cast<tesela_structure>(shapes.at(2));
  product.desc.b_triangle = static_cast<tesela_triangle>(shapes.at(3));
  product.desc.c_structure = static_cast<tesela_structure>(shapes.at(4));
  product.desc.c_triangle = static_cast<tesela_triangle>(shapes.at(5));
  product.desc.in_place = !a || !b;
  tesela_context *const where = open();
  return recorded([&](tesela_record *record) { return tesela_gemm(where, &product.desc, record); });
}

/* One solve; without b in place. */
static nb::object solve(int64_t rows, int64_t cols, Operand a, int structure, int triangle, bool right,
                       std::optional<Operand> b, Operand x, Scalar alpha, Text device, Text strategy,
                       const Ask &ask) {
  tesela_solve_desc desc{};
  desc.rows = rows;
  desc.cols = cols;
  desc.a = as_matrix(a);
  desc.structure = static_cast<tesela_structure>(structure);
  desc.triangle = static_cast<tesela_triangle>(triangle);
  desc.right = right;
  if (b)
    desc.b = as_matrix(*b);
  desc.x = as_result(x);
  desc.in_place = !b;
  desc.alpha = reinterpret_cast<const double *>(&alpha);
  desc.device = or_null(device);
  desc.strategy = or_null(strategy);
  desc.accuracy = ask.accuracy_or_null();
  desc.bits = ask.bits_or_null();
  tesela_context *const where = open();
  return recorded([&](tesela_record *record) { return tesela_solve(where, &desc, record); });
}

static nb::object dot(int64_t n, Operand x, Operand y, Operand result, Scalar alpha, Scalar beta, Text device,
                     Text strategy, const Ask &ask) {
  tesela_dot_desc desc{};
  desc.n = n;
  desc.x = as_vector(x);
  desc.y = as_vector(y);
  desc.result = as_scalar(result);
  desc.alpha = reinterpret_cast<const double *>(&alpha);
  desc.beta = reinterpret_cast<const double *>(&beta);
  desc.device = or_null(device);
  desc.strategy = or_null(strategy);
  demand(&desc, ask);
  tesela_context *const where = open();
  return recorded([&](tesela_record *record) { return tesela_dot(where, &desc, record); });
}

static nb::object transpose(int64_t rows, int64_t cols, Operand a, Operand b, bool in_place, Scalar alpha,
                           Text device, Text strategy, const Ask &ask) {
  tesela_transpose_desc desc{};
  desc.rows = rows;
  desc.cols = cols;
  if (!in_place)
    desc.a = as_matrix(a);
  desc.b = as_result(b);
  desc.in_place = in_place;
  desc.alpha = reinterpret_cast<const double *>(&alpha);
  desc.device = or_null(device);
  desc.strategy = or_null(strategy);
  demand(&desc, ask);
  tesela_context *const where = open();
  return recorded([&](tesela_record *record) { return tesela_transpose(where, &desc, record); });
}

void bind_calls(nb::module_ &module) {
  nb::class_<Operand>(module, "Operand");
  nb::class_<Ask>(module, "Ask")
      .def("__init__",
           [](Ask *made, const std::string &accuracy, const std::string &bits, uint64_t measure_error) {
             new (made) Ask{accuracy, bits, measure_error};
           })
      .def_ro("measure_error", &Ask::measure_error);
  module.def("operand", &operand);
  module.def("multiply_grouped", &multiply_grouped);
  module.def("multiply_structured", &multiply_structured, nb::arg("m"), nb::arg("n"), nb::arg("k"),
             nb::arg("a").none(), nb::arg("b").none(), nb::arg("c"), nb::arg("alpha"), nb::arg("beta"),
             nb::arg("shapes"), nb::arg("device").none(), nb::arg("strategy").none(), nb::arg("ask"));
  module.def("solve", &solve, nb::arg("rows"), nb::arg("cols"), nb::arg("a"), nb::arg("structure"),
             nb::arg("triangle"), nb::arg("right"), nb::arg("b").none(), nb::arg("x"), nb::arg("alpha"),
             nb::arg("device").none(), nb::arg("strategy").none(), nb::arg("ask"));
  module.def("dot", &dot);
  module.def("transpose", &transpose);
}

} // namespace core

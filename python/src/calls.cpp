/* Calls of the library on operands that Python has looked at: products, batches, dots, transposes, plans. */
#include "core.h"

#include <complex>
#include <memory>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <tuple>

namespace core {

using Scalar = std::complex<double>;
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
  if (!view.copy.empty() || !view.type || view.device_type == 0)
    throw nb::value_error("a view that tesela cannot read");
  char *data = static_cast<char *>(view.data);
  return {data ? data + offset * static_cast<int64_t>(type_size(view.type)) : data, view.type, row_stride,
          col_stride, conjugate};
}

/* What a plan knows of an operand. */
static Operand no_operand(int type, int64_t row_stride, int64_t col_stride, bool conjugate) {
  return {nullptr, static_cast<tesela_type>(type), row_stride, col_stride, conjugate};
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

/* What a product ends with. */
struct Finish {
  std::optional<Operand> bias;
  tesela_along along;
  tesela_activation activation;
  std::optional<Operand> scale_a;
  tesela_scaling scaling_a;
  std::optional<Operand> scale_b;
  tesela_scaling scaling_b;

  tesela_finish vectors() const {
    tesela_finish made{};
    if (bias)
      made.bias = as_vector(*bias);
    if (scale_a)
      made.scale_a = as_vector(*scale_a);
    if (scale_b)
      made.scale_b = as_vector(*scale_b);
    return made;
  }

  void add_to(tesela_gemm_desc *desc) const {
    const tesela_finish all = vectors();
    desc->bias = all.bias;
    desc->bias_along = along;
    desc->activation = activation;
    desc->scale_a = all.scale_a;
    desc->scaling_a = scaling_a;
    desc->scale_b = all.scale_b;
    desc->scaling_b = scaling_b;
  }
};

/* By the header's numbers. */
static Finish finish(std::optional<Operand> bias, int along, int activation, std::optional<Operand> scale_a,
                     int scaling_a, std::optional<Operand> scale_b, int scaling_b) {
  return {bias,
          static_cast<tesela_along>(along),
          static_cast<tesela_activation>(activation),
          scale_a,
          static_cast<tesela_scaling>(scaling_a),
          scale_b,
          static_cast<tesela_scaling>(scaling_b)};
}

/* (plan, seconds, of which: allocation, copies in, computation, copies out; error bound, flushed below; error measured, rows, columns,
 * seconds of that) */
nb::tuple tuple_of(const tesela_record &record) {
  return nb::make_tuple(record.plan ? record.plan : "", record.seconds, record.seconds_allocate,
                        record.seconds_copy_in, record.seconds_compute, record.seconds_copy_out,
                        record.error_bound, record.flushed_below, record.error_measured, record.measured_rows,
                        record.measured_cols, record.seconds_measure);
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
static nb::tuple recorded(const Call &call) {
  tesela_record record{};
  unlocked([&] { return call(&record); });
  return tuple_of(record);
}

template <class Desc>
static void demand(Desc *desc, const Ask &ask) {
  desc->accuracy = ask.accuracy_or_null();
  desc->bits = ask.bits_or_null();
  desc->measure_error = ask.measure_error;
}

/* What a product is, in the struct and behind its pointers. */
struct Product {
  tesela_gemm_desc desc{};
  Scalar alpha, beta;
  Text device, strategy;
  Ask ask;

  Product(int64_t m, int64_t n, int64_t k, const Operand &a, const Operand &b, const Operand &c,
          Scalar alpha_, Scalar beta_, Text device_, Text strategy_, Ask ask_, int64_t runs)
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
    desc.runs = runs;
    demand(&desc, ask);
  }
  Product(const Product &) = delete;
};

/* One product. */
static nb::tuple multiply(int64_t m, int64_t n, int64_t k, Operand a, Operand b, Operand c, Scalar alpha,
                          Scalar beta, Text device, Text strategy, const Ask &ask, const Finish &last) {
  Product product(m, n, k, a, b, c, alpha, beta, device, strategy, ask, 0);
  last.add_to(&product.desc);
  tesela_context *const where = open();
  return recorded([&](tesela_record *record) { return tesela_gemm(where, &product.desc, record); });
}

/* Products at the indices of `shape`, with operands so many elements apart along each of its dimensions. */
static nb::tuple multiply_many(int64_t m, int64_t n, int64_t k, Operand a, Operand b, Operand c, Scalar alpha,
                               Scalar beta, Text device, Text strategy, const Ask &ask, const Finish &last,
                               std::vector<int64_t> shape, std::vector<int64_t> a_steps,
                               std::vector<int64_t> b_steps, std::vector<int64_t> c_steps) {
  Product product(m, n, k, a, b, c, alpha, beta, device, strategy, ask, 0);
  last.add_to(&product.desc);
  tesela_batch batch{};
  std::vector<const void *> as, bs;
  std::vector<void *> cs;
  batch.count = 1;
  for (int64_t dim : shape)
    batch.count *= dim;
  if (shape.size() == 1) {
    batch.a_stride = a_steps[0];
    batch.b_stride = b_steps[0];
    batch.c_stride = c_steps[0];
  } else {
    const auto addresses = [&shape, &batch](const Operand &operand, const std::vector<int64_t> &steps,
                                            auto *list) {
      std::vector<int64_t> index(shape.size(), 0);
      const int64_t size = static_cast<int64_t>(type_size(operand.type));
      char *at = static_cast<char *>(operand.data);
      list->reserve(static_cast<size_t>(batch.count));
      for (int64_t i = 0; i < batch.count; i++) {
        list->push_back(at);
        for (size_t dim = shape.size(); dim-- > 0;) {
          at += steps[dim] * size;
          if (++index[dim] < shape[dim])
            break;
          at -= steps[dim] * size * shape[dim];
          index[dim] = 0;
        }
      }
    };
    addresses(a, a_steps, &as);
    addresses(b, b_steps, &bs);
    addresses(c, c_steps, &cs);
    batch.a = as.data();
    batch.b = bs.data();
    batch.c = cs.data();
    product.desc.a.data = product.desc.b.data = nullptr;
    product.desc.c.data = nullptr;
  }
  tesela_context *const where = open();
  return recorded(
      [&](tesela_record *record) { return tesela_gemm_batched(where, &product.desc, &batch, record); });
}

/* Products that differ, each as multiply() is given it, but for what they have in common. */
using Member = std::tuple<int64_t, int64_t, int64_t, Operand, Operand, Operand>;
static nb::tuple multiply_grouped(const std::vector<Member> &members, Scalar alpha, Scalar beta, Text device,
                                  Text strategy, const Ask &ask) {
  std::vector<std::unique_ptr<Product>> products;
  std::vector<tesela_gemm_desc> descs;
  for (const auto &[m, n, k, a, b, c] : members) {
    products.push_back(std::make_unique<Product>(m, n, k, a, b, c, alpha, beta, device, strategy, ask, 0));
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
static nb::tuple multiply_structured(int64_t m, int64_t n, int64_t k, std::optional<Operand> a,
                                     std::optional<Operand> b, Operand c, Scalar alpha, Scalar beta,
                                     std::vector<int> shapes, Text device, Text strategy, const Ask &ask) {
  const Operand nothing{nullptr, TESELA_TYPE_DEFAULT, 0, 0, false};
  Product product(m, n, k, a.value_or(nothing), b.value_or(nothing), c, alpha, beta, device, strategy, ask,
                  0);
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
static nb::tuple solve(int64_t rows, int64_t cols, Operand a, int structure, int triangle, bool right,
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

static nb::tuple dot(int64_t n, Operand x, Operand y, Operand result, Scalar alpha, Scalar beta, Text device,
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

static nb::tuple transpose(int64_t rows, int64_t cols, Operand a, Operand b, bool in_place, Scalar alpha,
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

/* A packed operand, and the plan that it was packed for. */
struct Packed {
  tesela_packed *packed = nullptr;
  Packed() = default;
  Packed(const Packed &) = delete;
  ~Packed() { tesela_packed_destroy(packed); }
};

struct Plan {
  tesela_plan *plan = nullptr;
  Plan() = default;
  Plan(const Plan &) = delete;
  ~Plan() { tesela_plan_destroy(plan); }
};

static std::unique_ptr<Plan> plan(int64_t m, int64_t n, int64_t k, Operand a, Operand b, Operand c,
                                  Scalar alpha, Scalar beta, Text device, Text strategy, const Ask &ask,
                                  const Finish &last, int64_t runs) {
  auto made = std::make_unique<Plan>();
  Product product(m, n, k, a, b, c, alpha, beta, device, strategy, ask, runs);
  last.add_to(&product.desc);
  tesela_context *const where = open();
  unlocked([&] { return tesela_plan_create(where, &product.desc, &made->plan); });
  return made;
}

using Given = std::optional<Operand>;

/* A or B of a run: packed before, or an operand. */
static tesela_matrix given(const Given &operand, const Packed *packed) {
  tesela_matrix matrix{};
  if (operand)
    matrix = as_matrix(*operand);
  if (packed)
    matrix = tesela_matrix{};
  matrix.packed = packed ? packed->packed : nullptr;
  return matrix;
}

static nb::tuple run(Plan &self, Given a, const Packed *packed_a, Given b, const Packed *packed_b, Operand c,
                     const Finish &last) {
  const tesela_matrix left = given(a, packed_a), right = given(b, packed_b);
  const tesela_result result = as_result(c);
  const tesela_finish vectors = last.vectors();
  return recorded([&](tesela_record *record) {
    return tesela_plan_run_finished(self.plan, &left, &right, &result, &vectors, record);
  });
}

static std::unique_ptr<Packed> pack(Plan &self, Given a, Given b) {
  auto made = std::make_unique<Packed>();
  const tesela_matrix left = given(a, nullptr), right = given(b, nullptr);
  unlocked([&] { return tesela_pack(self.plan, a ? &left : nullptr, b ? &right : nullptr, &made->packed); });
  return made;
}

void bind_calls(nb::module_ &module) {
  nb::class_<Operand>(module, "Operand");
  nb::class_<Ask>(module, "Ask")
      .def("__init__",
           [](Ask *made, const std::string &accuracy, const std::string &bits, uint64_t measure_error) {
             new (made) Ask{accuracy, bits, measure_error};
           })
      .def_ro("measure_error", &Ask::measure_error);
  nb::class_<Finish>(module, "Finish");
  module.def("finish", &finish, nb::arg("bias").none(), nb::arg("along"), nb::arg("activation"),
             nb::arg("scale_a").none(), nb::arg("scaling_a"), nb::arg("scale_b").none(),
             nb::arg("scaling_b"));
  nb::class_<Packed>(module, "Packed");
  nb::class_<Plan>(module, "Plan")
      .def("run", &run, nb::arg("a").none(), nb::arg("packed_a").none(), nb::arg("b").none(),
           nb::arg("packed_b").none(), nb::arg("c"), nb::arg("finish"))
      .def("pack", &pack, nb::arg("a").none(), nb::arg("b").none())
      .def_prop_ro("text", [](const Plan &self) { return tesela_plan_describe(self.plan); })
      .def_prop_ro("seconds", [](const Plan &self) { return tesela_plan_seconds(self.plan); });
  module.def("operand", &operand);
  module.def("no_operand", &no_operand);
  module.def("check_signals", [] {
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
  });
  module.def("multiply", &multiply);
  module.def("multiply_many", &multiply_many);
  module.def("multiply_grouped", &multiply_grouped);
  module.def("multiply_structured", &multiply_structured, nb::arg("m"), nb::arg("n"), nb::arg("k"),
             nb::arg("a").none(), nb::arg("b").none(), nb::arg("c"), nb::arg("alpha"), nb::arg("beta"),
             nb::arg("shapes"), nb::arg("device").none(), nb::arg("strategy").none(), nb::arg("ask"));
  module.def("solve", &solve, nb::arg("rows"), nb::arg("cols"), nb::arg("a"), nb::arg("structure"),
             nb::arg("triangle"), nb::arg("right"), nb::arg("b").none(), nb::arg("x"), nb::arg("alpha"),
             nb::arg("device").none(), nb::arg("strategy").none(), nb::arg("ask"));
  module.def("dot", &dot);
  module.def("transpose", &transpose);
  module.def("plan", &plan);
}

} // namespace core

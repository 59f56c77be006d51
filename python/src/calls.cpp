/* Calls of the library on operands that Python has looked at: products, batches, dots, transposes, plans. */
#include "core.h"

#include <complex>
#include <memory>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

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
  matrix.row_stride = operand.row_stride;
  matrix.col_stride = operand.col_stride;
  matrix.type = operand.type;
  matrix.conjugate = operand.conjugate;
  return matrix;
}

static tesela_result as_result(const Operand &operand) {
  tesela_result result{};
  result.data = operand.data;
  result.row_stride = operand.row_stride;
  result.col_stride = operand.col_stride;
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

/* (plan, seconds, of which: allocation, copies in, computation, copies out; error bound, flushed below; error measured, rows, columns,
 * seconds of that) */
nb::tuple tuple_of(const tesela_record &record) {
  return nb::make_tuple(record.plan ? record.plan : "", record.seconds, record.seconds_allocate,
                        record.seconds_copy_in, record.seconds_compute, record.seconds_copy_out,
                        record.error_bound, record.flushed_below, record.error_measured, record.measured_rows,
                        record.measured_cols, record.seconds_measure);
}

static tesela_context *open() {
  tesela_context *const where = context();
  if (!where)
    throw nb::python_error();
  return where;
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
                          Scalar beta, Text device, Text strategy, const Ask &ask) {
  const Product product(m, n, k, a, b, c, alpha, beta, device, strategy, ask, 0);
  tesela_context *const where = open();
  tesela_record record{};
  tesela_status status;
  {
    nb::gil_scoped_release others_run;
    status = tesela_gemm(where, &product.desc, &record);
  }
  check(status);
  return tuple_of(record);
}

/* Products at the indices of `shape`, with operands so many elements apart along each of its dimensions. */
static nb::tuple multiply_many(int64_t m, int64_t n, int64_t k, Operand a, Operand b, Operand c, Scalar alpha,
                               Scalar beta, Text device, Text strategy, const Ask &ask,
                               std::vector<int64_t> shape, std::vector<int64_t> a_steps,
                               std::vector<int64_t> b_steps, std::vector<int64_t> c_steps) {
  Product product(m, n, k, a, b, c, alpha, beta, device, strategy, ask, 0);
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
  tesela_record record{};
  tesela_status status;
  {
    nb::gil_scoped_release others_run;
    status = tesela_gemm_batched(where, &product.desc, &batch, &record);
  }
  check(status);
  return tuple_of(record);
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
  tesela_record record{};
  tesela_status status;
  {
    nb::gil_scoped_release others_run;
    status = tesela_dot(where, &desc, &record);
  }
  check(status);
  return tuple_of(record);
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
  tesela_record record{};
  tesela_status status;
  {
    nb::gil_scoped_release others_run;
    status = tesela_transpose(where, &desc, &record);
  }
  check(status);
  return tuple_of(record);
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
                                  int64_t runs) {
  auto made = std::make_unique<Plan>();
  const Product product(m, n, k, a, b, c, alpha, beta, device, strategy, ask, runs);
  tesela_context *const where = open();
  tesela_status status;
  {
    nb::gil_scoped_release others_run; /* kernels may have to be compiled */
    status = tesela_plan_create(where, &product.desc, &made->plan);
  }
  check(status);
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

static nb::tuple run(Plan &self, Given a, const Packed *packed_a, Given b, const Packed *packed_b,
                     Operand c) {
  const tesela_matrix left = given(a, packed_a), right = given(b, packed_b);
  const tesela_result result = as_result(c);
  tesela_record record{};
  tesela_status status;
  {
    nb::gil_scoped_release others_run;
    status = tesela_plan_run(self.plan, &left, &right, &result, &record);
  }
  check(status);
  return tuple_of(record);
}

static std::unique_ptr<Packed> pack(Plan &self, Given a, Given b) {
  auto made = std::make_unique<Packed>();
  const tesela_matrix left = given(a, nullptr), right = given(b, nullptr);
  tesela_status status;
  {
    nb::gil_scoped_release others_run;
    status = tesela_pack(self.plan, a ? &left : nullptr, b ? &right : nullptr, &made->packed);
  }
  check(status);
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
  nb::class_<Packed>(module, "Packed");
  nb::class_<Plan>(module, "Plan")
      .def("run", &run, nb::arg("a").none(), nb::arg("packed_a").none(), nb::arg("b").none(),
           nb::arg("packed_b").none(), nb::arg("c"))
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
  module.def("dot", &dot);
  module.def("transpose", &transpose);
  module.def("plan", &plan);
}

} // namespace core

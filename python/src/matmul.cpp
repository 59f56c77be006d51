/* tesela.matmul and tesela.gemm: one path for all keywords, types, dimensions and libraries. */
#include "documentation.h"
#include "product.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <nanobind/stl/string.h>
#include <sstream>

namespace core {

/* Limits for long products on the host, which run in pieces so that Ctrl-C can end them. A product is
 * long if it has more than `min_work` multiplications and takes longer than two pieces of `seconds`. */
static struct {
  int64_t min_work;
  double seconds;
} pieces = {INT64_C(1) << 31, 0.25};

static FromPython is_main_thread("tesela._problem", "is_main_thread"),
    handle_of("tesela._libraries", "handle_of"), copy_into("tesela._libraries", "copy_into");

/* Keywords of matmul and gemm. */
static constexpr uint32_t COMMON = bit(A) | bit(B) | bit(OUT) | bit(ALPHA) | bit(BETA) | bit(DTYPE) |
                                   bit(DEVICE) | bit(STRATEGY) | bit(STREAM) | bit(ACCURACY) | bit(BITS) |
                                   bit(MEASURE_ERROR) | bit(VERIFY) | bit(FULL_OUTPUT) | bit(BIAS) |
                                   bit(ACTIVATION) | bit(SCALE_A) | bit(SCALE_B);
static constexpr Function matmul_function = {"matmul", COMMON, 3, {A, B, OUT}, 2};
static constexpr Function gemm_function = {
    "gemm", COMMON | bit(C) | bit(TRANS_A) | bit(TRANS_B), 3, {A, B, C}, 2};

void Product::read(const Arguments &arguments, tesela_type kind) {
  alpha = scalar(arguments[ALPHA], kind, "alpha", 1);
  beta = scalar(arguments[BETA], kind, "beta", 0);
  device = text_of(arguments[DEVICE], "device");
  strategy = text_of(arguments[STRATEGY], "strategy");
  stream = arguments[STREAM];
  if (arguments[ACCURACY] || arguments[BITS] || arguments[MEASURE_ERROR] || arguments[VERIFY])
    ask = ask_of(arguments);
}

void Product::describe(tesela_gemm_desc *desc, tesela_epilogue *epilogue, int64_t row) const {
  desc->m = m - row;
  desc->n = n;
  desc->k = k;
  set_matrix(a, a_lies, row, &desc->a);
  set_matrix(b, b_lies, 0, &desc->b);
  desc->c.data = const_cast<char *>(at_row(c, row * c_lies.row_stride));
  set_strides(c_lies.row_stride, c_lies.col_stride, &desc->c);
  desc->c.type = c.at.type;
  desc->alpha = reinterpret_cast<const double *>(&alpha);
  desc->beta = reinterpret_cast<const double *>(&beta);
  desc->options.device = device;
  desc->options.strategy = strategy;
  desc->options.accuracy = ask.accuracy_or_null();
  desc->options.reproducibility = ask.bits_or_null();
  desc->options.measure_error = ask.measure_error;
  desc->options.verify = ask.verify_or_null();
  if (finish.is_empty())
    return;
  desc->epilogue = epilogue;
  epilogue->bias = vector_of(finish.bias);
  epilogue->bias_axis = finish.along;
  epilogue->activation = finish.activation;
  epilogue->scale_a = vector_of(finish.scale_a);
  epilogue->scaling_a = finish.scaling_a;
  epilogue->scale_b = vector_of(finish.scale_b);
  epilogue->scaling_b = finish.scaling_b;
  if (row && finish.along == TESELA_BIAS_COLUMN)
    epilogue->bias.data = at_row(finish.bias.array, row * finish.bias.stride);
  if (row && finish.scaling_a == TESELA_SCALE_LINES)
    epilogue->scale_a.data = at_row(finish.scale_a.array, row * finish.scale_a.stride);
}

/* Returns m n k of one product, at most INT64_MAX. */
static int64_t work_of(const Product &product) {
  int64_t area, work;
  return __builtin_mul_overflow(product.m, product.n, &area) || __builtin_mul_overflow(area, product.k, &work)
             ? INT64_MAX
             : work;
}

bool Product::is_short() const {
  int64_t work = work_of(*this);
  for (int i = 0; i < dims; i++)
    if (__builtin_mul_overflow(work, batch[i], &work))
      return false;
  return work <= ALONE && !device && !strategy && ask.accuracy.empty() && ask.bits.empty() &&
         !ask.measure_error && ask.verify.empty();
}

/* --- batches --- */

/* Merges dimensions of a batch that continue each other. */
static void merge(Product *product) {
  Matrices *const operands[] = {&product->a_lies, &product->b_lies, &product->c_lies};
  int count = 0;
  for (int i = 0; i < product->dims; i++) {
    const int64_t dim = product->batch[i];
    if (dim == 1)
      continue;
    const bool goes_on =
        count > 0 && std::all_of(std::begin(operands), std::end(operands), [&](const Matrices *each) {
          return each->steps[count - 1] == each->steps[i] * dim;
        });
    product->batch[goes_on ? count - 1 : count] = goes_on ? product->batch[count - 1] * dim : dim;
    for (Matrices *each : operands)
      each->steps[goes_on ? count - 1 : count] = each->steps[i];
    count += !goes_on;
  }
  product->dims = count;
}

/* Joins the matrices A of a batch into one matrix if they are contiguous in rows and share one B. */
static void join(Product *product) {
  Matrices *const a = &product->a_lies, *const c = &product->c_lies;
  const int64_t m = product->m;
  const Finish &finish = product->finish;
  if (product->dims != 1 || product->b_lies.steps[0] != 0 || finish.along == TESELA_BIAS_COLUMN ||
      finish.scaling_a == TESELA_SCALE_LINES || (m > 1 && a->steps[0] != m * a->row_stride) ||
      (m > 1 && c->steps[0] != m * c->row_stride))
    return;
  const int64_t rows = product->batch[0] * m, a_row = m == 1 ? a->steps[0] : a->row_stride;
  if (a_row == 0)
    return;
  a->row_stride = a_row;
  c->row_stride = m == 1 ? c->steps[0] : c->row_stride;
  product->m = rows;
  product->dims = 0;
}

static tesela_status multiply_batch(tesela_context *where, const Product &product, tesela_record *record) {
  tesela_gemm_desc desc{};
  tesela_epilogue epilogue{};
  tesela_batch batch{};
  std::vector<const void *> as, bs;
  std::vector<void *> cs;
  product.describe(&desc, &epilogue);
  batch.count = 1;
  for (int i = 0; i < product.dims; i++)
    batch.count *= product.batch[i];
  if (product.dims == 1) {
    batch.a_stride = product.a_lies.steps[0];
    batch.b_stride = product.b_lies.steps[0];
    batch.c_stride = product.c_lies.steps[0];
  } else {
    for_each_product(product, product.dims, [&](int64_t a, int64_t b, int64_t c) {
      as.push_back(at_row(product.a, a));
      bs.push_back(at_row(product.b, b));
      cs.push_back(const_cast<char *>(at_row(product.c, c)));
    });
    batch.a = as.data();
    batch.b = bs.data();
    batch.c = cs.data();
    desc.a.data = desc.b.data = nullptr;
    desc.c.data = nullptr;
  }
  return tesela_gemm_batched(where, &desc, &batch, record);
}

tesela_status compute_at_once(tesela_context *where, const Product &product, tesela_record *record) {
  if (product.dims > 0)
    return multiply_batch(where, product, record);
  tesela_gemm_desc desc{};
  tesela_epilogue epilogue{};
  product.describe(&desc, &epilogue);
  return tesela_gemm(where, &desc, record);
}

/* --- long products --- */

struct PlanKeeper {
  tesela_plan *plan = nullptr;
  ~PlanKeeper() { tesela_plan_destroy(plan); }
};

/* Writes the strategy of a plan on the cpu, with its parameters. Returns false if the plan is for
 * another device. */
static bool strategy_of(const char *plan, std::string *strategy) {
  std::istringstream words(plan);
  std::string word;
  words >> word;
  while (words >> word) {
    if (word == "device=cpu")
      return true;
    if (word.compare(0, 8, "version=") != 0)
      *strategy += (strategy->empty() ? "" : " ") + word;
  }
  return false;
}

static void add_to(tesela_record *total, const tesela_record &piece) {
  total->seconds += piece.seconds;
  total->seconds_allocate += piece.seconds_allocate;
  total->seconds_copy_in += piece.seconds_copy_in;
  total->seconds_compute += piece.seconds_compute;
  total->seconds_copy_out += piece.seconds_copy_out;
  total->seconds_measure += piece.seconds_measure;
  total->measured_rows += piece.measured_rows;
  total->error_measured = std::max(total->error_measured, piece.error_measured);
  total->verified += piece.verified;
  total->unverified += piece.unverified;
  total->hidden_error = std::max(total->hidden_error, piece.hidden_error);
  total->seconds_verify += piece.seconds_verify;
}

/* Computes a long product on the cpu in pieces of rows of C. All pieces use the whole product's
 * strategy, so the bits are equal. Returns false if the product is short or not on the cpu. */
static bool multiply_in_pieces(tesela_context *where, const Product &product, tesela_record *record) {
  static thread_local std::string text; /* text of the last plan, to which a record points */
  if (work_of(product) < pieces.min_work || !nb::cast<bool>(is_main_thread.get()()))
    return false;
  PlanKeeper keeper;
  tesela_gemm_desc desc{};
  tesela_epilogue epilogue{};
  std::string strategy;
  product.describe(&desc, &epilogue);
  check(call_library(false, [&] { return tesela_plan_create(where, &desc, &keeper.plan); }));
  const double seconds = tesela_plan_seconds(keeper.plan);
  if (seconds < 2 * pieces.seconds || !strategy_of(tesela_plan_describe(keeper.plan), &strategy))
    return false;
  const double parts = std::ceil(seconds / pieces.seconds);
  int64_t height =
      std::max<int64_t>(1, static_cast<int64_t>(std::ceil(static_cast<double>(product.m) / parts)));
  if (height > 64)
    height = (height + 63) / 64 * 64;
  tesela_record total{};
  for (int64_t row = 0; row < product.m; row += height) {
    tesela_record piece{};
    tesela_gemm_desc part{};
    product.describe(&part, &epilogue, row);
    part.m = std::min(height, product.m - row);
    part.options.device = "cpu";
    part.options.strategy = strategy.c_str();
    check(call_library(false, [&] { return tesela_gemm(where, &part, &piece); }));
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
    if (row == 0)
      total = piece;
    else
      add_to(&total, piece);
  }
  text = tesela_plan_describe(keeper.plan);
  total.plan = text.c_str();
  if (record)
    *record = total;
  return true;
}

static void compute_on_host(const Product &product, tesela_record *record) {
  tesela_context *const where = open();
  if (product.stream)
    raise(PyExc_ValueError, "stream is for arrays on a device; these are on the host");
  if (product.dims > 0 || work_of(product) < pieces.min_work || !multiply_in_pieces(where, product, record))
    check(call_library(product.is_short(), [&] { return compute_at_once(where, product, record); }));
}

/* --- memory on a device --- */

static DeviceMatrix device_matrix(const Array &array, const Matrices &lies, int64_t rows, int64_t cols,
                                  int64_t index) {
  return {const_cast<char *>(at_row(array, index)),
          array.at.type,
          rows,
          cols,
          lies.row_stride,
          lies.col_stride,
          lies.conjugate};
}

static DeviceMatrix device_line(const Line &line) {
  if (!line.is_given)
    return {};
  return {line.array.at.data, line.array.at.type, line.length, 1, line.stride, 1, false};
}

DeviceProduct Product::on_device(int64_t a_at, int64_t b_at, int64_t c_at) const {
  DeviceProduct made{};
  made.m = m;
  made.n = n;
  made.k = k;
  made.device_id = a.at.device_id;
  made.a = device_matrix(a, a_lies, m, k, a_at);
  made.b = device_matrix(b, b_lies, k, n, b_at);
  made.c = device_matrix(c, c_lies, m, n, c_at);
  made.alpha = alpha;
  made.beta = beta;
  made.strategy = strategy;
  made.ask = ask;
  made.bias = device_line(finish.bias);
  made.bias_axis = finish.along;
  made.activation = finish.activation;
  made.scale_a = device_line(finish.scale_a);
  made.scaling_a = finish.scaling_a;
  made.scale_b = device_line(finish.scale_b);
  made.scaling_b = finish.scaling_b;
  return made;
}

void compute_on_device(const Product &product, tesela_record *record) {
  static thread_local std::string text; /* text of the last plan, to which a record points */
  const std::string own = "cuda:" + std::to_string(product.a.at.device_id);
  const char *const device = product.device;
  if (device && strcmp(device, "cuda") != 0 && strcmp(device, "auto") != 0 && own != device)
    raise(PyExc_ValueError, "the arrays are on %s, and device is %s: arrays on a device are computed there",
          own.c_str(), device);
  uintptr_t stream = 0;
  const bool is_current = !product.stream && stream_of_tensor(product.a, &stream);
  bool has_stream = is_current;
  if (!is_current) {
    nb::object handle =
        handle_of.get()(nb::handle(product.stream ? product.stream : Py_None), seen_of(product.a));
    has_stream = !handle.is_none();
    stream = has_stream ? nb::cast<uintptr_t>(handle) : 0;
  }
  const auto begin = std::chrono::steady_clock::now();
  tesela_record total{};
  for_each_queued(product, [&](DeviceProduct &queued) {
    tesela_record one{};
    if (is_current)
      queued.new_workspace = new_tensor_memory;
    text = enqueue(queued, has_stream, stream, &one);
    if (one.plan && (product.ask.measure_error || !product.ask.verify.empty())) {
      add_to(&total, one);
      total.measured_cols = one.measured_cols;
      total.error_bound = std::max(total.error_bound, one.error_bound);
    }
  });
  if (!total.measured_cols && !total.verified)
    total.error_bound = NAN;
  total.seconds_allocate = total.seconds_copy_in = total.seconds_compute = total.seconds_copy_out = 0;
  total.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  total.plan = text.c_str();
  if (record)
    *record = total;
}

void simplify(Product *product) {
  if (product->dims > 0) {
    merge(product);
    join(product);
  }
}

void compute(Product *product, tesela_record *record) {
  if (product->m == 0 || product->n == 0)
    return;
  for (int i = 0; i < product->dims; i++)
    if (product->batch[i] == 0)
      return;
  simplify(product);
  if (product->a.at.on_host())
    compute_on_host(*product, record);
  else
    compute_on_device(*product, record);
}

/* --- matmul --- */

/* Broadcasts the dimensions in front of matrices, as NumPy does. Returns their number. */
static int broadcast(const Array &a, const Array &b, int64_t *batch) {
  const int a_dims = std::max(0, a.at.ndim - 2), b_dims = std::max(0, b.at.ndim - 2),
            dims = std::max(a_dims, b_dims);
  for (int i = 0; i < dims; i++) {
    const int in_a = i - (dims - a_dims), in_b = i - (dims - b_dims);
    const int64_t one = in_a < 0 ? 1 : a.at.shape[in_a], other = in_b < 0 ? 1 : b.at.shape[in_b];
    if (one != other && one != 1 && other != 1)
      raise(PyExc_ValueError, "a is %S and b is %S: dimensions before the last two do not broadcast",
            tuple_of_shape(a.at.ndim, a.at.shape).ptr(), tuple_of_shape(b.at.ndim, b.at.shape).ptr());
    batch[i] = one == 1 ? other : one;
  }
  return dims;
}

static void check_no_scalar(const Array &array) {
  if (array.at.ndim == 0)
    raise(PyExc_ValueError,
          "%s is a scalar: matmul takes arrays of one dimension or more, and * multiplies by a scalar",
          array.name);
}

static const Array *or_null(const Line &line) {
  return line.is_given ? &line.array : nullptr;
}

/* Raises unless the result can be written to `out`. */
static void check_result(const Product &product, int ndim, const int64_t *shape) {
  const Finish &finish = product.finish;
  const Array *const inputs[] = {&product.a, &product.b, or_null(finish.bias), or_null(finish.scale_a),
                                 or_null(finish.scale_b)};
  check_place(product.a, product.c);
  check_out(product.c, ndim, shape, inputs, 5);
}

static PyObject *multiply(const Arguments &arguments) {
  Product p;
  const bool has_out = arguments[OUT] != nullptr, with_info = is_true(arguments[FULL_OUTPUT]);
  see(arguments[A], "a", &p.a);
  see(arguments[B], "b", &p.b);
  check_no_scalar(p.a);
  check_no_scalar(p.b);
  check_place(p.a, p.b);
  if (has_out)
    see_out(arguments[OUT], &p.c);
  const tesela_type kind = result_type(&p.a, &p.b, arguments[DTYPE], has_out ? &p.c : nullptr,
                                       arguments[SCALE_A] || arguments[SCALE_B]);
  p.read(arguments, kind);
  if (p.beta != 0.0 && !has_out)
    raise(PyExc_ValueError, "beta is the factor of out, but out is not given");
  const Lies &a = p.a.at, &b = p.b.at;
  const bool a_is_line = a.ndim == 1, b_is_line = b.ndim == 1;
  p.m = a_is_line ? 1 : a.shape[a.ndim - 2];
  p.k = a.shape[a.ndim - 1];
  p.n = b_is_line ? 1 : b.shape[b.ndim - 1];
  const int64_t rows = b.shape[b_is_line ? 0 : b.ndim - 2];
  if (rows != p.k)
    raise(PyExc_ValueError, "a is %S and b is %S: %lld columns do not match %lld rows",
          tuple_of_shape(p.a.at.ndim, p.a.at.shape).ptr(), tuple_of_shape(p.b.at.ndim, p.b.at.shape).ptr(),
          static_cast<long long>(p.k), static_cast<long long>(rows));
  p.dims = broadcast(p.a, p.b, p.batch);
  read_finish(arguments, p.a, p.m, p.n, kind, b_is_line, &p.finish);
  int64_t shape[DIMS + 2];
  int ndim = p.dims;
  std::copy(p.batch, p.batch + p.dims, shape);
  if (!a_is_line)
    shape[ndim++] = p.m;
  if (!b_is_line)
    shape[ndim++] = p.n;
  nb::object result;
  if (has_out) {
    check_result(p, ndim, shape);
    result = nb::borrow(arguments[OUT]);
  } else {
    result = new_result(p.a, kind, ndim, shape, &p.c);
  }
  const int64_t *const steps = p.c.at.strides;
  std::copy(steps, steps + p.dims, p.c_lies.steps);
  p.c_lies.conjugate = false;
  p.c_lies.row_stride = a_is_line ? p.n : steps[p.dims];
  p.c_lies.col_stride = b_is_line ? 1 : steps[p.dims + !a_is_line];
  normalize(p.m, p.n, &p.c_lies.row_stride, &p.c_lies.col_stride);
  lay_out(&p.a, p.dims, false, &p.a_lies);
  lay_out(&p.b, p.dims, true, &p.b_lies);
  tesela_record record;
  if (with_info)
    record = {};
  compute(&p, with_info ? &record : nullptr);
  return given_back(has_out ? std::move(result) : finished(p.a, std::move(result)), with_info, record);
}

/* Returns true if only a, b and out are given. */
static bool has_no_options(const Arguments &arguments) {
  for (int i = 0; i < WORDS; i++)
    if (i != A && i != B && i != OUT && arguments.at[i])
      return false;
  return true;
}

static PyObject *matmul(PyObject *, PyObject *const *objects, Py_ssize_t count, PyObject *names) {
  Arguments arguments;
  if (!read_arguments(matmul_function, objects, static_cast<size_t>(count), names, &arguments))
    return nullptr;
  if (has_no_options(arguments) && !is_numpy(arguments[A])) {
    bool is_done;
    PyObject *const tensor = multiply_tensors(arguments[A], arguments[B], arguments[OUT], &is_done);
    if (is_done)
      return tensor;
  }
  return guarded([&] { return multiply(arguments); });
}

/* --- gemm --- */

static PyObject *multiply_general(const Arguments &arguments) {
  Product p;
  Array added;
  PyObject *const addend = arguments[C];
  const bool has_out = arguments[OUT] != nullptr, with_info = is_true(arguments[FULL_OUTPUT]);
  see(arguments[A], "a", &p.a);
  see(arguments[B], "b", &p.b);
  check_place(p.a, p.b);
  if (has_out)
    see_out(arguments[OUT], &p.c);
  else if (addend)
    see(addend, "c", &added);
  /* A c of an impossible type is converted below and does not select the result's type. */
  const bool is_scaled = arguments[SCALE_A] || arguments[SCALE_B];
  const bool is_wish =
      !has_out && addend && !arguments[DTYPE] && is_possible(p.a, p.b, added.at.type, is_scaled);
  const tesela_type kind = result_type(&p.a, &p.b, arguments[DTYPE],
                                       has_out   ? &p.c
                                       : is_wish ? &added
                                                 : nullptr,
                                       is_scaled);
  int64_t rows;
  lay_out_op(&p.a, "gemm", letter_of(arguments[TRANS_A], "trans_a"), &p.m, &p.k, &p.a_lies);
  lay_out_op(&p.b, "gemm", letter_of(arguments[TRANS_B], "trans_b"), &rows, &p.n, &p.b_lies);
  if (rows != p.k)
    raise(PyExc_ValueError,
          "op(a) is (%lld, %lld) and op(b) is (%lld, %lld): %lld columns do not match %lld rows",
          static_cast<long long>(p.m), static_cast<long long>(p.k), static_cast<long long>(rows),
          static_cast<long long>(p.n), static_cast<long long>(p.k), static_cast<long long>(rows));
  p.read(arguments, kind);
  if (addend && !arguments[BETA])
    p.beta = 1;
  if (p.beta != 0.0 && !addend)
    raise(PyExc_ValueError, "beta is the factor of c, but c is not given");
  read_finish(arguments, p.a, p.m, p.n, kind, false, &p.finish);
  const int64_t shape[] = {p.m, p.n};
  nb::object result = has_out ? nb::borrow(arguments[OUT]) : new_result(p.a, kind, 2, shape, &p.c);
  if (has_out)
    check_result(p, 2, shape);
  if (addend && addend != arguments[OUT] && p.beta != 0.0)
    copy_into.get()(result, nb::handle(addend), dtype_name(kind));
  p.c_lies.row_stride = p.c.at.strides[0];
  p.c_lies.col_stride = p.c.at.strides[1];
  p.c_lies.conjugate = false;
  normalize(p.m, p.n, &p.c_lies.row_stride, &p.c_lies.col_stride);
  tesela_record record;
  if (with_info)
    record = {};
  compute(&p, with_info ? &record : nullptr);
  return given_back(has_out ? std::move(result) : finished(p.a, std::move(result)), with_info, record);
}

static PyObject *gemm(PyObject *, PyObject *const *objects, Py_ssize_t count, PyObject *names) {
  Arguments arguments;
  if (!read_arguments(gemm_function, objects, static_cast<size_t>(count), names, &arguments))
    return nullptr;
  return guarded([&] { return multiply_general(arguments); });
}

static nb::tuple set_pieces(int64_t min_work, double seconds) {
  nb::tuple before = nb::make_tuple(pieces.min_work, pieces.seconds);
  pieces = {min_work, seconds};
  return before;
}

void bind_matmul(nb::module_ &module) {
  define(module, "matmul", matmul, MATMUL_TEXT);
  define(module, "gemm", gemm, GEMM_TEXT);
  module.def("set_pieces", &set_pieces);
}

} // namespace core

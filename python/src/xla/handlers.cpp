/* Handlers of XLA's custom calls: products inside of compiled programs of JAX. Built where JAX's headers are;
 * the object code needs nothing of JAX. Buffers are dense and row-major. */
#include "../product.h"

#include <algorithm>
#include <cstring>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <stdexcept>
#include <string_view>
#include <xla/ffi/api/ffi.h>

namespace core {

namespace ffi = xla::ffi;

static constexpr struct {
  ffi::DataType from;
  tesela_type to;
} types[] = {{ffi::F64, TESELA_F64},     {ffi::F32, TESELA_F32},      {ffi::F16, TESELA_F16},
             {ffi::BF16, TESELA_BF16},   {ffi::S8, TESELA_I8},        {ffi::S32, TESELA_I32},
             {ffi::C64, TESELA_C64},     {ffi::C128, TESELA_C128},    {ffi::U8, TESELA_U8},
             {ffi::F8E5M2, TESELA_E5M2}, {ffi::F8E4M3FN, TESELA_E4M3}};

/* Place of a call: the host, or a stream of a CUDA device. */
struct Place {
  int device = -1; /* number of the CUDA device; -1: the host */
  void *stream = nullptr;
};

static ffi::Error error_of(tesela_status status) {
  ffi::ErrorCode code = ffi::ErrorCode::kInternal;
  if (status == TESELA_BAD_CALL || status == TESELA_BAD_INPUT)
    code = ffi::ErrorCode::kInvalidArgument;
  else if (status == TESELA_OUT_OF_MEMORY)
    code = ffi::ErrorCode::kResourceExhausted;
  else if (status == TESELA_UNSUPPORTED)
    code = ffi::ErrorCode::kUnimplemented;
  return ffi::Error(code, std::string("tesela: ") + tesela_last_error());
}

/* Calls a function that needs Python's lock, and converts its exception to an error. */
template <class Call>
static ffi::Error with_python(const Call &call) {
  nb::gil_scoped_acquire lock;
  try {
    call();
    return ffi::Error::Success();
  } catch (nb::python_error &error) {
    return ffi::Error(ffi::ErrorCode::kInternal, std::string("tesela: ") + nb::str(error.value()).c_str());
  } catch (std::exception &error) {
    return ffi::Error(ffi::ErrorCode::kInternal, std::string("tesela: ") + error.what());
  }
}

static ffi::Error open_context(tesela_context **where) {
  *where = known_context();
  return *where ? ffi::Error::Success() : with_python([&] { *where = open(); });
}

/* Fills an array from a buffer. */
static bool see_buffer(const ffi::AnyBuffer &buffer, const char *name, const Place &place, Array *array) {
  const auto dims = buffer.dimensions();
  const auto row = std::find_if(std::begin(types), std::end(types),
                                [&](const auto &each) { return each.from == buffer.element_type(); });
  if (row == std::end(types) || dims.size() > DIMS)
    return false;
  array->name = name;
  array->at.data = static_cast<char *>(buffer.untyped_data());
  array->at.type = row->to;
  array->at.device_type = place.device < 0 ? 1 : 2;
  array->at.device_id = std::max(place.device, 0);
  array->at.ndim = static_cast<int>(dims.size());
  int64_t stride = 1;
  for (int i = array->at.ndim; i-- > 0; stride *= dims[i]) {
    array->at.shape[i] = dims[i];
    array->at.strides[i] = stride;
  }
  return true;
}

static bool see_buffers(const ffi::AnyBuffer &a, const ffi::AnyBuffer &b, const ffi::AnyBuffer &c,
                        const Place &place, Product *product) {
  return see_buffer(a, "a", place, &product->a) && see_buffer(b, "b", place, &product->b) &&
         see_buffer(c, "out", place, &product->c);
}

static ffi::Error bad_call(const char *what) {
  return ffi::Error(ffi::ErrorCode::kInvalidArgument, std::string("tesela: ") + what);
}

/* Fills the layout of a stack of matrices, whose last two dimensions are exchanged if it is transposed. */
static void lay_out_stack(const Lies &at, bool is_transposed, Matrices *matrices, int64_t *rows,
                          int64_t *cols) {
  const int row = at.ndim - (is_transposed ? 1 : 2), col = at.ndim - (is_transposed ? 2 : 1);
  *rows = at.shape[row];
  *cols = at.shape[col];
  matrices->row_stride = at.strides[row];
  matrices->col_stride = at.strides[col];
  normalize(*rows, *cols, &matrices->row_stride, &matrices->col_stride);
  matrices->conjugate = false;
  for (int i = 0; i < at.ndim - 2; i++)
    matrices->steps[i] = at.shape[i] == 1 ? 0 : at.strides[i];
}

static void set_ask(Product *product, std::string_view accuracy, std::string_view bits) {
  product->ask.accuracy = accuracy;
  product->ask.bits = bits;
}

/* --- matmul --- */

/* Attributes of a call. */
struct Attributes {
  bool transpose_a, transpose_b;
  std::string_view accuracy, bits;
};

/* Completes a product whose arrays are known. Returns a message about wrong shapes; nullptr: none. */
static const char *set_product(const Attributes &attributes, Product *p) {
  int64_t rows, cols;
  if (p->a.at.ndim < 2 || p->a.at.ndim != p->b.at.ndim || p->a.at.ndim != p->c.at.ndim)
    return "operands are no stacks of matrices of known types";
  lay_out_stack(p->a.at, attributes.transpose_a, &p->a_lies, &p->m, &p->k);
  lay_out_stack(p->b.at, attributes.transpose_b, &p->b_lies, &rows, &p->n);
  lay_out_stack(p->c.at, false, &p->c_lies, &p->m, &cols);
  if (rows != p->k || cols != p->n)
    return "shapes of the operands do not match";
  p->dims = p->c.at.ndim - 2;
  std::copy(p->c.at.shape, p->c.at.shape + p->dims, p->batch);
  set_ask(p, attributes.accuracy, attributes.bits);
  return nullptr;
}

static bool is_empty(const Array &array) {
  return std::find(array.at.shape, array.at.shape + array.at.ndim, 0) != array.at.shape + array.at.ndim;
}

/* Queues a product on XLA's stream, with memory of XLA's as workspace. XLA may be recording a graph. */
static ffi::Error queue(const Place &place, const Product &p, const ffi::AnyBuffer &workspace) {
  const RelaxedCapture relaxed;
  const uintptr_t handle = reinterpret_cast<uintptr_t>(place.stream);
  ffi::Error error = ffi::Error::Success();
  for_each_queued(p, [&](DeviceProduct &queued) {
    tesela_status status;
    tesela_record record{};
    queued.workspace = static_cast<char *>(workspace.untyped_data());
    queued.workspace_bytes = workspace.element_count();
    if (error.failure())
      return;
    if (!enqueue_known(queued, handle, &status))
      error = with_python([&] { enqueue(queued, true, handle, &record); });
    else if (status != TESELA_OK)
      error = error_of(status);
  });
  return error;
}

static ffi::Error multiply(const Place &place, const ffi::AnyBuffer &a, const ffi::AnyBuffer &b,
                           const ffi::AnyBuffer &c, const Attributes &attributes,
                           const ffi::AnyBuffer *workspace) {
  Product p;
  if (!see_buffers(a, b, c, place, &p))
    return bad_call("operands are no stacks of matrices of known types");
  const char *const wrong = set_product(attributes, &p);
  if (wrong)
    return bad_call(wrong);
  if (is_empty(p.c))
    return ffi::Error::Success();
  simplify(&p);
  if (workspace)
    return queue(place, p, *workspace);
  tesela_context *where;
  ffi::Error error = open_context(&where);
  if (error.failure())
    return error;
  const tesela_status status = compute_at_once(where, p, nullptr);
  return status == TESELA_OK ? ffi::Error::Success() : error_of(status);
}

/* --- ragged_dot --- */

/* Wrapped buffers of a call on a device. */
struct Buffers {
  tesela_buffer *a = nullptr, *b = nullptr, *c = nullptr, *sizes = nullptr;
  tesela_stream *stream = nullptr;
  Buffers() = default;
  Buffers(const Buffers &) = delete;
  ~Buffers() {
    for (tesela_buffer *buffer : {a, b, c, sizes})
      tesela_buffer_destroy(buffer);
    tesela_stream_destroy(stream);
  }
};

/* Waits for a device's stream, wraps the operands, and reads the sizes of the groups. */
static tesela_status wrap(tesela_context *where, const Place &place, const Product &product, void *sizes,
                          std::vector<int32_t> *host_sizes, Buffers *made) {
  const std::string device = "cuda:" + std::to_string(place.device);
  const auto add = [&](const Array &array, tesela_buffer **buffer) {
    size_t bytes = type_size(array.at.type);
    for (int i = 0; i < array.at.ndim; i++)
      bytes *= static_cast<size_t>(array.at.shape[i]);
    return bytes ? tesela_buffer_wrap(where, device.c_str(), array.at.data, bytes, buffer) : TESELA_OK;
  };
  const size_t bytes = host_sizes->size() * sizeof(int32_t);
  tesela_status status = tesela_stream_wrap(where, device.c_str(), place.stream, &made->stream);
  if (status == TESELA_OK)
    status = tesela_stream_wait(made->stream);
  if (status == TESELA_OK)
    status = add(product.a, &made->a);
  if (status == TESELA_OK)
    status = add(product.b, &made->b);
  if (status == TESELA_OK)
    status = add(product.c, &made->c);
  if (status == TESELA_OK)
    status = tesela_buffer_wrap(where, device.c_str(), sizes, bytes, &made->sizes);
  return status == TESELA_OK ? tesela_buffer_read(made->sizes, 0, host_sizes->data(), bytes) : status;
}

template <class Matrix>
static void set_group(const Array &array, tesela_buffer *buffer, int64_t element, int64_t row_stride,
                      int64_t col_stride, Matrix *matrix) {
  if (buffer) {
    matrix->buffer = buffer;
    matrix->offset = element;
  } else {
    matrix->data = const_cast<char *>(at_row(array, element));
  }
  set_strides(row_stride, col_stride, matrix);
  matrix->type = array.at.type;
}

/* Multiplies groups of rows of A: group i by matrix i of B. Rows behind the last group become 0.
 * With is_sum, matrix i of C is the product of the transposed rows of A and the rows of B in group i. */
static ffi::Error multiply_ragged(const Place &place, const ffi::AnyBuffer &a, const ffi::AnyBuffer &b,
                                  const ffi::AnyBuffer &group_sizes, const ffi::AnyBuffer &c, bool is_sum,
                                  bool transpose_b, std::string_view accuracy, std::string_view bits) {
  Product p;
  if (!see_buffers(a, b, c, place, &p) || group_sizes.element_type() != ffi::S32 ||
      group_sizes.dimensions().size() != 1 || p.a.at.ndim != 2 || p.b.at.ndim != (is_sum ? 2 : 3) ||
      p.c.at.ndim != (is_sum ? 3 : 2))
    return bad_call("ragged_dot has operands of wrong shapes");
  const int64_t groups = group_sizes.dimensions()[0], rows = p.a.at.shape[0], depth = p.a.at.shape[1],
                n = p.c.at.shape[p.c.at.ndim - 1];
  std::vector<int32_t> sizes(static_cast<size_t>(groups));
  if (group_sizes.element_count() == 0 && !is_sum && rows * n > 0)
    return bad_call("ragged_dot has no groups");
  if (c.element_count() == 0)
    return ffi::Error::Success();
  set_ask(&p, accuracy, bits);
  tesela_context *where;
  ffi::Error error = open_context(&where);
  if (error.failure())
    return error;
  Buffers buffers;
  if (place.device < 0) {
    memcpy(sizes.data(), group_sizes.untyped_data(), sizes.size() * sizeof(int32_t));
  } else {
    const tesela_status status = wrap(where, place, p, group_sizes.untyped_data(), &sizes, &buffers);
    if (status != TESELA_OK)
      return error_of(status);
  }
  std::vector<tesela_gemm_desc> descs;
  int64_t row = 0;
  /* The last product, without terms, clears the rows behind the groups. */
  for (int64_t i = 0; i < groups + !is_sum; i++) {
    const bool is_rest = i == groups;
    const int64_t size = is_rest ? rows - row : sizes[static_cast<size_t>(i)];
    if (size < 0 || size > rows - row)
      return bad_call("group_sizes has a negative number, or more rows than the first operand");
    tesela_gemm_desc desc{};
    desc.m = is_sum ? depth : size;
    desc.n = n;
    desc.k = is_sum ? size : is_rest ? 0 : depth;
    if (is_sum) {
      set_group(p.a, buffers.a, row * depth, 1, depth, &desc.a);
      set_group(p.b, buffers.b, row * n, n, 1, &desc.b);
      set_group(p.c, buffers.c, i * depth * n, n, 1, &desc.c);
    } else {
      const int64_t matrix = is_rest ? 0 : i * depth * n;
      set_group(p.a, buffers.a, is_rest ? 0 : row * depth, depth, 1, &desc.a);
      set_group(p.b, buffers.b, matrix, transpose_b ? 1 : n, transpose_b ? depth : 1, &desc.b);
      set_group(p.c, buffers.c, row * n, n, 1, &desc.c);
    }
    normalize(desc.m, desc.k, &desc.a.row_stride, &desc.a.col_stride);
    normalize(desc.k, desc.n, &desc.b.row_stride, &desc.b.col_stride);
    normalize(desc.m, desc.n, &desc.c.row_stride, &desc.c.col_stride);
    desc.options.accuracy = p.ask.accuracy_or_null();
    desc.options.reproducibility = p.ask.bits_or_null();
    if (desc.m > 0)
      descs.push_back(desc);
    row += size;
  }
  const tesela_status status =
      tesela_gemm_grouped(where, descs.data(), nullptr, static_cast<int64_t>(descs.size()), nullptr);
  return status == TESELA_OK ? ffi::Error::Success() : error_of(status);
}

/* --- bindings --- */

static ffi::Error multiply_host(ffi::AnyBuffer a, ffi::AnyBuffer b, ffi::Result<ffi::AnyBuffer> c,
                                bool transpose_a, bool transpose_b, std::string_view accuracy,
                                std::string_view bits) {
  return multiply(Place{}, a, b, *c, {transpose_a, transpose_b, accuracy, bits}, nullptr);
}

static ffi::Error multiply_cuda(void *stream, int32_t device, ffi::AnyBuffer a, ffi::AnyBuffer b,
                                ffi::Result<ffi::AnyBuffer> c, ffi::Result<ffi::AnyBuffer> workspace,
                                bool transpose_a, bool transpose_b, std::string_view accuracy,
                                std::string_view bits) {
  return multiply(Place{device, stream}, a, b, *c, {transpose_a, transpose_b, accuracy, bits}, &*workspace);
}

static ffi::Error ragged_host(ffi::AnyBuffer a, ffi::AnyBuffer b, ffi::AnyBuffer sizes,
                              ffi::Result<ffi::AnyBuffer> c, bool is_sum, bool transpose_b,
                              std::string_view accuracy, std::string_view bits) {
  return multiply_ragged(Place{}, a, b, sizes, *c, is_sum, transpose_b, accuracy, bits);
}

static ffi::Error ragged_cuda(void *stream, int32_t device, ffi::AnyBuffer a, ffi::AnyBuffer b,
                              ffi::AnyBuffer sizes, ffi::Result<ffi::AnyBuffer> c, bool is_sum,
                              bool transpose_b, std::string_view accuracy, std::string_view bits) {
  return multiply_ragged(Place{device, stream}, a, b, sizes, *c, is_sum, transpose_b, accuracy, bits);
}

/* Adds the operands of a product to a binding. */
template <class Binding>
static auto operands_of(Binding binding) {
  return std::move(binding)
      .template Arg<ffi::AnyBuffer>()
      .template Arg<ffi::AnyBuffer>()
      .template Ret<ffi::AnyBuffer>();
}

/* Adds the attributes of a product to a binding. */
template <class Binding>
static auto product_of(Binding binding) {
  return std::move(binding)
      .template Attr<bool>("transpose_a")
      .template Attr<bool>("transpose_b")
      .template Attr<std::string_view>("accuracy")
      .template Attr<std::string_view>("bits");
}

template <class Binding>
static auto ragged_of(Binding binding) {
  return std::move(binding)
      .template Arg<ffi::AnyBuffer>()
      .template Arg<ffi::AnyBuffer>()
      .template Arg<ffi::AnyBuffer>()
      .template Ret<ffi::AnyBuffer>()
      .template Attr<bool>("is_sum")
      .template Attr<bool>("transpose_b")
      .template Attr<std::string_view>("accuracy")
      .template Attr<std::string_view>("bits");
}

static auto cuda_of() {
  return ffi::Ffi::Bind().Ctx<ffi::PlatformStream<void *>>().Ctx<ffi::DeviceOrdinal>();
}

static auto multiply_cuda_of() {
  return product_of(operands_of(cuda_of()).Ret<ffi::AnyBuffer>());
}

XLA_FFI_DEFINE_HANDLER(multiply_host_handler, multiply_host, product_of(operands_of(ffi::Ffi::Bind())));
XLA_FFI_DEFINE_HANDLER(multiply_cuda_handler, multiply_cuda, multiply_cuda_of());
/* XLA may record calls of this handler into its graphs. */
XLA_FFI_DEFINE_HANDLER(multiply_graph_handler, multiply_cuda, multiply_cuda_of(),
                       {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER(ragged_host_handler, ragged_host, ragged_of(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER(ragged_cuda_handler, ragged_cuda, ragged_of(cuda_of()));

/* Returns the handlers as capsules: name, platform, handler. */
static nb::list xla_handlers() {
  nb::list list;
  const auto add = [&list](const char *name, const char *platform, XLA_FFI_Handler *handler) {
    list.append(nb::make_tuple(name, platform, nb::capsule(reinterpret_cast<void *>(handler))));
  };
  add("tesela_matmul", "cpu", multiply_host_handler);
  add("tesela_matmul", "CUDA", multiply_cuda_handler);
  add("tesela_matmul_graph", "CUDA", multiply_graph_handler);
  add("tesela_ragged_dot", "cpu", ragged_host_handler);
  add("tesela_ragged_dot", "CUDA", ragged_cuda_handler);
  return list;
}

/* Fills an array without memory, from a shape and the name of a type. */
static void set_array(const std::vector<int64_t> &shape, const char *kind, Array *array) {
  if (shape.size() > DIMS)
    throw std::invalid_argument("an array has too many dimensions");
  array->at.type = view_named(kind).type;
  array->at.device_type = 2;
  array->at.ndim = static_cast<int>(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) {
    array->at.shape[i] = shape[i];
    array->at.strides[i] = stride;
  }
}

using Shaped = std::pair<std::vector<int64_t>, std::string>;

/* Plans a product on device 0. Returns the bytes of its workspace. */
static size_t xla_workspace(const Shaped &a, const Shaped &b, const Shaped &c, bool transpose_a,
                            bool transpose_b, const std::string &accuracy, const std::string &bits) {
  Product p;
  set_array(a.first, a.second.c_str(), &p.a);
  set_array(b.first, b.second.c_str(), &p.b);
  set_array(c.first, c.second.c_str(), &p.c);
  const char *const wrong = set_product({transpose_a, transpose_b, accuracy, bits}, &p);
  if (wrong)
    throw std::invalid_argument(wrong);
  size_t most = 0;
  simplify(&p);
  if (!is_empty(p.c))
    for_each_queued(p, [&](DeviceProduct &queued) { most = std::max(most, prepare_without_memory(queued)); });
  return most;
}

void bind_xla(nb::module_ &module) {
  module.def("xla_workspace", &xla_workspace, nb::arg("a"), nb::arg("b"), nb::arg("c"), nb::kw_only(),
             nb::arg("transpose_a"), nb::arg("transpose_b"), nb::arg("accuracy"), nb::arg("bits"));
  module.def("xla_handlers", &xla_handlers);
  module.attr("xla_version") = nb::make_tuple(XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR);
}

} // namespace core

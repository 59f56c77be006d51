/* Products of CUDA memory, queued on the caller's stream, with cached plans. */
#include "core.h"

#include <complex>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tuple>
#include <type_traits>
#include <unordered_map>

#include "device.h"
#include "device_ranges.h"

namespace core {

/* Functions here hold Python's lock, since queuing takes microseconds. XLA's threads do not, if a plan is
 * known: enqueue_known(). */
static constexpr size_t PLANS = 1024;

struct DevicePlan {
  tesela_plan *plan = nullptr;
  size_t workspace = 0;
  ~DevicePlan() { tesela_plan_destroy(plan); }
};

struct Stream {
  tesela_stream *stream = nullptr;
  size_t reserved = 0;
};

static DeviceRanges &ranges = *new DeviceRanges; /* never destroyed: contexts end first */
/* Lock of the plans and streams. It is never held while Python's lock is taken. */
static std::mutex &lock = *new std::mutex;
static std::unordered_map<std::string, std::shared_ptr<DevicePlan>> &plans =
    *new std::unordered_map<std::string, std::shared_ptr<DevicePlan>>;
/* Streams by context, device and handle. None is destroyed: a thread may still use an old context. */
using StreamKey = std::tuple<tesela_context *, int, uintptr_t>;
static std::map<StreamKey, Stream> &streams = *new std::map<StreamKey, Stream>;
static constexpr uintptr_t OWN_STREAM = UINTPTR_MAX; /* handle of a device's stream of tesela */
static tesela_context *owner; /* context of the plans; another context's plans are abandoned */

static void begin(tesela_context *now) {
  std::lock_guard guard(lock);
  if (now == owner)
    return;
  for (auto &known : plans)
    new std::shared_ptr<DevicePlan>(known.second); /* leaked, since its context may have died with a fork */
  plans.clear();
  owner = now;
}

/* Finds or makes a stream. */
static tesela_status find_stream(tesela_context *where, int id, uintptr_t handle, Stream **found) {
  std::lock_guard guard(lock);
  Stream &known = streams[{where, id, handle}];
  *found = &known;
  if (known.stream)
    return TESELA_OK;
  return handle == OWN_STREAM ? tesela_stream_create(where, DeviceName(id).text, &known.stream)
                              : tesela_stream_wrap(where, DeviceName(id).text,
                                                   reinterpret_cast<void *>(handle), &known.stream);
}

/* Functions of CUDA's driver, if the process has it. */
struct Driver {
  int (*capture_mode)(int *mode) = nullptr;
  int (*is_capturing)(void *stream, int *status) = nullptr;
  Driver() {
    void *const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    const auto find = [library](const char *name, auto *function) {
      void *const address = library ? dlsym(library, name) : nullptr;
      std::memcpy(function, &address, sizeof address);
    };
    find("cuThreadExchangeStreamCaptureMode", &capture_mode);
    find("cuStreamIsCapturing", &is_capturing);
  }
};
static const Driver &driver() {
  static const Driver found;
  return found;
}

RelaxedCapture::RelaxedCapture() {
  if (driver().capture_mode)
    driver().capture_mode(&mode);
}
RelaxedCapture::~RelaxedCapture() {
  if (driver().capture_mode)
    driver().capture_mode(&mode);
}

bool is_capturing(void *stream) {
  int status = 0;
  return driver().is_capturing && driver().is_capturing(stream, &status) == 0 && status != 0;
}

/* Wrapped operand. `offset` is the first element's distance from the buffer's begin. */
struct Wrapped : DeviceRanges::Place {
  int64_t offset = 0;

  /* Wraps the matrices of `count` products, which are `step` elements apart. */
  tesela_status wrap(tesela_context *where, int device_id, const DeviceMatrix &matrix, int64_t count = 1,
                     int64_t step = 0) {
    const size_t size = type_size(matrix.type);
    int64_t low = 0, high = 0;
    if (matrix.rows == 0 || matrix.cols == 0) /* k = 0: A and B are not read */
      return TESELA_OK;
    for (const int64_t reach :
         {(matrix.rows - 1) * matrix.row_stride, (matrix.cols - 1) * matrix.col_stride, (count - 1) * step})
      (reach < 0 ? low : high) += reach;
    const uintptr_t first = reinterpret_cast<uintptr_t>(matrix.data);
    const tesela_status status = ranges.find(where, device_id, first - static_cast<size_t>(-low) * size,
                                             static_cast<size_t>(high - low + 1) * size, size, this);
    offset = static_cast<int64_t>((first - start) / size);
    return status;
  }
};

template <class Matrix>
static Matrix as_matrix(const DeviceMatrix &from, const Wrapped &wrapped) {
  Matrix matrix{};
  matrix.buffer = wrapped.buffer.get();
  matrix.offset = wrapped.offset;
  set_strides(from.row_stride, from.col_stride, &matrix);
  matrix.type = from.type;
  if constexpr (std::is_same_v<Matrix, tesela_matrix>)
    matrix.conjugate = from.conjugate;
  return matrix;
}

/* Epilogue vectors on a device, as far as the product has them. */
struct WrappedFinish {
  Wrapped bias, scale_a, scale_b;

  tesela_status wrap(tesela_context *where, const DeviceProduct &product) {
    tesela_status status = TESELA_OK;
    if (product.bias_axis != TESELA_NO_BIAS)
      status = bias.wrap(where, product.device_id, product.bias);
    if (status == TESELA_OK && product.scaling_a != TESELA_NO_SCALE)
      status = scale_a.wrap(where, product.device_id, product.scale_a);
    if (status == TESELA_OK && product.scaling_b != TESELA_NO_SCALE)
      status = scale_b.wrap(where, product.device_id, product.scale_b);
    return status;
  }
};

/* Operands of a product on a device. */
struct WrappedProduct {
  Wrapped a, b, c;
  WrappedFinish last;

  tesela_status wrap(tesela_context *where, const DeviceProduct &product) {
    const tesela_batch &batch = product.batch;
    tesela_status status = a.wrap(where, product.device_id, product.a, batch.count, batch.a_stride);
    if (status == TESELA_OK)
      status = b.wrap(where, product.device_id, product.b, batch.count, batch.b_stride);
    if (status == TESELA_OK)
      status = c.wrap(where, product.device_id, product.c, batch.count, batch.c_stride);
    return status == TESELA_OK ? last.wrap(where, product) : status;
  }
};

static tesela_vector vector_of(const DeviceMatrix &matrix, const Wrapped &wrapped) {
  tesela_vector vector{};
  if (!wrapped.buffer)
    return vector;
  vector.buffer = wrapped.buffer.get();
  vector.offset = wrapped.offset;
  vector.stride = matrix.row_stride;
  vector.type = matrix.type;
  return vector;
}

static tesela_epilogue finish_of(const DeviceProduct &product, const WrappedFinish &last) {
  tesela_epilogue made{};
  made.bias = vector_of(product.bias, last.bias);
  made.scale_a = vector_of(product.scale_a, last.scale_a);
  made.scale_b = vector_of(product.scale_b, last.scale_b);
  return made;
}

/* Returns the properties of a product that its plan depends on, as bytes. Each call of a known plan makes
 * one: the numbers are collected first, since an append of its own for each took half a microsecond. */
static std::string key_of(const DeviceProduct &product) {
  char numbers[sizeof product], *end = numbers;
  const auto add = [&end](const auto &value) {
    std::memcpy(end, &value, sizeof value);
    end += sizeof value;
  };
  add(product.m);
  add(product.n);
  add(product.k);
  add(product.device_id);
  for (const DeviceMatrix *matrix :
       {&product.a, &product.b, &product.c, &product.bias, &product.scale_a, &product.scale_b}) {
    add(matrix->row_stride);
    add(matrix->col_stride);
    add(matrix->type);
    add(matrix->conjugate);
  }
  add(product.alpha);
  add(product.beta);
  add(product.bias_axis);
  add(product.activation);
  add(product.scaling_a);
  add(product.scaling_b);
  add(product.ask.measure_error);
  add(product.batch.count);
  add(product.batch.a_stride);
  add(product.batch.b_stride);
  add(product.batch.c_stride);
  std::string key(numbers, end);
  if (product.strategy)
    key += product.strategy;
  for (const std::string *text : {&product.ask.accuracy, &product.ask.bits, &product.ask.verify})
    (key += '/') += *text;
  return key;
}

/* Returns the plan of a product; NULL: none of this context is known. */
static std::shared_ptr<DevicePlan> find_plan(tesela_context *where, const std::string &key) {
  std::lock_guard guard(lock);
  const auto known = plans.find(key);
  return where != owner || known == plans.end() ? nullptr : known->second;
}

static std::shared_ptr<DevicePlan> plan_of(tesela_context *where, const DeviceProduct &product,
                                           const WrappedProduct &wrapped) {
  const std::string key = key_of(product);
  std::shared_ptr<DevicePlan> known = find_plan(where, key);
  if (known)
    return known;
  auto made = std::make_shared<DevicePlan>();
  tesela_gemm_desc desc{};
  desc.m = product.m;
  desc.n = product.n;
  desc.k = product.k;
  desc.a = as_matrix<tesela_matrix>(product.a, wrapped.a);
  desc.b = as_matrix<tesela_matrix>(product.b, wrapped.b);
  desc.c = as_matrix<tesela_result>(product.c, wrapped.c);
  desc.alpha = reinterpret_cast<const double *>(&product.alpha);
  desc.beta = reinterpret_cast<const double *>(&product.beta);
  desc.options.strategy = product.strategy;
  desc.options.accuracy = product.ask.accuracy_or_null();
  desc.options.reproducibility = product.ask.bits_or_null();
  desc.options.measure_error = product.ask.measure_error;
  desc.options.verify = product.ask.verify_or_null();
  tesela_epilogue epilogue = finish_of(product, wrapped.last);
  epilogue.bias_axis = product.bias_axis;
  epilogue.activation = product.activation;
  epilogue.scaling_a = product.scaling_a;
  epilogue.scaling_b = product.scaling_b;
  desc.epilogue = &epilogue;
  tesela_status status;
  {
    const Unlocked others_run; /* a kernel may have to be compiled */
    status = product.batch.count > 1 ? tesela_plan_create_batched(where, &desc, &product.batch, &made->plan)
                                     : tesela_plan_create(where, &desc, &made->plan);
  }
  check(status);
  made->workspace = tesela_plan_workspace(made->plan);
  std::lock_guard guard(lock);
  if (where != owner) /* another thread has begun a new context meanwhile */
    return made;
  if (plans.size() >= PLANS)
    plans.clear();
  plans[key] = made;
  return made;
}

/* Waits for the stream, then runs a plan on buffers and returns when it is done. */
static tesela_status run_now(const DevicePlan &plan, Stream &stream, const tesela_operands &operands,
                             tesela_record *record) {
  const Unlocked others_run;
  const tesela_status status = tesela_stream_wait(stream.stream);
  return status == TESELA_OK ? tesela_plan_run(plan.plan, &operands, record) : status;
}

/* Queues a plan. With a record, a plan that cannot be queued runs at once. */
static tesela_status enqueue_plan(const DevicePlan &plan, Stream &stream, const DeviceProduct &product,
                                  const WrappedProduct &wrapped, const DeviceRanges::Place &workspace,
                                  tesela_record *record) {
  const tesela_matrix left = as_matrix<tesela_matrix>(product.a, wrapped.a),
                      right = as_matrix<tesela_matrix>(product.b, wrapped.b);
  const tesela_result result = as_matrix<tesela_result>(product.c, wrapped.c);
  const tesela_epilogue vectors = finish_of(product, wrapped.last);
  tesela_operands operands{};
  operands.a = &left;
  operands.b = &right;
  operands.c = &result;
  operands.epilogue = &vectors;
  const tesela_status status =
      tesela_plan_enqueue(plan.plan, stream.stream, &operands, workspace.buffer.get());
  return status == TESELA_UNSUPPORTED && record ? run_now(plan, stream, operands, record) : status;
}

std::string enqueue(const DeviceProduct &product, bool has_stream, uintptr_t handle, tesela_record *record) {
  tesela_context *const where = context();
  if (!where)
    throw nb::python_error();
  begin(where);
  WrappedProduct wrapped;
  check(wrapped.wrap(where, product));
  const std::shared_ptr<DevicePlan> plan = plan_of(where, product, wrapped);
  Stream *stream;
  check(find_stream(where, product.device_id, has_stream ? handle : OWN_STREAM, &stream));
  nb::object memory;
  DeviceRanges::Place workspace;
  if (plan->workspace > 0 && (product.new_workspace || product.workspace_bytes >= plan->workspace)) {
    char *data = product.workspace;
    if (product.new_workspace)
      memory = product.new_workspace(product.device_id, plan->workspace, &data);
    check(ranges.find(where, product.device_id, reinterpret_cast<uintptr_t>(data), plan->workspace, 0,
                      &workspace));
  } else if (plan->workspace > stream->reserved) {
    if (product.workspace && is_capturing(reinterpret_cast<void *>(handle)))
      throw std::runtime_error("a plan needs more workspace than the program of another device has");
    check(tesela_stream_reserve(stream->stream, plan->workspace));
    stream->reserved = plan->workspace;
  }
  check(enqueue_plan(*plan, *stream, product, wrapped, workspace, record));
  if (!has_stream) {
    const Unlocked others_run;
    check(tesela_stream_wait(stream->stream));
  }
  return tesela_plan_describe(plan->plan);
}

bool enqueue_known(const DeviceProduct &product, uintptr_t handle, tesela_status *status) {
  tesela_context *const where = known_context();
  const std::shared_ptr<DevicePlan> plan = where ? find_plan(where, key_of(product)) : nullptr;
  if (!plan || plan->workspace > product.workspace_bytes)
    return false;
  WrappedProduct wrapped;
  DeviceRanges::Place workspace;
  Stream *stream;
  *status = find_stream(where, product.device_id, handle, &stream);
  if (*status == TESELA_OK)
    *status = wrapped.wrap(where, product);
  if (*status == TESELA_OK && plan->workspace > 0)
    *status = ranges.find(where, product.device_id, reinterpret_cast<uintptr_t>(product.workspace),
                          plan->workspace, 0, &workspace);
  if (*status == TESELA_OK)
    *status = enqueue_plan(*plan, *stream, product, wrapped, workspace, nullptr);
  return *status != TESELA_UNSUPPORTED;
}

/* Device memory of the library, which another library takes over by DLPack. */
struct Memory {
  tesela_buffer *buffer = nullptr;
  Memory() = default;
  Memory(const Memory &) = delete;
  ~Memory() { tesela_buffer_destroy(buffer); }
};

static nb::tuple device_empty(const std::vector<size_t> &shape, const std::string &dtype, int device_id) {
  const View sample = view_named(dtype);
  size_t count = 1;
  for (size_t dim : shape)
    count *= dim;
  tesela_context *const where = context();
  if (!where)
    throw nb::python_error();
  auto memory = std::make_unique<Memory>();
  check(tesela_buffer_create(where, DeviceName(device_id).text, count ? count * type_size(sample.type) : 1,
                             &memory->buffer));
  void *const data = tesela_buffer_memory(memory->buffer).native;
  nb::capsule keeper(memory.release(), [](void *freed) noexcept { delete static_cast<Memory *>(freed); });
  const nb::dlpack::dtype type = dlpack_type(sample.type);
  nb::ndarray<nb::array_api> array(data, shape.size(), shape.data(), keeper, nullptr, type,
                                   nb::device::cuda::value, device_id);
  return nb::make_tuple(nb::cast(array), reinterpret_cast<uintptr_t>(data));
}

std::string prepare(const DeviceProduct &product) {
  tesela_context *const where = context();
  if (!where)
    throw nb::python_error();
  begin(where);
  WrappedProduct wrapped;
  check(wrapped.a.wrap(where, product.device_id, product.a));
  check(wrapped.b.wrap(where, product.device_id, product.b));
  check(wrapped.last.wrap(where, product));
  wrapped.c = wrapped.a; /* C does not exist yet: the plan needs only the device of its buffer */
  return tesela_plan_describe(plan_of(where, product, wrapped)->plan);
}

size_t prepare_without_memory(const DeviceProduct &product) {
  tesela_context *const where = context();
  if (!where)
    throw nb::python_error();
  begin(where);
  tesela_buffer *memory;
  WrappedProduct wrapped; /* the plan needs only the device of its buffers */
  check(tesela_buffer_create(where, DeviceName(product.device_id).text, 256, &memory));
  wrapped.a.buffer.reset(memory, tesela_buffer_destroy);
  wrapped.b = wrapped.c = wrapped.a;
  return plan_of(where, product, wrapped)->workspace;
}

void bind_device(nb::module_ &module) {
  bind_tensor(module);
  module.def("device_empty", &device_empty);
}

} // namespace core

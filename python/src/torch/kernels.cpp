/* Kernels of tesela.torch.patch() in front of its Python kernels: products that Python has decided, without
 * Python. Built where PyTorch's headers are, for that version of PyTorch alone. Without this library Python
 * computes every product of a patch.
 *
 *     aten::mm -> find the product -> known: PyTorch's kernel, or tesela, or a race of both
 *                                     new:   Python's kernel, which calls tesela_torch_remember() */
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/addmm_cuda_dispatch.h>
#include <ATen/ops/baddbmm_cpu_dispatch.h>
#include <ATen/ops/baddbmm_cuda_dispatch.h>
#include <ATen/ops/bmm_cpu_dispatch.h>
#include <ATen/ops/bmm_cuda_dispatch.h>
#include <ATen/ops/copy.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm_cpu_dispatch.h>
#include <ATen/ops/mm_cuda_dispatch.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/headeronly/version.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include "../device_ranges.h"

/* PyTorch's function of C for the current stream. It is in the library for CUDA. */
extern "C" int32_t aoti_torch_get_current_cuda_stream(int32_t device, void **stream);
/* CUDA's function; *status is 0 for a stream that is not captured. */
extern "C" int cudaStreamIsCapturing(void *stream, int *status);

namespace {

using at::Scalar;
using at::Tensor;

enum Operator { MM, ADDMM, BMM, BADDBMM, OPERATORS };
constexpr const char *names[OPERATORS] = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"};

/* Time of a call: of the processor, or of a device's current stream, without waiting for it. */
class Timer {
public:
  explicit Timer(const Tensor &like) : device_(like.device()) {
    if (device_.is_cuda()) {
      begin_.emplace(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
      end_.emplace(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
      begin_->record(stream());
    }
    started_ = std::chrono::steady_clock::now();
  }
  void stop() {
    if (end_)
      end_->record(stream());
    seconds_ = std::chrono::steady_clock::now() - started_;
  }
  bool is_known() const { return !end_ || end_->query(); }
  double microseconds() const { return end_ ? begin_->elapsedTime(*end_) * 1e3 : seconds_.count() * 1e6; }

private:
  c10::Stream stream() const { return c10::impl::VirtualGuardImpl(device_.type()).getStream(device_); }

  c10::Device device_;
  std::optional<c10::Event> begin_, end_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::duration<double> seconds_{};
};

enum Library { TORCH, TESELA, BOTH };

/* Timed calls of each library in a race, after an untimed call of both. On the processor, tesela caches a
 * plan at the eighth call. */
constexpr int ROUNDS = 10;
/* A product moves to tesela if it takes less than this fraction of PyTorch's time. */
constexpr double GAIN = 0.97;

/* Product that Python knows. */
struct Product {
  int64_t number = 0; /* number of Python's product */
  std::atomic<int> library{TORCH};
  std::atomic<int64_t> calls[2]{}; /* by TORCH and TESELA */
  /* State of a race. */
  std::mutex lock;
  int step = 0;
  std::vector<Timer> timers[2];
  double microseconds[2]{};
  tesela_context *context = nullptr;
  std::string accuracy, bits;  /* "": the default */
  tesela_plan *plan = nullptr; /* of products on a CUDA device */
  ~Product() { tesela_plan_destroy(plan); }
};

/* Properties of a call that select a product. */
struct Key {
  std::array<int64_t, 40> words{};
  size_t count = 0;

  void add(int64_t word) { words[count++] = word; }
  bool operator==(const Key &other) const {
    return count == other.count && std::equal(words.begin(), words.begin() + count, other.words.begin());
  }
};

struct Hash {
  size_t operator()(const Key &key) const {
    uint64_t hash = key.count;
    for (size_t i = 0; i < key.count; i++) {
      hash = (hash ^ static_cast<uint64_t>(key.words[i])) * UINT64_C(0x9E3779B97F4A7C15);
      hash ^= hash >> 29;
    }
    return hash;
  }
};

/* Call of an operator. */
struct Call {
  Operator op;
  const Tensor *addend, *a, *b, *out; /* NULL: the operator has none */
  Scalar beta, alpha;
  Key key;
};

/* Decided products, and wrapped memory. They are never destroyed, since CUDA may end before static objects.
 * The child of a fork begins anew, since another thread may have held the lock. */
struct Known {
  std::shared_mutex lock;
  std::unordered_map<Key, std::shared_ptr<Product>, Hash> products;
  core::DeviceRanges ranges;
};
Known *known = new Known;
constexpr size_t PRODUCTS_MAX = 8192;
std::atomic<int64_t> active_patch{0}; /* number of the active patch(); 0: none */
thread_local Call *missed;            /* call that Python's kernel decides now */

/* --- finding a product --- */

/* Returns true if a tensor has named dimensions. Python's kernels cannot pass these on. */
bool has_names(const Call &call) {
  for (const Tensor *tensor : {call.addend, call.a, call.b, call.out})
    if (tensor && tensor->has_names())
      return true;
  return false;
}

/* Adds a tensor to a key. Returns false for tensors that Python's kernel examines. */
bool add_tensor(const Tensor &tensor, Key *key) {
  const c10::TensorImpl *const tensor_impl = tensor.unsafeGetTensorImpl();
  if (!tensor.defined() || tensor.layout() != at::kStrided || tensor_impl->has_symbolic_sizes_strides() ||
      tensor.dim() > 3 || tensor.is_neg() || !(tensor.is_cpu() || tensor.is_cuda()) ||
      reinterpret_cast<uintptr_t>(tensor.const_data_ptr()) % tensor.element_size() != 0)
    return false;
  key->add(static_cast<int64_t>(tensor.scalar_type()) | tensor.is_cuda() << 8 | tensor.is_conj() << 9 |
           tensor.dim() << 10 | static_cast<int64_t>(tensor.get_device() + 1) << 16);
  for (const int64_t size : tensor.sizes())
    key->add(size);
  for (const int64_t stride : tensor.strides())
    key->add(stride);
  return true;
}

bool add_scalar(const Scalar &scalar, Key *key) {
  if (scalar.isSymbolic())
    return false;
  const auto value = scalar.toComplexDouble();
  int64_t words[2];
  memcpy(words, &value, sizeof words);
  key->add(words[0]);
  key->add(words[1]);
  return true;
}

bool is_tf32(const Tensor &tensor) {
  return tensor.scalar_type() == at::kFloat && tensor.is_cuda() &&
         at::globalContext().float32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL) ==
             at::Float32Precision::TF32;
}

bool fill_key(int64_t patch, Call *call) {
  Key *const key = &call->key;
  key->add(patch);
  key->add(call->op | (call->out != nullptr) << 4 | (call->out && call->out->is_same(*call->b)) << 5 |
           at::globalContext().deterministicAlgorithms() << 6 | is_tf32(*call->a) << 7);
  for (const Tensor *tensor : {call->addend, call->a, call->b, call->out})
    if (tensor && !add_tensor(*tensor, key))
      return false;
  if (call->addend) {
    key->words[1] |= (call->out && call->out->is_same(*call->addend)) << 8;
    return add_scalar(call->beta, key) && add_scalar(call->alpha, key);
  }
  return true;
}

/* --- products by tesela --- */

tesela_type type_of(const Tensor &tensor) {
  switch (tensor.scalar_type()) {
  case at::kFloat:
    return TESELA_F32;
  case at::kDouble:
    return TESELA_F64;
  case at::kHalf:
    return TESELA_F16;
  case at::kBFloat16:
    return TESELA_BF16;
  case at::kComplexFloat:
    return TESELA_C64;
  case at::kComplexDouble:
    return TESELA_C128;
  default:
    return TESELA_TYPE_DEFAULT;
  }
}

/* Sets strides. A dimension of size 1 gets a dense matrix's stride; 0 repeats a row or a column. */
template <class Matrix>
void set_strides(const Tensor &tensor, Matrix *matrix) {
  const int64_t rows = tensor.size(0), cols = tensor.size(1);
  int64_t row = tensor.stride(0), col = tensor.stride(1);
  if (cols == 1)
    col = row != 1 || rows == 1 ? 1 : rows;
  if (rows == 1)
    row = col == 1 ? cols : 1;
  matrix->row_stride = row == 0 && col != 0 ? TESELA_STRIDE_ZERO : row;
  matrix->col_stride = col == 0 && row != 0 ? TESELA_STRIDE_ZERO : col;
}

/* Addresses of a tensor's elements, as the bytes from `first` on. */
struct Span {
  uintptr_t first;
  size_t bytes;
  explicit Span(const Tensor &tensor) : first(reinterpret_cast<uintptr_t>(tensor.const_data_ptr())) {
    int64_t last = 0;
    for (int64_t i = 0; i < tensor.dim(); i++)
      last += (tensor.size(i) - 1) * tensor.stride(i);
    bytes = static_cast<size_t>(last + 1) * tensor.element_size();
  }
};

/* Operands of a call, as the library takes them. */
struct Operands {
  core::DeviceRanges::Place places[4]; /* of tensors on a device */
  tesela_gemm_desc desc{};
  tesela_epilogue epilogue{};
  c10::complex<double> alpha, beta;

  template <class Matrix>
  static tesela_status set(tesela_context *context, const Tensor &tensor, core::DeviceRanges::Place *place,
                           Matrix *matrix) {
    const Span span(tensor);
    matrix->type = type_of(tensor);
    if (!tensor.is_cuda()) {
      matrix->data = reinterpret_cast<void *>(span.first);
      return TESELA_OK;
    }
    const tesela_status status = known->ranges.find(context, tensor.get_device(), span.first, span.bytes,
                                                    tensor.element_size(), place);
    matrix->buffer = place->buffer.get();
    matrix->offset = static_cast<int64_t>((span.first - place->start) / tensor.element_size());
    return status;
  }

  tesela_status fill(const Product &product, const Call &call, const Tensor &out, const Tensor *bias,
                     const Scalar &scale) {
    tesela_status status = set(product.context, *call.a, &places[0], &desc.a);
    if (status == TESELA_OK)
      status = set(product.context, *call.b, &places[1], &desc.b);
    (void)out.mutable_data_ptr(); /* ends the sharing of a lazy copy */
    if (status == TESELA_OK)
      status = set(product.context, out, &places[2], &desc.c);
    if (status == TESELA_OK && bias)
      status = set(product.context, *bias, &places[3], &epilogue.bias);
    desc.m = out.size(0);
    desc.n = out.size(1);
    desc.k = call.a->size(1);
    set_strides(*call.a, &desc.a);
    set_strides(*call.b, &desc.b);
    set_strides(out, &desc.c);
    desc.a.conjugate = call.a->is_conj();
    desc.b.conjugate = call.b->is_conj();
    if (bias) {
      const bool is_column = bias->dim() == 2 && bias->size(1) == 1 && desc.n != 1;
      epilogue.bias.stride = std::max<int64_t>(1, bias->stride(is_column ? 0 : bias->dim() - 1));
      epilogue.bias_axis = is_column ? TESELA_BIAS_COLUMN : TESELA_BIAS_ROW;
    }
    alpha = call.alpha.toComplexDouble();
    beta = scale.toComplexDouble();
    desc.alpha = reinterpret_cast<const double *>(&alpha);
    desc.beta = reinterpret_cast<const double *>(&beta);
    desc.epilogue = &epilogue;
    desc.options.accuracy = product.accuracy.empty() ? nullptr : product.accuracy.c_str();
    desc.options.reproducibility = product.bits.empty() ? nullptr : product.bits.c_str();
    if (!call.a->is_cuda())
      desc.options.device = "cpu";
    return status;
  }
};

/* Returns the addend if the product's epilogue can add it: a row or a column. */
const Tensor *bias_of(const Call &call) {
  if (!call.addend || call.beta.toComplexDouble() != c10::complex<double>(1) || call.a->dim() != 2 ||
      (call.out && call.out->is_same(*call.addend)))
    return nullptr;
  const int64_t m = call.a->size(0), n = call.b->size(1);
  const at::IntArrayRef shape = call.addend->sizes();
  const bool is_row = shape == at::IntArrayRef({n}) || shape == at::IntArrayRef({1, n});
  return is_row || (shape == at::IntArrayRef({m, 1}) && n != 1) ? call.addend : nullptr;
}

/* Returns true if tesela multiplies the call's tensors where they are. */
bool is_plain(const Call &call) {
  if (call.a->dim() != 2)
    return false;
  for (const Tensor *tensor : {call.addend, call.a, call.b, call.out}) {
    if (!tensor)
      continue;
    if (tensor->numel() == 0 || tensor->scalar_type() != call.a->scalar_type() ||
        tensor->device() != call.a->device() || type_of(*tensor) == TESELA_TYPE_DEFAULT)
      return false;
    if (tensor == call.addend && !bias_of(call)) /* it is copied */
      continue;
    int repeated = 0; /* dimensions whose elements are one */
    for (int64_t i = 0; i < tensor->dim(); i++)
      repeated += tensor->stride(i) == 0 && tensor->size(i) > 1;
    const bool is_factor = tensor == call.a || tensor == call.b;
    if (is_factor ? tensor->stride(0) == 0 && tensor->stride(1) == 0 && tensor->numel() > 1
                  : tensor->is_conj() || repeated > 0)
      return false;
  }
  return true;
}

/* Returns true if the tensors' address ranges have a common byte. */
bool overlap(const Tensor &one, const Tensor &other) {
  const Span x(one), y(other);
  return x.first < y.first + y.bytes && y.first < x.first + x.bytes;
}

/* Queues a plan on the current stream. Streams are shared by threads, so a lock protects them. */
tesela_status enqueue(const Product &product, const Tensor &like, Operands *operands) {
  static std::mutex lock;
  static std::unordered_map<uint64_t, tesela_stream *> streams;
  static tesela_context *owner; /* context of the streams */
  void *handle = nullptr;
  TORCH_CHECK(aoti_torch_get_current_cuda_stream(like.get_device(), &handle) == 0, "no current stream");
  Tensor memory;
  core::DeviceRanges::Place workspace;
  const int64_t bytes = static_cast<int64_t>(tesela_plan_workspace(product.plan));
  if (bytes > 0) {
    memory = at::empty({bytes}, like.options().dtype(at::kByte));
    const Span span(memory);
    const tesela_status status =
        known->ranges.find(product.context, like.get_device(), span.first, span.bytes, 0, &workspace);
    if (status != TESELA_OK)
      return status;
  }
  std::lock_guard guard(lock);
  if (owner != product.context) {
    streams.clear();
    owner = product.context;
  }
  tesela_stream *&stream =
      streams[reinterpret_cast<uint64_t>(handle) * 64 + static_cast<uint64_t>(like.get_device())];
  if (!stream) {
    const tesela_status status =
        tesela_stream_wrap(product.context, core::DeviceName(like.get_device()).text, handle, &stream);
    if (status != TESELA_OK)
      return status;
  }
  tesela_operands queued{};
  queued.a = &operands->desc.a;
  queued.b = &operands->desc.b;
  queued.c = &operands->desc.c;
  queued.epilogue = &operands->epilogue;
  return tesela_plan_enqueue(product.plan, stream, &queued, workspace.buffer.get());
}

/* Computes a product. A new result is written to `made`, which is empty for other calls. */
tesela_status multiply(Product &product, const Call &call, Tensor *made, bool is_plan) {
  const bool has_beta = call.addend && call.beta.toComplexDouble() != c10::complex<double>(0);
  const Tensor *const bias = bias_of(call);
  if (!call.out)
    *made = at::empty({call.a->size(0), call.b->size(1)}, call.a->options());
  const Tensor &out = call.out ? *call.out : *made;
  if (has_beta && !bias && !out.is_same(*call.addend) && !is_plan)
    out.copy_(call.addend->expand(out.sizes()));
  Operands operands;
  const tesela_status status =
      operands.fill(product, call, out, bias, has_beta && !bias ? call.beta : Scalar(0));
  if (status != TESELA_OK)
    return status;
  if (is_plan)
    return tesela_plan_create(product.context, &operands.desc, &product.plan);
  return call.a->is_cuda() ? enqueue(product, *call.a, &operands)
                           : tesela_gemm(product.context, &operands.desc, nullptr);
}

/* --- kernels --- */

/* Python's kernels behind the kernels here, by operator, out= and device. */
std::unique_ptr<c10::SafeKernelFunction> python_kernels[OPERATORS][2][2];
std::optional<c10::OperatorHandle> operators[OPERATORS][2];

/* Lets Python's kernel compute a call. It may store a decision if the key is known. */
void call_python(Call *call, bool is_known, c10::DispatchKeySet keys, bool is_cuda,
                 torch::jit::Stack *stack) {
  struct Outer {
    Call *call = missed;
    ~Outer() { missed = call; }
  } const outer;
  missed = is_known ? call : nullptr;
  python_kernels[call->op][call->out != nullptr][is_cuda]->callBoxed(
      *operators[call->op][call->out != nullptr], keys, stack);
}

/* --- races --- */

bool is_captured(const Tensor &tensor) {
  void *stream = nullptr;
  int status = 0;
  return tensor.is_cuda() && aoti_torch_get_current_cuda_stream(tensor.get_device(), &stream) == 0 &&
         cudaStreamIsCapturing(stream, &status) == 0 && status != 0;
}

/* Chooses the faster library, if all times are known. */
void finish(Product &product) {
  std::lock_guard guard(product.lock);
  if (product.library != BOTH)
    return;
  for (const auto &timers : product.timers)
    if (timers.empty() ||
        !std::all_of(timers.begin(), timers.end(), [](auto &each) { return each.is_known(); }))
      return;
  for (const int library : {TORCH, TESELA}) {
    double least = INFINITY;
    for (const Timer &timer : product.timers[library])
      least = std::min(least, timer.microseconds());
    product.microseconds[library] = least;
    product.timers[library].clear();
  }
  product.library = product.microseconds[TESELA] < GAIN * product.microseconds[TORCH] ? TESELA : TORCH;
}

/* Computes a call by the next library of a race. */
template <class Original>
Tensor race(Product &product, const Call &call, const Original &original) {
  if (is_captured(*call.a)) {
    product.calls[TORCH]++;
    return original();
  }
  int step;
  {
    std::lock_guard guard(product.lock);
    step = product.step++;
  }
  const Library library = step % 2 ? TESELA : TORCH;
  std::optional<Timer> timer;
  if (step >= 2 && step < 2 + 2 * ROUNDS)
    timer.emplace(*call.a);
  Tensor made;
  if (library == TORCH)
    made = original();
  else if (multiply(product, call, &made, false) != TESELA_OK) {
    std::unique_lock guard(product.lock); /* another thread may be choosing */
    product.library = TORCH;
    guard.unlock();
    product.calls[TORCH]++;
    return original();
  }
  product.calls[library]++;
  if (timer) {
    timer->stop();
    std::lock_guard guard(product.lock);
    product.timers[library].push_back(std::move(*timer));
  }
  if (step >= 1 + 2 * ROUNDS)
    finish(product);
  return made;
}

/* --- kernels in front of Python's --- */

/* Finds a call's product. Returns NULL if Python's kernel computes the call; *is_known is true if it may
 * store a decision. */
std::shared_ptr<Product> find_product(int64_t patch, Call *call, bool *is_known) {
  std::shared_ptr<Product> product;
  *is_known = fill_key(patch, call);
  if (*is_known) {
    std::shared_lock lock(known->lock);
    const auto found = known->products.find(call->key);
    product = found == known->products.end() ? nullptr : found->second;
  }
  if (product && product->library != TORCH && call->out)
    for (const Tensor *tensor : {call->addend, call->a, call->b})
      if (tensor && !(tensor == call->addend && call->out->is_same(*tensor)) && overlap(*call->out, *tensor))
        return nullptr;
  return product;
}

template <class Original, class... Arguments>
Tensor run(Call &call, c10::DispatchKeySet keys, bool is_cuda, const Original &original,
           const Arguments &...arguments) {
  const int64_t patch = active_patch.load(std::memory_order_acquire);
  if (patch == 0 || has_names(call))
    return original();
  bool is_known = false;
  const std::shared_ptr<Product> product = find_product(patch, &call, &is_known);
  if (!product) {
    torch::jit::Stack stack;
    (stack.emplace_back(arguments), ...);
    call_python(&call, is_known, keys, is_cuda, &stack);
    return std::move(stack.back()).toTensor();
  }
  const int library = product->library.load(std::memory_order_acquire);
  if (library == BOTH)
    return race(*product, call, original);
  product->calls[library].fetch_add(1, std::memory_order_relaxed);
  if (library == TORCH)
    return original();
  Tensor made;
  const tesela_status status = multiply(*product, call, &made, false);
  TORCH_CHECK(status == TESELA_OK, "tesela: ", tesela_last_error());
  return made;
}

template <class Original, class... Arguments>
Tensor &run_out(Call &call, c10::DispatchKeySet keys, bool is_cuda, Tensor &out, const Original &original,
                const Arguments &...arguments) {
  run(
      call, keys, is_cuda,
      [&] {
        original();
        return Tensor();
      },
      arguments..., out);
  return out;
}

#define PRODUCT_KERNELS(NAME, OP, PLACE, IS_CUDA)                                                            \
  Tensor NAME##_##PLACE(c10::DispatchKeySet keys, const Tensor &a, const Tensor &b) {                        \
    Call call{OP, nullptr, &a, &b, nullptr, 0, 1, {}};                                                       \
    return run(                                                                                              \
        call, keys, IS_CUDA, [&] { return at::PLACE::NAME(a, b); }, a, b);                                   \
  }                                                                                                          \
  Tensor &NAME##_out_##PLACE(c10::DispatchKeySet keys, const Tensor &a, const Tensor &b, Tensor &out) {      \
    Call call{OP, nullptr, &a, &b, &out, 0, 1, {}};                                                          \
    return run_out(                                                                                          \
        call, keys, IS_CUDA, out, [&] { at::PLACE::NAME##_out(out, a, b); }, a, b);                          \
  }

#define SUM_KERNELS(NAME, OP, PLACE, IS_CUDA)                                                                \
  Tensor NAME##_##PLACE(c10::DispatchKeySet keys, const Tensor &addend, const Tensor &a, const Tensor &b,    \
                        const Scalar &beta, const Scalar &alpha) {                                           \
    Call call{OP, &addend, &a, &b, nullptr, beta, alpha, {}};                                                \
    return run(                                                                                              \
        call, keys, IS_CUDA, [&] { return at::PLACE::NAME(addend, a, b, beta, alpha); }, addend, a, b, beta, \
        alpha);                                                                                              \
  }                                                                                                          \
  Tensor &NAME##_out_##PLACE(c10::DispatchKeySet keys, const Tensor &addend, const Tensor &a,                \
                             const Tensor &b, const Scalar &beta, const Scalar &alpha, Tensor &out) {        \
    Call call{OP, &addend, &a, &b, &out, beta, alpha, {}};                                                   \
    return run_out(                                                                                          \
        call, keys, IS_CUDA, out, [&] { at::PLACE::NAME##_out(out, addend, a, b, beta, alpha); }, addend, a, \
        b, beta, alpha);                                                                                     \
  }

#define PLACE_KERNELS(PLACE, IS_CUDA)                                                                        \
  PRODUCT_KERNELS(mm, MM, PLACE, IS_CUDA)                                                                    \
  PRODUCT_KERNELS(bmm, BMM, PLACE, IS_CUDA)                                                                  \
  SUM_KERNELS(addmm, ADDMM, PLACE, IS_CUDA)                                                                  \
  SUM_KERNELS(baddbmm, BADDBMM, PLACE, IS_CUDA)                                                              \
  void register_##PLACE(torch::Library &library) {                                                           \
    library.impl("mm", TORCH_FN(mm_##PLACE));                                                                \
    library.impl("mm.out", TORCH_FN(mm_out_##PLACE));                                                        \
    library.impl("bmm", TORCH_FN(bmm_##PLACE));                                                              \
    library.impl("bmm.out", TORCH_FN(bmm_out_##PLACE));                                                      \
    library.impl("addmm", TORCH_FN(addmm_##PLACE));                                                          \
    library.impl("addmm.out", TORCH_FN(addmm_out_##PLACE));                                                  \
    library.impl("baddbmm", TORCH_FN(baddbmm_##PLACE));                                                      \
    library.impl("baddbmm.out", TORCH_FN(baddbmm_out_##PLACE));                                              \
  }

PLACE_KERNELS(cpu, false)
PLACE_KERNELS(cuda, true)

struct SilentHandler : c10::WarningHandler {
  void process(const c10::Warning &) override {} /* PyTorch warns of each replaced kernel */
};

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

/* Returns the version of PyTorch for which this library was built. */
EXPORT const char *tesela_torch_version(void) {
  return TORCH_VERSION;
}

/* Replaces Python's kernels, once. Returns 0 on success. */
EXPORT int tesela_torch_register(int has_cuda) {
  try {
    SilentHandler silent;
    c10::WarningUtils::WarningHandlerGuard guard(&silent);
    for (int place = 0; place <= has_cuda; place++) {
      const auto key = place ? c10::DispatchKey::CUDA : c10::DispatchKey::CPU;
      for (int op = 0; op < OPERATORS; op++)
        for (int out = 0; out < 2; out++) {
          operators[op][out] = c10::Dispatcher::singleton().findSchemaOrThrow(names[op], out ? "out" : "");
          python_kernels[op][out][place] = std::make_unique<c10::SafeKernelFunction>(
              operators[op][out]->getComputedKernelForDispatchKey(key));
        }
      auto *const library = new torch::Library(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
      (place ? register_cuda : register_cpu)(*library); /* for ever, since threads may be inside of kernels */
    }
    return 0;
  } catch (const std::exception &) {
    return 1;
  }
}

/* Sets the patch() that is active. 0: none. */
EXPORT void tesela_torch_activate(int64_t patch) {
  active_patch.store(patch, std::memory_order_release);
}

/* Stores what Python knows of the call that its kernel computes now. `library`: 0 PyTorch, 1 tesela, 2 the
 * faster one. Texts may be NULL. Returns 1, or 0 if Python computes the next call, too. */
EXPORT int tesela_torch_remember(int64_t number, int library, void *context, const char *accuracy,
                                 const char *bits) {
  if (!missed || (library != TORCH && !is_plain(*missed)))
    return 0;
  try {
    auto product = std::make_shared<Product>();
    product->number = number;
    product->library = library;
    product->context = static_cast<tesela_context *>(context);
    product->accuracy = accuracy ? accuracy : "";
    product->bits = bits ? bits : "";
    Tensor unused;
    if (library != TORCH && missed->a->is_cuda() && multiply(*product, *missed, &unused, true) != TESELA_OK)
      return 0;
    std::unique_lock lock(known->lock);
    return known->products.size() < PRODUCTS_MAX && known->products.emplace(missed->key, product).second;
  } catch (const std::exception &) {
    return 0;
  }
}

/* Adds the calls of a product that Python did not see, by PyTorch and by tesela, and sets both times of its
 * race. Returns the library: 0, 1, 2 (not decided), or -1 if no product is known. */
EXPORT int tesela_torch_state(int64_t number, int64_t *calls, double *microseconds) {
  std::shared_lock lock(known->lock);
  int library = -1;
  for (const auto &each : known->products)
    if (each.second->number == number) {
      std::lock_guard guard(each.second->lock);
      library = each.second->library;
      for (const int i : {TORCH, TESELA}) {
        calls[i] += each.second->calls[i];
        microseconds[i] = each.second->microseconds[i];
      }
    }
  return library;
}

/* Forgets the products of a patch(). 0: all that is known, which stays in memory since its context died. */
EXPORT void tesela_torch_forget(int64_t patch) {
  if (patch == 0) {
    known = new Known;
    return;
  }
  std::unique_lock lock(known->lock);
  for (auto each = known->products.begin(); each != known->products.end();)
    each = each->first.words[0] == patch ? known->products.erase(each) : std::next(each);
}

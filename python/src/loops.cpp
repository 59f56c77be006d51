/* Replaces the loops of NumPy's ufunc matmul. NumPy checks shapes, converts operands and copies overlapping
 * arrays before it calls a loop. Therefore `@` and numpy.matmul keep all rules of NumPy. */
#include "arrays.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <tuple>

#define NO_IMPORT_ARRAY
#define PY_ARRAY_UNIQUE_SYMBOL tesela_numpy
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

namespace core {

/* Loops of matmul: NumPy's type number, tesela's type. TESELA_TYPE_DEFAULT: NumPy computes. */
#define LOOP_LIST(X)                                                                                         \
  X(NPY_FLOAT, TESELA_F32)                                                                                   \
  X(NPY_DOUBLE, TESELA_F64)                                                                                  \
  X(NPY_CFLOAT, TESELA_C64)                                                                                  \
  X(NPY_CDOUBLE, TESELA_C128)                                                                                \
  X(NPY_HALF, TESELA_F16)                                                                                    \
  X(NPY_BOOL, TESELA_TYPE_DEFAULT)                                                                           \
  X(NPY_BYTE, TESELA_TYPE_DEFAULT)                                                                           \
  X(NPY_UBYTE, TESELA_TYPE_DEFAULT)                                                                          \
  X(NPY_SHORT, TESELA_TYPE_DEFAULT)                                                                          \
  X(NPY_USHORT, TESELA_TYPE_DEFAULT)                                                                         \
  X(NPY_INT, TESELA_TYPE_DEFAULT)                                                                            \
  X(NPY_UINT, TESELA_TYPE_DEFAULT)                                                                           \
  X(NPY_LONG, TESELA_TYPE_DEFAULT)                                                                           \
  X(NPY_ULONG, TESELA_TYPE_DEFAULT)                                                                          \
  X(NPY_LONGLONG, TESELA_TYPE_DEFAULT)                                                                       \
  X(NPY_ULONGLONG, TESELA_TYPE_DEFAULT)                                                                      \
  X(NPY_LONGDOUBLE, TESELA_TYPE_DEFAULT)                                                                     \
  X(NPY_CLONGDOUBLE, TESELA_TYPE_DEFAULT)                                                                    \
  X(NPY_OBJECT, TESELA_TYPE_DEFAULT)

/* Reasons for the choice of a call's library. */
#define REASON_LIST(X)                                                                                       \
  X(TAKEN, "tesela")                                                                                         \
  X(TYPE, "a type that tesela would change or does not have")                                                \
  X(EMPTY, "no elements to multiply")                                                                        \
  X(VECTOR, "a vector")                                                                                      \
  X(THIN, "few rows, columns or terms")                                                                      \
  X(SMALL, "small")                                                                                          \
  X(OWN_TRANSPOSE, "a matrix times its own transpose")                                                       \
  X(STRIDES, "strides that tesela does not take")                                                            \
  X(REFUSED, "refused by tesela")

enum Reason {
#define REASON_MEMBER(name, ...) REASON_##name,
  REASON_LIST(REASON_MEMBER)
#undef REASON_MEMBER
      REASONS
};

static const char *const reason_texts[] = {
#define REASON_TEXT(name, text) text,
    REASON_LIST(REASON_TEXT)
#undef REASON_TEXT
};

/* Settings of a patch. Equal settings are one object that is never freed, since loops read it without
 * a lock. */
struct Rules {
  std::string device, accuracy, bits;
  bool takes_all; /* products for which NumPy is expected to be faster, too */
};

static std::atomic<const Rules *> rules; /* NULL: NumPy computes */
static std::atomic<uint64_t> counts[REASONS];
static std::mutex message_lock;
static std::string message; /* of the last refused product; guarded by message_lock */

/* One loop's call: `count` products (m x k) (k x n). Strides and steps are in bytes. */
struct LoopCall {
  npy_intp count, m, k, n;
  const npy_intp *steps; /* A, B, C: to the next product; then rows and columns of A, B and C */
  char *const *data;
  tesela_type type;
};

static bool are_multiples(const LoopCall &call, npy_intp size) {
  for (int i = 0; i < 9; i++)
    if (call.steps[i] % size != 0)
      return false;
  return true;
}

/* Smallest side and number of multiply-adds from which tesela is expected to be faster than NumPy with a
 * tuned BLAS. NumPy has no BLAS for float16. */
static constexpr npy_intp MIN_SIDE = 4;
static constexpr double MIN_VOLUME = 40 * 40 * 40;

static Reason choose(const LoopCall &call, const Rules &now) {
  const npy_intp *const steps = call.steps;
  if (!call.type)
    return REASON_TYPE;
  if (call.count == 0 || call.m == 0 || call.n == 0 || call.k == 0)
    return REASON_EMPTY;
  if (!are_multiples(call, static_cast<npy_intp>(type_size(call.type))) ||
      is_repeated(call.m, call.k, steps[3], steps[4]) || is_repeated(call.k, call.n, steps[5], steps[6]))
    return REASON_STRIDES;
  if (now.takes_all || call.type == TESELA_F16)
    return REASON_TAKEN;
  if (call.m == 1 || call.n == 1)
    return REASON_VECTOR;
  if (std::min(std::min(call.m, call.n), call.k) < MIN_SIDE)
    return REASON_THIN;
  const double count = static_cast<double>(call.count), m = static_cast<double>(call.m);
  if (count * m * static_cast<double>(call.k) * static_cast<double>(call.n) < MIN_VOLUME)
    return REASON_SMALL;
  if (call.data[0] == call.data[1] && call.m == call.n && steps[3] == steps[6] && steps[4] == steps[5])
    return REASON_OWN_TRANSPOSE;
  return REASON_TAKEN;
}

/* Returns the process's context. Takes Python's lock in the first call of a process. */
static tesela_context *context_of_loop() {
  if (tesela_context *const known = known_context())
    return known;
  nb::gil_scoped_acquire lock;
  tesela_context *const made = context();
  if (!made)
    PyErr_Clear();
  return made;
}

template <class Matrix>
static void set_operand(const LoopCall &call, int operand, npy_intp rows, npy_intp cols, Matrix *matrix) {
  const int64_t size = static_cast<int64_t>(type_size(call.type));
  int64_t row_stride = call.steps[3 + 2 * operand] / size, col_stride = call.steps[4 + 2 * operand] / size;
  normalize(rows, cols, &row_stride, &col_stride);
  matrix->data = call.data[operand];
  set_strides(row_stride, col_stride, matrix);
  matrix->type = call.type;
}

static tesela_status multiply_loop(const LoopCall &call, const Rules &now) {
  tesela_context *const where = context_of_loop();
  const int64_t size = static_cast<int64_t>(type_size(call.type));
  tesela_gemm_desc desc{};
  tesela_batch batch{};
  if (!where)
    return TESELA_OUT_OF_MEMORY;
  desc.m = call.m;
  desc.n = call.n;
  desc.k = call.k;
  set_operand(call, 0, call.m, call.k, &desc.a);
  set_operand(call, 1, call.k, call.n, &desc.b);
  set_operand(call, 2, call.m, call.n, &desc.c);
  desc.options.device = now.device.empty() ? nullptr : now.device.c_str();
  desc.options.accuracy = now.accuracy.empty() ? nullptr : now.accuracy.c_str();
  desc.options.reproducibility = now.bits.empty() ? nullptr : now.bits.c_str();
  if (call.count == 1)
    return tesela_gemm(where, &desc, nullptr);
  batch.count = call.count;
  batch.a_stride = call.steps[0] / size;
  batch.b_stride = call.steps[1] / size;
  batch.c_stride = call.steps[2] / size;
  return tesela_gemm_batched(where, &desc, &batch, nullptr);
}

static void keep_refusal() {
  const std::string text = tesela_last_error();
  std::lock_guard<std::mutex> lock(message_lock);
  message = text;
}

/* Warns that NumPy computes a product for which a guarantee was asked. */
static void warn(Reason reason) {
  nb::gil_scoped_acquire lock;
  if (PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                       "NumPy computes matmul without the guarantee that tesela.numpy.patch() was asked "
                       "for: %s",
                       reason == REASON_REFUSED ? tesela_last_error() : reason_texts[reason]) != 0)
    PyErr_WriteUnraisable(nullptr); /* a loop cannot raise */
}

using Loop = PyUFuncGenericFunction;
static constexpr int LOOPS = 0
#define LOOP_ONE(...) +1
    LOOP_LIST(LOOP_ONE)
#undef LOOP_ONE
    ;
static Loop numpy_loops[LOOPS];

static void run_loop(int index, tesela_type type, char **data, const npy_intp *dims, const npy_intp *steps,
                     void *extra) {
  const LoopCall call = {dims[0], dims[1], dims[2], dims[3], steps, data, type};
  const Rules *const now = rules.load(std::memory_order_acquire);
  if (now) {
    Reason reason = choose(call, *now);
    if (reason == REASON_TAKEN && multiply_loop(call, *now) != TESELA_OK) {
      reason = REASON_REFUSED;
      keep_refusal();
    }
    if (!(now->accuracy.empty() && now->bits.empty()) &&
        (reason == REASON_REFUSED || reason == REASON_STRIDES))
      warn(reason);
    counts[reason].fetch_add(1, std::memory_order_relaxed);
    if (reason == REASON_TAKEN)
      return;
  }
  numpy_loops[index](data, const_cast<npy_intp *>(dims), const_cast<npy_intp *>(steps), extra);
}

enum LoopIndex {
#define LOOP_MEMBER(number, ...) LOOP_##number,
  LOOP_LIST(LOOP_MEMBER)
#undef LOOP_MEMBER
};

template <int index, tesela_type type>
static void loop(char **data, const npy_intp *dims, const npy_intp *steps, void *extra) {
  run_loop(index, type, data, dims, steps, extra);
}

struct LoopRow {
  int number;
  Loop loop;
};
static const LoopRow loop_rows[] = {
#define LOOP_ROW(number, type) {number, loop<LOOP_##number, type>},
    LOOP_LIST(LOOP_ROW)
#undef LOOP_ROW
};

/* Puts tesela's loops in the place of NumPy's, once. Each loop calls NumPy's unless `rules` is set. */
static void install_loops() {
  static bool is_installed;
  if (is_installed)
    return;
  if (_import_umath() < 0)
    throw nb::python_error();
  nb::object matmul = nb::module_::import_("numpy").attr("matmul");
  PyUFuncObject *const ufunc = reinterpret_cast<PyUFuncObject *>(matmul.ptr());
  for (int i = 0; i < LOOPS; i++) {
    const int number = loop_rows[i].number, signature[] = {number, number, number};
    if (!numpy_loops[i] &&
        PyUFunc_ReplaceLoopBySignature(ufunc, loop_rows[i].loop, signature, &numpy_loops[i]) != 0)
      raise(PyExc_RuntimeError,
            "numpy.matmul has no loop for type number %d: this NumPy is unknown to tesela", number);
  }
  is_installed = true;
}

/* Device, accuracy, bits, takes_all. */
using Settings = std::tuple<std::string, std::string, std::string, bool>;

/* Sets the settings of later products; None: NumPy computes. */
static void set_rules(const std::optional<Settings> &settings) {
  static std::map<Settings, Rules> all;
  if (!settings) {
    rules.store(nullptr, std::memory_order_release);
    return;
  }
  install_loops();
  const auto &[device, accuracy, bits, takes_all] = *settings;
  rules.store(&all.try_emplace(*settings, Rules{device, accuracy, bits, takes_all}).first->second,
              std::memory_order_release);
}

/* Returns the number of matmul's calls for each reason, and the message of the last refusal. */
static nb::tuple loop_counts() {
  nb::dict numbers;
  for (int i = 0; i < REASONS; i++)
    numbers[reason_texts[i]] = counts[i].load(std::memory_order_relaxed);
  std::lock_guard<std::mutex> lock(message_lock);
  return nb::make_tuple(numbers, message);
}

static void clear_counts() {
  for (std::atomic<uint64_t> &count : counts)
    count.store(0, std::memory_order_relaxed);
}

void bind_loops(nb::module_ &module) {
  module.def("set_loop_rules", &set_rules, nb::arg("settings").none());
  module.def("loop_counts", &loop_counts);
  module.def("clear_loop_counts", &clear_counts);
}

} // namespace core

/* Tensors whose type has DLPack's table of C functions (__dlpack_c_exchange_api__ of DLPack 1.2; PyTorch 2.10
 * and later): reading and creating them without a DLPack object, and plain products on a CUDA device. */
#include "arrays.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device.h"

namespace core {

/* DLPack's structs that nanobind does not define. */
struct Managed {
  uint32_t major, minor;
  void *context;
  void (*deleter)(Managed *self);
  uint64_t flags;
  nb::dlpack::dltensor tensor;
};

using SetError = void (*)(void *context, const char *kind, const char *message);

struct Exchange {
  uint32_t major, minor;
  Exchange *older;
  int (*allocate)(nb::dlpack::dltensor *prototype, Managed **out, void *context, SetError set_error);
  int (*managed_of)(void *object, Managed **out);
  int (*object_of)(Managed *tensor, void **object);
  int (*tensor_of)(void *object, nb::dlpack::dltensor *out);
  int (*current_stream)(int32_t device_type, int32_t device_id, void **stream);
};

static PyObject *is_neg, *is_conj, *new_empty_name;
static FromPython torch_library("tesela._libraries", "Torch");

static bool has_text(nb::handle object, const char *text) {
  return object.is_valid() && PyUnicode_Check(object.ptr()) &&
         PyUnicode_CompareWithASCIIString(object.ptr(), text) == 0;
}

/* Returns true for torch.Tensor and torch.nn.Parameter. Subclasses may redefine products. */
static bool is_torch_type(PyTypeObject *type) {
  nb::object name = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), "__name__"));
  const bool is_tensor = has_text(name, "Tensor");
  PyErr_Clear();
  if (!is_tensor && !has_text(name, "Parameter"))
    return false;
  nb::object module = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), "__module__"));
  PyErr_Clear();
  return has_text(module, is_tensor ? "torch" : "torch.nn.parameter");
}

/* Tables of Tensor and of Parameter, as far as they were looked up. */
static struct {
  PyTypeObject *type;
  const Exchange *table;
} known_types[2];
/* The last other type that was looked up. */
static PyTypeObject *other_type;

/* Returns the table of a tensor's type; NULL if the type has none. */
static const Exchange *exchange_of(PyTypeObject *type) {
  for (const auto &row : known_types)
    if (type == row.type)
      return row.table;
  if (type == other_type)
    return nullptr;
  Py_INCREF(reinterpret_cast<PyObject *>(type)); /* keeps the type alive, so that its address stays unique */
  if (!is_torch_type(type)) {
    Py_XDECREF(reinterpret_cast<PyObject *>(std::exchange(other_type, type)));
    return nullptr;
  }
  nb::object capsule =
      nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), "__dlpack_c_exchange_api__"));
  const Exchange *table = nullptr;
  if (capsule.is_valid() && PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api"))
    table = static_cast<const Exchange *>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  PyErr_Clear();
  if (!table || table->major != 1 || !table->tensor_of)
    table = nullptr;
  known_types[known_types[0].type != nullptr] = {type, table};
  return table;
}

/* Calls a method without arguments that returns True or False. Returns false if it fails, too. */
static bool method_is_true(PyObject *object, PyObject *name) {
  nb::object answer =
      nb::steal(PyObject_VectorcallMethod(name, &object, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
  if (!answer.is_valid())
    PyErr_Clear();
  return answer.ptr() != Py_False;
}

static const Exchange *read_tensor(PyObject *object, nb::dlpack::dltensor *tensor) {
  const Exchange *const exchange = exchange_of(Py_TYPE(object));
  if (!exchange)
    return nullptr;
  if (exchange->tensor_of(object, tensor) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  return tensor->strides || tensor->ndim == 0 ? exchange : nullptr;
}

bool see_tensor(PyObject *object, Array *array) {
  nb::dlpack::dltensor tensor;
  if (!read_tensor(object, &tensor) || tensor.ndim > DIMS)
    return false;
  const int device = tensor.device.device_type;
  if (!tensor.data && std::find(tensor.shape, tensor.shape + tensor.ndim, 0) == tensor.shape + tensor.ndim)
    return false; /* a wrapper of torch.func has no memory */
  Lies &at = array->at;
  at.type = type_of_dlpack(tensor.dtype);
  if (!at.type || (device != nb::device::cpu::value && device != nb::device::cuda::value) ||
      method_is_true(object, is_neg))
    return false;
  at.data = static_cast<char *>(tensor.data) + tensor.byte_offset;
  if (reinterpret_cast<uintptr_t>(at.data) % type_size(at.type) != 0)
    return false;
  at.device_type = device;
  at.device_id = tensor.device.device_id;
  at.ndim = tensor.ndim;
  std::copy(tensor.shape, tensor.shape + tensor.ndim, at.shape);
  std::copy(tensor.strides, tensor.strides + tensor.ndim, at.strides);
  array->conjugate = (at.type == TESELA_C64 || at.type == TESELA_C128) && method_is_true(object, is_conj);
  array->object = object;
  array->library = torch_library.get().ptr();
  return true;
}

static void set_python_error(void *, const char *, const char *message) {
  PyErr_SetString(PyExc_MemoryError, message);
}

/* Fills a matrix from a tensor. Returns false if the tensor is not plain. */
static bool is_plain_tensor(PyObject *object, nb::dlpack::device *device, DeviceMatrix *matrix) {
  nb::dlpack::dltensor tensor;
  if (!read_tensor(object, &tensor))
    return false;
  matrix->type = type_of_dlpack(tensor.dtype);
  if (tensor.device.device_type != nb::device::cuda::value || tensor.ndim != 2 || tensor.shape[0] < 1 ||
      tensor.shape[1] < 1 ||
      (matrix->type != TESELA_F32 && matrix->type != TESELA_F64 && matrix->type != TESELA_F16 &&
       matrix->type != TESELA_BF16))
    return false; /* complex tensors may have a pending conjugation */
  matrix->data = static_cast<char *>(tensor.data) + tensor.byte_offset;
  matrix->rows = tensor.shape[0];
  matrix->cols = tensor.shape[1];
  matrix->row_stride = tensor.strides[0];
  matrix->col_stride = tensor.strides[1];
  matrix->conjugate = false;
  if (matrix->cols == 1)
    matrix->col_stride = matrix->row_stride != 1 || matrix->rows == 1 ? 1 : matrix->rows;
  if (matrix->rows == 1)
    matrix->row_stride = matrix->col_stride == 1 ? matrix->cols : 1;
  *device = tensor.device;
  if (matrix->row_stride == 0 && matrix->col_stride == 0)
    return false;
  /* The imaginary part of a conjugate is a tensor with a pending negation. */
  return !method_is_true(object, is_neg);
}

/* Writes the address range of a matrix's elements. */
static void range_of(const DeviceMatrix &matrix, uintptr_t *low, uintptr_t *high) {
  const uintptr_t size = type_size(matrix.type);
  *low = *high = reinterpret_cast<uintptr_t>(matrix.data);
  for (const int64_t reach : {(matrix.rows - 1) * matrix.row_stride, (matrix.cols - 1) * matrix.col_stride})
    *(reach < 0 ? low : high) += static_cast<uintptr_t>(reach) * size;
  *high += size;
}

static bool are_apart(const DeviceMatrix &a, const DeviceMatrix &b) {
  uintptr_t a_low, a_high, b_low, b_high;
  range_of(a, &a_low, &a_high);
  range_of(b, &b_low, &b_high);
  return a_high <= b_low || b_high <= a_low;
}

/* Creates a dense tensor. Returns NULL with Python's error set. */
static PyObject *new_tensor(const Exchange *exchange, nb::dlpack::device device, tesela_type type, int ndim,
                            const int64_t *shape, char **data) {
  nb::dlpack::dltensor prototype{};
  prototype.device = device;
  prototype.ndim = ndim;
  prototype.dtype = dlpack_type(type);
  prototype.shape = const_cast<int64_t *>(shape);
  Managed *made = nullptr;
  void *object = nullptr;
  if (exchange->allocate(&prototype, &made, nullptr, set_python_error) != 0)
    return nullptr;
  *data = static_cast<char *>(made->tensor.data) + made->tensor.byte_offset;
  return exchange->object_of(made, &object) == 0 ? static_cast<PyObject *>(object) : nullptr;
}

nb::object new_tensor_like(const Array &like, tesela_type type, int ndim, const int64_t *shape, Array *into) {
  nb::dlpack::dltensor tensor;
  if (!exchange_of(Py_TYPE(like.object)))
    return nb::object();
  Lies &at = into->at;
  /* Memory of DLPack cannot be resized, and record_stream() ignores it. */
  nb::object size = tuple_of_shape(ndim, shape), made;
  PyObject *const arguments[] = {like.object, size.ptr()};
  if (type == like.at.type)
    made = nb::steal(
        PyObject_VectorcallMethod(new_empty_name, arguments, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
  else
    made =
        nb::handle(like.object)
            .attr("new_empty")(size, nb::arg("dtype") = nb::module_::import_("torch").attr(dtype_name(type)));
  if (!made.is_valid())
    throw nb::python_error();
  if (!read_tensor(made.ptr(), &tensor))
    return nb::object();
  at.data = static_cast<char *>(tensor.data) + tensor.byte_offset;
  into->name = "out";
  into->object = made.ptr();
  into->library = like.library;
  at.type = type;
  at.device_type = like.at.device_type;
  at.device_id = like.at.device_id;
  at.ndim = ndim;
  int64_t stride = 1;
  for (int i = ndim; i-- > 0; stride *= shape[i]) {
    at.shape[i] = shape[i];
    at.strides[i] = stride;
  }
  return made;
}

nb::object new_tensor_memory(int device_id, size_t bytes, char **data) {
  const int64_t shape[] = {static_cast<int64_t>(bytes)};
  nb::object made = nb::steal(
      new_tensor(known_types[0].table, {nb::device::cuda::value, device_id}, TESELA_U8, 1, shape, data));
  if (!made.is_valid())
    throw nb::python_error();
  return made;
}

bool stream_of_tensor(const Array &array, uintptr_t *handle) {
  const Exchange *const exchange = array.object ? exchange_of(Py_TYPE(array.object)) : nullptr;
  void *stream = nullptr;
  if (!exchange)
    return false;
  if (exchange->current_stream(array.at.device_type, array.at.device_id, &stream) != 0)
    throw nb::python_error();
  *handle = reinterpret_cast<uintptr_t>(stream);
  return true;
}

PyObject *multiply_tensors(PyObject *first, PyObject *second, PyObject *out, bool *is_done) {
  *is_done = false;
  const Exchange *const exchange = exchange_of(Py_TYPE(first));
  nb::dlpack::device device, other;
  DeviceProduct product{};
  if (!exchange || exchange != exchange_of(Py_TYPE(second)) || !is_plain_tensor(first, &device, &product.a) ||
      !is_plain_tensor(second, &other, &product.b) || device.device_id != other.device_id ||
      product.a.type != product.b.type || product.a.cols != product.b.rows)
    return nullptr;
  product.m = product.a.rows;
  product.n = product.b.cols;
  product.k = product.a.cols;
  product.device_id = device.device_id;
  product.alpha = 1;
  product.new_workspace = new_tensor_memory;
  if (out && (exchange != exchange_of(Py_TYPE(out)) || !is_plain_tensor(out, &other, &product.c) ||
              device.device_id != other.device_id || product.c.type != product.a.type ||
              product.c.rows != product.m || product.c.cols != product.n ||
              !are_apart(product.c, product.a) || !are_apart(product.c, product.b)))
    return nullptr;
  *is_done = true;
  void *stream = nullptr;
  if (exchange->current_stream(device.device_type, device.device_id, &stream) != 0)
    return nullptr;
  nb::object result = nb::borrow(out);
  try {
    tesela_record record{};
    if (!out) {
      const int64_t shape[] = {product.m, product.n};
      Array like, made;
      like.object = first;
      like.at.type = product.a.type;
      result = new_tensor_like(like, product.a.type, 2, shape, &made);
      if (!result.is_valid()) {
        *is_done = false;
        return nullptr;
      }
      product.c = {made.at.data, product.a.type, product.m, product.n, product.n, 1, false};
    }
    enqueue(product, true, reinterpret_cast<uintptr_t>(stream), &record);
  } catch (nb::python_error &error) {
    error.restore();
    return nullptr;
  }
  return result.release().ptr();
}

/* Returns the types, places, shapes and strides of tensors as bytes; None: tesela cannot read one in place.
 */
static PyObject *tensor_key(PyObject *, PyObject *const *objects, Py_ssize_t count, PyObject *) {
  std::string key;
  for (Py_ssize_t i = 0; i < count; i++) {
    Array array;
    if (!see_tensor(objects[i], &array))
      Py_RETURN_NONE;
    const Lies &at = array.at;
    const int32_t words[] = {at.type, at.device_type, at.device_id, at.ndim, array.conjugate};
    const size_t size = static_cast<size_t>(at.ndim) * sizeof *at.shape;
    key.append(reinterpret_cast<const char *>(words), sizeof words);
    key.append(reinterpret_cast<const char *>(at.shape), size);
    key.append(reinterpret_cast<const char *>(at.strides), size);
  }
  return PyBytes_FromStringAndSize(key.data(), static_cast<Py_ssize_t>(key.size()));
}

/* Returns True if the first tensor's address range meets that of another one, or if one cannot be read. */
static PyObject *tensors_overlap(PyObject *, PyObject *const *objects, Py_ssize_t count, PyObject *) {
  Array first, other;
  bool meet = !see_tensor(objects[0], &first);
  for (Py_ssize_t i = 1; i < count && !meet; i++)
    meet = !see_tensor(objects[i], &other) || ranges_meet(first.at, other.at);
  return PyBool_FromLong(meet);
}

void bind_tensor(nb::module_ &module) {
  define(module, "tensors_overlap", tensors_overlap, nullptr);
  define(module, "tensor_key", tensor_key, nullptr);
  is_neg = PyUnicode_InternFromString("is_neg");
  is_conj = PyUnicode_InternFromString("is_conj");
  new_empty_name = PyUnicode_InternFromString("new_empty");
}

} // namespace core

/* Products of plain tensors on a CUDA device whose type has DLPack's table of C functions
 * (__dlpack_c_exchange_api__ of DLPack 1.2; PyTorch 2.10 and later). No Python method is called between
 * the arguments and the result. */
#include "core.h"

#include <cstring>

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

static PyObject *is_neg;

/* Returns the table of a tensor type, looked up once. Subclasses are excluded, since they may redefine
 * products. */
static const Exchange *exchange_of(PyTypeObject *type) {
  static PyTypeObject *known;
  static const Exchange *found;
  if (type == known)
    return found;
  if (strcmp(type->tp_name, "Tensor") != 0 && strcmp(type->tp_name, "Parameter") != 0)
    return nullptr;
  nb::object capsule =
      nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), "__dlpack_c_exchange_api__"));
  const Exchange *table = nullptr;
  if (capsule.is_valid() && PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api"))
    table = static_cast<const Exchange *>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  PyErr_Clear();
  if (!table || table->major != 1 || !table->tensor_of)
    table = nullptr;
  Py_INCREF(type); /* keeps the type alive, so that its address stays unique */
  known = type;
  found = table;
  return table;
}

static void set_python_error(void *, const char *, const char *message) {
  PyErr_SetString(PyExc_MemoryError, message);
}

/* Fills a matrix from a tensor. Returns false if the tensor is not plain. */
static bool is_plain_tensor(const Exchange *exchange, PyObject *object, nb::dlpack::device *device,
                            DeviceMatrix *matrix) {
  nb::dlpack::dltensor tensor;
  if (exchange->tensor_of(object, &tensor) != 0) {
    PyErr_Clear();
    return false;
  }
  matrix->type = type_of_dlpack(tensor.dtype);
  if (tensor.device.device_type != nb::device::cuda::value || tensor.ndim != 2 || !tensor.strides ||
      tensor.shape[0] < 1 || tensor.shape[1] < 1 ||
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
  nb::object negative = nb::steal(PyObject_CallMethodNoArgs(object, is_neg));
  if (!negative.is_valid())
    PyErr_Clear();
  return negative.ptr() == Py_False;
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

/* Creates a tensor of the product's shape and type. */
static PyObject *new_tensor(const Exchange *exchange, nb::dlpack::device device, DeviceProduct *product) {
  int64_t shape[2] = {product->m, product->n};
  nb::dlpack::dltensor prototype{};
  prototype.device = device;
  prototype.ndim = 2;
  prototype.dtype = dlpack_type(product->a.type);
  prototype.shape = shape;
  Managed *made = nullptr;
  void *object = nullptr;
  if (exchange->allocate(&prototype, &made, nullptr, set_python_error) != 0)
    return nullptr;
  product->c = {static_cast<char *>(made->tensor.data) + made->tensor.byte_offset,
                product->a.type,
                shape[0],
                shape[1],
                shape[1],
                1,
                false};
  return exchange->object_of(made, &object) == 0 ? static_cast<PyObject *>(object) : nullptr;
}

PyObject *multiply_tensors(PyObject *first, PyObject *second, PyObject *out, bool *is_done) {
  *is_done = false;
  const Exchange *const exchange = exchange_of(Py_TYPE(first));
  nb::dlpack::device device, other;
  DeviceProduct product{};
  if (!exchange || exchange != exchange_of(Py_TYPE(second)) ||
      !is_plain_tensor(exchange, first, &device, &product.a) ||
      !is_plain_tensor(exchange, second, &other, &product.b) || device.device_id != other.device_id ||
      product.a.type != product.b.type || product.a.cols != product.b.rows)
    return nullptr;
  product.m = product.a.rows;
  product.n = product.b.cols;
  product.k = product.a.cols;
  product.device_id = device.device_id;
  product.alpha = 1;
  if (out && (exchange != exchange_of(Py_TYPE(out)) || !is_plain_tensor(exchange, out, &other, &product.c) ||
              device.device_id != other.device_id || product.c.type != product.a.type ||
              product.c.rows != product.m || product.c.cols != product.n ||
              !are_apart(product.c, product.a) || !are_apart(product.c, product.b)))
    return nullptr;
  *is_done = true;
  void *stream = nullptr;
  if (exchange->current_stream(device.device_type, device.device_id, &stream) != 0)
    return nullptr;
  nb::object result = out ? nb::borrow(out) : nb::steal(new_tensor(exchange, device, &product));
  if (!result.is_valid())
    return nullptr;
  try {
    enqueue(product, true, reinterpret_cast<uintptr_t>(stream), nullptr);
  } catch (nb::python_error &error) {
    error.restore();
    return nullptr;
  }
  return result.release().ptr();
}

void bind_tensor() {
  is_neg = PyUnicode_InternFromString("is_neg");
}

} // namespace core

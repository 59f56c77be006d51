/* NumPy's arrays by their C structs: the buffer protocol would take longer than a small product. */
#include "core.h"

#include <map>

#include <nanobind/stl/string.h>

#define PY_ARRAY_UNIQUE_SYMBOL tesela_numpy
#include <numpy/arrayobject.h>

namespace core {

bool begin_numpy() {
  return _import_array() >= 0;
}

bool is_numpy(PyObject *object) {
  return PyArray_Check(object);
}

/* Returns the type that is named like the type of an array's elements. Types of ml_dtypes have other numbers
   in every process. */
static tesela_type type_by_name(PyArrayObject *array) {
  static std::map<int, tesela_type> known;
  const int number = PyArray_TYPE(array);
  const auto row = known.find(number);
  if (row != known.end())
    return row->second;
  nb::str name(nb::handle(PyArray_DESCR(array)->typeobj).attr("__name__"));
  const tesela_type type = type_named(name.c_str());
  if (number >= 0) /* types that are not in NumPy's list have -1 */
    known[number] = type;
  return type;
}

static tesela_type type_of(PyArrayObject *array) {
  switch (PyArray_TYPE(array)) {
  case NPY_DOUBLE:
    return TESELA_F64;
  case NPY_FLOAT:
    return TESELA_F32;
  case NPY_HALF:
    return TESELA_F16;
  case NPY_CFLOAT:
    return TESELA_C64;
  case NPY_CDOUBLE:
    return TESELA_C128;
  case NPY_BYTE:
    return TESELA_I8;
  case NPY_UBYTE:
    return TESELA_U8;
  case NPY_INT:
    return TESELA_I32;
  default:
    return type_by_name(array);
  }
}

void lies_numpy(PyObject *object, Lies *lies) {
  PyArrayObject *array = reinterpret_cast<PyArrayObject *>(object);
  const npy_intp size = PyArray_ITEMSIZE(array), *const shape = PyArray_SHAPE(array),
                 *const strides = PyArray_STRIDES(array);
  lies->data = PyArray_BYTES(array);
  lies->type = type_of(array);
  lies->ndim = PyArray_NDIM(array);
  lies->read_only = !PyArray_ISWRITEABLE(array);
  if (!PyArray_ISNOTSWAPPED(array))
    lies->copy = "its byte order is not the machine's";
  else if (!PyArray_ISALIGNED(array))
    lies->copy = "it is not aligned";
  for (int i = 0; i < lies->ndim; i++) {
    const npy_intp stride = strides[i];
    lies->shape[i] = shape[i];
    lies->strides[i] = size == 8 ? stride >> 3 : size ? stride / size : 0;
    if (size && lies->strides[i] * size != stride && shape[i] > 1)
      lies->copy = "its strides are not multiples of an element";
  }
}

void view_numpy(PyObject *object, View *view) {
  PyArrayObject *array = reinterpret_cast<PyArrayObject *>(object);
  const char kind = PyArray_DESCR(array)->kind;
  lies_numpy(object, view);
  if (view->type) {
    view->dtype = dtype_name(view->type);
  } else if ((kind == 'i' || kind == 'u') &&
             PyArray_ISNOTSWAPPED(array)) { /* computed here, since NumPy's own function takes microseconds */
    view->dtype = (kind == 'i' ? "int" : "uint") + std::to_string(8 * PyArray_ITEMSIZE(array));
  } else {
    nb::object text = nb::steal(PyObject_Str(reinterpret_cast<PyObject *>(PyArray_DESCR(array))));
    if (!text.is_valid())
      throw nb::python_error();
    view->dtype = nb::cast<std::string>(text);
  }
  view->owner = nb::borrow(object);
}

} // namespace core

/* tesela.matmul: products of plain NumPy matrices are done here, from the arguments to the result, in one function. All
 * others go to Python's (tesela/_products.py), which a call's keywords, types, dimensions or libraries may need. */
#include "core.h"
#include "device.h"

#define NO_IMPORT_ARRAY
#define PY_ARRAY_UNIQUE_SYMBOL tesela_numpy
#include <numpy/arrayobject.h>

namespace core {

static PyObject *general;  /* Python's function, for what is not plain */
static PyObject *out_name; /* "out" */
static constexpr int64_t ALONE =
    1 << 15; /* fewer multiplications than this are over before a lock is given away */
static constexpr int64_t PIECES =
    INT64_C(1) << 31; /* more than this are done in pieces, between which Ctrl-C is heard */

struct Plain {
  int64_t rows, cols, row_stride, col_stride;
  char *data;
};

/* A whole matrix of this type, with one stride of one element. */
static inline bool is_plain(PyObject *object, int type, Plain *plain) {
  if (!PyArray_CheckExact(object))
    return false;
  PyArrayObject *array = reinterpret_cast<PyArrayObject *>(object);
  if (PyArray_NDIM(array) != 2 || PyArray_TYPE(array) != type || !PyArray_ISBEHAVED_RO(array))
    return false;
  const npy_intp size = type == NPY_DOUBLE ? sizeof(double) : sizeof(float);
  const npy_intp row = PyArray_STRIDE(array, 0), col = PyArray_STRIDE(array, 1);
  plain->rows = PyArray_DIM(array, 0);
  plain->cols = PyArray_DIM(array, 1);
  plain->data = PyArray_BYTES(array);
  if (plain->rows < 1 || plain->cols < 1 || ((row | col) & (size - 1)))
    return false;
  if (plain->cols == 1 || col == size) {
    plain->col_stride = 1;
    plain->row_stride = plain->rows == 1 ? plain->cols : row / size;
    return true;
  }
  plain->row_stride = 1;
  plain->col_stride = col / size;
  return plain->rows == 1 || row == size;
}

/* The addresses from the first to the last element, for what must not overlap. */
static bool are_apart(const Plain &a, const Plain &b, size_t size) {
  const auto range = [size](const Plain &plain, uintptr_t *low, uintptr_t *high) {
    *low = *high = reinterpret_cast<uintptr_t>(plain.data);
    for (const int64_t reach : {(plain.rows - 1) * plain.row_stride, (plain.cols - 1) * plain.col_stride})
      *(reach < 0 ? low : high) += static_cast<uintptr_t>(reach) * size;
    *high += size;
  };
  uintptr_t a_low, a_high, b_low, b_high;
  range(a, &a_low, &a_high);
  range(b, &b_low, &b_high);
  return a_high <= b_low || b_high <= a_low;
}

static tesela_matrix matrix_of(const Plain &plain, tesela_type type) {
  tesela_matrix matrix{};
  matrix.data = plain.data;
  set_strides(plain.row_stride, plain.col_stride, &matrix);
  matrix.type = type;
  return matrix;
}

static PyObject *multiply_plain(PyObject *first, PyObject *second, PyObject *out, bool *is_done) {
  Plain a, b, c;
  *is_done = false;
  const int number =
      PyArray_CheckExact(first) ? PyArray_TYPE(reinterpret_cast<PyArrayObject *>(first)) : NPY_VOID;
  if ((number != NPY_DOUBLE && number != NPY_FLOAT) || !is_plain(first, number, &a) ||
      !is_plain(second, number, &b) || a.cols != b.rows)
    return nullptr;
  const int64_t m = a.rows, n = b.cols, k = a.cols;
  int64_t area, work;
  if (__builtin_mul_overflow(m, n, &area) || __builtin_mul_overflow(area, k, &work) || work > PIECES)
    return nullptr;
  const tesela_type type = number == NPY_DOUBLE ? TESELA_F64 : TESELA_F32;
  if (out) {
    const size_t size = type_size(type);
    if (!is_plain(out, number, &c) || !PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject *>(out)) ||
        c.rows != m || c.cols != n || !are_apart(a, c, size) || !are_apart(b, c, size) ||
        (c.row_stride == 0 && m > 1))
      return nullptr;
    Py_INCREF(out);
  } else {
    npy_intp dims[2] = {m, n};
    *is_done = true;
    out = PyArray_SimpleNew(2, dims, number);
    if (!out)
      return nullptr;
    c = {m, n, n, 1, PyArray_BYTES(reinterpret_cast<PyArrayObject *>(out))};
  }
  *is_done = true;
  tesela_context *const where = context();
  tesela_gemm_desc desc{};
  desc.m = m;
  desc.n = n;
  desc.k = k;
  desc.a = matrix_of(a, type);
  desc.b = matrix_of(b, type);
  desc.c.data = c.data;
  set_strides(c.row_stride, c.col_stride, &desc.c);
  desc.c.type = type;
  tesela_status status = TESELA_INTERNAL;
  if (where && work <= ALONE) {
    status = tesela_gemm(where, &desc, nullptr);
  } else if (where) {
    PyThreadState *const state = PyEval_SaveThread();
    status = tesela_gemm(where, &desc, nullptr);
    PyEval_RestoreThread(state);
  }
  if (status == TESELA_OK)
    return out;
  if (where)
    set_error(status);
  Py_DECREF(out);
  return nullptr;
}

static PyObject *matmul(PyObject *, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  if ((count == 2 && (named == 0 || (named == 1 && PyTuple_GET_ITEM(names, 0) == out_name))) ||
      (count == 3 && named == 0)) {
    bool is_done;
    PyObject *const out = count + named == 3 && arguments[2] != Py_None ? arguments[2] : nullptr;
    PyObject *const result = multiply_plain(arguments[0], arguments[1], out, &is_done);
    if (is_done)
      return result;
    if (!PyArray_CheckExact(arguments[0])) {
      PyObject *const tensor = multiply_tensors(arguments[0], arguments[1], out, &is_done);
      if (is_done)
        return tensor;
    }
  }
  return PyObject_Vectorcall(general, arguments, static_cast<size_t>(count), names);
}

static std::string documentation;
static PyMethodDef matmul_definition = {"matmul",
                                        reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(matmul)),
                                        METH_FASTCALL | METH_KEYWORDS, nullptr};

/* Makes tesela.matmul of Python's function for the general case, whose signature and documentation it takes on. */
static nb::object plain_first(nb::object function, const char *signature) {
  general = function.inc_ref().ptr();
  documentation =
      std::string("matmul") + signature + "\n--\n\n" + nb::cast<const char *>(function.attr("__doc__"));
  matmul_definition.ml_doc = documentation.c_str();
  nb::object module_name = nb::str("tesela");
  PyObject *made = PyCFunction_NewEx(&matmul_definition, nullptr, module_name.ptr());
  if (!made)
    throw nb::python_error();
  return nb::steal(made);
}

void bind_matmul(nb::module_ &module) {
  out_name = PyUnicode_InternFromString("out");
  module.def("plain_first", &plain_first);
}

} // namespace core

/* The binding of libtesela: conversions between Python's objects and its structs. What is not conversion
 * is Python. */
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <vector>

#include <tesela/tesela.h>

namespace nb = nanobind;

namespace core {

/* Dimensions that an array may have: NumPy's limit. */
constexpr int DIMS = 64;

/* Place of an array's elements in memory. Strides are in elements. */
struct Lies {
  char *data = nullptr;
  tesela_type type = TESELA_TYPE_DEFAULT; /* default: an element type that tesela does not have */
  int ndim = 0;
  int device_type = 1, device_id = 0; /* DLPack's numbers: 1 host, 2 CUDA, 4 OpenCL */
  bool read_only = false;
  const char *copy = nullptr; /* why tesela cannot read it where it lies */
  int64_t shape[DIMS], strides[DIMS];

  bool on_host() const { return device_type == 1 || device_type == 3; }
  void add(int64_t dim, int64_t stride);
};

/* One array of any library. */
struct View : Lies {
  std::string dtype;        /* "float64", or the array's own name of it */
  nb::object owner;         /* keeps the memory */
  nb::ndarray<nb::ro> held; /* keeps the memory of arrays that came by DLPack */
};

/* What a caller asks of a result, as descriptions have it. */
struct Ask {
  std::string accuracy, bits; /* "": nothing */
  uint64_t measure_error = 0;

  const char *accuracy_or_null() const { return accuracy.empty() ? nullptr : accuracy.c_str(); }
  const char *bits_or_null() const { return bits.empty() ? nullptr : bits.c_str(); }
};

/* Python's Info of a record. */
nb::object info_of(const tesela_record &record);

/* Makes of a status that is not TESELA_OK the exception that it stands for, with the library's sentence. */
void check(tesela_status status);
/* The same without C++'s exceptions: sets Python's error. */
void set_error(tesela_status status);

/* The process's context, made at its first use, and anew in the child of a fork. NULL with Python's error
 * set. */
tesela_context *context();
/* The same, with Python's error thrown. */
tesela_context *open();

/* Number of the context in use: another one after a fork and after configure(). */
int context_number();

/* Sets an operand's strides, which are those of memory: a 0 beside another stride is a broadcast. */
template <class Matrix>
void set_strides(int64_t row_stride, int64_t col_stride, Matrix *matrix) {
  matrix->row_stride = row_stride;
  matrix->col_stride = col_stride;
  if (row_stride != 0 && col_stride == 0)
    matrix->col_stride = TESELA_STRIDE_ZERO;
  if (row_stride == 0 && col_stride != 0)
    matrix->row_stride = TESELA_STRIDE_ZERO;
}

/* Attribute of one of the package's Python modules; it is looked up once. */
class FromPython {
public:
  constexpr FromPython(const char *module, const char *name) : module_(module), name_(name) {}
  nb::handle get();

private:
  const char *module_, *name_;
  PyObject *found_ = nullptr;
};

/* Raises an exception of Python's with a sentence, in PyErr_Format's form. */
[[noreturn]] void raise(PyObject *type, const char *format, ...);

const char *dtype_name(tesela_type type);
size_t type_size(tesela_type type);
nb::dlpack::dtype dlpack_type(tesela_type type);
tesela_type type_of_dlpack(nb::dlpack::dtype dtype);
/* By Python's name; TESELA_TYPE_DEFAULT where there is none. */
tesela_type type_named(const char *dtype);

View view_of(nb::handle array);
/* Of no array: an element type by its name. */
View view_named(const std::string &dtype);
/* NumPy's C interface, which every file but one uses by these. */
bool begin_numpy();
bool is_numpy(PyObject *object);
void lies_numpy(PyObject *array, Lies *lies);
void view_numpy(PyObject *array, View *view);

void bind_context(nb::module_ &module);
void bind_view(nb::module_ &module);
void bind_arrays(nb::module_ &module);
void bind_matmul(nb::module_ &module);
void bind_plan(nb::module_ &module);
void bind_others(nb::module_ &module);
void bind_device(nb::module_ &module);
void bind_pieces(nb::module_ &module);

} // namespace core

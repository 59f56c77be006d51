/* The binding of libtesela: conversions between Python's objects and its structs. What is not conversion is Python. */
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <vector>

#include <tesela/tesela.h>

namespace nb = nanobind;

namespace core {

/* One array of any library, as it lies in memory. Strides are in elements. */
struct View {
  void *data = nullptr;
  tesela_type type = TESELA_TYPE_DEFAULT; /* default: an element type that tesela does not have */
  std::string dtype;                      /* "float64", or the array's own name of it */
  std::vector<int64_t> shape, strides;
  int device_type = 1, device_id = 0; /* DLPack's numbers: 1 host, 2 CUDA, 4 OpenCL */
  bool read_only = false;
  std::string copy;         /* why tesela cannot read it where it lies; "" where it can */
  nb::object owner;         /* keeps the memory */
  nb::ndarray<nb::ro> held; /* so does this, of arrays that came by DLPack */
};

/* What a caller asks of a result, as descriptions have it. */
struct Ask {
  std::string accuracy, bits; /* "": nothing */
  uint64_t measure_error = 0;

  const char *accuracy_or_null() const { return accuracy.empty() ? nullptr : accuracy.c_str(); }
  const char *bits_or_null() const { return bits.empty() ? nullptr : bits.c_str(); }
};

/* A record for Python's Info, in its order. */
nb::tuple tuple_of(const tesela_record &record);

/* Makes of a status that is not TESELA_OK the exception that it stands for, with the library's sentence. */
void check(tesela_status status);
/* The same without C++'s exceptions: sets Python's error. */
void set_error(tesela_status status);

/* The process's context, made at its first use, and anew in the child of a fork. NULL with Python's error set. */
tesela_context *context();
/* The same, with Python's error thrown. */
tesela_context *open();

/* Sets an operand's strides, which are those of memory: a 0 beside another stride is a broadcast. */
template <class Matrix>
void set_strides(int64_t row_stride, int64_t col_stride, Matrix *matrix) {
  const bool are_given = row_stride != 0 || col_stride != 0;
  matrix->row_stride = are_given && row_stride == 0 ? TESELA_STRIDE_ZERO : row_stride;
  matrix->col_stride = are_given && col_stride == 0 ? TESELA_STRIDE_ZERO : col_stride;
}

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
void view_numpy(PyObject *array, View *view);

void bind_context(nb::module_ &module);
void bind_view(nb::module_ &module);
void bind_matmul(nb::module_ &module);
void bind_calls(nb::module_ &module);
void bind_device(nb::module_ &module);
void bind_pieces(nb::module_ &module);

} // namespace core

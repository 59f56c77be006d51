/* Operands of a call: how arrays of any library are seen, which types go together, and how a result is
 * made. */
#pragma once

#include "core.h"

#include <complex>

namespace core {

using Scalar = std::complex<double>;

/* An array as a call was given it, or a copy that stands for it. */
struct Array {
  Lies at;
  const char *name = "";       /* of the caller's argument */
  PyObject *object = nullptr;  /* the array; borrowed, or of keeper */
  PyObject *library = nullptr; /* a class of _libraries.py; NULL: NumPy */
  nb::object keeper;           /* a Seen of _libraries.py, where Python looked at the array */
  bool conjugate = false;
};

/* Matrices of an array: rows x cols, at even distances along each dimension of a batch. Strides are in
 * elements. */
struct Matrices {
  int64_t row_stride, col_stride;
  bool conjugate;
  int64_t steps[DIMS];
};

/* Vector of a product's last step. */
struct Line {
  Array array;
  bool is_given = false;
  int64_t stride = 1, length = 0;
};

/* Last step of a product. */
struct Finish {
  Line bias, scale_a, scale_b;
  tesela_bias_axis along = TESELA_NO_BIAS;
  tesela_activation activation = TESELA_NO_ACTIVATION;
  tesela_scaling scaling_a = TESELA_NO_SCALE, scaling_b = TESELA_NO_SCALE;

  bool is_empty() const {
    return along == TESELA_NO_BIAS && activation == TESELA_NO_ACTIVATION && scaling_a == TESELA_NO_SCALE &&
           scaling_b == TESELA_NO_SCALE;
  }
};

/* Keywords of all functions. */
enum Word {
  A,
  B,
  OUT,
  C,
  ALPHA,
  BETA,
  TRANS_A,
  TRANS_B,
  DTYPE,
  DEVICE,
  STRATEGY,
  STREAM,
  ACCURACY,
  BITS,
  MEASURE_ERROR,
  FULL_OUTPUT,
  BIAS,
  ACTIVATION,
  SCALE_A,
  SCALE_B,
  RUNS,
  X,
  Y,
  LOWER,
  UNIT_DIAGONAL,
  TRANS,
  RIGHT,
  HERMITIAN,
  TRIANGLE,
  WORDS
};

constexpr uint32_t bit(Word word) {
  return UINT32_C(1) << word;
}

/* Arguments of a call; NULL where one was not given, or is None. */
struct Arguments {
  PyObject *at[WORDS] = {};
  PyObject *operator[](Word word) const { return at[word]; }
};

struct Function {
  const char *name;
  uint32_t words; /* a bit for each keyword that it takes */
  int positional; /* arguments that need no keyword */
  Word order[3];  /* of these */
  int required;   /* the first of these, which cannot be left out */
};

/* Reads the arguments of a call by the vectorcall protocol. False with Python's error set. */
bool read_arguments(const Function &function, PyObject *const *objects, size_t count, PyObject *names,
                    Arguments *arguments);

/* Looks at an operand; what tesela cannot read where it lies is copied. */
void see(PyObject *object, const char *name, Array *array);
/* Looks at a result, which is never copied. */
void see_out(PyObject *object, Array *array);
/* A Seen of _libraries.py for an array. */
nb::object seen_of(const Array &array);

/* Converts an array of a type by its name; an array of another type stays as it is. */
void convert(Array *array, const std::string &from, tesela_type type);
/* Lets a Seen stand for an array. */
void replace(nb::object seen, Array *array);
/* Copies an array whose strides the library cannot say. */
void make_compact(Array *array);
/* Sees that two arrays are on one device, or both on the host. */
void check_place(const Array &first, const Array &other);
/* Sees that a result of this shape may be written there, and shares no memory with the inputs. */
void check_out(const Array &out, int ndim, const int64_t *shape, const Array *const *inputs, int count);

/* Finds the type of a product's result. A and B are converted where NumPy would convert them. out may be
 * NULL. */
tesela_type result_type(Array *a, Array *b, PyObject *dtype, const Array *out, bool is_scaled);

/* Says whether a product of these arrays may be of a type, as they are. */
bool is_possible(const Array &a, const Array &b, tesela_type type, bool is_scaled);

Scalar scalar(PyObject *value, tesela_type kind, const char *name, double otherwise);
/* Text of a keyword; NULL where it was not given. */
const char *text_of(PyObject *value, const char *name);
bool is_true(PyObject *value);
/* Reads accuracy, bits and measure_error. */
Ask ask_of(const Arguments &arguments);

nb::object tuple_of_shape(int ndim, const int64_t *shape);
/* Strides of a matrix, where those of dimensions of 1 are the ones of a dense matrix. */
void normalize(int64_t rows, int64_t cols, int64_t *row_stride, int64_t *col_stride);
inline bool is_repeated(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  return rows > 1 && cols > 1 && row_stride == 0 && col_stride == 0;
}

/* Says how the last two dimensions of an operand lie; a single one is a row, or a column. */
void lay_out(Array *array, int batch_dims, bool is_column, Matrices *matrices);
/* Reads "n", "t" or "c", in either case. */
char letter_of(PyObject *how, const char *name);
/* Says how a matrix lies that takes part as it is, transposed, or conjugated and transposed. Writes its
 * sizes. */
void lay_out_op(Array *array, const char *function, char letter, int64_t *rows, int64_t *cols,
                Matrices *matrices);
/* Address of an element, so many of them from the first. */
const char *at_row(const Array &array, int64_t elements);
/* Describes a matrix for the library, from a row on. */
void set_matrix(const Array &array, const Matrices &lies, int64_t row, tesela_matrix *matrix);
/* Describes a result of two dimensions. */
void set_result(const Array &array, int64_t m, int64_t n, tesela_result *result);

/* Reads bias, activation and scales of a product of m x n. is_turned: its one column is shown as a row. */
void read_finish(const Arguments &arguments, const Array &like, int64_t m, int64_t n, tesela_type kind,
                 bool is_turned, Finish *finish);

/* Makes an array of a library for a result. */
nb::object new_result(const Array &like, tesela_type kind, int ndim, const int64_t *shape, Array *into);
/* Makes an array without elements, of the library and the device of another one. */
nb::object new_empty(const Array &like, tesela_type kind, Array *Array_in);
/* Makes of a result what its library's callers expect. */
nb::object finished(const Array &like, nb::object result);
/* (result, info), or the result alone. */
PyObject *given_back(nb::object result, bool with_info, const tesela_record &record);

/* Calls the library; other threads of Python run meanwhile unless the call is short. */
template <class Call>
tesela_status call_library(bool is_short, const Call &call) {
  if (is_short)
    return call();
  nb::gil_scoped_release others_run;
  return call();
}

/* Fewer multiplications than this are done before Python's lock could be given away and taken back. */
constexpr int64_t ALONE = 1 << 15;

inline tesela_vector vector_of(const Line &line) {
  tesela_vector vector{};
  if (line.is_given) {
    vector.data = line.array.at.data;
    vector.stride = line.stride;
    vector.type = line.array.at.type;
  }
  return vector;
}

using PythonFunction = PyObject *(*)(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                     PyObject *names);
/* Gives a function of the vectorcall protocol to Python. */
void define(nb::module_ &module, const char *name, PythonFunction function, const char *text);

/* Calls a C++ function for Python: its exceptions become Python's. */
template <class Call>
PyObject *guarded(const Call &call) {
  try {
    return call();
  } catch (nb::python_error &error) {
    error.restore();
  } catch (nb::builtin_exception &error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

} // namespace core

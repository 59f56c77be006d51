/* Operands of a call: reading arrays of any library, choosing types, and creating results. */
#pragma once

#include "core.h"

#include <complex>

namespace core {

using Scalar = std::complex<double>;

/* Array of a call's argument, or a copy of it. */
struct Array {
  Lies at;
  const char *name = "";       /* name of the argument, for messages */
  PyObject *object = nullptr;  /* the Python array; borrowed, or owned by keeper */
  PyObject *library = nullptr; /* class of _libraries.py; NULL: NumPy */
  nb::object keeper;           /* Seen object of _libraries.py, if Python code read the array; else empty */
  bool conjugate = false;
};

/* Layout of an array as matrices of rows x cols, at equal distances along each dimension of a batch.
 * Strides are in elements. */
struct Matrices {
  int64_t row_stride, col_stride;
  bool conjugate;
  int64_t steps[DIMS];
};

/* Vector of a product's epilogue. */
struct Line {
  Array array;
  bool is_given = false;
  int64_t stride = 1, length = 0;
};

/* Epilogue of a product. */
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
  VERIFY,
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

/* Arguments of a call; NULL: missing or None. */
struct Arguments {
  PyObject *at[WORDS] = {};
  PyObject *operator[](Word word) const { return at[word]; }
};

struct Function {
  const char *name;
  uint32_t words; /* one bit for each accepted keyword */
  int positional; /* number of arguments that may be positional */
  Word order[3];  /* keywords of the positional arguments, in order */
  int required;   /* number of leading positional arguments that must be given */
};

/* Reads the arguments of a call by the vectorcall protocol. Returns false with Python's error set. */
bool read_arguments(const Function &function, PyObject *const *objects, size_t count, PyObject *names,
                    Arguments *arguments);

/* Reads an operand. An array that tesela cannot read in place is copied. */
void see(PyObject *object, const char *name, Array *array);
/* Reads a result array, which is never copied. */
void see_out(PyObject *object, Array *array);
/* Reads a tensor of PyTorch by its type's table of C functions (tensor.cpp). Returns false for other objects
 * and for tensors that Python code reads: pending negations, other types, other devices. */
bool see_tensor(PyObject *object, Array *array);
/* Creates a dense tensor with the device of `like`. Returns an empty object without the table. */
nb::object new_tensor_like(const Array &like, tesela_type type, int ndim, const int64_t *shape, Array *into);
/* Writes the handle of the current stream on a tensor's device. Returns false without the table. */
bool stream_of_tensor(const Array &array, uintptr_t *handle);
/* Returns a Seen object of _libraries.py for an array. */
nb::object seen_of(const Array &array);

/* Converts an array of type `from` to a type; an array of another type does not change. */
void convert(Array *array, const std::string &from, tesela_type type);
void replace(nb::object seen, Array *array);
/* Copies an array whose strides the library cannot express. */
void make_compact(Array *array);
/* Returns true if the address ranges of two arrays' elements have a common byte. */
bool ranges_meet(const Lies &lies, const Lies &other);
/* Raises unless both arrays are on one device, or both on the host. */
void check_place(const Array &first, const Array &other);
/* Raises unless a result of this shape can be written to `out`, and shares no memory with the inputs. */
void check_out(const Array &out, int ndim, const int64_t *shape, const Array *const *inputs, int count);

/* Returns the type of a product's result. A and B are converted if NumPy would convert them. out may be
 * NULL. */
tesela_type result_type(Array *a, Array *b, PyObject *dtype, const Array *out, bool is_scaled);

/* Returns true if a product of these arrays may have this type without a conversion. */
bool is_possible(const Array &a, const Array &b, tesela_type type, bool is_scaled);

Scalar scalar(PyObject *value, tesela_type kind, const char *name, double otherwise);
/* Returns the text of a keyword; NULL: not given. */
const char *text_of(PyObject *value, const char *name);
bool is_true(PyObject *value);
/* Reads accuracy, bits, measure_error and verify. */
Ask ask_of(const Arguments &arguments);

nb::object tuple_of_shape(int ndim, const int64_t *shape);
/* Replaces the strides of dimensions of size 1 by a dense matrix's. */
void normalize(int64_t rows, int64_t cols, int64_t *row_stride, int64_t *col_stride);
inline bool is_repeated(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  return rows > 1 && cols > 1 && row_stride == 0 && col_stride == 0;
}

/* Fills the layout of an operand's last two dimensions; a single one is a row, or a column. */
void lay_out(Array *array, int batch_dims, bool is_column, Matrices *matrices);
/* Reads "n", "t" or "c", in either case. */
char letter_of(PyObject *how, const char *name);
/* Fills the layout and the sizes of a matrix after op: unchanged, transposed, or conjugate-transposed. */
void lay_out_op(Array *array, const char *function, char letter, int64_t *rows, int64_t *cols,
                Matrices *matrices);
/* Returns the address `elements` elements after the first one. */
const char *at_row(const Array &array, int64_t elements);
/* Fills the library's description of a matrix, from row `row` on. */
void set_matrix(const Array &array, const Matrices &lies, int64_t row, tesela_matrix *matrix);
/* Fills the library's description of a two-dimensional result. */
void set_result(const Array &array, int64_t m, int64_t n, tesela_result *result);

/* Reads bias, activation and scales of an m x n product. is_turned: its single column is passed to the
 * library as a row. */
void read_finish(const Arguments &arguments, const Array &like, int64_t m, int64_t n, tesela_type kind,
                 bool is_turned, Finish *finish);

nb::object new_result(const Array &like, tesela_type kind, int ndim, const int64_t *shape, Array *into);
/* Creates an array without elements, of the library and device of `like`. */
nb::object new_empty(const Array &like, tesela_type kind, Array *array);
/* Converts a result to the form that callers of its library expect. */
nb::object finished(const Array &like, nb::object result);
/* Returns (result, info), or only the result. */
PyObject *given_back(nb::object result, bool with_info, const tesela_record &record);

/* Calls the library. Other Python threads run meanwhile, unless the call is short. */
template <class Call>
tesela_status call_library(bool is_short, const Call &call) {
  if (is_short)
    return call();
  const Unlocked others_run;
  return call();
}

/* Multiplications that take less time than releasing and taking Python's lock. */
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
/* Adds a function of the vectorcall protocol to a module. */
void define(nb::module_ &module, const char *name, PythonFunction function, const char *text);

/* Calls a C++ function and converts its exceptions to Python's. */
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

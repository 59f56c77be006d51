/* Binding of libtesela: conversions between Python's objects and C structs. All other code is Python. */
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <unistd.h>
#include <vector>

#include <tesela/tesela.h>

namespace nb = nanobind;

namespace core {

/* Maximum number of dimensions of an array, as in NumPy. */
constexpr int DIMS = 64;

/* Memory layout of an array. Strides are in elements. */
struct Lies {
  char *data = nullptr;
  tesela_type type = TESELA_TYPE_DEFAULT; /* TESELA_TYPE_DEFAULT: the element type is not supported */
  int ndim = 0;
  int device_type = 1, device_id = 0; /* DLPack's constants: 1 host, 2 CUDA, 4 OpenCL */
  bool read_only = false;
  const char *copy = nullptr; /* reason why tesela cannot read the array in place; NULL: it can */
  int64_t shape[DIMS], strides[DIMS];

  bool on_host() const { return device_type == 1 || device_type == 3; }
  void add(int64_t dim, int64_t stride);
};

/* Array of any library. */
struct View : Lies {
  std::string dtype;        /* "float64", or the array's own type name */
  nb::object owner;         /* object that keeps the memory alive */
  nb::ndarray<nb::ro> held; /* keeps the memory of arrays from DLPack alive */
};

/* Requirements of a call: accuracy, reproducibility, error measurement, verification. */
struct Ask {
  std::string accuracy, bits; /* "": the default */
  uint64_t measure_error = 0;
  std::string verify; /* "": the default */

  const char *accuracy_or_null() const { return accuracy.empty() ? nullptr : accuracy.c_str(); }
  const char *bits_or_null() const { return bits.empty() ? nullptr : bits.c_str(); }
  const char *verify_or_null() const { return verify.empty() ? nullptr : verify.c_str(); }
};

/* Converts a record to Python's Info. */
nb::object info_of(const tesela_record &record);

/* Throws the Python exception for a status other than TESELA_OK, with the library's message. */
void check(tesela_status status);
/* Sets Python's error for a status, without a C++ exception. */
void set_error(tesela_status status);

/* Returns the process's context, created at first use, and again in the child of a fork. Returns NULL
 * with Python's error set. */
tesela_context *context();
/* Returns the process's context if it exists, else NULL. Needs no lock. */
tesela_context *known_context();
/* Returns the process's context; throws Python's error on failure. */
tesela_context *open();

/* Returns the number of the current context; it changes after a fork and after configure(). */
int context_number();

/* Sets an operand's strides from real ones: a real 0 with another nonzero stride is a broadcast. */
template <class Matrix>
void set_strides(int64_t row_stride, int64_t col_stride, Matrix *matrix) {
  matrix->row_stride = row_stride;
  matrix->col_stride = col_stride;
  if (row_stride != 0 && col_stride == 0)
    matrix->col_stride = TESELA_STRIDE_ZERO;
  if (row_stride == 0 && col_stride != 0)
    matrix->row_stride = TESELA_STRIDE_ZERO;
}

/* Attribute of one of the package's Python modules, looked up once. */
class FromPython {
public:
  constexpr FromPython(const char *module, const char *name) : module_(module), name_(name) {}
  nb::handle get();

private:
  const char *module_, *name_;
  PyObject *found_ = nullptr;
};

/* Releases Python's lock while it lives. When the interpreter ends, Python before 3.14 ends a daemon thread
 * that takes the lock by pthread_exit(). This thread sleeps instead, as in 3.14: it must not free objects. */
class Unlocked {
public:
  Unlocked() = default;
  Unlocked(const Unlocked &) = delete;
  ~Unlocked() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;)
        pause();
    }
  }

private:
  PyThreadState *const state_ = PyEval_SaveThread();
};

/* Throws a Python exception with a message formatted as PyErr_Format() does. */
[[noreturn]] void raise(PyObject *type, const char *format, ...);

const char *dtype_name(tesela_type type);
size_t type_size(tesela_type type);
nb::dlpack::dtype dlpack_type(tesela_type type);
tesela_type type_of_dlpack(nb::dlpack::dtype dtype);
/* Returns the type with a Python name; TESELA_TYPE_DEFAULT if there is none. */
tesela_type type_named(const char *dtype);

View view_of(nb::handle array);
/* Returns a view without memory that has an element type. */
View view_named(const std::string &dtype);
/* NumPy's C interface; other files use it by these functions. */
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
void bind_loops(nb::module_ &module);
void bind_xla(nb::module_ &module);

} // namespace core

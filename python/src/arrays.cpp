#include "arrays.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>

#define NO_IMPORT_ARRAY
#define PY_ARRAY_UNIQUE_SYMBOL tesela_numpy
#include <numpy/arrayobject.h>

namespace core {

nb::handle FromPython::get() {
  if (!found_)
    found_ = nb::object(nb::module_::import_(module_).attr(name_)).release().ptr();
  return found_;
}

static FromPython see_any("tesela._libraries", "see"), see_any_out("tesela._libraries", "see_out"),
    empty_any("tesela._libraries", "empty_like"), compact_any("tesela._libraries", "compact"),
    share_any("tesela._libraries", "share_memory"), vector_any("tesela._libraries", "see_vector"),
    numpy_library("tesela._libraries", "NumPy"), promoted("tesela._types", "promoted"),
    type_name("tesela._types", "type_name"), number("tesela._types", "number"),
    ask_any("tesela._types", "ask_of"), info_type("tesela._problem", "Info");

void raise(PyObject *type, const char *format, ...) {
  va_list words;
  va_start(words, format);
  PyErr_FormatV(type, format, words);
  va_end(words);
  throw nb::python_error();
}

/* --- arguments --- */

static const char *const word_names[WORDS] = {"a",
                                              "b",
                                              "out",
                                              "c",
                                              "alpha",
                                              "beta",
                                              "trans_a",
                                              "trans_b",
                                              "dtype",
                                              "device",
                                              "strategy",
                                              "stream",
                                              "accuracy",
                                              "bits",
                                              "measure_error",
                                              "verify",
                                              "full_output",
                                              "bias",
                                              "activation",
                                              "scale_a",
                                              "scale_b",
                                              "runs",
                                              "x",
                                              "y",
                                              "lower",
                                              "unit_diagonal",
                                              "trans",
                                              "right",
                                              "hermitian",
                                              "triangle"};
static PyObject *words[WORDS];

static int word_of(PyObject *name) {
  for (int i = 0; i < WORDS; i++)
    if (words[i] == name)
      return i;
  for (int i = 0; i < WORDS; i++)
    if (PyUnicode_Compare(words[i], name) == 0)
      return i;
  return WORDS;
}

bool read_arguments(const Function &function, PyObject *const *objects, size_t count, PyObject *names,
                    Arguments *arguments) {
  const Py_ssize_t named = names ? NB_TUPLE_GET_SIZE(names) : 0;
  if (count > static_cast<size_t>(function.positional)) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d arguments without a keyword, and %zu are given",
                 function.name, function.positional, count);
    return false;
  }
  for (size_t i = 0; i < count; i++)
    arguments->at[function.order[i]] = objects[i];
  bool has_none = std::find(objects, objects + count, Py_None) != objects + count;
  for (Py_ssize_t i = 0; i < named; i++) {
    const int word = word_of(NB_TUPLE_GET_ITEM(names, i));
    if (word == WORDS || !(function.words >> word & 1)) {
      PyErr_Format(PyExc_TypeError, "%s() has no argument '%U'", function.name, NB_TUPLE_GET_ITEM(names, i));
      return false;
    }
    if (arguments->at[word]) {
      PyErr_Format(PyExc_TypeError, "%s() is given '%s' twice", function.name, word_names[word]);
      return false;
    }
    arguments->at[word] = objects[count + static_cast<size_t>(i)];
    has_none = has_none || arguments->at[word] == Py_None;
  }
  for (int i = 0; i < function.required; i++) {
    PyObject *const value = arguments->at[function.order[i]];
    if (value && value != Py_None)
      continue;
    PyErr_Format(PyExc_TypeError,
                 value ? "%s(): %s is None, and an array is expected" : "%s() misses the argument '%s'",
                 function.name, word_names[function.order[i]]);
    return false;
  }
  if (has_none)
    std::replace(std::begin(arguments->at), std::end(arguments->at), Py_None,
                 static_cast<PyObject *>(nullptr));
  return true;
}

const char *text_of(PyObject *value, const char *name) {
  if (!value)
    return nullptr;
  if (!PyUnicode_Check(value))
    raise(PyExc_TypeError, "%s is %R: a name is expected, as text", name, value);
  const char *text = PyUnicode_AsUTF8AndSize(value, nullptr);
  if (!text)
    throw nb::python_error();
  return text;
}

bool is_true(PyObject *value) {
  if (!value || value == Py_False)
    return false;
  if (value == Py_True)
    return true;
  const int truth = PyObject_IsTrue(value);
  if (truth < 0)
    throw nb::python_error();
  return truth != 0;
}

Ask ask_of(const Arguments &arguments) {
  const auto or_none = [](PyObject *value, PyObject *none) { return nb::handle(value ? value : none); };
  nb::object zero = nb::int_(0);
  return nb::cast<Ask>(ask_any.get()(or_none(arguments[ACCURACY], Py_None), or_none(arguments[BITS], Py_None),
                                     or_none(arguments[MEASURE_ERROR], zero.ptr()),
                                     or_none(arguments[VERIFY], Py_None)));
}

Scalar scalar(PyObject *value, tesela_type kind, const char *name, double otherwise) {
  Scalar made = otherwise;
  if (!value)
    return made;
  if (PyFloat_Check(value))
    made = PyFloat_AsDouble(value);
  else if (PyLong_CheckExact(value) &&
           (made = PyLong_AsDouble(value), made.real() != -1 || !PyErr_Occurred()))
    ;
  else
    made = (PyErr_Clear(), nb::cast<Scalar>(number.get()(nb::handle(value), name)));
  if (made.imag() != 0 && kind != TESELA_C64 && kind != TESELA_C128)
    raise(PyExc_TypeError, "%s is complex, %R, and the result is %s", name, value, dtype_name(kind));
  if (kind == TESELA_I32 && made.real() != std::nearbyint(made.real()))
    raise(PyExc_ValueError, "%s is %R, but for integers it must be a whole number", name, value);
  return made;
}

/* --- arrays --- */

static void take(nb::object seen, const char *name, Array *array) {
  PyObject *const items = seen.ptr();
  array->at = nb::cast<const View &>(nb::handle(NB_TUPLE_GET_ITEM(items, 2)));
  array->name = name;
  array->object = NB_TUPLE_GET_ITEM(items, 1);
  array->library = NB_TUPLE_GET_ITEM(items, 0);
  if (array->library == numpy_library.get().ptr())
    array->library = nullptr;
  array->conjugate = NB_TUPLE_GET_ITEM(items, 3) == Py_True;
  array->keeper = std::move(seen);
}

void see(PyObject *object, const char *name, Array *array) {
  array->name = name;
  if (PyArray_CheckExact(object)) {
    lies_numpy(object, &array->at);
    if (array->at.type && !array->at.copy) {
      array->object = object;
      return;
    }
  } else if (see_tensor(object, array)) {
    return;
  }
  take(see_any.get()(nb::handle(object), name), name, array);
}

void see_out(PyObject *object, Array *array) {
  array->name = "out";
  if (PyArray_CheckExact(object)) {
    lies_numpy(object, &array->at);
    array->object = object;
    return;
  }
  if (see_tensor(object, array))
    return;
  take(see_any_out.get()(nb::handle(object)), "out", array);
}

void replace(nb::object seen, Array *array) {
  take(std::move(seen), array->name, array);
}

nb::object seen_of(const Array &array) {
  return array.keeper.is_valid() ? array.keeper : see_any.get()(nb::handle(array.object), array.name);
}

void convert(Array *array, const std::string &from, tesela_type type) {
  nb::object seen = seen_of(*array);
  if (nb::cast<std::string>(seen.attr("view").attr("dtype")) == from)
    take(seen.attr("library").attr("convert")(seen, array->name, dtype_name(type)), array->name, array);
}

void make_compact(Array *array) {
  take(compact_any.get()(seen_of(*array), array->name), array->name, array);
}

static void place_of(const Array &array, char (&text)[32]) {
  if (array.at.on_host())
    snprintf(text, sizeof text, "the host");
  else
    snprintf(text, sizeof text, "cuda:%d", array.at.device_id);
}

void check_place(const Array &first, const Array &other) {
  const bool on_host = first.at.on_host();
  if (on_host == other.at.on_host() && (on_host || first.at.device_id == other.at.device_id))
    return;
  char places[2][32];
  place_of(first, places[0]);
  place_of(other, places[1]);
  raise(PyExc_ValueError, "%s is on %s and %s on %s: both must be in one place", first.name, places[0],
        other.name, places[1]);
}

/* Writes the address range of an array's elements. Returns false if there are none. */
static bool range_of(const Lies &lies, intptr_t *low, intptr_t *high) {
  const int64_t size = static_cast<int64_t>(type_size(lies.type));
  *low = *high = reinterpret_cast<intptr_t>(lies.data);
  for (int i = 0; i < lies.ndim; i++) {
    if (lies.shape[i] == 0)
      return false;
    const int64_t reach = (lies.shape[i] - 1) * lies.strides[i] * size;
    *(reach < 0 ? low : high) += reach;
  }
  *high += size;
  return true;
}

bool ranges_meet(const Lies &lies, const Lies &other) {
  intptr_t low, high, other_low, other_high;
  return lies.on_host() == other.on_host() && lies.device_id == other.device_id &&
         range_of(lies, &low, &high) && range_of(other, &other_low, &other_high) && high > other_low &&
         other_high > low;
}

static bool overlap(const Array &out, const Array &other) {
  return ranges_meet(out.at, other.at) &&
         nb::cast<bool>(share_any.get()(nb::handle(out.object), nb::handle(other.object)));
}

/* Returns true if no two elements share an address: each stride exceeds the reach of all smaller strides. */
static bool has_own_elements(const Lies &lies) {
  int order[DIMS], count = 0;
  for (int i = 0; i < lies.ndim; i++) {
    if (lies.shape[i] <= 1)
      continue;
    int at = count++;
    for (; at > 0 && std::abs(lies.strides[order[at - 1]]) > std::abs(lies.strides[i]); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  int64_t reach = 0;
  for (int i = 0; i < count; i++) {
    const int64_t stride = std::abs(lies.strides[order[i]]);
    if (stride <= reach)
      return false;
    reach += stride * (lies.shape[order[i]] - 1);
  }
  return true;
}

nb::object tuple_of_shape(int ndim, const int64_t *shape) {
  nb::object tuple = nb::steal(PyTuple_New(ndim));
  for (int i = 0; i < ndim; i++)
    NB_TUPLE_SET_ITEM(tuple.ptr(), i, PyLong_FromLongLong(shape[i]));
  return tuple;
}

void check_out(const Array &out, int ndim, const int64_t *shape, const Array *const *inputs, int count) {
  const Lies &at = out.at;
  if (at.read_only)
    raise(PyExc_ValueError, "out is read-only");
  if (at.copy)
    raise(PyExc_ValueError, "out cannot be written in place: %s", at.copy);
  if (at.ndim != ndim || memcmp(at.shape, shape, static_cast<size_t>(ndim) * sizeof *shape) != 0)
    raise(PyExc_ValueError, "out has the shape %S, the result %S", tuple_of_shape(at.ndim, at.shape).ptr(),
          tuple_of_shape(ndim, shape).ptr());
  for (int i = 0; i < ndim; i++)
    if (shape[i] == 0)
      return;
  if (!has_own_elements(at))
    raise(PyExc_ValueError, "elements of out overlap: its strides are %S",
          tuple_of_shape(ndim, at.strides).ptr());
  for (int i = 0; i < count; i++)
    if (inputs[i] && overlap(out, *inputs[i]))
      raise(PyExc_ValueError, "out and %s share memory: copy one array", inputs[i]->name);
}

/* --- types --- */

static bool is_byte(tesela_type type) {
  return type == TESELA_I8 || type == TESELA_U8;
}

static bool is_float8(tesela_type type) {
  return type == TESELA_E4M3 || type == TESELA_E5M2;
}

/* Writes the possible types of a product, the default first. Returns their number. */
static int possible_types(tesela_type a, tesela_type b, bool is_scaled, tesela_type (&types)[3]) {
  const auto are = [&types](std::initializer_list<tesela_type> list) {
    std::copy(list.begin(), list.end(), types);
    return static_cast<int>(list.size());
  };
  const bool are_narrow = (is_byte(a) && is_byte(b)) || (is_float8(a) && is_float8(b));
  if (are_narrow && is_byte(a) && !is_scaled)
    return are({TESELA_I32});
  if (are_narrow || (is_scaled && a == b && a == TESELA_F32))
    return are({TESELA_F32, TESELA_BF16, TESELA_F16});
  if (a != b)
    return 0;
  switch (a) {
  case TESELA_F64:
  case TESELA_F32:
  case TESELA_C64:
  case TESELA_C128:
    return is_scaled ? 0 : are({a});
  case TESELA_F16:
    return are({TESELA_F16, TESELA_F32, TESELA_BF16}) - (is_scaled ? 0 : 1);
  case TESELA_BF16:
    return are({TESELA_BF16, TESELA_F32, TESELA_F16}) - (is_scaled ? 0 : 1);
  default:
    return 0;
  }
}

static bool is_among(tesela_type type, const tesela_type *types, int count) {
  return std::find(types, types + count, type) != types + count;
}

bool is_possible(const Array &a, const Array &b, tesela_type type, bool is_scaled) {
  tesela_type types[3];
  return is_among(type, types, possible_types(a.at.type, b.at.type, is_scaled, types));
}

tesela_type result_type(Array *a, Array *b, PyObject *dtype, const Array *out, bool is_scaled) {
  tesela_type types[3];
  tesela_type wanted = out ? out->at.type : TESELA_TYPE_DEFAULT;
  const bool has_wish = dtype || out;
  nb::object name;
  if (dtype) {
    name = type_name.get()(nb::handle(dtype));
    wanted = type_named(nb::cast<const char *>(name));
  }
  int count = possible_types(a->at.type, b->at.type, is_scaled, types);
  if (count == 0 || (has_wish && !is_among(wanted, types, count))) {
    if (out && !dtype)
      name = seen_of(*out).attr("view").attr("dtype");
    nb::object pair = promoted.get()(seen_of(*a), seen_of(*b), name.is_valid() ? name : nb::none(), is_scaled,
                                     out && !dtype ? out->name : "dtype", nb::make_tuple(a->name, b->name));
    take(pair[0], a->name, a);
    take(pair[1], b->name, b);
    count = possible_types(a->at.type, b->at.type, is_scaled, types);
    if (count == 0 || (has_wish && !is_among(wanted, types, count)))
      raise(PyExc_TypeError, "a is %s and b is %s, which tesela does not multiply", dtype_name(a->at.type),
            dtype_name(b->at.type));
  }
  const tesela_type kind = has_wish ? wanted : types[0];
  if (out && out->at.type != kind)
    raise(PyExc_TypeError, "out is %s, and dtype says %s", dtype_name(out->at.type), dtype_name(kind));
  return kind;
}

/* Returns the names of a product's possible types, for Python. */
static nb::tuple product_types(const std::string &a, const std::string &b, bool is_scaled) {
  tesela_type types[3];
  nb::list names;
  const int count = possible_types(type_named(a.c_str()), type_named(b.c_str()), is_scaled, types);
  for (int i = 0; i < count; i++)
    names.append(dtype_name(types[i]));
  return nb::tuple(names);
}

/* --- matrices --- */

void normalize(int64_t rows, int64_t cols, int64_t *row_stride, int64_t *col_stride) {
  if (cols == 1)
    *col_stride = *row_stride != 1 || rows == 1 ? 1 : rows;
  if (rows == 1)
    *row_stride = *col_stride == 1 ? cols : 1;
}

void lay_out(Array *array, int batch_dims, bool is_column, Matrices *matrices) {
  const Lies &at = array->at;
  const auto sizes = [&](int64_t *rows, int64_t *cols, int64_t *row_stride, int64_t *col_stride) {
    const int last = at.ndim - 1;
    const bool is_line = last == 0;
    *rows = is_line ? (is_column ? at.shape[0] : 1) : at.shape[last - 1];
    *cols = is_line && is_column ? 1 : at.shape[last];
    *row_stride = is_line ? (is_column ? at.strides[0] : 1) : at.strides[last - 1];
    *col_stride = is_line && is_column ? 1 : at.strides[last];
  };
  int64_t rows, cols;
  sizes(&rows, &cols, &matrices->row_stride, &matrices->col_stride);
  if (is_repeated(rows, cols, matrices->row_stride, matrices->col_stride)) {
    make_compact(array);
    sizes(&rows, &cols, &matrices->row_stride, &matrices->col_stride);
  }
  normalize(rows, cols, &matrices->row_stride, &matrices->col_stride);
  matrices->conjugate = array->conjugate;
  const int own = std::max(0, at.ndim - 2);
  for (int i = 0; i < batch_dims; i++) {
    const int dim = i - (batch_dims - own);
    matrices->steps[i] = dim < 0 || at.shape[dim] == 1 ? 0 : at.strides[dim];
  }
}

char letter_of(PyObject *how, const char *name) {
  const char *const text = !how                   ? "n"
                           : PyUnicode_Check(how) ? PyUnicode_AsUTF8AndSize(how, nullptr)
                                                  : nullptr;
  const char letter = text && text[0] && !text[1] ? static_cast<char>(text[0] | 0x20) : '?';
  if (letter != 'n' && letter != 't' && letter != 'c')
    raise(PyExc_ValueError,
          "%s is %R: use \"n\" (unchanged), \"t\" (transposed) or \"c\" (conjugated and transposed)", name,
          how);
  return letter;
}

void lay_out_op(Array *array, const char *function, char letter, int64_t *rows, int64_t *cols,
                Matrices *matrices) {
  if (array->at.ndim != 2)
    raise(PyExc_ValueError, "%s takes matrices, and %s has %d dimensions; matmul takes others", function,
          array->name, array->at.ndim);
  lay_out(array, 0, false, matrices);
  *rows = array->at.shape[0];
  *cols = array->at.shape[1];
  if (letter != 'n') {
    std::swap(*rows, *cols);
    matrices->row_stride = array->at.strides[1];
    matrices->col_stride = array->at.strides[0];
    normalize(*rows, *cols, &matrices->row_stride, &matrices->col_stride);
  }
  const bool is_complex = array->at.type == TESELA_C64 || array->at.type == TESELA_C128;
  matrices->conjugate = matrices->conjugate != (letter == 'c' && is_complex);
}

const char *at_row(const Array &array, int64_t elements) {
  return array.at.data + (elements ? elements * static_cast<int64_t>(type_size(array.at.type)) : 0);
}

void set_matrix(const Array &array, const Matrices &lies, int64_t row, tesela_matrix *matrix) {
  matrix->data = at_row(array, row * lies.row_stride);
  set_strides(lies.row_stride, lies.col_stride, matrix);
  matrix->type = array.at.type;
  matrix->conjugate = lies.conjugate;
}

void set_result(const Array &array, int64_t m, int64_t n, tesela_result *result) {
  int64_t row_stride = array.at.strides[0], col_stride = array.at.ndim > 1 ? array.at.strides[1] : 1;
  normalize(m, n, &row_stride, &col_stride);
  result->data = array.at.data;
  set_strides(row_stride, col_stride, result);
  result->type = array.at.type;
}

/* --- epilogues --- */

/* Reads a vector of one of these types; other types are converted if NumPy would convert them. */
static void see_vector(PyObject *object, const char *name, const Array &like,
                       std::initializer_list<tesela_type> types, Array *array) {
  array->name = name;
  if (PyArray_CheckExact(object))
    see(object, name, array);
  if ((PyArray_CheckExact(object) || see_tensor(object, array)) &&
      is_among(array->at.type, types.begin(), static_cast<int>(types.size())))
    return;
  nb::list names;
  for (tesela_type type : types)
    names.append(dtype_name(type));
  take(vector_any.get()(nb::handle(object), name, names, seen_of(like)), name, array);
}

static bool has_shape(const Lies &lies, std::initializer_list<int64_t> shape) {
  return lies.ndim == static_cast<int>(shape.size()) && std::equal(shape.begin(), shape.end(), lies.shape);
}

/* Sets a vector from a dimension of its array. */
static void set_line(Line *line, int dim, int64_t length) {
  if (length > 1 && line->array.at.strides[dim] == 0)
    make_compact(&line->array);
  line->is_given = true;
  line->length = length;
  line->stride = length > 1 ? line->array.at.strides[dim] : 1;
}

static tesela_bias_axis read_bias(PyObject *object, const Array &like, int64_t m, int64_t n, tesela_type kind,
                                  bool is_turned, Line *bias) {
  Lies &at = bias->array.at;
  if (kind == TESELA_F16 || kind == TESELA_BF16)
    see_vector(object, "bias", like, {kind, TESELA_F32}, &bias->array);
  else
    see_vector(object, "bias", like, {kind}, &bias->array);
  check_place(like, bias->array);
  if (bias->array.conjugate)
    make_compact(&bias->array);
  if (is_turned ? has_shape(at, {m}) : has_shape(at, {m, 1}) && (m != 1 || n != 1)) {
    set_line(bias, 0, m);
    return TESELA_BIAS_COLUMN;
  }
  if (!is_turned && (has_shape(at, {n}) || has_shape(at, {1, n}))) {
    set_line(bias, at.ndim - 1, n);
    return TESELA_BIAS_ROW;
  }
  nb::object shape = tuple_of_shape(at.ndim, at.shape);
  const long long rows = m, cols = n;
  if (is_turned)
    raise(PyExc_ValueError, "bias has the shape %S: this product needs (%lld,)", shape.ptr(), rows);
  raise(PyExc_ValueError, "bias has the shape %S: this product needs (%lld,), (1, %lld) or (%lld, 1)",
        shape.ptr(), cols, cols, rows);
}

static tesela_scaling read_scale(PyObject *object, const char *name, const Array &like, int64_t length,
                                 bool is_column, Line *scale) {
  const Lies &at = scale->array.at;
  see_vector(object, name, like, {TESELA_F32}, &scale->array);
  check_place(like, scale->array);
  if (has_shape(at, {}) || has_shape(at, {1}) || has_shape(at, {1, 1})) {
    scale->is_given = true;
    scale->length = 1;
    return TESELA_SCALE_TENSOR;
  }
  if (has_shape(at, {length}) || (is_column ? has_shape(at, {length, 1}) : has_shape(at, {1, length}))) {
    set_line(scale, is_column ? 0 : at.ndim - 1, length);
    return TESELA_SCALE_LINES;
  }
  raise(PyExc_ValueError,
        is_column ? "%s has the shape %S: this product needs one number, (%lld,) or (%lld, 1)"
                  : "%s has the shape %S: this product needs one number, (%lld,) or (1, %lld)",
        name, tuple_of_shape(at.ndim, at.shape).ptr(), static_cast<long long>(length),
        static_cast<long long>(length));
}

static tesela_activation read_activation(PyObject *word) {
  static const char *const names[] = {"relu", "gelu", "gelu_tanh"};
  for (int i = 0; i < 3; i++)
    if (PyUnicode_Check(word) && PyUnicode_CompareWithASCIIString(word, names[i]) == 0)
      return static_cast<tesela_activation>(i + 1);
  raise(PyExc_ValueError, "activation is %R: use relu, gelu or gelu_tanh", word);
}

void read_finish(const Arguments &arguments, const Array &like, int64_t m, int64_t n, tesela_type kind,
                 bool is_turned, Finish *finish) {
  if (arguments[ACTIVATION])
    finish->activation = read_activation(arguments[ACTIVATION]);
  if (finish->activation && (kind == TESELA_C64 || kind == TESELA_C128))
    raise(PyExc_TypeError, "the result is %s, but complex numbers have no %S", dtype_name(kind),
          arguments[ACTIVATION]);
  if (kind == TESELA_I32 && (arguments[BIAS] || finish->activation))
    raise(PyExc_TypeError, "the result is int32: integers have neither bias nor activation");
  if (arguments[BIAS])
    finish->along = read_bias(arguments[BIAS], like, m, n, kind, is_turned, &finish->bias);
  if (arguments[SCALE_A])
    finish->scaling_a = read_scale(arguments[SCALE_A], "scale_a", like, m, true, &finish->scale_a);
  if (arguments[SCALE_B])
    finish->scaling_b = read_scale(arguments[SCALE_B], "scale_b", like, n, false, &finish->scale_b);
}

/* --- results --- */

static int numpy_number(tesela_type type) {
  switch (type) {
  case TESELA_F64:
    return NPY_DOUBLE;
  case TESELA_F32:
    return NPY_FLOAT;
  case TESELA_F16:
    return NPY_HALF;
  case TESELA_C64:
    return NPY_CFLOAT;
  case TESELA_C128:
    return NPY_CDOUBLE;
  case TESELA_I32:
    return NPY_INT;
  default:
    return NPY_NOTYPE;
  }
}

nb::object new_result(const Array &like, tesela_type kind, int ndim, const int64_t *shape, Array *into) {
  const int number = numpy_number(kind);
  nb::object made;
  if (!like.library && number != NPY_NOTYPE) {
    made = nb::steal(PyArray_SimpleNew(ndim, const_cast<npy_intp *>(shape), number));
    if (!made.is_valid())
      throw nb::python_error();
    into->name = "out";
    into->object = made.ptr();
    into->at.data = PyArray_BYTES(reinterpret_cast<PyArrayObject *>(made.ptr()));
    into->at.type = kind;
    into->at.ndim = ndim;
    int64_t stride = 1;
    for (int i = ndim; i-- > 0; stride *= shape[i]) {
      into->at.shape[i] = shape[i];
      into->at.strides[i] = stride;
    }
    return made;
  }
  made = new_tensor_like(like, kind, ndim, shape, into);
  if (made.is_valid())
    return made;
  nb::object seen = seen_of(like);
  made = seen.attr("library").attr("empty")(tuple_of_shape(ndim, shape), dtype_name(kind), seen);
  nb::object own = nb::getattr(made, "seen", nb::none());
  if (own.is_none())
    see(made.ptr(), "out", into);
  else
    take(own, "out", into);
  return made;
}

nb::object new_empty(const Array &like, tesela_type kind, Array *array) {
  static const int64_t none[] = {0};
  if (!like.library)
    return new_result(like, kind, 1, none, array);
  take(empty_any.get()(seen_of(like), dtype_name(kind)), "out", array);
  return array->keeper;
}

nb::object finished(const Array &like, nb::object result) {
  if (like.library)
    return nb::handle(like.library).attr("finish")(result);
  return nb::steal(PyArray_Return(reinterpret_cast<PyArrayObject *>(result.release().ptr())));
}

nb::object info_of(const tesela_record &record) {
  nb::object items = nb::make_tuple(record.plan ? record.plan : "", record.seconds, record.error_bound,
                                    record.seconds_allocate, record.seconds_copy_in, record.seconds_compute,
                                    record.seconds_copy_out, record.flushed_below, record.error_measured,
                                    record.measured_rows, record.measured_cols, record.seconds_measure,
                                    record.note ? record.note : "", record.verified, record.unverified,
                                    record.hidden_error, record.seconds_verify);
  PyObject *const type = info_type.get().ptr();
  nb::object arguments = nb::steal(PyTuple_Pack(1, items.ptr()));
  static const newfunc new_tuple = reinterpret_cast<newfunc>(PyType_GetSlot(&PyTuple_Type, Py_tp_new));
  nb::object made = nb::steal(new_tuple(reinterpret_cast<PyTypeObject *>(type), arguments.ptr(), nullptr));
  if (!made.is_valid())
    throw nb::python_error();
  return made;
}

PyObject *given_back(nb::object result, bool with_info, const tesela_record &record) {
  if (!with_info)
    return result.release().ptr();
  return PyTuple_Pack(2, result.ptr(), info_of(record).ptr());
}

/* --- functions for the package's Python modules --- */

static Scalar scalar_python(nb::handle value, const char *dtype, const char *name) {
  return scalar(value.ptr(), type_named(dtype), name, 0);
}

void define(nb::module_ &module, const char *name, PythonFunction function, const char *text) {
  PyMethodDef *const definition =
      new PyMethodDef{/* never freed */
                      name, reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(function)),
                      METH_FASTCALL | METH_KEYWORDS, text};
  nb::object package = nb::str("tesela");
  module.attr(name) = nb::steal(PyCFunction_NewEx(definition, nullptr, package.ptr()));
}

void bind_arrays(nb::module_ &module) {
  nb::class_<Ask>(module, "Ask")
      .def("__init__", [](Ask *self, const std::string &accuracy, const std::string &bits,
                          uint64_t measure_error, const std::string &verify) {
        new (self) Ask{accuracy, bits, measure_error, verify};
      });
  for (int i = 0; i < WORDS; i++)
    words[i] = PyUnicode_InternFromString(word_names[i]);
  module.def("scalar", &scalar_python);
  module.def("product_types", &product_types);
}

} // namespace core

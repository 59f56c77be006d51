/* Products with triangles, groups, dots and transposes. */
#include "arrays.h"
#include "documentation.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <nanobind/stl/string.h>

namespace core {

static FromPython promoted_triangles("tesela._types", "promoted_triangles"),
    dot_type("tesela._types", "dot_type");

/* Keywords that all of these functions have. */
static constexpr uint32_t ASKS =
    bit(ALPHA) | bit(DEVICE) | bit(STRATEGY) | bit(ACCURACY) | bit(BITS) | bit(FULL_OUTPUT);
static constexpr uint32_t TRIANGLES =
    ASKS | bit(A) | bit(B) | bit(OUT) | bit(LOWER) | bit(UNIT_DIAGONAL) | bit(TRANS) | bit(RIGHT);
static constexpr Function dot_function = {
    "dot", ASKS | bit(X) | bit(Y) | bit(DTYPE) | bit(MEASURE_ERROR) | bit(VERIFY), 2, {X, Y}, 2};
static constexpr Function transpose_function = {
    "transpose", ASKS | bit(A) | bit(OUT) | bit(MEASURE_ERROR), 2, {A, OUT}, 1};
static constexpr Function grouped_function = {"matmul_grouped",
                                              ASKS | bit(A) | bit(B) | bit(OUT) | bit(BETA) |
                                                  bit(MEASURE_ERROR) | bit(VERIFY),
                                              3,
                                              {A, B, OUT},
                                              2};
static constexpr Function solve_function = {"solve_triangular", TRIANGLES, 3, {A, B, OUT}, 2};
static constexpr Function trmm_function = {"trmm", TRIANGLES, 3, {A, B, OUT}, 2};
static constexpr Function symm_function = {"symm",
                                           ASKS | bit(A) | bit(B) | bit(OUT) | bit(BETA) | bit(LOWER) |
                                               bit(HERMITIAN) | bit(RIGHT),
                                           3,
                                           {A, B, OUT},
                                           2};
static constexpr Function syrk_function = {"syrk",
                                           ASKS | bit(A) | bit(OUT) | bit(BETA) | bit(TRANS) |
                                               bit(HERMITIAN) | bit(TRIANGLE),
                                           2,
                                           {A, OUT},
                                           1};

/* Requirements of a call as C types. */
struct Asked {
  Scalar alpha, beta;
  const char *device, *strategy;
  Ask ask;
  bool with_info;
  tesela_record record{};

  Asked(const Arguments &arguments, tesela_type kind)
      : alpha(scalar(arguments[ALPHA], kind, "alpha", 1)), beta(scalar(arguments[BETA], kind, "beta", 0)),
        device(text_of(arguments[DEVICE], "device")), strategy(text_of(arguments[STRATEGY], "strategy")),
        with_info(is_true(arguments[FULL_OUTPUT])) {
    if (arguments[ACCURACY] || arguments[BITS] || arguments[MEASURE_ERROR] || arguments[VERIFY])
      ask = ask_of(arguments);
  }

  template <class Desc>
  void add_to(Desc *desc) const {
    desc->alpha = reinterpret_cast<const double *>(&alpha);
    desc->options.device = device;
    desc->options.strategy = strategy;
    desc->options.accuracy = ask.accuracy_or_null();
    desc->options.reproducibility = ask.bits_or_null();
  }

  tesela_record *place() { return with_info ? &record : nullptr; }
  bool is_short(int64_t m, int64_t n, int64_t k) const {
    int64_t area, work;
    return !device && !strategy && !__builtin_mul_overflow(m, n, &area) &&
           !__builtin_mul_overflow(area, k, &work) && work <= ALONE;
  }
};

static void check_on_host(const Array &array, const char *what) {
  if (!array.at.on_host())
    raise(PyExc_ValueError, "%s is on a device: %s", array.name, what);
}

static void check_computed(const Array &array) {
  if (array.conjugate)
    raise(PyExc_TypeError, "%s has a pending conjugation: resolve_conj() computes it", array.name);
}

static bool is_same(const Array &array, const Array &other) {
  const Lies &a = array.at, &b = other.at;
  const size_t size = static_cast<size_t>(a.ndim) * sizeof *a.shape;
  return a.data == b.data && a.type == b.type && a.ndim == b.ndim && memcmp(a.shape, b.shape, size) == 0 &&
         memcmp(a.strides, b.strides, size) == 0;
}

/* Selects the memory of a result: `out`, which may be the array `in_place`, or a new array. */
static nb::object place_result(const Arguments &arguments, const Array &like, tesela_type kind, int ndim,
                               const int64_t *shape, std::initializer_list<const Array *> inputs,
                               const Array *in_place, Array *into, bool *is_there) {
  *is_there = false;
  if (!arguments[OUT])
    return new_result(like, kind, ndim, shape, into);
  see_out(arguments[OUT], into);
  check_place(*into, like);
  if (into->at.type != kind)
    raise(PyExc_TypeError, "out is %S, and the result %s",
          nb::object(seen_of(*into).attr("view").attr("dtype")).ptr(), dtype_name(kind));
  const Array *reads[4];
  int count = 0;
  *is_there = in_place && is_same(*into, *in_place);
  for (const Array *each : inputs)
    if (each != in_place || !*is_there)
      reads[count++] = each;
  check_out(*into, ndim, shape, reads, count);
  return nb::borrow(arguments[OUT]);
}

static PyObject *give(const Arguments &arguments, const Array &like, nb::object result, const Asked &asked) {
  return given_back(arguments[OUT] ? std::move(result) : finished(like, std::move(result)), asked.with_info,
                    asked.record);
}

/* --- dots and transposes --- */

static void see_line(PyObject *object, const char *name, Array *array) {
  see(object, name, array);
  if (array->at.ndim != 1)
    raise(PyExc_ValueError, "%s has %d dimensions: dot takes vectors, matmul takes the others", name,
          array->at.ndim);
  check_on_host(*array, "dot takes vectors on the host; matmul takes these as a row and a column");
}

static tesela_vector line_of(Array *array) {
  if (array->at.shape[0] > 1 && array->at.strides[0] == 0)
    make_compact(array);
  check_computed(*array);
  tesela_vector vector{};
  vector.data = array->at.data;
  vector.stride = array->at.shape[0] > 1 ? array->at.strides[0] : 1;
  vector.type = array->at.type;
  return vector;
}

static PyObject *dot(const Arguments &arguments) {
  Array x, y, into;
  see_line(arguments[X], "x", &x);
  see_line(arguments[Y], "y", &y);
  const long long n = x.at.shape[0], other = y.at.shape[0];
  if (n != other)
    raise(PyExc_ValueError, "x has %lld elements and y %lld", n, other);
  const tesela_type kind = result_type(&x, &y, arguments[DTYPE], nullptr, false);
  if (kind == TESELA_C64 || kind == TESELA_C128 || x.at.type == TESELA_E4M3 || x.at.type == TESELA_E5M2)
    dot_type.get()(dtype_name(x.at.type), dtype_name(y.at.type)); /* raises the message */
  Asked asked(arguments, kind);
  nb::object result = new_result(x, kind, 0, nullptr, &into);
  tesela_dot_desc desc{};
  asked.add_to(&desc);
  desc.options.measure_error = asked.ask.measure_error;
  desc.options.verify = asked.ask.verify_or_null();
  desc.n = n;
  desc.x = line_of(&x);
  desc.y = line_of(&y);
  desc.result.data = into.at.data;
  desc.result.type = kind;
  tesela_context *const where = open();
  check(call_library(asked.is_short(n, 1, 1), [&] { return tesela_dot(where, &desc, asked.place()); }));
  return give(arguments, x, std::move(result), asked);
}

static PyObject *transpose(const Arguments &arguments) {
  Array a, into;
  Matrices lies;
  int64_t rows, cols;
  bool in_place;
  see(arguments[A], "a", &a);
  if (a.at.ndim != 2)
    raise(PyExc_ValueError, "a has %d dimensions: transpose takes matrices", a.at.ndim);
  check_on_host(a, "transpose takes matrices on the host");
  if (!a.at.type)
    raise(PyExc_TypeError,
          "tesela does not transpose %S: possible are float64, float32, float16, bfloat16, complex64, "
          "complex128, int8, uint8, int32, "
          "float8_e4m3fn, float8_e5m2",
          nb::object(seen_of(a).attr("view").attr("dtype")).ptr());
  check_computed(a);
  const int64_t shape[] = {a.at.shape[1], a.at.shape[0]};
  Asked asked(arguments, a.at.type);
  nb::object result = place_result(arguments, a, a.at.type, 2, shape, {&a},
                                   shape[0] == shape[1] ? &a : nullptr, &into, &in_place);
  lay_out_op(&a, "transpose", 'n', &rows, &cols, &lies);
  if (rows > 0 && cols > 0) {
    tesela_transpose_desc desc{};
    asked.add_to(&desc);
    desc.options.measure_error = asked.ask.measure_error;
    desc.rows = rows;
    desc.cols = cols;
    desc.in_place = in_place;
    if (!in_place)
      set_matrix(a, lies, 0, &desc.a);
    set_result(into, cols, rows, &desc.b);
    tesela_context *const where = open();
    check(call_library(asked.is_short(rows, cols, 1),
                       [&] { return tesela_transpose(where, &desc, asked.place()); }));
  }
  return give(arguments, a, std::move(result), asked);
}

/* --- groups --- */

struct Member {
  Array a, b, c;
  Matrices a_lies, b_lies;
  nb::object result;
  bool has_out = false;
};

static void read_member(PyObject *a, PyObject *b, PyObject *out, const Arguments &arguments, Member *member,
                        tesela_gemm_desc *desc, Scalar *factors) {
  see(a, "a", &member->a);
  see(b, "b", &member->b);
  check_place(member->a, member->b);
  if (!member->a.at.on_host())
    raise(PyExc_TypeError, "a is on a device: groups are multiplied on the host");
  const Lies &left = member->a.at, &right = member->b.at;
  if (left.ndim != 2 || right.ndim != 2 || left.shape[1] != right.shape[0])
    raise(PyExc_ValueError, "a is %S and b is %S: m x k and k x n are expected",
          tuple_of_shape(left.ndim, left.shape).ptr(), tuple_of_shape(right.ndim, right.shape).ptr());
  if (out)
    see_out(out, &member->c);
  const tesela_type kind = result_type(&member->a, &member->b, nullptr, out ? &member->c : nullptr, false);
  factors[0] = scalar(arguments[ALPHA], kind, "alpha", 1);
  factors[1] = scalar(arguments[BETA], kind, "beta", 0);
  const int64_t shape[] = {left.shape[0], right.shape[1]};
  if (out) {
    const Array *const inputs[] = {&member->a, &member->b};
    check_place(member->a, member->c);
    check_out(member->c, 2, shape, inputs, 2);
    member->result = nb::borrow(out);
    member->has_out = true;
  } else {
    member->result = new_result(member->a, kind, 2, shape, &member->c);
  }
  desc->m = shape[0];
  desc->n = shape[1];
  desc->k = left.shape[1];
  if (desc->m > 0 && desc->n > 0 && desc->k > 0) {
    lay_out(&member->a, 0, false, &member->a_lies);
    lay_out(&member->b, 0, false, &member->b_lies);
    set_matrix(member->a, member->a_lies, 0, &desc->a);
    set_matrix(member->b, member->b_lies, 0, &desc->b);
  }
  desc->a.type = left.type;
  desc->b.type = right.type;
  set_result(member->c, desc->m, desc->n, &desc->c);
}

/* Raises a ValueError or TypeError again, with the product's number. */
[[noreturn]] static void raise_with_number(nb::python_error &error, size_t number) {
  for (PyObject *type : {PyExc_ValueError, PyExc_TypeError}) {
    if (error.matches(type)) {
      nb::object words = nb::steal(PyObject_Str(error.value().ptr()));
      raise(type, "product %zu: %U", number, words.ptr());
    }
  }
  throw error;
}

static PyObject *multiply_grouped(const Arguments &arguments) {
  const auto list_of = [](PyObject *object) {
    return object ? nb::steal(PySequence_List(object)) : nb::object();
  };
  nb::object as = list_of(arguments[A]), bs = list_of(arguments[B]), outs = list_of(arguments[OUT]);
  if (PyErr_Occurred())
    throw nb::python_error();
  const size_t count = nb::len(as), other = nb::len(bs), results = outs.is_valid() ? nb::len(outs) : count;
  if (other != count || results != count)
    raise(PyExc_ValueError,
          outs.is_valid() ? "a has %zu arrays, b %zu and out %zu: equal numbers are expected"
                          : "a has %zu arrays, b %zu: equal numbers are expected",
          count, other, results);
  Asked asked(arguments, TESELA_C128);
  if (asked.beta != 0.0 && !outs.is_valid())
    raise(PyExc_ValueError, "beta is the factor of out, but out is not given");
  auto members = std::make_unique<Member[]>(count);
  std::vector<tesela_gemm_desc> descs(count);
  std::vector<std::array<Scalar, 2>> factors(count);
  bool is_short = true;
  int64_t left = ALONE;
  for (size_t i = 0; i < count; i++) {
    tesela_gemm_desc *const desc = &descs[i];
    asked.add_to(desc);
    desc->options.measure_error = asked.ask.measure_error;
    desc->options.verify = asked.ask.verify_or_null();
    try {
      const auto at = [i](const nb::object &list) {
        return NB_LIST_GET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i));
      };
      read_member(at(as), at(bs), outs.is_valid() ? at(outs) : nullptr, arguments, &members[i], desc,
                  factors[i].data());
    } catch (nb::python_error &error) {
      raise_with_number(error, i);
    }
    desc->alpha = reinterpret_cast<const double *>(&factors[i][0]);
    desc->beta = reinterpret_cast<const double *>(&factors[i][1]);
    is_short =
        is_short && asked.is_short(desc->m, desc->n, desc->k) && (left -= desc->m * desc->n * desc->k) >= 0;
  }
  tesela_context *const where = open();
  if (count > 0)
    check(call_library(is_short, [&] {
      return tesela_gemm_grouped(where, descs.data(), nullptr, static_cast<int64_t>(count), asked.place());
    }));
  nb::object made = nb::steal(PyList_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; i++) {
    Member &member = members[i];
    nb::object result =
        member.has_out ? std::move(member.result) : finished(member.a, std::move(member.result));
    NB_LIST_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i), result.release().ptr());
  }
  return given_back(std::move(made), asked.with_info, asked.record);
}

/* --- triangles --- */

static bool is_wide(tesela_type type) {
  return type == TESELA_F32 || type == TESELA_F64 || type == TESELA_C64 || type == TESELA_C128;
}

/* Reads a matrix with a structure and the matrix it is multiplied by. Both get one type. b may be NULL. */
static void see_wide(const Arguments &arguments, Array *a, Array *b) {
  see(arguments[A], "a", a);
  if (b)
    see(arguments[B], "b", b);
  const Array *const all[] = {a, b};
  for (const Array *each : all)
    if (each)
      check_on_host(
          *each, "products with triangles need arrays on the host; matmul takes general matrices on devices");
  if (is_wide(a->at.type) && (!b || a->at.type == b->at.type))
    return;
  nb::object pair = promoted_triangles.get()(seen_of(*a), b ? seen_of(*b) : nb::none());
  replace(pair[0], a);
  if (b)
    replace(pair[1], b);
}

/* Operand with its layout and sizes after transposition. */
struct Part {
  Array array;
  Matrices lies;
  int64_t rows, cols;

  void lay_out(const char *function, char letter) {
    lay_out_op(&array, function, letter, &rows, &cols, &lies);
  }
  void check_square() const {
    if (rows != cols)
      raise(PyExc_ValueError, "a is %lld x %lld: a triangular matrix is square", static_cast<long long>(rows),
            static_cast<long long>(cols));
  }
};

static void check_meets(const Part &square, const Part &other, bool is_right) {
  const long long size = square.rows, meets = is_right ? other.cols : other.rows;
  if (size != meets)
    raise(PyExc_ValueError, "a is %lld x %lld, and b has %lld %s", size, size, meets,
          is_right ? "columns" : "rows");
}

/* Returns the triangle after transposition. */
static tesela_triangle triangle_of(bool is_lower, char letter) {
  return is_lower == (letter == 'n') ? TESELA_LOWER : TESELA_UPPER;
}

/* Describes general * square, or square * general, with a structure. Without a general factor the
 * product is in place. */
static void describe(const Part &square, tesela_structure structure, tesela_triangle triangle,
                     const Part *general, bool is_right, tesela_gemm_desc *desc) {
  set_matrix(square.array, square.lies, 0, is_right ? &desc->b : &desc->a);
  (is_right ? desc->structure.b : desc->structure.a) = structure;
  (is_right ? desc->structure.b_triangle : desc->structure.a_triangle) = triangle;
  desc->k = square.rows;
  desc->structure.in_place = general == nullptr;
  if (general)
    set_matrix(general->array, general->lies, 0, is_right ? &desc->a : &desc->b);
}

static void multiply_structured(tesela_gemm_desc *desc, const Array &into, Asked *asked) {
  asked->add_to(desc);
  desc->beta = reinterpret_cast<const double *>(&asked->beta);
  set_result(into, desc->m, desc->n, &desc->c);
  if (desc->m == 0 || desc->n == 0)
    return;
  tesela_context *const where = open();
  check(call_library(asked->is_short(desc->m, desc->n, desc->k),
                     [&] { return tesela_gemm(where, desc, asked->place()); }));
}

/* Computes solve_triangular and trmm. */
static PyObject *with_triangle(const Arguments &arguments, bool solves) {
  const char *const function = solves ? "solve_triangular" : "trmm";
  const char letter = letter_of(arguments[TRANS], "trans");
  const bool is_right = is_true(arguments[RIGHT]);
  Part a, b;
  Array into;
  bool in_place;
  see_wide(arguments, &a.array, &b.array);
  a.lay_out(function, letter);
  a.check_square();
  const bool is_vector = b.array.at.ndim == 1;
  if (is_vector && is_right)
    raise(PyExc_ValueError, "b is a vector: with right=True pass a row, b[None, :]");
  if (is_vector) {
    lay_out(&b.array, 0, true, &b.lies);
    b.rows = b.array.at.shape[0];
    b.cols = 1;
  } else {
    b.lay_out(function, 'n');
  }
  check_meets(a, b, is_right);
  const tesela_type kind = b.array.at.type;
  Asked asked(arguments, kind);
  if (solves)
    check_computed(b.array);
  nb::object result = place_result(arguments, b.array, kind, b.array.at.ndim, b.array.at.shape,
                                   {&a.array, &b.array}, &b.array, &into, &in_place);
  if (in_place)
    check_computed(b.array);
  const tesela_structure structure =
      is_true(arguments[UNIT_DIAGONAL]) ? TESELA_UNIT_TRIANGULAR : TESELA_TRIANGULAR;
  const tesela_triangle triangle = triangle_of(is_true(arguments[LOWER]), letter);
  if (!solves) {
    tesela_gemm_desc desc{};
    desc.m = b.rows;
    desc.n = b.cols;
    describe(a, structure, triangle, in_place ? nullptr : &b, is_right, &desc);
    multiply_structured(&desc, into, &asked);
  } else if (b.rows > 0 && b.cols > 0) {
    tesela_solve_desc desc{};
    asked.add_to(&desc);
    desc.rows = b.rows;
    desc.cols = b.cols;
    set_matrix(a.array, a.lies, 0, &desc.a);
    desc.structure = structure;
    desc.triangle = triangle;
    desc.right = is_right;
    desc.in_place = in_place;
    if (!in_place)
      set_matrix(b.array, b.lies, 0, &desc.b);
    set_result(into, b.rows, b.cols, &desc.x);
    tesela_context *const where = open();
    check(call_library(asked.is_short(a.rows, b.rows, b.cols),
                       [&] { return tesela_solve(where, &desc, asked.place()); }));
  }
  return give(arguments, b.array, std::move(result), asked);
}

static void check_beta(const Asked &asked, const Arguments &arguments) {
  if (asked.beta != 0.0 && !arguments[OUT])
    raise(PyExc_ValueError, "beta is the factor of out, but out is not given");
}

static PyObject *symm(const Arguments &arguments) {
  const bool is_right = is_true(arguments[RIGHT]);
  Part a, b;
  Array into;
  bool in_place;
  see_wide(arguments, &a.array, &b.array);
  a.lay_out("symm", 'n');
  a.check_square();
  b.lay_out("symm", 'n');
  check_meets(a, b, is_right);
  const int64_t shape[] = {b.rows, b.cols};
  Asked asked(arguments, b.array.at.type);
  check_beta(asked, arguments);
  nb::object result = place_result(arguments, b.array, b.array.at.type, 2, shape, {&a.array, &b.array},
                                   nullptr, &into, &in_place);
  tesela_gemm_desc desc{};
  desc.m = b.rows;
  desc.n = b.cols;
  describe(a, is_true(arguments[HERMITIAN]) ? TESELA_HERMITIAN : TESELA_SYMMETRIC,
           is_true(arguments[LOWER]) ? TESELA_LOWER : TESELA_UPPER, &b, is_right, &desc);
  multiply_structured(&desc, into, &asked);
  return give(arguments, b.array, std::move(result), asked);
}

/* Writes the upper triangle as the mirror image of the lower one, block by block. */
template <class Element, class Image>
static void mirror(const Lies &lies, const Image &image) {
  constexpr int64_t BLOCK = 32;
  Element *const data = reinterpret_cast<Element *>(lies.data);
  const int64_t n = lies.shape[0], down = lies.strides[0], across = lies.strides[1];
  for (int64_t first = 0; first < n; first += BLOCK)
    for (int64_t block = first; block < n; block += BLOCK)
      for (int64_t row = block; row < std::min(n, block + BLOCK); row++)
        for (int64_t col = first; col < std::min(row, first + BLOCK); col++)
          data[col * down + row * across] = image(data[row * down + col * across]);
}

static void mirror_result(const Lies &lies, bool conjugates) {
  const auto same = [](auto element) { return element; };
  const auto conjugate = [](auto element) { return std::conj(element); };
  const Unlocked others_run;
  switch (lies.type) {
  case TESELA_F32:
    return mirror<float>(lies, same);
  case TESELA_F64:
    return mirror<double>(lies, same);
  case TESELA_C64:
    return conjugates ? mirror<std::complex<float>>(lies, conjugate)
                      : mirror<std::complex<float>>(lies, same);
  default:
    return conjugates ? mirror<std::complex<double>>(lies, conjugate)
                      : mirror<std::complex<double>>(lies, same);
  }
}

static PyObject *syrk(const Arguments &arguments) {
  const bool is_turned = is_true(arguments[TRANS]);
  PyObject *const word = arguments[TRIANGLE];
  const auto is_word = [word](const char *text) {
    return word && PyUnicode_Check(word) && PyUnicode_CompareWithASCIIString(word, text) == 0;
  };
  const bool is_both = !word || is_word("both"), is_upper = is_word("upper");
  if (!is_both && !is_upper && !is_word("lower"))
    raise(PyExc_ValueError, "triangle is %R: \"both\", \"lower\" or \"upper\"", word);
  Part left, right;
  Array into;
  bool in_place;
  see_wide(arguments, &left.array, nullptr);
  const tesela_type kind = left.array.at.type;
  const bool is_hermitian = is_true(arguments[HERMITIAN]) && (kind == TESELA_C64 || kind == TESELA_C128);
  const char across = is_hermitian ? 'c' : 't';
  right.array = left.array;
  left.lay_out("syrk", is_turned ? across : 'n');
  right.lay_out("syrk", is_turned ? 'n' : across);
  Asked asked(arguments, kind);
  if (is_hermitian && (asked.alpha.imag() != 0 || asked.beta.imag() != 0))
    raise(PyExc_TypeError, "alpha and beta of a hermitian product must be real");
  check_beta(asked, arguments);
  const int64_t shape[] = {left.rows, left.rows};
  nb::object result =
      place_result(arguments, left.array, kind, 2, shape, {&left.array}, nullptr, &into, &in_place);
  if (!arguments[OUT] && !is_both)
    memset(into.at.data, 0,
           static_cast<size_t>(left.rows) * static_cast<size_t>(left.rows) * type_size(kind));
  tesela_gemm_desc desc{};
  desc.m = desc.n = left.rows;
  desc.k = left.cols;
  set_matrix(left.array, left.lies, 0, &desc.a);
  set_matrix(right.array, right.lies, 0, &desc.b);
  desc.structure.c = is_hermitian ? TESELA_HERMITIAN : TESELA_GENERAL;
  desc.structure.c_triangle = is_upper ? TESELA_UPPER : TESELA_LOWER;
  multiply_structured(&desc, into, &asked);
  if (is_both)
    mirror_result(into.at, is_hermitian);
  return give(arguments, left.array, std::move(result), asked);
}

/* --- functions for Python --- */

template <const Function &function, class Call>
static PyObject *called(PyObject *const *objects, Py_ssize_t count, PyObject *names, const Call &call) {
  Arguments arguments;
  if (!read_arguments(function, objects, static_cast<size_t>(count), names, &arguments))
    return nullptr;
  return guarded([&] { return call(arguments); });
}

#define TESELA_PYTHON(name, function, call)                                                                  \
  static PyObject *name(PyObject *, PyObject *const *objects, Py_ssize_t count, PyObject *names) {           \
    return called<function>(objects, count, names, call);                                                    \
  }
TESELA_PYTHON(python_dot, dot_function, dot)
TESELA_PYTHON(python_transpose, transpose_function, transpose)
TESELA_PYTHON(python_grouped, grouped_function, multiply_grouped)
TESELA_PYTHON(python_solve, solve_function,
              [](const Arguments &arguments) { return with_triangle(arguments, true); })
TESELA_PYTHON(python_trmm, trmm_function,
              [](const Arguments &arguments) { return with_triangle(arguments, false); })
TESELA_PYTHON(python_symm, symm_function, symm)
TESELA_PYTHON(python_syrk, syrk_function, syrk)
#undef TESELA_PYTHON

void bind_others(nb::module_ &module) {
  define(module, "dot", python_dot, DOT_TEXT);
  define(module, "transpose", python_transpose, TRANSPOSE_TEXT);
  define(module, "matmul_grouped", python_grouped, MATMUL_GROUPED_TEXT);
  define(module, "solve_triangular", python_solve, SOLVE_TRIANGULAR_TEXT);
  define(module, "trmm", python_trmm, TRMM_TEXT);
  define(module, "symm", python_symm, SYMM_TEXT);
  define(module, "syrk", python_syrk, SYRK_TEXT);
}

} // namespace core

/* tesela.Plan: a product that is planned once. Its own type makes a run cost little more than the product. */
#include "documentation.h"
#include "product.h"

#include <cstring>
#include <memory>
#include <nanobind/stl/string.h>
#include <structmember.h>

namespace core {

struct MadePlan {
  tesela_plan *plan = nullptr;
  MadePlan() = default;
  MadePlan(const MadePlan &) = delete;
  ~MadePlan() { tesela_plan_destroy(plan); }
};

/* Operand that is copied once into the form that a plan computes on. */
struct Packed {
  tesela_packed *packed = nullptr;
  int which = 0; /* 0: A, 1: B */
  std::string text;
  Packed() = default;
  Packed(const Packed &) = delete;
  ~Packed() { tesela_packed_destroy(packed); }
};

/* Layout of an operand that a plan is for. */
struct Layout {
  tesela_type type;
  int64_t rows, cols, row_stride, col_stride;
  bool conjugate, on_host;
  int device_id;

  bool operator==(const Layout &other) const {
    return type == other.type && rows == other.rows && cols == other.cols && row_stride == other.row_stride &&
           col_stride == other.col_stride && conjugate == other.conjugate && on_host == other.on_host &&
           device_id == other.device_id;
  }
};

struct PlanState {
  Product product; /* its data pointers are from the arrays at the plan's creation, and are not read */
  Layout lies[2];
  std::string converted[2]; /* original types of A and B, if the plan converts them */
  tesela_type kind;
  bool on_host, is_short;
  std::string device, strategy, text;
  int64_t runs = 0;
  Array like;      /* array without elements, which determines library and device of results */
  nb::object kept; /* owner of `like` */
  std::shared_ptr<MadePlan> made;
  int number = -1; /* number of the context that `made` belongs to */
};

struct PlanObject {
  PyObject_HEAD vectorcallfunc call;
  PlanState *state;
};

static constexpr Function make_function = {"Plan",
                                           bit(A) | bit(B) | bit(OUT) | bit(ALPHA) | bit(BETA) | bit(DTYPE) |
                                               bit(DEVICE) | bit(STRATEGY) | bit(ACCURACY) | bit(BITS) |
                                               bit(MEASURE_ERROR) | bit(VERIFY) | bit(BIAS) |
                                               bit(ACTIVATION) | bit(SCALE_A) | bit(SCALE_B) | bit(RUNS),
                                           2,
                                           {A, B},
                                           2};
static constexpr Function call_function = {"Plan",
                                           bit(A) | bit(B) | bit(OUT) | bit(STREAM) | bit(FULL_OUTPUT) |
                                               bit(BIAS) | bit(SCALE_A) | bit(SCALE_B),
                                           3,
                                           {A, B, OUT},
                                           2};
static constexpr Function pack_function = {"pack", bit(A) | bit(B), 0, {}, 0};

static PlanState &state_of(PyObject *self) {
  return *reinterpret_cast<PlanObject *>(self)->state;
}

/* Returns the library's plan. It is created again if the context has changed, as in the child of a fork. */
static std::shared_ptr<MadePlan> plan_of(PlanState &state) {
  if (state.made && state.number == context_number())
    return state.made;
  auto made = std::make_shared<MadePlan>();
  tesela_gemm_desc desc{};
  tesela_epilogue epilogue{};
  tesela_context *const where = open();
  state.product.describe(&desc, &epilogue);
  desc.a.data = desc.b.data = nullptr;
  desc.c.data = nullptr;
  desc.options.expected_runs = state.runs;
  check(call_library(false, [&] { return tesela_plan_create(where, &desc, &made->plan); }));
  state.made = made;
  state.number = context_number();
  return made;
}

static std::string text_of(PlanState &state) {
  return state.on_host ? tesela_plan_describe(plan_of(state)->plan) : state.text;
}

static Layout layout_of(const Array &array, const Matrices &lies) {
  return {array.at.type,   array.at.shape[0], array.at.shape[1],  lies.row_stride,
          lies.col_stride, lies.conjugate,    array.at.on_host(), array.at.device_id};
}

static void set_c(const Array &c, int64_t m, int64_t n, Matrices *lies) {
  lies->row_stride = c.at.strides[0];
  lies->col_stride = c.at.strides[1];
  lies->conjugate = false;
  normalize(m, n, &lies->row_stride, &lies->col_stride);
}

/* Copies a text of the arguments into the plan. */
static const char *keep(const char *text, std::string *kept) {
  if (!text)
    return nullptr;
  *kept = text;
  return kept->c_str();
}

static std::unique_ptr<PlanState> make(const Arguments &arguments) {
  auto state = std::make_unique<PlanState>();
  Product &p = state->product;
  const bool has_out = arguments[OUT] != nullptr;
  see(arguments[A], "a", &p.a);
  see(arguments[B], "b", &p.b);
  check_place(p.a, p.b);
  for (const Array *each : {&p.a, &p.b})
    if (each->at.ndim != 2)
      raise(PyExc_ValueError, "a plan needs two matrices, but %s has %d dimensions", each->name,
            each->at.ndim);
  p.m = p.a.at.shape[0];
  p.k = p.a.at.shape[1];
  p.n = p.b.at.shape[1];
  const long long rows = p.b.at.shape[0], cols = p.k;
  if (rows != cols)
    raise(PyExc_ValueError, "a is %S and b is %S: %lld columns do not match %lld rows",
          tuple_of_shape(2, p.a.at.shape).ptr(), tuple_of_shape(2, p.b.at.shape).ptr(), cols, rows);
  const int64_t shape[] = {p.m, p.n};
  if (has_out) {
    see_out(arguments[OUT], &p.c);
    if (p.c.at.ndim != 2 || p.c.at.shape[0] != p.m || p.c.at.shape[1] != p.n)
      raise(PyExc_ValueError, "out has the shape %S, the result %S",
            tuple_of_shape(p.c.at.ndim, p.c.at.shape).ptr(), tuple_of_shape(2, shape).ptr());
  }
  const tesela_type given[] = {p.a.at.type, p.b.at.type};
  const nb::object before[] = {given[0] ? nb::object() : seen_of(p.a),
                               given[1] ? nb::object() : seen_of(p.b)};
  state->kind = result_type(&p.a, &p.b, arguments[DTYPE], has_out ? &p.c : nullptr,
                            arguments[SCALE_A] || arguments[SCALE_B]);
  for (int i = 0; i < 2; i++)
    if ((i ? p.b : p.a).at.type != given[i])
      state->converted[i] = before[i].is_valid() ? nb::cast<std::string>(before[i].attr("view").attr("dtype"))
                                                 : dtype_name(given[i]);
  p.read(arguments, state->kind);
  p.device = keep(p.device, &state->device);
  p.strategy = keep(p.strategy, &state->strategy);
  if (arguments[RUNS]) {
    state->runs = PyIndex_Check(arguments[RUNS]) ? PyLong_AsLongLong(arguments[RUNS]) : -1;
    PyErr_Clear();
    if (state->runs < 0)
      raise(PyExc_ValueError, "runs is %R: a whole number is expected (0: the plan runs often)",
            arguments[RUNS]);
  }
  read_finish(arguments, p.a, p.m, p.n, state->kind, false, &p.finish);
  lay_out(&p.a, 0, false, &p.a_lies);
  lay_out(&p.b, 0, false, &p.b_lies);
  if (has_out) {
    set_c(p.c, p.m, p.n, &p.c_lies);
  } else {
    p.c_lies = {p.n, 1, false, {}};
    normalize(p.m, p.n, &p.c_lies.row_stride, &p.c_lies.col_stride);
    p.c.at.type = state->kind;
  }
  state->lies[0] = layout_of(p.a, p.a_lies);
  state->lies[1] = layout_of(p.b, p.b_lies);
  state->on_host = p.a.at.on_host();
  state->is_short = p.is_short();
  state->kept = new_empty(p.a, state->kind, &state->like);
  if (state->on_host) {
    plan_of(*state);
  } else {
    DeviceProduct product = p.on_device(0, 0, 0);
    product.c.data = product.a.data;
    state->text = prepare(product);
  }
  /* The arrays may be freed now. */
  p.stream = nullptr;
  for (Array *each :
       {&p.a, &p.b, &p.c, &p.finish.bias.array, &p.finish.scale_a.array, &p.finish.scale_b.array}) {
    each->keeper.reset();
    each->object = nullptr;
  }
  return state;
}

/* Reads A or B of a run: a packed operand, or an array with the plan's layout. */
static void read_operand(PlanState &state, PyObject *object, int which, Array *array, Matrices *lies,
                         tesela_matrix *matrix) {
  const char *const name = which ? "b" : "a";
  if (!is_numpy(object) && nb::isinstance<Packed>(object)) {
    const Packed &packed = *nb::inst_ptr<Packed>(object);
    if (packed.which != which)
      raise(PyExc_ValueError, "%s was packed as %s", name, packed.which ? "b" : "a");
    if (packed.text != text_of(state))
      raise(PyExc_ValueError, "%s was packed for another plan: %s", name, packed.text.c_str());
    matrix->packed = packed.packed;
    return;
  }
  see(object, name, array);
  const Layout &wanted = state.lies[which];
  if (array->at.type != wanted.type && !state.converted[which].empty())
    convert(array, state.converted[which], wanted.type);
  if (array->at.ndim == 2)
    lay_out(array, 0, false, lies);
  if (array->at.ndim != 2 || !(layout_of(*array, *lies) == wanted)) {
    nb::object dtype = seen_of(*array).attr("view").attr("dtype");
    const int64_t shape[] = {wanted.rows, wanted.cols}, strides[] = {wanted.row_stride, wanted.col_stride};
    raise(PyExc_ValueError, "%s is %S of shape %S with strides %S; the plan is for %s of %S with strides %S",
          name, dtype.ptr(), tuple_of_shape(array->at.ndim, array->at.shape).ptr(),
          tuple_of_shape(array->at.ndim, array->at.strides).ptr(), dtype_name(wanted.type),
          tuple_of_shape(2, shape).ptr(), tuple_of_shape(2, strides).ptr());
  }
  matrix->data = array->at.data;
}

static bool is_alike(const Line &line, const Line &other) {
  return line.is_given == other.is_given &&
         (!line.is_given || (line.array.at.type == other.array.at.type && line.stride == other.stride));
}

static void read_run_finish(PlanState &state, const Arguments &arguments, Finish *finish) {
  const Product &p = state.product;
  read_finish(arguments, state.like, p.m, p.n, state.kind, false, finish);
  finish->activation = p.finish.activation;
  if (finish->along != p.finish.along || finish->scaling_a != p.finish.scaling_a ||
      finish->scaling_b != p.finish.scaling_b || !is_alike(finish->bias, p.finish.bias) ||
      !is_alike(finish->scale_a, p.finish.scale_a) || !is_alike(finish->scale_b, p.finish.scale_b))
    raise(PyExc_ValueError, "bias, scale_a and scale_b do not fit the plan: it needs all its vectors, with "
                            "equal types, shapes and strides");
}

/* Operands of a run. */
struct Run {
  Array a, b, c;
  Matrices a_lies, b_lies, c_lies;
  tesela_matrix left{}, right{};
  Finish finish;
};

static void run_on_device(PlanState &state, Run *run, PyObject *stream, tesela_record *record) {
  Product product = state.product;
  product.a = run->a;
  product.b = run->b;
  product.c = run->c;
  product.finish = run->finish;
  product.stream = stream;
  compute_on_device(product, record);
}

static void run_on_host(PlanState &state, Run *run, tesela_record *record) {
  const std::shared_ptr<MadePlan> made = plan_of(state);
  tesela_result result{};
  result.data = run->c.at.data;
  tesela_operands operands{};
  operands.a = &run->left;
  operands.b = &run->right;
  operands.c = &result;
  tesela_epilogue finish{};
  finish.bias = vector_of(run->finish.bias);
  finish.scale_a = vector_of(run->finish.scale_a);
  finish.scale_b = vector_of(run->finish.scale_b);
  if (!state.product.finish.is_empty())
    operands.epilogue = &finish;
  check(call_library(state.is_short, [&] { return tesela_plan_run(made->plan, &operands, record); }));
}

static PyObject *run(PlanState &state, const Arguments &arguments) {
  const Product &p = state.product;
  const bool has_out = arguments[OUT] != nullptr, with_info = is_true(arguments[FULL_OUTPUT]);
  const int64_t shape[] = {p.m, p.n};
  Run run;
  read_operand(state, arguments[A], 0, &run.a, &run.a_lies, &run.left);
  read_operand(state, arguments[B], 1, &run.b, &run.b_lies, &run.right);
  if (!p.finish.is_empty() || arguments[BIAS] || arguments[SCALE_A] || arguments[SCALE_B])
    read_run_finish(state, arguments, &run.finish);
  if (!has_out && p.beta != 0.0)
    raise(PyExc_ValueError, "beta is the factor of out, but out is not given");
  nb::object result;
  if (has_out) {
    const auto or_null = [](const Array &array, bool is_given) { return is_given ? &array : nullptr; };
    const Array *const inputs[] = {or_null(run.a, run.a.object), or_null(run.b, run.b.object),
                                   or_null(run.finish.bias.array, run.finish.bias.is_given),
                                   or_null(run.finish.scale_a.array, run.finish.scale_a.is_given),
                                   or_null(run.finish.scale_b.array, run.finish.scale_b.is_given)};
    see_out(arguments[OUT], &run.c);
    check_place(state.like, run.c);
    check_out(run.c, 2, shape, inputs, 5);
    result = nb::borrow(arguments[OUT]);
  } else {
    result = new_result(state.like, state.kind, 2, shape, &run.c);
  }
  set_c(run.c, p.m, p.n, &run.c_lies);
  const bool has_strides = p.m > 0 && p.n > 0;
  if (run.c.at.type != state.kind || (has_strides && (run.c_lies.row_stride != p.c_lies.row_stride ||
                                                      run.c_lies.col_stride != p.c_lies.col_stride))) {
    const int64_t strides[] = {run.c_lies.row_stride, run.c_lies.col_stride},
                  wanted[] = {p.c_lies.row_stride, p.c_lies.col_stride};
    raise(PyExc_ValueError, "out is %s with strides %S; the plan is for %s with %S",
          dtype_name(run.c.at.type), tuple_of_shape(2, strides).ptr(), dtype_name(state.kind),
          tuple_of_shape(2, wanted).ptr());
  }
  tesela_record record;
  if (with_info)
    record = {};
  if (state.on_host && arguments[STREAM])
    raise(PyExc_ValueError, "stream is for arrays on a device; these are on the host");
  if (p.m > 0 && p.n > 0) {
    if (state.on_host)
      run_on_host(state, &run, with_info ? &record : nullptr);
    else
      run_on_device(state, &run, arguments[STREAM], with_info ? &record : nullptr);
  }
  return given_back(has_out ? std::move(result) : finished(state.like, std::move(result)), with_info, record);
}

static PyObject *call_plan(PyObject *self, PyObject *const *objects, size_t count, PyObject *names) {
  Arguments arguments;
  if (!read_arguments(call_function, objects, static_cast<size_t>(PyVectorcall_NARGS(count)), names,
                      &arguments))
    return nullptr;
  return guarded([&] { return run(state_of(self), arguments); });
}

static PyObject *new_plan(PyTypeObject *type, PyObject *tuple, PyObject *dict) {
  std::vector<PyObject *> given;
  nb::object names;
  const size_t count = static_cast<size_t>(NB_TUPLE_GET_SIZE(tuple));
  for (size_t i = 0; i < count; i++)
    given.push_back(NB_TUPLE_GET_ITEM(tuple, i));
  if (dict && NB_DICT_GET_SIZE(dict) > 0) {
    names = nb::steal(PyTuple_New(NB_DICT_GET_SIZE(dict)));
    PyObject *name, *value;
    Py_ssize_t at = 0, i = 0;
    while (PyDict_Next(dict, &at, &name, &value)) {
      NB_TUPLE_SET_ITEM(names.ptr(), i++, Py_NewRef(name));
      given.push_back(value);
    }
  }
  Arguments arguments;
  if (!read_arguments(make_function, given.data(), count, names.ptr(), &arguments))
    return nullptr;
  return guarded([&]() -> PyObject * {
    std::unique_ptr<PlanState> state = make(arguments);
    PyObject *const self = PyType_GenericAlloc(type, 0);
    if (!self)
      throw nb::python_error();
    reinterpret_cast<PlanObject *>(self)->call = call_plan;
    reinterpret_cast<PlanObject *>(self)->state = state.release();
    return self;
  });
}

static void free_plan(PyObject *self) {
  PyTypeObject *const type = Py_TYPE(self);
  delete reinterpret_cast<PlanObject *>(self)->state;
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject *pack(PyObject *self, PyObject *const *objects, Py_ssize_t count, PyObject *names) {
  Arguments arguments;
  if (!read_arguments(pack_function, objects, static_cast<size_t>(count), names, &arguments))
    return nullptr;
  return guarded([&]() -> PyObject * {
    PlanState &state = state_of(self);
    if ((arguments[A] == nullptr) == (arguments[B] == nullptr))
      raise(PyExc_ValueError, "pack takes a or b");
    if (!state.on_host)
      raise(PyExc_ValueError, "only plans of arrays on the host pack operands");
    const int which = arguments[A] ? 0 : 1;
    Array array;
    Matrices lies;
    tesela_matrix matrix{};
    read_operand(state, arguments[which ? B : A], which, &array, &lies, &matrix);
    if (matrix.packed)
      raise(PyExc_ValueError, "%s is packed already", which ? "b" : "a");
    const std::shared_ptr<MadePlan> plan = plan_of(state);
    auto made = std::make_unique<Packed>();
    made->which = which;
    made->text = text_of(state);
    check(call_library(false, [&] {
      return tesela_pack(plan->plan, which ? nullptr : &matrix, which ? &matrix : nullptr, &made->packed);
    }));
    return nb::cast(made.release(), nb::rv_policy::take_ownership).release().ptr();
  });
}

static PyObject *get_text(PyObject *self, void *) {
  return guarded([&] { return PyUnicode_FromString(text_of(state_of(self)).c_str()); });
}

static PyObject *get_seconds(PyObject *self, void *) {
  PlanState &state = state_of(self);
  return guarded(
      [&] { return PyFloat_FromDouble(state.on_host ? tesela_plan_seconds(plan_of(state)->plan) : 0.0); });
}

static PyObject *get_shape(PyObject *self, void *) {
  const Product &p = state_of(self).product;
  return Py_BuildValue("(LLL)", static_cast<long long>(p.m), static_cast<long long>(p.n),
                       static_cast<long long>(p.k));
}

static PyObject *show(PyObject *self) {
  return guarded([&] {
    PlanState &state = state_of(self);
    const Product &p = state.product;
    const double seconds = state.on_host ? tesela_plan_seconds(plan_of(state)->plan) : 0.0;
    char expected[48] = "";
    if (seconds > 0)
      snprintf(expected, sizeof expected, ", expected to take %.3g s", seconds);
    return PyUnicode_FromFormat("<tesela.Plan: %s, %lld x %lld x %lld%s: %s>", dtype_name(state.kind),
                                static_cast<long long>(p.m), static_cast<long long>(p.n),
                                static_cast<long long>(p.k), expected, text_of(state).c_str());
  });
}

static PyMethodDef methods[] = {{"pack", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(pack)),
                                 METH_FASTCALL | METH_KEYWORDS, PACK_TEXT},
                                {}};
static PyGetSetDef properties[] = {
    {"text", get_text, nullptr, "Plan as a line that `tesela` reads.", nullptr},
    {"seconds", get_seconds, nullptr, "Expected seconds of a run.", nullptr},
    {"shape", get_shape, nullptr, "(m, n, k).", nullptr},
    {}};
static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PlanObject, call), READONLY, nullptr}, {}};

template <class Function>
static void *slot(Function function) {
  return reinterpret_cast<void *>(function);
}

void bind_plan(nb::module_ &module) {
  static PyType_Slot slots[] = {{Py_tp_new, slot(new_plan)},
                                {Py_tp_dealloc, slot(free_plan)},
                                {Py_tp_call, slot(PyVectorcall_Call)},
                                {Py_tp_repr, slot(show)},
                                {Py_tp_methods, methods},
                                {Py_tp_getset, properties},
                                {Py_tp_members, members},
                                {Py_tp_doc, const_cast<char *>(PLAN_TEXT)},
                                {0, nullptr}};
  static PyType_Spec spec = {"tesela.Plan", sizeof(PlanObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  nb::object type = nb::steal(PyType_FromSpec(&spec));
  if (!type.is_valid())
    throw nb::python_error();
  module.attr("Plan") = type;
  nb::class_<Packed>(
      module, "Packed",
      "Operand of a plan, copied once into the form that the plan computes on. Created by `Plan.pack`.")
      .def("__repr__", [](const Packed &packed) {
        return std::string("<tesela.Packed: ") + (packed.which ? "b" : "a") + " of " + packed.text + ">";
      });
  module.attr("Packed").attr("__module__") = "tesela";
}

} // namespace core

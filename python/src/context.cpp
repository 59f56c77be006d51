/* The process's context, its devices, and errors. */
#include "core.h"

#include <atomic>
#include <cstring>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace core {

static PyObject *error_type, *no_device_type;
static std::atomic<tesela_context *> the_context;
static std::string the_device;
static int the_threads, generation;

/* Returns the library's message with the names of Python's arguments instead of the description's members. */
static std::string sentence_of(const char *text) {
  static const struct {
    const char *from, *to;
  } words[] = {{"desc.c ", "out "}, {"desc.options.", ""}, {"desc.epilogue.", ""},
               {"desc.", ""},       {"desc: ", ""},        {"batch.", ""}};
  std::string sentence = text;
  for (const auto &word : words)
    for (size_t at = 0; (at = sentence.find(word.from, at)) != std::string::npos; at += strlen(word.to))
      sentence.replace(at, strlen(word.from), word.to);
  return sentence;
}

static PyObject *exception_of(tesela_status status) {
  switch (status) {
  case TESELA_BAD_CALL:
  case TESELA_BAD_INPUT:
    return PyExc_ValueError;
  case TESELA_OUT_OF_MEMORY:
    return PyExc_MemoryError;
  case TESELA_NO_DEVICE:
    return no_device_type;
  default:
    return error_type;
  }
}

void set_error(tesela_status status) {
  PyObject *const type = exception_of(status);
  nb::object error = nb::borrow(type)(sentence_of(tesela_last_error()));
  if (PyObject_IsSubclass(type, error_type)) {
    error.attr("status") = tesela_status_name(status);
    error.attr("log") = tesela_last_log();
  }
  PyErr_SetObject(type, error.ptr());
}

void check(tesela_status status) {
  if (status == TESELA_OK)
    return;
  set_error(status);
  throw nb::python_error();
}

tesela_context *known_context() {
  return the_context.load(std::memory_order_acquire);
}

tesela_context *context() {
  tesela_context *now = known_context();
  if (now)
    return now;
  tesela_context_desc desc{};
  desc.device = the_device.empty() ? nullptr : the_device.c_str();
  desc.threads = the_threads;
  const tesela_status status = tesela_context_create(&desc, &now);
  if (status != TESELA_OK) {
    set_error(status);
    return nullptr;
  }
  the_context.store(now, std::memory_order_release);
  return now;
}

int context_number() {
  return generation;
}

tesela_context *open() {
  tesela_context *const where = context();
  if (!where)
    throw nb::python_error();
  return where;
}

/* Makes later calls use a new context. Existing calls and plans keep the old one. */
static void forget() {
  the_context.store(nullptr);
  generation++;
}

static void configure(std::optional<std::string> device, int threads) {
  tesela_context_desc desc{};
  tesela_context *tried;
  desc.device = device ? device->c_str() : nullptr;
  desc.threads = threads;
  check(tesela_context_create(&desc, &tried));
  tesela_context_destroy(tried);
  the_device = device.value_or("");
  the_threads = threads;
  forget();
}

static nb::list devices() {
  nb::list list;
  int count = 0;
  if (!context())
    throw nb::python_error();
  {
    const Unlocked others_run; /* searching for drivers takes time */
    (void)tesela_device_count(context(), &count);
  }
  check(tesela_device_count(context(), &count));
  for (int i = 0; i < count; i++) {
    tesela_device info{};
    check(tesela_device_info(context(), i, &info));
    nb::dict row;
    row["name"] = info.name;
    row["label"] = info.label;
    row["platform"] = info.platform;
    row["memory_bytes"] = info.memory_bytes;
    row["local_bytes"] = info.local_bytes;
    row["compute_units"] = info.compute_units;
    row["clock_mhz"] = info.clock_mhz;
    row["group_items_max"] = info.group_items_max;
    row["has_f64"] = info.has_f64 != 0;
    row["shares_host_memory"] = info.shares_host_memory != 0;
    list.append(row);
  }
  return list;
}

void bind_context(nb::module_ &module) {
  error_type = PyErr_NewExceptionWithDoc(
      "tesela.Error",
      "Failure in the library or on a device that no exception of Python describes.\n\n"
      "Attributes\n----------\n"
      "status : str\n    \"UNSUPPORTED\", \"NO_DEVICE\", \"DEVICE_FAILED\", \"BUILD_FAILED\", ...\n"
      "log : str\n    The compiler's log, after \"BUILD_FAILED\"; else empty.",
      PyExc_RuntimeError, nullptr);
  if (!error_type)
    throw nb::python_error();
  module.attr("Error") = nb::borrow(error_type);
  nb::object bases = nb::make_tuple(nb::borrow(error_type), nb::borrow(PyExc_ValueError));
  no_device_type = PyErr_NewExceptionWithDoc(
      "tesela.NoDevice", "Named device that does not exist on this machine. It is an Error and a ValueError.",
      bases.ptr(), nullptr);
  if (!no_device_type)
    throw nb::python_error();
  module.attr("NoDevice") = nb::borrow(no_device_type);
  module.def("version", &tesela_version);
  module.def("devices", &devices);
  module.def("forget_context", &forget);
  module.def("context_address", [] { return reinterpret_cast<uintptr_t>(open()); });
  module.def("configure", &configure, nb::arg("device").none(), nb::arg("threads"));
}

} // namespace core

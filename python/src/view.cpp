/* Views of arrays of any library: NumPy's by their structs, others by DLPack or the buffer protocol
 * (nanobind's ndarray). */
#include "core.h"

#include <nanobind/stl/string.h>

#include <cstring>

namespace core {

static const struct {
  tesela_type type;
  const char *name;
  uint8_t code, bits; /* DLPack's type code and bits */
} types[] = {{TESELA_F64, "float64", 2, 64},     {TESELA_F32, "float32", 2, 32},
             {TESELA_F16, "float16", 2, 16},     {TESELA_BF16, "bfloat16", 4, 16},
             {TESELA_C64, "complex64", 5, 64},   {TESELA_C128, "complex128", 5, 128},
             {TESELA_I8, "int8", 0, 8},          {TESELA_U8, "uint8", 1, 8},
             {TESELA_I32, "int32", 0, 32},       {TESELA_E4M3, "float8_e4m3fn", 10, 8},
             {TESELA_E5M2, "float8_e5m2", 12, 8}};

const char *dtype_name(tesela_type type) {
  for (const auto &row : types)
    if (row.type == type)
      return row.name;
  return "?";
}

size_t type_size(tesela_type type) {
  for (const auto &row : types)
    if (row.type == type)
      return row.bits / 8;
  return 0;
}

nb::dlpack::dtype dlpack_type(tesela_type type) {
  for (const auto &row : types)
    if (row.type == type)
      return {row.code, row.bits, 1};
  return {};
}

tesela_type type_of_dlpack(nb::dlpack::dtype dtype) {
  for (const auto &row : types)
    if (row.code == dtype.code && row.bits == dtype.bits && dtype.lanes == 1)
      return row.type;
  return TESELA_TYPE_DEFAULT;
}

tesela_type type_named(const char *dtype) {
  for (const auto &row : types)
    if (strcmp(dtype, row.name) == 0)
      return row.type;
  return TESELA_TYPE_DEFAULT;
}

void Lies::add(int64_t dim, int64_t stride) {
  if (ndim == DIMS)
    throw nb::value_error("an array has more than 64 dimensions");
  shape[ndim] = dim;
  strides[ndim++] = stride;
}

View view_named(const std::string &dtype) {
  View view;
  view.dtype = dtype;
  view.type = type_named(dtype.c_str());
  return view;
}

static void view_tensor(nb::handle array, View *view) {
  nb::ndarray<> writable;
  if (nb::try_cast(array, writable)) {
    view->held = nb::ndarray<nb::ro>(writable);
  } else {
    view->held = nb::cast<nb::ndarray<nb::ro>>(array);
    view->read_only = true;
  }
  const nb::ndarray<nb::ro> &held = view->held;
  const nb::dlpack::dtype dtype = held.dtype();
  static const char *const prefixes[] = {"int", "uint", "float", "", "bfloat", "complex", "bool"};
  view->type = type_of_dlpack(dtype);
  view->dtype = view->type ? dtype_name(view->type)
                           : (dtype.code < 7 ? prefixes[dtype.code] : "float") + std::to_string(dtype.bits);
  view->data = static_cast<char *>(const_cast<void *>(held.data()));
  view->device_type = held.device_type();
  view->device_id = held.device_id();
  view->owner = nb::borrow(array);
  for (size_t i = 0; i < held.ndim(); i++)
    view->add(static_cast<int64_t>(held.shape(i)), held.stride(i));
}

View view_of(nb::handle array) {
  View view;
  if (is_numpy(array.ptr()))
    view_numpy(array.ptr(), &view);
  else
    view_tensor(array, &view);
  return view;
}

/* Returns a view of device memory that its library describes by __cuda_array_interface__. */
static View view_pointer(uintptr_t data, const std::string &dtype, nb::tuple shape, nb::tuple strides,
                         int device_type, int device_id, bool read_only, nb::object owner) {
  View view = view_named(dtype);
  view.data = reinterpret_cast<char *>(data);
  for (size_t i = 0; i < shape.size(); i++)
    view.add(nb::cast<int64_t>(shape[i]), nb::cast<int64_t>(strides[i]));
  view.device_type = device_type;
  view.device_id = device_id;
  view.read_only = read_only;
  view.owner = owner;
  return view;
}

static nb::tuple tuple_of(const int64_t *numbers, int count) {
  nb::list list;
  for (int i = 0; i < count; i++)
    list.append(numbers[i]);
  return nb::tuple(list);
}

void bind_view(nb::module_ &module) {
  nb::class_<View>(module, "View")
      .def_prop_ro("data", [](const View &view) { return reinterpret_cast<uintptr_t>(view.data); })
      .def_prop_ro("type", [](const View &view) { return static_cast<int>(view.type); })
      .def_prop_ro("size", [](const View &view) { return type_size(view.type); })
      .def_prop_ro("shape", [](const View &view) { return tuple_of(view.shape, view.ndim); })
      .def_prop_ro("strides", [](const View &view) { return tuple_of(view.strides, view.ndim); })
      .def_ro("dtype", &View::dtype)
      .def_ro("device_type", &View::device_type)
      .def_ro("device_id", &View::device_id)
      .def_rw("read_only", &View::read_only)
      .def_prop_ro("copy", [](const View &view) { return view.copy ? view.copy : ""; })
      .def_ro("owner", &View::owner);
  module.def("view", &view_of, nb::arg("array"));
  module.def("view_pointer", &view_pointer);
}

} // namespace core

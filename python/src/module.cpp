#include "core.h"

NB_MODULE(_core, module) {
  module.doc() = "Binding of libtesela; use the package tesela instead.";
  if (!core::begin_numpy())
    throw nb::python_error();
  nb::set_leak_warnings(false); /* plans and views may outlive the interpreter */
  core::bind_context(module);
  core::bind_view(module);
  core::bind_arrays(module);
  core::bind_matmul(module);
  core::bind_others(module);
  core::bind_plan(module);
  core::bind_device(module);
  core::bind_pieces(module);
  core::bind_loops(module);
#ifdef TESELA_HAS_XLA
  core::bind_xla(module);
#endif
}

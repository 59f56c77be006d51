/* Queued products of CUDA memory; see device.cpp. */
#pragma once

#include "core.h"

#include <complex>

namespace core {

struct DeviceMatrix {
  void *data;
  tesela_type type;
  int64_t rows, cols, row_stride, col_stride;
  bool conjugate;
};

struct DeviceProduct {
  int64_t m, n, k;
  int device_id;
  DeviceMatrix a, b, c;
  std::complex<double> alpha, beta;
  const char *strategy; /* NULL: the planner chooses */
  Ask ask;
  DeviceMatrix bias{}; /* row or column of the bias, if there is one */
  tesela_bias_axis bias_axis = TESELA_NO_BIAS;
  tesela_activation activation = TESELA_NO_ACTIVATION;
  DeviceMatrix scale_a{}, scale_b{}; /* scales of A and B, if there are any */
  tesela_scaling scaling_a = TESELA_NO_SCALE, scaling_b = TESELA_NO_SCALE;
  /* Creates the plan's workspace by the library of the arrays, for its current stream. NULL: the wrapped
   * stream reserves memory, which a capture into a graph does not allow. */
  nb::object (*new_workspace)(int device_id, size_t bytes, char **data) = nullptr;
  /* Memory of the caller for the plan's workspace, used if it is large enough. */
  char *workspace = nullptr;
  size_t workspace_bytes = 0;
  tesela_batch batch{1, nullptr, nullptr, nullptr, 0, 0, 0, 0, 0, 0}; /* products from the first one on */
};

/* Lets the thread allocate and load while it records a graph, for as long as the object lives. */
class RelaxedCapture {
  int mode = 2; /* CU_STREAM_CAPTURE_MODE_RELAXED; the thread's own mode meanwhile */

public:
  RelaxedCapture();
  RelaxedCapture(const RelaxedCapture &) = delete;
  ~RelaxedCapture();
};
/* Returns true if a CUDA stream is being recorded into a graph. */
bool is_capturing(void *stream);

/* Queues a product on a CUDA stream, or computes it at once without a stream. Returns the plan's text.
 * Throws Python's exceptions. A product that cannot be queued (with a measurement of its error) waits
 * for the stream and is done on return. Then the record is filled and its plan is not NULL. */
std::string enqueue(const DeviceProduct &product, bool has_stream, uintptr_t handle, tesela_record *record);

/* Queues a product whose plan is known, without Python's lock. Returns false if enqueue() has to do it. */
bool enqueue_known(const DeviceProduct &product, uintptr_t handle, tesela_status *status);

/* Creates the plan that later products will use, and returns its text. */
std::string prepare(const DeviceProduct &product);
/* Creates the plan for operands without memory. Returns the bytes of its workspace. */
size_t prepare_without_memory(const DeviceProduct &product);

/* Multiplies two tensors on a device whose library has DLPack's table of C functions. *is_done is false
 * for other arguments. */
PyObject *multiply_tensors(PyObject *first, PyObject *second, PyObject *out, bool *is_done);
/* Creates a tensor of bytes on a CUDA device, after another tensor was read there. */
nb::object new_tensor_memory(int device_id, size_t bytes, char **data);
void bind_tensor(nb::module_ &module);

} // namespace core

/* Queued products of CUDA memory; device.cpp says how. */
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
  const char *strategy; /* NULL: the planner's */
  Ask ask;
  DeviceMatrix bias{}; /* a row or a column, where one is added */
  tesela_bias_axis bias_axis = TESELA_NO_BIAS;
  tesela_activation activation = TESELA_NO_ACTIVATION;
  DeviceMatrix scale_a{}, scale_b{}; /* where A or B is scaled */
  tesela_scaling scaling_a = TESELA_NO_SCALE, scaling_b = TESELA_NO_SCALE;
};

/* Queues it on a stream of CUDA, or without one does it now. Returns the plan's text. Throws Python's
 * exceptions. What cannot be queued, as a measurement of its error, waits for the stream and is done on
 * return: the record is filled then, its plan not NULL. */
std::string enqueue(const DeviceProduct &product, bool has_stream, uintptr_t handle, tesela_record *record);

/* Makes the plan that later products will find, and returns its text. */
std::string prepare(const DeviceProduct &product);

/* A product of two tensors on a device, whose library has a table of C functions. Not done: of others. */
PyObject *multiply_tensors(PyObject *first, PyObject *second, PyObject *out, bool *is_done);
void bind_tensor();

} // namespace core

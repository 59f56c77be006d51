/* Product as a call describes it, ready to be computed. */
#pragma once

#include "arrays.h"
#include "device.h"

namespace core {

struct Product {
  int64_t m, n, k;
  int dims = 0; /* number of the batch's dimensions */
  int64_t batch[DIMS];
  Array a, b, c;
  Matrices a_lies, b_lies, c_lies;
  Scalar alpha = 1, beta = 0;
  const char *device = nullptr, *strategy = nullptr;
  PyObject *stream = nullptr;
  Ask ask;
  Finish finish;

  /* Reads the keywords that all products have, except for the operands. */
  void read(const Arguments &arguments, tesela_type kind);
  /* Fills the library's description of the product, from row `row` of C on. It points to *epilogue. */
  void describe(tesela_gemm_desc *desc, tesela_epilogue *epilogue, int64_t row = 0) const;
  /* Returns the product of device memory at these offsets, in elements, from the first matrices. */
  DeviceProduct on_device(int64_t a_at, int64_t b_at, int64_t c_at) const;
  /* Returns true if the product takes less time than releasing Python's lock. */
  bool is_short() const;
};

/* Computes the product; does nothing if C has no elements. record may be NULL. */
void compute(Product *product, tesela_record *record);

/* Queues products of device memory. */
void compute_on_device(const Product &product, tesela_record *record);

} // namespace core

/* A product as a call describes it, ready to be computed. */
#pragma once

#include "arrays.h"
#include "device.h"

namespace core {

struct Product {
  int64_t m, n, k;
  int dims = 0; /* of the batch */
  int64_t batch[DIMS];
  Array a, b, c;
  Matrices a_lies, b_lies, c_lies;
  Scalar alpha = 1, beta = 0;
  const char *device = nullptr, *strategy = nullptr;
  PyObject *stream = nullptr;
  Ask ask;
  Finish finish;

  /* Reads the keywords that all products have, but for those of the operands. */
  void read(const Arguments &arguments, tesela_type kind);
  /* Describes the product for the library. row: of C, where the description begins. */
  void describe(tesela_gemm_desc *desc, int64_t row = 0) const;
  /* The product of memory on a device, at so many elements from the first matrices. */
  DeviceProduct on_device(int64_t a_at, int64_t b_at, int64_t c_at) const;
  /* Says whether the product is over before a lock could be given away. */
  bool is_short() const;
};

/* Computes the product; nothing of it where it has no elements. record may be NULL. */
void compute(Product *product, tesela_record *record);

/* Queues products of memory on a device. */
void compute_on_device(const Product &product, tesela_record *record);

} // namespace core

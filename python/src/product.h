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

/* Merges a batch's dimensions, and joins a batch that is one product. */
void simplify(Product *product);

/* Computes a product of host memory in one call of the library, without Python's lock. */
tesela_status compute_at_once(tesela_context *where, const Product &product, tesela_record *record);

/* Calls `visit` with the offsets of products' A, B and C, in elements from the first matrices. Only the first
 * `dims` dimensions advance. */
template <class Visit>
void for_each_product(const Product &product, int dims, const Visit &visit) {
  int64_t index[DIMS] = {}, a = 0, b = 0, c = 0;
  for (int dim = dims; dim >= 0;) {
    visit(a, b, c);
    for (dim = dims - 1; dim >= 0; dim--) {
      const bool has_more = ++index[dim] < product.batch[dim];
      const int64_t steps = has_more ? 1 : 1 - product.batch[dim];
      a += steps * product.a_lies.steps[dim];
      b += steps * product.b_lies.steps[dim];
      c += steps * product.c_lies.steps[dim];
      if (has_more)
        break;
      index[dim] = 0;
    }
  }
}

/* Calls `visit` with products of device memory. The last dimension is a batch, unless each result is measured
 * or verified. */
template <class Visit>
void for_each_queued(const Product &product, const Visit &visit) {
  const int last = product.dims - 1;
  const bool joins = last >= 0 && !product.ask.measure_error && product.ask.verify.empty();
  for_each_product(product, joins ? last : product.dims, [&](int64_t a, int64_t b, int64_t c) {
    DeviceProduct queued = product.on_device(a, b, c);
    if (joins) {
      queued.batch.count = product.batch[last];
      queued.batch.a_stride = product.a_lies.steps[last];
      queued.batch.b_stride = product.b_lies.steps[last];
      queued.batch.c_stride = product.c_lies.steps[last];
    }
    visit(queued);
  });
}

/* Queues products of device memory. */
void compute_on_device(const Product &product, tesela_record *record);

} // namespace core

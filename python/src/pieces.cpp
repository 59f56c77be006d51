/* Matrices in pieces on several devices (tesela_shards.h), in memory of the library or in arrays of any
 * library. */
#include "core.h"

#include <complex>
#include <cstring>
#include <memory>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace core {

using Text = std::optional<std::string>;

/* Owner of the pieces' buffers, and of the arrays that buffers wrap. */
struct Pieces {
  tesela_type type;
  int64_t rows, cols;
  std::vector<tesela_shard> list;
  std::vector<nb::object> arrays;
  bool read_only = false;

  Pieces(const std::string &dtype, int64_t rows_, int64_t cols_)
      : type(type_named(dtype.c_str())), rows(rows_), cols(cols_) {
    if (!type)
      throw nb::type_error(("tesela has no elements of the type " + dtype).c_str());
  }
  Pieces(const Pieces &) = delete;
  ~Pieces() {
    for (const tesela_shard &piece : list)
      tesela_buffer_destroy(piece.buffer);
  }

  void add(tesela_buffer *buffer, const tesela_rectangle &rectangle) { list.push_back({buffer, rectangle}); }

  /* Allocates a piece on a device, dense by rows. */
  void take(const std::string &device, int64_t row, int64_t col, int64_t height, int64_t width) {
    tesela_buffer *buffer = nullptr;
    const size_t bytes = static_cast<size_t>(height * width) * type_size(type);
    check(tesela_buffer_create(open(), device.c_str(), bytes ? bytes : 1, &buffer));
    add(buffer, {row, col, height, width, 0, width ? width : 1, 1});
  }

  /* Wraps an array in place as a piece. */
  void wrap(const View &view, int64_t row, int64_t col) {
    const std::string device = view.device_type == 2 ? "cuda:" + std::to_string(view.device_id) : "cpu";
    if (view.ndim != 2)
      throw nb::value_error("a piece is a matrix");
    const int64_t height = view.shape[0], width = view.shape[1], down = view.strides[0],
                  across = view.strides[1];
    tesela_buffer *buffer = nullptr;
    const int64_t last = height && width ? (height - 1) * down + (width - 1) * across : -1;
    if ((down == 0 && height > 1) || (across == 0 && width > 1))
      throw nb::value_error("a piece has overlapping elements: each element needs its own address");
    if (last < 0)
      throw nb::value_error("a piece must have elements and no negative strides");
    check(tesela_buffer_wrap(open(), device.c_str(), view.data,
                             static_cast<size_t>(last + 1) * type_size(type), &buffer));
    add(buffer, {row, col, height, width, 0, down, across});
    arrays.push_back(nb::cast(view));
    read_only = read_only || view.read_only;
  }

  tesela_shards all() const { return {list.data(), static_cast<int64_t>(list.size())}; }
};

/* Returns (device, row, col, rows, cols) of each piece. */
static nb::list places(const Pieces &pieces) {
  nb::list all;
  for (const tesela_shard &piece : pieces.list)
    all.append(nb::make_tuple(tesela_buffer_memory(piece.buffer).device, piece.at.row, piece.at.col,
                              piece.at.rows, piece.at.cols));
  return all;
}

/* Returns the strides of each piece, which are part of a plan's key. */
static nb::list strides(const Pieces &pieces) {
  nb::list all;
  for (const tesela_shard &piece : pieces.list)
    all.append(nb::make_tuple(piece.at.row_stride, piece.at.col_stride));
  return all;
}

/* Copies one piece to or from its part of a dense row-major matrix in host memory. Lines are the
 * contiguous rows or columns of the piece. */
static tesela_status move(const Pieces &pieces, const tesela_shard &piece, char *whole, bool writes) {
  const tesela_rectangle &at = piece.at;
  const size_t size = type_size(pieces.type), pitch = static_cast<size_t>(pieces.cols) * size;
  char *const corner = whole + static_cast<size_t>(at.row) * pitch + static_cast<size_t>(at.col) * size;
  const bool by_rows = at.col_stride == 1;
  const size_t lines = static_cast<size_t>(by_rows ? at.rows : at.cols),
               length = static_cast<size_t>(by_rows ? at.cols : at.rows),
               apart = static_cast<size_t>(by_rows ? at.row_stride : at.col_stride) * size;
  if (lines == 0 || length == 0)
    return TESELA_OK;
  const auto copy_lines = [&](char *host, size_t host_pitch) {
    return tesela_buffer_copy_rows(piece.buffer, 0, apart, writes ? host : nullptr, writes ? nullptr : host,
                                   host_pitch, lines, length * size);
  };
  if (by_rows)
    return copy_lines(corner, pitch);
  std::vector<char> turned(lines * length * size);
  const auto each = [&](const auto &copy) {
    for (size_t col = 0; col < lines; col++)
      for (size_t row = 0; row < length; row++)
        copy(corner + row * pitch + col * size, &turned[(col * length + row) * size]);
  };
  if (writes)
    each([size](char *host, char *line) { memcpy(line, host, size); });
  const tesela_status status = copy_lines(turned.data(), length * size);
  if (status == TESELA_OK && !writes)
    each([size](char *host, char *line) { memcpy(host, line, size); });
  return status;
}

static void move_all(const Pieces &pieces, const View &view, bool writes) {
  if (view.type != pieces.type || view.ndim != 2 || view.shape[0] != pieces.rows ||
      view.shape[1] != pieces.cols || view.device_type != 1 ||
      (pieces.rows > 1 && pieces.cols > 0 && view.strides[0] != pieces.cols) ||
      (pieces.cols > 1 && pieces.rows > 0 && view.strides[1] != 1))
    throw nb::value_error(
        "a matrix in host memory, dense by rows, of the shape and type of the pieces is expected");
  tesela_status status = TESELA_OK;
  {
    const Unlocked others_run;
    for (size_t i = 0; i < pieces.list.size() && status == TESELA_OK; i++)
      status = move(pieces, pieces.list[i], view.data, writes);
  }
  check(status);
}

static void write(const Pieces &pieces, const View &view) {
  move_all(pieces, view, true);
}

static void read(const Pieces &pieces, const View &view) {
  move_all(pieces, view, false);
}

/* Factor with its transposition. */
struct Factor {
  const Pieces *pieces;
  bool transpose, conjugate;

  void add_to(tesela_matrix *matrix) const {
    matrix->transpose = transpose;
    matrix->conjugate = conjugate;
    matrix->type = pieces->type;
  }
};

/* Description of a product, with the objects that its pointers refer to. */
struct PiecesProduct {
  tesela_gemm_desc desc{};
  tesela_shards a, b, c;
  Scalar alpha, beta;
  Text device, strategy;
  Ask ask;

  PiecesProduct(const Factor &left, const Factor &right, const Pieces &result, Scalar alpha_, Scalar beta_,
                Text device_, Text strategy_, const Ask &ask_)
      : a(left.pieces->all()), b(right.pieces->all()), c(result.all()), alpha(alpha_), beta(beta_),
        device(std::move(device_)), strategy(std::move(strategy_)), ask(ask_) {
    desc.m = result.rows;
    desc.n = result.cols;
    desc.k = left.transpose ? left.pieces->rows : left.pieces->cols;
    left.add_to(&desc.a);
    right.add_to(&desc.b);
    desc.c.type = result.type;
    desc.a.shards = &a;
    desc.b.shards = &b;
    desc.c.shards = &c;
    desc.alpha = reinterpret_cast<const double *>(&alpha);
    desc.beta = reinterpret_cast<const double *>(&beta);
    desc.options.device = device ? device->c_str() : nullptr;
    desc.options.strategy = strategy ? strategy->c_str() : nullptr;
    desc.options.accuracy = ask.accuracy_or_null();
    desc.options.reproducibility = ask.bits_or_null();
    desc.options.measure_error = ask.measure_error;
    desc.options.verify = ask.verify_or_null();
  }
  PiecesProduct(const PiecesProduct &) = delete;
};

static nb::object multiply_pieces(const Pieces &a, bool transpose_a, bool conjugate_a, const Pieces &b,
                                  bool transpose_b, bool conjugate_b, const Pieces &c, Scalar alpha,
                                  Scalar beta, Text device, Text strategy, const Ask &ask) {
  const PiecesProduct product({&a, transpose_a, conjugate_a}, {&b, transpose_b, conjugate_b}, c, alpha, beta,
                              device, strategy, ask);
  tesela_context *const where = open();
  tesela_record record{};
  tesela_status status;
  {
    const Unlocked others_run;
    status = tesela_gemm(where, &product.desc, &record);
  }
  check(status);
  return info_of(record);
}

/* Plan for other pieces in the same places. */
struct PiecesPlan {
  tesela_plan *plan = nullptr;
  PiecesPlan() = default;
  PiecesPlan(const PiecesPlan &) = delete;
  ~PiecesPlan() { tesela_plan_destroy(plan); }

  void run(const Pieces &a, const Pieces &b, const Pieces &c) const {
    const tesela_shards shards[] = {a.all(), b.all(), c.all()};
    tesela_matrix left{}, right{};
    tesela_result result{};
    left.shards = &shards[0];
    right.shards = &shards[1];
    result.shards = &shards[2];
    tesela_operands operands{};
    operands.a = &left;
    operands.b = &right;
    operands.c = &result;
    tesela_status status;
    {
      const Unlocked others_run;
      status = tesela_plan_run(plan, &operands, nullptr);
    }
    check(status);
  }
  std::string text() const { return tesela_plan_describe(plan); }
};

static std::unique_ptr<PiecesPlan> plan_pieces(const Pieces &a, bool transpose_a, bool conjugate_a,
                                               const Pieces &b, bool transpose_b, bool conjugate_b,
                                               const Pieces &c, Scalar alpha, Scalar beta, Text device,
                                               Text strategy, const Ask &ask) {
  const PiecesProduct product({&a, transpose_a, conjugate_a}, {&b, transpose_b, conjugate_b}, c, alpha, beta,
                              device, strategy, ask);
  tesela_context *const where = open();
  auto made = std::make_unique<PiecesPlan>();
  tesela_status status;
  {
    const Unlocked others_run;
    status = tesela_plan_create(where, &product.desc, &made->plan);
  }
  check(status);
  return made;
}

void bind_pieces(nb::module_ &module) {
  nb::class_<Pieces>(module, "Pieces")
      .def(nb::init<const std::string &, int64_t, int64_t>())
      .def("take", &Pieces::take)
      .def("wrap", &Pieces::wrap)
      .def("places", &places)
      .def("strides", &strides)
      .def("write", &write)
      .def("read", &read)
      .def_ro("read_only", &Pieces::read_only);
  nb::class_<PiecesPlan>(module, "PiecesPlan")
      .def("run", &PiecesPlan::run)
      .def_prop_ro("text", &PiecesPlan::text);
  const auto define = [&module](const char *name, auto function) {
    module.def(name, function, nb::arg("a"), nb::arg("transpose_a"), nb::arg("conjugate_a"), nb::arg("b"),
               nb::arg("transpose_b"), nb::arg("conjugate_b"), nb::arg("c"), nb::arg("alpha"),
               nb::arg("beta"), nb::arg("device").none(), nb::arg("strategy").none(), nb::arg("ask"));
  };
  define("multiply_pieces", &multiply_pieces);
  define("plan_pieces", &plan_pieces);
}

} // namespace core

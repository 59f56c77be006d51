/* Documentation of the functions and types that C++ defines for Python, with their signatures. */
#pragma once

static constexpr char MATMUL_TEXT[] =
    R"text(matmul(a, b, out=None, *, alpha=1, beta=0, dtype=None, device=None, strategy=None, stream=None,
accuracy=None, bits=None, measure_error=0, verify=None, full_output=False, bias=None,
activation=None, scale_a=None, scale_b=None)
--

Matrix product activation(alpha a b + beta out + bias), where beta, bias and activation are optional. With
scales the product is alpha (scale_a a) (b scale_b).

Dimensions have the meaning of `numpy.matmul`: the last two are the matrix's, a single one is a row of `a` or
a column of `b`, and the dimensions in front broadcast.

Parameters
----------
a : array, shape (..., m, k) or (k,)
    An array of NumPy, PyTorch, CuPy, JAX or any library with DLPack, or an argument of `numpy.asarray`, such
    as a list of numbers. Strides may be negative or 0.
b : array, shape (..., k, n) or (k,)
    On the same device as `a`.
out : array, shape (..., m, n), optional
    Array for the result, with any strides that give each element its own address. It must not share memory
    with `a` and `b`. It may have any type that the product can have (see Notes).
alpha : number, optional
    Factor of the product; complex only if the result is complex.
beta : number, optional
    Factor of the old content of `out`. 0 never reads it.
dtype : type, optional
    Type of the result, if several are possible.
device : str, optional
    Device that computes arrays on the host: "cpu", "opencl:0", "cuda", "auto". Default: TESELA_DEVICE, else
    the device that is expected to be the fastest, copies included.
strategy : str, optional
    Strategy "name key=value ..." instead of the planner's choice, e.g. "host_packed" or "register_tile
    tile=8".
stream : stream or int, optional
    Stream on which the work is queued, for arrays on a device. Default: the current stream of the arrays'
    library.
accuracy : str or float, optional
    Required accuracy (docs/ACCURACY.md): a number, by which times abs(A) abs(B) the error is bounded, or
    "e4m3", "tf32", "bf16", "f32", "f64" or "exact". Strategies without this guarantee do not run. Default:
    TESELA_ACCURACY.
bits : {"any", "run", "threads", "rows", "devices"}, optional
    Required reproducibility: the condition under which equal calls give equal bits. With "rows",
    an element depends on its row, its column, k and types only (docs/SAME_BITS.md). Default: TESELA_BITS.
measure_error : bool or int, optional
    Measure the result's error (`error_measured` of the info). A large result is sampled, with the number as
    the seed. An error beyond its bound raises `tesela.Error`. Arrays on a device wait for the result.
verify : {"none", "all", "memory", "repair"}, optional
    Verify the whole result by checksums (docs/VERIFY.md). "all": a wrong result raises `tesela.Error`;
    "memory": kernels sum the result after they stored it; "repair": it is computed again first. Arrays on a
    device wait for the result. Default: TESELA_VERIFY for arrays in host memory, else "none".
full_output : bool, optional
    Also return an `Info`.
bias : array, shape (n,), (1, n) or (m, 1), optional
    Vector that is added to each product, broadcast as in NumPy, on the same device as `a`. It is converted
    to the type of the result. float32 is kept if that is float16 or bfloat16. If `b` has one dimension, its
    shape is (m,).
activation : {"relu", "gelu", "gelu_tanh"}, optional
    Function of each element, applied last: max(x, 0), x (1 + erf(x / sqrt(2))) / 2, or an approximation of
    that by tanh. For real numbers only.
scale_a : number or array, shape (m,) or (m, 1), optional
    Scale by which `a` was divided to fit a narrow type: one number, or one for each row, on the same device
    as `a`. Sums of a b are multiplied by it in float32 and rounded once; see Notes for the types. The error
    of products with scales is not measured (`measure_error`).
scale_b : number or array, shape (n,) or (1, n), optional
    Scale of `b`: one number, or one for each column.

Returns
-------
c : array, shape (..., m, n)
    `out`, or a new row-major array of the library of `a`, on the same device. Two vectors give a scalar.
info : Info
    Only with `full_output`: `plan`, `seconds`, `error_bound` and more.

Raises
------
ValueError
    Shapes do not fit, `out` cannot be written or shares memory, or a device or strategy does not exist
    (`tesela.NoDevice` for the device).
TypeError
    tesela does not multiply these types; the message lists the possible ones.
MemoryError
    Memory ran out, on the host or on a device.
tesela.Error
    Any other failure of the library.

Notes
-----
float64, float32, complex64 and complex128 are multiplied with their own type. float16 and bfloat16
(ml_dtypes) are multiplied with their own type, to that type or to float32, with sums in float32. int8, uint8
and bool are multiplied with each other, to int32, where NumPy would wrap. Other pairs are converted to
`numpy.result_type`, integers to float64, and the logger `tesela` reports it at the level INFO. With `scale_a`
or `scale_b` all types except float64 and complex give float32, float16 or bfloat16. The default is then the
type of the operands, or float32 for integers.

Products of 32 x 32 x 32 and more release Python's lock. In the main thread Ctrl-C ends a long product on the
processor after about a quarter of a second; `out` is then partly written.

Examples
--------
>>> import numpy, tesela
>>> tesela.matmul(numpy.array([[1.0, 2.0]]), numpy.array([[3.0], [4.0]]))
array([[11.]])
)text";

static constexpr char GEMM_TEXT[] =
    R"text(gemm(a, b, c=None, *, alpha=1, beta=None, trans_a="n", trans_b="n", out=None, dtype=None,
device=None, strategy=None, stream=None, accuracy=None, bits=None, measure_error=0, verify=None,
full_output=False, bias=None, activation=None, scale_a=None, scale_b=None)
--

Product as in BLAS: alpha op(a) op(b) + beta c, where op may transpose a matrix.

Parameters
----------
a : array, shape (m, k), or (k, m) if transposed
b : array, shape (k, n), or (n, k) if transposed
c : array, shape (m, n), optional
    Summand. It is not written, unless it is also `out`.
alpha, beta : number, optional
    The default of `beta` is 1 if `c` is given.
trans_a, trans_b : {"n", "t", "c"}, optional
    op: unchanged, transposed, or conjugated and transposed. Capital letters are allowed.
out, dtype, device, strategy, stream, accuracy, bits, measure_error, verify, full_output, bias, activation,
scale_a, scale_b : optional
    As in `matmul`; rows and columns are the result's.

Returns
-------
d : array, shape (m, n)
    `out`, or a new array.
info : Info
    Only with `full_output`.

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As in `matmul`.
)text";

static constexpr char PLAN_TEXT[] =
    R"text(Plan(a, b, *, out=None, alpha=1, beta=0, dtype=None, device=None, strategy=None, runs=0,
accuracy=None, bits=None, measure_error=0, verify=None, bias=None, activation=None,
scale_a=None, scale_b=None)
--

Product of matrices that is planned once: strategy, parameters and device.

Parameters
----------
a : array, shape (m, k)
    Array with the type and strides of all runs; its elements are not used.
b : array, shape (k, n)
out : array, shape (m, n), optional
    Result array, if its strides differ from a new array's.
alpha, beta : number, optional
    Parts of the plan.
dtype, device, strategy, accuracy, bits, measure_error, verify : optional
    As in `matmul`. A plan that measures errors accepts no packed operands.
runs : int, optional
    Expected number of runs, by which the cost of opening a device and compiling is divided. 0: so many that
    this cost does not count.
bias, activation, scale_a, scale_b : optional
    As in `matmul`. Vectors have the types, shapes and strides of all runs. The activation is part of the
    plan.

Its call is ``plan(a, b, out=None, *, stream=None, full_output=False, bias=None, scale_a=None,
scale_b=None)``, with arrays of the plan's shapes, types and strides, or operands from `pack`. `out` is needed
if `beta` is not 0. The call returns the same values as `matmul`, and raises ValueError for arrays that do not
fit the plan.

Attributes
----------
text : str
    Plan as a line that `tesela` reads.
seconds : float
    Expected seconds of a run; 0 if the strategy was given, or arrays are on a device.
shape : tuple
    (m, n, k).

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As in `matmul`.

Examples
--------
>>> import numpy, tesela
>>> a, b = numpy.ones((3, 4)), numpy.ones((4, 2))
>>> plan = tesela.Plan(a, b)
>>> packed = plan.pack(b=b)
>>> plan(a, packed)[:2]
array([[4., 4.],
       [4., 4.]])
)text";

static constexpr char PACK_TEXT[] = R"text(pack($self, *, a=None, b=None)
--

Packs one operand for many runs.

Parameters
----------
a, b : array
    Exactly one of both. It may be changed or deleted when the call returns.

Returns
-------
packed : Packed
    Replaces the operand in runs of this plan. Results have the same bits.

Raises
------
ValueError
    Both or none were given, the array does not fit the plan, or arrays are on a device.
)text";

static constexpr char DOT_TEXT[] =
    R"text(dot(x, y, *, alpha=1, dtype=None, device=None, strategy=None, accuracy=None, bits=None,
measure_error=0, verify=None, full_output=False)
--

Dot product of two vectors, alpha (x[0] y[0] + ... + x[n-1] y[n-1]).

Parameters
----------
x, y : array, shape (n,)
    Vectors on the host, both float64, float32, float16 or bfloat16, or each int8 or uint8.
alpha : number, optional
dtype : type, optional
    Type of the result: the type of `x`, or float32 for float16 and bfloat16; int32 for integers.
accuracy, bits, measure_error, verify : optional
    As in `matmul`; measuring takes longer than the dot itself.
device, strategy : str, optional
    As in `matmul`. The strategy "exact" rounds once, whatever the vectors are.
full_output : bool, optional

Returns
-------
value : scalar
    A NumPy scalar, or an array without dimensions of the library of `x`.
info : Info
    Only with `full_output`.

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As in `matmul`.

Examples
--------
>>> import numpy, tesela
>>> float(tesela.dot(numpy.array([1e16, 1.0, -1e16]), numpy.ones(3), strategy="exact"))
1.0
)text";

static constexpr char TRANSPOSE_TEXT[] =
    R"text(transpose(a, out=None, *, alpha=1, device=None, strategy=None, accuracy=None, bits=None,
measure_error=0, full_output=False)
--

Transpose alpha a', copied to a new row-major matrix. (`a.T` is a view of the same memory.)

Parameters
----------
a : array, shape (rows, cols)
    Array on the host, of any type of `matmul`, or int32.
out : array, shape (cols, rows), optional
    Result array without common memory with `a`; or `a` itself, which must be square and is transposed in
    place.
alpha : number, optional
device, strategy, accuracy, bits, measure_error : optional
    As in `matmul`.
full_output : bool, optional

Returns
-------
b : array, shape (cols, rows)
    `out`, or a new array of the library of `a`.
info : Info
    Only with `full_output`.

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As in `matmul`.
)text";

static constexpr char MATMUL_GROUPED_TEXT[] =
    R"text(matmul_grouped(a, b, out=None, *, alpha=1, beta=0, device=None, strategy=None, accuracy=None,
bits=None, measure_error=0, verify=None, full_output=False)
--

Matrix products alpha a[i] b[i] + beta out[i], of any sizes, divided among all threads.

Every result has the bits of `matmul`. If a product is wrong, nothing is computed and the error has the
product's number.

Parameters
----------
a : sequence of arrays, shapes (m, k)
    Arrays on the host: NumPy's, or arguments of `numpy.asarray`. Types and sizes may differ between products.
b : sequence of arrays, shapes (k, n)
    As many arrays as `a`.
out : sequence of arrays, shapes (m, n), optional
    Result arrays. They share no memory with each other, nor with any factor.
alpha, beta : number, optional
    Factors of all products, and of the old content of `out`. beta = 0 never reads `out`.
device, strategy, accuracy, bits, measure_error, verify, full_output :
    As in `matmul`, for all products. If sizes are small and new in each call, `strategy="host_small"` saves
    most of the planning time.

Returns
-------
list of arrays
    The arrays of `out`, or new ones. With `full_output` also an `Info` of all products together.
)text";

static constexpr char SOLVE_TRIANGULAR_TEXT[] =
    R"text(solve_triangular(a, b, out=None, *, alpha=1, lower=False, unit_diagonal=False, trans="n",
right=False, device=None, strategy=None, accuracy=None, bits=None, full_output=False)
--

Solution x of op(a) x = alpha b, or x op(a) = alpha b, with a triangular a, by substitution.

Parameters
----------
a : array, shape (n, n)
    Array on the host, float64, float32, complex64 or complex128; other numbers are converted. Elements
    outside the triangle are not read.
b : array, shape (n, k) or (n,); with `right` (k, n)
    Right-hand sides. `a` and `b` are converted to one type, as in NumPy.
out : array of the shape of b, optional
    Result array without common memory with `a` and `b`; or `b` itself, which the solution replaces.
alpha : number, optional
lower : bool, optional
    True: the lower triangle of the stored `a` is used. Default: the upper one, as in SciPy.
unit_diagonal : bool, optional
    True: the diagonal is ones and is not read.
trans : {"n", "t", "c"}, optional
    op(a): unchanged, transposed, or conjugated and transposed.
right : bool, optional
    True: `a` is the right factor.
device, strategy, accuracy, bits, full_output : optional
    As in `matmul`. `info.error_bound` bounds alpha b - op(a) x, in units of abs(op(a)) abs(x).

Returns
-------
x : array of the shape of b
info : Info
    Only with `full_output`.

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As in `matmul`. A 0 on the diagonal raises nothing: it gives infinities and NaN, as division does.

Examples
--------
>>> import numpy, tesela
>>> tesela.solve_triangular(numpy.array([[2.0, 0.0], [1.0, 4.0]]), numpy.array([2.0, 9.0]), lower=True)
array([1., 2.])
)text";

static constexpr char TRMM_TEXT[] =
    R"text(trmm(a, b, out=None, *, alpha=1, lower=False, unit_diagonal=False, trans="n", right=False,
device=None, strategy=None, accuracy=None, bits=None, full_output=False)
--

Product alpha op(a) b, or alpha b op(a), with a triangular a, in about half the time of `matmul`.

Parameters
----------
a, b, out, alpha, lower, unit_diagonal, trans, right, device, strategy, accuracy, bits, full_output
    As in `solve_triangular`. `out` may be `b`, which the product then replaces.

Returns
-------
c : array of the shape of b
info : Info
    Only with `full_output`.

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As in `matmul`.
)text";

static constexpr char SYMM_TEXT[] =
    R"text(symm(a, b, out=None, *, alpha=1, beta=0, lower=False, hermitian=False, right=False, device=None,
strategy=None, accuracy=None, bits=None, full_output=False)
--

Product alpha a b + beta out, or alpha b a + beta out, with a symmetric a, of which one triangle is read.

Parameters
----------
a : array, shape (n, n)
    Array on the host, float64, float32, complex64 or complex128; other numbers are converted. Elements
    outside the triangle are not read.
b : array, shape (n, k); with `right` (k, n)
    Array of the type of `a`.
out : array of the shape of b, optional
    Result array without common memory with `a` and `b`.
alpha, beta : number, optional
    `beta` is the factor of the old content of `out`. 0 never reads it.
lower : bool, optional
    True: the lower triangle of `a` is read. Default: the upper one.
hermitian : bool, optional
    True: the other triangle is the conjugate transpose, and only real parts of the diagonal are read.
right : bool, optional
    True: `a` is the right factor.
device, strategy, accuracy, bits, full_output : optional
    As in `matmul`.

Returns
-------
c : array of the shape of b
info : Info
    Only with `full_output`.

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As in `matmul`.
)text";

static constexpr char SYRK_TEXT[] =
    R"text(syrk(a, out=None, *, alpha=1, beta=0, trans=False, hermitian=False, triangle="both", device=None,
strategy=None, accuracy=None, bits=None, full_output=False)
--

Symmetric product alpha a a' + beta out, of which one triangle is computed, in about half the time of
`matmul`.

Parameters
----------
a : array, shape (n, k)
    Array on the host, float64, float32, complex64 or complex128.
out : array, shape (n, n), optional
    Result array without common memory with `a`.
alpha, beta : number, optional
    `beta` is the factor of the old content of `out`, of which one triangle is read: the lower one, or
    `triangle`.
trans : bool, optional
    True: the product is alpha a' a + beta out, of shape (k, k).
hermitian : bool, optional
    True: the conjugate transpose is used. `alpha`, `beta` and the diagonal are real then.
triangle : {"both", "lower", "upper"}, optional
    Part of the result that is written. The other triangle is 0 in a new array, and unchanged in `out`.
device, strategy, accuracy, bits, full_output : optional
    As in `matmul`.

Returns
-------
c : array, shape (n, n)
info : Info
    Only with `full_output`.

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As in `matmul`.

Examples
--------
>>> import numpy, tesela
>>> tesela.syrk(numpy.array([[1.0, 2.0], [3.0, 4.0]]))
array([[ 5., 11.],
       [11., 25.]])
)text";

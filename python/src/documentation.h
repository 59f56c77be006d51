/* Documentation of the functions and the type that C++ gives to Python, with their signatures. */
#pragma once

static constexpr char MATMUL_TEXT[] =
    R"text(matmul(a, b, out=None, *, alpha=1, beta=0, dtype=None, device=None, strategy=None, stream=None,
accuracy=None, bits=None, measure_error=0, full_output=False, bias=None, activation=None,
scale_a=None, scale_b=None)
--

Matrix product alpha a b, or alpha a b + beta out, or activation(that + bias); or with scales alpha (scale_a
a) (b scale_b).

Dimensions are those of `numpy.matmul`: the last two are matrices, one alone is a row of `a` or a column of
`b`, and what comes before broadcasts.

Parameters
----------
a : array, shape (..., m, k) or (k,)
    An array of NumPy, PyTorch, CuPy, JAX or any library that speaks DLPack, or what `numpy.asarray` takes,
    as lists of numbers. Strides may be negative or 0.
b : array, shape (..., k, n) or (k,)
    On the same device as `a`.
out : array, shape (..., m, n), optional
    Where the result goes, of any strides whose elements do not lie on each other. It shares no memory with
    `a` and `b`. It may have each type that the product can be (see Notes).
alpha : number, optional
    Factor of the product; complex only where the result is.
beta : number, optional
    Factor of what `out` held. 0 never reads it.
dtype : type, optional
    Type of the result, where there is a choice.
device : str, optional
    Of arrays on the host: the device that computes, "cpu", "opencl:0", "cuda", "auto". Default:
    TESELA_DEVICE, else where the product is expected to be done first, copies included.
strategy : str, optional
    "name key=value ..." in place of the planner's choice, e.g. "host_packed" or "register_tile tile=8".
stream : stream or int, optional
    Of arrays on a device: the stream that the work is queued on, as the arrays' library has it. Default:
    that library's current one.
accuracy : str or float, optional
    How right the result is to be (docs/ACCURACY.md): a number, of which and of abs(A) abs(B) no error is
    larger, "e4m3", "tf32", "bf16", "f32", "f64" or "exact". What cannot guarantee it does not run. Default:
    TESELA_ACCURACY.
bits : {"any", "run", "threads", "devices"}, optional
    When the same bits are to come again. Default: TESELA_BITS.
measure_error : bool or int, optional
    Measure the result's error, on a sample that the number draws where the result is large:
    `error_measured` of the info. One that is beyond its bound raises `tesela.Error`. Of arrays on a device
    it waits for the result.
full_output : bool, optional
    Also return what ran.
bias : array, shape (n,), (1, n) or (m, 1), optional
    Vector that is added, as NumPy would broadcast it, to each of the products, on the same device as `a`.
    It is converted to the type of the result, but float32 stays where that is float16 or bfloat16. Where
    `b` has one dimension, its shape is (m,).
activation : {"relu", "gelu", "gelu_tanh"}, optional
    What is done to each element last: max(x, 0), x (1 + erf(x / sqrt(2))) / 2, or with tanh what is near
    that. Of real numbers. The error of products with scales is not measured (`measure_error`).
scale_a : number or array, shape (m,) or (m, 1), optional
    What `a` was divided by to become narrow: one number, or one for each row, on the same device as `a`.
    Sums of a b are multiplied by it in float32 and rounded once; see Notes for the types.
scale_b : number or array, shape (n,) or (1, n), optional
    Likewise of `b` and its columns.

Returns
-------
c : array, shape (..., m, n)
    `out`, or a new array of the library of `a`, on the same device, in the order of rows. Two vectors give
    a scalar.
info : Info
    Only with `full_output`: `plan`, `seconds` and `error_bound` among others.

Raises
------
ValueError
    Shapes that do not meet, an `out` that cannot be written or shares memory, a device or strategy that is
    not there (a `tesela.NoDevice` where it is the device).
TypeError
    Types that tesela does not multiply; the sentence says which it does.
MemoryError
    Memory ran out, on the host or on a device.
tesela.Error
    Anything else that the library says.

Notes
-----
float64, float32, complex64 and complex128 multiply their own type; float16 and bfloat16 (ml_dtypes) their
own, to that or to float32, with sums in float32; int8, uint8 and bool each other, to int32, where NumPy
would wrap. Other pairs are converted to the type that `numpy.result_type` says, integers to float64, and
the logger `tesela` tells of it at the level INFO. With `scale_a` or `scale_b` all of them but float64 and
complex numbers come to float32, float16 or bfloat16: by default to their own type, integers to float32.

The lock of Python's threads is not held during products of 32 x 32 x 32 and more. In the main thread Ctrl-C
ends a long product on the processor after the piece that is being done, a quarter of a second or so; `out`
is then written in part.

Examples
--------
>>> import numpy, tesela
>>> tesela.matmul(numpy.array([[1.0, 2.0]]), numpy.array([[3.0], [4.0]]))
array([[11.]])
)text";

static constexpr char GEMM_TEXT[] =
    R"text(gemm(a, b, c=None, *, alpha=1, beta=None, trans_a="n", trans_b="n", out=None, dtype=None,
device=None, strategy=None, stream=None, accuracy=None, bits=None, measure_error=0,
full_output=False, bias=None, activation=None, scale_a=None, scale_b=None)
--

The product of BLAS: alpha op(a) op(b) + beta c, of matrices, where op may transpose.

Parameters
----------
a : array, shape (m, k), or (k, m) where it is transposed
b : array, shape (k, n), or (n, k) where it is transposed
c : array, shape (m, n), optional
    What is added. It is not written, unless it is `out` as well.
alpha, beta : number, optional
    `beta` is 1 where there is a `c`.
trans_a, trans_b : {"n", "t", "c"}, optional
    As it is, transposed, or conjugated and transposed; capital letters, too.
out, dtype, device, strategy, stream, accuracy, bits, measure_error, full_output, bias, activation, scale_a,
scale_b : optional
    As in `matmul`; rows and columns are those of the result.

Returns
-------
d : array, shape (m, n)
    `out`, or a new array.
info : Info
    Only with `full_output`.

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As `matmul`.
)text";

static constexpr char PLAN_TEXT[] =
    R"text(Plan(a, b, *, out=None, alpha=1, beta=0, dtype=None, device=None, strategy=None, runs=0,
accuracy=None, bits=None, measure_error=0, bias=None, activation=None, scale_a=None, scale_b=None)
--

A product of matrices that is decided upon once: its strategy, the parameters and the device.

Parameters
----------
a : array, shape (m, k)
    Of the types and strides that the runs will have; its elements do not matter here.
b : array, shape (k, n)
out : array, shape (m, n), optional
    Where its strides are not those of a new array.
alpha, beta : number, optional
    Parts of the plan.
dtype, device, strategy, accuracy, bits, measure_error : optional
    As in `matmul`; of a plan that measures errors, no operand is packed.
runs : int, optional
    How often the plan will run: what comes before its first run (opening a device, compiling) is shared out
    among them. 0: so often that it does not count.
bias, activation, scale_a, scale_b : optional
    As in `matmul`. Vectors are of the types, shapes and strides that the runs will have; the activation is
    the plan's.

Its call is ``plan(a, b, out=None, *, stream=None, full_output=False, bias=None, scale_a=None,
scale_b=None)``: arrays of the plan's shapes, types and strides, or what `pack` made of `a` or `b`. `out` is
needed where `beta` is not 0. The call returns what `matmul` does, and raises ValueError for arrays that the
plan is not for.

Attributes
----------
text : str
    The plan as a line that `tesela` reads.
seconds : float
    Seconds that a run is expected to take; 0 where the strategy was given, or arrays are on a device.
shape : tuple
    (m, n, k).

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As `matmul`.

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
    One of the two. It may change or go when this returns.

Returns
-------
packed : Packed
    Stands for the operand in runs of this plan, with the same bits as a result.

Raises
------
ValueError
    Both or none of them, an array that the plan is not for, or arrays on a device.
)text";

static constexpr char DOT_TEXT[] =
    R"text(dot(x, y, *, alpha=1, dtype=None, device=None, strategy=None, accuracy=None, bits=None,
measure_error=0, full_output=False)
--

Dot product of two vectors, alpha (x[0] y[0] + ... + x[n-1] y[n-1]).

Parameters
----------
x, y : array, shape (n,)
    On the host, both float64, float32, float16 or bfloat16, or each int8 or uint8.
alpha : number, optional
dtype : type, optional
    Of the result: that of `x`, float32 of float16 and bfloat16 too, and int32 of integers.
accuracy, bits, measure_error : optional
    As in `matmul`; measuring takes longer than the dot itself.
device, strategy : str, optional
    As in `matmul`; "exact" rounds once, whatever the vectors are.
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
    As `matmul`.

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

The transpose alpha a', as a matrix of its own that lies by rows; a view of the same memory is what `a.T`
is.

Parameters
----------
a : array, shape (rows, cols)
    On the host, of any type of `matmul`, or int32.
out : array, shape (cols, rows), optional
    Shares no memory with `a`, or is `a`, which is square then and transposed in place.
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
    As `matmul`.
)text";

static constexpr char MATMUL_GROUPED_TEXT[] =
    R"text(matmul_grouped(a, b, out=None, *, alpha=1, beta=0, device=None, strategy=None, accuracy=None,
bits=None, measure_error=0, full_output=False)
--

Matrix products alpha a[i] b[i], or alpha a[i] b[i] + beta out[i], of any sizes, shared out among all
threads.

Every result has the bits that `matmul` gives. Nothing is computed where one of the products is wrong; the
error has its number.

Parameters
----------
a : sequence of arrays, shapes (m, k)
    Of the host: NumPy's, or what `numpy.asarray` takes; types and sizes may differ from product to product.
b : sequence of arrays, shapes (k, n)
    As many.
out : sequence of arrays, shapes (m, n), optional
    Where the results go. They share no memory with each other, nor with any factor.
alpha, beta : number, optional
    Factors of all products, and of what `out` held. 0 never reads it.
device, strategy, accuracy, bits, measure_error, full_output :
    As of `matmul`, for all products. Where sizes are small and new to each call, `strategy="host_small"`
    saves most of the time that choosing takes.

Returns
-------
list of arrays
    `out`'s, or new ones; with `full_output` and an `Info` of all products together.
)text";

static constexpr char SOLVE_TRIANGULAR_TEXT[] =
    R"text(solve_triangular(a, b, out=None, *, alpha=1, lower=False, unit_diagonal=False, trans="n",
right=False, device=None, strategy=None, accuracy=None, bits=None, full_output=False)
--

The solution x of op(a) x = alpha b, or x op(a) = alpha b, where a is triangular, by substitution.

Parameters
----------
a : array, shape (n, n)
    On the host, float64, float32, complex64 or complex128; other numbers are converted. What lies beside its
    triangle is not read.
b : array, shape (n, k) or (n,); with `right` (k, n)
    Right-hand sides. The two are converted to one type, as NumPy would.
out : array of the shape of b, optional
    Shares no memory with `a` and `b`, or is `b`, which the solution replaces then.
alpha : number, optional
lower : bool, optional
    Which triangle of `a` is taken, as it lies. Default: the upper one, as in SciPy.
unit_diagonal : bool, optional
    The diagonal is ones, and not read.
trans : {"n", "t", "c"}, optional
    op(a): as it is, transposed, or conjugated and transposed.
right : bool, optional
    `a` stands on the right.
device, strategy, accuracy, bits, full_output : optional
    As in `matmul`. `info.error_bound` is of alpha b - op(a) x, in units of abs(op(a)) abs(x).

Returns
-------
x : array of the shape of b
info : Info
    Only with `full_output`.

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As `matmul`. A 0 on the diagonal is none of these: it makes infinities and NaN, by the rules of
    division.

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

The product alpha op(a) b, or alpha b op(a), where a is triangular: in about half the time of `matmul`.

Parameters
----------
a, b, out, alpha, lower, unit_diagonal, trans, right, device, strategy, accuracy, bits, full_output
    As in `solve_triangular`; `out` may be `b`, which the product replaces then.

Returns
-------
c : array of the shape of b
info : Info
    Only with `full_output`.

Raises
------
ValueError, TypeError, MemoryError, tesela.Error
    As `matmul`.
)text";

static constexpr char SYMM_TEXT[] =
    R"text(symm(a, b, out=None, *, alpha=1, beta=0, lower=False, hermitian=False, right=False, device=None,
strategy=None, accuracy=None, bits=None, full_output=False)
--

The product alpha a b + beta out, or alpha b a + beta out, where a is symmetric and one triangle of it is
read.

Parameters
----------
a : array, shape (n, n)
    On the host, float64, float32, complex64 or complex128; other numbers are converted. What lies beside its
    triangle is not read.
b : array, shape (n, k); with `right` (k, n)
    Of the type of `a`.
out : array of the shape of b, optional
    Shares no memory with `a` and `b`.
alpha, beta : number, optional
    `beta` is the factor of what `out` held. 0 never reads it.
lower : bool, optional
    Which triangle of `a` is read. Default: the upper one.
hermitian : bool, optional
    The other triangle is the conjugate transpose, and of the diagonal the real parts are read.
right : bool, optional
    `a` stands on the right.
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
    As `matmul`.
)text";

static constexpr char SYRK_TEXT[] =
    R"text(syrk(a, out=None, *, alpha=1, beta=0, trans=False, hermitian=False, triangle="both", device=None,
strategy=None, accuracy=None, bits=None, full_output=False)
--

The symmetric product alpha a a' + beta out, of which one triangle is computed: in about half the time of
`matmul`.

Parameters
----------
a : array, shape (n, k)
    On the host, float64, float32, complex64 or complex128.
out : array, shape (n, n), optional
    Shares no memory with `a`.
alpha, beta : number, optional
    `beta` is the factor of what `out` held, of which one triangle is read: the lower one, or `triangle`.
trans : bool, optional
    alpha a' a + beta out, of shape (k, k).
hermitian : bool, optional
    With the conjugate transpose. `alpha` and `beta` are real then, and so is the diagonal.
triangle : {"both", "lower", "upper"}, optional
    What of the result is written. Beside a single triangle a new array has zeros, and `out` keeps what it
    held.
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
    As `matmul`.

Examples
--------
>>> import numpy, tesela
>>> tesela.syrk(numpy.array([[1.0, 2.0], [3.0, 4.0]]))
array([[ 5., 11.],
       [11., 25.]])
)text";

"""Plan: a product's decisions made once, to run many times."""

from __future__ import annotations

from typing import Any

from . import _core, _gpu
from ._libraries import Seen, see
from ._problem import Matrices, Problem, info_of, nothing_ran
from ._products import as_last, as_matrices, check_out, ask_of, matrix_strides, same_place, scalar, see_last, see_out
from ._types import PRODUCTS, SCALED, result_type, type_name


class Packed:
    """An operand of a plan, copied once into the form that the plan computes on. Made by `Plan.pack`."""

    def __init__(self, which: str, made, text: str):
        self._which, self._made, self._text = which, made, text

    def __repr__(self) -> str:
        return f"<tesela.Packed: {self._which} of {self._text}>"


class Plan:
    """A product of matrices that is decided upon once: its strategy, the parameters and the device.

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
        How often the plan will run: what comes before its first run (opening a device, compiling) is shared out among
        them. 0: so often that it does not count.
    bias, activation, scale_a, scale_b : optional
        As in `matmul`. Vectors are of the types, shapes and strides that the runs will have; the activation is the plan's.

    Attributes
    ----------
    text : str
        The plan as a line that `tesela` reads.
    seconds : float
        What a run is expected to take, in seconds; 0 where nobody asked: the strategy was given, or arrays are on a device.
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
    """

    def __init__(self, a: Any, b: Any, *, out: Any = None, alpha=1, beta=0, dtype=None, device: str | None = None,
                 strategy: str | None = None, runs: int = 0, accuracy: str | float | None = None, bits: str | None = None,
                 measure_error: int = 0, bias: Any = None, activation: str | None = None, scale_a: Any = None,
                 scale_b: Any = None):
        self._ask = ask_of(accuracy, bits, measure_error)
        left, right = see(a, "a"), see(b, "b")
        same_place(("a", left), ("b", right))
        for name, seen in (("a", left), ("b", right)):
            if len(seen.view.shape) != 2:
                raise ValueError(f"a plan is of two matrices, and {name} has {len(seen.view.shape)} dimensions")
        (m, k), (rows, n) = left.view.shape, right.view.shape
        if rows != k:
            raise ValueError(f"a is {(m, k)} and b is {(rows, n)}: {k} columns do not meet {rows} rows")
        into = None if out is None else see_out(out)
        wanted = type_name(dtype)
        if into is not None:
            if tuple(into.view.shape) != (m, n):
                raise ValueError(f"out has the shape {tuple(into.view.shape)}, the result {(m, n)}")
            wanted = wanted or into.view.dtype
        ends = see_last(left, bias, activation, scale_a, scale_b)
        kind = result_type(left.view.dtype, right.view.dtype, wanted, SCALED if ends.scales else PRODUCTS)
        self._last, self._activation = as_last(ends, m, n, kind), activation
        strides = (n, 1) if into is None else tuple(into.view.strides)
        self.shape = (m, n, k)
        self._kind, self._library, self._like = kind, left.library, left
        self._alpha, self._beta = scalar(alpha, kind, "alpha"), scalar(beta, kind, "beta")
        self._device, self._strategy, self._runs = device, strategy, runs
        self._on_host = left.on_host
        self._key = [self._lies(seen) for seen in (left, right)]
        self._c_strides = matrix_strides(m, n, *strides)
        empty = self._library.empty((0,), kind, left)  # of the library and the device, and nothing more
        self._like = getattr(empty, "seen", None) or Seen(self._library, empty, see(empty, "out").view)
        self._text = None if self._on_host else _gpu.prepare(self, left, right)
        self._made = None
        if self._on_host:
            self._plan()

    @staticmethod
    def _lies(seen) -> tuple:
        rows, cols = seen.view.shape
        return (seen.view.dtype, rows, cols, *matrix_strides(rows, cols, *seen.view.strides), seen.conjugate,
                seen.on_host, seen.view.device_id)

    def _plan(self):
        """The library's plan, made anew where the context is another one: in the child of a fork."""
        if self._made is None or self._generation != _core.generation():
            lies = [(_KINDS.index(key[0]), *key[3:6]) for key in self._key] + [(_KINDS.index(self._kind), *self._c_strides, False)]
            self._made = _core.plan(*self.shape, *(_core.no_operand(*words) for words in lies), self._alpha, self._beta,
                                    self._device, self._strategy, self._ask, self._last.core(), self._runs)
            self._generation = _core.generation()
        return self._made

    @property
    def text(self) -> str:
        return self._plan().text if self._on_host else self._text

    @property
    def seconds(self) -> float:
        return self._plan().seconds if self._on_host else 0.0

    def __repr__(self) -> str:
        return f"<tesela.Plan: {self.text}>"

    def _given(self, array, which: int) -> tuple:
        name = "ab"[which]
        if isinstance(array, Packed):
            if array._which != name:
                raise ValueError(f"{name} was packed as {array._which}")
            if array._text != self.text:
                raise ValueError(f"{name} was packed for another plan: {array._text}")
            return None, array._made, None
        seen = see(array, name)
        if len(seen.view.shape) != 2 or self._lies(seen) != self._key[which]:
            expected = self._key[which]
            raise ValueError(
                f"{name} is {seen.view.dtype} of shape {tuple(seen.view.shape)} with strides {tuple(seen.view.strides)}; "
                f"the plan is for {expected[0]} of {expected[1:3]} with strides {expected[3:5]}")
        return as_matrices(seen, name, None), None, seen

    def __call__(self, a: Any, b: Any, out: Any = None, *, stream: Any = None, full_output: bool = False, bias: Any = None,
                 scale_a: Any = None, scale_b: Any = None):
        """Runs the plan.

        Parameters
        ----------
        a, b : array or Packed
            Of the plan's shapes, types and strides, or what `pack` made.
        out : array, shape (m, n), optional
            Needed where `beta` is not 0.
        stream, full_output : optional
            As in `matmul`.
        bias, scale_a, scale_b : array, optional
            Those that the plan was made with.

        Returns
        -------
        c : array, shape (m, n)
        info : Info
            Only with `full_output`.

        Raises
        ------
        ValueError
            Arrays that the plan is not for.
        """
        m, n, k = self.shape
        (left, packed_a, seen_a), (right, packed_b, seen_b) = self._given(a, 0), self._given(b, 1)
        ends = see_last(self._like, bias, self._activation, scale_a, scale_b)
        last = as_last(ends, m, n, self._kind) if ends.named() else self._last._replace(bias=None, scale_a=None, scale_b=None)
        if last.lies() != self._last.lies():
            raise ValueError("bias, scale_a and scale_b are not those of the plan: all that it has, of the same types, shapes and "
                             "strides")
        if out is None and self._beta:
            raise ValueError("beta is the factor of what out held, and there is no out")
        result = self._library.empty((m, n), self._kind, self._like) if out is None else out
        into = getattr(result, "seen", None) or see_out(result)
        if out is not None:
            check_out(into, (m, n), [*((name, seen) for name, seen in (("a", seen_a), ("b", seen_b)) if seen), *ends.named()])
        strides = matrix_strides(m, n, *into.view.strides)
        if strides != self._c_strides or into.view.dtype != self._kind:
            raise ValueError(f"out is {into.view.dtype} with strides {strides}; the plan is for {self._kind} with "
                             f"{self._c_strides}")
        c = Matrices(into, 0, *strides, ())
        if m == 0 or n == 0:
            info = nothing_ran()
        elif self._on_host:
            if stream is not None:
                raise ValueError("stream is for arrays on a device; these are on the host")
            info = info_of(self._plan().run(left and left.operand(), packed_a, right and right.operand(), packed_b, c.operand(),
                                            last.core()))
        else:
            info = _gpu.compute(Problem(m, n, k, (), left, right, c, last), self._alpha, self._beta, self._device, self._strategy, stream,
                                self._ask)
        if out is None:
            result = self._library.finish(result)
        return (result, info) if full_output else result

    def pack(self, *, a: Any = None, b: Any = None) -> Packed:
        """Packs one operand for many runs.

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
        """
        if (a is None) == (b is None):
            raise ValueError("pack takes a or b")
        if not self._on_host:
            raise ValueError("only plans of arrays on the host pack operands")
        which = 0 if b is None else 1
        matrices, _, _ = self._given(a if b is None else b, which)
        if matrices is None:
            raise ValueError(f"{'ab'[which]} is packed already")
        operands = [None, None]
        operands[which] = matrices.operand()
        return Packed("ab"[which], self._plan().pack(*operands), self.text)


_KINDS = ("", "float64", "float32", "float16", "bfloat16", "int8", "int32", "complex64", "complex128", "uint8",
          "float8_e4m3fn", "float8_e5m2")

import os
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeVar, overload

from . import lab as lab, linalg as linalg


_Array = TypeVar("_Array")
_Scalar = int | float | complex
_How = Literal["n", "t", "c", "N", "T", "C"]
_Activation = Literal["relu", "gelu", "gelu_tanh"]

__version__: str

class Error(RuntimeError):
    status: str
    log: str

class NoDevice(Error, ValueError): ...

class Info(NamedTuple):
    plan: str
    seconds: float
    error_bound: float
    seconds_allocate: float = ...
    seconds_copy_in: float = ...
    seconds_compute: float = ...
    seconds_copy_out: float = ...
    flushed_below: float = ...
    error_measured: float = ...
    measured_rows: int = ...
    measured_cols: int = ...
    seconds_measure: float = ...
    note: str = ...
    verified: int = ...
    unverified: int = ...
    hidden_error: float = ...
    seconds_verify: float = ...

class Device(NamedTuple):
    name: str
    label: str
    platform: str
    memory_bytes: int
    local_bytes: int
    compute_units: int
    clock_mhz: int
    group_items_max: int
    has_f64: bool
    shares_host_memory: bool

@overload
def matmul(a: _Array, b: Any, out: None = ..., *, alpha: _Scalar = ..., beta: _Scalar = ..., dtype: Any = ...,
           device: str | None = ..., strategy: str | None = ..., stream: Any = ...,
           accuracy: str | float | None = ..., bits: str | None = ..., measure_error: int = ..., verify: str | None = ...,
           bias: Any = ..., activation: _Activation | None = ..., scale_a: Any = ..., scale_b: Any = ...,
           full_output: Literal[False] = ...) -> _Array: ...
@overload
def matmul(a: Any, b: Any, out: _Array, *, alpha: _Scalar = ..., beta: _Scalar = ..., dtype: Any = ...,
           device: str | None = ..., strategy: str | None = ..., stream: Any = ...,
           accuracy: str | float | None = ..., bits: str | None = ..., measure_error: int = ..., verify: str | None = ...,
           bias: Any = ..., activation: _Activation | None = ..., scale_a: Any = ..., scale_b: Any = ...,
           full_output: Literal[False] = ...) -> _Array: ...
@overload
def matmul(a: _Array, b: Any, out: _Array | None = ..., *, alpha: _Scalar = ..., beta: _Scalar = ..., dtype: Any = ...,
           device: str | None = ..., strategy: str | None = ..., stream: Any = ...,
           accuracy: str | float | None = ..., bits: str | None = ..., measure_error: int = ..., verify: str | None = ...,
           bias: Any = ..., activation: _Activation | None = ..., scale_a: Any = ..., scale_b: Any = ...,
           full_output: Literal[True]) -> tuple[_Array, Info]: ...

@overload
def matmul_grouped(a: Sequence[_Array], b: Sequence[Any], out: Sequence[_Array] | None = ..., *, alpha: _Scalar = ...,
                   beta: _Scalar = ..., device: str | None = ..., strategy: str | None = ...,
                   accuracy: str | float | None = ..., bits: str | None = ..., measure_error: int = ..., verify: str | None = ...,
                   full_output: Literal[False] = ...) -> list[_Array]: ...
@overload
def matmul_grouped(a: Sequence[_Array], b: Sequence[Any], out: Sequence[_Array] | None = ..., *, alpha: _Scalar = ...,
                   beta: _Scalar = ..., device: str | None = ..., strategy: str | None = ...,
                   accuracy: str | float | None = ..., bits: str | None = ..., measure_error: int = ..., verify: str | None = ...,
                   full_output: Literal[True]) -> tuple[list[_Array], Info]: ...

@overload
def gemm(a: _Array, b: Any, c: Any = ..., *, alpha: _Scalar = ..., beta: _Scalar | None = ..., trans_a: _How = ...,
         trans_b: _How = ..., out: _Array | None = ..., dtype: Any = ..., device: str | None = ..., strategy: str | None = ...,
         stream: Any = ..., accuracy: str | float | None = ..., bits: str | None = ..., measure_error: int = ..., verify: str | None = ...,
         bias: Any = ..., activation: _Activation | None = ..., scale_a: Any = ..., scale_b: Any = ...,
         full_output: Literal[False] = ...) -> _Array: ...
@overload
def gemm(a: _Array, b: Any, c: Any = ..., *, alpha: _Scalar = ..., beta: _Scalar | None = ..., trans_a: _How = ...,
         trans_b: _How = ..., out: _Array | None = ..., dtype: Any = ..., device: str | None = ..., strategy: str | None = ...,
         stream: Any = ..., accuracy: str | float | None = ..., bits: str | None = ..., measure_error: int = ..., verify: str | None = ...,
         bias: Any = ..., activation: _Activation | None = ..., scale_a: Any = ..., scale_b: Any = ...,
         full_output: Literal[True]) -> tuple[_Array, Info]: ...

@overload
def dot(x: Any, y: Any, *, alpha: _Scalar = ..., dtype: Any = ..., device: str | None = ..., strategy: str | None = ...,
        accuracy: str | float | None = ..., bits: str | None = ..., measure_error: int = ..., verify: str | None = ...,
        full_output: Literal[False] = ...) -> Any: ...
@overload
def dot(x: Any, y: Any, *, alpha: _Scalar = ..., dtype: Any = ..., device: str | None = ..., strategy: str | None = ...,
        accuracy: str | float | None = ..., bits: str | None = ..., measure_error: int = ..., verify: str | None = ...,
        full_output: Literal[True]) -> tuple[Any, Info]: ...

@overload
def transpose(a: _Array, out: _Array | None = ..., *, alpha: _Scalar = ..., device: str | None = ..., strategy: str | None = ...,
              accuracy: str | float | None = ..., bits: str | None = ..., measure_error: int = ...,
              full_output: Literal[False] = ...) -> _Array: ...
@overload
def transpose(a: _Array, out: _Array | None = ..., *, alpha: _Scalar = ..., device: str | None = ..., strategy: str | None = ...,
              accuracy: str | float | None = ..., bits: str | None = ..., measure_error: int = ...,
              full_output: Literal[True]) -> tuple[_Array, Info]: ...

@overload
def solve_triangular(a: Any, b: _Array, out: _Array | None = ..., *, alpha: _Scalar = ..., lower: bool = ...,
                     unit_diagonal: bool = ..., trans: _How = ..., right: bool = ..., device: str | None = ...,
                     strategy: str | None = ..., accuracy: str | float | None = ..., bits: str | None = ...,
                     full_output: Literal[False] = ...) -> _Array: ...
@overload
def solve_triangular(a: Any, b: _Array, out: _Array | None = ..., *, alpha: _Scalar = ..., lower: bool = ...,
                     unit_diagonal: bool = ..., trans: _How = ..., right: bool = ..., device: str | None = ...,
                     strategy: str | None = ..., accuracy: str | float | None = ..., bits: str | None = ...,
                     full_output: Literal[True]) -> tuple[_Array, Info]: ...
@overload
def trmm(a: Any, b: _Array, out: _Array | None = ..., *, alpha: _Scalar = ..., lower: bool = ..., unit_diagonal: bool = ...,
         trans: _How = ..., right: bool = ..., device: str | None = ..., strategy: str | None = ...,
         accuracy: str | float | None = ..., bits: str | None = ..., full_output: Literal[False] = ...) -> _Array: ...
@overload
def trmm(a: Any, b: _Array, out: _Array | None = ..., *, alpha: _Scalar = ..., lower: bool = ..., unit_diagonal: bool = ...,
         trans: _How = ..., right: bool = ..., device: str | None = ..., strategy: str | None = ...,
         accuracy: str | float | None = ..., bits: str | None = ...,
         full_output: Literal[True]) -> tuple[_Array, Info]: ...
@overload
def symm(a: Any, b: _Array, out: _Array | None = ..., *, alpha: _Scalar = ..., beta: _Scalar = ..., lower: bool = ...,
         hermitian: bool = ..., right: bool = ..., device: str | None = ..., strategy: str | None = ...,
         accuracy: str | float | None = ..., bits: str | None = ..., full_output: Literal[False] = ...) -> _Array: ...
@overload
def symm(a: Any, b: _Array, out: _Array | None = ..., *, alpha: _Scalar = ..., beta: _Scalar = ..., lower: bool = ...,
         hermitian: bool = ..., right: bool = ..., device: str | None = ..., strategy: str | None = ...,
         accuracy: str | float | None = ..., bits: str | None = ...,
         full_output: Literal[True]) -> tuple[_Array, Info]: ...
@overload
def syrk(a: _Array, out: _Array | None = ..., *, alpha: _Scalar = ..., beta: _Scalar = ..., trans: bool = ...,
         hermitian: bool = ..., triangle: Literal["both", "lower", "upper"] = ..., device: str | None = ...,
         strategy: str | None = ..., accuracy: str | float | None = ..., bits: str | None = ...,
         full_output: Literal[False] = ...) -> _Array: ...
@overload
def syrk(a: _Array, out: _Array | None = ..., *, alpha: _Scalar = ..., beta: _Scalar = ..., trans: bool = ...,
         hermitian: bool = ..., triangle: Literal["both", "lower", "upper"] = ..., device: str | None = ...,
         strategy: str | None = ..., accuracy: str | float | None = ..., bits: str | None = ...,
         full_output: Literal[True]) -> tuple[_Array, Info]: ...

def einsum(*operands: Any, optimize: bool | str | Sequence[Any] = ..., device: str | None = ..., strategy: str | None = ...,
           accuracy: str | float | None = ..., bits: str | None = ..., verify: str | None = ...) -> Any: ...
def tensordot(a: _Array, b: Any, axes: Any = ..., *, device: str | None = ..., strategy: str | None = ...,
              accuracy: str | float | None = ..., bits: str | None = ..., verify: str | None = ...) -> _Array: ...
def inner(a: _Array, b: Any, *, device: str | None = ..., strategy: str | None = ..., accuracy: str | float | None = ...,
          bits: str | None = ..., verify: str | None = ...) -> _Array: ...
def outer(x1: _Array, x2: Any, *, device: str | None = ..., strategy: str | None = ..., accuracy: str | float | None = ...,
          bits: str | None = ..., verify: str | None = ...) -> _Array: ...
def vecdot(x1: _Array, x2: Any, axis: int = ..., *, device: str | None = ..., strategy: str | None = ...,
           accuracy: str | float | None = ..., bits: str | None = ..., verify: str | None = ...) -> _Array: ...

class Packed: ...

class Plan:
    shape: tuple[int, int, int]
    def __init__(self, a: Any, b: Any, *, out: Any = ..., alpha: _Scalar = ..., beta: _Scalar = ..., dtype: Any = ...,
                 device: str | None = ..., strategy: str | None = ..., runs: int = ..., accuracy: str | float | None = ...,
                 bits: str | None = ..., measure_error: int = ..., verify: str | None = ..., bias: Any = ..., activation: _Activation | None = ...,
                 scale_a: Any = ..., scale_b: Any = ...) -> None: ...
    @property
    def text(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @overload
    def __call__(self, a: Any, b: Any, out: Any = ..., *, stream: Any = ..., bias: Any = ..., scale_a: Any = ...,
                 scale_b: Any = ..., full_output: Literal[False] = ...) -> Any: ...
    @overload
    def __call__(self, a: Any, b: Any, out: Any = ..., *, stream: Any = ..., bias: Any = ..., scale_a: Any = ...,
                 scale_b: Any = ..., full_output: Literal[True]) -> tuple[Any, Info]: ...
    def pack(self, *, a: Any = ..., b: Any = ...) -> Packed: ...

class Report:
    data: dict[str, Any]
    def __getitem__(self, key: str) -> Any: ...
    def keys(self) -> Any: ...
    def to_pandas(self) -> Any: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...

class Explanation(Report):
    @property
    def plan(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def error_bound(self) -> float: ...

class Check(Report):
    def __bool__(self) -> bool: ...

class _Paged(Report):
    page: str
    def _repr_html_(self) -> str: ...

class Exploration(_Paged):
    def plot(self, axes: Any = ...) -> Any: ...

class Trace(_Paged):
    def events(self) -> list[dict[str, Any]]: ...

def devices() -> list[Device]: ...
def configure(*, device: str | None = ..., threads: int = ...) -> None: ...
def explain(m: int, n: int, k: int, *, type: Any = ..., device: str | None = ..., strategy: str | None = ...,
            **options: Any) -> Explanation: ...
def tune(m: int, n: int, k: int, *, type: Any = ..., device: str | None = ..., strategy: Any = ...,
         budget: float | str | None = ..., **options: Any) -> Report: ...
def check(*, strategy: Any = ..., device: Any = ..., type: Any = ..., budget: float | str | None = ...,
          **options: Any) -> Check: ...
def explore(*, sizes: Any = ..., types: Any = ..., devices: Any = ..., strategies: Any = ..., seconds: float | None = ...,
            **options: Any) -> Exploration: ...
def trace(*sizes: int, strategy: str, element: tuple[int, int] | None = ..., group: tuple[int, int] | None = ...,
          type: Any = ..., **options: Any) -> Trace: ...

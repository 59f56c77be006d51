"""Times compiled products of JAX by tesela.jax.matmul and jax.numpy.matmul, in turn:

    jax_device.py [TYPE] [MxKxN ...]

dispatch: microseconds of the program for a call that queues its work. both: microseconds of a call and of
its work. Calls are queued in a row, and the program waits at the end. kept: both, in a program that keeps
all results. Their addresses differ, so XLA records its graphs again. Medians of rounds. The last lines have
a batch of small products (vmap), chains of small products, and the gradient of a chain. Results are
compared."""

import statistics
import sys
import time

import jax
import jax.numpy as jnp
import tesela.jax

kind = sys.argv[1] if len(sys.argv) > 1 else "bfloat16"
shapes = sys.argv[2:] or ["1024x1024x1024", "4096x4096x4096", "16x4096x4096"]
jax.config.update("jax_enable_x64", kind == "float64")
jax.config.update("jax_default_matmul_precision", "highest")


def time_calls(call, count: int, keeps: bool) -> tuple[float, float]:
    """Returns microseconds a call until all are queued, and until all are computed."""
    kept = []
    begin = time.perf_counter()
    for _ in range(count):
        result = call()
        if keeps:
            kept.append(result)
    queued = time.perf_counter()
    jax.block_until_ready(result)
    return (queued - begin) / count * 1e6, (time.perf_counter() - begin) / count * 1e6


def measure(calls: dict, count: int) -> dict:
    """Returns the medians of dispatch, both and kept, in microseconds, for each call."""
    times = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(3):
            jax.block_until_ready(call())
    for _ in range(7):
        for name, call in calls.items():
            kept = time_calls(call, count, True)[1]
            times[name].append((*time_calls(call, count, False), kept))
    return {name: [statistics.median(column) for column in zip(*rows)] for name, rows in times.items()}


def print_row(label: str, times: dict) -> None:
    cells = [f"{name} dispatch {dispatch:8.1f} both {both:9.1f} kept {kept:9.1f} us"
             for name, (dispatch, both, kept) in times.items()]
    (_, own, own_kept), (_, other, other_kept) = times.values()
    print(f"{kind:9} {label:19} {', '.join(cells)}, ratio {other / own:5.2f}, "
          f"kept {other_kept / own_kept:5.2f}", flush=True)


print(f"{jax.devices()[0].device_kind}, JAX {jax.__version__}, tesela {tesela.__version__}")
functions = {"tesela": tesela.jax.matmul, "jnp": jnp.matmul}
for shape in shapes:
    m, k, n = map(int, shape.split("x"))
    keys = jax.random.split(jax.random.key(1))
    a, b = jax.random.normal(keys[0], (m, k), kind), jax.random.normal(keys[1], (k, n), kind)
    jitted = {name: jax.jit(function) for name, function in functions.items()}
    print_row(shape, measure({name: lambda f=f: f(a, b) for name, f in jitted.items()},
                             20 if m * k * n < 1 << 34 else 5))


def check(functions, operands):
    """Reports results that differ by more than the types allow."""
    one, other = (jax.numpy.asarray(f(*operands), "float64" if kind == "float64" else "float32")
                  for f in functions.values())
    scale = {"bfloat16": 2e-2, "float16": 4e-3, "float32": 1e-4, "float64": 1e-11}[kind] * abs(other).max()
    if not (abs(one - other) <= scale).all():
        print(f"WRONG by {abs(one - other).max()} of {abs(other).max()}")


def chain(product, links):
    def run(x, w):
        for _ in range(links):
            x = product(x, w)
        return x
    return run


keys = jax.random.split(jax.random.key(4))
a, b = jax.random.normal(keys[0], (64, 128, 96), kind), jax.random.normal(keys[1], (64, 96, 160), kind)
batches = {name: jax.jit(jax.vmap(function)) for name, function in functions.items()}
check(batches, (a, b))
print_row("64 of 128x96x160", measure({name: lambda f=f: f(a, b) for name, f in batches.items()}, 20))
a, b = jax.random.normal(keys[0], (256, 256), kind), jax.random.normal(keys[1], (256, 256), kind) / 16
for links in (8, 32):
    chains = {name: jax.jit(chain(function, links)) for name, function in functions.items()}
    check(chains, (a, b))
    print_row(f"{links} of 256x256x256",
              measure({name: lambda f=f: f(a, b) for name, f in chains.items()}, 20))
weights = jax.random.normal(jax.random.key(2), (4, 1024, 1024), kind) / 32
x = jax.random.normal(jax.random.key(3), (512, 1024), kind)


def make_gradient(product):
    def loss(weights, x):
        for i in range(4):
            x = jnp.tanh(product(x, weights[i]))
        return x.astype("float32").sum()
    return jax.jit(jax.grad(loss))


gradients = {name: make_gradient(function) for name, function in functions.items()}
print_row("gradient of a chain",
          measure({name: lambda f=f: f(weights, x) for name, f in gradients.items()}, 10))

"""Times compiled products of JAX by tesela.jax.matmul and jax.numpy.matmul, in turn:

    jax_device.py [TYPE] [MxKxN ...]

dispatch: microseconds of the program for a call that queues its work. both: microseconds of a call and of
its work. Calls are queued in a row, and the program waits at the end. Medians of rounds. The last lines have
a batch of small products (vmap), a chain of eight small products, and the gradient of a chain. Results are
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


def measure(calls: dict, count: int) -> dict:
    """Returns the medians of dispatch and both, in microseconds, for each call."""
    dispatch, both = ({name: [] for name in calls} for _ in range(2))
    for call in calls.values():
        for _ in range(3):
            jax.block_until_ready(call())
    for _ in range(7):
        for name, call in calls.items():
            begin = time.perf_counter()
            results = [call() for _ in range(count)]
            queued = time.perf_counter()
            jax.block_until_ready(results)
            dispatch[name].append((queued - begin) / count * 1e6)
            both[name].append((time.perf_counter() - begin) / count * 1e6)
    return {name: (statistics.median(dispatch[name]), statistics.median(both[name])) for name in calls}


def print_row(label: str, times: dict) -> None:
    (dispatch, own), (other_dispatch, other) = times.values()
    print(f"{kind:9} {label:18} tesela dispatch {dispatch:8.1f} both {own:9.1f} us, "
          f"jnp dispatch {other_dispatch:8.1f} both {other:9.1f} us, ratio {other / own:5.2f}", flush=True)


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


def chain(product):
    def run(x, w):
        for _ in range(8):
            x = product(x, w)
        return x
    return run


keys = jax.random.split(jax.random.key(4))
a, b = jax.random.normal(keys[0], (64, 128, 96), kind), jax.random.normal(keys[1], (64, 96, 160), kind)
batches = {name: jax.jit(jax.vmap(function)) for name, function in functions.items()}
check(batches, (a, b))
print_row("64 of 128x96x160", measure({name: lambda f=f: f(a, b) for name, f in batches.items()}, 20))
a, b = jax.random.normal(keys[0], (256, 256), kind), jax.random.normal(keys[1], (256, 256), kind) / 16
chains = {name: jax.jit(chain(function)) for name, function in functions.items()}
check(chains, (a, b))
print_row("8 of 256x256x256", measure({name: lambda f=f: f(a, b) for name, f in chains.items()}, 20))
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

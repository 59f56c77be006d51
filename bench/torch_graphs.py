"""Times products of CUDA tensors by tesela.matmul and torch.mm, in turn, both in CUDA graphs:

    torch_graphs.py [--seconds S] [--json FILE] PRODUCT... | FILE.json...

A PRODUCT is TYPE:LAYOUT:MxNxK, such as bfloat16:NT:5x6000x7000. In NT, the rows of A and the columns of B are
contiguous along k. A FILE.json is bench_gpu's output. Products of types that torch.mm multiplies are timed.
A product of tf32 is one of float32, with the switch of torch for it, and with accuracy "tf32" in tesela.
Products of float8_e4m3fn are in NT only. Their results are bfloat16, by torch._scaled_mm with fast
accumulation and by accuracy "e4m3".

A graph holds runs with different operands, more than the last cache holds. One line a product: microseconds
of both (the least and the median), the ratio of the medians, and the strategy. Then geometric means."""

import argparse
import datetime
import json
import math
import statistics

import tesela
import torch

TYPES = {"f32": "float32", "tf32": "tf32", "f64": "float64", "c64": "complex64", "c128": "complex128",
         "bf16": "bfloat16", "f16": "float16"}
CACHE_BYTES, RUNS_MAX, MEMORY_BYTES = 200 << 20, 200, 24 << 30


def read_products(words):
    for word in words:
        if not word.endswith(".json"):
            kind, layout, sizes = word.split(":")
            yield (kind, layout, *map(int, sizes.split("x")))
            continue
        with open(word, encoding="utf-8") as file:
            for row in json.load(file)["rows"]:
                kind = row["accuracy"] if row["accuracy"] == "tf32" else row["types"]
                if kind in TYPES and row["batch"] == 1:
                    yield TYPES[kind], row["layout"], row["m"], row["n"], row["k"]


def random_matrix(rows, columns, kind, transposed):
    shape = (columns, rows) if transposed else (rows, columns)
    matrix = torch.randn(shape, device="cuda", dtype=kind if kind.is_complex else torch.float32).to(kind)
    return matrix.t() if transposed else matrix


# Options of tesela.matmul by the product's type.
OPTIONS = {"tf32": {"accuracy": "tf32"}, "float8_e4m3fn": {"accuracy": "e4m3"}}


def torch_call(kind):
    if kind != "float8_e4m3fn":
        return lambda a, b, c: torch.mm(a, b, out=c)
    one = torch.ones((), device="cuda")
    return lambda a, b, c: torch._scaled_mm(a, b, one, one, out_dtype=c.dtype, use_fast_accum=True, out=c)


def capture(call, sets, runs):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for operands in sets:
            call(*operands)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(runs):
            call(*sets[i % len(sets)])
    return graph


def replay_seconds(graph, runs):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / runs


def race(product, seconds):
    kind, layout, m, n, k = product
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    dtype = torch.float32 if kind == "tf32" else getattr(torch, kind)
    result = torch.bfloat16 if kind == "float8_e4m3fn" else dtype
    options = OPTIONS.get(kind, {})
    size = (m * k + k * n + m * n) * dtype.itemsize
    count = max(1, min(RUNS_MAX, CACHE_BYTES // size + 1, MEMORY_BYTES // size))
    sets = [(random_matrix(m, k, dtype, layout[0] == "T"), random_matrix(k, n, dtype, layout[1] == "T"),
             torch.empty(m, n, device="cuda", dtype=result)) for _ in range(count)]
    calls = {"tesela": lambda a, b, c: tesela.matmul(a, b, out=c, **options), "torch": torch_call(kind)}
    results = {}
    for name, call in calls.items():
        sets[0][2].fill_(math.nan)
        call(*sets[0])
        results[name] = sets[0][2].clone()
    _, info = tesela.matmul(*sets[0][:2], out=sets[0][2], full_output=True, **options)
    error = (results["tesela"] - results["torch"]).abs().max().item() / results["torch"].abs().max().item()
    if not error < (0.02 if result.itemsize == 2 or kind == "tf32" else 1e-3):
        raise SystemExit(f"{product}: the results differ by {error}")
    first = min(count, 3)
    probe = {name: replay_seconds(capture(call, sets[:first], first), first) for name, call in calls.items()}
    runs = max(count, min(RUNS_MAX, int(2e-3 / max(probe.values()))))
    graphs = {name: capture(call, sets, runs) for name, call in calls.items()}
    samples = {name: [] for name in graphs}
    rounds = max(5, min(30, int(seconds / (runs * sum(probe.values())))))
    for _ in range(rounds):
        for name, graph in graphs.items():
            samples[name].append(replay_seconds(graph, runs))
    return {"product": list(product), "error": error, "plan": info.plan,
            **{name: {"median": statistics.median(times), "least": min(times)}
               for name, times in samples.items()}}


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.2, help="time for the samples of a product")
    parser.add_argument("--json", help="file for the rows")
    parser.add_argument("products", nargs="+")
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, tesela {tesela.__version__}; "
          "microseconds, median (least)")
    rows = []
    for product in read_products(options.products):
        row = race(product, options.seconds)
        row["ratio"] = row["torch"]["median"] / row["tesela"]["median"]
        rows.append(row)
        kind, layout, m, n, k = product
        print(f"{kind:13} {layout} {m}x{n}x{k:<12} "
              + "  ".join(f"{name} {row[name]['median'] * 1e6:9.2f} ({row[name]['least'] * 1e6:.2f})"
                          for name in ("tesela", "torch"))
              + f"  {row['ratio']:.3f}  {row['plan'][:40]}", flush=True)
        torch.cuda.empty_cache()
    for kind in dict.fromkeys(row["product"][0] for row in rows):
        ratios = [row["ratio"] for row in rows if row["product"][0] == kind]
        print(f"{kind:13} {len(ratios)} products, mean {geometric_mean(ratios):.3f}, least {min(ratios):.3f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            json.dump({"date": date, "torch": torch.__version__, "tesela": tesela.__version__,
                       "device": torch.cuda.get_device_name(), "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()

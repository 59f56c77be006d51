"""Times products of CUDA tensors by tesela.matmul and torch.mm, in turn, both in CUDA graphs:

    torch_graphs.py [--seconds S] [--strategy NAME]... [--json FILE] [--matrix FILE] PRODUCT | FILE ...

A PRODUCT is TYPE:LAYOUT:MxNxK, such as bfloat16:NT:5x6000x7000. In NT, the rows of A and the columns of B are
contiguous along k. A FILE.json is bench_gpu's output. A FILE.txt has plans of products (bench/costs.h), which
are timed, too; --matrix appends all times to such a file. Products of types that torch.mm multiplies are
timed. A product of tf32 is one of float32, with the switch of torch for it, and with accuracy "tf32" in
tesela. Products of float8_e4m3fn are in NT only. Their results are bfloat16, by torch._scaled_mm with fast
accumulation and by accuracy "e4m3".

A graph holds runs with different operands, more than the last cache holds. One line a product: microseconds
of both (the least and the median), the ratio of the medians, and the strategy. Lines of the strategies of
--strategy follow: "few_rows", or "few_rows items_n=32 ...". Then geometric means."""

import argparse
import datetime
import json
import math
import re
import statistics

import tesela
import torch

TYPES = {"f32": "float32", "tf32": "tf32", "f64": "float64", "c64": "complex64", "c128": "complex128",
         "bf16": "bfloat16", "f16": "float16"}
# Plans slower than the fastest by this factor are timed once.
HOPELESS = 8
CACHE_BYTES, RUNS_MAX, MEMORY_BYTES = 200 << 20, 200, 24 << 30
POOL_BYTES, ALIGNMENT, SLEEP_CLOCKS = 256 << 20, 512, 400_000


def read_plans(path):
    """Returns the products of a file of plans, each with its plans."""
    plans = {}
    with open(path, encoding="utf-8") as file:
        for words in map(str.split, file):
            if words and words[0] in TYPES and words[5] == "1":
                product = TYPES[words[0]], words[1], *map(int, words[2:5])
                plans.setdefault(product, []).append(" ".join(words[8:]))
    return plans.items()


def write_plans(path, row):
    """Appends a row's times as lines of plans. Predictions are 0."""
    words = {name: word for word, name in TYPES.items()}
    with open(path, "a", encoding="utf-8") as file:
        kind, layout, m, n, k = row["product"]
        for timed in [{"plan": row["plan"], **row["tesela"]}, *row["strategies"]]:
            plan = re.sub(r"^gemm (\S+) version=\d+| device=.*", r"\1", timed["plan"])
            print(words.get(kind, kind), layout, m, n, k, 1, 0, f"{timed['median']:.5g}", plan, file=file)


def read_products(words):
    for word in words:
        if word.endswith(".txt"):
            yield from read_plans(word)
            continue
        if not word.endswith(".json"):
            kind, layout, sizes = word.split(":")
            yield (kind, layout, *map(int, sizes.split("x"))), []
            continue
        with open(word, encoding="utf-8") as file:
            for row in json.load(file)["rows"]:
                kind = row["accuracy"] if row["accuracy"] == "tf32" else row["types"]
                if kind in TYPES and row["batch"] == 1:
                    yield (TYPES[kind], row["layout"], row["m"], row["n"], row["k"]), []


class Pool:
    """Random numbers of a type on the device. Products take their matrices from here."""

    def __init__(self, kind):
        self.kind, self.numbers, self.used = kind, None, 0

    def start(self, needed):
        """Makes `needed` bytes free, and all matrices before invalid."""
        self.used, count = 0, max(needed, POOL_BYTES) // self.kind.itemsize
        if self.numbers is None or self.numbers.numel() < count:
            self.numbers = None
            self.numbers = torch.empty(count, device="cuda", dtype=self.kind)
            for part in self.numbers.split(64 << 20):
                part.copy_(torch.randn(part.shape, device="cuda",
                                       dtype=self.kind if self.kind.is_complex else torch.float32))

    def matrix(self, rows, columns, transposed=False):
        """Returns a matrix that begins at a multiple of ALIGNMENT bytes."""
        size = rows * columns
        part = self.numbers[self.used:self.used + size]
        self.used += aligned(size * self.kind.itemsize) // self.kind.itemsize
        return part.view(columns, rows).t() if transposed else part.view(rows, columns)


def aligned(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


# Options of tesela.matmul by the product's type.
OPTIONS = {"tf32": {"accuracy": "tf32"}, "float8_e4m3fn": {"accuracy": "e4m3"}}


def torch_call(kind):
    if kind != "float8_e4m3fn":
        return lambda a, b, c: torch.mm(a, b, out=c)
    one = torch.ones((), device="cuda")
    return lambda a, b, c: torch._scaled_mm(a, b, one, one, out_dtype=c.dtype, use_fast_accum=True, out=c)


def capture(call, sets, runs, stream):
    """Returns a graph of runs. torch.cuda.graph() would collect garbage first."""
    with torch.cuda.stream(stream):
        for operands in sets[:runs]:
            call(*operands)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin()
        try:
            for i in range(runs):
                call(*sets[i % len(sets)])
        finally:
            graph.capture_end()
    return graph


def replay_seconds(graph, runs):
    """Times a replay behind SLEEP_CLOCKS of the device, in which the host queues it."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(SLEEP_CLOCKS)
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / runs


def operand_sets(product, dtype, result, pools):
    """Returns different operands, more than the last cache holds, or as many as a graph has runs."""
    _, layout, m, n, k = product
    of_inputs = aligned(m * k * dtype.itemsize) + aligned(k * n * dtype.itemsize)
    of_result = aligned(m * n * result.itemsize)
    size = of_inputs + of_result
    count = max(1, min(RUNS_MAX, CACHE_BYTES // size + 1, MEMORY_BYTES // size))
    inputs = pools.setdefault(("inputs", dtype), Pool(dtype))
    results = pools.setdefault(("results", result), Pool(result))
    inputs.start(count * of_inputs)
    results.start(count * of_result)
    return [(inputs.matrix(m, k, layout[0] == "T"), inputs.matrix(k, n, layout[1] == "T"),
             results.matrix(m, n)) for _ in range(count)]


def tesela_call(options):
    return lambda a, b, c: tesela.matmul(a, b, out=c, **options)


def right_calls(product, sets, strategies, tolerance):
    """Returns calls by name, whose results agree, and tesela's plans. Strategies that refuse are missing."""
    options = OPTIONS.get(product[0], {})
    a, b, c = sets[0]
    calls, plans = {"torch": torch_call(product[0])}, {}
    calls["torch"](a, b, c)
    expected = c.clone()
    largest, errors = expected.abs().max(), {}
    for name in ["tesela", *strategies]:
        choice = options if name == "tesela" else {"strategy": name, **options}
        call = tesela_call(choice)
        c.fill_(math.nan)
        try:
            call(a, b, c)
            _, info = tesela.matmul(a, b, out=c, full_output=True, **choice)
        except (tesela.Error, ValueError):
            if name == "tesela":
                raise
            continue
        errors[name] = ((c - expected).abs().max() / largest).item()
        if not errors[name] < tolerance:
            raise SystemExit(f"{product} by {name}: the results differ by {errors[name]}")
        calls[name], plans[name] = call, info.plan
    return calls, plans, errors["tesela"]


def race(product, strategies, seconds, pools, stream):
    kind = product[0]
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    dtype = torch.float32 if kind == "tf32" else getattr(torch, kind)
    result = torch.bfloat16 if kind == "float8_e4m3fn" else dtype
    sets = operand_sets(product, dtype, result, pools)
    tolerance = 0.02 if result.itemsize == 2 or kind == "tf32" else 1e-3
    calls, plans, error = right_calls(product, sets, strategies, tolerance)
    graphs = {name: (capture(call, sets, len(sets), stream), len(sets)) for name, call in calls.items()}
    probe = {name: replay_seconds(*graph) for name, graph in graphs.items()}
    runs = max(len(sets), min(RUNS_MAX, int(2e-3 / max(probe["torch"], probe["tesela"]))))
    if runs > len(sets):
        graphs = {name: (capture(call, sets, runs, stream), runs) for name, call in calls.items()}
    samples = {name: [seconds_of_run] for name, seconds_of_run in probe.items()}
    hopeless = HOPELESS * min(probe.values())
    rounds = max(5, min(30, int(seconds / (runs * sum(probe.values())))))
    for _ in range(rounds):
        for name, graph in graphs.items():
            if name == "tesela" or probe[name] < hopeless:
                samples[name].append(replay_seconds(*graph))
    times = {name: {"median": statistics.median(sample), "least": min(sample)}
             for name, sample in samples.items()}
    return {"product": list(product), "error": error, "plan": plans["tesela"],
            "tesela": times.pop("tesela"), "torch": times.pop("torch"),
            "strategies": [{"plan": plans[name], **time} for name, time in times.items()]}


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.2, help="time for the samples of a product")
    parser.add_argument("--strategy", action="append", default=[],
                        help="also times this strategy (repeatable)")
    parser.add_argument("--json", help="file for the rows")
    parser.add_argument("--matrix", help="file to append plans to")
    parser.add_argument("products", nargs="+")
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, tesela {tesela.__version__}; "
          "microseconds, median (least)")
    rows, pools, stream = [], {}, torch.cuda.Stream()
    for product, plans in read_products(options.products):
        row = race(product, [*options.strategy, *plans], options.seconds, pools, stream)
        row["ratio"] = row["torch"]["median"] / row["tesela"]["median"]
        rows.append(row)
        kind, layout, m, n, k = product
        print(f"{kind:13} {layout} {m}x{n}x{k:<12} "
              + "  ".join(f"{name} {row[name]['median'] * 1e6:9.2f} ({row[name]['least'] * 1e6:.2f})"
                          for name in ("tesela", "torch"))
              + f"  {row['ratio']:.3f}  {row['plan']}", flush=True)
        for other in row["strategies"]:
            print(f"{'  or':13} {other['median'] * 1e6:9.2f}  {other['plan']}", flush=True)
        if options.matrix:
            write_plans(options.matrix, row)
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

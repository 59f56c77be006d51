"""Tables of the courses' rungs on a GPU (docs/lab/courses.md), from the committed results."""
import ladder_table

RUNGS = ("sequential", "element", "row", "row_private", "row_private_column_local", "tile_local",
         "image_microtile", "register_tile")
GPU = (("cpu", "16 cores"), ("opencl:1", "OpenCL"), ("cuda:0", "CUDA"))


def section(name, quantity, cases, caption, strategies=None, by="strategy"):
    return ladder_table.section([name], quantity, cases, caption, columns=GPU, strategies=strategies, by=by)


def table():
    square = lambda n, kind: {"m": n, "n": n, "k": n, "type": kind}
    return "\n\n".join([
        section("ladder-gemm.json", "flops_per_second",
                [(square(1024, "f32"), ", f32"), (square(1024, "f64"), ", f64")],
                "Products at 1024, GFLOP/s", RUNGS),
        section("ladder-gemm.json", "speedup", [(square(512, "f32"), ", f32"), (square(512, "f64"), ", f64")],
                "Speed-up over `sequential` at 512", RUNGS),
        section("sweep-tile_local.json", "flops_per_second", [({"m": 512, "type": "f32"}, "")],
                "Tiles of three sizes at 512 in f32, GFLOP/s", by="config"),
        section("ladder-dot-large.json", "bytes_per_second", [({"k": 1 << 28, "type": "f32"}, "")],
                "Dot products of 2^28 numbers in f32, GB/s"),
        section("sweep-block_tree.json", "bytes_per_second", [({"type": "f32"}, "")],
                "`block_tree` of 32 groups on 2^26 numbers, GB/s", by="config"),
        section("ladder-transpose.json", "bytes_per_second", [({"m": 16384, "type": "f32"}, "")],
                "Transposes of 16384 x 16384 in f32, GB/s"),
    ])

#!/bin/bash
# `tesela explain --trace`: loads, multiply-adds and stores of the rungs' kernels, recorded while they run.
. "$(dirname "$0")/helper.sh"
command -v cc >/dev/null && command -v c++ >/dev/null || skip "needs cc and c++"

# The documents' example: the item of C[5,2] loads A(5,2) and B(1,2), then A(5,6) and B(5,2).
tesela 0 explain 8 8 8 --strategy "tile_local tile=4" --trace --element 5,2
prints 'C(5, 2) is stored by item (1, 2) of group (1, 0)' 'get_group_id(0) = 0, get_local_id(0) = 2' \
  'step 1 of 2' 'loads   A(5, 2) of line 2, B(1, 2) of line 0' 'keeps   a_tile[1][2], b_tile[1][2]' \
  'A(5, 0) B(0, 2) + A(5, 1) B(1, 2)' 'the sum has 4 of 8 products' \
  '6 of these 8 factors were loaded by other' 'step 2 of 2' \
  'loads   A(5, 6) of line 2, B(5, 2) of line 2' 'the sum has 8 of 8 products' 'stores  C(5, 2)' \
  'A 16 loads in 2 lines, B 16 loads in 2 lines of 64 bytes'
tesela 0 explain 32 32 32 --strategy tile_local --trace --element 23,23
prints 'item (7, 7) of group (1, 1)' '23 = 16 * 1 + 7'
tesela 0 explain 64 64 64 --strategy row --trace --element 23,23
prints "A 256 loads in 64 lines, B 256 loads in 4 lines" "the sum has 64 of 64 products"
tesela 0 explain 8 8 8 --strategy "tile_local tile=4" --trace --element 5,2 --beta 2
prints "B(5, 2) of line 2, C(5, 2) of line 2"

# Drawings, of any group, of products, transposes and dot products.
tesela 0 explain 8 8 8 --strategy "tile_local tile=4" --trace
prints '2 x 2 groups of 4 x 4 items' 'step 2 of 2' '    0,3   1,3   2,3   3,3   .     .     .     .' 'barrier'
tesela 0 explain 8 8 8 --strategy "tile_local tile=4" --trace --group 1,0
prints 'Group (0, 1):' '    .     .     .     .     .     .     .     .'
tesela 0 explain 8 8 --strategy "transpose tile_local tile=16 rows=2" --trace --element 5,2
prints 'stores' 'tiles[' 'A(2, 5) was loaded by item'
tesela 0 explain 16 --strategy "block_tree group=8" --trace --group 0,1
prints 'Group 1:' 'line[0] += line[4]' 'sums[1] = line[0]'
tesela 0 explain 8 8 8 --strategy host_packed --trace --element 5,2
prints 'loop 5 jc = 0, loop 4 pc = 0 and 4, loop 3 ic = 4, loop 2 jr = 0, loop 1 ir = 0' 'step 4 of 4' \
  'keeps   a_block[0..15]' 'A(5, 4) B(4, 2) + A(5, 5) B(5, 2)'
tesela 0 explain 8 8 8 --strategy blocked --trace --element 5,2
prints 'BLOCK 4' 'step 69 of 128' 'A(5, 0) B(0, 2): the sum has 1 of 8 products'
tesela 0 explain 3 4 5 --strategy row --trace --transpose-a --type f64
prints 'step 1 of' 'loads'

# Every product is added once, and every element of C is stored, by the groups of all rungs together. The
# loads are inside of the operands, and of the lines that their strides give.
cat >judge.py <<'P'
import json, subprocess, sys
tool, op, strategy, *sizes = sys.argv[1:]
flags = [s for s in sizes if s.startswith("-")]
sizes = [s for s in sizes if not s.startswith("-")]
def trace(group):
    words = ["explain", *sizes, *flags, "--strategy", strategy, "--trace", "--json", "--group", group]
    return json.loads(subprocess.run([tool, *words], stdout=subprocess.PIPE, check=True).stdout)
first = trace("0,0")
for array in first["arrays"]:
    assert array["columns"] <= array["pitch"], array
    # rows padded by 16 bytes
    if array["memory"] == "local" and op == "gemm" and strategy.startswith("tile_local"):
        assert array["pitch"] == array["columns"] + 4 == array["rows"] + 4, array
adds, stored, copies, wide, high = {}, set(), {}, *first["groups"]
for y in range(high):
    for x in range(wide):
        t = trace(f"{y},{x}") if x or y else first
        assert t["group"] == [x, y], t["group"]
        arrays = t["arrays"]
        for event in (e for step in t["steps"] for interval in step for e in interval):
            assert 0 <= event[1] < t["items"][0] * t["items"][1], event
            if event[0] == "add":
                key = tuple(event[2:])
                adds[key] = adds.get(key, 0) + 1
                continue
            array = arrays[event[2]]
            assert 0 <= event[3] < array["rows"] and 0 <= event[4] < array["columns"], (event, array)
            assert (event[5] is None) == (array["memory"] == "local" or op == "dot"), event
            if "--transpose-a" not in flags and event[5] is not None:
                assert event[5] == (event[3] * array["columns"] + event[4]) * 4 // 64, event
            if event[0] == "store" and op == "transpose" and array["memory"] == "global":
                assert event[6:] == ["A", event[4], event[3]], event
            if event[0] == "store" and op == "gemm" and array["memory"] == "local" and len(event) > 6:
                copies.setdefault(event[6], set()).add(tuple(event[7:]))
            if event[0] == "store" and array["memory"] == "global":
                stored.add(tuple(event[3:5]))
m, n, k = first["m"], first["n"], first["k"]
if op == "gemm":
    assert adds == {(i, l, j): 1 for i in range(m) for l in range(k) for j in range(n)}, len(adds)
if strategy.startswith("tile_local") and op == "gemm":
    assert copies == {"A": {(i, l) for i in range(m) for l in range(k)},
                      "B": {(l, j) for l in range(k) for j in range(n)}}
if op == "dot":
    assert adds == {(0, l, 0): 1 for l in range(k)}, len(adds)
    assert len(stored) == wide
else:
    assert stored == {(i, j) for i in range(m) for j in range(n)}, len(stored)
P
judge() {
  python3 judge.py "$TESELA" "$@" || fail "the trace of $* is wrong"
}
judge gemm "tile_local tile=4" 7 6 5
judge transpose "tile_local tile=16 rows=2" 7 20
judge gemm host_packed 9 10 7
judge dot "block_tree group=4" 11
# A compiler takes its time for each group.
if is_long; then
  judge gemm "element columns=8 rows=4" 7 10 9
  judge gemm "row items=5" 7 10 9
  judge gemm "row_private items=5 panel=4" 7 10 9
  judge gemm "row_private_column_local items=3 panel=4" 7 10 9
  judge gemm "tile_local tile=4" 7 10 9
  judge gemm "tile_local tile=8" 9 3 5 --transpose-a
  # Rows beyond the last are computed and not stored, so the height divides the rows here.
  judge gemm image_microtile 8 10 7
  # beta C0 is no product of A and B.
  judge gemm "row_private_column_local items=4 panel=4" 8 8 8 --beta=2
  judge transpose "element columns=8 rows=4" 7 10
  judge gemm blocked 6 7 5
fi

tesela 0 explain 4 4 4 --strategy blocked --trace --json
json 'j["plain"] == "BLOCK 4" and j["element"] is None and j["line_bytes"] == 64'
tesela 0 explain 4 4 4 --strategy "tile_local tile=2" --trace --json --element 3,1
json 'j["plain"] is None and j["element"] == [3, 1] and j["group"] == [0, 1] and j["item"] == [1, 1]'
json 'j["config"] == "tile_local tile=2" and len(j["steps"]) == 2 and len(j["steps"][0]) == 2'

# The page that plays a trace has the JSON of the call, and both texts.
python=$(python_with html.parser)
[ -n "$python" ] || skip "needs Python 3"
tile=(explain 8 8 8 --strategy "tile_local tile=4" --trace)
tesela 0 "${tile[@]}" --element 5,2 --json
cp "$out" tile.json
tesela 0 "${tile[@]}" --element 5,2 --html tile.html
prints 'C(5, 2) is stored by item (1, 2) of group (1, 0)'
for words in 'Trace of tile_local tile=4' 'get_group_id(0) = 0' 'each number below is the item'; do
  grep -qF -- "$words" tile.html || fail "the page lacks: $words"
done
"$python" - tile.html tile.json <<'P' || fail "the page has another trace"
import json, re, sys
page, alone = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
trace = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])["trace"]
assert trace == {key: alone[key] for key in trace} and len(trace["steps"]) == 2, trace
P
page tile.html trace
tesela 0 explain 7 10 9 --strategy "tile_local tile=4" --trace --group 1,2 --html edge.html
page edge.html trace
tesela 0 explain 8 8 8 --strategy "row_private_column_local items=4 panel=4" --trace --beta 2 --html row.html
page row.html trace
tesela 0 explain 8 8 8 --strategy host_packed --trace --html packed.html
page packed.html trace
tesela 0 explain 8 8 --strategy "transpose tile_local tile=16 rows=2" --trace --html transpose.html
page transpose.html trace
tesela 0 explain 16 --strategy "dot block_tree group=8" --trace --html dot.html --json
json 'j["op"] == "dot"'
page dot.html trace

# Refusals.
echo old >old.html
tesela 2 explain 8 8 8 --strategy register_tile --trace --html old.html
tesela 2 explain 17 8 8 --strategy tile_local --trace --element 5,2 --html old.html
says 'at most 16 x 16 x 16'
tesela 2 explain 8 8 8 --html old.html
says '--trace'
[ "$(cat old.html)" = old ] || fail "an older file was touched by a failed call"
tesela 3 "${tile[@]}" --html missing/page.html
says 'folder does not exist'
absent
tesela 2 explain 100 8 8 --strategy tile_local --trace
says 'at most 16 x 16 x 16' '--element'
tesela 2 explain 1000 8 8 --strategy tile_local --trace --element 5,2
says 'from 1 to 256'
tesela 2 explain 8 8 8 --strategy register_tile --trace
says 'has no trace' 'tile_local' 'transpose tile_local' 'block_tree'
tesela 2 explain 8 8 8 --trace
says '--strategy'
tesela 2 explain 8 8 8 --strategy tile_local --trace --element 8,0
says '8 rows and 8 columns'
tesela 2 explain 8 8 8 --strategy tile_local --trace --element 5
says 'no row and column'
tesela 2 explain 8 8 8 --strategy tile_local --trace --group 2,0
says '1 x 1 groups'
tesela 2 explain 8 8 8 --strategy tile_local --trace --type f16
says 'f32 or f64'
tesela 2 explain 8 8 8 --strategy row --trace --activation relu
says 'without an epilogue'
tesela 2 explain 8 8 8 --element 5,2
says '--trace'
tesela 2 explain 8
says 'tesela explain M N K'

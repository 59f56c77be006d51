#!/bin/bash
# The detector of `tesela lab`: ten faults are planted in a student's kernel, and each is found and named.
. "$(dirname "$0")/helper.sh"
for tool in cc c++; do command -v "$tool" >/dev/null || skip "needs $tool"; done
kernel_devices | grep -q '^opencl:' || skip "needs an OpenCL device"

found=0
# plant NAME KIND FROM TYPE SCRIPT [SCRIPT]: a kernel FROM this strategy has a fault of this KIND. Scripts of
# sed plant it in the kernel, and in its parameters.
plant() {
  local name=$1 kind=$2 from=$3 type=$4 script=$5
  tesela 0 lab new "$name" --from "$from" --type "$type"
  cp "$name/kernel.cl" before
  sed -i -E "$script" "$name/kernel.cl"
  sed -i -E "${6:-}" "$name/parameters"
  ! cmp -s before "$name/kernel.cl" || fail "$name: the script changes nothing"
  run 1 "$TESELA" lab run "$name" --no-race --html "$name.html"
  prints "fault     $kind:"
  found=$((found + 1))
}

plant barrier_1 "missing barrier" tile_local f32 '/both tiles are there/d'
prints "between storing and using" "kernel.cl:"
plant barrier_2 "missing barrier" tile_local f32 '/have read/d'
prints "second barrier"
plant edge "off by one at an edge" tile_local f32 's/if \(row < m && col < n\)/if (row <= m \&\& col < n)/'
prints "(row "
plant swapped "swapped indices" tile_local f32 's/b_tile\[l\]\[x\]/b_tile[x][l]/'
prints "of b are exchanged"
plant stride "wrong stride" tile_local f32 's/a\[row \* lda/a[row * m/'
prints "rows of a are taken to be m ="
plant unset "uninitialised local memory" tile_local f32 \
  's/(a_tile\[y\]\[x\] =) (.*) \? (.*) : 0;/if (\2) \1 \3;/'
prints "a_tile["
plant tail "unread tail" tile_local f32 's/first < k;/first + TILE <= k;/'
prints "of a are never read"
plant double "float for double" tile_local f64 's/double sum = 0/float sum = 0/'
plant outside "out of bounds" tile_local f32 's/row < m && first \+ x < k \? (a\[.*\]) : 0;/\1;/'
prints "a["
# Two groups along k add their parts to C.
plant race "race on c" element f32 's/int l = 0; l < k; l\+\+/int l = get_group_id(2); l < k; l += 2/;
  s/beta != 0/get_group_id(2) > 0/; s/beta \* c/c/' 's/items = n m/items = n m 2/'
[ "$found" = 10 ] || fail "only $found of ten faults"
python=$(python_with html.parser)
for name in barrier_2 edge; do page "$name.html" verdict faults counts kernel; done

# A fault in CUDA: the detector needs no device.
tesela 0 lab new cuda --from tile_local --language cuda
sed -i '/have read/d' cuda/kernel.cu
run 1 "$TESELA" lab run cuda --no-race
prints "fault     missing barrier:" "second barrier" "kernel.cu:"

# Faults of the documents' own listings, and of arrays.
plant listing_stride "wrong stride" element f32 's/a\[row \* lda/a[row * n/'
plant private "out of bounds" row_private f32 's/#define PANEL 32/#define PANEL 8/
  s/float panel\[PANEL\]/float panel[4]/'
prints "panel is used with the index 4"
plant barrier_left "barrier not reached" row_private_column_local f32 \
  's/^  float panel/  if (row >= m) return;\n&/'
plant barrier_some "barrier not reached" tile_local f32 \
  's/( *)(barrier.*both tiles.*)/\1if (row < m)\n\1  \2/'
! sed '/barrier not reached/q' "$out" | grep -q "missing barrier" || fail "the cause is not the first fault"
plant tree "missing barrier" "dot block_tree" f32 's/barrier\(CLK.*/;/'
plant turned "swapped indices" "transpose tile_local" f32 '
  s/c\[\(col0 \+ y\) \* ldc \+ row0 \+ x\] = tile\[x\]\[y\]/c[(row0 + y) * ldc + col0 + x] = tile[y][x]/
  s/if \(col0 \+ y < cols && row0 \+ x < rows\)/if (row0 + y < cols \&\& col0 + x < rows)/'

# A course's last kernel: B's column in local memory that is an argument, A's row in a private array of 1000.
mkdir slide
cat >slide/kernel.cl <<'CL'
__kernel void mmul(const int Mdim, const int Ndim, const int Pdim, __global const float *A,
                   __global const float *B, __global float *C, __local float *Bwrk) {
  int k, j;
  int i = get_global_id(0);
  int iloc = get_local_id(0);
  int nloc = get_local_size(0);
  float Awrk[1000];
  float tmp;
  if (i < Ndim)
    for (k = 0; k < Pdim; k++)
      Awrk[k] = A[i * Pdim + k];
  for (j = 0; j < Mdim; j++) {
    for (k = iloc; k < Pdim; k += nloc)
      Bwrk[k] = B[k * Mdim + j];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < Ndim) {
      tmp = 0.0f;
      for (k = 0; k < Pdim; k++)
        tmp += Awrk[k] * Bwrk[k];
      C[i * Mdim + j] = tmp;
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* second */
  }
}
CL
printf '%s\n' 'Mdim = n' 'Ndim = m' 'Pdim = k' 'Bwrk = local k' 'items = m' 'group = 25' >slide/parameters
run 1 "$TESELA" lab run slide --no-race
prints "kernel.cl:11: Awrk is used with the index 1000" "k=2049"
sed -i 's/Awrk\[1000\]/Awrk[2100]/' slide/kernel.cl
tesela 0 lab run slide --no-race
prints "judged    right"
sed -i '/second/d' slide/kernel.cl
run 1 "$TESELA" lab run slide --no-race
prints "missing barrier" "Bwrk[0]" "second barrier"
sed -i 's/tmp += Awrk.k. . Bwrk.k./C[i * Mdim + j] += Awrk[k] * B[k * Mdim + j]/; /= tmp/d' slide/kernel.cl
run 1 "$TESELA" lab run slide --no-race
prints "uninitialised result" "c[0]"

# Loads and lines of memory are counted: rows on dimension 0 need a line for each item.
tesela 0 lab new rows --from rows_first
tesela 0 lab run rows --no-race
prints "2 loads from global memory and 0 from local memory" "touch 8.62 lines"
tesela 0 lab new columns --from element
tesela 0 lab run columns --no-race
prints "2 loads from global memory and 0 from local memory" "touch 1.51 lines"

# Atomic additions of CUDA do not race, but read an element that has no value.
tesela 0 lab new atomic --from element --language cuda
sed -i -E 's/int l = 0; l < k; l\+\+/int l = blockIdx.z; l < k; l += gridDim.z/
  s/^    c\[row \* ldc \+ col\] = sum/    atomicAdd(\&c[row * ldc + col], sum)/
  s/beta != 0/blockIdx.z == 0/; s/beta \* c/(beta - 1) * c/' atomic/kernel.cu
sed -i 's/items = n m/items = n m 2/' atomic/parameters
run 1 "$TESELA" lab run atomic --no-race
prints "uninitialised result"
! grep -q "race on c" "$out" || fail "an atomic addition is called a race"

# Every kernel of `lab new` is right and has no fault.
for rung in element row row_private row_private_column_local global_sum whole_row_private "dot block_tree" \
  "transpose element" "transpose tile_local"; do
  rm -rf model
  tesela 0 lab new model --from "$rung" --type f64
  # An attribute before the name does not hide the kernel.
  sed -i -E 's/^__kernel void/__kernel __attribute__((vec_type_hint(double))) void/' model/kernel.cl
  sed -i '/^kernel =/d' model/parameters
  tesela 0 lab run model --no-race
  prints "no fault found" "judged    right"
done

# Right kernels in other words: local memory by a macro, a number in parentheses, a loop that all items end.
tesela 0 lab new macro --from tile_local
sed -i -E 's/__local/LOCAL/; s/^#define TILE 16/#define LOCAL __local\n#define TILE (0x10)/' macro/kernel.cl
tesela 0 lab run macro --no-race
prints "no fault found" "judged    right"
sed -i -E 's/^#define TILE .*/#define TILE 4*4/' macro/kernel.cl
run 2 "$TESELA" lab run macro --no-race
prints '"TILE" cannot be computed'
sed -i -E 's/^#define TILE .*/#define TILE 16/; s/^items.*/items = 2147483647 2147483647 2147483647/' macro/*
run 2 "$TESELA" lab run macro --no-race
prints "more than 2147483647 groups"

# A right kernel has no fault, and the detector says so if it cannot read one.
tesela 0 lab new right
tesela 0 lab run right --no-race
prints "no fault found" "judged    right"
sed -i 's/float sum = 0/float4 unused = (float4)(0); float sum = unused.x/' right/kernel.cl
tesela 0 lab run right --no-race
prints 'did not run: it does not know the word "float4"' "judged    right"

#!/bin/bash
# `tesela strategies NAME --program`: one program of host and kernel. Programs of OpenCL and C compile and run
# here; the kernels of the CUDA programs compile by NVRTC.
. "$(dirname "$0")/helper.sh"
command -v cc >/dev/null || skip "needs cc"
gpu_rungs=(element row row_private row_private_column_local tile_local rows_first global_sum
  whole_row_private "dot block_tree" "transpose element"
  "transpose tile_local")
c_rungs=(sequential sequential_optimized blocked host_packed tile_local element threads
  "dot sequential" "transpose element")
types=(f32 f64)
# Each program has a kernel that PoCL and a compiler take their time for.
if ! is_long; then
  gpu_rungs=(tile_local "dot block_tree")
  c_rungs=(sequential blocked "transpose element")
  types=(f32)
fi

opencl_library=
for name in libOpenCL.so libOpenCL.so.1; do
  if echo 'int main(void) { return 0; }' | cc -x c - "-l:$name" -o probe 2>/dev/null; then
    opencl_library=-l:$name
    break
  fi
done
echo '#include <CL/cl.h>' | cc -E -x c - >/dev/null 2>&1 || opencl_library=

for type in "${types[@]}"; do
  for rung in "${c_rungs[@]}"; do
    # shellcheck disable=SC2086 # an operation and a name are two words
    tesela 0 strategies $rung --program c --type $type -o lab.c
    run 0 cc -std=c11 -Wall -Wextra -Werror -O1 -fopenmp lab.c -o lab
    run 0 ./lab
    prints right compute "the kernel alone"
  done
done
for rung in "${gpu_rungs[@]}"; do
  # shellcheck disable=SC2086
  tesela 0 strategies $rung --program opencl -o lab.c
  if [ -n "$opencl_library" ]; then
    run 0 cc -std=c11 -Wall -Wextra -Werror -O1 lab.c "$opencl_library" -lm -o lab
    if kernel_devices | grep -q '^opencl:'; then
      run 0 ./lab
      prints right "copy in" compute "copy out" "the kernel alone"
    fi
  fi
done

# B as an image: only in OpenCL, only f32, and without a kernel of `lab new`.
tesela 0 strategies image_microtile --program opencl -o lab.c
if [ -n "$opencl_library" ]; then
  run 0 cc -std=c11 -Wall -Wextra -Werror -O1 lab.c "$opencl_library" -lm -o lab
  for sizes in "" "1 1 1" "37 30 41"; do
    # shellcheck disable=SC2086
    ! kernel_devices | grep -q '^opencl:' || run 0 ./lab $sizes
  done
fi
tesela 2 strategies image_microtile --program opencl --type f64
says "texels"
tesela 2 strategies image_microtile --program cuda
says "no plain kernel in CUDA C++"
tesela 2 lab new image --from image_microtile
says "--program opencl"

# The kernel of a CUDA program is equal to that of `tesela lab new`, and NVRTC compiles it.
for rung in "${gpu_rungs[@]}"; do
  # shellcheck disable=SC2086
  tesela 0 strategies $rung --program cuda -o lab.cu
  rm -rf cuda
  tesela 0 lab new cuda --from "$rung" --language cuda
  sed -n '/^.* --- the kernel --- /,/^.* --- the host --- /p' lab.cu | sed '1d;$d' >kernel.cu
  same kernel.cu cuda/kernel.cu
  code=0
  "$TESELA" lab run cuda --no-race >"$out" 2>"$err" || code=$?
  [ "$code" = 0 ] || grep -qi "nvrtc" "$err" || fail "the CUDA kernel of $rung"
done

# Words of a call that is wrong.
tesela 2 strategies tile_local --program fortran
says "opencl, cuda and c"
tesela 2 strategies tile_local --program c --json
says "--program" "--json"
tesela 2 strategies row --program opencl --type f16
says "f32 or f64"
tesela 2 strategies row_private --program c
says "sequential" "C11"
tesela 2 strategies tile_local -o lab.c
says "--program"

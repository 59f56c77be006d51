tesela_kernels(src/strategy/solve/host/host_blocked/kernels/host_blocked_solve.c WRITTEN_OUT
               TYPES f32 f64 c64 c128)
tesela_kernels(src/strategy/solve/host/host_blocked/kernels/little.c WRITTEN_OUT
               TYPES f32 f64 c64 c128)

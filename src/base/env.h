/* Environment variables of tesela. The table is also their documentation, which `tesela --help` and the
 * docs print. */
#ifndef TSL_BASE_ENV_H
#define TSL_BASE_ENV_H

#include "base/isa.h"
#include "tesela/tesela.h"

/* X(suffix, default as text, description). The variable is TESELA_<suffix>. */
#define TSL_ENV_LIST(X)                                                                                      \
  X(LOG, "", "topics to report on stderr, by commas: plan, calls, cache, device, all")                       \
  X(DEVICE, "auto",                                                                                          \
    "device to use unless a call names one: cpu, opencl:0, cuda:0, auto; several: opencl:0,cpu or cuda:*")   \
  X(DEVICE_MEMORY, "",                                                                                       \
    "most memory that a plan takes on a device beside the cpu, such as 8GiB; default: what it has")          \
  X(LAST_CACHE, "",                                                                                          \
    "what the processor's last cache is taken to hold, such as 32MiB, of which measuring fills and moves "   \
    "several times as much; default: what the system tells, which in a virtual machine may be that of many") \
  X(THREADS, "", "most host threads; default: the processors that this process may run on")                  \
  X(ACCURACY, "default",                                                                                     \
    "how right results are to be where a call says nothing: default, a number such as 1e-5, e4m3, tf32, "    \
    "bf16, "                                                                                                 \
    "f32, f64, "                                                                                             \
    "exact (docs/ACCURACY.md)")                                                                              \
  X(BITS, "any", "when the same bits are to come again, likewise: any, run, threads, devices")               \
  X(MEASURE_ERROR, "0",                                                                                      \
    "another number: the errors of results are measured where calls say nothing, on samples drawn by it; "   \
    "a result beyond its error bound is a failure")                                                          \
  X(CACHE_DIR, "", "where compiled kernels are kept; default: tesela under XDG_CACHE_HOME or ~/.cache")      \
  X(CACHE_SIZE, "256MiB", "size at which the oldest compiled kernels are dropped; 0 keeps none")             \
  X(WISDOM, "",                                                                                              \
    "file of the user's wisdom; default: under XDG_DATA_HOME or ~/.local/share; none: no wisdom")            \
  X(KERNEL_DIR, "", "read kernel sources from this source tree instead of the embedded ones")                \
  X(STAGING, "",                                                                                             \
    "how products in host memory reach a device with memory of its own: 0: one copy after the other; or "    \
    "sizes, such as slot=8388608 block=4194304 least=1048576 (docs/MEASURING.md); default: by the device")   \
  X(SELFTEST, "1",                                                                                           \
    "0: compiled kernels are used without a self-test when they meet a device for the first time")           \
  X(ISA, "",                                                                                                 \
    "most capable instruction set that host code may use: generic" TSL_ISA_ROWS_x86_64(TSL_ISA_TEXT)         \
        TSL_ISA_EXTENSIONS_x86_64(TSL_ISA_TEXT) "; of AArch64 generic" TSL_ISA_ROWS_aarch64(TSL_ISA_TEXT)    \
            TSL_ISA_EXTENSIONS_aarch64(TSL_ISA_TEXT))                                                        \
  X(BLAS, "auto", "who computes in libtesela_blas.so: auto (the faster one), tesela, other, loops")          \
  X(SCALAPACK, "auto", "who computes in libtesela_scalapack.so: auto (the faster one), tesela, other")       \
  X(MPI, "",                                                                                                 \
    "path of libtesela_mpi for the tool's processes that mpirun starts; none: each of them works for "       \
    "itself")                                                                                                \
  X(NCCL, "",                                                                                                \
    "path of the NCCL library, by which ranks' GPUs send to each other; none: messages pass through host "   \
    "memory")                                                                                                \
  X(RUN, "", "set by tesela run --log: the process that is to say so where it made no BLAS calls")           \
  X(NVRTC, "", "path of the NVRTC library; default: the names and folders where CUDA installs it")           \
  X(CUDA, "", "path of the CUDA driver library; none: behave as if there were no CUDA device")               \
  X(OPENCL, "", "path of the OpenCL library; none: behave as if there were no OpenCL")                       \
  X(VENDORS, "0", "1: vendors' libraries may be listed and chosen, too (tesela strategies names them)")      \
  X(EXCLUDE, "",                                                                                             \
    "strategies, with commas between them, that are chosen only where a call names them: residue_int8")      \
  X(CBLAS, "", "path of the CBLAS library of vendor_openblas: OpenBLAS, BLIS, MKL; none: as if not there")   \
  X(PBLAS, "",                                                                                               \
    "path of the ScaLAPACK of vendor_scalapack, the peer of several processes; none: as if not there")       \
  X(CLBLAST, "", "path of the CLBlast library of vendor_clblast; none: as if not there")                     \
  X(CUBLAS, "", "path of the cuBLAS library of vendor_cublas; none: as if not there")                        \
  X(CUBLASLT, "", "path of the cuBLASLt library of vendor_cublaslt; none: as if not there")

typedef enum tsl_env {
#define TSL_ENV_MEMBER(suffix, fallback, what) TSL_ENV_##suffix,
  TSL_ENV_LIST(TSL_ENV_MEMBER)
#undef TSL_ENV_MEMBER
      TSL_ENV_COUNT
} tsl_env;

typedef struct tsl_env_info {
  const char *name, *fallback, *what;
} tsl_env_info;

/* Returns the variable's value, or its default if it is unset or empty; never NULL. The environment is
 * read at each call, so tests may change it. A process with raised privileges (setuid, setgid, file
 * capabilities) gets the defaults: these variables name libraries, kernels and files that determine
 * what code runs. */
const char *tsl_env_get(tsl_env variable);
/* Returns TESELA_BAD_CALL if the value is neither empty nor one of these words. The list ends with
 * NULL. */
tesela_status tsl_env_check(tsl_env variable, const char *const *words);
/* Reads a whole number, 0 or more. Returns TESELA_BAD_CALL if the value is no such number. */
tesela_status tsl_env_number(tsl_env variable, uint64_t *number);
/* Returns a variable of another program, such as HOME, with the same check of privileges; NULL if it is
 * not set. */
const char *tsl_env_foreign(const char *name);
/* Returns the variable's value; NULL if it is unset or empty. */
const char *tsl_env_given(tsl_env variable);
const tsl_env_info *tsl_env_at(int index); /* Row of the table; NULL past the end */

#endif

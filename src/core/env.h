/* Environment variables of tesela; `tesela --help` and the docs print the table. */
#ifndef TSL_CORE_ENV_H
#define TSL_CORE_ENV_H

#include "core/isa.h"
#include "tesela/tesela.h"

/* X(suffix, default as text, description). The variable is TESELA_<suffix>. */
#define TSL_ENV_LIST(X)                                                                                      \
  X(LOG, "", "topics to report on stderr, separated by commas: plan, calls, cache, device, all")             \
  X(DEVICE, "auto", "default device of calls: cpu, opencl:0, cuda:0, auto; several: opencl:0,cpu or cuda:*") \
  X(DEVICE_MEMORY, "",                                                                                       \
    "maximum memory of a plan on a device other than the cpu, such as 8GiB; default: all of its memory")     \
  X(LAST_CACHE, "",                                                                                          \
    "size of the last-level cache, such as 32MiB; default: the system's value, which a virtual "             \
    "machine may overstate")                                                                                 \
  X(THREADS, "", "maximum number of host threads; default: the processors that this process may run on")     \
  X(ACCURACY, "default",                                                                                     \
    "default accuracy of calls: default, a number such as 1e-5, e4m3, tf32, bf16, f32, f64, exact "          \
    "(docs/ACCURACY.md)")                                                                                    \
  X(BITS, "any", "default reproducibility of calls: any, run, threads, rows, devices (docs/ACCURACY.md)")    \
  X(MEASURE_ERROR, "0",                                                                                      \
    "nonzero: measure errors of results by default, on samples of this seed; an error beyond its "           \
    "bound is a failure")                                                                                    \
  X(VERIFY, "none",                                                                                          \
    "default verification of whole results by checksums: none, all, memory, repair (docs/VERIFY.md)")        \
  X(CACHE_DIR, "", "folder of compiled kernels; default: tesela under XDG_CACHE_HOME or ~/.cache")           \
  X(CACHE, "",                                                                                               \
    "file of compiled kernels that tesela cache export wrote; searched before TESELA_CACHE_DIR, never "      \
    "written")                                                                                               \
  X(JIT, "allow", "never: no kernel is compiled; strategies whose kernels are in no cache are left out")     \
  X(CACHE_SIZE, "256MiB", "size of that folder at which the oldest kernels are deleted; 0: store none")      \
  X(CROSSOVERS, "",                                                                                          \
    "file of sizes at which one way of computing gives place to another (src/dispatch/crossovers.h)")        \
  X(WISDOM, "",                                                                                              \
    "file of the user's wisdom; default: under XDG_DATA_HOME or ~/.local/share; none: no wisdom")            \
  X(KERNEL_DIR, "", "source tree from which kernel sources are read, instead of the embedded ones")          \
  X(STAGING, "",                                                                                             \
    "copies to device memory; 0: one after another; slot=8388608 ...: sizes (docs/MEASURING.md); "           \
    "default: by device")                                                                                    \
  X(COPIES, "auto",                                                                                          \
    "explicit: operands are copied to OpenCL devices, also where these share the host's memory")             \
  X(SELFTEST, "1", "0: compiled kernels are used without a self-test at their first use on a device")        \
  X(ISA, "",                                                                                                 \
    "instruction set: generic" TSL_ISA_ROWS_x86_64(TSL_ISA_TEXT)                                             \
        TSL_ISA_EXTENSIONS_x86_64(TSL_ISA_TEXT) "; on AArch64 generic" TSL_ISA_ROWS_aarch64(TSL_ISA_TEXT)    \
            TSL_ISA_EXTENSIONS_aarch64(TSL_ISA_TEXT))                                                        \
  X(BLAS, "auto", "implementation in libtesela_blas.so: auto (the faster one), tesela, other, loops")        \
  X(SCALAPACK, "auto", "implementation in libtesela_scalapack.so: auto (the faster one), tesela, other")     \
  X(CUBLAS_CALLS, "auto",                                                                                    \
    "implementation in libtesela_cublas.so: auto (the faster one), tesela, other; host and host_auto: for "  \
    "tests without a GPU")                                                                                   \
  X(MPI, "",                                                                                                 \
    "path of libtesela_mpi for the tool's processes that mpirun starts; none: each works for "               \
    "itself")                                                                                                \
  X(NCCL, "",                                                                                                \
    "path of the NCCL library, for messages between the GPUs of ranks; none: messages pass through host "    \
    "memory")                                                                                                \
  X(RUN, "", "set by tesela run --log: the process that reports if it made no BLAS calls")                   \
  X(RECORD, "", "folder for counts of products, set by tesela run --report (docs/RECORDER.md)")              \
  X(NVRTC, "", "path of the NVRTC library; default: the names and folders where CUDA installs it")           \
  X(CUDA, "", "path of the CUDA driver library; none: use no CUDA device")                                   \
  X(OPENCL, "", "path of the OpenCL library; none: use no OpenCL device")                                    \
  X(VENDORS, "0", "1: also list and choose vendors' libraries (tesela strategies names them)")               \
  X(EXCLUDE, "", "strategies, separated by commas, that are used only if a call names them: residue_int8")   \
  X(CBLAS, "", "path of the CBLAS library of vendor_openblas: OpenBLAS, BLIS, MKL; none: not used")          \
  X(PBLAS, "",                                                                                               \
    "path of the ScaLAPACK of vendor_scalapack, for comparison with several processes; none: not used")      \
  X(CLBLAST, "", "path of the CLBlast library of vendor_clblast; none: not used")                            \
  X(CUBLAS, "", "path of the cuBLAS library of vendor_cublas; none: not used")                               \
  X(CUBLASLT, "", "path of the cuBLASLt library of vendor_cublaslt; none: not used")

typedef enum tsl_env {
#define TSL_ENV_MEMBER(suffix, fallback, what) TSL_ENV_##suffix,
  TSL_ENV_LIST(TSL_ENV_MEMBER)
#undef TSL_ENV_MEMBER
      TSL_ENV_COUNT
} tsl_env;

typedef struct tsl_env_info {
  const char *name, *fallback, *what; /* "TESELA_LOG"; default as text; description */
} tsl_env_info;

/* Returns the value, read at each call; if unset or empty, the default; never NULL. A process with raised
 * privileges (setuid, setgid, file capabilities) gets defaults: variables determine what code runs. */
const char *tsl_env_get(tsl_env variable);
/* Returns the words that the variable can be, ending with NULL; NULL: other values than words. */
const char *const *tsl_env_words(tsl_env variable);
/* Returns TESELA_BAD_CALL if the variable has words, and its value is neither empty nor a word. */
tesela_status tsl_env_check(tsl_env variable);
/* Reads a whole number, 0 or more; the default if unset. TESELA_BAD_CALL for other values. */
tesela_status tsl_env_number(tsl_env variable, uint64_t *number);
/* Returns another program's variable, such as HOME; NULL if it is not set, or with raised privileges. */
const char *tsl_env_foreign(const char *name);
/* Returns the value; NULL if it is unset or empty. */
const char *tsl_env_get_or_null(tsl_env variable);
const tsl_env_info *tsl_env_info_at(int index); /* NULL past the end */

#endif

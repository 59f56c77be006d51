# Sourced: run_ranks RANKS ARGUMENTS... starts that many ranks of one thread. What waits for ever is ended.
run_ranks() {
  OMP_NUM_THREADS=1 timeout "${RANKS_SECONDS:-240}" bash "$(dirname "${BASH_SOURCE[0]}")/../mpi/run.sh" \
    mpirun "$@"
}

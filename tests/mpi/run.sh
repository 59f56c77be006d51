#!/usr/bin/env bash
# run.sh MPIEXEC RANKS PROGRAM ARGUMENTS...: more ranks than processors, as root too, on this host alone.
set -euo pipefail
mpiexec=$1 ranks=$2
shift 2
options=(-n "$ranks")
if "$mpiexec" --version 2>/dev/null | grep -q 'Open MPI\|OpenRTE\|OpenPMIx\|PRRTE'; then
  options+=(--oversubscribe --bind-to none)
  [ "$(id -u)" != 0 ] || options+=(--allow-run-as-root)
  # Between processes of this host, without what containers may forbid; a rank that waits leaves the processor
  # to others.
  export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none \
    OMPI_MCA_mpi_yield_when_idle=1 \
    OMPI_MCA_orte_base_help_aggregate=0
fi
exec "$mpiexec" "${options[@]}" "$@"

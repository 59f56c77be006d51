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
# Open MPI makes and removes one folder for all runs of a user, and fails if two runs do so at the same time.
OMPI_MCA_orte_tmpdir_base=$(mktemp -d "${TMPDIR:-/tmp}/mpi.XXXXXX")
export OMPI_MCA_orte_tmpdir_base
trap 'rm -rf "$OMPI_MCA_orte_tmpdir_base"' EXIT
"$mpiexec" "${options[@]}" "$@" <&0 &
trap : TERM INT HUP
code=0
wait $! || code=$?
# A signal ends the wait early. It mostly goes to the whole group; a second one would leave ranks behind.
if kill -0 $! 2>/dev/null; then
  sleep 2
  kill -TERM $! 2>/dev/null || true
  wait $! 2>/dev/null || true
fi
exit $code

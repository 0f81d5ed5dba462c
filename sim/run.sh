#!/usr/bin/env bash
# The main job: copies a file between two simulated hosts by Send, Write and Read on all pairings of model and RTL.
set -u
here=$PWD
cd "$(dirname "$0")/.."

usage() {
  cat <<'TXT'
usage: sim/run.sh [FILE] [rnic-sim options]
  Installs the Debian packages that are missing, builds (the first time takes minutes), then copies FILE (default:
  /bin/bash) by Send, RDMA Write and RDMA Read between two hosts, each with one device, on the four pairings of model and
  RTL and once in tandem (RTL, each step compared with the model); checks its SHA-256 at the far side and prints one table.
  Captures: build-release/copy.*.pcap
  Options go to `rnic-sim copy`: --set mtu=9000, --preset gen3x16, --seed 7, --json FILE, --quiet ... (rnic-sim --help)
exit status: 0 all copies are right; 1 a mismatch; 2 wrong use; 3 no progress; 4 something could not be set up
TXT
}

file=/bin/bash
case "${1:-}" in
  -h|--help) usage; exit 0 ;;
  -*|"") ;;
  *) file=$1; shift ;;
esac
case "$file" in /*) ;; *) file=$here/$file ;; esac
[ -f "$file" ] && [ -r "$file" ] || { printf '%s\n' "sim/run.sh: $file: not a file that can be read" >&2; exit 2; }

. tb/support/setup.sh
setup_packages
setup_build release rnic-sim
say "copying $file ($(stat -c %s "$file") bytes) between two hosts"
exec build-release/sim/app/rnic-sim copy --file "$file" --set size=65536 --pcap build-release/copy "$@"

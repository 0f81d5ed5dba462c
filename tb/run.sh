#!/usr/bin/env bash
# All tests, from a fresh machine; each step also runs alone.
set -u
cd "$(dirname "$0")/.."

usage() {
  cat <<'TXT'
usage: tb/run.sh [STEP...]      installs missing packages, builds, runs the steps; without STEP
                                those of CI
  spec       prints docs/spec again and compares with rtl/gen, model/gen, docs/gen;
             the tests of each MUST and SHOULD
  structure  sim includes nothing from tb; no folder includes another in a circle; no unit of the
             model includes another unit; every cell of rtl/lib is used; lines end at 100
             columns; pages, links, files and leaves that pages name exist; clang-format changes
             nothing
  lint       forms that Yosys misreads; Verilator -Wall of every module as its own top
  sizes      size and logic depth of the units whose RTL has changed, against rtl/lint/sizes.txt
  synth      Yosys reads the RTL: size, logic depth, memories
  prove      rtl/lib and some leaves, those that changed since rtl/formal/proved.txt: k-induction,
             covers, number of assertions
  prove-all  the same, for all of them
  build      everything, warnings are errors
  fast       cells, units, model, driver, platform (ctest label fast); CI leaves the last three to
             sanitize
  sanitize   tests of model, driver, platform and tandem under address and undefined sanitizers
  system     host programs on the devices (ctest label system): the choice of
             tb/support/chosen.awk, which follows from the hash of the commit
  system-all  all of them
  crash      the power fails at 20,000 instants of durable_log, 2,000 of them on RTL: safe methods
             lose nothing, the others do
  mutants    faults in RTL, model and trace, each to be detected by programs in tandem; builds four
             more Verilated devices
  all        spec structure lint sizes prove build fast sanitize system: what CI runs
  regress    20,000 random operations in tandem, a fourth of them on the minimum build; other ones
             each day; then 1024 QPs on RTL
  soak       a million random operations in tandem: 400,000 on the default build, 300,000 on the
             minimum build, 300,000 on `stall` at 5, 20 and 50 %. Takes hours. RNIC_SOAK_OPS=N: N
             in all. RNIC_SOAK_SEED=S: the first seed, else it follows from the day
  sanitize-app  rnic-sim itself under the sanitizers: random operations, replay, copy; models and
             tandem
  full       all, then system-all, prove-all, sanitize-app, regress, crash, mutants and synth (the
             whole chip takes long)
exit status 0: all passed; 1: a step failed (its name is in the last line); 2: wrong use;
  4: something could not be set up; 130, 143: interrupted (Ctrl-C, SIGTERM)
TXT
}

steps_all="spec structure lint sizes prove build fast sanitize system"
steps=""
for a in "$@"; do
  case "$a" in
    -h|--help) usage; exit 0 ;;
    all) steps="$steps $steps_all" ;;
    full) steps="$steps $steps_all system-all prove-all sanitize-app regress crash mutants synth" ;;
    spec|structure|lint|sizes|synth|prove|prove-all|build|fast|sanitize|sanitize-app|\
    system|system-all|regress|soak|crash|mutants) steps="$steps $a" ;;
    *) printf '%s\n' "tb/run.sh: no step called '$a'; tb/run.sh --help lists them" >&2; exit 2 ;;
  esac
done
[ -n "$steps" ] || steps=$steps_all

. tb/support/setup.sh
check_place
setup_packages

passed=0
failed=""
t_all=$SECONDS
run() {  # run NAME COMMAND...
  name=$1; shift
  say "step $name"
  t=$SECONDS
  if "$@"; then passed=$((passed + 1)); say "step $name passed in $((SECONDS - t)) s"
  else failed="$failed $name"; say "step $name FAILED after $((SECONDS - t)) s"; fi
}

step_spec() {
  setup_build release specgen conformance &&
    build-release/docs/spec/tool/specgen --check docs/spec . &&
    build-release/docs/spec/tool/conformance --check docs/spec .
}
step_build() { setup_build release all; }
step_ctest() {
  setup_build release all &&
    ctest --test-dir build-release --no-tests=error --output-on-failure -j 2 -L "$1"
}
step_system() {
  # The first 24 bits of the commit's hash, which a shallow clone has too.
  turn=$((0x$(git rev-parse --short=6 HEAD 2>/dev/null || echo 0)))
  say "tests with RTL: choice $turn (tb/support/chosen.awk)"
  setup_build release all &&
    ctest --test-dir build-release -N -L system |
      awk -v turn="$turn" -f tb/support/chosen.awk >build-release/chosen &&
    ctest --test-dir build-release --no-tests=error --output-on-failure -j 2 \
      -I "$PWD/build-release/chosen"
}
with_sanitizers="env ASAN_OPTIONS=detect_stack_use_after_return=0:detect_leaks=0
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"
step_sanitize() {
  SETUP_CMAKE="-DRNIC_PARTS=tb/driver;tb/sim;tb/model;tb/tandem" setup_build asan all || return 1
  $with_sanitizers ctest --test-dir build-asan --no-tests=error --output-on-failure -j 2 -L fast
}
# RNIC_VERILATED takes the Verilated code from build-release. Verilator prints that code, so it is
# not built again with sanitizers.
step_sanitize_app() {
  setup_build release Rnic_verilated RnicMin_verilated Echo_verilated CrcBench_verilated || return 1
  parts="tb/driver;tb/sim;tb/model;tb/tandem;sim"
  SETUP_CMAKE="-DRNIC_PARTS=$parts -DRNIC_VERILATED=$PWD/build-release" setup_build asan rnic-sim ||
    return 1
  sim="$with_sanitizers build-asan/sim/app/rnic-sim"
  $sim regress --set ops=1000 --jobs 2 --quiet || return 1
  $sim regress --client tandem --server model --set build=minimum --set ops=100 --quiet || return 1
  $sim replay tb/vectors/captures/rping-client-crc.json --quiet || return 1
  $sim replay tb/vectors/captures/op-recv-tagged.json --client tandem --server tandem --quiet ||
    return 1
  $sim copy --file docs/limitations.md --set size=4096 --jobs 2 --quiet
}
# The first seed follows from the day, so nobody chooses it. Each child process runs 250 operations
# (kOpsOfChild of regress.cpp) with the next seed: the first run takes 60 seeds, so the second one
# begins 500 later.
step_regress() {
  setup_build release rnic-sim || return 1
  seed=$(($(date +%s) / 86400 * 1000))
  build-release/sim/app/rnic-sim regress --client tandem --server tandem --jobs 2 \
    --set ops=15000 --seed $seed &&
    build-release/sim/app/rnic-sim regress --client tandem --server tandem --jobs 2 \
      --set build=minimum --set ops=5000 --seed $((seed + 500)) &&
    build-release/sim/app/rnic-sim run write_bw --client rtl --server rtl \
      --set qps=1024 --set count=2 --set depth=2 --set warmup=0
}
# Each run of rnic-sim takes one seed for each 250 operations, so the next run begins after those.
step_soak() {
  ops=${RNIC_SOAK_OPS:-1000000}
  seed=${RNIC_SOAK_SEED:-$(($(date +%s) / 86400 * 10000))}
  case "$ops$seed" in
    *[!0-9]*) say "RNIC_SOAK_OPS and RNIC_SOAK_SEED are numbers: '$ops', '$seed'"; return 1 ;;
  esac
  [ "$ops" -ge 1000 ] || { say "RNIC_SOAK_OPS=$ops: 1000 or more"; return 1; }
  setup_build release rnic-sim || return 1
  bad=0
  soak() {  # soak THOUSANDTHS SETTING...
    n=$((ops / 1000 * $1)); shift
    set -- build-release/sim/app/rnic-sim regress --client tandem --server tandem --jobs 2 \
      --seed "$seed" --set ops=$n "$@"
    say "$*"
    "$@" || bad=1
    seed=$((seed + n / 250 + 1))
  }
  soak 400
  soak 300 --set build=minimum
  for percent in 5 20 50; do soak 100 --set build=stall --set stall_percent=$percent; done
  return $bad
}
# Each method under each domain, with posted writes delayed or not. write_only and
# flush_without_last must lose something, so crash ends with 1: each safe method has its own run.
step_crash() {
  setup_build release rnic-sim || return 1
  seed=$(($(date +%s) / 86400))
  for kind in model rtl; do
    instants=900
    [ $kind = model ] || instants=100
    for method in flush flush_without_last read send write_only; do
      for domain in eadr adr; do
        for hold in 0 5000; do
          at=$instants
          # flush_without_last without delayed posted writes: the response is on the wire only for
          # some ns before the write is in memory. Few random instants fall into that time, so in
          # this run the power fails after every event.
          [ $method/$hold != flush_without_last/0 ] || at=every
          set -- build-release/sim/app/rnic-sim crash durable_log --quiet \
            --client $kind --server $kind --seed $seed --set method=$method \
            --set server.domain=$domain --set server.pcie_posted_hold_ns=$hold --set instants=$at
          "$@"; status=$?
          expected=0
          [ $method != write_only ] || expected=1
          [ $method != flush_without_last ] || expected=1
          [ $status = $expected ] || { say "exit status $status, not $expected: $*"; return 1; }
        done
      done
    done
  done
}
step_mutants() {
  setup_build release mutants mutants_rtl || return 1
  build-release/tb/mutants/mutants --least 75 && build-release/tb/mutants/mutants_rtl
}
for s in $steps; do
  case "$s" in
    spec) run spec step_spec ;;
    structure) run structure tb/structure.sh ;;
    lint) run lint rtl/lint/lint.sh ;;
    sizes) run sizes rtl/lint/depth.sh --check ;;
    synth) run synth rtl/lint/depth.sh ;;
    prove) run prove rtl/formal/prove.sh --changed ;;
    prove-all) run prove-all rtl/formal/prove.sh ;;
    build) run build step_build ;;
    fast) run fast step_ctest fast ;;
    sanitize) run sanitize step_sanitize ;;
    sanitize-app) run sanitize-app step_sanitize_app ;;
    system) run system step_system ;;
    system-all) run system-all step_ctest system ;;
    regress) run regress step_regress ;;
    soak) run soak step_soak ;;
    crash) run crash step_crash ;;
    mutants) run mutants step_mutants ;;
  esac
done
say "$((SECONDS - t_all)) s in all"
n_failed=$(echo $failed | wc -w)
[ -z "$failed" ] || say "failed:$failed"
printf '%s\n' "$passed passed, $n_failed failed"
[ -z "$failed" ]

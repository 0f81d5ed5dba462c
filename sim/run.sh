#!/usr/bin/env bash
# The main job: copies a file between two simulated hosts by Send, Write and Read on all pairings of
# model and RTL.
set -u
here=$PWD
cd "$(dirname "$0")/.." || exit 4
top=$PWD

usage() {
  cat <<'TXT'
usage: sim/run.sh [--models] [FILE] [rnic-sim options]
  Installs missing Debian packages and builds (the first time takes minutes). Then it copies FILE
  (default: /bin/bash) by Send, RDMA Write and RDMA Read between two hosts, each with one device.
  It does so on the four pairings of model and RTL, and once in tandem (RTL, each step compared
  with the model). It checks the SHA-256 of each copy and prints one table.
  Captures: build-release/copy.*.pcap
  --models builds rnic-sim without the RTL and copies between two models: minutes instead of half
  an hour. Its folder is build-models.
  Options go to `rnic-sim copy`: --set mtu=9000, --preset gen3x16, --seed 7, --json FILE, --quiet
  ... (rnic-sim --help). Paths are relative to the current folder.
exit status: 0 all copies are right; 1 a mismatch; 2 wrong use; 3 no progress;
  4 something could not be set up, or another run is in progress here;
  130, 143 interrupted (Ctrl-C, SIGTERM)
TXT
}

wrong() { printf '%s\n' "sim/run.sh: $* (sim/run.sh --help)" >&2; exit 2; }

# Errors that need no build are reported before minutes of building. The options of copy come from
# rnic-sim's own table (kOptions in rnic_sim.cpp): one "NAME kKIND" per line. $commands matches the
# field of a row that names its commands, if copy is among them, or if it is empty (--help).
commands='kRuns|kAllThatRun|kSettings|""|"([a-z]+ )*copy( [a-z]+)*"'
options=$(sed -nE 's/^ *\{"([a-z-]+)", (k[A-Z][a-z]+), [^,]*, ('"$commands"'),.*/\1 \2/p' \
  sim/app/rnic_sim.cpp)
# One of these files has the name of each setting in quotes; a name in none of them is no setting.
settings="sim/app/settings/config.cpp sim/platform/config.cpp
  host-driver/programs/programs.cpp model/gen/sizes.hpp"
presets=$(sed -nE 's/^ *Preset\{"([a-z0-9]+)".*/\1/p' sim/platform/config.cpp | tr '\n' ' ')

# check_value NAME VALUE: checks the value of an option of copy as far as possible without a build;
# rnic-sim checks it again, in full.
check_value() {
  path=$2
  case "$path" in /*) ;; *) path=$here/$path ;; esac
  case "$2" in ""|--*) wrong "--$1 wants a value" ;; esac
  case "$1" in
    seed)
      case "$2" in
        random) ;;
        *[!0-9]*) wrong "--seed $2: a whole number, or random, is wanted" ;;
      esac ;;
    jobs)
      case "$2" in *[!0-9]*|????*) false ;; *) [ "$2" -ge 1 ] && [ "$2" -le 256 ] ;; esac ||
        wrong "--jobs $2: a number from 1 to 256 is wanted" ;;
    set)
      case "$2" in ?*=*) ;; *) wrong "--set $2: is not NAME=VALUE" ;; esac
      setting=${2%%=*}
      case "$setting" in client.*|server.*) setting=${setting#*.} ;; esac
      { [ -n "$setting" ] && grep -qF -- "\"$setting\"" $settings; } ||
        wrong "--set $2: no setting $setting;" \
          "\`rnic-sim list settings\` names them, when it is built" ;;
    preset)
      case " $presets" in *" $2 "*) ;; *) wrong "no preset $2; there are: ${presets% }" ;; esac ;;
    config) [ -f "$path" ] && [ -r "$path" ] || wrong "--config $2: not a file that can be read" ;;
    json|csv|junit|tlp|wave)
      case "$1 $2" in json\ -|csv\ -|junit\ -|wave\ none) return ;; esac
      [ -d "$(dirname -- "$path")" ] || wrong "--$1 $2: there is no folder $(dirname -- "$2")"
      case "$1" in json|csv|junit) [ ! -d "$path" ] || wrong "--$1 $2: is a folder" ;; esac ;;
  esac
}

preset=release
case "${1:-}" in --models) preset=models; shift ;; esac
build=build-$preset

file=/bin/bash
is_first=1
is_value=""
for a in "$@"; do
  if [ -n "$is_value" ]; then check_value "${is_value#--}" "$a"; is_value=""; continue; fi
  name=${a#--}
  name=${name%%=*}
  case "$a" in
    -h|--help) usage; exit 0 ;;
    --file|--file=*) wrong "$a: the file is said without an option, before all others" ;;
    --pcap|--pcap=*) wrong "$a: the captures are $build/copy.*.pcap" ;;
    --models) wrong "--models: it stands before all others" ;;
    --?*)
      kind=$(printf '%s\n' "$options" | sed -n "s/^$(printf '%s' "$name" | tr -cd 'a-z-') //p")
      [ -n "$kind" ] && [ -z "$(printf '%s' "$name" | tr -d 'a-z-')" ] ||
        wrong "no option --$name; there are: $(printf '%s\n' "$options" |
          grep -vE '^(file|pcap) ' | sed 's/ .*//; s/^/--/' | tr '\n' ' ' | sed 's/ $//')"
      case "$kind $a" in
        kFlag\ *=*) wrong "--$name takes no value" ;;
        kFlag\ *) ;;
        *=*) check_value "$name" "${a#*=}" ;;
        *) is_value=$a ;;
      esac ;;
    -*) wrong "no option $a" ;;
    *)
      [ -n "$is_first" ] || wrong "\"$a\": one FILE, before the options"
      [ -n "$a" ] || wrong "the name of the file is empty"
      file=$a ;;
  esac
  is_first=""
done
[ -z "$is_value" ] || wrong "$is_value wants a value"
case "${1:--}" in -*) ;; *) shift ;; esac
case "$file" in /*) ;; *) file=$here/$file ;; esac
[ -f "$file" ] && [ -r "$file" ] || wrong "$file: not a file that can be read"
[ -s "$file" ] || wrong "$file: is empty"

. tb/support/setup.sh
check_place
# Two runs would write the same captures. The lock is held while 9 is open: by this script, and by
# rnic-sim, which replaces it.
{ mkdir -p "$build" && [ -w "$build" ] && exec 9>"$build/run.lock"; } 2>/dev/null ||
  die "$top/$build cannot be written; it holds what is built, and the captures"
flock -n 9 || die "another run is under way in $top/$build"
# Only rnic-sim's output goes to the standard output.
setup_packages 9>&- >&2
setup_build "$preset" rnic-sim >&2
say "copying $file ($(stat -c %s "$file") bytes) between two hosts" >&2
cd "$here" || die "$here is no longer there"
exec "$top/$build/sim/app/rnic-sim" copy --file "$file" --set size=65536 \
  --pcap "$top/$build/copy" "$@"

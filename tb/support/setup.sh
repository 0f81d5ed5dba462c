# From a fresh Debian 12 machine to a built tree. sim/run.sh and tb/run.sh source it from the top of
# the repository.
#
#   . tb/support/setup.sh;  check_place;  setup_packages;  setup_build release rnic-sim

# All dependencies of the project beyond the base system.
PACKAGES="g++ make cmake ninja-build ccache git ca-certificates
  verilator clang yosys z3 libsystemc-dev zlib1g-dev
  libgtest-dev libgmock-dev libboost-dev libboost-program-options-dev
  libyaml-cpp-dev nlohmann-json3-dev libfmt-dev libspdlog-dev libexpected-dev libssl-dev libpcap-dev
  tshark gnuplot-nox clang-format clang-tidy"

say() { printf '%s\n' "[$(basename "$0" .sh)] $*"; }
die() { printf '%s\n' "$0: $*" >&2; exit 4; }

check_place() {
  case "$PWD" in
    *[[:space:]]*)
      die "make, which builds the Verilated devices, takes no path with a space in it;" \
        "move the clone: $PWD" ;;
  esac
}

setup_packages() {
  command -v dpkg-query >/dev/null ||
    die "this needs Debian 12 or a system derived from it (no dpkg here)"
  missing=""
  for p in $PACKAGES; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
      missing="$missing $p"
  done
  [ -z "$missing" ] && return 0
  sudo=""
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      die "packages are missing, the user is not root, and sudo is not installed:$missing"
    sudo=sudo
  fi
  say "installing:$missing"
  log=$(mktemp)
  # Non-interactive. tshark's question about capturing needs no answer file: its default is no.
  if ! { $sudo apt-get -qq update &&
         $sudo env DEBIAN_FRONTEND=noninteractive \
           apt-get -qq -y --no-install-recommends install $missing; } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    die "apt-get could not install the missing packages (above its last lines)"
  fi
  rm -f "$log"
}

# setup_build PRESET TARGET...: configures once, and again when $SETUP_CMAKE (options in addition to
# the preset) has changed; then builds. $RNIC_CMAKE: further options for every preset. It shows the
# compiler's output only on failure, and no progress for a build of less than 3 seconds.
setup_build() {
  preset=$1
  shift
  dir=build-$preset
  if [ ! -f "$dir/build.ninja" ] ||
     { [ -n "${SETUP_CMAKE:-}" ] &&
       [ "$(cat "$dir/setup.options" 2>/dev/null)" != "$SETUP_CMAKE" ]; }; then
    say "configuring $dir"
    cmake --preset "$preset" ${SETUP_CMAKE:-} ${RNIC_CMAKE:-} >"$dir.log" 2>&1 ||
      { tail -n 20 "$dir.log" >&2; die "cmake --preset $preset failed"; }
    rm -f "$dir.log"
    printf '%s' "${SETUP_CMAKE:-}" >"$dir/setup.options"
  fi
  # Ninja runs in the background, so that only a build with work prints progress. (ninja -n cannot
  # tell whether there is work, since CMake checks the patterns of the sources in each build.) A
  # background job does not receive Ctrl-C, so the traps end ninja.
  ninja -C "$dir" "$@" >"$dir/build.log" 2>&1 &
  ninja=$!
  trap 'kill "$ninja" 2>/dev/null; wait "$ninja"; exit 130' INT
  trap 'kill "$ninja" 2>/dev/null; wait "$ninja"; exit 143' TERM
  ticks=0
  while kill -0 "$ninja" 2>/dev/null; do
    sleep 0.2
    ticks=$((ticks + 1))
    [ "$ticks" -ne 15 ] || say "building $dir ($*); the first time takes minutes"
    [ "$ticks" -lt 15 ] || [ ! -t 1 ] || printf '\r%-100.100s\r' "$(tail -n 1 "$dir/build.log")"
  done
  trap - INT TERM
  wait "$ninja" || {
    grep -m 20 -A 4 -E 'error|FAILED|%Error|%Warning' "$dir/build.log" >&2
    die "the build failed ($dir/build.log)"
  }
}

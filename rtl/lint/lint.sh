#!/bin/sh
# lint.sh [--quick] [path...]: are the sources of rtl/ in the language that both tools read? All of
# them, or those below the given folders or files (relative to rtl/, such as mpa or lib/crc32c.sv).
#
#   1  forms of banned.txt, outside comments; and a package that uses another
#   2  Verilator -Wall with every module as its own top, in the default and in the minimum build
#   3  Yosys reads every file, warnings are errors
#   4  Verilator -Wall of the whole chip with every size at its smallest, and at its largest
#      (docs/spec/sizes.yaml)
#   5  Verilator -Wall of the whole chip in the build `stall`, whose cells (rtl/stall) no other tool
#      reads
#
# --quick leaves out the minimum build. Prints the first lines of each failure; exit status 0 when
# all is clean.
quick=
case $1 in
  -h | --help) awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; exit 0 ;;
  --quick) quick=1; shift ;;
  -*) echo "usage: lint.sh [--quick] [path...]" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.." || exit 2
[ $# -gt 0 ] || set -- .
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find "$@" -name '*.sv' ! -path '*formal/*' ! -path '*lint/*' ! -path '*stall/*' |
  sed 's|^\./||' | sort >"$work/all"
grep -v '^gen/.*_pkg\.sv$' "$work/all" >"$work/own"
status=0

# What Verilator has printed, without the lines that only explain.
verilator_says() {
  grep -vE '^%Error: Exiting|For warning|Use "|In file included' "$1" | head -n 8
}

# 1: one file at a time, without the contents of comments and strings; so line numbers stay.
find "$@" \( -name '*.sv' -o -name '*.svh' \) ! -path '*lint/*' ! -path '*stall/*' |
  sed 's|^\./||' | sort | while read -r file; do
  sed -e 's|//.*||' -e 's|"[^"]*"|""|g' "$file" >"$work/bare"
  grep -v '^#' lint/banned.txt | while IFS='	' read -r pattern why; do
    case $file in
      lib/rnic_assert.svh | formal/*) case $pattern in *assert*) continue ;; esac ;;
    esac
    grep -nE -e "$pattern" "$work/bare" | head -n 3 | while IFS=: read -r line text; do
      echo "rtl/$file:$line: $why"; echo "    $text"
    done
  done
  case $file in gen/*_pkg.sv)
    own=$(basename "$file" .sv)
    grep -nE '[a-z0-9_]+_pkg::' "$work/bare" | grep -v "$own::" | head -n 3 |
      sed "s|^|rtl/$file: another package: |" ;;
  esac
done >"$work/banned"
if [ -s "$work/banned" ]; then status=1; head -n 60 "$work/banned"; fi

# 2 and 3, two files at a time, from the top of the repository. A file's name is its module's.
# Yosys's warning that it keeps an array in registers is no failure: the registers act as the array.
cat >"$work/one" <<'EOF'
cd ..
file=rtl/$1; out=$2/$(echo "$1" | tr / _); top=$(basename "$1" .sv)
dirs=$(for d in rtl/*/; do printf -- '-y %s ' "${d%/}"; done)
for define in "" ${3:+-DRNIC_MINIMUM}; do
  verilator --lint-only -Wall --assert $define -Irtl/lib $dirs --top-module "$top" \
    rtl/lint/waivers.vlt rtl/gen/*_pkg.sv "$file" >"$out" 2>&1 || {
      echo "$file: verilator $define" >>"$out.bad"
      grep -vE '^%Error: Exiting|For warning|Use "|In file included' "$out" | head -n 8 >>"$out.bad"
      break
    }
done
yosys -q -e . -w 'Replacing memory .* with list of registers' \
  -p "read_verilog -sv -noautowire -Irtl/lib rtl/gen/*_pkg.sv $file" >"$out" 2>&1 ||
  { echo "$file: yosys" >>"$out.bad"; head -n 4 "$out" >>"$out.bad"; }
EOF
minimum=yes; [ -n "$quick" ] && minimum=
xargs -r -P 2 -I{} sh "$work/one" {} "$work" $minimum <"$work/own"
for bad in "$work"/*.bad; do
  [ -f "$bad" ] && { status=1; cat "$bad"; }
done

# 4 and 5: only if the chip (gen/rnic.sv) is among the files.
if grep -qx gen/rnic.sv "$work/own"; then
  dirs=$(cd .. && for d in rtl/*/; do printf -- '-y %s ' "${d%/}"; done)
  for bound in min max; do
    sed -nE "s/^  ([a-z_]+): \{.*[{ ]$bound: ([0-9]+),.*/\1 \2/p" ../docs/spec/sizes.yaml |
      awk '{ n = split($1, word, "_"); name = ""
             for (i = 1; i <= n; i++) name = name toupper(substr(word[i], 1, 1)) substr(word[i], 2)
             print "s/ " name " = [0-9]+;/ " name " = " $2 ";/" }' >"$work/sizes"
    sed -E -f "$work/sizes" gen/rnic_pkg.sv >"$work/rnic_pkg.sv"
    (cd .. && verilator --lint-only -Wall --assert -Irtl/lib $dirs --top-module rnic \
      rtl/lint/waivers.vlt "$work/rnic_pkg.sv" $(ls rtl/gen/*_pkg.sv | grep -v rnic_pkg) \
      rtl/gen/rnic.sv) >"$work/out" 2>&1 && [ -s "$work/sizes" ] || {
        status=1
        echo "rtl: verilator, every size at its $bound"
        verilator_says "$work/out"
      }
  done
  (cd .. && verilator --lint-only -Wall --assert -DRNIC_MINIMUM -DRNIC_STALL -Irtl/lib $dirs \
    --top-module rnic rtl/lint/waivers.vlt rtl/gen/*_pkg.sv rtl/stall/rnic_stall_pkg.sv \
    rtl/gen/rnic.sv) >"$work/out" 2>&1 || {
      status=1
      echo "rtl: verilator, build stall"
      verilator_says "$work/out"
    }
fi

count=$(wc -l <"$work/own")
[ "$count" -gt 0 ] || { echo "lint: no module here: $*"; exit 1; }
[ $status -eq 0 ] && echo "lint: $count modules clean" ||
  echo "lint: failures above, $count modules"
exit $status

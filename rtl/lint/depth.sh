#!/bin/sh
# depth.sh [--top MODULE]...   size, logic depth and memories of the units and of the chip, by Yosys
# depth.sh --check [UNIT...]   are the figures in sizes.txt those of the sources? Without UNIT: of
#                              all units, not of the chip
# depth.sh --update UNIT...    reads the units (rnic: the chip, 10 minutes) and puts their figures
#                              into sizes.txt
#
# Without --top: every unit of docs/spec/streams.yaml, then the chip (rnic). Memories are borders of
# the logic, as on an FPGA. Mapped for least depth (depth.abc). Warnings are errors. Fails on: a
# path of more than 11 LUT levels; in a memory above 64 words an asynchronous read, a third read
# port or a second write port. RNIC_DEPTH_DIR keeps the logs (MODULE.log, .stat, .depth with the
# longest path, .mem) and what was read (MODULE.src).
#
# The longest path that depth.sh names need not be the cause: area recovery lets other paths grow to
# the same length. The cause is among the paths that remain when depth.abc maps for delay only
# (if -q -F 0 -A 0, without mfs2).
#
# Yosys reads the module and those it names, without comments and empty lines. Figures depend on
# these, on Yosys' version and on the two scripts (`script` below, depth.abc), and on nothing else.
# sizes.txt keeps a hash of all of them. --check reads only units whose hash is not in the table,
# two at a time. Put their figures into the table with --update.
usage() {
  echo "usage: depth.sh [--top MODULE]... | --check [UNIT...] | --update UNIT..." >&2
  exit 2
}
export LC_ALL=C
mode=; tops=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; exit 0 ;;
    --top)
      case $2 in '' | -*) usage ;; esac
      [ "${mode:-top}" = top ] || usage
      mode=top; tops="$tops $2"; shift 2 ;;
    --check | --update) [ -z "$mode" ] || usage; mode=${1#--}; shift ;;
    -*) usage ;;
    *) case $mode in check | update) tops="$tops $1"; shift ;; *) usage ;; esac ;;
  esac
done
[ "$mode" = update ] && [ -z "$tops" ] && usage
cd "$(dirname "$0")/../.." || exit 2
limit=11
table=rtl/lint/sizes.txt
work=${RNIC_DEPTH_DIR:-$(mktemp -d)}
mkdir -p "$work"
work=$(cd "$work" && pwd)
bare=$work/bare.$$   # rtl/ as it is read
if [ -n "$RNIC_DEPTH_DIR" ]; then trap 'rm -rf "$bare" "$bare.names"' EXIT
else trap 'rm -rf "$work"' EXIT; fi

units=$(sed -n 's/^  units: \[\(.*\)\]$/\1/p' docs/spec/streams.yaml | tr -d ,)
if [ -z "$tops" ]; then
  tops=$units
  [ "$mode" != check ] && [ -f rtl/gen/rnic.sv ] && tops="$tops rnic"
fi

# The Yosys script, run in the folder of the sources, for MODULE and FILES.
script='
  read_verilog -sv -noautowire -Irtl/lib FILES
  hierarchy -check -top MODULE; chformal -remove; proc; flatten; opt -full; wreduce; alumacc; opt
  memory -nomap; opt -full; tee -q -o ../MODULE.dump dump t:$mem_v2
  setattr -set keep 1 t:$mem_v2; chtype -set MEMBOX t:$mem_v2
  techmap; opt -fast; abc -lut 6 -script depth.abc; opt_clean
  tee -q -o ../MODULE.stat stat; tee -q -o ../MODULE.depth ltp -noff'

# Leaves out the lines from `ifdef FORMAL to its `else or `endif: a proof changes no logic.
no_proof='
  /^`if/ { depth++; if (/^`ifdef FORMAL/ && !from) { from = depth; skip = 1; next } }
  from && depth == from && /^`else/ { skip = !skip; next }
  from && depth == from && /^`endif/ { from = 0; skip = 0; depth--; next }
  /^`endif/ { depth-- }
  !skip'

# sources MODULE: puts what is read into $work/MODULE.src, the names in order of reading into
# MODULE.files and the hash into MODULE.hash. A file is named as its module or package, so what a
# module needs is found by name: in rtl/gen, rtl/lib and its own folder; for the chip in all of rtl.
sources() {
  src=$work/$1.src
  own=$(find rtl -name "$1.sv" ! -path '*formal/*' | head -n 1); own=${own%/*}
  [ "$1" = rnic ] && own=rtl
  rm -rf "$src"; mkdir -p "$src"
  [ -d "$bare" ] || {
    find rtl \( -name '*.sv' -o -name '*.svh' \) \
      ! -path '*formal/*' ! -path '*lint/*' ! -path '*stall/*' | while read -r f; do
      mkdir -p "$bare/${f%/*}"
      sed -e 's|[[:space:]]*//.*||' -e '/^[[:space:]]*$/d' "$f" | awk "$no_proof" >"$bare/$f"
    done
    (cd "$bare" && find rtl -type f | sort |
      awk -F / '{ name = $NF; sub(/\.svh?$/, "", name); print name, $0 }') >"$bare.names"
  }
  awk -v top="$1" -v bare="$bare/" -v own="$own/" '
    index($2, own) == 1 || $2 ~ /^rtl\/(gen|lib)\// { path[$1] = $2 }
    END {
      todo[n = 1] = top
      for (i = 1; i <= n; i++) {
        if (!(todo[i] in path)) continue
        while ((getline line < (bare path[todo[i]])) > 0) {
          while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
            word = substr(line, RSTART, RLENGTH); line = substr(line, RSTART + RLENGTH)
            if (word in path && !(word in seen)) {
              seen[word] = 1
              if (word != top) todo[++n] = word
            }
          }
        }
      }
      for (i = 1; i <= n; i++) {
        if (todo[i] in path) print (path[todo[i]] ~ /_pkg\.sv$/ ? 0 : 1), path[todo[i]]
      }
    }' "$bare.names" | sort | cut -d ' ' -f 2 >"$work/$1.files"
  grep -q "/$1\.sv\$" "$work/$1.files" || { echo "depth.sh: no module $1" >&2; return 1; }
  while read -r f; do mkdir -p "$src/${f%/*}"; cp "$bare/$f" "$src/$f"; done <"$work/$1.files"
  grep -v '^#' rtl/lint/depth.abc >"$src/depth.abc"
  { echo "$script"; yosys -V; (cd "$src" && find . -type f | sort | xargs sha256sum); } |
    sha256sum | cut -c 1-16 >"$work/$1.hash"
}

# row MODULE: its line in the table, with what was measured.
row() { printf '%-9s %7s %7s %12s %7s  %s\n' $(cat "$work/$1.row") "$(cat "$work/$1.hash")"; }

if [ "$mode" = check ] || [ "$mode" = update ]; then
  status=0; due=
  for top in $tops; do
    case " $units rnic " in *" $top "*) ;; *) echo "depth.sh: no unit $top" >&2; exit 2 ;; esac
    sources "$top" || exit 2
    [ "$mode" = check ] && grep -qE "^$top .* $(cat "$work/$top.hash")\$" "$table" 2>/dev/null ||
      due="$due $top"
  done
  if [ -n "$due" ]; then
    export RNIC_DEPTH_DIR="$work"
    printf '%s\n' $due | xargs -n 1 -P 2 sh -c '
      "$0" --top "$1" >"$RNIC_DEPTH_DIR/$1.report" 2>&1 || rm -f "$RNIC_DEPTH_DIR/$1.row"' \
      "rtl/lint/${0##*/}"
  fi
  stale=
  for top in $due; do
    if [ ! -f "$work/$top.row" ]; then status=1; grep -A 1 -E 'FAIL|refuses' "$work/$top.report"
    elif [ "$mode" = update ]; then
      {
        sed '/^[^#]/d' "$table" 2>/dev/null | grep . || cat <<'HEAD'
# sizes.txt: size and logic depth of the units and of the chip, as rtl/lint/depth.sh reads them;
# exact. Printed by rtl/lint/depth.sh --update UNIT...; checked by tb/run.sh sizes. The hash is that
# of all the figures depend on.
#
# unit       LUT6   flops  memory bits  levels  hash
HEAD
        for unit in $units rnic; do
          if [ "$unit" = "$top" ]; then row "$top"; else grep "^$unit " "$table" 2>/dev/null; fi
        done
      } >"$work/table"
      cp "$work/table" "$table"; row "$top"
    else
      stale="$stale $top"
      printf -- '- %s\n+ %s\n' \
        "$(grep "^$top " "$table" || echo "$top: not in the table")" "$(row "$top")"
    fi
  done
  [ -z "$stale" ] || {
    status=1
    echo "$table is not of these sources; run: rtl/lint/depth.sh --update$stale"
  }
  exit $status
fi

# The memories of one module, from the dumped cells: id, words, width, read ports, those of them
# that are synchronous, write ports.
memories() {
  awk '
    function value(text,   n, i) {   # 32 (decimal) or 4%b0101 as RTLIL writes it
      if (text !~ /\047/) return text + 0
      sub(/^[0-9]+\047/, "", text); n = 0
      for (i = 1; i <= length(text); i++) n = 2 * n + (substr(text, i, 1) == "1")
      return n
    }
    function ones(text) { sub(/^[0-9]+\047/, "", text); return gsub(/1/, "", text) }
    function put() {
      if (id != "") print id, size, width, reads, (clocked > reads ? reads : clocked), writes
    }
    $1 == "cell"                    { put(); id = "" }
    $1 == "parameter" {
      name = $2; if (name == "\\signed") { name = $3; text = $4 } else text = $3
      if (name == "\\MEMID")         { id = text; gsub(/[\\"]/, "", id) }
      if (name == "\\SIZE")          size = value(text)
      if (name == "\\WIDTH")         width = value(text)
      if (name == "\\RD_PORTS")      reads = value(text)
      if (name == "\\WR_PORTS")      writes = value(text)
      if (name == "\\RD_CLK_ENABLE") clocked = ones(text)
    }
    END { put() }' "$1" | sort
}

status=0
printf '%-12s %9s %9s %7s %9s %12s %8s\n' unit LUT6 flops levels memories 'memory bits' seconds
for top in $tops; do
  begin=$(date +%s)
  rm -f "$work/$top.row"
  [ -f "$work/$top.hash" ] || sources "$top" || { status=1; continue; }
  files=$(grep '\.sv$' "$work/$top.files" | paste -s -d ' ')
  echo "$script" | sed "s|MODULE|$top|g; s|FILES|$files|" >"$work/$top.ys"
  if ! (cd "$work/$top.src" && yosys -q -e . -l "../$top.log" -s "../$top.ys") \
       >"$work/$top.out" 2>&1; then
    echo "$top: Yosys refuses it:"
    grep -m 3 -E 'ERROR|Warning' "$work/$top.out" || head -n 3 "$work/$top.out"
    status=1; continue
  fi
  memories "$work/$top.dump" >"$work/$top.mem"
  luts=$(awk '$1 == "$lut" { print $2 }' "$work/$top.stat" | tail -n 1)
  flops=$(awk '$1 ~ /^\$_.*(DFF|LATCH)/ { n += $2 } END { print n + 0 }' "$work/$top.stat")
  levels=$(sed -n 's/.*(length=\([0-9]*\)).*/\1/p' "$work/$top.depth" | head -n 1)
  set -- $(awk '{ n++; bits += $2 * $3 } END { print n + 0, bits + 0 }' "$work/$top.mem")
  printf '%-12s %9s %9s %7s %9s %12s %8s\n' \
    "$top" "${luts:-0}" "$flops" "${levels:-0}" "$1" "$2" $(($(date +%s) - begin))
  echo "$top ${luts:-0} $flops $2 ${levels:-0}" >"$work/$top.row"
  awk '{ printf "    %-60s %7d x %-5d read %d (%d sync) write %d\n", $1, $2, $3, $4, $5, $6 }' \
    "$work/$top.mem"
  awk '
    $2 > 64 && ($4 > $5 || $4 > 2 || $6 > 1) {
      print "    FAIL " $1 ": above 64 words needs synchronous reads, at most 2, and 1 write"
      bad = 1
    }
    END { exit bad }' "$work/$top.mem" || status=1
  if [ "${levels:-0}" -gt $limit ]; then
    status=1
    path=$(sed -nE "s|^ +[0-9f]+: ||p" "$work/$top.depth" | sed "s| *(via.*||" |
      sed -n "1p;\$p" | paste -s -d "~" | sed "s|~| to |")
    echo "    FAIL $levels LUT levels, at most $limit: from $path"
  fi
done
exit $status

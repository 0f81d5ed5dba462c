#!/bin/sh
# depth.sh [--top MODULE]...: size, logic depth and memories of the units and of the chip, by Yosys.
#
# Without --top: every unit that has its module (rtl/<unit>/<unit>.sv), then the chip (rnic). A unit is read with
# rtl/gen, rtl/lib and its own folder, the chip with all. Memories are borders of the logic, as on an FPGA. Mapped for
# least depth (depth.abc). Warnings are errors. Fails on: a path of more than 20 LUT levels; in a memory above 64 words an
# asynchronous read, a third read port or a second write port. RNIC_DEPTH_DIR keeps the logs (MODULE.log, .stat, .depth
# with the longest path, .mem).
usage() { echo "usage: depth.sh [--top MODULE]..." >&2; exit 2; }
tops=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; exit 0 ;;
    --top) case $2 in '' | -*) usage ;; esac; tops="$tops $2"; shift 2 ;;
    *) usage ;;
  esac
done
cd "$(dirname "$0")/../.." || exit 2
limit=20
work=${RNIC_DEPTH_DIR:-$(mktemp -d)}
mkdir -p "$work"
[ -n "$RNIC_DEPTH_DIR" ] || trap 'rm -rf "$work"' EXIT

if [ -z "$tops" ]; then
  for unit in host_if admin qp tpt rdmap ddp mpa atomic persist cq llp_if; do
    [ -f "rtl/$unit/$unit.sv" ] && tops="$tops $unit"
  done
  [ -f rtl/top/rnic.sv ] && tops="$tops rnic"
fi

# The memories of one module, from the dumped cells: id, words, width, read ports (synchronous), write ports.
memories() {
  awk '
    function value(text,   n, i) {   # 32 (decimal) or 4%b0101 as RTLIL writes it
      if (text !~ /\047/) return text + 0
      sub(/^[0-9]+\047/, "", text); n = 0
      for (i = 1; i <= length(text); i++) n = 2 * n + (substr(text, i, 1) == "1")
      return n
    }
    function ones(text) { sub(/^[0-9]+\047/, "", text); return gsub(/1/, "", text) }
    function put() { if (id != "") print id, size, width, reads, (clocked > reads ? reads : clocked), writes }
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
  folder=$(find rtl -name "$top.sv" ! -path '*formal/*' | head -n 1)
  [ -n "$folder" ] || { echo "depth.sh: no module $top" >&2; status=1; continue; }
  folder=$(dirname "$folder")
  files="rtl/gen/*_pkg.sv"
  [ "$top" = rnic ] && folder="rtl/host_if rtl/admin rtl/qp rtl/tpt rtl/rdmap rtl/ddp rtl/mpa rtl/atomic rtl/persist rtl/cq rtl/llp_if rtl/top"
  for d in rtl/gen rtl/lib $folder; do
    for f in "$d"/*.sv; do
      case " $files " in *" $f "*) continue ;; esac
      case $f in *_pkg.sv) ;; *) [ -f "$f" ] && files="$files $f" ;; esac
    done
  done
  if ! yosys -q -e . -l "$work/$top.log" -p "
      read_verilog -sv -noautowire -Irtl/lib $files
      hierarchy -check -top $top; chformal -remove; proc; flatten; opt -full; wreduce; alumacc; opt
      memory -nomap; opt -full; tee -q -o $work/$top.dump dump t:\$mem_v2
      setattr -set keep 1 t:\$mem_v2; chtype -set MEMBOX t:\$mem_v2
      techmap; opt -fast; abc -lut 6 -script rtl/lint/depth.abc; opt_clean
      tee -q -o $work/$top.stat stat; tee -q -o $work/$top.depth ltp -noff" >"$work/$top.out" 2>&1; then
    echo "$top: Yosys refuses it:"; grep -m 3 -E 'ERROR|Warning' "$work/$top.out" || head -n 3 "$work/$top.out"
    status=1; continue
  fi
  memories "$work/$top.dump" >"$work/$top.mem"
  luts=$(awk '$1 == "$lut" { print $2 }' "$work/$top.stat" | tail -n 1)
  flops=$(awk '$1 ~ /^\$_.*(DFF|LATCH)/ { n += $2 } END { print n + 0 }' "$work/$top.stat")
  levels=$(sed -n 's/.*(length=\([0-9]*\)).*/\1/p' "$work/$top.depth" | head -n 1)
  set -- $(awk '{ n++; bits += $2 * $3 } END { print n + 0, bits + 0 }' "$work/$top.mem")
  printf '%-12s %9s %9s %7s %9s %12s %8s\n' "$top" "${luts:-0}" "$flops" "${levels:-0}" "$1" "$2" $(($(date +%s) - begin))
  awk '{ printf "    %-60s %7d x %-5d read %d (%d sync) write %d\n", $1, $2, $3, $4, $5, $6 }' "$work/$top.mem"
  awk '$2 > 64 && ($4 > $5 || $4 > 2 || $6 > 1) { print "    FAIL " $1 ": above 64 words needs synchronous reads, at most 2, and 1 write"; bad = 1 }
       END { exit bad }' "$work/$top.mem" || status=1
  if [ "${levels:-0}" -gt $limit ]; then
    status=1
    path=$(sed -nE "s|^ +[0-9f]+: ||p" "$work/$top.depth" | sed "s| *(via.*||" | sed -n "1p;\$p" | paste -s -d "~" | sed "s|~| to |")
    echo "    FAIL $levels LUT levels, at most $limit: from $path"
  fi
done
exit $status

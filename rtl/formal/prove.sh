#!/bin/sh
# prove.sh [cell...]: proves the cells of rtl/lib and some leaves (all, or those named) with Yosys
#   and z3, one per core.
# prove.sh --changed [cell...]: the same, but without the cells that have passed with the same
#   sources and tools (proved.txt).
# prove.sh --update [cell...]: the same as --changed, and adds the cells that pass to proved.txt.
#
# A cell's hash in proved.txt covers its proof and its mutants, the netlist that Yosys wrote
# (without comments), this script and the versions of the tools. --changed proves the cells whose
# hash is not in proved.txt. Names in the netlist contain line numbers of assertions, so a moved
# line counts as a change.
#
# A line "proof: assertions=N bounded=K induction=K cover=K" in <cell>_fv.sv states how many
# assertions the proof must contain and how deep it goes. induction=0 means bounded only, and the
# file gives the reason. A wrong number of assertions fails, so that no proof is empty.
# A line "proved by themselves: CELL..." leaves out the assertions inside these cells; CELL/NAME
# leaves out one. A line "files: FILE..." names the files that are read in addition to rtl/lib.
# Leaves have the sizes of the minimum build.
#
# Each line "refuted by FILE NAME_A: SED" is a mutant: the bounded proof is run again with FILE
# changed by the sed command, and must end with a counterexample to assertion NAME_A. A mutant that
# changes nothing, or that another assertion refutes, fails. A "refuted by" line may be longer than
# 100 columns, because a mutant is one line. "proved by themselves" and "files" may have several.
#
# yosys-smtbmc must unroll (--unroll): otherwise z3 expands the shared terms of the arbiters and
# runs out of memory. Prints a table; exit status 0 when all proofs pass.
# Logs stay in RNIC_PROVE_DIR when that is set.
changed=; update=
case $1 in
  --changed) changed=1; shift ;;
  --update) changed=1; update=1; shift ;;
  -h | --help) awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; exit 0 ;;
  -*) echo "usage: prove.sh [--changed | --update] [cell...]" >&2; exit 2 ;;
esac
cd "$(dirname "$0")" || exit 2
work=${RNIC_PROVE_DIR:-$(mktemp -d)}
mkdir -p "$work"
[ -n "$RNIC_PROVE_DIR" ] || trap 'rm -rf "$work"' EXIT

if [ $# -eq 0 ]; then
  for f in *_fv.sv; do set -- "$@" "${f%_fv.sv}"; done
fi

# Value of one key in the proof line of a file.
key() {
  sed -n "s/^\/\/ proof:.* $2=\([0-9]*\).*/\1/p; s/^\/\/ proof: $2=\([0-9]*\).*/\1/p" "$1" |
    head -n 1
}

# Runs one mode and prints its result.
mode() {
  log=$1; shift
  if (ulimit -v 3000000; timeout 300 yosys-smtbmc -s z3 --unroll --noprogress "$@") >"$log" 2>&1
  then echo pass; else echo FAIL; fi
}

# Writes $work/$1.smt2 for the proof of $cell from the files that follow.
read_design() {
  out=$1; shift
  yosys -q -e . -l "$work/$out.yosys" -p "
    read_verilog -sv -formal -noautowire -DRNIC_MINIMUM -I../lib -I. \
      ../gen/crc32c_pkg.sv ../gen/iwarp_pkg.sv ../lib/*.sv $* $fv
    hierarchy -check -top ${cell}_fv; proc; $leave
    prep -top ${cell}_fv -nordff; flatten; opt_clean; memory_map; opt_clean; async2sync; dffunmap
    write_smt2 -wires $work/$out.smt2" >"$work/$out.read" 2>&1
}

table=proved.txt
# Puts the hash of a cell that has passed into the table.
put() {
  [ -f "$work/$1.proved" ] || return 0
  { grep -v "^$1 " $table 2>/dev/null; cat "$work/$1.proved"; } | sort >"$work/table" &&
    cp "$work/table" $table
}
tools=$(yosys -V; z3 --version)

status=0
printf '%-20s %10s %10s %10s %10s %7s\n' cell assertions bounded induction cover seconds
if [ $# -gt 1 ]; then   # each by itself, one per core; its output is printed when it has ended
  printf '%s\n' "$@" | RNIC_PROVE_DIR=$work xargs -n 1 -P "$(nproc)" sh -c '
    ./prove.sh $1 "$2" >"$RNIC_PROVE_DIR/$2.out" 2>&1; status=$?
    sed 1d "$RNIC_PROVE_DIR/$2.out"; exit $status' - "${changed:+--changed}"
  status=$(($? != 0))
  [ -z "$update" ] || for cell in "$@"; do put "$cell"; done
  exit $status
fi
for cell in "$@"; do
  fv=${cell}_fv.sv
  if [ ! -f "$fv" ]; then echo "prove.sh: no proof $fv" >&2; status=1; continue; fi
  begin=$(date +%s)
  want=$(key "$fv" assertions); bounded=$(key "$fv" bounded)
  induction=$(key "$fv" induction); cover=$(key "$fv" cover)
  inside=$(sed -n 's/^\/\/ proved by themselves: //p' "$fv")
  leave=; for c in $inside; do leave="$leave chformal -assert -remove *${c}*;"; done
  files=$(sed -n 's/^\/\/ files: //p' "$fv")
  # shellcheck disable=SC2086
  if ! read_design "$cell" $files; then
    echo "$cell: Yosys refuses it:"; head -n 5 "$work/$cell.read"; status=1; continue
  fi
  hash=$({ echo "$tools"; cat prove.sh "$fv"; grep -v '^;' "$work/$cell.smt2"; } |
    sha256sum | cut -c 1-16)
  if [ -n "$changed" ] && grep -qx "$cell $hash" $table 2>/dev/null; then
    printf '%-20s %s\n' "$cell" "proved before"
    continue
  fi
  before=$status; status=0
  found=$(grep -c yosys-smt2-assert "$work/$cell.smt2")
  count=$found; [ "$found" = "$want" ] || { count="$found!=$want"; status=1; }
  r_cover=$(mode "$work/$cell.cover" -c -t "$cover" "$work/$cell.smt2")
  r_induction=none
  [ "$induction" -gt 0 ] &&
    r_induction=$(mode "$work/$cell.induction" -i -t "$induction" "$work/$cell.smt2")
  r_bounded=$(mode "$work/$cell.bounded" -t "$bounded" "$work/$cell.smt2")
  case $r_cover$r_induction$r_bounded in *FAIL*) status=1 ;; esac
  printf '%-20s %10s %10s %10s %10s %7s\n' "$cell" "$count" "$r_bounded $bounded" \
    "$r_induction $induction" "$r_cover $cover" $(($(date +%s) - begin))
  for log in cover induction bounded; do
    [ -f "$work/$cell.$log" ] &&
      grep -hE 'Assert failed|Unreached cover' "$work/$cell.$log" | sed 's/^/    /' | head -n 4
  done
  sed -n 's/^\/\/ refuted by //p' "$fv" >"$work/$cell.mutants"
  n=0
  while read -r file name edit; do
    n=$((n + 1)); begin=$(date +%s); name=${name%:}; mutant=$work/${cell}_$n.sv; verdict=
    sed "$edit" "$file" >"$mutant"
    cmp -s "$file" "$mutant" && verdict="changes nothing"
    with=; for f in $files; do [ "$f" = "$file" ] && f=$mutant; with="$with $f"; done
    # shellcheck disable=SC2086
    [ -n "$verdict" ] || read_design "${cell}_$n" $with || verdict="Yosys refuses it"
    if [ -z "$verdict" ]; then
      mode "$work/${cell}_$n.bounded" -t "$bounded" "$work/${cell}_$n.smt2" >/dev/null
      verdict="NOT REFUTED"
      if grep -qE "Assert failed.*[.:/ ]$name" "$work/${cell}_$n.bounded"; then verdict=refuted; fi
    fi
    [ "$verdict" = refuted ] || status=1
    printf '    mutant %d: %s by %s, %s s\n' "$n" "$verdict" "$name" $(($(date +%s) - begin))
  done <"$work/$cell.mutants"
  [ $status != 0 ] || echo "$cell $hash" >"$work/$cell.proved"
  [ -z "$update" ] || put "$cell"
  [ $before = 0 ] || status=$before
done
exit $status

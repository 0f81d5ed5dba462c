#!/usr/bin/env bash
# Checks that commits change comments only: compares the code of each C++ and SystemVerilog file
# before and after, without comments and line breaks; --texts: also without contents of strings.
#
#   tb/support/same_code.sh [--texts] [COMMIT | FROM..TO]     default HEAD; a range commit by commit
set -eu
cd "$(dirname "$0")/../.."

usage() { sed -n '2,5s/^# \{0,1\}//p' "$0"; }
texts=0
range=HEAD
for a in "$@"; do
  case "$a" in
    -h|--help) usage; exit 0 ;;
    --texts) texts=1 ;;
    -*) printf '%s\n' "$0: no option '$a'; --help lists them" >&2; exit 2 ;;
    *) range=$a ;;
  esac
done
case "$range" in
  *..*) commits=$(git rev-list --reverse "$range") || exit 2 ;;
  *)
    commits=$(git rev-parse --verify --quiet "$range^{commit}") || {
      printf '%s\n' "$0: no commit '$range'" >&2
      exit 2
    } ;;
esac

# A quote starts a character literal only if one closes it; in 10'000, 1'b0 and '{...} it starts
# none.
code() {
  awk -v texts="$texts" '
    { all = all $0 "\n" }
    END {
      n = length(all); out = ""
      for (i = 1; i <= n;) {
        two = substr(all, i, 2); one = substr(two, 1, 1)
        if (two == "//") {
          e = index(substr(all, i), "\n"); i += e - 1
        } else if (two == "/*") {
          e = index(substr(all, i + 2), "*/"); i += e + 3; out = out " "
        } else if (two == "R\"") {
          rest = substr(all, i + 2); p = index(rest, "(")
          close_by = ")" substr(rest, 1, p - 1) "\""
          e = index(rest, close_by) + length(close_by) + 1
          out = out (texts ? "\"\"" : substr(all, i, e)); i += e
        } else if (one == "\"") {
          for (j = i + 1; (c = substr(all, j, 1)) != "\"" && j <= n; j++) if (c == "\\") j++
          out = out (texts ? "\"\"" : substr(all, i, j - i + 1)); i = j + 1
        } else if (one == "\x27" &&
                   match(substr(all, i, 8), /^\x27([^\x27\\]|\\[^\n\x27]+|\\\x27)\x27/)) {
          out = out substr(all, i, RLENGTH); i += RLENGTH
        } else {
          out = out one; i++
        }
      }
      gsub(/[ \t\n]+/, " ", out)
      sub(/^ /, "", out)  # a comment before the first token leaves one
      gsub(/ ?[][(){};,] ?/, "\n&\n", out)
      gsub(/ *\n */, "\n", out); gsub(/\n+/, "\n", out)
      if (texts) while (gsub(/"" ""/, "\"\"", out));
      print out
    }'
}

status=0
files=0
for c in $commits; do
  while IFS= read -r f; do
    files=$((files + 1))
    if ! diff <(git show "$c^:$f" | code) <(git show "$c:$f" | code) >/tmp/same_code.$$; then
      printf '%s\n' "$(git log -1 --format=%h "$c") $f: code differs"
      sed -n '1,12s/^/  /p' /tmp/same_code.$$
      status=1
    fi
  done < <(git diff --name-only --diff-filter=M "$c^" "$c" -- '*.cpp' '*.hpp' '*.sv' '*.svh')
done
rm -f /tmp/same_code.$$
[ $status != 0 ] || printf '%s\n' "$files files: words alone have changed"
exit $status

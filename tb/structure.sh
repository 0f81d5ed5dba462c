#!/usr/bin/env bash
# tb/structure.sh [CHECK...]: what must hold of the tree as a whole. Checks (without CHECK: all):
#
#   layers   sim, model and host-driver include nothing from tb
#   graph    no folder includes another in a circle; the graph is computed from the #include lines
#   circles  no file of sim, model, host-driver or tb/support includes another in a circle;
#            x.hpp and x.cpp count as one file
#   ports    no timed wrapper of the model includes another one: it has ports, which model/top
#            connects
#   cells    every cell of rtl/lib is instantiated by the device
#   lines    no line of code, scripts, CMake or Markdown has more than 100 characters. Exempt:
#            printed files (gen/), tables and fenced code of Markdown, mutants ("refuted by") of
#            rtl/formal
#   names    each page that a comment or a page names exists: docs/<name>.md, docs/gen/<name>,
#            docs/decisions/<number>. Each relative link of a page has its file and its heading
#   readmes  each file that the README.md of rtl, model, sim, tb or host-driver names in backquotes
#            exists; the table "Units" of rtl/README.md names every leaf
#   format   clang-format would change no C++ file (.clang-format; printed files have their own)
#
# tb/structure.sh --graph prints the edges: folder, folder that it includes, a file that does.
# tb/structure.sh --leaves prints the leaves of the RTL with a state machine that are no bench's
# top, with their streams. The unit's bench stalls the streams that are its ports; the cells of the
# build `stall` in that bench stall those inside it.
#
# In the model a unit has a folder of behaviour, with the timed wrapper <unit>_unit.hpp, .cpp. The
# wrappers include what all units share (model/top/units.hpp), and model/top includes them: for
# `graph` they are part of model/top.
# Prints one line a finding; exit status 0: all hold; 1: a finding; 2: wrong use.
set -u
cd "$(dirname "$0")/.." || exit 2

files() {  # files PATTERN...: those of the sources that match one of them
  find docs/spec host-driver model rtl sim tb -type f \( -name "$1" "${@:2}" \) | sort
}

tree() {  # each file and folder of this tree; of a build folder only its name
  { find . -maxdepth 1; find .ci docs host-driver model rtl sim tb; } | sed 's|^\./||' | sort -u
}

# FILE INCLUDED-FILE, a line for each #include "..." that names a file of this tree. The search
# order is the compiler's: the file's own folder, then the folders that CMake gives to each of our
# targets.
includes() {
  files '*.hpp' -o -name '*.cpp' | xargs awk '
    FNR == 1 { known[FILENAME] = 1; order[++n] = FILENAME }
    match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]+"/) {
      name = $0
      sub(/^[^"]*"/, "", name)
      sub(/".*/, "", name)
      from[++m] = FILENAME
      what[m] = name
    }
    END {
      count = split("model sim sim/app tb host-driver/include host-driver/src " \
                    "host-driver/programs docs/spec/tool", roots, " ")
      for (i = 1; i <= m; ++i) {
        own = from[i]
        sub(/[^\/]*$/, "", own)
        path = own what[i]
        for (k = 1; k <= count && !(path in known); ++k) path = roots[k] "/" what[i]
        if (path in known) print from[i], path
      }
    }'
}

edges() {  # FOLDER FOLDER FILE, one file for each edge
  includes | awk '
    function folder(file) {
      if (file ~ /^model\/[a-z_]+\/[a-z]+_unit\.[ch]pp$/) return "model/top"
      sub(/\/[^\/]*$/, "", file)
      return file
    }
    { a = folder($1); b = folder($2) }
    a != b && !((a, b) in seen) { seen[a, b] = 1; print a, b, $1 }'
}

layers() {
  includes | awk '
    $1 !~ /^tb\// && $2 ~ /^tb\// { print $1 ": includes " $2 " of tb"; found = 1 }
    END { exit found }'
}

# Removes folders that no folder includes, and those that include none, until nothing changes. The
# folders that are left lie on circles, or between two circles.
graph() {
  edges | awk '
    { from[NR] = $1; to[NR] = $2; file[NR] = $3; live[NR] = 1 }
    END {
      do {
        changed = 0
        split("", out)
        split("", into)
        for (i = 1; i <= NR; ++i) if (live[i]) { out[from[i]] = 1; into[to[i]] = 1 }
        for (i = 1; i <= NR; ++i) {
          if (live[i] && (!(from[i] in into) || !(to[i] in out))) { live[i] = 0; changed = 1 }
        }
      } while (changed)
      for (i = 1; i <= NR; ++i) {
        if (!live[i]) continue
        print file[i] ": " from[i] " includes " to[i] ", in a circle of folders"
        found = 1
      }
      exit found
    }'
}

# Removes files as graph() removes folders. Follows one include of each file that is left until a
# file repeats: that is a circle. Prints the circle, removes its last include and starts again. Each
# finding is an include that closes one more circle.
circles() {
  includes | awk '
    function node(file) { sub(/\.[ch]pp$/, "", file); return file }
    function is_checked(file) { return file ~ /^(sim|model|host-driver|tb\/support)\// }
    is_checked($1) && is_checked($2) && node($1) != node($2) && !((node($1), node($2)) in seen) {
      seen[node($1), node($2)] = 1
      from[++n] = node($1)
      to[n] = node($2)
      file[n] = $1
      live[n] = 1
    }
    END {
      for (;;) {
        do {
          changed = 0
          split("", out)
          split("", into)
          for (i = n; i >= 1; --i) if (live[i]) { out[from[i]] = i; into[to[i]] = 1; first = i }
          for (i = 1; i <= n; ++i) {
            if (live[i] && (!(from[i] in into) || !(to[i] in out))) { live[i] = 0; changed = 1 }
          }
        } while (changed)
        if (!(from[first] in out)) exit found
        split("", at)
        for (k = from[first]; !(k in at); k = to[out[k]]) at[k] = 1
        circle = k
        for (edge = out[k]; to[edge] != k; edge = out[to[edge]]) circle = circle " > " to[edge]
        print file[edge] ": closes a circle of files: " circle " > " k
        live[edge] = 0
        found = 1
      }
    }'
}

ports() {
  includes | awk '
    function unit(file) {
      if (file !~ /^model\/[a-z_]+\/[a-z]+_unit\.[ch]pp$/) return ""
      return substr(file, 1, length(file) - 4)
    }
    unit($1) != "" && unit($2) != "" && unit($1) != unit($2) {
      print $1 ": includes " $2 "; a unit sends through its ports (model/sc/port.hpp)"
      found = 1
    }
    END { exit found }'
}

# A cell counts if it is instantiated by a file of rtl that is not a cell, or by a cell that counts.
cells() {
  files '*.sv' | grep -v '^tb/\|^rtl/formal/' | xargs awk '
    FNR == 1 {
      self = FILENAME
      sub(/.*\//, "", self)
      sub(/\.sv$/, "", self)
      is_cell = FILENAME ~ /^rtl\/lib\//
      if (is_cell) cell[self] = 1
    }
    { line = $0; sub(/\/\/.*/, "", line) }
    match(line, /^ *[a-z][a-z0-9_]* (#\(|u_)/) {
      name = line
      sub(/^ */, "", name)
      sub(/ .*/, "", name)
      user[++n] = is_cell ? self : "device"
      used[n] = name
    }
    END {
      counts["device"] = 1
      do {
        changed = 0
        for (i = 1; i <= n; ++i) {
          if ((user[i] in counts) && !(used[i] in counts)) { counts[used[i]] = 1; changed = 1 }
        }
      } while (changed)
      for (c in cell) if (!(c in counts)) {
        print "rtl/lib/" c ".sv: no unit of the device uses this cell"
        found = 1
      }
      exit found
    }'
}

# Counts characters, not bytes. Under LC_ALL=C each awk counts bytes, so gsub() first removes the
# continuation bytes of UTF-8.
lines() {
  tree | grep -E '\.(sv|svh|cpp|hpp|sh|awk|cmake|md)$|(^|/)CMakeLists\.txt$' | grep -v '/gen/' |
    LC_ALL=C xargs awk '
      FNR == 1 { is_page = FILENAME ~ /\.md$/; fenced = 0 }
      is_page && /^ *```/ { fenced = !fenced; next }
      is_page && (fenced || /^ *\|/) { next }
      length($0) > 100 {
        if (FILENAME ~ /^rtl\/formal\// && /^\/\/ refuted by /) next
        line = $0
        gsub(/[\200-\277]/, "", line)
        if (length(line) <= 100) next
        print FILENAME ":" FNR ": " length(line) " characters; break the line at 100"
        found = 1
      }
      END { exit found }'
}

# Pages are read twice: first their headings, for the links to them.
names() {
  tree | LC_ALL=C awk '
    # A path without its "x/.." and "./".
    function plain(path) {
      gsub(/\/\.\//, "/", path)
      while (match(path, /[^\/]+\/\.\.(\/|$)/)) {
        path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
      }
      sub(/\/$/, "", path)
      return path
    }
    # The name of a heading in a link: lower case, "-" for spaces, no punctuation.
    function anchor(heading) {
      sub(/^#+ +/, "", heading)
      heading = tolower(heading)
      gsub(/[^a-z0-9 _-]/, "", heading)
      gsub(/ /, "-", heading)
      return heading
    }
    function headings(page,   line, fenced, name) {
      fenced = 0
      while ((getline line < page) > 0) {
        if (line ~ /^ *```/) fenced = !fenced
        if (fenced || line !~ /^#+ /) continue
        name = anchor(line)
        if ((page, name) in has) name = name "-" ++again[page, name]
        has[page, name] = 1
      }
      close(page)
    }
    function complain(text) { print file ":" at ": " text; found = 1 }
    # Names such as docs/errors.md, in any text. ".../docs/x" is the page of another tree.
    function check_names(line,   before, name) {
      while (match(line, /docs\/[A-Za-z0-9_.\/-]+/)) {
        before = substr(line, 1, RSTART - 1)
        name = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        if (before ~ /[A-Za-z0-9_}\/-]$/ && before !~ /\.\.\/$/) continue
        sub(/[.\/-]+$/, "", name)
        if (name in known) continue
        if (name ~ /^docs\/decisions\/[0-9][0-9][0-9][0-9]$/ && (name in decision)) continue
        if (name ~ /\.md$|^docs\/(gen|decisions)\//) {
          complain("names " name ", which does not exist; correct the name")
        }
      }
    }
    function check_links(line,   link, path, name) {
      gsub(/`[^`]*`/, "", line)
      while (match(line, /\]\([^() ]+\)/)) {
        link = substr(line, RSTART + 2, RLENGTH - 3)
        line = substr(line, RSTART + RLENGTH)
        if (link ~ /^[a-z]+:/) continue
        path = link
        sub(/#.*/, "", path)
        path = path == "" ? file : plain(folder path)
        name = ""
        if (link ~ /#/) { name = link; sub(/^[^#]*#/, "", name) }
        if (path != "" && !(path in known)) {
          complain("links to " link ", but there is no " path "; correct the link")
        } else if (name != "" && path ~ /\.md$/ && !((path, name) in has)) {
          complain("links to " link ", but " path " has no such heading; correct the link")
        }
      }
    }
    { known[$0] = 1 }
    /^docs\/decisions\/[0-9][0-9][0-9][0-9]-/ { decision[substr($0, 1, 19)] = 1 }
    /\.md$/ { headings($0) }
    /\.(md|sv|svh|vlt|cpp|hpp|sh|awk|cmake|yaml|txt)$/ { text[++n] = $0 }
    END {
      for (i = 1; i <= n; ++i) {
        file = text[i]
        folder = file
        sub(/[^\/]*$/, "", folder)
        fenced = 0
        for (at = 1; (getline line < file) > 0; ++at) {
          if (line ~ /docs\//) check_names(line)
          if (file !~ /\.md$/) continue
          if (line ~ /^ *```/) fenced = !fenced
          if (!fenced && line ~ /\]\(/) check_links(line)
        }
        close(file)
      }
      exit found
    }'
}

# A name with a folder is a path from the top, or from the folder of the README. A name without one
# is a file anywhere in that folder. In a row of the table "Units", `_x` is the leaf <unit>_x, or
# <leaf>_x of a leaf <leaf> that the row names in full.
readmes() {
  tree | awk '
    function complain(text) { print file ":" at ": " text; found = 1 }
    function check_file(name) {
      sub(/ .*/, "", name)
      if (name !~ /^[A-Za-z0-9][A-Za-z0-9_.\/-]*$/) return
      if (name ~ /\//) {
        sub(/\/$/, "", name)
        if ((name in known) || ((folder "/" name) in known)) return
        complain("names " name ", which is neither at the top nor in " folder "; correct it")
      } else if (name ~ /\.(sv|svh|vlt|cpp|hpp|sh|awk|cmake|md|txt)$/) {
        if (!((folder, name) in below)) {
          complain("names " name ", but " folder " has no such file; correct the name")
        }
      }
    }
    function check_leaf(unit, word,   i, any, leaf) {
      any = 0
      for (i = 0; i <= full; ++i) {
        leaf = word ~ /^_/ ? (i ? base[i] : unit) word : word
        if (!(("rtl/" unit "/" leaf ".sv") in known)) continue
        named[unit, leaf] = 1
        any = 1
        if (word !~ /^_/) { base[++full] = leaf; break }
      }
      if (!any) complain("names the leaf " word ", but " unit " has none; correct the name")
    }
    {
      known[$0] = 1
      folder = $0
      sub(/\/.*/, "", folder)
      name = $0
      sub(/.*\//, "", name)
      below[folder, name] = 1
    }
    /^rtl\/[a-z_]+\/[a-z0-9_]+\.sv$/ { rtl[++n] = $0 }
    END {
      count = split("rtl model sim tb host-driver", folders, " ")
      for (k = 1; k <= count; ++k) {
        folder = folders[k]
        file = folder "/README.md"
        fenced = 0
        for (at = 1; (getline line < file) > 0; ++at) {
          if (line ~ /^ *```/) fenced = !fenced
          if (fenced) continue
          if (line ~ /^#/) in_units = folder == "rtl" && line ~ /^## Units/
          words = split(line, part, "`")
          unit = ""
          full = 0
          if (in_units && line ~ /^\| `/ && (("rtl/" part[2] "/" part[2] ".sv") in known)) {
            unit = part[2]
          }
          for (i = 2; i <= words; i += 2) {
            if (unit != "" && i > 2) check_leaf(unit, part[i])
            else check_file(part[i])
          }
        }
      }
      for (i = 1; i <= n; ++i) {
        split(rtl[i], part, "/")
        unit = part[2]
        leaf = part[3]
        sub(/\.sv$/, "", leaf)
        if (leaf == unit || !(("rtl/" unit "/" unit ".sv") in known)) continue
        if ((unit, leaf) in named) continue
        print rtl[i] ": rtl/README.md does not name this leaf; add it to its table \"Units\""
        found = 1
      }
      exit found
    }'
}

leaves() {
  tops=$(grep -rhoE "TOP [a-z_0-9]+" --include=CMakeLists.txt tb | awk '{ print $2 }' | sort -u)
  for leaf in $(grep -lE "^ *typedef enum logic" rtl/*/*.sv |
                grep -vE "^rtl/(lib|gen|stall|formal|lint)/" | sort); do
    name=$(basename "$leaf" .sv)
    unit=$(basename "$(dirname "$leaf")")
    echo "$tops" | grep -qx "$name" && continue
    # In the instance of the leaf, a stream that is a port of the unit connects to a name that ends
    # in _i or _o, or is written as `.name` alone: then the unit's port has the same name.
    cat "rtl/$unit"/*.sv | awk -v leaf="$name" -v unit="$unit" -v file="$leaf" '
      { sub(/\/\/.*/, "") }
      $0 ~ "^ *" leaf " (#\\(|u_)" { inside = 1 }
      inside {
        line = $0
        while (match(line, /\.[a-z0-9_]*valid_[io](\([^)]*\))?/)) {
          port = substr(line, RSTART, RLENGTH)
          line = substr(line, RSTART + RLENGTH)
          ++all
          if (port ~ /\(/ && port !~ /_[io](\[[^]]*\])?\)$/) ++inner
        }
      }
      inside && /\);/ { inside = 0 }
      END {
        print file ": in tb/" unit "; " all + 0 " streams, " inner + 0 " of them inside " unit
      }'
  done
}

format() {
  command -v clang-format >/dev/null || {
    echo "tb/structure.sh: clang-format is missing (apt-get install clang-format)"
    return 1
  }
  wrong=$(files '*.hpp' -o -name '*.cpp' | xargs -P 2 -n 40 clang-format --dry-run 2>&1 |
    sed -nE 's/^([^:]+):([0-9]+):[0-9]+: warning.*/\1 \2/p' |
    awk '
      !($1 in first) { first[$1] = $2 }
      END {
        for (f in first) print f ":" first[f] ": clang-format -i would change this file"
      }' | sort)
  [ -z "$wrong" ] || { printf '%s\n' "$wrong"; return 1; }
}

all="layers graph circles ports cells lines names readmes format"
checks=""
for a in "$@"; do
  case "$a" in
    -h|--help) awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "tb/structure.sh"; exit 0 ;;
    --graph) edges; exit 0 ;;
    --leaves) leaves; exit 0 ;;
    *)
      case " $all " in *" $a "*) checks="$checks $a"; continue ;; esac
      echo "tb/structure.sh: no check called '$a'; $(echo $all | sed 's/ /, /g')" >&2
      exit 2 ;;
  esac
done
status=0
for check in ${checks:-$all}; do
  if "$check"; then echo "structure: $check holds"
  else echo "structure: $check FAILED"; status=1; fi
done
exit $status

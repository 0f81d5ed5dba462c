# Of the tests that differ only in their devices: all of models alone, and one with RTL, each time of the next kind. Without the
# longest. Reads what `ctest -N` prints, and prints the numbers for `ctest -I` (without -L: it would count the labelled ones only).
#
#   ctest -N -L system | awk -f tb/support/chosen.awk > numbers && ctest -I numbers

# The name without its devices and their build.
function case_of(name, before) {
  gsub(/[_\/]build_(minimum|stall)/, "", name)
  gsub(/_stall_percent_[0-9]+/, "", name)
  do {
    before = name
    sub(/[_\/](model|rtl|tandem)(_minimum|_stall)?$/, "", name)
    sub(/_(model|rtl|tandem)(_minimum|_stall)?_/, "_", name)
  } while (name != before)
  return name
}

# Long ones whose like is run: copies and searches, crashes of the other methods, random loads (also in the step regress).
function is_long(name) {
  return name ~ /^SearchCommand.FindsNamesAndResumes$|^Rates.OfAnyLoadOnRtl|^Cli.Copy|^SweepCommand.ShowsModelBesideRtl$/ ||
         name ~ /^Rtl\/Crash.ARealCut.*\/(write_only|read|send)_|^Cli.(WhatCannotGoOn|ColumnsOfTheCsv)|_seed(30000|2000|5000)$|^Programs\/TandemTest.*_build_minimum$/
}

match($0, /^ *Test +#[0-9]+: /) {
  name = substr($0, RLENGTH + 1)
  number = $0
  sub(/^ *Test +#/, "", number)
  sub(/:.*/, "", number)
  what = case_of(name)
  if (is_long(name)) long[number]
  if (name == what || name !~ /[_\/](rtl|tandem)/) {
    print_number(number)
    next
  }
  if (!(what in count)) cases[++cases_seen] = what
  with_rtl[what, ++count[what]] = number
}
function print_number(n) { if (!(n in long)) numbers = numbers "," n }
END {
  for (i = 1; i <= cases_seen; i++) print_number(with_rtl[cases[i], (i % count[cases[i]]) + 1])
  print "0,0,0" numbers
}

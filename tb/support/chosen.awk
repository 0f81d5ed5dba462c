# Chooses the system tests of CI: what `ctest -N` prints becomes the argument of `ctest -I`.
#
#   ctest -N -L system | awk -v turn=N -f tb/support/chosen.awk > chosen && ctest -I chosen
#
# It chooses every test whose name has no devices, and every test on models alone. The other tests
# run on RTL or in tandem. They form groups: the tests of a group differ only in their devices and
# builds. The script numbers the groups in the order of `ctest -N`. It takes every fifth group, and
# one test of each group that it takes. N mod 5 selects the groups; N div 5 shifts which test of a
# group it takes. It leaves out the longest tests (is_long), even those that N selects.
# N is the first 24 bits of the commit's hash. So a commit always runs the same tests. N is as good
# as random: many commits together cover all tests but the longest.
# The second ctest has no -L: with it, -I counts only the tests of that label.

# The name without its devices and their build. A name may have two devices (client and server), so
# the loop goes on until nothing is left to remove.
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

# Tests of more than 20 s each, which CI never runs. Shorter tests cover the same code. The steps
# regress, crash and system-all of tb/run.sh run the long ones or more of their kind.
function is_long(name) {
  return name ~ /^SearchCommand.FindsNamesAndResumes$|^SweepCommand.ShowsModelBesideRtl$/ ||
         name ~ /^Rates.OfAnyLoadOnRtl|^Cli.(Copy|WhatCannotGoOn|ColumnsOfTheCsv)/ ||
         name ~ /^Rtl\/Crash.ARealCut.*\/(write_only|read|send)_|_seed(30000|2000|5000|9100253)$/ ||
         name ~ /^Programs\/TandemTest.*_build_minimum$/
}

# A line of ctest -N: "  Test  #12: Suite.Name". `what`: the name of its group. with_rtl holds the
# numbers of the tests of each group; cases holds the groups in order.
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
  for (i = 1 + turn % 5; i <= cases_seen; i += 5) {  # kind: which test of group i, from 1
    kind = (int(i / 5) + int(turn / 5)) % count[cases[i]] + 1
    print_number(with_rtl[cases[i], kind])
  }
  if (numbers == "") exit 1
  print "0,0,0" numbers  # start, end and stride of ctest -I: no range, only the numbers
}

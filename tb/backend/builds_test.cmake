# Tests sim/backend/builds.cmake, the code of RNIC_BUILDS, without a compiler: the line that it
# prints for each mistake, and the SystemVerilog package and the rows of C++ that it writes.
#
#   cmake -P tb/backend/builds_test.cmake      from the top of the repository
cmake_policy(VERSION 3.25)
set(root ${CMAKE_CURRENT_LIST_DIR}/../..)
set(out ${CMAKE_CURRENT_BINARY_DIR}/builds_test)
set(failures 0)

macro(fail text)
  message(" ${text}")
  math(EXPR failures "${failures} + 1")
endmacro()

# Runs builds.cmake; sets `status`, and `said`: everything that it prints.
function(run builds)
  file(REMOVE_RECURSE ${out})
  execute_process(
    COMMAND ${CMAKE_COMMAND} "-DRNIC_BUILDS=${builds}" -DOUT=${out}
      -P ${root}/sim/backend/builds.cmake
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  set(status ${status} PARENT_SCOPE)
  set(said "${said}" PARENT_SCOPE)
endfunction()

# builds.cmake must fail with exactly this line, and write nothing.
function(refused builds line)
  run("${builds}")
  string(REGEX MATCHALL "RNIC_BUILDS: [^\n]*" lines "${said}")
  if(status EQUAL 0 OR NOT "RNIC_BUILDS: ${line}" STREQUAL "${lines}" OR EXISTS ${out})
    fail("refused \"${builds}\": status ${status}, \"${lines}\" instead of \"${line}\"")
  endif()
  set(failures ${failures} PARENT_SCOPE)
endfunction()

# builds.cmake must succeed and print exactly this text.
function(accepted builds text)
  run("${builds}")
  if(NOT status EQUAL 0 OR NOT text STREQUAL said)
    fail("accepted \"${builds}\": status ${status}, \"${said}\" instead of \"${text}\"")
  endif()
  set(failures ${failures} PARENT_SCOPE)
endfunction()

# Name.
refused("deep" "\"deep\" is not NAME:SIZE=VALUE,SIZE=VALUE")
refused("deep:" "\"deep:\" is not NAME:SIZE=VALUE,SIZE=VALUE")
refused(":sq_slots=8" "name \"\": only a-z, 0-9 and _")
refused("Deep:sq_slots=8" "name \"Deep\": only a-z, 0-9 and _")
refused("a-b:sq_slots=8" "name \"a-b\": only a-z, 0-9 and _")
refused("../a:sq_slots=8" "name \"../a\": only a-z, 0-9 and _")
refused("stall:sq_slots=8" "name \"stall\": this build always exists, choose another name")
refused("a:sq_slots=8;b:sq_slots=7;a:sq_slots=6" "name \"a\" twice")
# Size.
refused("a:sq_slots" "a: \"sq_slots\" is not SIZE=VALUE")
refused("a:sq_slots=8," "a: \"\" is not SIZE=VALUE")
refused("a:sq_slots=8,sq_slots=8" "a: sq_slots twice")
run("a:sq_slot=8")
set(text "RNIC_BUILDS: a: no size \"sq_slot\"; one of num_qps, [^\n]*, beat_depth\n")
if(status EQUAL 0 OR NOT said MATCHES "${text}")
  fail("unknown size: \"${said}\"")
endif()
# Value.
refused("a:sq_slots=x" "a: sq_slots=x: not a whole number (1 to 8)")
refused("a:sq_slots=-1" "a: sq_slots=-1: not a whole number (1 to 8)")
refused("a:sq_slots=08" "a: sq_slots=08: not a whole number (1 to 8)")
refused("a:sq_slots=0" "a: sq_slots=0: not from 1 to 8")
refused("a:sq_slots=9" "a: sq_slots=9: not from 1 to 8")
refused("a:sq_slots=18446744073709551617" "a: sq_slots=18446744073709551617: not from 1 to 8")
refused("a:sq_prefetch=24" "a: sq_prefetch=24: not a power of two (4 to 64)")
refused("good:sq_slots=8;a:num_qps=3" "a: num_qps=3: not a power of two (2 to 8192)")

accepted("" "")
accepted("deep:sq_slots=8,sq_prefetch=64;narrow_2:num_qps=64;"
  "deep: sq_slots=8, sq_prefetch=64\nnarrow_2: num_qps=64\n")
file(READ ${out}/rtl_builds.inc rows)
set(expected "RNIC_BUILD(deep, \"sq_slots=8, sq_prefetch=64\", ")
string(APPEND expected "{&spec::Sizes::sq_slots, 8U}, {&spec::Sizes::sq_prefetch, 64U})\n"
  "RNIC_BUILD(narrow_2, \"num_qps=64\", {&spec::Sizes::num_qps, 64U})\n")
string(FIND "${rows}" "${expected}" found)
if(found EQUAL -1)
  fail("rtl_builds.inc: ${rows}")
endif()

# The package has each given size, and differs from the default's in nothing else.
file(READ ${root}/rtl/gen/rnic_pkg.sv expected)
file(READ ${out}/deep/rnic_pkg.sv package)
string(REGEX REPLACE "SqSlots = [0-9]+;" "SqSlots = 8;" expected "${expected}")
string(REGEX REPLACE "SqPrefetch = [0-9]+;" "SqPrefetch = 64;" expected "${expected}")
if(NOT package STREQUAL expected)
  fail("deep/rnic_pkg.sv is not rtl/gen/rnic_pkg.sv with SqSlots = 8 and SqPrefetch = 64")
endif()

# Each size of docs/spec/sizes.yaml can be given, at its least and at its greatest value.
file(STRINGS ${root}/docs/spec/sizes.yaml all REGEX "^  [a-z_]+: {default: ")
set(count 0)
foreach(bound min max)
  set(sizes "")
  foreach(line IN LISTS all)
    if(line MATCHES "^  ([a-z_]+): .* ${bound}: ([0-9]+),")
      list(APPEND sizes ${CMAKE_MATCH_1}=${CMAKE_MATCH_2})
    endif()
  endforeach()
  list(LENGTH sizes n)
  math(EXPR count "${count} + ${n}")
  list(JOIN sizes ", " text)
  list(JOIN sizes "," sizes)
  accepted("all:${sizes}" "all: ${text}\n")
endforeach()
if(count LESS 40)  # fewer: the pattern does not match the lines of sizes.yaml
  fail("sizes.yaml: only ${count} bounds found")
endif()

file(REMOVE_RECURSE ${out})
if(failures)
  message(FATAL_ERROR "${failures} failures")
endif()

# The functions of our CMakeLists.txt files.
#
#   rnic_need(model/mpa)              adds this folder, unless it was added before
#   rnic_verilate(TARGET Mpa TOP mpa SOURCES rtl/mpa/*.sv
#                 [PARAMS -GDepth=4] [ARGS -Wno-X] [MINIMUM] [STALL] [COVER] [WAVES] [PREFIX VX]
#                 [SIZES own/rnic_pkg.sv])
#                                     class VMpa (PREFIX: another name); link with target Mpa.
#                                     MINIMUM: sizes of the minimum build. STALL: inner streams
#                                     stall at random (rtl/stall). COVER: with the cover points
#                                     (RNIC_COVER). WAVES: with waveforms, also if RNIC_BENCH_WAVES
#                                     is OFF. SIZES: this package instead of rtl/gen/rnic_pkg.sv
#   rnic_test(NAME mpa_test SOURCES mpa_test.cpp LIBS Mpa rnic::mpa [LABEL fast|system]
#             [TIMEOUT 120])            default LABEL fast; TIMEOUT in seconds, for each test
#
# Targets: rnic::base rnic::spec rnic::tb_support rnic::verilated rnic::systemc
include_guard(GLOBAL)

function(rnic_need dir)
  get_property(added GLOBAL PROPERTY RNIC_ADDED)
  if(dir IN_LIST added)
    return()
  endif()
  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${dir}/CMakeLists.txt)
    message(FATAL_ERROR "rnic_need(${dir}): there is no ${dir}/CMakeLists.txt")
  endif()
  set_property(GLOBAL APPEND PROPERTY RNIC_ADDED ${dir})
  add_subdirectory(${CMAKE_SOURCE_DIR}/${dir} ${CMAKE_BINARY_DIR}/${dir})
endfunction()

# Verilator's runtime, compiled once. Headers are SYSTEM: our warnings do not apply to them.
# Clang compiles Verilated code in less than half the time of g++, and the device runs as fast.
find_program(RNIC_VERILATED_CXX NAMES clang++ g++ REQUIRED)
find_program(VERILATOR_BIN verilator_bin verilator REQUIRED)
find_path(VERILATOR_INCLUDE verilated.h PATHS /usr/share/verilator/include
  /usr/local/share/verilator/include REQUIRED)
add_library(rnic_verilated STATIC
  ${VERILATOR_INCLUDE}/verilated.cpp ${VERILATOR_INCLUDE}/verilated_fst_c.cpp
  ${VERILATOR_INCLUDE}/verilated_threads.cpp ${VERILATOR_INCLUDE}/verilated_cov.cpp)
add_library(rnic::verilated ALIAS rnic_verilated)
target_include_directories(rnic_verilated SYSTEM
  PUBLIC ${VERILATOR_INCLUDE} ${VERILATOR_INCLUDE}/vltstd)
# For backend/rtl_coverage.hpp.
target_include_directories(rnic_verilated PUBLIC ${CMAKE_SOURCE_DIR}/sim)
target_compile_definitions(rnic_verilated PUBLIC VM_COVERAGE=1 VM_SC=0 VM_TRACE=1
  VM_TRACE_FST=1 VM_TRACE_VCD=0)
target_compile_options(rnic_verilated PRIVATE -w -O2 -fno-sanitize=all)  # third-party code
target_link_libraries(rnic_verilated PUBLIC Threads::Threads ZLIB::ZLIB)

# SystemC has no CMake package. It is built as C++17 and does not link with another standard. Only
# these lines set the standard for it.
find_library(SYSTEMC_LIBRARY systemc)
find_path(SYSTEMC_INCLUDE systemc)
if(SYSTEMC_LIBRARY AND SYSTEMC_INCLUDE)
  add_library(rnic_systemc INTERFACE)
  add_library(rnic::systemc ALIAS rnic_systemc)
  target_include_directories(rnic_systemc SYSTEM INTERFACE ${SYSTEMC_INCLUDE})
  target_compile_definitions(rnic_systemc INTERFACE SC_CPLUSPLUS=201703L
    SC_INCLUDE_DYNAMIC_PROCESSES)
  target_link_libraries(rnic_systemc INTERFACE ${SYSTEMC_LIBRARY} Threads::Threads)
endif()

# rnic_sources(OUT file...): sets OUT to the files' absolute paths. A file is relative to the
# caller's folder or else to the top of the repository; patterns are expanded. A file with an
# absolute path need not exist yet.
function(rnic_sources out)
  set(all "")
  foreach(pattern ${ARGN})
    if(IS_ABSOLUTE ${pattern})  # a command generates it
      list(APPEND all ${pattern})
      continue()
    endif()
    foreach(base ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_SOURCE_DIR})
      file(GLOB found CONFIGURE_DEPENDS ${base}/${pattern})
      if(found)
        break()
      endif()
    endforeach()
    if(NOT found AND NOT pattern MATCHES "[*]")
      message(FATAL_ERROR
        "${pattern}: no such file in ${CMAKE_CURRENT_SOURCE_DIR} or ${CMAKE_SOURCE_DIR}")
    endif()
    list(APPEND all ${found})
  endforeach()
  list(REMOVE_DUPLICATES all)
  set(${out} ${all} PARENT_SCOPE)
endfunction()

# Verilator runs at build time, not at configuration: a module with lint errors stops only its own
# bench. RNIC_VERILATED: another build folder of this tree; its Verilated code is used unchanged (a
# build with sanitizers need not generate it again).
set(RNIC_VERILATED "" CACHE PATH
  "Build folder whose Verilated libraries are used; empty: made here")
function(rnic_verilate)
  cmake_parse_arguments(V "MINIMUM;STALL;COVER;WAVES" "TARGET;TOP;PREFIX;SIZES"
    "SOURCES;PARAMS;ARGS" ${ARGN})
  if(V_UNPARSED_ARGUMENTS OR NOT V_TARGET OR NOT V_TOP OR NOT V_SOURCES)
    message(FATAL_ERROR
      "rnic_verilate(TARGET name TOP module SOURCES ... [PARAMS ...] [ARGS ...] [MINIMUM] "
      "[STALL] [COVER] [WAVES] [SIZES package])")
  endif()
  set(prefix V${V_TARGET})
  if(V_PREFIX)
    set(prefix ${V_PREFIX})
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${prefix})
  if(RNIC_VERILATED)
    file(RELATIVE_PATH own ${CMAKE_BINARY_DIR} ${dir})
    set(dir ${RNIC_VERILATED}/${own})
  endif()
  set(archive ${dir}/${prefix}__ALL.a)
  if(RNIC_VERILATED)
    add_library(${V_TARGET} INTERFACE)
    target_include_directories(${V_TARGET} SYSTEM INTERFACE ${dir})
    target_link_libraries(${V_TARGET} INTERFACE ${archive} rnic::verilated)
    return()
  endif()
  file(MAKE_DIRECTORY ${dir})
  rnic_sources(sources ${V_SOURCES})
  file(GLOB packages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rtl/gen/*_pkg.sv)
  if(V_SIZES)
    list(TRANSFORM packages REPLACE "^.*/rnic_pkg\\.sv$" ${V_SIZES})
  endif()
  file(GLOB shared CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rtl/gen/*.sv
    ${CMAKE_SOURCE_DIR}/rtl/lib/*.sv*)
  # rnic.sv is the whole chip. A target that verilates it names it in its SOURCES.
  list(REMOVE_ITEM shared ${CMAKE_SOURCE_DIR}/rtl/gen/rnic.sv)
  file(GLOB waivers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rtl/lint/waivers.vlt)
  list(REMOVE_ITEM sources ${packages})

  set(flags --cc --Mdir ${dir} --prefix ${prefix} --top-module ${V_TOP} -Wall --assert
    -O3 --x-assign fast --x-initial unique --output-split 8000 +incdir+rtl/lib -y rtl/lib
    -y rtl/gen)
  if(V_WAVES OR RNIC_BENCH_WAVES OR NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "^${CMAKE_SOURCE_DIR}/tb/")
    list(APPEND flags --trace-fst --trace-structs)
  endif()
  if(V_MINIMUM)
    list(APPEND flags +define+RNIC_MINIMUM)
  endif()
  if(V_STALL)
    list(APPEND flags +define+RNIC_STALL -y rtl/stall)
    list(APPEND packages ${CMAKE_SOURCE_DIR}/rtl/stall/rnic_stall_pkg.sv)
    list(APPEND shared ${CMAKE_SOURCE_DIR}/rtl/stall/stream_stall.sv)
  endif()
  if(RNIC_COVERAGE)
    list(APPEND flags --coverage-line --coverage-user)
  elseif(V_COVER)  # RNIC_COVER
    list(APPEND flags --coverage-user)
  endif()
  # Paths go into the C++ (assertions name their file). They are relative, so that ccache hits in
  # another folder.
  set(read ${V_ARGS} ${waivers} ${packages} ${sources})
  list(TRANSFORM read REPLACE "^${CMAKE_SOURCE_DIR}/" "")
  add_custom_command(
    OUTPUT ${archive} ${dir}/${prefix}.h ${dir}/${prefix}___024root.h
    COMMAND ${VERILATOR_BIN} ${flags} ${V_PARAMS} ${read}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    COMMAND make -s -j${RNIC_MAKE_JOBS} -C ${dir} -f ${prefix}.mk CXX=${RNIC_VERILATED_CXX}
      OBJCACHE=${CCACHE} "OPT_FAST=-O1 -w" "OPT_SLOW=-O0 -w" ${prefix}__ALL.a
    DEPENDS ${sources} ${packages} ${shared} ${waivers}
    COMMENT "Verilating ${prefix} (${V_TOP})" VERBATIM)
  add_custom_target(${V_TARGET}_verilated DEPENDS ${archive})
  add_library(${V_TARGET} INTERFACE)
  add_dependencies(${V_TARGET} ${V_TARGET}_verilated)
  target_include_directories(${V_TARGET} SYSTEM INTERFACE ${dir})
  target_link_libraries(${V_TARGET} INTERFACE ${archive} rnic::verilated)
endfunction()

function(rnic_test)
  cmake_parse_arguments(T "" "NAME;LABEL;TIMEOUT" "SOURCES;LIBS" ${ARGN})
  if(NOT T_LABEL)
    set(T_LABEL fast)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(${T_NAME} ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE ${T_LIBS} rnic::tb_support)
  # Two files of a test may define the same name, so they are not compiled as one.
  set_target_properties(${T_NAME} PROPERTIES UNITY_BUILD OFF)
  # -O0: a test is compiled once and run once, and compiling takes longer than running.
  target_compile_options(${T_NAME} PRIVATE $<$<CONFIG:Release>:-O0>)
  # Test names use the bench's parameter names, not the bytes of the parameter.
  gtest_discover_tests(${T_NAME} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    PROPERTIES LABELS ${T_LABEL} TIMEOUT ${T_TIMEOUT})
endfunction()

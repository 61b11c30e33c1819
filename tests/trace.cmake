# The importers of trace/: unit tests, and the fuzz targets with their corpora.
vs_test(addrmap USES trace)
vs_test(pickle USES trace)
vs_test(pickle_runs USES trace)
vs_test(snapshot USES trace)
vs_test(json_parse USES trace)
vs_test(profiler USES trace)
vs_test(memory_timeline USES analysis trace)
vs_test(smi USES analysis trace)
vs_test(nsight USES analysis trace PRIVATE PkgConfig::SQLITE)
vs_test(pprof USES analysis trace)
vs_test(protobuf USES trace)

# replay_NAME runs the corpus under any compiler in ctest; fuzz_NAME is the libFuzzer program (clang, VRAMSIM_FUZZ).
if(VRAMSIM_FUZZ)
  target_compile_options(vs_trace PRIVATE -fsanitize=fuzzer-no-link)
endif()
foreach(name pickle snapshot vrt)
  add_executable(replay_${name} fuzz/fuzz_${name}.c fuzz/driver.c)
  target_compile_definitions(replay_${name} PRIVATE _POSIX_C_SOURCE=200809L)
  vs_quote_dir(replay_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support)
  target_link_libraries(replay_${name} PRIVATE vs_trace vs_flags)
  set_target_properties(replay_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME replay_${name} COMMAND replay_${name} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpora/${name})
  if(VRAMSIM_FUZZ)
    add_executable(fuzz_${name} fuzz/fuzz_${name}.c)
    vs_quote_dir(fuzz_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support)
    target_link_libraries(fuzz_${name} PRIVATE vs_trace vs_flags)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
endforeach()

# One program an importer: its bytes reach no other, however the fuzzer changes them.
foreach(name json profiler memory_timeline smi smi_monitor nsight pprof)
  add_executable(replay_${name} fuzz/fuzz_importer.c fuzz/driver.c)
  target_compile_definitions(replay_${name} PRIVATE _POSIX_C_SOURCE=200809L IMPORTER=importer_${name})
  target_link_libraries(replay_${name} PRIVATE vs_trace vs_flags)
  set_target_properties(replay_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME replay_${name} COMMAND replay_${name} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpora/${name})
  if(VRAMSIM_FUZZ)
    add_executable(fuzz_${name} fuzz/fuzz_importer.c)
    target_compile_definitions(fuzz_${name} PRIVATE IMPORTER=importer_${name})
    target_link_libraries(fuzz_${name} PRIVATE vs_trace vs_flags)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
endforeach()

if(Python3_FOUND) # `importers_python.py PROGRAM COUNT SEED [FILE...]` for a longer run
  add_test(NAME importers_python COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/prop/importers_python.py
    $<TARGET_FILE:vramsim> 12 1 ${CMAKE_CURRENT_SOURCE_DIR}/data/traces/memory_timeline_raw.json.gz
    ${CMAKE_CURRENT_SOURCE_DIR}/data/profiles/mlp.timeline.raw.json.gz ${CMAKE_CURRENT_SOURCE_DIR}/data/profiles/mlp_whole.json.zst
    ${CMAKE_CURRENT_SOURCE_DIR}/data/snapshots ${CMAKE_CURRENT_SOURCE_DIR}/data/traces)
endif()

# The program's own commands on mutants of real files; `hostile -n MUTANTS -s SEED SCENARIO.lua FILE...` for a longer run.
get_target_property(cli_sources vramsim SOURCES)
list(TRANSFORM cli_sources PREPEND ${CMAKE_SOURCE_DIR}/sim/cli/)
get_target_property(cli_uses vramsim LINK_LIBRARIES)
add_executable(hostile fuzz/hostile.c ${cli_sources})
vs_quote_dir(hostile PRIVATE ${CMAKE_SOURCE_DIR}/sim/cli)
vs_quote_dir(hostile PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support)
target_compile_definitions(hostile PRIVATE _DEFAULT_SOURCE _POSIX_C_SOURCE=200809L VRAMSIM_VERSION="0")
set_source_files_properties(${CMAKE_SOURCE_DIR}/sim/cli/vramsim.c TARGET_DIRECTORY hostile PROPERTIES
  COMPILE_DEFINITIONS main=vramsim_main COMPILE_OPTIONS -Wno-missing-prototypes)
target_link_libraries(hostile PRIVATE ${cli_uses})
set_target_properties(hostile PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME hostile_files COMMAND hostile -n 6 ${CMAKE_SOURCE_DIR}/scenarios/mlp.lua profiles/mlp_whole.json.zst
  profiles/mlp_late_2021.json.zst profiles/mlp.timeline.json.zst profiles/mlp.timeline.raw.json.gz profiles/samples.csv
  profiles/jax.prof snapshots/host_and_pools.pickle.zst traces/pytorch-2.15/mlp_sgd.pickle.zst
  ../fuzz/corpora/nsight/plain ../fuzz/corpora/vrt/packed ../fuzz/corpora/vrt/capture
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/data)
set_tests_properties(hostile_files PROPERTIES ENVIRONMENT
  "VRAMSIM_LIB=${CMAKE_SOURCE_DIR}/scenarios/lib;ASAN_OPTIONS=exitcode=99" TIMEOUT 300)

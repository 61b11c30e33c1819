# The importers of trace/: unit tests, and the fuzz targets with their corpora.
vs_test(addrmap USES trace)
vs_test(pickle USES trace)
vs_test(snapshot USES trace)

# replay_NAME runs the corpus under any compiler in ctest; fuzz_NAME is the libFuzzer program (clang, VRAMSIM_FUZZ).
foreach(name pickle snapshot)
  add_executable(replay_${name} fuzz/fuzz_${name}.c fuzz/driver.c)
  target_compile_definitions(replay_${name} PRIVATE _POSIX_C_SOURCE=200809L)
  target_link_libraries(replay_${name} PRIVATE vs_trace vs_flags)
  set_target_properties(replay_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME replay_${name} COMMAND replay_${name} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpora/${name})
  if(VRAMSIM_FUZZ)
    add_executable(fuzz_${name} fuzz/fuzz_${name}.c)
    target_link_libraries(fuzz_${name} PRIVATE vs_trace vs_flags)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
endforeach()

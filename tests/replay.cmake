# Replay: a real trace's requests through the allocator model.
vs_test(caching_load USES alloc)
vs_test(replay USES engine trace)
vs_test(replay_allocators USES engine trace)
vs_quote_dir(test_replay PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/replay)

# replay_all FOLDER ...: a row a trace; ctest runs it on the committed traces, tests/replay/run on all that are there.
add_executable(replay_all replay/replay_all.c)
target_compile_definitions(replay_all PRIVATE _POSIX_C_SOURCE=200809L)
target_link_libraries(replay_all PRIVATE vs_engine vs_trace vs_flags)
set_target_properties(replay_all PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME replay_recorded_traces COMMAND replay_all data/traces data/traces/pytorch-2.11 data/traces/pytorch-2.15
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})

# The snapshot importer's corpus: replayed, and asked what pins its segments; fuzz_NAME is the libFuzzer program.
function(vs_trace_fuzz name uses)
  add_executable(replay_${name} fuzz/fuzz_${name}.c fuzz/driver.c)
  target_compile_definitions(replay_${name} PRIVATE _POSIX_C_SOURCE=200809L)
  target_link_libraries(replay_${name} PRIVATE ${uses} vs_trace vs_flags)
  set_target_properties(replay_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME replay_${name} COMMAND replay_${name} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpora/snapshot)
  if(VRAMSIM_FUZZ)
    add_executable(fuzz_${name} fuzz/fuzz_${name}.c)
    target_link_libraries(fuzz_${name} PRIVATE ${uses} vs_trace vs_flags)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()
vs_trace_fuzz(engine_replay vs_engine)
vs_trace_fuzz(room vs_analysis)
vs_test(room_prop DIR prop USES engine analysis alloc) # `test_room_prop RUNS SEED` for a longer run

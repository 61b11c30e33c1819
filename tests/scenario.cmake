# Tests of sim/tape and sim/scenario.
# Scenarios with what they must say beside them; VRAMSIM_REGOLD=1 rewrites that.
vs_test(scenario_files PROGRAM USES scenario)
vs_test(scenario_memory USES scenario)
foreach(folder names errors autograd)
  add_test(NAME scenario_${folder} COMMAND test_scenario_files tests/scenario/${folder}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}) # messages shorten long paths
endforeach()

# The lifetimes beside what Python itself does. Comprehensions share their function's frame from 3.12 on.
find_package(Python3 3.11 COMPONENTS Interpreter)
if(Python3_FOUND)
  file(GLOB cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/scenario/names/*.lua)
  add_test(NAME scenario_names_python
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/scenario/names/oracle.py ${cases})
endif()
if(Python3_FOUND) # `names_prop.py PROGRAM COUNT SEED FOLDER` for a longer run; some in a thousand are an operator late
  add_test(NAME names_prop COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/prop/names_prop.py
    $<TARGET_FILE:test_scenario_files> 200 1)
endif()

vs_test(tensor USES tape)
vs_test(conv_workspace USES tape)
vs_test(attention_cudnn USES tape)
vs_test(backward USES scenario)
vs_test(ops_table USES tape PRIVATE m)
vs_test(marks USES scenario)
target_link_libraries(test_marks PRIVATE PkgConfig::LUA)
find_package(Threads REQUIRED)
vs_test(scenario USES scenario PRIVATE Threads::Threads)
vs_test(ops_prop DIR prop USES tape PRIVATE m) # `test_ops_prop TRIES SEED` for a longer run

# replay_NAME runs the corpus under any compiler in ctest; fuzz_NAME is the libFuzzer program (clang, VRAMSIM_FUZZ).
if(VRAMSIM_FUZZ)
  target_compile_options(vs_scenario PRIVATE -fsanitize=fuzzer-no-link)
  target_compile_options(vs_tape PRIVATE -fsanitize=fuzzer-no-link)
endif()
function(vs_scenario_fuzz target)
  target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE "SHELL:-iquote ${CMAKE_SOURCE_DIR}/tests/support")
  target_link_libraries(${target} PRIVATE vs_scenario vs_flags PkgConfig::LUA)
endfunction()
# The seeds of the rewriting of scenarios are scenarios of this tree.
set(seeds_scenario ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpora/scenario)
set(seeds_marks ${CMAKE_SOURCE_DIR}/scenarios/mlp.lua)
foreach(name goto loop_variable strings_and_comments upvalue_rebound varargs)
  list(APPEND seeds_marks ${CMAKE_CURRENT_SOURCE_DIR}/scenario/names/${name}.lua)
endforeach()
foreach(name marks scenario)
  add_executable(replay_${name} fuzz/fuzz_${name}.c fuzz/driver.c)
  vs_scenario_fuzz(replay_${name})
  set_target_properties(replay_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME replay_${name} COMMAND replay_${name} -n 60 ${seeds_${name}})
  if(VRAMSIM_FUZZ)
    add_executable(fuzz_${name} fuzz/fuzz_${name}.c)
    vs_scenario_fuzz(fuzz_${name})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
endforeach()

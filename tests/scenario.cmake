# Tests of sim/tape and sim/scenario.
# Scenarios with what they must say beside them; VRAMSIM_REGOLD=1 rewrites that.
vs_test(scenario_files USES scenario)
vs_test(scenario_memory USES scenario)
set_tests_properties(scenario_files PROPERTIES DISABLED TRUE)
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
vs_test(marks USES scenario)
target_link_libraries(test_marks PRIVATE PkgConfig::LUA)
find_package(Threads REQUIRED)
vs_test(scenario USES scenario PRIVATE Threads::Threads)

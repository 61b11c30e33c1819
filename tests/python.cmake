# vramsim.py with a stand-in for PyTorch; with the real one where VRAMSIM_TORCH_PYTHON names it.
find_package(Python3 3.8 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME python_helper COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/python/check_fake.py)
endif()
add_test(NAME python_helper_torch COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/python/check_torch.sh $<TARGET_FILE:vramsim>
  ${CMAKE_SOURCE_DIR})
set_tests_properties(python_helper_torch PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)

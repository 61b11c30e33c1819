vs_test(alloc USES alloc)

phase({})

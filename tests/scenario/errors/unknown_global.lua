local x = tosrch.zeros({ 2 })

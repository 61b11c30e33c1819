coroutine.create(print)

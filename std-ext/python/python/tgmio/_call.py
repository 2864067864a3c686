"""Awaitables of asynchronous methods."""

from collections.abc import Coroutine


class Call(Coroutine):
    """An awaitable for a call that runs on another thread. asyncio takes it as a future and as a coroutine.

    `await`, `asyncio.gather`, `wait_for`, `ensure_future`, `create_task` and task groups take it. It can be awaited
    several times. It has the methods of a future too. The call begins at once, not when it is awaited. Cancelling it
    drops its result; the work may go on in its thread, and the file is usable as before.
    """

    __slots__ = ("_future", "_steps", "__weakref__")

    def __init__(self, future):
        self._future = future
        self._steps = None

    def __await__(self):
        return self._future.__await__()

    __iter__ = __await__

    # As a coroutine: tasks call these.

    def send(self, value):
        """Goes on after the loop has waited for what was yielded before."""
        if self._steps is None:
            self._steps = iter(self._future.__await__())
        return self._steps.send(value)

    def throw(self, *error):
        """Raises an error where the coroutine waits. A call that has no result yet is cancelled."""
        self._future.cancel()
        if self._steps is None:
            self._steps = iter(self._future.__await__())
        return self._steps.throw(*error)

    def close(self):
        """Ends waiting."""
        if self._steps is not None:
            self._steps.close()

    # As a future.

    def cancel(self, msg=None):
        """Drops the result, unless it is there. Returns whether it did."""
        return self._future.cancel(msg)

    def cancelled(self):
        """Whether the call was cancelled."""
        return self._future.cancelled()

    def done(self):
        """Whether there is a result, or the call was cancelled."""
        return self._future.done()

    def result(self):
        """The result, or the error that the call ended with."""
        return self._future.result()

    def exception(self):
        """The error that the call ended with, or None."""
        return self._future.exception()

    def add_done_callback(self, fn, *, context=None):
        """Calls `fn` with the underlying future when there is a result."""
        return self._future.add_done_callback(fn, context=context)

    def remove_done_callback(self, fn):
        """Removes a callback. Returns how often it was there."""
        return self._future.remove_done_callback(fn)

    def get_loop(self):
        """The loop that was running at the call."""
        return self._future.get_loop()

    def __repr__(self):
        return f"<tgm.Call of {self._future!r}>"


def settle(future, value, error):
    """Ends a future, unless it is cancelled."""
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)

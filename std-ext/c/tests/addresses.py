"""Files at addresses without blocking: what is fetched, and what becomes of requests whose task ends.

Usage: addresses.py LIBRARY FOLDER. The library has feature async-remote; the folder takes files."""

import ctypes
import pathlib
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python/tests"))
from server import serving

lib = ctypes.CDLL(sys.argv[1])
folder = pathlib.Path(sys.argv[2])
u64, size, pointer, text = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
LAST = [pointer, u64, ctypes.POINTER(pointer)]
lib.tgm_last_error.restype = text
lib.tgm_async_file_open_remote.argtypes = [text, ctypes.POINTER(text), ctypes.POINTER(text), size, ctypes.c_bool, *LAST]
lib.tgm_async_file_message_count.argtypes = [pointer, *LAST]
lib.tgm_async_file_decode_object.argtypes = [
    pointer, size, size, ctypes.c_bool, ctypes.c_uint32, ctypes.c_bool, ctypes.c_bool, *LAST]
lib.tgm_cancellation_token_create.restype = pointer
lib.tgm_cancellation_token_cancel.argtypes = lib.tgm_cancellation_token_free.argtypes = [pointer]
lib.tgm_async_task_is_ready.argtypes = lib.tgm_async_task_free.argtypes = [pointer]
lib.tgm_async_task_is_ready.restype = ctypes.c_bool
lib.tgm_async_file_close.argtypes = lib.tgm_message_free.argtypes = [pointer]
for kind, out in {"async_file": pointer, "size": u64, "message": pointer}.items():
    getattr(lib, f"tgm_async_task_join_{kind}").argtypes = [pointer, ctypes.POINTER(out)]
lib.tgm_object_data.argtypes, lib.tgm_object_data.restype = [pointer, size, ctypes.POINTER(size)], pointer
lib.tgm_payload_has_hash.argtypes = [pointer, size]
lib.tgm_runtime_shutdown_blocking.argtypes, lib.tgm_runtime_shutdown_blocking.restype = [u64], u64
OK, OBJECT, REMOTE, TIMEOUT, CANCELLED = 0, 5, 10, 12, 13


def launched(function, *arguments, cancel=None, timeout=0):
    """The task of a launch."""
    task = pointer()
    code = function(*arguments, cancel, timeout, ctypes.byref(task))
    assert code == OK, (code, lib.tgm_last_error())
    return task


def opened(url, options=None, **how):
    """The task that opens an address."""
    options = options or {}
    keys, values = ((text * len(options))(*(item.encode() for item in items)) for items in (options, options.values()))
    return launched(lib.tgm_async_file_open_remote, url.encode(), keys, values, len(options), True, **how)


def joined(task, kind):
    """The code of a task, and its value."""
    out = (u64 if kind == "size" else pointer)()
    code = getattr(lib, f"tgm_async_task_join_{kind}")(task, ctypes.byref(out))
    lib.tgm_async_task_free(task)
    return code, out


def a_source_is_read_in_parts():
    """An object of 1 MiB among four is fetched without the others."""
    with serving(folder) as server:
        code, file = joined(opened(server.url("four.tgm")), "async_file")
        assert code == OK, lib.tgm_last_error()
        count = joined(launched(lib.tgm_async_file_message_count, file), "size")
        assert (count[0], count[1].value) == (OK, 1)
        code, message = joined(launched(lib.tgm_async_file_decode_object, file, 0, 2, True, 0, True, True), "message")
        assert code == OK, lib.tgm_last_error()
        length = size()
        data = lib.tgm_object_data(message, 0, ctypes.byref(length))
        assert length.value == 1 << 20 and ctypes.string_at(data, 4) == b"\2\2\2\2"
        assert lib.tgm_payload_has_hash(message, 0) == 1
        lib.tgm_message_free(message)
        whole = (folder / "four.tgm").stat().st_size
        asked = [found.split("=")[1].split("-") for _, _, found in server.requests if found]
        fetched = sum(int(end) + 1 - int(start) for start, end in asked if start and end)
        assert fetched < whole / 2, (fetched, whole, server.requests)
        code, _ = joined(launched(lib.tgm_async_file_decode_object, file, 0, 9, True, 0, True, False), "message")
        assert code == OBJECT
        # The file may go while tasks read from it.
        tasks = [launched(lib.tgm_async_file_decode_object, file, 0, i, True, 0, True, False) for i in range(4)]
        lib.tgm_async_file_close(file)
        for task in tasks:
            code, message = joined(task, "message")
            assert code == OK, lib.tgm_last_error()
            lib.tgm_message_free(message)
        assert joined(opened(server.url("none.tgm")), "async_file")[0] == REMOTE
        assert joined(opened(server.url("four.tgm"), {"no such option": "1"}), "async_file")[0] == REMOTE
    assert joined(opened("teleport://x/y"), "async_file")[0] == REMOTE


def requests_of_ended_tasks_are_dropped():
    """A server that takes requests and does not answer sees that the client has gone."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/x.tgm"
        for code in (CANCELLED, TIMEOUT):
            token = lib.tgm_cancellation_token_create()
            task = opened(url, cancel=token, timeout=0 if code == CANCELLED else 200)
            connection, _ = listening.accept()
            connection.settimeout(10)
            assert connection.recv(1 << 16)
            assert not lib.tgm_async_task_is_ready(task)
            start = time.monotonic()
            if code == CANCELLED:
                lib.tgm_cancellation_token_cancel(token)
            found = joined(task, "async_file")[0]
            assert found == code and time.monotonic() - start < 5, (found, code)
            assert connection.recv(1) == b""
            connection.close()
            lib.tgm_cancellation_token_free(token)
        # What still waits when the runtime ends.
        task = opened(url)
        connection, _ = listening.accept()
        assert lib.tgm_runtime_shutdown_blocking(50) == 1
        assert joined(task, "async_file")[0] == CANCELLED


def write_four():
    """A message of four objects of 1 MiB."""
    lib.tgm_streaming_encoder_create.argtypes = [text, text, text, ctypes.c_uint32, ctypes.POINTER(pointer)]
    lib.tgm_streaming_encoder_write.argtypes = [pointer, text, text, size]
    lib.tgm_streaming_encoder_finish_backfill.argtypes = lib.tgm_streaming_encoder_free.argtypes = [pointer]
    encoder = pointer()
    assert lib.tgm_streaming_encoder_create(bytes(folder / "four.tgm"), b"{}", b"xxh3", 0, ctypes.byref(encoder)) == OK
    descriptor = (b'{"type":"ntensor","ndim":1,"shape":[1048576],"strides":[1],"dtype":"uint8","encoding":"none",'
                  b'"filter":"none","compression":"none"}')
    for value in range(4):
        data = bytes([value]) * (1 << 20)
        assert lib.tgm_streaming_encoder_write(encoder, descriptor, data, len(data)) == OK
    assert lib.tgm_streaming_encoder_finish_backfill(encoder) == OK
    lib.tgm_streaming_encoder_free(encoder)


write_four()
a_source_is_read_in_parts()
requests_of_ended_tasks_are_dropped()
print("addresses: ok")

"""TensogramFileIter and MessageIter."""

import pytest

import support
import tensogram
from support import message, pair


@pytest.fixture
def data():
    return b"".join(message(pair([i]), meta={"i": i}) for i in range(3))


def test_messages(data):
    iterator = tensogram.iter_messages(data)
    assert type(iterator) is tensogram.MessageIter and iter(iterator) is iterator
    assert [m.metadata["i"] for m in iterator] == [0, 1, 2]
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(iterator)


def test_len_is_what_remains(data, one_file):
    for iterator, name in [
        (tensogram.iter_messages(data), "MessageIter"),
        (iter(tensogram.TensogramFile.open(one_file)), "TensogramFileIter"),
    ]:
        assert len(iterator) == 3 and repr(iterator) == f"{name}(position=0, remaining=3)"
        next(iterator)
        assert len(iterator) == 2 and repr(iterator) == f"{name}(position=1, remaining=2)"
        assert len(list(iterator)) == 2
        assert len(iterator) == 0 and repr(iterator) == f"{name}(position=3, remaining=0)"
        assert next(iterator, "end") == "end" and next(iterator, "end") == "end"


def test_items(data):
    for found in tensogram.iter_messages(data):
        assert type(found) is tensogram.Message and type(found.objects) is list


@pytest.mark.parametrize("data", [b"", b"junk" * 50])
def test_nothing(data):
    iterator = tensogram.iter_messages(data)
    assert len(iterator) == 0 and list(iterator) == []


def test_garbage_is_passed_over(data):
    one = message(pair([7]))
    found = list(tensogram.iter_messages(b"x" + one + b"yy" + one[:40] + one))
    assert [m.objects[0][1].tolist() for m in found] == [[7], [7]]


def test_buffer_may_go(data):
    iterator = tensogram.iter_messages(bytes(data))
    del data
    assert len(list(iterator)) == 3


def test_flags(data):
    for wrong in (1, None, "x"):
        with pytest.raises(TypeError):
            tensogram.iter_messages(data, verify_hash=wrong)
    with pytest.raises(TypeError):
        tensogram.iter_messages(data, True)


def test_verification_goes_on_after_a_bad_message():
    good, bad = message(pair([1])), bytearray(message(pair([2])))
    bad[bytes(bad).index(b"FR\x00\x09") + 16] ^= 1
    iterator = tensogram.iter_messages(good + bytes(bad) + good + message(hash=None), verify_hash=True)
    assert next(iterator).objects[0][1].tolist() == [1]
    with pytest.raises(tensogram.HashMismatchError):
        next(iterator)
    assert next(iterator).objects[0][1].tolist() == [1]
    with pytest.raises(tensogram.MissingHashError):
        next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)


def test_iterators_of_a_file_are_independent(one_file):
    file = tensogram.TensogramFile.open(one_file)
    first, second = iter(file), iter(file)
    assert type(first) is tensogram.TensogramFileIter and iter(first) is first
    assert next(first).metadata["step"] == 0 and next(first).metadata["step"] == 1
    assert next(second).metadata["step"] == 0
    assert [m.metadata["step"] for m in first] == [2]
    assert [m.metadata["step"] for m in second] == [1, 2]


def test_iterator_has_the_count_of_its_start(one_file):
    file = tensogram.TensogramFile.open(one_file)
    iterator = iter(file)
    file.append({}, [pair([1])])
    assert len(list(iterator)) == 3 and len(list(file)) == 4


def test_iterator_outlives_the_file(one_file):
    iterator = iter(tensogram.TensogramFile.open(one_file))
    assert [m.metadata["step"] for m in iterator] == [0, 1, 2]


def test_builtins(one_file):
    file = tensogram.TensogramFile.open(one_file)
    assert [i for i, _ in enumerate(file)] == [0, 1, 2]
    assert len(list(zip(file, tensogram.TensogramFile.open(one_file)))) == 3
    assert sum(1 for _ in file) == 3 and support.REFERENCE in (True, False)

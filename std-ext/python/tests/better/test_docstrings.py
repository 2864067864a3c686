"""Docstrings: everything public has one, and the examples in them run."""

import doctest
import inspect

import pytest

import tgmio as tgm

PARSER = doctest.DocTestParser()


def documented():
    """Names and objects of all that a user sees: the module, its functions and classes, and their members."""
    yield "tgm", tgm
    for name in tgm.__all__:
        thing = getattr(tgm, name)
        if not callable(thing):
            continue
        yield name, thing
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (
                    callable(value) or isinstance(value, (staticmethod, property)) or inspect.isgetsetdescriptor(value)
                ):
                    yield f"{name}.{member}", getattr(thing, member)


DOCUMENTED = dict(documented())


@pytest.mark.parametrize("name", DOCUMENTED)
def test_docstring(name):
    if name.startswith("DecodedMessage."):
        pytest.skip("of the namedtuple")
    text = inspect.getdoc(DOCUMENTED[name])
    assert text and text.strip().split("\n\n")[0].strip().endswith((".", ":", "`"))


EXAMPLES = {name: thing for name, thing in DOCUMENTED.items() if ">>>" in (inspect.getdoc(thing) or "")}


@pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning")
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = PARSER.get_doctest(inspect.getdoc(EXAMPLES[name]), {"__name__": "__main__"}, name, None, 0)
    printed = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(test, out=printed.append)
    assert runner.failures == 0, "".join(printed)


@pytest.mark.parametrize(
    "name",
    [
        "encode",
        "encode_pre_encoded",
        "decode",
        "decode_with_masks",
        "decode_metadata",
        "decode_descriptors",
        "decode_object",
        "decode_range",
        "scan",
        "iter_messages",
        "validate",
        "validate_file",
        "compute_hash",
        "compute_packing_params",
        "doctor",
        "is_remote_url",
        "Metadata",
        "DataObjectDescriptor",
        "TensogramFile",
        "StreamingEncoder",
        "AsyncTensogramFile",
    ],
)
def test_has_an_example(name):
    assert name in EXAMPLES

"""The programs in the README run, in their order and in one folder."""

import pathlib
import re

import pytest

README = pathlib.Path(__file__).parents[2] / "README.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL) if README.exists() else []


def test_there_are_programs():
    assert PROGRAMS


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program(number, tmp_path_factory, monkeypatch, capsys):
    folder = tmp_path_factory.getbasetemp() / "readme"
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    exec(compile(PROGRAMS[number], f"README.md, program {number}", "exec"), {"__name__": "__main__"})
    capsys.readouterr()

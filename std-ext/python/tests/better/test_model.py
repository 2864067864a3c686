"""The program of the page MODEL.md runs, and does what the page says."""

import pathlib
import re

import numpy as np
import pytest

import server
import tgmio as tgm

PAGE = pathlib.Path(__file__).parents[3] / "doc" / "MODEL.md"
REMOTE = {row["name"]: row["state"] for row in tgm.doctor()["features"]}["remote"] == "on"


@pytest.mark.skipif(not REMOTE or not PAGE.exists(), reason="built without remote files, or without the page")
def test_the_program_runs(tmp_path, monkeypatch):
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(program.splitlines()) < 25
    fields = {step: np.random.default_rng(step).normal(280, 10, (100, 60)) for step in (0, 24)}
    monkeypatch.chdir(tmp_path)
    with tgm.Writer("forecast.tgm") as writer:
        for step, field in fields.items():
            writer.object(field, metadata={"mars": {"param": "2t", "step": step}})
            writer.finish()
    with server.serving(tmp_path) as running:
        exec(program.replace("https://example.org/forecast.tgm", running.url("forecast.tgm")), {})
    found = tgm.open("box.tgm")[0].objects["2t"]
    assert found.stages[0] == "simple_packing" and found.shape == (20, 30)
    assert abs(found.read() - fields[24][40:60, 0:30]).max() <= 0.0101

"""Catalogues as tables."""

import os

import numpy as np
import pytest

import tgmio as tgm
from server import serving


def archive(folder):
    """Fields with a key of each kind. The third one lacks some."""
    path = folder / "a.tgm"
    keys = [
        {"param": "t", "step": 0, "level": 1.5, "flag": True, "many": [1, 2], "big": 2**63},
        {"param": "u", "step": 6, "level": 2, "flag": False, "many": [1, 2], "big": 1},
        {"param": "t", "step": 12},
    ]
    with open(path, "wb") as out:
        for entry in keys:
            out.write(tgm.encode({"base": [{"mars": entry}]}, [(None, np.zeros((2, 3), "f4"))]))
    return path, [f"mars.{name}" for name in keys[0]]


def test_columns_have_types(tmp_path):
    pandas = pytest.importorskip("pandas")
    path, keys = archive(tmp_path)
    table = tgm.catalogue(path, keys=[*keys, "dtype"]).to_pandas()
    assert list(table.columns) == ["message", "object", "offset", "length", *keys, "dtype"]
    assert table.message.tolist() == [0, 1, 2] and table.object.tolist() == [0, 0, 0]
    assert table["mars.param"].tolist() == ["t", "u", "t"] and isinstance(table["mars.param"].dtype, pandas.CategoricalDtype)
    assert table["mars.step"].dtype == "int64" and table["mars.step"].tolist() == [0, 6, 12]
    assert table["mars.level"].dtype == "float64" and table["mars.level"][1] == 2.0 and np.isnan(table["mars.level"][2])
    assert table["mars.flag"].dtype == "boolean" and table["mars.flag"].tolist()[:2] == [True, False]
    assert table["mars.flag"].isna().tolist() == [False, False, True]
    assert table["mars.big"].tolist()[:2] == [2**63, 1] and table["mars.big"].dtype.name in ("uint64", "UInt64")
    assert set(table.dtype) == {"float32"}
    data = path.read_bytes()
    for offset, length in zip(table.offset, table.length):
        assert data[offset:offset + 2] == b"FR" and data[offset + length - 4:offset + length] == b"ENDF"
    arrow = pytest.importorskip("pyarrow")
    found = tgm.catalogue(path, keys=[*keys, "dtype"]).to_arrow()
    assert found.schema.field("mars.step").type == arrow.int64() and found.schema.field("mars.flag").type == arrow.bool_()
    assert arrow.types.is_dictionary(found.schema.field("mars.param").type)
    assert found["mars.param"].to_pylist() == ["t", "u", "t"] and found["mars.level"].to_pylist() == [1.5, 2.0, None]


def test_integers_with_gaps_stay_integers(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "a.tgm"
    path.write_bytes(b"".join(tgm.encode({"base": [entry]}, [(None, np.zeros(2))]) for entry in ({"n": 2**60 + 1}, {})))
    column = tgm.catalogue(path, keys=["n"]).to_pandas()["n"]
    assert column.dtype == pandas.Int64Dtype() and column[0] == 2**60 + 1 and column.isna().tolist() == [False, True]


def test_a_catalogue_is_saved_beside_its_file_and_found(tmp_path):
    path, keys = archive(tmp_path)
    made = tgm.catalogue(path)
    assert {"mars.step", "mars.param"} <= set(made.keys) and made.check() == "fresh" and len(made) == made.message_count == 3
    made.save()
    beside = tmp_path / "a.tgm.catalog"
    assert beside.is_file() and sorted(each.name for each in tmp_path.iterdir()) == ["a.tgm", "a.tgm.catalog"]
    assert tgm.catalogue(path).keys == tgm.catalogue(beside).keys == made.keys and tgm.catalogue(beside).check() == "fresh"
    assert tgm.catalogue(path, keys=["dtype"]).keys == ["dtype"]
    xarray = pytest.importorskip("xarray")
    # One that is not used is named by a warning, which would be an error here.
    found = zip(tgm.open_datasets(path), tgm.open_datasets(path, catalog=False), strict=True)
    for by_catalogue, by_messages in found:
        xarray.testing.assert_identical(by_catalogue.load(), by_messages.load())
    # Data that grew: the catalogue beside it is not enough.
    with open(path, "ab") as out:
        out.write(tgm.encode({"base": [{"mars": {"param": "v", "step": 0}}]}, [(None, np.zeros((2, 3), "f4"))]))
    assert made.check().startswith("grown") and len(tgm.catalogue(path)) == 4
    elsewhere = tmp_path / "own"
    made.save(elsewhere)
    assert elsewhere.read_bytes() == beside.read_bytes()


def test_what_is_not_there_is_an_error(tmp_path):
    path, _ = archive(tmp_path)
    with pytest.raises(FileNotFoundError):
        tgm.catalogue(tmp_path / "b.tgm")
    with pytest.raises(FileNotFoundError):
        tgm.catalogue(tmp_path / "b.tgm.catalog")
    tgm.catalogue(path).save(tmp_path / "x.catalog")
    with pytest.raises(ValueError, match="argument 'keys'"):
        tgm.catalogue(tmp_path / "x.catalog", keys=["dtype"])
    with pytest.raises(ValueError, match="argument 'source'"):
        tgm.catalogue(tmp_path / "x.catalog").check()
    with pytest.raises(tgm.MetadataError):
        (tmp_path / "y.catalog").write_bytes(path.read_bytes())
        tgm.catalogue(tmp_path / "y.catalog")


def test_types_of_numbers_are_kept(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "a.tgm"
    rows = [
        {"large": 2**63 + 5, "null": 1, "beyond": 2**60 + 1, "text": None, "none": None},
        {"large": 1, "null": None, "beyond": 0.5, "text": "a", "none": None},
    ]
    with tgm.Writer(path) as writer:
        for row in rows:
            writer.object(np.zeros(2), metadata=row)
            writer.finish()
    table = tgm.catalogue(path, keys=list(rows[0])).to_pandas()
    assert table["large"].dtype == "uint64" and table["large"].tolist() == [2**63 + 5, 1]
    assert table["null"].dtype == "Int64" and table["null"].tolist() == [1, pandas.NA]
    # No number of 64 bits is both of them.
    assert table["beyond"].tolist() == [str(2**60 + 1), "0.5"]
    assert table["text"].isna().tolist() == [True, False] and table["none"].isna().all()


def test_addresses_of_catalogues_are_addresses(tmp_path):
    path, _ = archive(tmp_path)
    pytest.importorskip("xarray")
    with pytest.raises(OSError) as raised:
        tgm.open_dataset(path, catalog="https://user:secretword@127.0.0.1:1/x.catalog?signature=hidden")
    text = str(raised.value)
    assert "https://127.0.0.1:1/x.catalog" in text and "secretword" not in text and "hidden" not in text
    assert str(tmp_path) not in text and "/https:" not in text


@pytest.mark.parametrize("where", ["https://user:secretword@127.0.0.1:1/x.catalog?signature=hidden", "missing"])
def test_an_address_without_a_catalogue_is_an_error(tmp_path, where):
    path, _ = archive(tmp_path)
    pytest.importorskip("xarray")
    with serving(tmp_path) as server:
        address = server.url("missing.catalog?signature=hidden") if where == "missing" else where
        for use in (lambda: tgm.open_dataset(path, catalog=address), lambda: tgm.catalogue(address.split("?")[0])):
            with pytest.raises(OSError) as raised:
                use()
            assert "secretword" not in str(raised.value) and "hidden" not in str(raised.value)


def test_a_catalogue_at_an_address_is_read(tmp_path):
    path, _ = archive(tmp_path)
    xarray = pytest.importorskip("xarray")
    # A time of change that is just over proves nothing.
    os.utime(path, (1e9, 1e9))
    by_messages = tgm.open_datasets(path, catalog=False)
    tgm.catalogue(path).save(tmp_path / "own.catalog")
    with serving(tmp_path, tag=None) as server:
        for source in (path, server.url("a.tgm")):
            found = tgm.open_datasets(source, catalog=server.url("own.catalog"))
            assert any(asked[1] == "/own.catalog" for asked in server.requests)
            server.requests.clear()
            for one, other in zip(found, by_messages, strict=True):
                xarray.testing.assert_identical(one.load(), other.load())
        assert tgm.catalogue(server.url("own.catalog")).keys == tgm.catalogue(tmp_path / "own.catalog").keys
        # One that does not fit is reported, without what the address hides.
        other = tgm.encode({"base": [{"mars": {"param": "x"}}]}, [(None, np.zeros((2, 3), "f4"))])
        path.write_bytes(other + path.read_bytes())
        with pytest.warns(UserWarning, match="own.catalog is not used") as warned:
            tgm.open_datasets(path, catalog=server.url("own.catalog?signature=hidden"))
        assert all("hidden" not in str(each.message) for each in warned)


def test_a_table_has_all_that_the_file_says(tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "a.tgm"
    packed = tgm.Encoding(bits=16, compression="szip")
    with tgm.Writer(path) as writer:
        for step in (0, 6):
            writer.begin({"run": 7})
            mars = {"class": "od", "param": "t", "step": step}
            writer.object(np.linspace(0, 1, 600).reshape(20, 30), encoding=packed, metadata={"mars": mars, "history": "x" * 70_000})
            writer.finish()
    made = tgm.catalogue(path)
    table = made.to_pandas()
    for name, values in {
        "mars.class": ["od"] * 2, "mars.step": [0, 6], "run": [7] * 2, "dtype": ["float64"] * 2, "ndim": [2] * 2,
        "shape": ["[20, 30]"] * 2, "codec": ["simple_packing+szip"] * 2, "bytes": [4800] * 2,
        "stored": [found.stored_nbytes for message in tgm.open(path) for found in message.objects],
    }.items():
        assert table[name].tolist() == values, name
        assert table[name].dtype == ("category" if isinstance(values[0], str) else "int64"), name
    assert len(made) == 2 and "history" not in made.keys
    made.save()
    assert tgm.catalogue(path).to_pandas().equals(table)

"""dask.distributed: a cluster of two processes that reads one file by chunks."""

import pathlib
import warnings

import numpy as np
import pytest
import xarray as xr

import tensogram
from conftest import field

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import distributed

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def client():
    """Two workers of one thread each."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit=0,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_dataset_by_chunks(client, weather):
    with xr.open_dataset(weather, engine="tensogram", chunks={"latitude": 5}) as opened:
        assert np.array_equal(opened.plain.compute(), field(0))
        assert float(opened.plain.sum().compute()) == pytest.approx(field(0).sum())
        assert int(np.isnan(opened.holes).sum().compute()) == int(np.isnan(opened.holes.values).sum())


def test_messages_on_workers(client, steps):
    def mean(path, i):
        return float(tensogram.TensogramFile.open(path)[i].objects[2][1].mean()), distributed.get_worker().address

    found = client.gather([client.submit(mean, steps, i, pure=False) for i in range(12)])
    assert [m for m, _ in found] == pytest.approx([field(i).mean() for i in range(12)])
    assert len({address for _, address in found}) == 2


def test_arrays_and_errors_travel(client, steps):
    def array(path):
        return tensogram.TensogramFile.open(path)[0].objects[2][1]

    def failing(path):
        data = bytearray(pathlib.Path(path).read_bytes())
        data[data.index(b"FR\x00\x09") + 16] ^= 1
        tensogram.decode(bytes(data), verify_hash=True)

    assert np.array_equal(client.submit(array, steps).result(), field(0))
    with pytest.raises(tensogram.HashMismatchError) as caught:
        client.submit(failing, steps).result()
    assert caught.value.object_index == 0


@pytest.mark.better
def test_files_travel(client, steps):
    file = tensogram.TensogramFile.open(steps)
    found = client.gather(client.map(lambda i, f=file: f[i].objects[2][1].sum(), range(12)))
    assert found == pytest.approx([field(i).sum() for i in range(12)])


@pytest.mark.better
def test_messages_travel(client, steps):
    message = tensogram.TensogramFile.open(steps)[3]
    again = client.submit(lambda m: m, message).result()
    assert again.metadata == message.metadata and np.array_equal(again.objects[2][1], field(3))

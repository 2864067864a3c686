"""Files of HDF5 that lead in circles, out of the file, or to more than there is."""
import numpy as np

SECRET = b"SECRETSS"
KINDS = ("hdf5",)


def other(folder):
    """A file beside the input, whose values must not be read."""
    import h5py

    path = folder.parent / "other.h5"
    with h5py.File(path, "w") as file:
        file["v"] = np.frombuffer(SECRET * 4, "f8")
        file.create_group("g")["v"] = np.frombuffer(SECRET * 4, "f8")
        file.attrs["a"] = SECRET
    return str(path)


def soft_to_itself(file, folder):
    import h5py

    file["a"] = h5py.SoftLink("/a")
    file["b"] = h5py.SoftLink("/c")
    file["c"] = h5py.SoftLink("b")
    file["d"] = h5py.SoftLink(".")
    file["e"] = h5py.SoftLink("../../../../etc/passwd")
    file["f"] = h5py.SoftLink("/f/f/f")


def group_in_itself(file, folder):
    group = file.create_group("g")
    group["g"] = group
    group["up"] = file["/"]
    one, two = file.create_group("one"), file.create_group("two")
    one["two"], two["one"] = two, one


def doubling(file, folder):
    """2^60 paths of 60 groups."""
    above = file
    for level in range(60):
        group = above.create_group("a")
        above["b"] = group
        above = group
    above["v"] = np.arange(3.0)


def doubling_soft(file, folder):
    import h5py

    above = file
    for level in range(60):
        group = above.create_group("a")
        above["b"] = h5py.SoftLink("a")
        above = group
    file["deep"] = h5py.SoftLink("/" + "/".join(["b"] * 60))


def deep(file, folder):
    above = file
    for level in range(3000):
        above = above.create_group("g")
    above["v"] = np.arange(3.0)


def many_groups(file, folder):
    for index in range(5000):
        file.create_group(f"g{index}")


def many_links(file, folder):
    file["v"] = np.arange(3.0)
    for index in range(20000):
        file[f"l{index}"] = file["v"]


def external_links(file, folder):
    import h5py

    path = other(folder)
    file["a"] = h5py.ExternalLink(path, "/v")
    file["b"] = h5py.ExternalLink(path, "/")
    file.create_group("g")["c"] = h5py.ExternalLink("../other.h5", "/g")
    file["g"]["d"] = h5py.SoftLink("/b/v")
    file["g"]["e"] = h5py.SoftLink("c/v")
    file["self"] = h5py.ExternalLink(file.filename, "/self")
    file["dev"] = h5py.ExternalLink("/dev/zero", "/v")


def external_pipe(file, folder):
    import os

    import h5py

    os.mkfifo(folder / "pipe")
    file["p"] = h5py.ExternalLink(str(folder / "pipe"), "/v")
    file.create_dataset("q", (4,), "f8", external=[(str(folder / "pipe"), 0, 32)])


def external_raw(file, folder):
    secret = folder.parent / "secret.bin"
    file.create_dataset("raw", (4,), "f8", external=[(str(secret), 0, 32)])
    file.create_dataset("relative", (4,), "f8", external=[("../secret.bin", 0, 32)])
    file.create_dataset("two", (4,), "f8", external=[("../secret.bin", 0, 16), ("../secret.bin", 16, 16)])
    file.create_dataset("text", (4,), "S8", external=[("../secret.bin", 0, 32)])
    file.create_dataset("zero", (1 << 26,), "f8", external=[("/dev/zero", 0, 1 << 29)])
    scale = file.create_dataset("scale", (4,), "f8", external=[("../secret.bin", 0, 32)])
    scale.make_scale("scale")
    file["v"] = np.arange(4.0)
    file["v"].dims[0].attach_scale(scale)


def virtual(file, folder):
    import h5py

    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource(other(folder), "v", (4,))
    file.create_virtual_dataset("virtual", layout)
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource(".", "itself", (4,))
    file.create_virtual_dataset("itself", layout)
    layout = h5py.VirtualLayout((4,), h5py.string_dtype())
    layout[:] = h5py.VirtualSource(other(folder), "v", (4,))
    file.create_virtual_dataset("text", layout)


def references(file, folder):
    import h5py

    file["v"] = np.arange(3.0)
    file["r"] = file["v"].ref
    file["many"] = np.array([file["v"].ref] * 9, h5py.ref_dtype)
    file["region"] = file["v"].regionref[:2]
    file["v"].attrs["ref"] = file["v"].ref
    file["v"].attrs["region"] = file["v"].regionref[:2]
    # What a scale of a dimension is known by, and leads to a group, to itself, and nowhere.
    kind = np.dtype([("dataset", h5py.ref_dtype), ("dimension", "i4")])
    file["v"].attrs["REFERENCE_LIST"] = np.array([(file["v"].ref, 0)], kind)
    vlen = h5py.vlen_dtype(h5py.ref_dtype)
    for name, target in (("group", file["/"].ref), ("itself", None), ("nowhere", h5py.Reference())):
        file[name] = np.arange(3.0)
        value = np.empty(1, object)
        value[0] = np.array([target if target is not None else file[name].ref], h5py.ref_dtype)
        file[name].attrs.create("DIMENSION_LIST", value, (1,), vlen)


def plain_scales(file, folder):
    """Attributes of scales that have other types than they should."""
    for index, value in enumerate((1, "text", np.arange(3), np.zeros((2, 2)), b"x")):
        file[f"v{index}"] = np.arange(3.0)
        for name in ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "_Netcdf4Dimid", "_Netcdf4Coordinates",
                     "DIMENSION_LABELS", "_FillValue", "scale_factor", "add_offset", "valid_range", "units"):
            file[f"v{index}"].attrs[name] = value


def dimids(file, folder):
    for index, number in enumerate((-1, 1 << 30, 0, 0)):
        file[f"x{index}"] = np.arange(3.0)
        file[f"x{index}"].make_scale(f"x{index}")
        file[f"x{index}"].attrs["_Netcdf4Dimid"] = np.int32(number)
        file[f"x{index}"].attrs["_Netcdf4Coordinates"] = np.array([number, 7, 1 << 30], "i4")


def filters(file, folder):
    import h5py

    file.create_dataset("lzf", data=np.arange(400.0), chunks=(100,), compression="lzf")
    # Not there: optional, so that the chunks are stored as they are, and by number.
    kinds = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    kinds.set_chunk((100,))
    try:
        kinds.set_filter(32000 + 15, h5py.h5z.FLAG_OPTIONAL, (1, 2, 3))
        space = h5py.h5s.create_simple((400,))
        made = h5py.h5d.create(file.id, b"unknown", h5py.h5t.IEEE_F64LE, space, kinds)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(400.0))
    except ValueError:
        pass


def huge_and_empty(file, folder):
    import h5py

    file.create_dataset("sparse", (1 << 40,), "f8", chunks=(1 << 10,))
    file.create_dataset("wide", (1 << 20, 1 << 20), "f8", chunks=(16, 16))
    file.create_dataset("late", (1 << 36,), "f8")
    file.create_dataset("unlimited", (1 << 34, 4), "u1", maxshape=(None, 4), chunks=(1 << 10, 4))
    file.create_dataset("texts", (1 << 30,), "S8", chunks=(1 << 10,))
    file.create_dataset("strings", (1 << 30,), h5py.string_dtype(), chunks=(1 << 10,))
    file.create_dataset("lists", (1 << 30,), h5py.vlen_dtype("f8"), chunks=(1 << 10,))
    file.create_dataset("bools", (1 << 36,), "?", chunks=(1 << 10,))
    file.create_dataset("complex", (1 << 36,), "c16", chunks=(1 << 10,))


def many_huge(file, folder):
    """Each of them within limits, and all together not."""
    for index in range(400):
        file.create_dataset(f"v{index}", (1 << 29,), "u1", chunks=(1 << 20,), fillvalue=index)


def many_of_zeros(file, folder):
    """A bomb of deflate, shared by names."""
    for index in range(12):
        file.create_dataset(f"v{index}", (1 << 22,), "f8", chunks=(1 << 22,), compression=9)[:1] = 1


def huge_chunk(file, folder):
    file.create_dataset("v", (1 << 20,), "f8", chunks=(1 << 25,), maxshape=(None,), compression=9)[:4] = 1


def one_chunk_bomb(file, folder):
    """One chunk of 1.5 GiB, which is not written."""
    file.create_dataset("v", (3 << 26,), "f8", chunks=(3 << 26,), compression=9)


def fill_values(file, folder):
    import h5py

    file.create_dataset("nan", (4,), "f8", fillvalue=np.nan, chunks=(2,))
    file.create_dataset("text", (4,), "S4", fillvalue=b"abcd", chunks=(2,))
    file.create_dataset("string", (4,), h5py.string_dtype(), chunks=(2,))
    file.create_dataset("list", (4,), h5py.vlen_dtype("i4"), chunks=(2,))
    file["other"] = np.arange(4)
    file["other"].attrs["_FillValue"] = "text"
    file["wide"] = np.arange(4, dtype="i2")
    file["wide"].attrs["_FillValue"] = 1 << 40
    file["many"] = np.arange(4, dtype="i2")
    file["many"].attrs["missing_value"] = np.arange(8000, dtype="i2")
    file["scale"] = np.arange(4, dtype="i2")
    file["scale"].attrs["scale_factor"] = np.inf
    file["scale"].attrs["add_offset"] = np.nan


def names(file, folder):
    import h5py

    for name in (b"a\xff", b"\x1b[31mred", b"..", b" ", b"a" * 5000, b"\n", "ü".encode(), b"-O"):
        space = h5py.h5s.create(h5py.h5s.SCALAR)
        h5py.h5d.create(file.id, name, h5py.h5t.IEEE_F64LE, space)
        try:
            h5py.h5a.create(file.id, name, h5py.h5t.IEEE_F64LE, space)
        except ValueError:
            pass


def types(file, folder):
    import h5py

    nested = np.dtype("f8")
    for level in range(60):
        nested = np.dtype([("a", nested)])
    file.create_dataset("nested", (2,), nested)
    file.create_dataset("array", (2,), np.dtype([("x", "f8", (3, 3))]))
    file.create_dataset("wide", (1,), np.dtype([(f"f{place}", "f8") for place in range(800)]))
    file.create_dataset("long", (2,), "S4000000")
    file["named"] = np.dtype("f8")
    file["of named"] = np.zeros(3)
    file.create_dataset("enum", (3,), h5py.enum_dtype({f"n{place}": place for place in range(1500)}, "i4"))
    file.create_dataset("empty", data=h5py.Empty("f8"))
    file.create_dataset("void", (2,), "V7")


def texts(file, folder):
    import h5py

    file.create_dataset("long", data="x" * (64 << 20))
    file.create_dataset("shared", (1000,), h5py.string_dtype())
    file["shared"][:] = "y" * (1 << 16)
    file.attrs.create("large", ["z" * 4000] * 10)


MAKERS = [
    soft_to_itself, group_in_itself, doubling, doubling_soft, deep, many_groups, many_links, external_links,
    external_pipe, external_raw, virtual, references, plain_scales, dimids, filters, huge_and_empty, many_huge,
    many_of_zeros, huge_chunk, one_chunk_bomb, fill_values, names, types, texts,
]


def damaged_heap(folder):
    """Texts whose heap says other lengths and places than it has."""
    import h5py

    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        file["v"] = np.arange(3.0)
        file.create_dataset("t", (50,), h5py.string_dtype())
        file["t"][:] = [f"text {place}" for place in range(50)]
        file.attrs["a"] = ["one", "two"]
        file.create_dataset("l", (9,), h5py.vlen_dtype("i4"))
        for place in range(9):
            file["l"][place] = np.arange(place)
    good = path.read_bytes()
    heap = good.index(b"GCOL")
    paths = [path]
    places = [heap + 8, heap + 12, heap + 16, heap + 24, heap + 28, good.rindex(b"GCOL") + 8, good.index(b"TREE") + 6]
    for place in places:
        for bytes_ in (b"\xff" * 8, b"\0" * 8, b"\xff\xff\xff\x7f\0\0\0\0", (1 << 40).to_bytes(8, "little")):
            bad = bytearray(good)
            bad[place:place + 8] = bytes_
            path = folder / f"bad{len(paths)}.h5"
            path.write_bytes(bad)
            paths.append(path)
    # References to texts hold a length, and the place of the heap.
    place = good.index(heap.to_bytes(8, "little"))
    for bytes_ in (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x40"):
        bad = bytearray(good)
        bad[place - 4:place] = bytes_
        path = folder / f"bad{len(paths)}.h5"
        path.write_bytes(bad)
        paths.append(path)
    return paths


def cut(folder):
    import h5py

    path = folder / "in.h5"
    with h5py.File(path, "w") as file:
        file["v"] = np.arange(30.0)
        file.create_dataset("c", data=np.arange(1000.0), chunks=(100,), compression=4, shuffle=True, fletcher32=True)
        file["t"] = ["a", "b"]
    good = path.read_bytes()
    paths = []
    for length in range(8, len(good), len(good) // 40):
        paths.append(folder / f"cut{length}.h5")
        paths[-1].write_bytes(good[:length])
    return paths


def changed(folder):
    """Bytes of the structure are others: libraries of C crash at some of these files."""
    import h5py

    rng = np.random.default_rng(4)
    paths = []
    for libver in ("earliest", ("v108", "v110")):
        path = folder / "good.h5"
        with h5py.File(path, "w", libver=libver) as file:
            file["x"] = np.arange(4.0)
            file["x"].make_scale("x")
            file["v"] = np.arange(4.0)
            file["v"].dims[0].attach_scale(file["x"])
            file["v"].attrs["units"] = "K"
            file.create_dataset("c", data=np.arange(200.0), chunks=(50,), compression=4, shuffle=True, fletcher32=True)
            file.create_dataset("t", data=np.array(["one", "two"], object), dtype=h5py.string_dtype())
            file.attrs["a"] = ["one", "two"]
            file["soft"] = h5py.SoftLink("/v")
            file.create_group("g/h")["w"] = np.arange(6, dtype="i2").reshape(2, 3)
        good = path.read_bytes()
        places = [place for place, byte in enumerate(good) if byte]
        for _ in range(60):
            bad = bytearray(good)
            for _ in range(int(rng.integers(1, 4))):
                place, width = int(rng.choice(places)), int(rng.choice([1, 1, 2, 4, 8]))
                bad[place:place + width] = [rng.bytes(width), b"\xff" * width, bytes(width)][int(rng.integers(3))]
            paths.append(folder / f"bad{len(paths)}.h5")
            paths[-1].write_bytes(bad)
    return paths


def far(folder):
    """A file of holes."""
    path = folder / "in.h5"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    return [path], ["--from", "netcdf"]


def cases():
    def case(make, latest):
        def made(folder):
            import h5py

            path = folder / "in.h5"
            with h5py.File(path, "w", libver=("latest", "latest") if latest else None, track_order=latest) as file:
                file["kept"] = np.arange(3.0)
                make(file, folder)
            return [path]

        return f"hdf5 {make.__name__}{', latest' if latest else ''}", made

    for make in MAKERS:
        yield case(make, False)
    for make in (soft_to_itself, group_in_itself, doubling, external_links, virtual, many_links, huge_and_empty):
        yield case(make, True)
    yield "hdf5 damaged heap", damaged_heap
    yield "hdf5 cut", cut
    yield "hdf5 changed", changed
    yield "hdf5 far", far

"""Archives as datasets, and arrays, in Python."""

from measure import MIB, Case, Goal, at_least, at_most, inside, mib, ratio, seconds, times


def cases(place):
    """The cases. `place` has the tool and the data."""
    yield from arrays(place)
    yield from small_arrays(place)
    yield opening(place)
    yield files(place)
    yield series(place)
    yield point(place)
    yield field(place)
    yield mean(place)
    yield workers(place)


def arrays(place):
    source, count = place.data("array.npy"), place.sizes["array"]
    made = {name: place.scratch(f"array.{ending}") for name, ending in
            (("tgm", "tgm"), ("numpy", "npy"), ("h5py", "h5"), ("zarr", "zarr"), ("safetensors", "safetensors"))}
    length = 4 * count

    def written(case):
        return [at_most("tgm ≤ 1.5 × numpy.save", ratio(case.figure("tgm", "seconds"), case.figure("numpy", "seconds")), 1.5,
                        times)]

    rows = [inside(name, "write_array", name, source, path, output=path) for name, path in made.items()]
    yield Case("Python", f"an array of {length // MIB} MiB to a file", rows, written)

    def read(case):
        return [
            at_most("tgm ≤ 1.2 × numpy.load", ratio(case.figure("tgm", "seconds"), case.figure("numpy", "seconds")), 1.2, times),
            at_most("tgm: memory ≤ the array and 2 MiB", case.figure("tgm", "memory"), length + 2 * MIB, mib),
        ]

    rows = [inside(name, "array", name, path, count) for name, path in made.items()]
    yield Case("Python", f"a file of {length // MIB} MiB to an array", rows, read)


def small_arrays(place):
    source, path = place.data("fields.npy"), place.scratch("fields.tgm")

    def goals(case):
        return [at_most("tgm ≤ 2 × numpy's map", ratio(case.figure("tgm", "seconds"), case.figure("numpy", "seconds")), 2, times)]

    names = {"view": "a view of each of 2000 arrays", "copy": "a copy of each of 2000 arrays", "into": "2000 arrays into one that is there",
             "opening": "opening a file, and a view, 200 times"}
    for way, name in names.items():
        rows = [inside(program, "fields", program, way, source, path) for program in ("tgm", "numpy")]
        yield Case("Python", f"{name}, float32 by a map, {'in random order' if way != 'opening' else 'of one array'}", rows, goals)


def catalogued(place, name):
    """The archive with a catalogue beside it, which is used where it is not forbidden."""
    place.catalog(name)
    return place.data(name)


def opening(place):
    source, count = catalogued(place, "small.grib2.tgm"), place.count("small.grib2")
    some, share = place.data("some.grib2"), count / 113_957

    def goals(case):
        return [
            at_most(f"tgm ≤ {2 * share:.2f} s", case.figure("tgm", "seconds"), 2 * share, seconds),
            at_most(f"tgm by its catalogue ≤ {0.3 * share:.2f} s", case.figure("tgm, catalogue", "seconds"), 0.3 * share, seconds),
        ]

    return Case(
        "Datasets", f"opening {count:,} fields",
        [
            inside("tgm", "open_dataset", "tgm", source),
            inside("tgm, catalogue", "open_dataset", "tgm", source, "yes"),
            inside(f"cfgrib, {place.count('some.grib2'):,} of them", "open_dataset", "cfgrib", some),
        ],
        goals,
    )


def files(place):
    folder, count = place.data("files"), place.sizes["files"]
    tree, share = folder / "all.tree", count / 1000

    def goals(case):
        return [
            at_most(f"by the tree ≤ {2 * share:.2f} s", case.figure("tgm, by the tree", "seconds"), 2 * share, seconds),
            at_most("by the tree: ≤ 300 MB", case.figure("tgm, by the tree", "memory"), 300e6, mib),
        ]

    return Case(
        "Datasets", f"opening {1000 * count:,} fields in {count:,} files",
        [
            inside("tgm, by the tree", "open_dataset", "tgm", tree, "yes"),
            inside("tgm, by the files and their catalogues", "open_dataset", "tgm", folder, "yes"),
            inside("tgm, without catalogues", "open_dataset", "tgm", folder),
        ],
        goals,
    )


def series(place):
    source, count = catalogued(place, "small.grib2.tgm"), place.count("small.grib2")
    share = count / 113_957

    def goals(case):
        return [at_most(f"tgm by its catalogue ≤ {0.5 * share:.2f} s", case.figure("tgm, catalogue", "seconds"), 0.5 * share, seconds)]

    rows = [inside("tgm, catalogue", "point", "tgm", source, "yes"), inside("tgm", "point", "tgm", source)]
    return Case("Datasets", f"a point over small fields of {count:,}, opening included", rows, goals)


def point(place):
    source, grib, count = catalogued(place, "series.grib2.tgm"), place.data("series.grib2"), place.count("series.grib2")

    def goals(case):
        mine = case.figure("tgm", "seconds")
        return [
            at_least("≥ 20 × cfgrib", ratio(case.figure("cfgrib", "seconds"), mine), 20, times),
            at_least("≥ 20 × decoding all by tgm", ratio(case.figure("tgm, all decoded", "seconds"), mine), 20, times),
            equal(case, "tgm", "cfgrib"),
        ]

    return Case(
        "Datasets", f"a point over {count:,} fields, opening included",
        [
            inside("tgm", "point", "tgm", source),
            inside("tgm, catalogue", "point", "tgm", source, "yes"),
            inside("tgm, all decoded", "mean", "decode", source),
            inside("cfgrib", "point", "cfgrib", grib),
        ],
        goals,
    )


def equal(case, one, other):
    """A goal that two rows have read the same."""
    a, b = case.figure(one, "sum"), case.figure(other, "sum")
    is_same = None if a is None or b is None else abs(a - b) <= 1e-5 * abs(b)
    return Goal(f"{one} and {other} read the same values", {None: "not measured", True: "equal", False: f"{a} and {b}"}[is_same],
                is_same)


def field(place):
    source, grib = place.data("series.grib2.tgm"), place.data("series.grib2")

    def goals(case):
        whole = case.figure("tgm, the object", "seconds")
        return [at_most("through xarray ≤ 1.5 × the object", ratio(case.figure("tgm, xarray", "seconds"), whole), 1.5, times)]

    return Case(
        "Datasets", "one field of an open dataset",
        [
            inside("tgm, xarray", "field", "tgm", source),
            inside("tgm, the object", "field", "decode_object", source),
            inside("cfgrib, xarray", "field", "cfgrib", grib),
        ],
        goals,
    )


def mean(place):
    source, grib, count = place.data("series.grib2.tgm"), place.data("series.grib2"), place.count("series.grib2")
    result = 8 * place.sizes["grid"][0] * place.sizes["grid"][1]

    def goals(case):
        return [
            at_least("≥ 0.8 of the rate of decoding", ratio(case.figure("tgm, all decoded", "processor"),
                     case.figure("tgm, reduce", "processor")), 0.8, times),
            at_most("memory ≤ the result and 64 MiB", case.figure("tgm, reduce", "memory"), result + 64 * MIB, mib),
            equal(case, "tgm, reduce", "cfgrib, xarray"),
        ]

    return Case(
        "Datasets", f"the mean over {count:,} fields",
        [
            inside("tgm, reduce", "mean", "tgm", source),
            inside("tgm, all decoded", "mean", "decode", source),
            inside("cfgrib, xarray", "mean", "cfgrib", grib),
        ],
        goals,
    )


def workers(place):
    source, count = place.data("series.grib2.tgm"), place.count("series.grib2")

    def goals(case):
        def gain(what):
            return ratio(case.figure(f"{what}, a worker", "seconds"), case.figure(f"{what}, two workers", "seconds"))

        return [
            at_least("a second worker gains ≥ 0.95 of what it gains for arrays of numpy", ratio(gain("tgm"), gain("numpy")), 0.95, times),
            at_most("≤ 1.25 × the mean of arrays of numpy", ratio(case.figure("tgm, two workers", "seconds"),
                    case.figure("numpy, two workers", "seconds")), 1.25, times),
        ]

    rows = [
        inside(f"{what}, {name}", "workers", what, source, number)
        for what in ("tgm", "numpy", "arithmetic") for number, name in ((1, "a worker"), (2, "two workers"))
    ]
    remark = (
        "Most of this time is dask's own work: it averages arrays in fresh memory. The rows of numpy show that, as they read no file.\n"
        "`ds.tgm.reduce`, above, computes the same mean in one process, while it reads."
    )
    return Case("Datasets", f"the mean over {count:,} fields by dask", rows, goals, remark)

"""Work that people do with the tool, from the start of the program to its end."""

from measure import MIB, Case, at_least, at_most, inside, mib, percent, program, ratio, seconds, size, times


def cases(place):
    """The cases. `place` has the tool and the data."""
    yield statistics(place)
    yield from threads(place)
    yield netcdf(place)
    yield listing(place)
    yield variable(place, "NetCDF", ".nc", "nc4")
    yield variable(place, "Zarr", ".zarr", None)


def statistics(place):
    source, grib = place.data("szip.grib2.tgm"), place.data("szip.grib2")

    def goals(case):
        return [at_least("as fast as `cdo infon`", ratio(case.figure("cdo infon", "seconds"),
                         case.figure("tgm stats", "seconds")), 1.0, times)]

    return Case(
        "Work", f"statistics of {place.count('szip.grib2')} fields",
        [
            program("tgm stats", place.tgm, "stats", source),
            program("tgm stats --threads 1", place.tgm, "stats", "--threads", 1, source),
            program("cdo infon", "cdo", "-s", "infon", grib),
            program("grib_get -p min,max,avg", "grib_get", "-p", "min,max,avg", grib, needs="libeccodes-tools"),
        ],
        goals,
    )


REMARKS = {
    "convert": "The first thread writes the file. A file system takes one writer of a file at a time, so that more of them would gain nothing.",
    "repack to 16 bits and szip": "The file goes to the disk while it is written. What two threads do not halve is the way of the values out of the system's cache, which both use: with `-o -` it is the same.",
    "verify": "Most of the time is copied out of the system's cache: the digests of two threads take less than reading.",
}


def threads(place):
    source, made = place.data("szip.grib2.tgm"), place.scratch("threads.tgm")
    # What is done in some milliseconds is done with more.
    many = place.data("series.grib2.tgm")
    grib = place.data("series.grib2")
    commands = {
        "convert": ["convert", grib],
        "repack --compression zstd": ["repack", source, "--encoding", "none", "--compression", "zstd"],
        "repack to 16 bits and szip": ["repack", place.data("plain.tgm"), "--bits", 16, "--compression", "szip"],
        "stats": ["stats", many],
        "validate --full": ["validate", "--full", many],
        "verify": ["verify", *[many] * 4],
    }
    for name, words in commands.items():
        out = ["-o", made] if name.startswith(("convert", "repack")) else []
        # All threads of `validate` do the same.
        shares = not name.startswith("validate")
        rows = [
            program(f"{count} threads" if count > 1 else "1 thread", place.tgm, *words, "--threads", count, *out,
                    output=made if out else None, share=shares and count > 1)
            for count in place.thread_counts
        ]
        first, last = rows[0].label, rows[-1].label
        bound = {1: 1.0, 2: 1.85}.get(place.thread_counts[-1], 0.62 * place.thread_counts[-1])

        def goals(case, first=first, last=last, bound=bound, shares=shares):
            gain = ratio(case.figure(first, "seconds"), case.figure(last, "seconds"))
            share = case.figure(last, "share")
            serial = [at_most("what one thread does alone: ≤ 3 % of the processor", share, 0.03, percent)] if shares else []
            return [at_least(f"{last}: ≥ {bound:.2f} × one", gain, bound, times), *serial]

        few = source in words or "repack to 16 bits and szip" == name
        count = place.count("szip.grib2" if few else "series.grib2") * max(1, words.count(many))
        yield Case("Work", f"`tgm {name}` of {count:,} messages", rows, goals, REMARKS.get(name, ""))


def netcdf(place):
    source, made = place.data("variable.nc"), place.scratch("variable.tgm")
    other, folder = place.scratch("variable2.nc"), place.scratch("variable.zarr")
    chunk = 4 * place.sizes["grid"][0] * place.sizes["grid"][1]
    bound = 64 * MIB + chunk * place.thread_counts[-1]

    def goals(case):
        return [
            at_least("faster than nccopy", ratio(case.figure("nccopy, DEFLATE 4", "seconds"),
                     case.figure("tgm convert", "seconds")), 1.0, times),
            at_most("64 MiB and a chunk a thread", case.figure("tgm convert", "memory"), bound, mib),
        ]

    return Case(
        "Work", f"NetCDF of one variable, {size(source):,} bytes, to tgm",
        [
            program("tgm convert", place.tgm, "convert", source, "-o", made, output=made),
            program("nccopy, DEFLATE 4", "nccopy", "-4", "-d4", "-s", source, other, needs="netcdf-bin", output=other),
            inside("xarray to Zarr, its default", "to_zarr", source, folder, output=folder),
        ],
        goals,
    )


def listing(place):
    source, count = place.data("small.grib2.tgm"), place.count("small.grib2")
    some, few = place.data("some.grib2"), place.count("some.grib2")
    catalog, share = place.scratch("small.catalog"), count / 1e5

    def goals(case):
        return [
            at_most(f"`ls` ≤ {0.25 * share:.3f} s", case.figure("tgm ls", "seconds"), 0.25 * share, seconds),
            at_most(f"`catalog` ≤ {share:.3f} s", case.figure("tgm catalog --auto", "seconds"), share, seconds),
        ]

    return Case(
        "Work", f"a list and a catalogue of {count:,} messages",
        [
            program("tgm ls", place.tgm, "ls", source),
            program("tgm ls -w, two keys", place.tgm, "ls", "-w", "mars.param=t and mars.step=24", source),
            program("tgm catalog --auto", place.tgm, "catalog", source, "--auto", "-o", catalog, output=catalog),
            program(f"grib_ls, {few:,} of them", "grib_ls", some, needs="libeccodes-tools"),
            program(f"grib_index_build, {few:,} of them", "grib_index_build", "-N", "-o", place.scratch("small.idx"), some,
                    needs="libeccodes-tools"),
        ],
        goals,
    )


def variable(place, what, ending, cdo):
    source, grib = place.data("series.grib2.tgm"), place.data("series.grib2")
    made, other = place.scratch(f"one{ending}"), place.scratch(f"other{ending}")
    rows = [program("tgm convert", place.tgm, "convert", source, "-o", made, output=made)]
    if cdo:
        peer = "cdo"
        rows.append(program(peer, "cdo", "-s", "-f", cdo, "-z", "zip_4", "copy", grib, other, output=other))
    else:
        peer = "cfgrib and xarray"
        rows.append(inside(peer, "to_zarr", grib, other, output=other))

    def goals(case):
        return [
            at_least(f"as fast as {peer}", ratio(case.figure(peer, "seconds"), case.figure("tgm convert", "seconds")), 1.0,
                     times),
            at_most("≤ 512 MiB", case.figure("tgm convert", "memory"), 512 * MIB, mib),
        ]

    return Case("Work", f"{place.count('series.grib2'):,} fields to one variable of {what}", rows, goals)

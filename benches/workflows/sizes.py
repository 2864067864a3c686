"""Sizes: what files become by default, beside what others make of them."""

from measure import Case, Goal, at_most, inside, program, ratio, size, times


def cases(place):
    """The cases. `place` has the tool and the data."""
    yield grib(place, "szip.grib2", "fields of CCSDS with bitmaps", 1.0)
    yield grib(place, "complex.grib2", "fields of complex packing", 1.1)
    yield grib(place, "small.grib2", "fields of 496 values", 1.25)
    yield shorts(place)
    yield weights(place)


def of(case, label, source):
    """Bytes of a result for each byte of its source."""
    return ratio(case.figure(label, "bytes"), source)


def grib(place, name, what, bound):
    source, made, back = place.data(name), place.scratch(f"{name}.tgm"), place.scratch(f"back-{name}")
    before = size(source)

    def goals(case):
        same = None
        if case.figure("tgm convert, back to GRIB", "bytes") is not None:
            same = back.read_bytes() == source.read_bytes()
        return [
            at_most(f"`tgm convert` ≤ {bound} of the GRIB file", of(case, "tgm convert", before), bound, times),
            Goal("back to GRIB, to the byte", {None: "not measured", True: "equal", False: "differs"}[same], same),
        ]

    rows = [
        program("tgm convert", place.tgm, "convert", source, "-o", made, output=made),
        program("tgm convert, back to GRIB", place.tgm, "convert", made, "-o", back, output=back),
    ]
    remark = ""
    if name == "small.grib2":
        few = place.scratch(f"{name}.few.tgm")
        rows.append(program("tgm convert --grib-keys few", place.tgm, "convert", source, "--grib-keys", "few", "-o", few, output=few))
        remark = (
            "A message has 3,288 bytes: 1,488 of packed values, 880 of keys that its sections say too, 200 of these sections, 280 of keys of\n"
            "MARS, shape, writer and time, 220 of the descriptor, 128 of index and digests, 92 of frames and ends. Values, sections, descriptor\n"
            "and frames alone are 1.20 × the GRIB file, so 1.25 × leaves room for digests or for keys, not for both."
        )
    other = place.scratch(f"{name}.nc")
    # The time that cdo takes for many fields grows faster than their number.
    if place.count(name) <= 1000:
        rows.append(program("cdo to NetCDF 4, DEFLATE 4", "cdo", "-s", "-f", "nc4", "-z", "zip_4", "copy", source, other,
                            output=other))
    return Case("Sizes", f"{place.count(name):,} {what}, {before:,} bytes of GRIB", rows, goals, remark)


def shorts(place):
    source, before = place.data("shorts.nc"), size(place.data("shorts.nc"))
    rows = [("values, lossless", ()), ("--keep-packed", ("--keep-packed",)), ("--bits 16 --compression szip",
             ("--convert", "--bits", "16", "--compression", "szip"))]
    made = place.scratch("shorts.tgm")
    rows = [program(f"tgm convert: {label}", place.tgm, "convert", source, *words, "-o", made, output=made)
            for label, words in rows]
    other, folder = place.scratch("shorts2.nc"), place.scratch("shorts.zarr")
    rows.append(program("nccopy, DEFLATE 4", "nccopy", "-4", "-d4", "-s", source, other, needs="netcdf-bin", output=other))
    rows.append(inside("xarray to Zarr, its default", "to_zarr", source, folder, output=folder))

    def goals(case):
        return [
            at_most("values ≤ 2.0", of(case, "tgm convert: values, lossless", before), 2.0, times),
            at_most("`--keep-packed` ≤ 1.0", of(case, "tgm convert: --keep-packed", before), 1.0, times),
            at_most("`--bits 16` ≤ 1.0", of(case, "tgm convert: --bits 16 --compression szip", before), 1.0, times),
        ]

    return Case("Sizes", f"NetCDF of packed shorts, DEFLATE 4, {before:,} bytes", rows, goals)


def weights(place):
    source, before = place.data("weights.safetensors"), size(place.data("weights.safetensors"))
    made, best, packed = place.scratch("weights.tgm"), place.scratch("weights-best.tgm"), place.scratch("weights.zst")

    def goals(case):
        return [at_most("`--best` ≤ 0.72", of(case, "tgm convert --best", before), 0.72, times)]

    return Case(
        "Sizes", f"weights as bfloat16, {before:,} bytes of safetensors",
        [
            program("tgm convert", place.tgm, "convert", source, "-o", made, output=made),
            program("tgm convert --best", place.tgm, "convert", source, "--best", "-o", best, output=best),
            program("zstd -9 of the file", "zstd", "-q", "-f", "-9", source, "-o", packed, output=packed),
        ],
        goals,
    )

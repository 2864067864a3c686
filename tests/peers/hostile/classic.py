"""Files of the older forms of NetCDF whose headers lie."""
import struct

import numpy as np

FLOAT = 5
KINDS = ("netcdf",)


class Header:
    """A header with a dimension of records, one of four, and a variable over each, where any number can be another one."""

    def __init__(self, version=1):
        self.version, self.records = version, 2
        self.dimensions = [(b"time", 0), (b"x", 4)]
        self.attributes = [(b"title", 2, b"text")]
        # Name, dimensions, attributes, type, bytes, offset. Offsets of None follow each other after the header.
        self.variables = [(b"v", [1], [], FLOAT, 16, None), (b"r", [0, 1], [], FLOAT, 16, None)]
        self.counts = {}
        self.tags = {}

    def number(self, value):
        return struct.pack(">Q" if self.version == 5 else ">I", value % (1 << (64 if self.version == 5 else 32)))

    def offset(self, value):
        return struct.pack(">I" if self.version == 1 else ">Q", value % (1 << (32 if self.version == 1 else 64)))

    def name(self, name):
        length = self.counts.get(name, len(name))
        return self.number(length) + name + bytes(-len(name) % 4)

    def list(self, what, tag, entries):
        count = self.counts.get(what, len(entries))
        return struct.pack(">I", self.tags.get(what, tag)) + self.number(count) + b"".join(entries)

    def attribute_list(self, what, attributes):
        entries = []
        for name, kind, values in attributes:
            width = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8}.get(kind, 1)
            count = self.counts.get(("values", name), len(values) // width)
            entries.append(self.name(name) + struct.pack(">I", kind % (1 << 32)) + self.number(count)
                           + values + bytes(-len(values) % 4))
        return self.list(what, 12, entries)

    def bytes(self, values=b""):
        def made(places):
            dimensions = [self.name(name) + self.number(length) for name, length in self.dimensions]
            variables = []
            for place, (name, dims, attributes, kind, size, begin) in enumerate(self.variables):
                variables.append(
                    self.name(name) + self.number(self.counts.get(("dims", name), len(dims)))
                    + b"".join(self.number(dim) for dim in dims) + self.attribute_list(("of", name), attributes)
                    + struct.pack(">I", kind % (1 << 32)) + self.number(size)
                    + self.offset(places[place] if begin is None else begin))
            return (b"CDF" + bytes([self.version]) + self.number(self.records) + self.list("dimensions", 10, dimensions)
                    + self.attribute_list("attributes", self.attributes) + self.list("variables", 11, variables))

        start = len(made([0] * len(self.variables)))
        places, at = [], start
        for *_, size, begin in self.variables:
            places.append(at % (1 << 62))
            at += size if begin is None and size < 1 << 20 else 0
        return made(places) + (values or np.arange(100, dtype=">f4").tobytes())


def cases():
    """Pairs of a name and a function that makes the file."""
    numbers = {"negative": -1, "half": 1 << 31, "almost all": (1 << 32) - 2, "large": 1 << 62, "minus half": -(1 << 31)}

    def case(name, change, version):
        def make(folder):
            header = Header(version)
            values = change(header)
            (folder / "in.nc").write_bytes(header.bytes(values or b""))
            return [folder / "in.nc"]

        return f"netcdf {version} {name}", make

    def variable(**more):
        def change(header):
            name, dims, attributes, kind, size, begin = header.variables[more.get("place", 0)]
            header.variables[more.get("place", 0)] = (
                more.get("name", name), more.get("dims", dims), more.get("attributes", attributes),
                more.get("kind", kind), more.get("size", size), more.get("begin", begin))

        return change

    def counted(what, number):
        def change(header):
            header.counts[what] = number

        return change

    def records(number, alone=False):
        def change(header):
            header.records = number
            if alone:
                header.variables = header.variables[1:]

        return change

    def dimension(number, name=b"x"):
        def change(header):
            header.dimensions[1] = (name, number)

        return change

    def many_of_the_same_bytes(header):
        header.dimensions[1] = (b"x", 1 << 16)
        header.variables = [(b"v%d" % place, [1], [], FLOAT, 1 << 18, 4) for place in range(4000)]
        return bytes(1 << 18)

    def records_of_the_same_bytes(header):
        header.records = 1 << 16
        header.variables = [(b"v%d" % place, [0], [], FLOAT, 4, 4) for place in range(1000)]
        return bytes(1 << 22)

    def equal_names(header):
        header.variables = [(b"v", [1], [], FLOAT, 16, None)] * 2

    def equal_dimensions(header):
        header.dimensions = [(b"x", 4), (b"x", 4)]
        header.variables = [(b"v", [0, 1], [], FLOAT, 64, None)]

    def equal_attributes(header):
        header.attributes = [(b"a", 2, b"text"), (b"a", 2, b"more")]

    def two_records(header):
        header.dimensions = [(b"time", 0), (b"t", 0)]

    def many_dimensions(header):
        header.dimensions = [(b"d%d" % place, 1) for place in range(1500)]
        header.variables = [(b"v", list(range(1500)), [], FLOAT, 4, None)]

    def thousand_dimensions(header):
        header.dimensions = [(b"d%d" % place, 2) for place in range(1000)]
        header.variables = [(b"v", list(range(1000)), [], FLOAT, 4, None)]

    def named(name):
        def change(header):
            header.dimensions[1] = (name, 4)
            header.attributes = [(name, 2, b"text")]
            header.variables = [(name, [1], [(name, 2, b"text")], FLOAT, 16, None)]

        return change

    for version in (1, 2, 5):
        for word, number in numbers.items():
            yield case(f"records {word}", records(number), version)
            yield case(f"records {word}, alone", records(number, True), version)
            yield case(f"length of a dimension {word}", dimension(number), version)
            for what in ("dimensions", "attributes", "variables", b"x", b"title", b"v", ("values", b"title"),
                         ("dims", b"v"), ("of", b"v")):
                yield case(f"count of {what} {word}", counted(what, number), version)
            yield case(f"type {word}", variable(kind=number), version)
            yield case(f"size {word}", variable(size=number), version)
            yield case(f"size of records {word}", variable(size=number, place=1), version)
            yield case(f"offset {word}", variable(begin=number), version)
            yield case(f"offset of records {word}", variable(begin=number, place=1), version)
            yield case(f"dimension {word}", variable(dims=[number]), version)
        for kind in (0, 7, 12):
            yield case(f"type {kind}", variable(kind=kind), version)
            yield case(f"type {kind} of an attribute", variable(attributes=[(b"a", kind, bytes(8))]), version)
        yield case("values within the header", variable(begin=0), version)
        yield case("many of the same bytes", many_of_the_same_bytes, version)
        yield case("records of the same bytes", records_of_the_same_bytes, version)
        yield case("equal names", equal_names, version)
        yield case("equal dimensions", equal_dimensions, version)
        yield case("equal attributes", equal_attributes, version)
        yield case("two unlimited dimensions", two_records, version)
        yield case("many dimensions", many_dimensions, version)
        yield case("a thousand dimensions", thousand_dimensions, version)
        for name in (b"", b"/", b"../../x", b"a/b", b"\0", b"a\0b", b"\xff\xfe", b"x" * 257, b"-O", b"\x1b[31m", b" ",
                     b"\n"):
            yield case(f"name {name[:9]!r}", named(name), version)
        for tag in (0, 11, 13, 1 << 31):
            yield case(f"tag {tag}", lambda header, tag=tag: header.tags.update(variables=tag), version)

        def make_cuts(folder, version=version):
            whole = Header(version).bytes()
            paths = []
            for length in range(4, len(whole), 7):
                path = folder / f"cut{length}.nc"
                path.write_bytes(whole[:length])
                paths.append(path)
            return paths

        yield f"netcdf {version} cut", make_cuts

        def make_sparse(folder, version=version):
            header = Header(version)
            header.counts["attributes"] = 1 << 26
            path = folder / "in.nc"
            path.write_bytes(header.bytes())
            with path.open("r+b") as file:
                file.truncate(1 << 30)
            return [path]

        yield f"netcdf {version} of holes", make_sparse

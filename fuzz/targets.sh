# To be sourced: what every way to run the targets knows of them.

# What a target starts from: a folder that `seeds` writes.
seeds_of() {
    case $1 in
        arrays) echo arrays ;;
        cbor | descriptor | metadata) echo cbor ;;
        catalog) echo catalog ;;
        frame) echo frame ;;
        grib) echo grib2 ;;
        grid) echo grid ;;
        masks) echo mask ;;
        szip) echo szip ;;
        tree) echo tree ;;
        # These take bytes as decisions or as values.
        generated | roundtrip | streaming | unpack) echo values ;;
        zarr) echo zarr ;;
        zio) echo zio ;;
        *) echo tgm ;;
    esac
}

# The fuzz targets.
libfuzzer_targets() {
    basename -s .rs fuzz_targets/*.rs
}

# Limits: bytes of an input, MiB of one allocation and of the whole program, seconds that an input may take.
max_len=4096
malloc_limit_mb=64
rss_limit_mb=1024
timeout=10

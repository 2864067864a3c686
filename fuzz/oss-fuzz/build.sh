#!/usr/bin/env bash
# Builds the fuzz targets for OSS-Fuzz, which sets SRC, OUT and WORK: `build.sh [TARGET...]`, all of them unless told
# otherwise. OUT then holds the program of each target, its seeds, its dictionary and its options.
set -euo pipefail
cd "$SRC/tgm/fuzz"
source targets.sh
# For compilers other than nightly ones.
export RUSTC_BOOTSTRAP=1

build() {
    cargo fuzz build -O --target-dir "$WORK/target" "$@"
}

targets=("$@")
if [ ${#targets[@]} -gt 0 ]; then
    build seeds
    for target in "${targets[@]}"; do build "$target"; done
else
    build
    mapfile -t targets < <(libfuzzer_targets)
fi

bin=$WORK/target/$(rustc -vV | sed -n 's/^host: //p')/release
rm -rf "$WORK/seeds"
ASAN_OPTIONS=detect_leaks=0 "$bin/seeds" ../tests "$WORK/seeds"
for target in "${targets[@]}"; do
    cp "$bin/$target" "$OUT/"
    rm -rf "$WORK/start"
    cp -r "$WORK/seeds/$(seeds_of "$target")" "$WORK/start"
    if [ -f "kept/$target.zip" ]; then python3 -m zipfile -e "kept/$target.zip" "$WORK/start"; fi
    (cd "$WORK/start" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" ./*)
    cp tgm.dict "$OUT/$target.dict"
    printf '[libfuzzer]\n%s = %s\n%s = %s\n%s = %s\n%s = %s\n' max_len "$max_len" malloc_limit_mb "$malloc_limit_mb" \
        rss_limit_mb "$rss_limit_mb" timeout "$timeout" >"$OUT/$target.options"
done

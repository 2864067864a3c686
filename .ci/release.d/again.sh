# To be sourced: two builds in two folders.

# The source archive once more, from a copy of what is committed, in another folder: the bytes are the same.
again() {
    local copy=$place/again/copy
    rm -rf "$place/again"
    git clone --quiet --local . "$copy"
    (cd "$copy" && artefacts=$place/again && make_sdist)
    cmp "$place/again/tgmio-$version.tar.gz" "$artefacts/tgmio-$version.tar.gz"
    echo "twice the same: tgmio-$version.tar.gz"
    rm -rf "$place/again"
}

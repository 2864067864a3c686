# To be sourced: the recipe of conda.

# Takes what `sdist` made. The recipe is rendered, and not built: that needs the packages of conda-forge.
conda() {
    local sum recipe=$artefacts/tgmio-$version-recipe.yaml
    sum=$(sha256sum "$artefacts/tgmio-$version.tar.gz")
    sed "s/@VERSION@/$version/; s/@SHA256@/${sum%% *}/" .ci/release.d/recipe.yaml >"$recipe"
    "$tools/bin/pip" install --quiet py-rattler-build==0.73.0
    "$tools/bin/python" - "$recipe" <<'END'
import sys
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

known = VariantConfig.from_yaml("{c_compiler: [gcc], cxx_compiler: [gxx], rust_compiler: [rust], c_stdlib: [sysroot]}")
for target in ("linux-64", "linux-aarch64"):
    (variant,) = Stage0Recipe.from_file(sys.argv[1]).render(known, RenderConfig(platform=PlatformConfig(target_platform=target)))
    print(target, variant.recipe.package.name, variant.recipe.package.version, variant.recipe.requirements.build)
END
    row "$recipe" - -
}

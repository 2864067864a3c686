"""The references that the book links: pages of the names of Python, of the headers of C and C++, and what rustdoc makes."""
import json
import os
import re
import shutil
import subprocess

HEADERS = {
    "c.md": ("The headers of C", "C", ["tgm.h", "tensogram.h"]),
    "cpp.md": ("The headers of C++", "C++", ["tgm.hpp", "tgm_basics.hpp", "tgm_read.hpp", "tgm_write.hpp", "tgm_dataset.hpp",
                                            "tgm_async.hpp"]),
}
# What a Python with the package prints: of each public name its kind, its signature, its text, and the same of its members.
LOOK = r"""
import inspect, json, tgmio

def told(name, value):
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = ""
    return {"name": name, "signature": signature, "text": inspect.getdoc(value) or ""}

def members(owner):
    own = [(name, value) for name, value in vars(owner).items() if not name.startswith("_") and (getattr(value, "__doc__", None))]
    return [told(name, value) for name, value in sorted(own)]

print(json.dumps([
    {**told(name, value), "kind": "class" if inspect.isclass(value) else "function" if callable(value) else "value",
     "members": members(value) if inspect.isclass(value) else []}
    for name, value in ((name, getattr(tgmio, name)) for name in sorted(tgmio.__all__))
]))
"""


def headers(root, page):
    """A page of header files, as they are."""
    title, language, names = HEADERS[page]
    folder = root / "std-ext/c/include"
    fence = "c" if language == "C" else "cpp"
    parts = [f"## {name}\n\n```{fence}\n{(folder / name).read_text().strip()}\n```\n" for name in names]
    return f"# {title}\n\nWhat a program includes. The comments say what each function does.\n\n" + "\n".join(parts)


def python(program):
    """The page of all names of the package, by a Python that has it."""
    found = json.loads(subprocess.run([program, "-c", LOOK], check=True, stdout=subprocess.PIPE, text=True).stdout)
    lines = ["# The names of Python\n", "All public names of `tgmio`, with what `help` says.\n"]
    for kind, title in (("function", "Functions"), ("class", "Classes"), ("value", "Values")):
        lines.append(f"## {title}\n")
        for name in (each for each in found if each["kind"] == kind):
            lines += described("###", name) if kind != "value" else [f"- `{name['name']}`\n"]
            for member in name["members"]:
                lines += described("####", {**member, "name": f"{name['name']}.{member['name']}"})
    return "\n".join(lines)


def described(mark, name):
    """A heading with a signature, and the text of a name."""
    # Not the class's own call, which its text has.
    signature = name["signature"].replace("(self, /, ", "(").replace("(self, /)", "()").replace("(self, ", "(").replace("(self)", "()")
    heading = f"{mark} {name['name']}\n\n```python\n{name['name']}{signature}\n```\n" if signature else f"{mark} {name['name']}\n"
    # Examples are blocks of code: they begin with a prompt, and end with a line that is empty.
    text = re.sub(r"^>>> .*?(?=\n\n|\Z)", lambda example: f"```python\n{example[0]}\n```", name["text"], flags=re.DOTALL | re.MULTILINE)
    return [heading, text + "\n"]


def rust(root, target, folder):
    """Puts the pages of rustdoc into a folder, without the sources, and returns a page that leads to them."""
    described = subprocess.run(["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"], cwd=root, check=True,
                               stdout=subprocess.PIPE, text=True).stdout
    packages = {package["name"]: package for package in json.loads(described)["packages"]}
    names = [name for name, package in packages.items()
             if package["publish"] is None and any(kind == "lib" for each in package["targets"] for kind in each["kind"])]
    names = [name for name in names if name not in ("tgm-arbitrary", "tgm-needs", "tgm-tool", "tgm-capi")]
    # Pages of sources would be half of the book.
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1", "RUSTDOCFLAGS": "-Zunstable-options --html-no-source"}
    arguments = [word for name in names for word in ("-p", name)]
    subprocess.run(["cargo", "doc", "--quiet", "--locked", "--no-deps", "--all-features", "--target-dir", target, *arguments],
                   cwd=root, env=environment, check=True)
    shutil.copytree(target / "doc", folder / "rustdoc", ignore=shutil.ignore_patterns("src", ".lock"))
    rows = [f"| [`{name}`](../../../rustdoc/{name.replace('-', '_')}/index.html) | {packages[name]['description']} |"
            for name in sorted(names)]
    return "# The names of Rust\n\n| crate | what it has |\n|---|---|\n" + "\n".join(rows) + "\n"

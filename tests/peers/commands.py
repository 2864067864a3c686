"""What the comparisons share: running the tool, and choosing a comparison by its name."""
import subprocess
import sys


def run(tgm, *arguments, code=0, timeout=120):
    """Runs the tool. Another exit code than `code` ends the comparison; None takes any."""
    done = subprocess.run([tgm, *map(str, arguments)], capture_output=True, timeout=timeout)
    if code is not None and done.returncode != code:
        sys.exit(f"tgm {' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr.decode()}")
    return done


def choose(usage, comparisons, cases):
    """Calls the comparison that the command line names: `NAME TGM [CASES [SEED]]`.

    `comparisons` has functions by name. Those that take `cases` and `seed` get them, by default `cases` and 1.
    """
    name, *arguments = sys.argv[1:] or [None]
    comparison = comparisons.get(name)
    if comparison is None or not arguments:
        sys.exit(usage)
    tgm, *numbers = arguments
    if comparison.__code__.co_argcount == 1:
        comparison(tgm)
    else:
        given = [int(number) for number in numbers]
        comparison(tgm, *(given + [cases, 1][len(given):]))

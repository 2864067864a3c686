"""The results as Markdown and as JSON."""

from measure import mib, number, percent, seconds

COLUMNS = {
    "seconds": ("time", seconds), "processor": ("processor", seconds), "memory": ("memory", mib), "bytes": ("bytes", number),
    "requests": ("requests", number), "share": ("first thread", percent),
}


def markdown(cases, about, is_quick):
    """The page: what is demanded, and then each case."""
    verdicts = [(case, goal) for case in cases for goal in case.verdicts]
    counts = {met: sum(goal.met is met for _, goal in verdicts) for met in (True, False, None)}
    lines = [
        "# Workflows", "",
        "Written by `benches/run workflows`. " + ". ".join(about) + ".", "",
        "Times are medians by the clock of programs from start to end; rows of a case take turns. Rows of Python are the work alone, and",
        "their memory is what it took beyond what the process had. Where a program gets a part of the data, its row says so.",
        *(["", "The data are small here. Demands are for full size: small data miss those that the start of a program outweighs."] if is_quick else []), "",
        f"**{counts[True]} of {len(verdicts)} demands are met**, {counts[False]} are missed, {counts[None]} could not be measured here.",
        "", "## Demands", "", "| workflow | demand | measured | met |", "|---|---|---|---|",
    ]
    mark = {True: "yes", False: "**no**", None: "?"}
    lines += [f"| {cell(case.name)} | {cell(goal.demand)} | {cell(goal.figure)} | {mark[goal.met]} |" for case, goal in verdicts]
    table = None
    for case in cases:
        if case.table != table:
            table = case.table
            lines += ["", f"## {table}"]
        lines += ["", f"### {case.name[:1].upper()}{case.name[1:]}", "", *([case.remark, ""] if case.remark else []), *rows(case)]
    return "\n".join(lines) + "\n"


def rows(case):
    """The table of a case, with the columns that it has figures for."""
    shown = [name for name in COLUMNS if any(row.of(name) is not None for row in case.rows)]
    lines = ["| program | " + " | ".join(COLUMNS[name][0] for name in shown) + " |", "|---" * (len(shown) + 1) + "|"]
    for row in case.rows:
        figures = [COLUMNS[name][1](row.of(name)) if row.of(name) is not None else "" for name in shown]
        if row.missing:
            figures = [cell(row.missing), *figures[1:]] if figures else [cell(row.missing)]
        lines.append(f"| {cell(row.label)} | " + " | ".join(figures) + " |")
    return lines


def cell(text):
    """Text that does not end a cell."""
    return text.replace("|", "\\|")


def json(cases, about):
    """All results, for machines."""
    return {
        "schema": "tgm.workflows/1",
        "about": about,
        "cases": [
            {
                "table": case.table, "case": case.name,
                "rows": [{"label": row.label, "missing": row.missing, **row.figures, "turns": row.turns} for row in case.rows],
                "demands": [{"demand": goal.demand, "figure": goal.figure, "met": goal.met} for goal in case.verdicts],
            }
            for case in cases
        ],
    }

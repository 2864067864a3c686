"""Bars as SVG: for each case, the figures of its rows beside each other. The longest bar of a case is as long as the picture allows."""

from xml.sax.saxutils import escape

LEFT, BAR, RIGHT, LINE, GAP = 300, 360, 120, 18, 14
OURS, OTHERS = "#1b6ca8", "#b9bec5"


def bars(cases, figure, text, title):
    """A picture of one figure. `None` if no case has it in two rows."""
    shown = [(case, [row for row in case.rows if row.of(figure) is not None]) for case in cases]
    shown = [(case, rows) for case, rows in shown if len(rows) > 1]
    if not shown:
        return None
    parts, y = [label(10, 24, title, 16, "bold")], 44
    for case, rows in shown:
        parts.append(label(10, y + 12, case.name, 12, "bold"))
        y += LINE + 4
        most = max(row.of(figure) for row in rows) or 1
        for row in rows:
            width = max(BAR * row.of(figure) / most, 1)
            colour = OURS if is_ours(case, row) else OTHERS
            parts.append(label(LEFT - 8, y + 12, row.label, 12, "normal", "end"))
            parts.append(f'<rect x="{LEFT}" y="{y + 2}" width="{width:.1f}" height="{LINE - 5}" fill="{colour}"/>')
            parts.append(label(LEFT + width + 6, y + 12, text(row.of(figure)), 11))
            y += LINE
        y += GAP
    width = LEFT + BAR + RIGHT
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{width}" height="{y}" fill="white"/>', *parts, "</svg>"]) + "\n"


def is_ours(case, row):
    """Whether the row is of this project."""
    return row.label.startswith("tgm") or all("tgm" in other.words[0] for other in case.rows)


def label(x, y, text, size, weight="normal", anchor="start"):
    """Text at a place."""
    return (
        f'<text x="{x:.1f}" y="{y}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="#222">{escape(text)}</text>'
    )

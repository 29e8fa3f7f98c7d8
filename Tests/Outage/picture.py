"""The picture of an outage, drawn from what Prometheus recorded. No library: it is lines and letters."""

WIDTH, LEFT, RIGHT = 860, 64, 20
INNER = WIDTH - LEFT - RIGHT
STYLE = """
:root { --ink: #1f2328; --faint: #8b949e; --rule: #d8dee4; --away: #f6e3d0;
  --wait: #3b76c4; --late: #d1872c; --out: #2f8f5b; --paper: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --faint: #8b949e; --rule: #30363d;
  --away: #3a2a1c; --wait: #6ea8ef; --late: #e6a654; --out: #56c288; --paper: #0d1117; } }
text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.faint { fill: var(--faint); font-size: 11px; } .title { font-weight: 600; font-size: 13px; }
.rule { stroke: var(--rule); stroke-width: 1; } .end { text-anchor: end; } .mid { text-anchor: middle; }
"""


def outage(recorded, start):
    """`recorded`: what was asked of Prometheus, by name."""
    away = [moment for moment, value in points(recorded["away"][0], start) if value]
    first, last = (min(away), max(away)) if away else (0, 0)
    # What came before the accounts were there, and long after, says nothing.
    begin = max(0, first - 12)
    waiting = sums(recorded["pending"], start)
    busy = [moment for moment, value in waiting if value]
    finish = max(busy + [last]) + 12
    axis = Axis(begin, finish)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} 470" role="img" '
        f'aria-label="Pending changes rise during an outage, wait, and drain when the network returns">',
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="470" fill="var(--paper)"/>',
        f'<rect x="{axis.x(first):.1f}" y="34" width="{axis.x(last) - axis.x(first):.1f}" height="392" '
        f'fill="var(--away)"/>',
        f'<text class="mid" x="{(axis.x(first) + axis.x(last)) / 2:.1f}" y="24">upstream away</text>',
    ]
    parts += chart(axis, 60, 150, "Edits that wait", "", [(waiting, "--wait", True)], [])
    backoff = points(recorded["backoff"][0], start) if recorded["backoff"] else []
    parts += chart(axis, 246, 60, "Longest pause in force", " s", [(backoff, "--late", True)], [])
    parts += chart(axis, 342, 84, "Edits in and out, a second", "", [
        (points(recorded["in"][0], start), "--wait", False),
        (points(recorded["out"][0], start), "--out", True),
    ], [("taken", "--wait"), ("brought upstream", "--out")])
    parts += [
        f'<text class="faint mid" x="{axis.x(moment):.1f}" y="444">{label}</text>'
        for moment, label in axis.marks(first)
    ]
    parts.append(f'<text class="faint mid" x="{LEFT + INNER / 2}" y="462">seconds since the upstream went away</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"


class Axis:
    def __init__(self, begin, end):
        self.begin, self.end = begin, end

    def x(self, moment):
        share = (moment - self.begin) / (self.end - self.begin)
        return LEFT + INNER * min(max(share, 0), 1)

    def marks(self, zero):
        step = 10 if self.end - self.begin < 150 else 30
        moment = zero - int((zero - self.begin) // step) * step
        while moment <= self.end:
            yield moment, f"{moment - zero:.0f}"
            moment += step


def points(series, start):
    return [(moment - start, float(value)) for moment, value in series["values"] if value != "NaN"]


def sums(many, start):
    total = {}
    for one in many:
        for moment, value in points(one, start):
            total[moment] = total.get(moment, 0) + value
    return sorted(total.items())


def ceiling(value):
    for step in (1, 2, 5, 10, 20, 30, 50, 60, 100, 200, 300, 500, 600, 1000, 2000, 5000, 10000):
        if value <= step:
            return step
    return value


def chart(axis, top, height, title, unit, lines, legend):
    seen = [value for line, _, _ in lines for moment, value in line if axis.begin <= moment <= axis.end]
    high = ceiling(max(seen + [1]))
    base = top + height

    def y(value):
        return base - height * value / high

    parts = [f'<text class="title" x="{LEFT}" y="{top - 10}">{title}</text>']
    place = WIDTH - RIGHT
    for text, colour in reversed(legend):
        parts.append(f'<text class="end" x="{place}" y="{top - 10}" style="fill: var({colour})">{text}</text>')
        place -= 14 + 6.4 * len(text)
    for value in (0, high / 2, high):
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>')
        parts.append(f'<text class="faint end" x="{LEFT - 8}" y="{y(value) + 4:.1f}">{value:g}{unit}</text>')
    for line, colour, filled in lines:
        inside = [(axis.x(moment), y(value)) for moment, value in line if axis.begin <= moment <= axis.end]
        if not inside:
            continue
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in inside)
        if filled:
            area = f"{path}L{inside[-1][0]:.1f} {base}L{inside[0][0]:.1f} {base}Z"
            parts.append(f'<path d="{area}" fill="var({colour})" fill-opacity="0.25"/>')
        parts.append(f'<path d="{path}" fill="none" stroke="var({colour})" stroke-width="1.6"/>')
    return parts

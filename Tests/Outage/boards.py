"""The boards as Grafana would draw them, from what Prometheus recorded: a picture for each.

Good enough to see whether a panel says something; no library, as in picture.py.
"""
import html
import math
import re

COLUMN, ROW, GAP = 50, 34, 8
COLOURS = ["#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#5794f2", "#b877d9", "#c4162a", "#fade2a", "#96d98d",
           "#37872d", "#ffa6b0", "#ca95e5", "#56a64b", "#e0b400", "#3274d9"]
NAMED = {"green": "#37872d", "yellow": "#b38a00", "red": "#c4162a", "text": "#d0d3d8", "blue": "#3274d9"}
STYLE = """text { font: 11px system-ui, sans-serif; fill: #c7cad1; }
.title { font-weight: 600; } .head { font-size: 14px; }
.big { font-size: 26px; font-weight: 600; fill: #fff; text-anchor: middle; } .end { text-anchor: end; }
.faint { fill: #80858f; font-size: 10px; } .rule { stroke: #2c3036; }"""


def shown(value, unit):
    """A number as people read it."""
    if value is None or math.isnan(value):
        return "no data"
    if unit == "percentunit":
        return f"{value * 100:.4g} %"
    if unit in ("s", "dtdurations"):
        for size, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms")):
            if abs(value) >= size:
                return f"{value / size:.3g} {name}"
        return "0 s" if value == 0 else f"{value * 1e6:.3g} µs"
    if unit in ("bytes", "decbytes"):
        for size, name in ((2 ** 30, "GiB"), (2 ** 20, "MiB"), (2 ** 10, "KiB")):
            if abs(value) >= size:
                return f"{value / size:.3g} {name}"
        return f"{value:.3g} B"
    suffix = {"short": "", "none": "", "ops": "/s", "reqps": "/s", "cps": "/s", "wps": "/s"}.get(unit, f" {unit}")
    for size, name in ((1e6, " M"), (1e4, " k")):
        if abs(value) >= size:
            return f"{value / (1e6 if name == ' M' else 1e3):.3g}{name}{suffix}"
    return f"{value:.4g}{suffix}"


def named(legend, labels):
    if legend in ("", "__auto"):
        text = ", ".join(f"{name}={value}" for name, value in sorted(labels.items()) if name not in ("job", "instance"))
        return text or "value"
    for name, value in labels.items():
        legend = legend.replace("{{%s}}" % name, value)
    return legend


class Course:
    """One line of a panel."""

    def __init__(self, legend, series):
        self.labels = {name: value for name, value in series["metric"].items() if name != "__name__"}
        self.name = named(legend, self.labels)
        numbers = [(moment, float(value)) for moment, value in series["values"]]
        self.points = [(moment, value) for moment, value in numbers if math.isfinite(value)]

    @property
    def most(self):
        return max((abs(value) for _, value in self.points), default=0)

    @property
    def last(self):
        return self.points[-1][1] if self.points else None


class Panel:
    def __init__(self, panel, courses, start, end):
        place, self.panel, self.courses = panel["gridPos"], panel, courses
        self.start, self.end = start, end
        self.x, self.y = place["x"] * COLUMN, place["y"] * ROW + 40
        self.width, self.height = place["w"] * COLUMN - GAP, place["h"] * ROW - GAP
        self.defaults = panel.get("fieldConfig", {}).get("defaults", {})
        self.unit = self.defaults.get("unit", "short")

    def text(self, x, y, words, kind=""):
        return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{html.escape(str(words))}</text>'

    def draw(self):
        if self.panel["type"] == "row":
            return [self.text(self.x + 4, self.y + 20, self.panel["title"], "head")]
        parts = [f'<rect x="{self.x}" y="{self.y}" width="{self.width}" height="{self.height}" rx="3" fill="#181b1f"/>']
        draw = {"stat": self.stat, "heatmap": self.heat, "table": self.table}.get(self.panel["type"], self.graph)
        parts += draw()
        return parts + [self.text(self.x + 8, self.y + 16, self.panel["title"], "title")]

    def colour(self, value):
        colour = None
        for step in self.defaults.get("thresholds", {}).get("steps", []):
            if step["value"] is None or (value is not None and value >= step["value"]):
                colour = step["color"]
        if self.defaults.get("color", {}).get("mode") == "fixed":
            return "#22252b"
        return NAMED.get(colour, "#22252b")

    def words(self, value):
        if value is not None and self.defaults.get("decimals") == 0:
            value = round(value)
        for mapping in self.defaults.get("mappings", []):
            for key, option in mapping["options"].items():
                if value is not None and float(key) == value:
                    return option["text"]
        return shown(value, self.unit)

    def stat(self):
        value = self.courses[0].last if self.courses else None
        parts = [f'<rect x="{self.x}" y="{self.y}" width="{self.width}" height="{self.height}" rx="3" '
                 f'fill="{self.colour(value)}"/>']
        for course in self.courses[:1]:
            inner = (self.y + self.height * 0.62, 0)
            parts += self.line(course, "#ffffff", *self.scale([course]), fill=True, inner=inner)
        return parts + [self.text(self.x + self.width / 2, self.y + 62, self.words(value), "big")]

    def scale(self, courses):
        values = [value for course in courses for _, value in course.points] or [0]
        low = min(0, *values) if self.defaults.get("min", None) in (0, None) else self.defaults["min"]
        high = self.defaults.get("max") or max(values)
        return low, high if high > low else low + 1

    def at(self, moment, left):
        return self.x + left + (self.width - left - 10) * (moment - self.start) / (self.end - self.start)

    def line(self, course, colour, low, high, fill, inner, left=0):
        # Layers hide what is below them; lines do not.
        stacks = self.defaults.get("custom", {}).get("stacking", {}).get("mode") == "normal"
        opacity = 1 if stacks else 0.15
        top, foot = inner
        bottom = self.y + self.height - foot
        runs, last = [], None
        for moment, value in course.points:
            if last is None or moment - last > 4:
                runs.append([])
            runs[-1].append((self.at(moment, left), bottom - (bottom - top) * (min(value, high) - low) / (high - low)))
            last = moment
        parts = []
        for run in runs:
            path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in run) + ("h1" if len(run) == 1 else "")
            if fill:
                parts.append(f'<path d="{path}V{bottom}H{run[0][0]:.1f}Z" fill="{colour}" fill-opacity="{opacity}"/>')
            parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.3"/>')
        return parts

    def graph(self):
        courses = sorted(self.courses, key=lambda course: -course.most)
        # What never happened is not worth a colour where something did.
        courses = [course for course in courses if course.most or not courses[0].most][:len(COLOURS)]
        if not any(course.points for course in courses):
            return [self.text(self.x + 60, self.y + self.height / 2, "no data", "head")]
        custom = self.defaults.get("custom", {})
        if custom.get("stacking", {}).get("mode") == "normal":
            courses = stacked(courses)
        low, high = self.scale([course for course in courses if not self.is_aside(course)])
        wide = max(len(course.name) for course in courses)
        columns = max(1, min(5, int(self.width / (6 * wide + 24))))
        lines = (len(courses) + columns - 1) // columns
        inner = (self.y + 30, 34 + 13 * lines)
        parts = self.grid(low, high, inner)
        pairs = list(zip(COLOURS, courses))
        for colour, course in pairs if custom.get("stacking", {}).get("mode") == "normal" else reversed(pairs):
            scale = self.scale([course]) if self.is_aside(course) else (low, high)
            parts += self.line(course, colour, *scale, not self.is_aside(course), inner, 62)
        for number, (colour, course) in enumerate(zip(COLOURS, courses)):
            x = self.x + 10 + (self.width - 10) / columns * (number % columns)
            y = self.y + self.height - 13 * lines + 13 * (number // columns) + 4
            most = f" (up to {shown(course.most, self.unit)})" if self.is_aside(course) else ""
            parts.append(f'<rect x="{x:.0f}" y="{y - 4:.0f}" width="9" height="3" fill="{colour}"/>')
            parts.append(self.text(x + 13, y, course.name + most, "faint"))
        return parts

    def is_aside(self, course):
        """Whether it has a scale of its own."""
        return any(re.fullmatch(override["matcher"]["options"], course.name)
                   for override in self.panel["fieldConfig"]["overrides"])

    def grid(self, low, high, inner):
        top, foot = inner
        bottom = self.y + self.height - foot
        parts = []
        for share in (0, 0.5, 1):
            y = bottom - (bottom - top) * share
            left, right = self.x + 62, self.x + self.width - 10
            parts.append(f'<line class="rule" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(self.text(self.x + 57, y + 4, shown(low + (high - low) * share, self.unit), "faint end"))
        for moment in range(0, int(self.end - self.start) + 1, 30):
            parts.append(self.text(self.at(self.start + moment, 62), bottom + 13, f"{moment} s", "faint"))
        return parts

    def heat(self):
        rows = sorted(self.courses, key=lambda course: float(course.labels["le"]))
        below, parts = {}, []
        height = (self.height - 50) / max(1, len(rows))
        most = 0
        cells = []
        for number, course in enumerate(rows):
            for moment, value in course.points:
                cells.append((number, moment, value - below.get(moment, 0)))
                below[moment] = value
                most = max(most, cells[-1][2])
        for number, moment, value in cells:
            if value > 0:
                y = self.y + self.height - 20 - height * (number + 1)
                parts.append(f'<rect x="{self.at(moment, 62):.1f}" y="{y:.1f}" width="4" height="{height - 1:.1f}" '
                             f'fill="#ff9830" fill-opacity="{math.sqrt(value / most):.2f}"/>')
        for number, course in enumerate(rows):
            y = self.y + self.height - 20 - height * (number + 0.3)
            parts.append(self.text(self.x + 57, y, shown(float(course.labels["le"]), self.unit), "faint end"))
        return parts

    def table(self):
        parts = []
        rows = [course for course in self.courses if course.points]
        for number, course in enumerate(rows[:int((self.height - 30) / 15)]):
            y = self.y + 36 + 15 * number
            parts.append(self.text(self.x + 12, y, ", ".join(course.labels.values())[:90]))
            parts.append(self.text(self.x + self.width - 12, y, self.words(course.last), "end"))
        return parts or [self.text(self.x + 20, self.y + 60, "no rows", "head")]


def stacked(courses):
    """Each on top of those before it, the highest first."""
    total = {}
    for course in courses:
        points = []
        for moment, value in course.points:
            total[moment] = total.get(moment, 0) + value
            points.append((moment, total[moment]))
        course.points = points
    return courses[::-1]


def board(board, ask, start, end):
    """`ask(query, start, end)` answers as Prometheus does to a query over time."""
    panels = []
    for panel in board["panels"]:
        courses = [Course(target["legendFormat"], series) for target in panel.get("targets", [])
                   for series in ask(target["expr"], start, end)]
        panels.append(Panel(panel, courses, start, end))
    height = max(panel.y + panel.height for panel in panels) + 2 * GAP
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {24 * COLUMN} {height}" width="{24 * COLUMN}" '
             f'height="{height}"><style>{STYLE}</style><rect width="100%" height="100%" fill="#0d0f12"/>',
             f'<text class="head" x="8" y="24">{html.escape(board["title"])}</text>']
    for panel in panels:
        parts += panel.draw()
    return "\n".join(parts + ["</svg>"]) + "\n"

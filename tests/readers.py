"""What readers of the explorer page look at."""

import pandas as pd

STILL = {"reduced_motion": "reduce"}
VIEW = "tanbark.app.shell.current().made"
SIZES = [(1440, 900), (768, 1024), (390, 844)]


def shown(reader, place):
    return reader.tab.locator(place).inner_text()


def row_of(clf, **values):
    """Make a row of some values; a space in a name is an underscore here."""
    given = {name.replace("_", " "): value for name, value in values.items()} | values
    return pd.DataFrame({name: [given.get(name)] for name in clf.feature_names_in_}).astype(object)


def in_view(reader):
    """Whether the answer is on the screen, and within it the class and its probability."""
    return reader.tab.evaluate(
        """["#answer", ".answer-label", ".answer-value"].every((place) => {
        const { top, bottom, left, right, width } = document.querySelector(place).getBoundingClientRect();
        return width > 0 && top >= -1 && bottom <= innerHeight && left >= -1 && right <= innerWidth + 1; })"""
    )


def two_frames(reader):
    """Wait for two frames, so that what was scheduled is drawn."""
    reader.tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def node(reader, index):
    return reader.tab.locator(f'#graph-canvas .node[data-node="{index}"]')


def box(reader, place):
    found = reader.tab.locator(place) if isinstance(place, str) else place
    return found.bounding_box()


def boxes(reader):
    """Give the boxes of all nodes on the screen."""
    return reader.tab.evaluate(
        """[...document.querySelectorAll("#graph-canvas .node")].map((node) => {
        const { x, y, width, height } = node.getBoundingClientRect(); return { x, y, width, height }; })"""
    )


def viewport(reader):
    return reader.tab.evaluate(f"(({{left, top, scale}}) => [left, top, scale])({VIEW}.viewport)")


def inside(inner, outer, slack=1.0):
    return (
        inner["x"] >= outer["x"] - slack
        and inner["y"] >= outer["y"] - slack
        and inner["x"] + inner["width"] <= outer["x"] + outer["width"] + slack
        and inner["y"] + inner["height"] <= outer["y"] + outer["height"] + slack
    )

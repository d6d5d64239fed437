"""Whether the texts of a matplotlib figure can be read: none overlaps another, none leaves the figure."""

from itertools import combinations
from unittest.mock import patch

from matplotlib.text import Text

TOUCH = 1.5  # pixels by which boxes may overlap; letters do not fill their boxes


def drawn_texts(figure):
    """Draw a figure and return the boxes, in pixels, of the texts that were drawn."""
    found, draw = [], Text.draw

    def record(text, renderer, *args, **kwargs):
        if text.get_visible() and text.get_text().strip():
            found.append(text)
        return draw(text, renderer, *args, **kwargs)

    with patch.object(Text, "draw", record):
        figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    return [(text.get_text(), Text.get_window_extent(text, renderer)) for text in dict.fromkeys(found)]


def check_texts(figure):
    """Assert that no two texts overlap and that all are inside the figure; return the texts."""
    texts, frame = drawn_texts(figure), figure.bbox
    outside = [
        text
        for text, box in texts
        if box.x0 < frame.x0 - 1 or box.y0 < frame.y0 - 1 or box.x1 > frame.x1 + 1 or box.y1 > frame.y1 + 1
    ]
    assert not outside, f"outside the figure: {outside}"
    over = [
        (first, second)
        for (first, a), (second, b) in combinations(texts, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > TOUCH and min(a.y1, b.y1) - max(a.y0, b.y0) > TOUCH
    ]
    assert not over, f"texts overlap: {over[:5]}"
    return [text for text, _ in texts]

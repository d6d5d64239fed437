"""Waterfalls: bars end to end, their sum last, infinite ones cut."""

import math
import xml.etree.ElementTree as ET

from pytest import approx

from tanbark.draw.waterfall import Part, steps, waterfall_svg


def test_bars_are_laid_end_to_end():
    bars = steps([Part("prior", "", "", 1.0), Part("age", "> 65", "", -3.0)], -2.0)
    assert [(bar.start, bar.stop) for bar in bars] == [(0.0, 1.0), (1.0, -2.0), (0.0, -2.0)]
    assert [bar.label for bar in bars] == ["prior", "age > 65", "log-odds"]
    assert [bar.total for bar in bars] == [False, False, True]
    assert Part("a", "b", "", math.log(2)).bits == approx(1.0)


def test_an_infinite_part_is_as_long_as_all_others():
    bars = steps([Part("a", "x", "", 4.0), Part("b", "y", "", -3.0), Part("c", "z", "", -math.inf)], -math.inf)
    assert bars[2].stop - bars[2].start == -7.0
    assert bars[1].label == "b = y"
    assert bars[3].stop == -7.0


def test_the_picture_is_well_formed():
    text = waterfall_svg("P(<yes>)", [Part("a & b", "x", "given", 0.0)], 0.0)
    assert ET.fromstring(text).tag.endswith("svg")


def test_the_longest_label_has_room_in_a_wide_font():
    text = waterfall_svg("P", [Part("mean compactness", "0.277 to 0.2832", "", 1.0)], 1.0)
    label = next(each for each in ET.fromstring(text).iter() if each.get("x") and (each.text or "")[:4] == "mean")
    assert float(label.get("x")) >= 7.2 * len(label.text)

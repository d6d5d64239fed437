"""Models whose names try to break out of a page."""

import pandas as pd

import tanbark as tb

NASTY = [
    "</script><script>window.hacked = 1</script>",
    "\"quotes\" & 'more'",
    "😀 <!-- -->",
    "<img src=x onerror=hacked()>",
]


def nasty_model():
    X = [[f"{a}{NASTY[2]}", f"{b}{NASTY[0]}"] for a in "xy" for b in "uv"] * 5
    frame = pd.DataFrame(X, columns=NASTY[:2])
    return tb.TAN().fit(frame, pd.Series([NASTY[3], "]]>"] * 10, name="\u2028class\ud800"))

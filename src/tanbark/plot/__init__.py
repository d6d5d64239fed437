"""Charts with matplotlib: networks, CPTs, explanations, comparisons, calibration, sensitivity, nomograms.

Every function draws on ``ax`` where it is given, makes a figure otherwise, and returns the axes.
"""

from tanbark.plot.charts import plot_calibration, plot_comparison
from tanbark.plot.evidence import plot_explanation
from tanbark.plot.networks import plot_cpt, plot_network
from tanbark.plot.questions import plot_nomogram, plot_sensitivity

__all__ = [
    "plot_calibration",
    "plot_comparison",
    "plot_cpt",
    "plot_explanation",
    "plot_network",
    "plot_nomogram",
    "plot_sensitivity",
]

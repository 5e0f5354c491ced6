"""The figure of the planner, and its words."""

from dpcore.plots.methods import EpsilonCurve
from dpcore.plots.quality_forecast_figure import QualityForecastMarks, quality_forecast_alt, quality_forecast_figure
from tests.support.texts import lacking

LINE = EpsilonCurve("Mean of the rehearsals", (0.1, 1.0), (0.6, 0.8), (0.55, 0.78), (0.65, 0.82))
MARKS = QualityForecastMarks(0.5, "Always the most frequent", 0.7, 0.5)


def traces(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


def test_everything_that_is_marked_is_named_and_drawn_apart():
    found = traces(quality_forecast_figure(LINE, MARKS, "accuracy"))
    assert list(found["Mean of the rehearsals"].y) == [0.6, 0.8]
    assert list(found["What you want"].y) == [0.7, 0.7]
    assert list(found["Always the most frequent"].y) == [0.5, 0.5]
    assert list(found["Your ε now"].x) == [0.5, 0.5]
    marked = [found[n] for n in ("What you want", "Always the most frequent", "Your ε now")]
    assert len({trace.line.dash for trace in marked}) == 3


def test_an_epsilon_outside_the_figure_is_not_drawn():
    far = QualityForecastMarks(0.5, "Always the mean", 0.7, 20.0)
    assert list(traces(quality_forecast_figure(LINE, far, "RMSE"))["Your ε now"].x) == []


def test_the_words_hold_every_number():
    told = quality_forecast_alt(LINE, MARKS, "accuracy")
    assert not lacking(told, "60.0% at epsilon 0.1", "80.0% at epsilon 1", "Wanted: 70.0%", "50.0%", "epsilon 0.5")
    assert "0.7" in quality_forecast_alt(LINE, MARKS, "RMSE")

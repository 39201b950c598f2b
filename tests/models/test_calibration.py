"""Calibration: what it does to probabilities, how it is fitted, how it is measured."""

import numpy as np
import pytest

from spacy_decoders.models.calibration import (
    Answers,
    Calibration,
    auroc,
    calibration_error,
    cross_fitted,
    fit_correction,
)


def drawn(rng, size, offset=0.0, slope=1.0):
    """Chances, and outcomes of them, and what an over-confident model would say."""
    odds = rng.normal(1.0, 2.0, size=size)
    right = rng.uniform(size=size) < 1.0 / (1.0 + np.exp(-odds))
    return 1.0 / (1.0 + np.exp(-(odds - offset) / slope)), right


def test_what_is_certain_stays_certain():
    assert Calibration(temperature=2.0).apply([0.0, 0.3, 1.0]).tolist() == [0.0, 0.3, 1.0]
    corrected = Calibration(slope=0.5, intercept=3.0).apply([0.0, 1.0, 0.5])
    assert corrected[0] == 0.0
    assert corrected[1] == 1.0
    assert corrected[2] == pytest.approx(1.0 / (1.0 + np.exp(-3.0)))


def test_the_correction_undoes_a_distortion():
    rng = np.random.default_rng(1)
    rows = list(zip(*drawn(rng, 6000, offset=0.7, slope=0.5), range(6000), strict=True))
    fitted_to, held_out = Answers.of(rows[:3000]), Answers.of(rows[3000:])
    found = fit_correction(fitted_to)
    assert found.slope == pytest.approx(0.5, abs=0.06)
    assert found.intercept == pytest.approx(0.7, abs=0.15)
    corrected = held_out._replace(probabilities=found.apply(held_out.probabilities))
    assert calibration_error(corrected) < 0.03 < calibration_error(held_out)


def test_a_few_answers_change_little():
    # twenty of twenty are right, as one time in eight they would be
    found = fit_correction(Answers.of([(0.9, True, number) for number in range(20)]))
    assert 0.9 < found.apply([0.9])[0] < 0.96
    assert fit_correction(Answers.of([]), temperature=2.0) == Calibration(2.0)


def test_cross_fitting_holds_documents_out():
    rng = np.random.default_rng(3)
    chances, right = drawn(rng, 2000, slope=0.4)
    answers = Answers(chances, right, groups=np.repeat(np.arange(100), 20))
    assert calibration_error(cross_fitted(answers)) < calibration_error(answers) / 2
    for fold in range(5):
        assert len(set(answers.groups[answers.folds() == fold])) == 20


def test_measures():
    rows = [(0.0, False, 0), (1.0, True, 0), (1.0, False, 1), (0.5, True, 1)]
    # of the answers at 1 half are right, as of the only one at 0.5; the one at 0 is wrong
    assert calibration_error(Answers.of(rows)) == pytest.approx((1.0 + 0.5) / 4)
    rng = np.random.default_rng(5)
    chances, right = drawn(rng, 300)
    pairs = np.sign(chances[right][:, None] - chances[~right][None, :])
    assert auroc(Answers(chances, right, np.arange(300))) == pytest.approx(
        (pairs.mean() + 1.0) / 2.0
    )
    certain = Answers.of([(0.5, True, 0)])
    assert np.isnan(auroc(certain))

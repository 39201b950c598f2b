"""Every other choice is listed with the best answer that has it."""

from hypothesis import given
from hypothesis import strategies as st

from spacy_decoders.display.ranking import Ranking


def test_the_best_answer_with_a_choice_gives_its_cost():
    answers = [{0: "a", 1: "x"}, {0: "b", 1: "x"}, {0: "b", 1: "y"}, {0: "a", 1: "y"}]
    ranking = Ranking.of([5.0, 4.0, 3.5, 3.0], answers, ["first", "second"].__getitem__)
    assert [(c.place, c.chosen, [tuple(o) for o in c.options]) for c in ranking.choices] == [
        ("first", "a", [("b", 1.0, 1)]),
        ("second", "x", [("y", 1.5, 2)]),
    ]
    # the fourth answer is the best for no choice
    assert [reading.number for reading in ranking.readings] == [1, 2]
    assert [tuple(change) for change in ranking.readings[1].changes] == [
        ("first", "b", "a"),
        ("second", "y", "x"),
    ]
    assert (ranking.count, ranking.loss) == (4, 2.0)


def test_a_place_may_be_absent():
    ranking = Ranking.of([1.0, 0.5], [{}, {(0, 2): "PER"}], str, absent="no entity")
    assert ranking.choices[0].chosen == "no entity"
    assert ranking.choices[0].options[0][:2] == ("PER", 0.5)


def test_agreement_leaves_no_choice():
    assert Ranking.of([1.0], [{0: "a"}], str) is None
    assert Ranking.of([1.0, 1.0], [{0: "a"}, {0: "a"}], str) is None


@given(
    st.lists(
        st.tuples(st.floats(-10, 10), st.dictionaries(st.integers(0, 4), st.sampled_from("xyz"))),
        min_size=1,
    )
)
def test_costs_are_those_of_plain_search(ranked):
    ranked = sorted(ranked, key=lambda pair: -pair[0])
    scores, answers = [score for score, _ in ranked], [answer for _, answer in ranked]
    ranking = Ranking.of(scores, answers, str)
    for choice in ranking.choices if ranking else ():
        place = int(choice.place)
        assert choice.chosen == answers[0].get(place, "")
        values = {answer.get(place, "") for answer in answers}
        assert {option.value for option in choice.options} == values - {choice.chosen}
        for option in choice.options:
            best = max(s for s, a in ranked if a.get(place, "") == option.value)
            assert option.loss == scores[0] - best
            assert answers[option.reading].get(place, "") == option.value

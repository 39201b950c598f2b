"""What else a Doc's heads, entities and links could have been."""

from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_decoders.components import extensions
from spacy_decoders.display.choices import mentions_in, ranked_choices


@given(
    st.lists(
        st.tuples(st.floats(-10, 10), st.dictionaries(st.integers(0, 4), st.sampled_from("xyz"))),
        min_size=1,
    )
)
def test_costs_are_those_of_plain_search(ranked):
    ranked = sorted(ranked, key=lambda pair: -pair[0])
    scores, answers = [score for score, _ in ranked], [answer for _, answer in ranked]
    listed = ranked_choices(scores, answers, str)
    for choice in listed:
        place = int(choice.place)
        assert choice.chosen == answers[0].get(place, "")
        values = {answer.get(place, "") for answer in answers}
        assert {option.value for option in choice.options} == values - {choice.chosen}
        for option in choice.options:
            best = max(s for s, a in ranked if a.get(place, "") == option.value)
            assert option.loss == scores[0] - best
    agreed = set(range(5)) - {int(choice.place) for choice in listed}
    assert all(len({answer.get(place, "") for answer in answers}) == 1 for place in agreed)


def test_linked_spans_of_every_group_are_mentions():
    extensions.install()
    doc = Doc(Vocab(), words=["the", "cat"])
    doc.spans["animals"] = [Span(doc, 1, 2, "CONCEPT"), Span(doc, 0, 1, "ARTICLE")]
    doc[1:2]._.link = {"id": "cat"}
    assert [mention.text for mention in mentions_in(doc)] == ["cat"]

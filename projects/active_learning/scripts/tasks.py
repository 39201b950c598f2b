"""Tasks for annotation tools: texts with answers, alternatives and their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from spacy.tokens import Doc, Span

from spacy_decoders import ProblemError

__all__ = ["Layer", "Tool", "label_config", "task_of"]

#: The tool whose format it is.
Tool = Literal["prodigy", "label-studio"]
#: What is to be annotated.
Layer = Literal["entities", "tags", "trees"]

#: The names of the controls in Label Studio's label config.
_CONTROLS = {"entities": "label", "tags": "tag"}


def task_of(
    text: Doc | Span, *, tool: Tool, layer: Layer, id: str, score: float, version: str = ""
) -> dict[str, Any]:
    """Return the task of an annotated document or sentence, in plain JSON types.

    Parameters
    ----------
    text
        The document, or one sentence of it.
    tool
        "prodigy": one dict with ``text``, ``tokens``, ``spans``, ``relations`` and ``meta``, as
        its recipes read. "label-studio": one dict with ``data`` and ``predictions``, the second
        of which holds the alternatives.
    layer
        "entities", "tags" (one span a token) or "trees" (relations; Prodigy only).
    id, score
        What the text is called, and how unsure the pipeline is of it.
    version
        The model's version, as Label Studio shows it.

    Raises
    ------
    ProblemError
        If tool or layer is unknown, or the tool has no place for the layer.
    """
    for name, value, known in (("tool", tool, Tool), ("layer", layer, Layer)):
        if value not in get_args(known):
            raise ProblemError(
                f"{name}: expected one of {', '.join(get_args(known))}; got {value!r}."
            )
    span = text[:] if isinstance(text, Doc) else text
    if tool == "prodigy":
        return _for_prodigy(span, layer, id, score)
    if layer == "trees":
        raise ProblemError("layer: Label Studio's text has no trees; use the tool prodigy.")
    return _for_label_studio(span, layer, id, score, version)


def label_config(layer: Layer, labels: Sequence[str]) -> str:
    """Return the label config of a Label Studio project for such tasks.

    Examples
    --------
    >>> print(label_config("entities", ["PER"]))
    <View>
      <Labels name="label" toName="text">
        <Label value="PER"/>
      </Labels>
      <Text name="text" value="$text" granularity="word"/>
    </View>
    """
    from xml.sax.saxutils import quoteattr

    if layer not in _CONTROLS:
        raise ProblemError(f"layer: expected one of {', '.join(_CONTROLS)}; got {layer!r}.")
    choices = "\n".join(f"    <Label value={quoteattr(label)}/>" for label in labels)
    return (
        f'<View>\n  <Labels name="{_CONTROLS[layer]}" toName="text">\n{choices}\n  </Labels>\n'
        '  <Text name="text" value="$text" granularity="word"/>\n</View>'
    )


def _for_prodigy(span: Span, layer: Layer, id: str, score: float) -> dict[str, Any]:
    task: dict[str, Any] = {
        "text": span.text,
        "tokens": _tokens(span),
        "meta": {"id": id, "score": round(score, 6), "task": layer},
    }
    if layer == "trees":
        task["relations"] = [
            {
                "head": token.head.i - span.start,
                "child": token.i - span.start,
                "label": token.dep_,
                "prob": token._.dep_prob,
            }
            for token in span
            if token.head.i != token.i and span.start <= token.head.i < span.end
        ]
        return task
    begin = span.start_char
    task["spans"] = [
        {
            "start": found.start_char - begin,
            "end": found.end_char - begin,
            "token_start": found.start - span.start,
            "token_end": found.end - 1 - span.start,
            "label": label,
            "prob": prob,
        }
        for found, label, prob in _answers(span, layer)
    ]
    others = _alternatives(span) if layer == "entities" else []
    task["alternatives"] = [
        {
            "start": found.start_char - begin,
            "end": found.end_char - begin,
            "label": label,
            "prob": prob,
        }
        for found, label, prob in others
    ]
    if others:
        # the tool shows what stands in meta
        task["meta"]["or"] = "; ".join(
            f"{found.text} {label} {prob:.0%}" for found, label, prob in others[:5]
        )
    return task


def _for_label_studio(
    span: Span, layer: Layer, id: str, score: float, version: str
) -> dict[str, Any]:
    def result(found: Span, label: str, prob: float | None, number: int) -> dict[str, Any]:
        return {
            "id": f"{'t' if layer == 'tags' else 'e'}{number}",
            "from_name": _CONTROLS[layer],
            "to_name": "text",
            "type": "labels",
            **({} if prob is None else {"score": prob}),
            "value": {
                "start": found.start_char - span.start_char,
                "end": found.end_char - span.start_char,
                "text": found.text,
                "labels": [label],
            },
        }

    answers = _answers(span, layer)
    others = _alternatives(span) if layer == "entities" else []
    sure = [prob for _, _, prob in answers if prob is not None]
    predictions = [
        {
            "model_version": version or "spacy-decoders",
            "score": min(sure, default=1.0),
            "result": [result(*answer, number) for number, answer in enumerate(answers)],
        }
    ]
    if others:
        predictions.append(
            {
                "model_version": f"{version or 'spacy-decoders'}: alternatives",
                "score": max(prob for _, _, prob in others),
                "result": [
                    result(*answer, number) for number, answer in enumerate(others, len(answers))
                ],
            }
        )
    data = {"text": span.text, "tokens": _tokens(span), "id": id, "uncertainty": round(score, 6)}
    return {"data": data, "predictions": predictions}


def _tokens(span: Span) -> list[dict[str, Any]]:
    return [
        {
            "text": token.text,
            "start": token.idx - span.start_char,
            "end": token.idx - span.start_char + len(token.text),
            "id": token.i - span.start,
            "ws": bool(token.whitespace_),
        }
        for token in span
    ]


def _answers(span: Span, layer: Layer) -> list[tuple[Span, str, float | None]]:
    """What the pipeline says: spans, labels and their probabilities."""
    if layer == "entities":
        return [(entity, entity.label_, entity._.prob) for entity in span.ents]
    return [
        (span.doc[token.i : token.i + 1], token.tag_, token._.tag_prob)
        for token in span
        if token.tag_
    ]


def _alternatives(span: Span) -> list[tuple[Span, str, float]]:
    """Entities that the pipeline did not choose, the most probable first."""
    chosen = {(entity.start, entity.end, entity.label_) for entity in span.ents}
    found = [
        (span.doc[entry["start"] : entry["end"]], entry["label"], entry["prob"])
        for entry in span.doc._.entity_alternatives
        if span.start <= entry["start"] < entry["end"] <= span.end
        and (entry["start"], entry["end"], entry["label"]) not in chosen
    ]
    return sorted(found, key=lambda entry: -entry[2])

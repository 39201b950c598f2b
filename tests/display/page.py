"""Reading a page as its reader does: elements, their texts, and what stands where."""

from html.parser import HTMLParser

VOID = frozenset({"meta", "br", "input"})


class Element:
    """An element of a page with its attributes and what it contains."""

    def __init__(self, tag, attributes):
        self.tag, self.attributes = tag, dict(attributes)
        self.children: list[Element | str] = []

    def __getitem__(self, name):
        return self.attributes.get(name)

    @property
    def text(self):
        """All that is in it, in single blanks."""
        parts = (c if isinstance(c, str) else c.text for c in self.children)
        return " ".join(" ".join(parts).split())

    def all(self, tag, name=None):
        """All elements below of a tag and, if given, a class."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                classes = (child["class"] or "").split()
                if child.tag == tag and (name is None or name in classes):
                    found.append(child)
                found += child.all(tag, name)
        return found


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = [Element("page", ())]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, attrs)
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Element(tag, attrs))

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].children.append(data)


def read(page) -> Element:
    """The elements of a page, whose markup must close."""
    reader = _Reader()
    reader.feed(str(page))
    assert len(reader.open) == 1
    return reader.open[0]

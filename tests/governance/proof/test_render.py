"""What is printed is read again as the very tree that was checked, whatever stands inside of what."""

from hypothesis import given, settings
from hypothesis import strategies as st

from governance.proof import syntax as s
from governance.proof.lower import lower
from governance.proof.render import render
from governance.proof.source import parse

_NAMES = st.sampled_from(["a", "order", "x1", "my name", "größe", "Return", "count(*)"])
_TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z")) | st.sampled_from(" '\"\\`\n\t"), max_size=8
)
_LITERALS = st.builds(
    s.Literal,
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(-1e12, 1e12, allow_nan=False)
    | _TEXTS.filter(lambda text: "\\u" not in text and "\\U" not in text),
)
_ATOMS = _LITERALS | st.builds(s.Parameter, st.sampled_from(["p", "order"])) | st.builds(s.Variable, st.just("v"))
_OPERATORS = st.sampled_from(
    ["AND", "OR", "XOR", "=", "<>", "<", "<=", ">", ">=", "IN", "STARTS WITH", "CONTAINS", "=~", "+", "-", "*", "^"]
)


def _larger(parts: st.SearchStrategy[s.Expression]) -> st.SearchStrategy[s.Expression]:
    some = st.lists(parts, max_size=3)
    return (
        st.builds(s.Binary, _OPERATORS, parts, parts)
        | st.builds(s.Unary, st.just("NOT"), parts)
        | st.builds(s.Unary, st.just("-"), parts.filter(lambda part: not _is_number(part)))
        | st.builds(s.IsNull, parts, st.booleans())
        | st.builds(s.Property, parts, st.sampled_from(["name", "total", "order"]))
        | st.builds(s.Index, parts, parts.filter(lambda part: not _is_text(part)))
        | st.builds(s.Slice, parts, st.none() | parts, st.none() | parts)
        | st.builds(s.ListOf, some)
        | st.builds(s.MapOf, st.dictionaries(_NAMES, parts, max_size=3).map(lambda map_: list(map_.items())))
        | st.builds(s.Call, st.sampled_from(["coalesce", "size", "duration.inDays"]), some)
        | st.builds(
            s.Case, st.none() | parts, st.lists(st.tuples(parts, parts), min_size=1, max_size=2), st.none() | parts
        )
        | st.builds(s.ListComprehension, st.just("x"), parts, st.none() | parts, st.none() | parts)
        | st.builds(s.Quantifier, st.sampled_from(["all", "any", "none", "single"]), st.just("x"), parts, parts)
    )


def _is_number(part: s.Expression) -> bool:
    return isinstance(part, s.Literal) and isinstance(part.value, int | float) and not isinstance(part.value, bool)


def _is_text(part: s.Expression) -> bool:
    return isinstance(part, s.Literal) and isinstance(part.value, str)


EXPRESSIONS = st.recursive(_ATOMS, _larger, max_leaves=9)


@given(EXPRESSIONS, _NAMES)
@settings(max_examples=400, deadline=None)
def test_an_expression_is_read_again_as_it_was(expression: s.Expression, alias: str) -> None:
    query = s.Query([[s.Return(s.Projection(False, False, [s.Item(expression, alias, True)], [], None, None))]])
    text = render(query)
    if len(text) > 3_000:
        return
    again = lower(parse(text))
    assert again == query, text


@given(_TEXTS)
@settings(max_examples=300, deadline=None)
def test_no_text_ends_its_own_quotes(text: str) -> None:
    if "\\u" in text or "\\U" in text:
        return
    query = s.Query([[s.Return(s.Projection(False, False, [s.Item(s.Literal(text), "x", True)], [], None, None))]])
    assert lower(parse(render(query))) == query

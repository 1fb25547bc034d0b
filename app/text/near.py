"""Words that differ by a slip of the finger."""

LONG = 8
"""Words from this length on may differ in two places."""


def is_near(word: str, other: str) -> bool:
    """Whether ``other`` is ``word`` with one letter changed, added, left out or swapped with the next; with two such
    slips in a long word; or whether it goes on where ``word`` ends ("mongod", "mongodb"). The first letter is right."""
    if not word or not other or word[0] != other[0]:
        return False
    return other.startswith(word) or _within(word, other, 2 if len(word) >= LONG else 1)


def _within(word: str, other: str, most: int) -> bool:
    """Whether at most ``most`` edits (optimal string alignment) make ``other`` of ``word``."""
    if abs(len(word) - len(other)) > most:
        return False
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        before, last, row = row, before, [i]
        for j, theirs in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != theirs))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == theirs:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return False
    return row[-1] <= most

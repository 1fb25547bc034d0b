"""The pieces of words that a model knows: a hash table in three arrays, a sixth of what a dictionary of them takes."""

from array import array

_FREE = -1


class Pieces:
    """The number of each piece by its bytes; pieces lie one behind the other in ``blob``, each from its offset on."""

    def __init__(self, blob: bytes, offsets: "array[int]") -> None:
        """Raises `ValueError` for offsets that are out of order."""
        self._blob = blob
        self._offsets = offsets
        count = len(offsets) - 1
        self._mask = (1 << (2 * count).bit_length()) - 1
        self._table = array("i", [_FREE]) * (self._mask + 1)
        self.longest = 0
        """Bytes of the longest piece."""
        for number in range(count):
            start, stop = offsets[number], offsets[number + 1]
            if not start <= stop <= len(blob):
                raise ValueError(f"no piece from {start} to {stop}")
            if start < stop:
                self._table[self._place(blob[start:stop])] = number
                self.longest = max(self.longest, stop - start)

    def get(self, piece: bytes) -> int | None:
        """The number of ``piece``; None for what is none."""
        number = self._table[self._place(piece)]
        return None if number == _FREE else number

    def _place(self, piece: bytes) -> int:
        """Where it stands in the table, or is to stand."""
        at = hash(piece) & self._mask
        while (number := self._table[at]) != _FREE:
            if self._blob[self._offsets[number] : self._offsets[number + 1]] == piece:
                break
            at = (at + 1) & self._mask
        return at

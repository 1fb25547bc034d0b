"""What is sent is held once, and for as long as somebody reads it."""

import io
import os
import zipfile

import pytest

from app.documents.document_reading import Reading, read
from app.documents.parsed_document import Document
from app.gathering.content import Content

KIB = 1024


class Watched(io.BytesIO):
    """Notes how much of it was asked for at once."""

    most = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.most = max(self.most, len(found))
        return found


def test_pieces_come_back_as_they_were_written() -> None:
    content = Content.of(b"# Guide\n")
    content.write(b"")
    content.write(b"text")
    assert (content.size, content.read()) == (12, b"# Guide\ntext")
    content.close()


def test_who_was_lent_it_reads_on_when_it_is_closed() -> None:
    content = Content.of(b"still there")
    with content.lent() as descriptor:
        content.close()
        content.close()
        assert os.pread(descriptor, 100, 0) == b"still there"
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    with pytest.raises(ValueError, match="closed"), content.lent():
        pass


def test_a_file_without_a_name_takes_its_place_where_memory_has_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    content = Content.of(b"# Guide")
    assert content.read() == b"# Guide"
    content.close()


def test_an_archive_is_read_a_file_at_a_time() -> None:
    made = Watched()
    with zipfile.ZipFile(made, "w") as archive:
        for number in range(40):
            archive.writestr(f"{number}.md", f"# Part {number}\n\n" + "All is well here. " * 3_000)
    found = list(read("docs.zip", made, Reading()))
    assert len(found) == 40 and all(isinstance(one, Document) for one in found)
    assert made.most < 128 * KIB < made.seek(0, os.SEEK_END) / 8

"""Packing a folder: what git would take of it, never what lies outside, and no more than may be imported."""

import io
import os
import zipfile
from pathlib import Path

import pytest

from app.documents.archive import members, opened
from app.documents.parsed_document import Limits
from app.gathering.folder import NotPacked, pack


def made(root: Path, **files: str) -> Path:
    return made_of(root, files)


def made_of(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def packed(folder: Path, **limits: int) -> list[str]:
    file = io.BytesIO()
    pack(folder, file, Limits(**limits))
    found = members(opened(file, Limits()), Limits())  # what the service would say of it
    return [one.filename for one in found]


def test_what_git_ignores_is_left_out_in_inner_folders_too(tmp_path: Path) -> None:
    folder = made_of(
        tmp_path / "handbook",
        {
            ".gitignore": "# made by hand\n*.draft.md\n!kept.draft.md\nbuild/\n/top.md\n[\n",
            "guide.md": "G",
            "a.draft.md": "-",
            "kept.draft.md": "K",
            "top.md": "-",
            "build/out.md": "-",
            "sub/top.md": "T",
            "sub/.gitignore": "secret.*\n!b.draft.md\n",
            "sub/secret.md": "-",
            "sub/b.draft.md": "B",
            "sub/deep/secret.txt": "-",
            "sub/deep/notes.txt": "N",
            "node_modules/pkg/readme.md": "-",
            ".git/description.txt": "-",
        },
    )
    assert packed(folder) == [
        "guide.md", "kept.draft.md", "sub/b.draft.md", "sub/top.md", "sub/deep/notes.txt"
    ]  # fmt: skip


def test_the_repository_around_a_folder_says_what_is_ignored_in_it(tmp_path: Path) -> None:
    made_of(tmp_path, {".gitignore": "*.log.md\nout/\n", "docs/a.md": "A", "docs/b.log.md": "-", "out/c.md": "C"})
    assert packed(tmp_path / "docs") == ["a.md", "b.log.md"]  # no repository: what lies above counts for nothing
    (tmp_path / ".git").mkdir()
    assert packed(tmp_path / "docs") == ["a.md"]
    assert packed(tmp_path / "out") == ["c.md"]  # named on purpose


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    outside = made_of(tmp_path / "outside", {"passwords.md": "hunter2"})
    folder = made_of(tmp_path / "folder", {"guide.md": "G"})
    (folder / "file.md").symlink_to(outside / "passwords.md")
    (folder / "inner").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    (folder / ".gitignore").symlink_to(outside / "passwords.md")
    os.mkfifo(folder / "pipe.md")
    assert packed(folder) == ["guide.md"]
    (tmp_path / "named").symlink_to(folder)
    assert packed(tmp_path / "named") == ["guide.md"]


def test_what_no_import_takes_is_left_out_and_counted(tmp_path: Path) -> None:
    names = ("guide.md", "Guide.md", "logo.png", "back\\slash.md", "line\nbreak.md")
    folder = made_of(tmp_path / "folder", dict.fromkeys(names, "x"))
    file = io.BytesIO()
    done = pack(folder, file, Limits())
    assert (done.files, done.size, done.left_out) == (1, 1, 4)
    assert len(members(opened(file, Limits()), Limits())) == 1


def test_the_same_folder_has_the_same_bytes(tmp_path: Path) -> None:
    first, second = io.BytesIO(), io.BytesIO()
    folder = made(tmp_path / "folder", **{"b.md": "B", "a.md": "A"})
    pack(folder, first, Limits())
    os.utime(folder / "a.md", (0, 0))
    pack(folder, second, Limits())
    assert first.getvalue() == second.getvalue()
    assert zipfile.ZipFile(first).namelist() == ["a.md", "b.md"]


@pytest.mark.parametrize(
    ("files", "limits", "said"),
    [
        ({}, {}, "holds nothing"),
        ({"logo.png": "x"}, {}, "1 files are of types"),
        ({".gitignore": "*.md", "a.md": "x"}, {}, "git ignores all of it"),
        ({"a.md": "x", "b.md": "y"}, {"files": 1}, "more than 1 files"),
        ({"a.md": "x" * 50}, {"file_bytes": 10}, "a.md has more than 10 bytes"),
        ({"a.md": "x" * 50, "b.md": "y" * 50}, {"total_bytes": 60}, "more than 60 bytes"),
    ],
)
def test_what_can_not_be_packed_is_said(
    tmp_path: Path, files: dict[str, str], limits: dict[str, int], said: str
) -> None:
    folder = made_of(tmp_path / "folder", files)
    folder.mkdir(exist_ok=True)
    with pytest.raises(NotPacked, match=said):
        packed(folder, **limits)

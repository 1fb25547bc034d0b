"""Forgetting in one user's files and index, and a look afterwards that reads it all again. Synchronous."""

import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.atrest import durable
from app.atrest.residue import Needles
from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.memories.forget_selection import Erased, Forgetting, Redactor, turn_of
from app.core.memories.memory import Memory
from app.core.memories.memory_outcomes import Kept, Selected, kept_memory, kept_resource, kept_session
from app.embedded.extraction import distil
from app.embedded.index.documents import EXPERIENCES
from app.embedded.index.live_index import LiveIndex
from app.embedded.index.memory_erasure import still_saying
from app.embedded.index.memory_erasure import without_forgotten as memories_left
from app.embedded.resources import resource_files
from app.embedded.storage import layout
from app.embedded.storage.entries import entries_in, message_of, whole_batches
from app.embedded.storage.long_term_file import NAME, page_without
from app.embedded.storage.memory_files import title_of
from app.embedded.storage.record_lines import sources_of_experience
from app.embedded.storage.session_erasure import SessionLeft, Summed, session_of
from app.embedded.storage.session_erasure import without_forgotten as session_left
from app.embedded.storage.withheld import Withheld
from app.embedded.storage.workspace import PAGES
from app.text.dates import day_of

_SESSIONS = "sessions"


@dataclass(slots=True)
class _Plan:
    """What a forgetting comes to: the files as they will be, None for those that go."""

    files: dict[Path, bytes | None] = field(default_factory=dict)
    dropped: list[Memory] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    """What says so although it stays."""
    turns: set[str] = field(default_factory=set)
    archives: int = 0
    notes: int = 0
    summaries: dict[str, str] = field(default_factory=dict)
    sessions: set[str] = field(default_factory=set)

    def erased(self) -> Erased:
        selected = tuple(Selected(memory.id, memory.uri, memory.category) for memory in self.dropped)
        return Erased(
            selected=selected,
            memories=len(selected),
            turns=frozenset(self.turns),
            archives=self.archives,
            notes=self.notes,
            summaries=dict(self.summaries),
            sessions=frozenset(self.sessions),
            kept=tuple(self.kept),
        )


class Eraser:
    """Erases what the files below ``root`` say. Every method may be called from any thread."""

    def __init__(self, root: Path, uri_root: str, index: LiveIndex, withheld: Withheld) -> None:
        self._root = root
        self._uri_root = uri_root
        self._index = index
        self._withheld = withheld
        self._vault = withheld.vault

    def run(self, forgetting: Forgetting, deadline: Deadline, *, dry_run: bool) -> Erased:
        """Erase it, or say what would be. Safe to repeat: a crash leaves less to do.

        What is withheld is written first: nothing that is on its way comes back, and it is not recalled from then on.
        """
        with layout.locked(self._root, deadline):
            redactor = Redactor(forgetting)
            plan = self._plan(forgetting, redactor)
            if dry_run:
                return plan.erased()
            self._withheld.add_forgetting(forgetting)
            for path, data in plan.files.items():
                if data is None:
                    path.unlink(missing_ok=True)
                else:
                    self._vault.write_atomic(path, data)
            if forgetting.everything:
                self._withheld.begin_anew(forgetting.at)
            self._drop_empty_folders()
            durable.sweep_temporaries(self._root)
            self._index.scrub(list(plan.files))
            kept = tuple(self._look_again(forgetting, redactor))
            return replace(plan.erased(), removed=redactor.needles(), kept=kept)

    # what there is to do

    def _plan(self, forgetting: Forgetting, redactor: Redactor) -> _Plan:
        plan = _Plan()
        selected, beside = self._selected_turns(forgetting)
        sections: dict[str, dict[str, str | None]] = defaultdict(dict)
        for path in self._sessions():
            data = self._vault.read(path)
            left = session_left(data[: whole_batches(data)], layout.readable(path.stem), redactor, selected, _summed_up)
            if left.is_holding:
                plan.kept.append(kept_session(left.session))
            if left.turns:
                plan.files[path] = left.data
                plan.turns |= left.turns
                plan.sessions.add(left.session)
                plan.archives += len(left.archives)
                if left.summary is not None:
                    plan.summaries[left.session] = left.summary
                self._tell_notes(left, sections)
        pages = [path for path in self._texts() if str(path.relative_to(self._root)) in PAGES]
        for path in self._texts():
            if path in pages:
                continue
            turns = selected | beside if beside and self._tells_one_turn(path) else selected
            self._plan_text(path, redactor, turns, sections.get(path.name, {}), plan)
        for path in pages:
            self._plan_page(path, redactor, plan)
        if needles := Needles(redactor.whole_texts()):
            plan.kept += map(kept_resource, resource_files.holding(self._root, needles, self._vault))
        return plan

    def _plan_page(self, path: Path, redactor: Redactor, plan: _Plan) -> None:
        """A page loses the lines of memories that go, and what says a statement; it is not counted."""
        if redactor.forgetting.everything:
            plan.files[path] = None
            return
        text = self._vault.read_text(path)
        dropped = {memory.id for memory in plan.dropped}
        left: str | None = redactor.text(text)
        if path.name == NAME:
            left = page_without(text, dropped, redactor.left_of_memory, redactor.text)
        if left != text:
            plan.files[path] = None if left is None else left.encode("utf-8", "replace")
        if left and not plan.kept and redactor.holds(left):
            plan.kept.append(Kept(f"file {path.name}", "a line of it says so within something else; edit it"))

    def _selected_turns(self, forgetting: Forgetting) -> tuple[set[str], set[str]]:
        """The turns that go as a whole (a turn goes when one of its messages is selected), and all of their
        sessions."""
        selected, beside = set(forgetting.turns), set[str]()
        for path in self._sessions() if forgetting.takes_turns else ():
            entries = list(entries_in(self._vault.read(path)))
            session = session_of(entries, layout.readable(path.stem))
            messages = [message_of(entry) for entry in entries if entry.get("type") == "message"]
            selected |= {turn_of(one.source_id) for one in messages if forgetting.selects(one, session)}
            turns = {turn_of(one.source_id) for one in messages}
            if not turns.isdisjoint(selected):
                beside |= turns
        return selected, beside

    def _tells_one_turn(self, path: Path) -> bool:
        """Whether a file is a lesson of several turns that knows only the last of them: so it is not known which
        others of their session it tells of."""
        return path.parent.name == EXPERIENCES and not sources_of_experience(self._vault.read_text(path))[1]

    def _tell_notes(self, left: SessionLeft, sections: dict[str, dict[str, str | None]]) -> None:
        for archive in left.archives:
            mark = distil.note_mark(left.session, archive.id)
            note = None
            path = layout.note_path(self._root, day_of(archive.last_at))
            if not archive.is_empty and archive.told.note:
                note = distil.note_section(mark, self._time_in(path, mark), archive.told.abstract, archive.told.note)
            sections[path.name][mark] = note

    def _time_in(self, path: Path, mark: str) -> str:
        """The time that a section of a note has in its heading."""
        try:
            text = self._vault.read_text(path)
        except FileNotFoundError:
            return ""
        heading = text.partition(f"{mark} -->\n## ")[2]
        return heading[:5] if heading else ""

    def _plan_text(
        self, path: Path, redactor: Redactor, selected: set[str], sections: dict[str, str | None], plan: _Plan
    ) -> None:
        relative = str(path.relative_to(self._root))
        told = sections if path.parent.name == "memory" else {}
        text, modified = self._vault.read_text(path), path.stat().st_mtime
        left = memories_left(relative, text, modified, self._uri_root, title_of(relative), redactor, selected, told)
        stays = text if left is None else left.text or ""
        plan.kept += [
            kept_memory(memory.id) for memory in still_saying(relative, stays, modified, self._uri_root, redactor)
        ]
        if left is None:
            return
        plan.dropped += left.dropped
        plan.notes += left.notes
        if left.text != text:
            plan.files[path] = None if left.text is None else left.text.encode("utf-8", "replace")

    # the look afterwards

    def _look_again(self, forgetting: Forgetting, redactor: Redactor) -> Iterator[Kept]:
        """What can still be found, by reading everything again: the files by their meaning, the index by its bytes."""
        again = self._plan(forgetting, Redactor(forgetting))
        if again.files or again.dropped:
            yield Kept("files of the user", "they could not be rewritten; forget it again")
        yield from again.kept
        needles = Needles(redactor.needles())
        for path in (*self._sessions(), *self._texts()):
            needles = needles.without(needles.found_in(path, self._vault.open))  # the index may hold what they do
        if not self._index.is_clean_of(needles):
            yield Kept("the index", "its file could not be rewritten; it is built again when it is deleted")

    # files

    def _sessions(self) -> list[Path]:
        return sorted((self._root / _SESSIONS).glob("*.jsonl"))

    def _texts(self) -> list[Path]:
        folders = ("memories", "memory", "peers")
        return sorted(
            path
            for name in folders
            for path in (self._root / name).rglob("*.md")
            if path.is_file() and not path.name.startswith(".")
        )

    def _drop_empty_folders(self) -> None:
        """A folder bears the name of a peer or a day."""
        for folder in sorted((self._root / "peers").glob("**/"), reverse=True):
            if folder.is_dir() and not any(folder.iterdir()):
                shutil.rmtree(folder, ignore_errors=True)


def _summed_up(messages: Sequence[CapturedMessage], earlier: str) -> Summed:
    told = distil.told_by([one for one in messages if one.parts], earlier)
    return Summed(told.summary, told.abstract, told.note)

"""The embedded engine finds the experience of an error, a fix, a retry and a review, and ranks it first."""

from pathlib import Path

from app.core.identity import Tenant
from app.embedded.storage.layout import user_dir
from tests.http.conftest import Start
from tests.http.test_memories import store

LESSONS = {
    "login-token": (
        "Fixing the login test that fails with a missing token.",
        "Set TOKEN before the tests run.",
        "A login without a token is refused.",
    ),
    "download-retry": (
        "Downloading a report from a server that answers 503.",
        "Try the download again after a pause.",
        "The server is busy at the full hour; check that the report is whole.",
    ),
    "release-notes-review": (
        "Writing release notes that are reviewed.",
        "List breaking changes first.",
        "A review sends them back when breaking changes come last.",
    ),
    "deploy-tag": (
        "Deploying the harbour service to staging.",
        "Give the image a tag.",
        "Without a tag it is refused.",
    ),
    "zh-migrate": ("迁移数据库表结构时。", "先备份，再执行迁移脚本。", "没有备份的迁移无法回滚。"),
}
TASKS = {
    "Error: missing token in the login test": "login-token",
    "The login test fails with an error, please fix it.": "login-token",
    "Retry the download of the report, it failed with 503.": "download-retry",
    "The report could not be downloaded, try again.": "download-retry",
    "Review the release notes for version 3.": "release-notes-review",
    "Deploy the service to staging.": "deploy-tag",
    "请迁移数据库": "zh-migrate",
}


def test_each_task_is_shown_its_own_experience_first(start: Start, tmp_path: Path) -> None:
    lessons = user_dir(tmp_path / "data", Tenant()) / "memories" / "experiences"
    lessons.mkdir(parents=True)
    for name, (situation, approach, reflect) in LESSONS.items():
        text = f"# {name}\n\n## Situation\n- {situation}\n\n## Approach\n- {approach}\n\n## Reflect\n- {reflect}\n"
        (lessons / f"{name}.md").write_text(text)
    words_only = {"embedder": {"kind": "none"}}
    client = start(experience={"enabled": True}, embedded=words_only, limits={"assemble_ms": 60_000})
    store(client, "I live by the sea.")
    shown = {}
    for task in TASKS:
        body = {"sessionId": "s", "inject": "block", "messages": [{"role": "user", "content": task}]}
        block = str(client.post("/assemble", json=body).json().get("contextBlock"))
        shown[task] = block.partition("### Experience: ")[2].partition("\n")[0]
    assert shown == TASKS

"""Drafts on the disk, the outbox, and which saved conversation a restart continues."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from desktop.composer.attachments import Image
from desktop.conversations.drafts import Draft, DraftStore, Outgoing, content_blocks, new_key
from desktop.conversations.outbox import Outbox, proved_messages
from desktop.conversations.runner import Resume
from desktop.conversations.trust import own_settings
from protocol.conversation import Item, NoticeItem, TextItem, UserItem

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


@pytest.fixture
def store(tmp_path: Path) -> DraftStore:
    return DraftStore(tmp_path / "drafts")


def draft(store: DraftStore, **values: object) -> Draft:
    made = Draft(key=new_key(), folder="/home/me/project", **values)
    assert store.save(made)
    return made


def test_what_was_saved_is_there_at_the_next_start(store: DraftStore, tmp_path: Path) -> None:
    kept = store.keep_image(Image(PNG, "image/png", "a.png"))
    made = draft(store, text="漢字 😀 \u2028", images=[kept], typed={"r1": "because"}, recovered=["lost"])
    again = DraftStore(tmp_path / "drafts").load()
    assert [one.model_dump() for one in again] == [made.model_dump()]
    assert store.read_image(again[0].images[0]) == Image(PNG, "image/png", "a.png")


def test_a_draft_with_nothing_in_it_leaves_no_file(store: DraftStore) -> None:
    made = draft(store, text="something")
    made.text = "  \n"
    assert store.save(made)
    assert store.load() == []
    assert list(store.folder.glob("*.json")) == []


def test_a_damaged_draft_is_kept_aside_and_the_others_are_read(
    store: DraftStore, caplog: pytest.LogCaptureFixture
) -> None:
    good = draft(store, text="good")
    (store.folder / "bad.json").write_text('{"key": "half', encoding="utf-8")
    assert [one.key for one in store.load()] == [good.key]
    assert (store.folder / "bad.json.broken").read_text(encoding="utf-8") == '{"key": "half'
    assert "could not be read" in caplog.text
    caplog.clear()


def test_pictures_that_no_draft_needs_are_removed_at_the_next_start(store: DraftStore) -> None:
    needed = store.keep_image(Image(PNG, "image/png"))
    store.keep_image(Image(PNG + b"2", "image/png"))
    draft(store, outgoing=[Outgoing(images=[needed])])
    store.load()
    assert [path.stem for path in store.folder.glob("*.image")] == [needed.digest]


def test_a_picture_that_the_disk_does_not_take_is_kept_for_this_run_and_stored_when_it_can_be(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    in_the_way = tmp_path / "drafts"
    in_the_way.write_text("", encoding="utf-8")
    store = DraftStore(in_the_way)
    kept = store.keep_image(Image(PNG, "image/png", "a.png"))
    made = Draft(key=new_key(), images=[kept])
    assert not store.save(made)
    assert store.read_image(kept) == Image(PNG, "image/png", "a.png")
    in_the_way.unlink()
    assert store.save(made)
    assert store.problem == ""
    assert DraftStore(in_the_way).read_image(kept) == Image(PNG, "image/png", "a.png")
    caplog.clear()


def test_a_draft_whose_picture_is_not_on_the_disk_is_not_saved(
    store: DraftStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.folder.mkdir()
    image = Image(PNG, "image/png")
    store._image_path = lambda digest: store.folder / "no" / ("x" * 300)  # type: ignore[method-assign]
    made = Draft(key=new_key(), text="look", images=[store.keep_image(image)])
    assert not store.save(made)
    assert store.problem != ""
    assert [one.text for one in DraftStore(store.folder).load()] == ["look"]
    caplog.clear()


@pytest.mark.logs("could not be read")
@pytest.mark.parametrize("damage", ['{"key": "half my secret', '{"key": "0", "text": "", "images": "my secret"}'])
def test_the_log_says_what_is_wrong_with_a_draft_without_its_words(
    store: DraftStore, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    store.folder.mkdir()
    (store.folder / "bad.json").write_text(damage, encoding="utf-8")
    assert store.load() == []
    assert "bad.json.broken" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.logs("could not be read")
def test_the_pictures_of_a_draft_that_could_not_be_read_stay(store: DraftStore) -> None:
    kept = store.keep_image(Image(PNG, "image/png"))
    (store.folder / "bad.json").write_text('{"key": "half', encoding="utf-8")
    store.load()
    assert store.read_image(kept) is not None


def test_a_disk_that_takes_nothing_is_a_problem_and_no_crash(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "drafts").write_text("a file in the way", encoding="utf-8")
    store = DraftStore(tmp_path / "drafts")
    assert not store.save(Draft(key=new_key(), text="x"))
    assert store.problem != ""
    assert "could not be saved" in caplog.text
    caplog.clear()


def test_a_key_that_leads_out_of_the_folder_is_no_draft(store: DraftStore, caplog: pytest.LogCaptureFixture) -> None:
    store.folder.mkdir()
    (store.folder / "x.json").write_text('{"key": "../../etc/passwd", "text": "x"}', encoding="utf-8")
    assert store.load() == []
    caplog.clear()


def test_a_picture_is_named_once_and_not_with_every_save() -> None:
    image = Image(PNG, "image/png")
    assert image.digest is image.digest


def test_text_alone_is_sent_as_text_and_pictures_as_blocks() -> None:
    assert content_blocks("hi", []) == "hi"
    blocks = content_blocks("hi", [Image(PNG, "image/png")])
    assert [block["type"] for block in blocks if isinstance(block, dict)] == ["image", "text"]
    assert len(content_blocks(" ", [Image(PNG, "image/png")])) == 1


# The outbox


def user(uuid: str, state: str) -> Item:
    return UserItem(uuid, uuid=uuid, state=state)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("items", "proved"),
    [
        ([user("a", "started")], {"a"}),
        ([user("a", "completed")], {"a"}),
        ([user("a", "queued")], set()),
        ([user("a", "sent")], set()),
        ([user("a", "sent"), TextItem("t", text="yes")], {"a"}),
        ([user("a", "sent"), NoticeItem("n", kind="error")], {"a"}),
        ([user("a", "sent"), NoticeItem("n", kind="exited")], set()),
        ([user("a", "sent"), TextItem("t", text="yes"), user("b", "sent")], {"a"}),
        ([user("a", "queued"), TextItem("t", text="still the turn before")], set()),
        ([user("a", "sent"), TextItem("t", parent_tool_use_id="tool")], set()),
        ([user("a", "cancelled")], set()),
    ],
)
def test_a_message_is_proved_by_what_the_cli_says_or_does(items: list[Item], proved: set[str]) -> None:
    assert proved_messages(items, {"a"}) == proved


def test_what_was_cleared_away_with_its_conversation_was_over() -> None:
    assert proved_messages([user("b", "queued")], {"a", "b"}) == {"a"}


def test_what_the_cli_let_go_of_unread_is_not_proved_and_can_be_given_back() -> None:
    box = Outbox([Outgoing(uuid="a", text="x", state="sent"), Outgoing(uuid="b"), Outgoing(uuid="c", state="sent")])
    assert not box.settle([user("a", "cancelled"), user("c", "queued")])
    assert [message.uuid for message in box.cancelled({"a": "cancelled", "c": "queued"}.__getitem__)] == ["a"]


def test_what_was_not_written_yet_stays_for_the_next_start() -> None:
    box = Outbox([Outgoing(uuid="a", state="sent"), Outgoing(uuid="b")])
    box.give_up_sent()
    assert [message.uuid for message in box.waiting()] == ["b"]


# Resume


def test_the_old_id_is_kept_until_the_new_one_is_proved() -> None:
    resume = Resume("old")
    resume.seen("new")
    assert resume.candidates() == ["old", "new"]
    resume.prove("new")
    assert resume.candidates() == ["new"]


def test_without_a_proved_id_the_hoped_one_is_tried() -> None:
    resume = Resume()
    assert resume.candidates() == []
    resume.seen("maybe")
    assert resume.candidates() == ["maybe"]
    resume.forget()
    assert resume.candidates() == []


def test_an_id_that_was_given_up_is_not_hoped_for_again_though_it_is_still_the_one_that_is_named() -> None:
    resume = Resume("old")
    resume.forget()
    resume.seen("old")
    assert resume.candidates() == []
    resume.seen("next")
    assert resume.candidates() == ["next"]


def test_of_a_cleared_conversation_only_what_comes_after_is_gone_on_with() -> None:
    resume = Resume("before")
    resume.cleared("after")
    assert resume.candidates() == ["after"]
    resume.cleared("after")
    assert resume.candidates() == []


# Trust


def test_a_plain_folder_has_no_settings_of_its_own(tmp_path: Path) -> None:
    assert own_settings(tmp_path, {}, home=tmp_path / "home") == ()


@pytest.mark.parametrize("name", [".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".claude/hooks"])
def test_each_kind_of_own_settings_is_found(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("{}", encoding="utf-8")
    assert own_settings(tmp_path, {}, home=tmp_path / "home") == (str(Path(name)),)


def test_those_of_the_repository_above_count_too(tmp_path: Path) -> None:
    inner = tmp_path / "repository" / "src"
    inner.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / "repository" / ".mcp.json").write_text("{}", encoding="utf-8")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text("{}", encoding="utf-8")
    assert own_settings(inner, {}, home=tmp_path / "home") == (str(tmp_path / "repository" / ".mcp.json"),)


def test_the_persons_own_settings_are_not_the_folders(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text("{}", encoding="utf-8")
    assert own_settings(tmp_path, {}, home=tmp_path) == ()
    assert own_settings(tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}, home=Path("/home/x")) == ()


@pytest.mark.parametrize("in_a_repository", [False, True])
def test_servers_that_a_folder_anywhere_above_brings_are_found(tmp_path: Path, in_a_repository: bool) -> None:
    folder = tmp_path / "downloads" / "archive" / "src"
    folder.mkdir(parents=True)
    if in_a_repository:
        (folder / ".git").mkdir()
    for place in (tmp_path / "downloads", folder.parent):
        (place / ".mcp.json").write_text("{}", encoding="utf-8")
    assert own_settings(folder, {}, home=tmp_path / "home") == (
        str(folder.parent / ".mcp.json"),
        str(tmp_path / "downloads" / ".mcp.json"),
    )
    assert own_settings(folder, {}, home=tmp_path / "downloads") == (str(folder.parent / ".mcp.json"),)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_what_is_above_the_true_place_of_a_linked_folder_counts(tmp_path: Path) -> None:
    (tmp_path / "downloads" / "src").mkdir(parents=True)
    (tmp_path / "downloads" / ".mcp.json").write_text("{}", encoding="utf-8")
    (tmp_path / "home").mkdir()
    link = tmp_path / "home" / "project"
    link.symlink_to(tmp_path / "downloads" / "src")
    assert own_settings(link, {}, home=tmp_path / "home") == (str(tmp_path / "downloads" / ".mcp.json"),)

"""What the installers are made from: the bundle's papers, the order of its release, Windows' version information."""

from __future__ import annotations

import importlib.util
import os
import plistlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from desktop import __version__
from desktop.translations import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
MACOS = ROOT / "resources" / "macos"
WINDOWS = ROOT / "resources" / "windows"
MACH_O = b"\xcf\xfa\xed\xfe" + bytes(28)
NOTARY = {"HANDRAISE_NOTARY_KEY": "key.p8", "HANDRAISE_NOTARY_KEY_ID": "K1", "HANDRAISE_NOTARY_ISSUER": "team"}
IDENTITY = "Developer ID Application: Somebody (T1)"
SIGNING = {"HANDRAISE_SIGN_IDENTITY": IDENTITY}

needs_bash = pytest.mark.skipif(sys.platform == "win32", reason="the release of the bundle is a script of macOS")


def module(path: Path) -> ModuleType:
    """A script beside the sources, which is no part of any package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


# --- macOS: what the bundle says of itself


def test_the_bundle_has_an_identity_a_version_and_sharp_text() -> None:
    entries = module(MACOS / "info_plist.py").info_plist("1.20.3")
    assert re.fullmatch(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+){2,}", entries["CFBundleIdentifier"])
    assert (entries["CFBundleShortVersionString"], entries["CFBundleVersion"]) == ("1.20.3", "1.20.3")
    assert (entries["CFBundleName"], entries["CFBundlePackageType"]) == ("Handraise", "APPL")
    assert entries["NSHighResolutionCapable"] is True
    assert entries["NSRequiresAquaSystemAppearance"] is False, "without it there is no dark scheme"
    assert re.fullmatch(r"\d+\.\d+", entries["LSMinimumSystemVersion"])
    assert set(entries["CFBundleLocalizations"]) == set(LANGUAGES)


def test_the_bundle_starts_the_program_and_shows_the_icon_that_the_build_makes() -> None:
    entries = module(MACOS / "info_plist.py").info_plist(__version__)
    assert entries["CFBundleExecutable"] == "handraise"
    assert entries["CFBundleIconFile"] == "handraise.icns"


def test_the_bundle_takes_folders_and_is_nobodys_default_for_them() -> None:
    (kind,) = module(MACOS / "info_plist.py").info_plist(__version__)["CFBundleDocumentTypes"]
    assert kind["LSItemContentTypes"] == ["public.folder"]
    assert (kind["CFBundleTypeRole"], kind["LSHandlerRank"]) == ("Viewer", "Alternate")


@pytest.mark.parametrize(
    ("version", "shown"), [("0.1.0", "0.1.0"), ("1.2.3rc1", "1.2.3"), ("2.0.0.dev5", "2.0.0"), ("3", "3")]
)
def test_the_bundles_version_has_three_numbers_at_most(version: str, shown: str) -> None:
    assert module(MACOS / "info_plist.py").info_plist(version)["CFBundleVersion"] == shown


def test_a_bundle_without_a_version_is_refused() -> None:
    with pytest.raises(ValueError, match="does not begin with a number"):
        module(MACOS / "info_plist.py").info_plist("unknown")


def test_every_use_of_a_folder_that_macos_asks_about_has_a_reason_in_words() -> None:
    entries = plistlib.loads((MACOS / "Info.plist").read_bytes())
    reasons = {key: text for key, text in entries.items() if key.endswith("UsageDescription")}
    assert {key.removeprefix("NS").removesuffix("FolderUsageDescription") for key in reasons} == {
        "Desktop", "Documents", "Downloads",
    }  # fmt: skip
    assert all("folder that you chose" in text for text in reasons.values())


def test_the_hardened_runtime_has_one_exception_and_no_more() -> None:
    entitlements = plistlib.loads((MACOS / "entitlements.plist").read_bytes())
    assert entitlements == {"com.apple.security.cs.allow-unsigned-executable-memory": True}


# --- macOS: the order of a release


class Release:
    """A run of release.sh with stand-ins for Apple's programs, which write down how they were called, and for `sleep`.

    Attributes:
        app: the bundle, with symbolic links, a framework, data, and libraries at several depths.
        done: the finished run.
        calls: a line each, with the bundle's and the temporary folder's path shortened.
    """

    def __init__(
        self, folder: Path, secrets: dict[str, str], *, verdict: str = "Accepted", busy: int = 0, holds: str = IDENTITY
    ) -> None:
        """Run it.

        Args:
            folder: where all of it happens.
            secrets: the variables that are set.
            verdict: Apple's.
            busy: how often hdiutil fails before it makes an image.
            holds: the identity that the keychain holds.
        """
        self.app = folder / "two words" / "Handraise.app"
        self.image = folder / "Handraise.dmg"
        contents = self.app / "Contents"
        for name in (
            "MacOS/handraise", "Frameworks/libone.dylib", "Frameworks/PySide6/QtCore.abi3.so",
            "Frameworks/PySide6/Qt/lib/QtCore.framework/Versions/A/QtCore",
        ):  # fmt: skip
            file = contents / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(MACH_O)
        (contents / "Frameworks/PySide6/Qt/lib/QtCore.framework/QtCore").symlink_to("Versions/A/QtCore")
        (contents / "Resources").mkdir()
        (contents / "Resources/words.json").write_text("{}", encoding="utf-8")
        self._log = folder / "calls"
        self._log.touch()
        programs = folder / "programs"
        programs.mkdir()
        for name in ("codesign", "xcrun", "ditto", "spctl", "sleep"):
            self._stand_in(programs / name, verdict)
        self._stand_in(programs / "hdiutil", verdict, f'[ "$(grep -c hdiutil "{self._log}")" -gt {busy} ]\n')
        (programs / "security").write_text(f"#!/bin/sh\necho '  1) 0123ABCD \"{holds}\"'\n", encoding="utf-8")
        (programs / "security").chmod(0o755)
        env = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(folder), "LC_ALL": "C", **secrets}
        self.done = subprocess.run(
            ["bash", str(MACOS / "release.sh"), str(self.app), str(self.image)],
            env=env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def _stand_in(self, path: Path, verdict: str, last: str = "") -> None:
        reply = f'echo \'{{"id": "42", "status": "{verdict}"}}\''
        path.write_text(
            f'#!/bin/sh\necho "{path.name} $*" >>"{self._log}"\n'
            f'case "$*" in "notarytool submit"*) {reply} ;; "notarytool log"*) echo "the reason" ;; esac\n{last}',
            encoding="utf-8",
        )
        path.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        lines = self._log.read_text("utf-8").splitlines()
        short = [line.replace(str(self.app), "APP").replace(str(self.image), "IMAGE") for line in lines]
        return [re.sub(r"\S*/tmp\.\w+", "WORK", line) for line in short]

    def steps(self) -> list[str]:
        """What was done, without the arguments that every call of its kind has."""
        kinds = {
            "codesign --force": "sign", "codesign --verify": "verify", "xcrun notarytool submit": "notarize",
            "xcrun stapler staple": "staple", "hdiutil create": "pack", "spctl --assess": "assess",
        }  # fmt: skip
        found = []
        for call in self.calls:
            kind = next((word for beginning, word in kinds.items() if call.startswith(beginning)), "")
            if kind:
                target = next(word for word in call.split() if word.startswith(("APP", "IMAGE", "WORK")))
                found.append(f"{kind} {target}")
        return found


@needs_bash
def test_a_release_is_signed_from_the_inside_out_then_notarized_stapled_and_packed(tmp_path: Path) -> None:
    release = Release(tmp_path, SIGNING | NOTARY)
    assert release.done.returncode == 0, release.done.stderr
    frameworks = "APP/Contents/Frameworks"
    qt = f"{frameworks}/PySide6/Qt/lib/QtCore.framework"
    assert release.steps() == [
        f"sign {qt}/Versions/A/QtCore",
        f"sign {frameworks}/PySide6/QtCore.abi3.so",
        f"sign {frameworks}/libone.dylib",
        f"sign {qt}",
        "sign APP/Contents/MacOS/handraise",
        "sign APP",
        "verify APP",
        "notarize WORK/notarize.zip",
        "staple APP",
        "assess APP",
        "pack WORK/image",
        "sign IMAGE",
        "notarize IMAGE",
        "staple IMAGE",
    ]


@needs_bash
def test_only_the_program_and_its_bundle_get_entitlements_and_all_code_the_hardened_runtime(tmp_path: Path) -> None:
    signed = [call for call in Release(tmp_path, SIGNING).calls if call.startswith("codesign --force")]
    entitled = [call.split()[-1] for call in signed if "--entitlements" in call]
    assert entitled == ["APP/Contents/MacOS/handraise", "APP"]
    assert [call.split()[-1] for call in signed if "--options runtime" not in call] == ["IMAGE"]
    assert all("--timestamp" in call and SIGNING["HANDRAISE_SIGN_IDENTITY"] in call for call in signed)


@needs_bash
def test_without_secrets_the_image_is_made_and_what_was_not_done_is_said(tmp_path: Path) -> None:
    release = Release(tmp_path, {})
    assert release.done.returncode == 0, release.done.stderr
    assert release.steps() == ["verify APP", "pack WORK/image"]
    assert "NOT SIGNED: HANDRAISE_SIGN_IDENTITY is not set" in release.done.stdout
    assert "NOT NOTARIZED: HANDRAISE_NOTARY_KEY is not set" in release.done.stdout


@needs_bash
def test_what_apple_refuses_is_neither_stapled_nor_packed(tmp_path: Path) -> None:
    release = Release(tmp_path, SIGNING | NOTARY, verdict="Invalid")
    assert release.done.returncode == 1
    assert "Apple did not accept" in release.done.stderr
    assert "the reason" in release.done.stderr
    assert not [step for step in release.steps() if step.startswith(("staple", "pack"))]


@needs_bash
@pytest.mark.parametrize(
    ("secrets", "sentence"),
    [
        (SIGNING | {"HANDRAISE_NOTARY_KEY": "key.p8"}, "some are set and some are not"),
        (NOTARY, "HANDRAISE_SIGN_IDENTITY is not set"),
    ],
)
def test_half_of_the_secrets_is_a_mistake(tmp_path: Path, secrets: dict[str, str], sentence: str) -> None:
    release = Release(tmp_path, secrets)
    assert release.done.returncode == 1
    assert sentence in release.done.stderr
    assert release.calls == []


@needs_bash
@pytest.mark.parametrize(("variables", "beginning"), [({}, ""), ({"GITHUB_ACTIONS": "true"}, "::error::")])
def test_an_identity_without_its_certificate_is_a_mistake(
    tmp_path: Path, variables: dict[str, str], beginning: str
) -> None:
    release = Release(tmp_path, SIGNING | variables, holds="Developer ID Application: Nobody (T2)")
    assert release.done.returncode == 1
    assert release.done.stderr.startswith(f"{beginning}HANDRAISE_SIGN_IDENTITY is set, but no keychain has")
    assert release.calls == []


@needs_bash
@pytest.mark.parametrize(("busy", "code", "attempts"), [(0, 0, 1), (7, 0, 8), (9, 1, 8)])
def test_an_image_is_tried_again_when_the_system_is_busy_with_it(
    tmp_path: Path, busy: int, code: int, attempts: int
) -> None:
    release = Release(tmp_path, {}, busy=busy)
    assert release.done.returncode == code
    assert len([call for call in release.calls if call.startswith("hdiutil create")]) == attempts
    pauses = [int(call.split()[1]) for call in release.calls if call.startswith("sleep")]
    assert len(pauses) == attempts - 1
    assert pauses == sorted(set(pauses)), "each is longer than the one before"
    assert ("hdiutil made no image in 8 attempts." in release.done.stderr) == bool(code)


# --- Windows


def test_the_version_of_the_program_is_read_without_importing_it() -> None:
    assert module(WINDOWS / "version_info.py").version() == __version__


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("0.1.0", (0, 1, 0, 0)), ("1.2.3rc4", (1, 2, 3, 0)), ("1.2.3.4.5", (1, 2, 3, 4)), ("7", (7, 0, 0, 0))],
)
def test_windows_gets_four_numbers(version: str, numbers: tuple[int, ...]) -> None:
    assert module(WINDOWS / "version_info.py").numbers(version) == numbers


@pytest.mark.parametrize("version", ["", "v1", "1.70000"])
def test_a_version_that_windows_cannot_show_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match="number"):
        module(WINDOWS / "version_info.py").numbers(version)


@pytest.mark.parametrize(("version", "flags"), [("1.2.3", 0), ("1.2.3rc1", 2)])
def test_the_version_file_says_what_the_program_is(version: str, flags: int) -> None:
    text = module(WINDOWS / "version_info.py").version_file(version, "handraise-cli.exe", "Handraise (console)")
    fixed, strings = said_by_version_file(text)
    assert fixed["filevers"] == fixed["prodvers"] == (1, 2, 3, 0)
    assert fixed["flags"] == flags
    assert strings["ProductVersion"] == strings["FileVersion"] == version
    assert strings["OriginalFilename"] == "handraise-cli.exe"
    assert strings["InternalName"] == "handraise-cli"
    assert strings["FileDescription"] == "Handraise (console)"


def said_by_version_file(text: str) -> tuple[dict[str, object], dict[str, str]]:
    """The fixed part and the strings of a version file, read as PyInstaller reads it: by evaluating it."""
    seen: dict[str, object] = {}
    strings: dict[str, str] = {}

    def fixed(**values: object) -> None:
        seen.update(values)

    names = {
        "VSVersionInfo": lambda **_: None, "FixedFileInfo": fixed, "StringFileInfo": lambda _: None,
        "StringTable": lambda *_: None, "VarFileInfo": lambda _: None, "VarStruct": lambda *_: None,
        "StringStruct": strings.__setitem__,
    }  # fmt: skip
    eval(text, {"__builtins__": {}}, names)
    return seen, strings


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs to be signed, in the working folder."""
    for name in ("handraise.exe", "a.exe", "b.exe"):
        (tmp_path / name).write_bytes(b"MZ")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("env", [{}, {"HANDRAISE_PFX_FILE": "c.pfx", "HANDRAISE_PFX_PASSWORD": "very secret"}])
def test_a_program_that_is_not_there_is_a_mistake_with_and_without_a_certificate(
    capsys: pytest.CaptureFixture[str], env: dict[str, str]
) -> None:
    assert module(WINDOWS / "sign.py").main(["handraise.exe", "handraise-cli.exe"], env) == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "There is nothing to sign at handraise-cli.exe.\n")


@pytest.mark.usefixtures("programs")
def test_a_windows_build_without_a_certificate_is_whole_and_says_that_it_is_not_signed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert module(WINDOWS / "sign.py").main(["handraise.exe"], {}) == 0
    assert capsys.readouterr().out == "NOT SIGNED, since HANDRAISE_PFX_FILE is not set: handraise.exe\n"


@pytest.mark.usefixtures("programs")
def test_a_certificate_without_its_password_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert module(WINDOWS / "sign.py").main(["handraise.exe"], {"HANDRAISE_PFX_FILE": "c.pfx"}) == 1
    assert "both are needed" in capsys.readouterr().err


@needs_bash
@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(("code", "result"), [(0, 0), (3, 1)])
def test_signtool_signs_with_sha_256_and_a_time_stamp_and_no_word_of_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], code: int, result: int
) -> None:
    tool = tmp_path / "signtool"
    tool.write_text(f'#!/bin/sh\necho "$*" >"{tmp_path}/called"\nexit {code}\n', encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    env = {"HANDRAISE_PFX_FILE": "c.pfx", "HANDRAISE_PFX_PASSWORD": "very secret"}
    assert module(WINDOWS / "sign.py").main(["a.exe", "b.exe"], env) == result
    called = (tmp_path / "called").read_text("utf-8")
    assert called.startswith("sign /fd sha256 /f c.pfx /p very secret /tr http")
    assert called.endswith("/td sha256 /d Handraise a.exe b.exe\n")
    assert "very secret" not in "".join(capfd.readouterr())

"""The environment of a CLI: the user's own, without what changes who pays or who answers, and without the package."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from protocol.process import Bundle, child_environment

SET_FOR_THE_CLI = {
    "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1",
    "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT": "markdown",
    "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true",
}


def test_what_outranks_the_subscription_is_removed_and_named() -> None:
    child = child_environment({"ANTHROPIC_API_KEY": "sk", "ANTHROPIC_AUTH_TOKEN": "t", "PATH": "/bin"})
    assert child.env == {"PATH": "/bin", **SET_FOR_THE_CLI}
    assert child.removed == ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    assert child.notable == {}


def test_a_setting_keeps_the_api_key_and_it_is_said_without_its_value() -> None:
    child = child_environment({"ANTHROPIC_API_KEY": "sk-secret"}, keep_api_key=True)
    assert child.env["ANTHROPIC_API_KEY"] == "sk-secret"
    assert child.removed == ()
    assert child.notable == {"ANTHROPIC_API_KEY": "set"}


def test_the_marks_of_an_outer_session_are_removed() -> None:
    outer = {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_SSE_PORT": "7"}
    child = child_environment(outer)
    assert child.env == SET_FOR_THE_CLI
    assert set(child.removed) == set(outer)


@pytest.mark.parametrize(
    "name",
    ["MCP_TIMEOUT", "HTTPS_PROXY", "no_proxy", "PATH", "LANG", "LC_ALL", "QT_SCALE_FACTOR", "PYTHONPATH",
     "LD_LIBRARY_PATH", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL"],
)  # fmt: skip
def test_the_users_own_variables_pass_through(name: str) -> None:
    child = child_environment({name: "/mine/漢😀"})
    assert child.env[name] == "/mine/漢😀"
    assert child.removed == ()


def test_the_base_is_not_changed() -> None:
    base = {"CLAUDECODE": "1"}
    child_environment(base, extra={"A": "b"})
    assert base == {"CLAUDECODE": "1"}


def test_extra_variables_win() -> None:
    child = child_environment({"PATH": "/bin"}, extra={"PATH": "/opt/bin:/bin", "ANTHROPIC_API_KEY": "of a test"})
    assert child.env["PATH"] == "/opt/bin:/bin"
    assert child.env["ANTHROPIC_API_KEY"] == "of a test"


def test_what_sends_the_traffic_elsewhere_is_notable() -> None:
    child = child_environment(
        {
            "ANTHROPIC_BASE_URL": "https://me:secret@gateway.example:8443/v1",
            "CLAUDE_CODE_USE_BEDROCK": "1",
            "CLAUDE_CODE_USE_VERTEX": "",
            "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01",
        }
    )
    assert child.notable == {
        "ANTHROPIC_BASE_URL": "https://…@gateway.example:8443/v1",
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "CLAUDE_CODE_OAUTH_TOKEN": "set",
    }


def test_an_address_that_is_none_is_shown_as_it_is() -> None:
    assert child_environment({"ANTHROPIC_BASE_URL": "http://[::1"}).notable == {"ANTHROPIC_BASE_URL": "http://[::1"}


def listed(*paths: str) -> str:
    return os.pathsep.join(paths)


class TestPackagedApp:
    """A packaged app restores the user's own values: its loader, its hooks and its code changed some."""

    inside = os.path.join(os.sep, "opt", "handraise", "_internal")

    def cleaned(self, env: dict[str, str], original: dict[str, str] | None = None) -> dict[str, str]:
        child = child_environment(env, bundle=Bundle((self.inside,), original))
        return {name: value for name, value in child.env.items() if name not in SET_FOR_THE_CLI}

    def test_the_loaders_original_comes_back(self) -> None:
        env = {"LD_LIBRARY_PATH": listed(self.inside, "/mine"), "LD_LIBRARY_PATH_ORIG": "/mine"}
        assert self.cleaned(env) == {"LD_LIBRARY_PATH": "/mine"}

    def test_a_loader_path_that_the_user_never_had_goes(self) -> None:
        assert self.cleaned({"LD_LIBRARY_PATH": self.inside}) == {}

    @pytest.mark.parametrize("name", ["DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH"])
    def test_the_loader_of_macos_is_cleaned_too(self, name: str) -> None:
        assert self.cleaned({name: listed(self.inside, "/mine")}) == {name: "/mine"}
        assert self.cleaned({name: "/changed", f"{name}_ORIG": "/mine"}) == {name: "/mine"}

    def test_qt_variables_are_those_the_app_was_started_with(self) -> None:
        env = {
            "QT_PLUGIN_PATH": f"{self.inside}/PySide6/Qt/plugins",
            "QML2_IMPORT_PATH": f"{self.inside}/PySide6/Qt/qml",
            "QT_QPA_PLATFORM": "set by our code",
        }
        original = {"QT_PLUGIN_PATH": "/usr/lib/qt/plugins", "QT_SCALE_FACTOR": "2"}
        assert self.cleaned(env, original) == original

    def test_where_the_start_is_unknown_qt_variables_into_the_package_go(self) -> None:
        env = {
            "QT_PLUGIN_PATH": os.path.join(self.inside, "plugins"),
            "QT_SCALE_FACTOR": "2",
            "PYTHONHOME": self.inside,
        }
        assert self.cleaned(env) == {"QT_SCALE_FACTOR": "2"}

    def test_python_variables_are_those_the_app_was_started_with(self) -> None:
        env = {"PYTHONHOME": self.inside, "PYTHONPATH": self.inside, "PYTHONUTF8": "1"}
        assert self.cleaned(env, {"PYTHONPATH": "/mine"}) == {"PYTHONPATH": "/mine"}

    def test_what_the_binding_sets_for_itself_goes(self) -> None:
        """PySide6 writes PYSIDE6_OPTION_PYTHON_ENUM into the environment when it is imported."""
        env = {"PYSIDE6_OPTION_PYTHON_ENUM": "0x1", "HOME": "/home/me"}
        assert self.cleaned(env, {"HOME": "/home/me"}) == {"HOME": "/home/me"}
        assert self.cleaned(env, env) == env

    def test_the_packagers_own_variables_go(self) -> None:
        env = {"_MEIPASS2": self.inside, "_PYI_ARCHIVE_FILE": "x", "_PYI_PARENT_PROCESS_LEVEL": "1", "_": "/bin/sh"}
        assert self.cleaned(env) == {"_": "/bin/sh"}

    def test_any_list_of_paths_loses_the_packages_entries(self) -> None:
        share = os.path.join(self.inside, "share")
        env = {"PATH": listed(self.inside, "/usr/bin", "/bin"), "XDG_DATA_DIRS": listed("/usr/share", share)}
        assert self.cleaned(env) == {"PATH": listed("/usr/bin", "/bin"), "XDG_DATA_DIRS": "/usr/share"}

    def test_a_neighbour_of_the_package_is_not_in_it(self) -> None:
        env = {"PATH": listed(f"{self.inside}-tools", "/opt/handraise"), "NOTE": f"see {self.inside}", "EMPTY": ""}
        assert self.cleaned(env) == env

    def test_an_appimage_leaves_no_trace(self) -> None:
        mount = os.path.join(os.sep, "tmp", ".mount_handraAbCd")
        env = {
            "APPDIR": mount,
            "APPIMAGE": "/home/me/Handraise.AppImage",
            "ARGV0": "handraise",
            "OWD": "/home/me",
            "PATH": listed(os.path.join(mount, "usr", "bin"), "/usr/bin"),
        }
        child = child_environment(env, bundle=Bundle((os.path.join(mount, "usr", "lib"), mount)))
        assert {name for name in child.env if name not in SET_FOR_THE_CLI} == {"PATH"}
        assert child.env["PATH"] == "/usr/bin"

    def test_the_appimage_of_another_program_is_the_users_own(self) -> None:
        env = {"APPDIR": "/tmp/.mount_terminal", "APPIMAGE": "/home/me/Terminal.AppImage"}
        assert self.cleaned(env) == env


def test_outside_of_a_package_there_is_no_bundle() -> None:
    assert Bundle.current() is None


def test_the_bundle_is_found_with_the_environment_of_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", "/Applications/Handraise.app/Contents/Frameworks", raising=False)
    monkeypatch.setenv("SET_AFTER_THE_START", "1")
    bundle = Bundle.current()
    assert bundle is not None
    assert bundle.roots == (
        "/Applications/Handraise.app/Contents/Frameworks",
        "/Applications/Handraise.app/Contents",
    )
    if os.name == "nt":  # Windows overwrites it
        assert bundle.original is None
    else:
        assert bundle.original is not None
        assert "PATH" in bundle.original
        assert "SET_AFTER_THE_START" not in bundle.original


def test_the_child_really_gets_it() -> None:
    child = child_environment({**os.environ, "ANTHROPIC_API_KEY": "sk-secret"})
    command = [sys.executable, "-c", "import os; print(dict(os.environ))"]
    seen = subprocess.run(command, env=child.env, capture_output=True, check=True, timeout=60).stdout
    assert b"sk-secret" not in seen
    assert b"'CLAUDE_CODE_SDK_READS_SESSION_STATE': '1'" in seen

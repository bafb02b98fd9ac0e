#!/bin/sh
# Installs Handraise for one user, or wherever the prefix is; over an older version, too.
#
#   ./install.sh [PREFIX]               into PREFIX (~/.local)
#   ./install.sh --uninstall [PREFIX]   takes it away again; conversations and settings stay
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
uninstall=
if [ "${1-}" = --uninstall ]; then uninstall=yes; shift; fi
prefix=${1:-${HOME:?is not set; name a prefix}/.local}

remove() {
  rm -rf "$prefix/lib/handraise" "$prefix/share/doc/handraise"
  rm -f "$prefix/bin/handraise" "$prefix/share/applications/handraise.desktop"
  rm -f "$prefix"/share/metainfo/*.handraise.metainfo.xml "$prefix"/share/icons/hicolor/*/apps/handraise.*
}

# A menu reads its cache, where there is one; without these tools it reads the files.
refresh() {
  if command -v update-desktop-database >/dev/null 2>&1; then
    update-desktop-database -q "$prefix/share/applications" || true
  fi
  if [ -f "$prefix/share/icons/hicolor/icon-theme.cache" ] && command -v gtk-update-icon-cache >/dev/null 2>&1; then
    gtk-update-icon-cache -q -t "$prefix/share/icons/hicolor" || true
  fi
}

if [ -n "$uninstall" ]; then
  remove
  refresh
  echo "Handraise is gone from $prefix. Conversations and settings were kept."
  exit 0
fi

mkdir -p "$prefix/lib" "$prefix/bin" "$prefix/share"
prefix=$(CDPATH='' cd -- "$prefix" && pwd)
# The copy first: if it fails half-way, the older version is still there.
rm -rf "$prefix/lib/handraise.new"
cp -R "$here/lib/handraise" "$prefix/lib/handraise.new"
if ! "$prefix/lib/handraise.new/handraise" --version >/dev/null; then
  rm -rf "$prefix/lib/handraise.new"
  has=$(getconf GNU_LIBC_VERSION 2>/dev/null) || has="none that says so"
  echo "Handraise does not start on this system, and nothing was changed." >&2
  echo "It needs glibc @GLIBC@ or newer; found: $has." >&2
  exit 1
fi
remove
mv "$prefix/lib/handraise.new" "$prefix/lib/handraise"
ln -s ../lib/handraise/handraise "$prefix/bin/handraise"
cp -R "$here/share/." "$prefix/share/"

# A menu's PATH may not have this prefix. Quoted as the desktop entry specification has it, for spaces.
quoted=$(printf '%s' "$prefix/bin/handraise" | sed -e 's/[\\"`$]/\\\\&/g' -e 's/%/%%/g' -e 's/[\\&|]/\\&/g')
entry=$prefix/share/applications/handraise.desktop
sed -e "s|^Exec=handraise|Exec=\"$quoted\"|" "$entry" >"$entry.new"
mv "$entry.new" "$entry"
refresh
echo "Handraise is installed: $prefix/bin/handraise"

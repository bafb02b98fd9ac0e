#!/bin/bash
# Makes the disk image that people download out of the bundle that PyInstaller made, in the only order that works:
# sign (from the inside out), check, notarize, staple, pack, and the image itself signed, notarized and stapled.
#
#   resources/macos/release.sh dist/Handraise.app handraise-0.1.0.dmg
#
# HANDRAISE_SIGN_IDENTITY    "Developer ID Application: …", its certificate and key in an unlocked keychain
# HANDRAISE_NOTARY_KEY       the file of an App Store Connect API key (.p8)
# HANDRAISE_NOTARY_KEY_ID    its id
# HANDRAISE_NOTARY_ISSUER    the id of the team that issued it
#
# Without the first the bundle stays as PyInstaller signed it (ad hoc); without the last three nothing is notarized.
# Either is said aloud, and the image is made all the same. macOS's own bash is 3.2: no newer word here.
set -euo pipefail

[ $# -eq 2 ] || { echo "usage: $0 BUNDLE.app IMAGE.dmg" >&2; exit 2; }
app=${1%/}
image=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
identity=${HANDRAISE_SIGN_IDENTITY:-}
key=${HANDRAISE_NOTARY_KEY:-}
key_id=${HANDRAISE_NOTARY_KEY_ID:-}
issuer=${HANDRAISE_NOTARY_ISSUER:-}

# A workflow shows what follows "::error::" on top of its page.
fail() { echo "${GITHUB_ACTIONS:+::error::}$*" >&2; exit 1; }

[ -d "$app/Contents/MacOS" ] || fail "$app is no bundle"
if [ -n "$key$key_id$issuer" ]; then
  { [ -n "$key" ] && [ -n "$key_id" ] && [ -n "$issuer" ]; } ||
    fail "Of HANDRAISE_NOTARY_KEY, _KEY_ID and _ISSUER some are set and some are not; all are needed."
  [ -n "$identity" ] || fail "Only what is signed can be notarized: HANDRAISE_SIGN_IDENTITY is not set."
fi
if [ -n "$identity" ]; then
  case $(security find-identity -p codesigning) in
    *"$identity"*) ;;
    *) fail "HANDRAISE_SIGN_IDENTITY is set, but no keychain has that identity: its certificate is missing." ;;
  esac
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { printf '\n=== %s\n' "$*"; }

# Whether a file is a program or a library of macOS, by its first four bytes: 64 bits, or several architectures.
is_code() {
  case $(head -c 4 "$1" | od -An -tx1 | tr -d ' \n') in
    cffaedfe | cafebabe) return 0 ;;
    *) return 1 ;;
  esac
}

# The paths of stdin, those with most folders above them first.
deepest_first() { awk -F/ '{ print NF "\t" $0 }' | sort -rn | cut -f 2-; }

sign() { codesign --force --timestamp --options runtime --sign "$identity" "$@"; }

sign_bundle() {
  find "$app/Contents" -type f ! -path "$app/Contents/MacOS/*" | deepest_first | while IFS= read -r file; do
    if is_code "$file"; then sign "$file"; fi
  done
  find "$app/Contents" -type d -name '*.framework' | deepest_first | while IFS= read -r framework; do
    sign "$framework"
  done
  # The bundle's signature covers its main program; others beside it are signed by themselves, before.
  find "$app/Contents/MacOS" -type f | deepest_first | while IFS= read -r file; do
    if is_code "$file"; then sign --entitlements "$here/entitlements.plist" "$file"; fi
  done
  sign --entitlements "$here/entitlements.plist" "$app"
}

# notarytool's exit code is 0 for what Apple refused, too: only the word in its reply counts.
notarize() {
  xcrun notarytool submit "$1" --key "$key" --key-id "$key_id" --issuer "$issuer" --wait --timeout 30m \
    --output-format json >"$work/reply.json"
  cat "$work/reply.json"
  if ! grep -Eq '"status" *: *"Accepted"' "$work/reply.json"; then
    id=$(sed -nE 's/.*"id" *: *"([^"]+)".*/\1/p' "$work/reply.json" | head -n 1)
    echo "Apple did not accept $1:" >&2
    xcrun notarytool log "$id" --key "$key" --key-id "$key_id" --issuer "$issuer" >&2 || true
    exit 1
  fi
}

pack() { hdiutil create -volname Handraise -srcfolder "$work/image" -fs HFS+ -format ULMO -ov "$image"; }

if [ -n "$identity" ]; then
  step "sign the bundle"
  sign_bundle
else
  step "NOT SIGNED: HANDRAISE_SIGN_IDENTITY is not set"
fi
codesign --verify --deep --strict --verbose=2 "$app"

if [ -n "$key" ]; then
  step "notarize the bundle"
  ditto -c -k --keepParent "$app" "$work/notarize.zip"
  notarize "$work/notarize.zip"
  step "staple the bundle"
  xcrun stapler staple "$app"
  spctl --assess --type execute --verbose=2 "$app"
else
  step "NOT NOTARIZED: HANDRAISE_NOTARY_KEY is not set"
fi

step "pack"
mkdir "$work/image"
ditto "$app" "$work/image/$(basename "$app")"
ln -s /Applications "$work/image/Applications"
# WORKAROUND: now and then hdiutil ends with "Resource busy" on a hosted runner (actions/runner-images#7522).
attempt=1
until pack; do
  [ "$attempt" -lt 8 ] || fail "hdiutil made no image in $attempt attempts."
  echo "hdiutil made no image; once more in $((attempt * 3)) s." >&2
  sleep $((attempt * 3))
  attempt=$((attempt + 1))
done

if [ -n "$identity" ]; then
  step "sign the image"
  codesign --force --timestamp --sign "$identity" "$image"
fi
if [ -n "$key" ]; then
  step "notarize the image"
  notarize "$image"
  step "staple the image"
  xcrun stapler staple "$image"
fi
step "made $image"

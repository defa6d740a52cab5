#!/bin/sh
# Install the Debian packages named, but only those that are missing.
set -eu

missing=
for package; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "Please install the equivalent of these Debian packages:$missing" >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "Missing Debian packages. Please run: sudo apt-get install$missing" >&2
    exit 1
fi

echo "installing Debian packages:$missing ..."
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086  # one word per package
apt-get install -qq --no-install-recommends $missing >/dev/null

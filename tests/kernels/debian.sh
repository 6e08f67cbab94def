# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# debian.sh - sourced: fetches packages of another Debian suite, with a state of its own for apt.
#
# Takes $cache (a folder). Nothing under /etc/apt, /var/lib/apt or of dpkg's database is changed; the
# mirror is the one that this machine's own apt uses.
: "${cache:?}"

# Base URI of the Debian main archive that this machine is configured for.
debian_mirror() {
	# apt's fields, not the shell's
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL) $(COMPONENT)' 2>/dev/null |
		awk '$2 == "Debian" && $3 == "Debian" && $4 == "main" { print $1; exit }'
}

# debian_apt SUITE TOOL ARGUMENT...: apt-get or apt-cache as if this machine had that suite alone
debian_apt() {
	local suite=$1 tool=$2 state=$cache/apt/$1
	shift 2
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	: >>"$state/status"
	"$tool" -o APT::Architecture=amd64 -o APT::Architectures::=amd64 \
		-o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
		-o Dir::State="$state" -o Dir::State::lists="$state/lists" \
		-o Dir::State::status="$state/status" -o Dir::Cache="$state" \
		-o Dir::Cache::archives="$state/archives" -o Dir::Cache::pkgcache= \
		-o Dir::Cache::srcpkgcache= -o Acquire::Check-Valid-Until=false \
		-o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}

# debian_update SUITE: lists of packages, once; the versions of a kernel follow the lists
debian_update() {
	local suite=$1 state=$cache/apt/$1 mirror
	[ ! -e "$state/complete" ] || return 0
	mirror=$(debian_mirror)
	[ -n "$mirror" ] || {
		echo "debian.sh: apt on this machine knows no Debian archive" >&2
		return 1
	}
	mkdir -p "$state"
	echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" \
		>"$state/sources.list"
	debian_apt "$suite" apt-get -qq update && touch "$state/complete"
}

# debian_kernel SUITE: prints the version behind the package linux-image-cloud-amd64
debian_kernel() {
	debian_update "$1" && debian_apt "$1" apt-cache depends linux-image-cloud-amd64 |
		sed -n 's/^ *Depends: linux-\(image\|binary\)-//p' | head -n 1
}

# debian_unpack SUITE FOLDER PACKAGE...: the files of the packages into FOLDER
debian_unpack() {
	local suite=$1 folder=$2 debs package
	shift 2
	debs=$(mktemp -d "$cache/debs.XXXXXX")
	(cd "$debs" && debian_apt "$suite" apt-get -qq download "$@" >&2) || {
		rm -rf "$debs"
		return 1
	}
	for package in "$debs"/*.deb; do
		dpkg -x "$package" "$folder" || return 1
	done
	rm -rf "$debs"
}

# SPDX-License-Identifier: MIT
# `make deb`: a Debian package. `make deb-smoke` installs it into a folder, `make check-deb` by apt into a fresh root.
CHECKS += deb-smoke

DEB = $(O)/sidewinder_$(VERSION)-1_$(shell dpkg --print-architecture).deb

.PHONY: deb
deb: all
	$(Q)tests/tools/packages.sh package
	$(Q)sh tests/package/build.sh $(O) $(VERSION) $(RELEASED)

.PHONY: deb-smoke
deb-smoke: deb
	$(Q)bash tests/package/check.sh $(DEB)

.PHONY: check-deb
check-deb: deb
	$(Q)tests/tools/packages.sh suites
	$(Q)bash tests/package/check.sh $(DEB) new

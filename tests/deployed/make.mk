# SPDX-License-Identifier: MIT
# `make deployed`: programs as they are deployed, with tools from PyPI: frozen by PyInstaller and Nuitka, served by
# gunicorn and uWSGI, started by uv, numpy in threads. Ten minutes the first time; ONLY=text picks.
.PHONY: deployed
deployed: all
	$(Q)$(PYTHON) tests/system/run.py --tests tests/deployed --jobs 1 $(if $(ONLY),--only '$(ONLY)') $(O)/sidewinder

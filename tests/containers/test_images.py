# SPDX-License-Identifier: MIT
"""Images: other distributions' interpreters and C libraries than this machine's."""
import os
import subprocess

import recording as rec
from container import HERE, Container, by_function, hex_id, mount

SUITES = ("bullseye", "bookworm", "trixie", "forky")


@rec.slow
def test_interpreters_of_other_debians(context):
    missing = []
    for suite in SUITES:
        made = subprocess.run(["bash", os.path.join(HERE, "image.sh"), suite], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if made.returncode:
            missing.append("%s: %s" % (suite, made.stderr.strip()[-200:]))
            continue
        id = hex_id()
        with Container(context, "sdwtest-%s-%s" % (suite, id[:8]), ["/usr/bin/python3", "/srv/service.py", suite, "60"],
                       root=made.stdout.strip(), group="/docker/" + id,
                       mounts=[mount("/srv", os.path.join(HERE, "targets"))]).wait_for("@" + suite):
            recording = context.record_well("-F", "499", "-d", "1", "--container", id)
            found = by_function(recording.samples())
            assert {suite, suite + "_thread"} <= set(found), (suite, sorted(found), recording.stderr[-300:])
    if len(missing) == len(SUITES):
        raise rec.Skip("; ".join(missing))
    assert not missing, missing

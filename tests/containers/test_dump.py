# SPDX-License-Identifier: MIT
"""sidewinder dump of a container: its processes, by pids of both sides, with their Python stacks."""
import json

import recording as rec
from container import hex_id, service


def test_the_threads_of_a_container_are_dumped_by_its_id(context):
    identity = hex_id()
    with service(context, "sdwtest-dump-" + hex_id()[:8], "alpha", 60, group="/docker/" + identity) as box:

        def look():
            done = context.profiler.run("dump", "--json", "--container", identity[:12])
            process, = json.loads(done.stdout)["processes"]
            assert process["pid"] == box.pid, process
            assert process["python"]["version"] == context.version, process["python"]
            names = {frame["name"] for thread in process["threads"] for frame in thread["frames"]}
            assert process["threads"][0]["inner_tid"] == 1, process["threads"][0]
            return {"alpha", "alpha_thread"} <= names
        rec.wait_for(look, 20, "both functions of the service")
        done = context.profiler.run("doctor", "--json", "-p", str(box.pid), check=False)
        findings = {finding["key"]: finding["text"]
                    for finding in json.loads(done.stdout)["targets"][0]["findings"]}
        assert findings["container"] == identity[:12], findings
        assert findings["target_namespace"] == "in a pid namespace of its own, where it is 1", findings
    done = context.profiler.run("dump", "--container", identity[:12], check=False)
    assert done.returncode == 1 and "no running container" in done.stderr, done.stderr

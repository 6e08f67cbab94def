# SPDX-License-Identifier: MIT
"""The analysis for Trace Compass: its rules, computed here from a trace, give what our own views say."""
import collections
import json
import os
import shutil
import subprocess

import state_system
import traces

VIEWS = {"sidewinder.samples", "sidewinder.callstack", "sidewinder.threads", "sidewinder.functions"}


def analysis(context):
    return os.path.join(os.path.dirname(context.profiler.path), "tracecompass", "sidewinder.xml")


def compute(context, folder, prefix=""):
    """The state system of a trace, and the call stack of each sample's thread just after it."""
    system, stacks = state_system.StateSystem(analysis(context)), []
    for time, name, fields in traces.read(folder):
        system.event(time, prefix + name, fields)
        if name.startswith("sample"):
            thread = ("Processes", str(fields["pid"]), str(fields["tid"]))
            levels = {int(path[4]): value for path, value in system.ongoing.items()
                      if path[:3] == thread and path[3:4] == ("CallStack",) and value is not None}
            assert sorted(levels) == list(range(1, len(levels) + 1)), levels
            stacks.append((fields["tid"], [levels[level] for level in sorted(levels)], system.ongoing[thread]))
    return system, stacks


def functions(system):
    return {path[1]: value for path, value in system.ongoing.items() if path[0] == "Functions"}


def exported(context, folder):
    """[(tid, names of the functions)] of each sample, outermost first, as `export` has them."""
    text = context.profiler.run("export", "--to=jsonl", "--samples", folder).stdout
    samples = [json.loads(line) for line in text.splitlines()]
    return [(one["tid"], ["[%s]" % name if kind == "x" else name for kind, name, _, _ in one["frames"]])
            for one in samples]


def test_it_is_what_the_schema_wants(context):
    root = state_system.tree.parse(analysis(context)).getroot()
    state_system.check(root)
    assert {one.get("id") for one in root} == VIEWS
    assert {one.get("id") for one in root.iter("analysis")} == {"sidewinder.samples"}
    if shutil.which("xmllint"):
        subprocess.run(["xmllint", "--noout", analysis(context)], check=True)
    schema = os.environ.get("TRACE_COMPASS_XSD")  # xmlDefinition.xsd of its sources, which are not ours to give away
    if schema:
        subprocess.run(["xmllint", "--noout", "--schema", schema, analysis(context)], check=True)


def test_flame_chart_and_table_are_those_of_our_views(context):
    recording = context.record_well("-e", "cpu-clock", "-F", "300", "--", *context.target("threads.py", 0.6))
    system, stacks = compute(context, recording.trace)
    ours = exported(context, recording.trace)
    assert len(ours) == recording.summary["samples"] and max(len(stack) for _, stack in ours) > 5
    assert [(tid, stack) for tid, stack, _ in stacks] == ours
    assert all(function == (stack or [None])[-1] for _, stack, function in stacks)
    assert functions(system) == collections.Counter(stack[-1] for _, stack in ours if stack)
    # what `report` has as self, of Python and native functions alike
    rows = json.loads(context.profiler.run("report", "--json", "--native", "--limit=0", recording.trace).stdout)["rows"]
    table = collections.Counter()
    for row in rows:
        table["[%s]" % row["name"] if row["kind"] == "marker" else row["name"]] += row["self"]["samples"]
    assert functions(system) == {name: count for name, count in table.items() if count}, (functions(system), table)
    # LTTng puts the provider before the event's name
    assert compute(context, recording.trace, "sidewinder:")[1] == stacks


def test_a_stack_that_is_too_deep_is_one_function(context):
    system = state_system.StateSystem(analysis(context))
    system.event(1, "code", {"id": 1, "name": "f"})
    system.event(1, "frame", {"id": 1, "code": 1})
    for level in range(1, 201):
        system.event(1, "stack", {"id": level, "parent": level - 1, "frame": 1})
    thread = ("Processes", "7", "8")

    def levels():
        return {path[4]: value for path, value in system.ongoing.items()
                if path[:4] == thread + ("CallStack",) and value is not None}

    for time, stack, shown in ((2, 128, ["f"] * 128), (3, 129, ["[deeper than 128]"]), (4, 2, ["f", "f"]), (5, 0, [])):
        system.event(time, "sample", {"pid": 7, "tid": 8, "stack": stack})
        assert levels() == {str(i): name for i, name in enumerate(shown, 1)}, (stack, levels())
    assert functions(system) == {"f": 3}
    # what goes on is one state of the flame chart
    assert system.history[thread + ("CallStack", "2")] == [(2, "f"), (3, None), (4, "f"), (5, None)]

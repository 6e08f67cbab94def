#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a program, exports it, and opens each export by what it is for; prints TAP.

    run.py SIDEWINDER FOLDER     (FOLDER keeps what is fetched, and the exports)
"""
import base64
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "browser"), os.path.join(HERE, "..", "tools")]
sys.dont_write_bytecode = True

import devtools  # noqa: E402
from recording import Skip  # noqa: E402

TARGET = os.path.join(HERE, "..", "cases", "given", "67-time-axis", "target.py")
SECONDS = 3
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SUFFIX = {"pprof": "pb.gz", "speedscope": "json", "firefox": "json", "perfetto": "pftrace",
          "heatmap": "html", "flamegraph": "html"}


def run(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", **options)


def need(name, names=None):
    found = next(filter(None, map(shutil.which, names or (name,))), None)
    if not found:
        raise Skip("there is no %s" % name)
    return found


class Consumers:
    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), os.path.abspath(folder)
        os.makedirs(self.folder, exist_ok=True)
        self.trace = os.path.join(self.folder, "trace")
        shutil.rmtree(self.trace, ignore_errors=True)
        done = run(self.program, "record", "-o", self.trace, "--", sys.executable, TARGET, str(SECONDS))
        if not os.path.isdir(self.trace):
            raise Skip("nothing can be recorded here: %s" % done.stderr.strip()[-200:])
        jsonl = run(self.program, "export", "--to=jsonl", "--samples", self.trace).stdout
        self.samples = [json.loads(line) for line in jsonl.splitlines()]
        self.pid = max(self.samples, key=lambda sample: sample["t"])["pid"]

    def export(self, to, *options):
        path = os.path.join(self.folder, "%s.%s" % (to, SUFFIX[to]))
        done = run(self.program, "export", "--to=" + to, "-o", path, *options, self.trace)
        assert done.returncode == 0, done.stderr
        return path

    def python(self, *packages):
        """An interpreter that has these packages from PyPI."""
        venv = os.path.join(self.folder, "venv")
        own = os.path.join(venv, "bin", "python")
        if not os.path.exists(own):
            run(sys.executable, "-m", "venv", venv)
        done = run(own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1",
                   "--timeout", "15", *packages)
        if done.returncode:
            raise Skip("no %s from PyPI: %s" % (" ".join(packages), done.stderr.strip()[-100:]))
        return own

    def speedscope(self):
        """The folder of the npm package speedscope: its page, and the schema of its files."""
        release = os.path.join(self.folder, "package", "dist", "release")
        if not os.path.isdir(release):
            done = run(need("npm"), "pack", "--silent", "speedscope", cwd=self.folder)
            packed = glob.glob(os.path.join(self.folder, "speedscope-*.tgz"))
            if done.returncode or not packed:
                raise Skip("no speedscope from npm: %s" % done.stderr.strip()[-100:])
            with tarfile.open(packed[0]) as archive:
                archive.extractall(self.folder)
        return release


def test_go_pprof_shows_functions_labels_and_times(consumers):
    go, path = need("go"), consumers.export("pprof")
    top = run(go, "tool", "pprof", "-top", "-functions", path)
    if "no such tool" in top.stderr:
        raise Skip("this Go has no pprof")
    assert top.returncode == 0, top.stderr
    first = next(line for line in top.stdout.splitlines() if "spin" in line)
    assert float(first.split()[4].rstrip("%")) > 50, first
    raw = run(go, "tool", "pprof", "-raw", path).stdout
    assert "PeriodType: cpu nanoseconds" in raw and re.search(r"^Period: [1-9]", raw, re.M), raw[:500]
    assert re.search(r"^samples/count cpu/nanoseconds\[dflt\]", raw, re.M), raw[:500]
    assert "pid:[%d]" % consumers.pid in raw
    focus = run(go, "tool", "pprof", "-top", "-tagfocus=pid=%d" % consumers.pid, path).stdout
    assert "spin" in focus, focus
    lines = run(go, "tool", "pprof", "-list=^spin$", path).stdout
    assert re.search(r"\d+m?s.*for _ in range", lines), lines
    folded = {}
    for sample in consumers.samples:
        folded[sample["tid"]] = folded.get(sample["tid"], 0) + sample["weight"]
    told = re.findall(r"^\s+(\d+)\s+(\d+): ", raw, re.M)
    assert sum(int(weight) for _, weight in told) == sum(folded.values())


def test_speedscope_files_fit_their_schema(consumers):
    schema = os.path.join(consumers.speedscope(), "file-format-schema.json")
    done = run(consumers.python("jsonschema"), "-m", "jsonschema", "-i", consumers.export("speedscope"), schema)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]


def test_speedscope_threads_have_their_life_and_cpu_time(consumers):
    with open(consumers.export("speedscope"), encoding="utf-8") as file:
        profiles = json.load(file)["profiles"]
    own = [each for each in profiles if each["name"].endswith(" %d" % consumers.pid)]
    main = next(each for each in own if " %d of" % consumers.pid in each["name"] and "python" in each["name"])
    late = max((each for each in own if each is not main), key=lambda each: each["startValue"])
    assert all(each["unit"] == "nanoseconds" for each in profiles)
    assert abs(late["startValue"] - main["startValue"] - SECONDS / 2 * 1e9) < 0.5e9, (main["startValue"],
                                                                                     late["startValue"])
    for each in own:
        tid = int(re.search(r" (\d+) of ", each["name"]).group(1))
        comm = each["name"].rsplit(" of ", 1)[1].rsplit(" ", 1)[0]
        mine = [one["weight"] for one in consumers.samples if one["tid"] == tid and one["comm"] == comm]
        assert sum(each["weights"]) == sum(mine)


def test_speedscope_opens_in_a_browser(consumers):
    browser, release = need("Chromium", BROWSERS), consumers.speedscope()
    script = os.path.join(consumers.folder, "speedscope-profile.js")
    with open(consumers.export("speedscope"), "rb") as file:
        data = base64.b64encode(file.read()).decode()
    with open(script, "w", encoding="utf-8") as file:
        file.write('speedscope.loadFileFromBase64("profile.json", "%s")' % data)
    with devtools.Browser(browser) as opened:
        opened.open("file://%s/index.html#localProfilePath=%s" % (release, script), 1200, 700, False)
        end, text = time.monotonic() + 30, ""
        while "Left Heavy" not in text or "of python" not in text:
            assert time.monotonic() < end, text
            time.sleep(0.2)
            text = opened.evaluate("document.body.innerText")
        opened.screenshot(os.path.join(consumers.folder, "speedscope.png"))


DECODE = """
import sys, json
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
from google.protobuf import unknown_fields
from google.protobuf.descriptor import FieldDescriptor
trace = protos.Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
def unknown(message):
    count = len(unknown_fields.UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for one in (value if hasattr(value, "append") or hasattr(value, "add") else [value]):
                count += unknown(one)
    return count
names, frames, stacks, samples = {}, {}, {}, []
for packet in trace.packet:
    data = packet.interned_data
    names.update((one.iid, one.str.decode()) for one in data.function_names)
    frames.update((one.iid, (names[one.function_name_id], one.line_number)) for one in data.frames)
    stacks.update((one.iid, [frames[frame] for frame in one.frame_ids]) for one in data.callstacks)
    if packet.HasField("perf_sample") and packet.perf_sample.callstack_iid:
        sample = packet.perf_sample
        samples.append((packet.timestamp, sample.pid, sample.tid, stacks[sample.callstack_iid]))
print(json.dumps({"unknown": unknown(trace), "samples": samples}))
"""


def test_perfetto_decodes_by_its_schema_to_the_same_samples(consumers):
    done = run(consumers.python("protobuf", "perfetto"), "-c", DECODE, consumers.export("perfetto"))
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert told["unknown"] == 0
    assert len(told["samples"]) == len(consumers.samples)
    for (_, pid, tid, stack), sample in zip(told["samples"], consumers.samples):
        assert (pid, tid) == (sample["pid"], sample["tid"])
        python = [(name, line) for kind, name, _, line in sample["frames"] if kind == "p"]
        assert [each for each in map(tuple, stack) if each in python] == python or not python, (stack, python)


def test_firefox_tables_lead_to_the_same_stacks(consumers):
    with open(consumers.export("firefox"), encoding="utf-8") as file:
        profile = json.load(file)
    shared, told = profile["shared"], []
    for table in (value for value in shared.values() if isinstance(value, dict)):
        assert all(len(column) == table["length"] for key, column in table.items() if key != "length")
    for thread in profile["threads"]:
        samples = thread["samples"]
        for stack, at in zip(samples["stack"], samples["time"]):
            names = []
            while stack is not None:
                frame = shared["stackTable"]["frame"][stack]
                function = shared["frameTable"]["func"][frame]
                names.insert(0, shared["stringArray"][shared["funcTable"]["name"][function]])
                prefix = shared["stackTable"]["prefix"][stack]
                assert prefix is None or prefix < stack
                stack = prefix
            told.append((round(at * 1e6), thread["tid"], [name for name in names if name[0] != "["]))
    expected = [(round(sample["t"] * 1e9), sample["tid"], [name for kind, name, _, _ in sample["frames"] if kind != "x"])
                for sample in consumers.samples]
    assert sorted(told) == sorted(expected)


def test_heat_map_shows_the_hot_line_and_loads_nothing(consumers):
    browser = need("Chromium", BROWSERS)
    with devtools.Browser(browser) as opened:
        opened.open("file://" + consumers.export("heatmap"), 1200, 900, False)
        rows = opened.evaluate("[...document.querySelectorAll('details[open] tr')].map((row) => row.innerText)")
        hottest = max(rows, key=lambda row: max([0.0] + [float(x) for x in re.findall(r"([\d.]+)%", row)[:1]]))
        hottest = re.sub(r"[\d.]+%", "", hottest)  # shares of the expressions within the line
        assert "for _ in range" in hottest, hottest
        assert opened.evaluate("performance.getEntriesByType('resource').length") == 0
        opened.evaluate("document.querySelector('#extent [data-value=whole]').click()")
        with open(TARGET, encoding="utf-8") as file:
            lines = len(file.read().split("\n"))
        shown = opened.evaluate("document.querySelectorAll('details[open] td.code').length")
        assert shown == lines, (shown, lines)
        opened.evaluate("(() => { const box = document.getElementById('search'); box.value = 'target.py';"
                        "box.dispatchEvent(new Event('input')); })()")
        assert opened.evaluate("document.querySelectorAll('details:not([hidden])').length") == 1
        opened.screenshot(os.path.join(consumers.folder, "heatmap.png"))


def main():
    tests = [(name, each) for name, each in globals().items() if name.startswith("test_")]
    failed = 0
    print("1..%d" % len(tests))
    try:
        consumers = Consumers(*sys.argv[1:3])
    except Skip as why:
        consumers, reason = None, str(why)
    for number, (name, test) in enumerate(tests, 1):
        words, result = name[5:].replace("_", " "), "ok"
        try:
            if not consumers:
                raise Skip(reason)
            test(consumers)
        except Skip as why:
            words += " # SKIP %s" % why
        except Exception as error:  # of whatever kind: the next one shall run
            result, failed = "not ok", failed + 1
            print("# %s: %s" % (type(error).__name__, str(error)[:1500].replace("\n", "\n# ")))
        print("%s %d - %s" % (result, number, words), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

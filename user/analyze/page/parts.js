// SPDX-License-Identifier: MIT
// parts.js - the parts of the page, each from its part of the data.

const data = JSON.parse(document.getElementById("data").textContent);
const WORDS = {
	user_mode: "user mode, at once", kernel_mode: "after kernel mode", blocked: "after a blocked mask",
	wrong_thread: "in another thread",
	none: "not sampled", floor: "empty overflow", bpf: "BPF path", signal: "signal path",
};
const deliveries = Object.entries(data.delivery).filter(([, one]) => one.pairs);

function drawHead() {
	const rate = data.frequency ? `at ${count(data.frequency)} Hz` : `one in ${count(data.period)}`;
	document.getElementById("command").textContent = data.command;
	document.getElementById("facts").textContent =
		`${count(data.overflows)} overflows of ${data.event} ${rate}, each seen by BPF in the overflow and by a signal handler in the process`;
}

function drawTiles() {
	const tiles = [
		[share(data.overflows ? data.paired / data.overflows : null), "paired"],
		[time(data.delay_ns.p50), "median delay of the signal"],
		[time(data.delay_ns.p99), "its 99th percentile"],
		[share(data.python_agree), "same Python functions"],
		[share(data.line_agree), "of these the same lines"],
		[share(data.native_agree), "same native functions"],
	];
	if (data.cost)
		for (const way of ["floor", "bpf", "signal"])
			tiles.push([`${data.cpu_us_per_sample[way].toFixed(1)} us`, `a sample adds: ${WORDS[way]}`]);
	for (const [value, words] of tiles) {
		const tile = element("div", words);
		tile.prepend(element("b", value));
		document.getElementById("tiles").append(tile);
	}
}

// Classes of ten a decade on a logarithmic axis; the deliveries stand on each other.
function drawDelays() {
	const width = 960, height = 260, left = 50, bottom = 230, top = 24;
	const all = data.delay_ns.classes;
	if (!all.length) return;
	const first = Math.floor(Math.log10(all[0][0]) * 10 + 0.5), last = Math.floor(Math.log10(all[all.length - 1][0]) * 10 + 0.5) + 1;
	const from = Math.min(first, last - 10), most = Math.max(...all.map((pair) => pair[1]));
	const x = (tenths) => left + (tenths - from) / (last - from) * (width - left - 10);
	const y = (n) => bottom - n / most * (bottom - top);
	const svg = drawing("delays", width, height, "Histogram of delays from the overflow to the handler");
	const base = new Map();
	for (const [name, one] of deliveries)
		for (const [begin, n] of one.delay_ns.classes) {
			const at = Math.floor(Math.log10(begin) * 10 + 0.5), below = base.get(at) || 0;
			const bar = shape(svg, "rect", { class: name, x: x(at) + 0.5, width: Math.max(1, x(at + 1) - x(at) - 1),
				y: y(below + n), height: Math.max(0.7, y(below) - y(below + n)) });
			hint(bar, `${WORDS[name]}: ${count(n)} from ${time(begin)} to ${time(begin * 10 ** 0.1)}`);
			base.set(at, below + n);
		}
	shape(svg, "line", { class: "axis", x1: left, x2: width - 10, y1: bottom, y2: bottom });
	for (let decade = Math.ceil(from / 10); decade * 10 <= last; decade++)
		shape(svg, "text", { x: x(decade * 10), y: bottom + 18, "text-anchor": "middle" }, time(10 ** decade));
	shape(svg, "text", { x: left - 6, y: top + 4, "text-anchor": "end" }, count(most));
	shape(svg, "text", { x: left - 6, y: bottom, "text-anchor": "end" }, "0");
	for (const [name, ns] of [["p50", data.delay_ns.p50], ["p99", data.delay_ns.p99]]) {
		const at = x(Math.min(last, Math.max(from, Math.log10(Math.max(ns, 1)) * 10)));
		shape(svg, "line", { class: "mark", x1: at, x2: at, y1: top - 8, y2: bottom });
		shape(svg, "text", { class: "value", x: at, y: top - 12, "text-anchor": "middle" }, name);
	}
}

function drawDelayTable() {
	const line = (name, one, n) => [name, [count(n)], [share(one.share)], [time(one.delay_ns.p50)], [time(one.delay_ns.p90)],
		[time(one.delay_ns.p99)], [time(one.delay_ns.max)]];
	const rows = deliveries.map(([name, one]) => line(WORDS[name], one, one.pairs));
	rows.push(line("all", { share: 1, delay_ns: data.delay_ns }, data.paired));
	table("delay-table", ["the signal came", ["pairs"], ["share"], ["p50"], ["p90"], ["p99"], ["max"]], rows);
}

function drawAgreement() {
	const width = 960, left = 190, room = 620, step = 22;
	const bars = [];
	for (const [name, one] of [...deliveries, ["all", data]])
		for (const what of ["python", "line", "native"])
			if (one.compared[what]) bars.push([name, what, one[`${what}_agree`], one.compared[what]]);
	if (!bars.length) return;
	const svg = drawing("agreement", width, bars.length * step + 6, "Shares of the pairs that agree");
	bars.forEach(([name, what, agree, compared], i) => {
		const y = i * step + 3;
		shape(svg, "text", { x: left - 8, y: y + 13, "text-anchor": "end" }, `${WORDS[name] || name}, ${what}`);
		shape(svg, "rect", { class: name === "all" ? "bpf" : name, x: left, y, width: room * agree, height: step - 5 });
		shape(svg, "rect", { class: "rest", x: left + room * agree, y, width: room * (1 - agree), height: step - 5 });
		shape(svg, "text", { class: "value", x: left + room + 8, y: y + 13 }, `${share(agree)} of ${count(compared)}`);
	});
}

function drawDisagreements() {
	if (!data.disagreements.length) return;
	table("disagreements", [["how often"], "what", "BPF saw", "the signal handler saw"],
		data.disagreements.map((one) => [[count(one.count)], one.what, one.bpf || "no further frame",
			one.signal || "no further frame"]));
}

function drawAlone() {
	const rows = Object.entries(data.alone).filter(([, n]) => n);
	if (!rows.length) return;
	document.getElementById("alone-section").hidden = false;
	table("alone", ["cause", ["overflows"]], rows.map(([cause, n]) => [data.alone_meaning[cause] || cause, [count(n)]]));
}

function drawCost() {
	if (!data.cost) return;
	document.getElementById("cost-section").hidden = false;
	const width = 960, left = 190, room = 640, step = 34, ways = ["floor", "bpf", "signal"];
	const most = Math.max(1, ...ways.map((way) => data.cost[way].added_us.most));
	const x = (us) => left + Math.max(0, us) / most * room;
	const svg = drawing("cost", width, ways.length * step + 6, "CPU time that a sample adds, by way");
	ways.forEach((way, i) => {
		const added = data.cost[way].added_us, y = i * step + 4;
		shape(svg, "text", { x: left - 8, y: y + 17, "text-anchor": "end" }, WORDS[way]);
		shape(svg, "rect", { class: way, x: left, y, width: x(added.median) - left, height: step - 10 });
		shape(svg, "line", { class: "range", x1: x(added.least), x2: x(added.most), y1: y + 12, y2: y + 12 });
		shape(svg, "text", { class: "value", x: x(added.most) + 10, y: y + 17 }, `${added.median.toFixed(2)} us`);
	});
	table("cost-table", ["", ["program, s"], ["least"], ["most"], ["a sample adds, us"], ["bytes a sample"], ["set-up"]],
		["none", ...ways].map((way) => {
			const one = data.cost[way], bytes = data.bytes_per_sample[way];
			return [WORDS[way], [one.cpu_s.median.toFixed(3)], [one.cpu_s.least.toFixed(3)], [one.cpu_s.most.toFixed(3)],
				[way === "none" ? "–" : one.added_us.median.toFixed(2)], [bytes === undefined ? "–" : bytes.toFixed(1)],
				[way === "none" ? "–" : time(Math.max(0, one.setup_us.median * 1000))]];
		}));
}

function drawTruth() {
	if (!data.truth) return;
	document.getElementById("truth-section").hidden = false;
	const percent = (part) => [`${(100 * part).toFixed(3)} %`];
	const rows = data.truth.functions.map((one) => [one.name, percent(one.share), percent(one.bpf), percent(one.signal)]);
	rows.push(["RMS error", [""], [`${data.truth.bpf.rms.toFixed(3)} %`], [`${data.truth.signal.rms.toFixed(3)} %`]]);
	table("truth", ["function", ["truth"], ["BPF"], ["signal"]], rows);
}

drawHead();
drawTiles();
drawDelays();
drawDelayTable();
drawAgreement();
drawDisagreements();
drawAlone();
drawCost();
drawTruth();

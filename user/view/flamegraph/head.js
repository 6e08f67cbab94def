// SPDX-License-Identifier: MIT
// head.js - the head of the page, its controls, and the start.
/* ---- the head of the page ---- */
function showFacts() {
	const command = data.command || "Sidewinder";
	document.title = command + (data.base ? " — Sidewinder difference" : " — Sidewinder flame graph");
	get("command").textContent = command;
	get("command").title = command;
	if (data.base)
		showFactsOf(data.base, "base");
	showFactsOf(data, data.base ? "new" : "");
	showNotes();
}
function showFactsOf(data, title) {
	const facts = title ? get("facts").appendChild(element("div")) : get("facts");
	const fact = (number, words) => {
		const made = element("span");
		made.append(element("b", "", number), " " + words);
		facts.append(made);
	};
	if (title)
		fact(title.toUpperCase(), title === "base" ? data.command : "");
	fact(data.event || "?", data.frequency ? "at " + whole.format(data.frequency) + " Hz" :
		data.period ? "every " + whole.format(data.period) + (isClock ? " ns" : " events") : "");
	fact(seconds(data.durationMs), "recorded");
	fact(whole.format(data.samples), "samples");
	fact(whole.format(data.lost), "lost");
	if (data.startMs)
		fact(new Date(data.startMs).toISOString().slice(0, 16).replace("T", " "), "UTC");
	if (data.host)
		fact(data.host, "");
	if (data.only)
		fact("only", data.only);
}
function showNotes() {
	const notes = get("notes"), list = notes.querySelector("ul");
	const odd = data.statusBy.reduce((sum, at) => sum + at[0], 0), words = [];
	if (!data.complete)
		words.push("the recording did not end in order");
	if (data.lost)
		words.push(whole.format(data.lost) + " overflows lost");
	if (odd)
		words.push(whole.format(odd) + " samples without a whole Python stack");
	if (!words.length)
		return;
	notes.hidden = false;
	notes.querySelector("summary").textContent = words.join(", ");
	for (const [count, meaning] of data.lostBy)
		list.append(element("li", "", whole.format(count) + " lost: " + meaning));
	for (const [count, meaning] of data.statusBy)
		list.append(element("li", "", whole.format(count) + ": " + meaning));
}
function showLegend() {
	const legend = get("legend"), all = tree.root.total;
	legend.replaceChildren();
	if (data.base)
		return showChangeLegend(legend);
	tree.kinds.forEach((value, kind) => {
		const present = value || tree.nodes.some((node) => node.index && groups[node.group].kind === kind);
		if (!present)
			return;
		const item = element("span");
		item.append(element("i", KINDS[kind]), KIND_TEXT[kind] + " " + percent(value, all));
		item.title = "Share of the samples whose innermost frame is of this kind";
		legend.append(item);
	});
}
function fillScope() {
	const select = get("scope"), byProcess = new Map(), byThread = new Map();
	let all = 0;
	for (let i = 0; i < data.buckets.length; i += 5) {
		const thread = data.buckets[i], value = data.buckets[i + (data.weighted ? 4 : 3)];
		const process = (data.threads[thread] || [0])[0];
		byThread.set(thread, (byThread.get(thread) || 0) + value);
		byProcess.set(process, (byProcess.get(process) || 0) + value);
		all += value;
	}
	const option = (parent, value, text) => {
		const made = element("option", "", text);
		made.value = value;
		parent.append(made);
	};
	const section = (title, kind, values, name) => {
		const made = element("optgroup");
		made.label = title;
		for (const [id, value] of [...values].sort((a, b) => b[1] - a[1]))
			option(made, kind + " " + id, name(id) + " · " + percent(value, all));
		select.append(made);
	};
	option(select, "all 0", "All processes and threads");
	section("One process", "process", byProcess, (id) => {
		const [pid, comm] = data.processes[id] || [0, "?"];
		return comm + " " + pid;
	});
	section("One thread", "thread", byThread, (id) => {
		const [process, tid, name] = data.threads[id] || [0, 0, "?"];
		return name + " " + tid + " of " + (data.processes[process] || [0])[0];
	});
}

makeGroups();
if (data.times)
	readTimes();
startStrip();
get("only").hidden = !groups.some((group) => group.kind === 1 || group.kind === 2);
showFacts();
fillScope();
get("scope").hidden = data.base !== undefined;   /* the two have no process or thread in common */
get("side").hidden = data.base === undefined;
rebuild();
get("scope").addEventListener("change", (event) => {
	const [kind, id] = event.target.value.split(" ");
	state.scope = { kind, id: Number(id) };
	rebuild();
});
switchOf("merge", (value) => { state.merge = value; rebuild(); });
switchOf("only", (value) => { state.only = value; rebuild(); });
switchOf("side", (value) => { state.side = value; rebuild(); });
switchOf("direction", (value) => { state.direction = value; layOut(true); });
get("reset").addEventListener("click", () => { zoomReset(); view.focus(); });
search.addEventListener("input", runSearch);
canvas.addEventListener("click", (event) => {
	const node = nodeAt(event);
	if (node) {
		state.focus = node;
		zoomTo(node, true);
	}
});
canvas.addEventListener("pointermove", onMove);
canvas.addEventListener("pointerleave", onLeave);
view.addEventListener("scroll", () => { hideTip(); redraw(); });
document.addEventListener("keydown", onKey);
dark.addEventListener("change", () => { colours.clear(); redraw(); });
let heightBefore = view.clientHeight;
new ResizeObserver(() => {   /* a flame stays on its ground when the window changes */
	const grounded = state.direction === "up" && view.scrollTop + heightBefore >= room.offsetHeight - 2;
	layOut(false);
	if (grounded)
		view.scrollTop = room.offsetHeight;
	heightBefore = view.clientHeight;
}).observe(view);

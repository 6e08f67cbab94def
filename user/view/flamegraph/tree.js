// SPDX-License-Identifier: MIT
// tree.js - reads the data of the page and adds the chosen samples up to a tree of frames.
const ROW = 20, LEAST_PX = 0.5, TEXT_PX = 26, FONT = "12px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
const KINDS = ["python", "native", "kernel", "marker"];
const KIND_TEXT = ["Python", "native", "kernel", "marker"];
const get = (id) => document.getElementById(id);
const data = JSON.parse(get("data").textContent);
const view = get("view"), room = get("room"), canvas = get("graph"), pen = canvas.getContext("2d");
const tip = get("tip"), search = get("search"), dark = matchMedia("(prefers-color-scheme: dark)");

/* ---- figures as text ---- */
const whole = new Intl.NumberFormat("en");
const percent = (part, all) => {
	const share = all ? 100 * part / all : 0;
	return (share && share < 0.1 ? share.toFixed(2) : share.toFixed(1)) + "%";
};
const isClock = data.unit === "ns";
const seconds = (ms) => ms < 1000 ? ms.toFixed(0) + " ms" : (ms / 1000).toFixed(ms < 100000 ? 2 : 0) + " s";
const baseName = (path) => path.slice(path.lastIndexOf("/") + 1) || path;
function element(tag, className, text) {
	const made = document.createElement(tag);
	if (className)
		made.className = className;
	if (text !== undefined)
		made.textContent = text;
	return made;
}

/* ---- frames that are shown as one: the same function, or the same line of it ---- */
const groups = [];   /* {kind, name, file, line, isLine, place, match} */
const groupOf = { function: [], line: [] };  /* by frame id */
function markerName(name) {
	return name.startsWith("[") ? name : "[" + (name || "?") + "]";
}
function makeGroups() {
	const known = new Map();
	const find = (code, line, first) => {
		const [kind, name, file] = code;
		const key = kind + "\0" + name + "\0" + file + "\0" + first + "\0" + (line || "");
		let group = known.get(key);
		if (group === undefined) {
			group = groups.length;
			known.set(key, group);
			groups.push({ kind, file, line: line || first, isLine: line > 0, match: false,
				name: kind === 3 ? markerName(name) : name || "?" });
		}
		return group;
	};
	for (let i = 0; i < data.frames.length; i += 2) {
		const code = data.codes[data.frames[i]] || [3, "", "", 0], line = data.frames[i + 1];
		groupOf.function.push(find(code, 0, code[3]));
		groupOf.line.push(find(code, code[0] === 0 ? line : 0, code[3]));
	}
	data.statusGroup = data.status.map((name) => find([3, name, "", 0], 0, 0));
	data.rootGroup = find([3, "all", "", 0], 0, -1);
	groups[data.rootGroup].name = "all";
	for (const group of groups) {
		const place = group.file ? baseName(group.file) : "";
		group.place = place + (group.line > 0 && group.kind === 0 ? ":" + group.line : "");
	}
}

/* ---- the tree of the samples that are chosen ---- */
/* times.of has for each bucket how many entries, then these: slots since the one before, samples, and the weight
   where samples differ in it. Here: slots themselves, and where the entries of each bucket begin. */
const timesOf = [0];
function readTimes() {
	const step = data.weighted ? 3 : 2, from = data.times.of, of = [];
	for (let at = 0; at < from.length;) {
		const end = at + 1 + step * from[at];
		let slot = 0;
		for (at++; at < end; at += step) {
			slot += from[at];
			of.push(slot, from[at + 1]);
			if (step === 3)
				of.push(from[at + 2]);
		}
		timesOf.push(of.length);
	}
	data.times.of = of;
}
function isInScope(scope, thread) {
	return scope.kind === "process" ? (data.threads[thread] || [0])[0] === scope.id :
		scope.kind !== "thread" || thread === scope.id;
}
/* Samples and weight of a bucket within a range of slots. */
function amountIn(range, bucket) {
	const at = 5 * bucket, step = data.weighted ? 3 : 2, all = [data.buckets[at + 3], data.buckets[at + 4]];
	if (!range)
		return all;
	const found = [0, 0];
	for (let i = timesOf[bucket]; i < timesOf[bucket + 1]; i += step) {
		if (data.times.of[i] < range[0] || data.times.of[i] >= range[1])
			continue;
		found[0] += data.times.of[i + 1];
		found[1] += step === 3 ? data.times.of[i + 2] : all[1] * data.times.of[i + 1] / all[0];
	}
	return found;
}
/* Of each stack by itself, its callees not included: samples, and what they stand for. */
/* In a page of two recordings the threads of BASE come first. */
const sideOf = (thread) => data.base && thread < data.baseThreads ? "base" : "new";
function addUpStacks(scope, side, range) {
	const count = data.stacks.length / 2, used = new Uint8Array(count);
	const sums = { samples: new Float64Array(count), weight: new Float64Array(count), used, loose: [],
		other: { samples: new Float64Array(data.base ? count : 0), weight: new Float64Array(data.base ? count : 0) } };
	for (let i = 0; i < data.buckets.length; i += 5) {
		const [thread, stack, status] = data.buckets.slice(i, i + 3), shown = sideOf(thread) === side;
		const [samples, weight] = amountIn(range, i / 5);
		if (!isInScope(scope, thread) || !samples)
			continue;
		if (stack > 0 && stack < count) {
			const to = shown ? sums : sums.other;
			to.samples[stack] += samples;
			to.weight[stack] += weight;
			used[stack] = 1;
		} else {
			sums.loose.push([status, samples, weight, shown]);
		}
	}
	for (let i = count - 1; i > 0; i--)   /* a caller's number is below that of what it calls */
		if (used[i] && data.stacks[2 * i] < i)
			used[data.stacks[2 * i]] = 1;
	return sums;
}
class Tree {
	constructor() {
		this.kinds = [0, 0, 0, 0];   /* by the kind of the innermost frame */
		this.nodes = [];
		this.known = new Map();
		this.root = this.make(data.rootGroup, null);
	}
	make(group, parent) {
		const node = { group, parent, depth: parent ? parent.depth + 1 : 0, self: 0, total: 0, samples: 0,
			weight: 0, other: { self: 0, total: 0, samples: 0, weight: 0 }, start: 0, height: 0, children: [],
			index: this.nodes.length };
		this.nodes.push(node);
		if (parent)
			parent.children.push(node);
		return node;
	}
	child(parent, group) {
		const key = parent.index * groups.length + group;
		let node = this.known.get(key);
		if (!node) {
			node = this.make(group, parent);
			this.known.set(key, node);
		}
		return node;
	}
	add(node, samples, weight) {
		const value = data.weighted ? weight : samples;
		node.self += value;
		node.total += value;
		node.samples += samples;
		node.weight += weight;
		if (node !== this.root)
			this.kinds[groups[node.group].kind] += value;
	}
	/* What the recording has that is not shown, in a page of two. */
	addOther(node, samples, weight) {
		const value = data.weighted ? weight : samples;
		node.other.self += value;
		node.other.total += value;
		node.other.samples += samples;
		node.other.weight += weight;
	}
	/* Totals, and where each node begins: the largest callee first. */
	finish() {
		for (let i = this.nodes.length - 1; i > 0; i--) {
			const node = this.nodes[i], parent = node.parent;
			parent.total += node.total;
			parent.samples += node.samples;
			parent.weight += node.weight;
			parent.other.total += node.other.total;
			parent.other.samples += node.other.samples;
			parent.other.weight += node.other.weight;
			parent.height = Math.max(parent.height, node.height + 1);
		}
		for (const node of this.nodes) {
			let start = node.start;
			node.children.sort((a, b) => b.total - a.total || (groups[a.group].name < groups[b.group].name ? -1 : 1));
			for (const at of node.children) {
				at.start = start;
				start += at.total;
			}
		}
		return this;
	}
}
function buildTree({ scope, merge, only, side, range }) {
	const sums = addUpStacks(scope, side, range), made = new Tree(), nodeOf = [made.root];
	for (let i = 1; i < sums.used.length; i++) {
		if (!sums.used[i])
			continue;
		const parent = data.stacks[2 * i] < i ? nodeOf[data.stacks[2 * i]] : made.root;
		const group = groupOf[merge][data.stacks[2 * i + 1]], kind = groups[group].kind;
		nodeOf[i] = only === "python" && (kind === 1 || kind === 2) ? parent : made.child(parent, group);
		made.add(nodeOf[i], sums.samples[i], sums.weight[i]);
		if (data.base)
			made.addOther(nodeOf[i], sums.other.samples[i], sums.other.weight[i]);
	}
	for (const [status, samples, weight, shown] of sums.loose) {
		const node = made.child(made.root, data.statusGroup[status]);
		if (shown)
			made.add(node, samples, weight);
		else
			made.addOther(node, samples, weight);
	}
	return made.finish();
}

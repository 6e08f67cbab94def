// SPDX-License-Identifier: MIT
// draw.js - what is shown, and drawing it on the canvas.
/* ---- state, and what follows from it ---- */
const state = { scope: { kind: "all", id: 0 }, merge: "function", only: "all", side: "new", range: null,
	direction: "down", zoom: null, path: [], past: [], focus: null, hover: null, query: "" };
let tree = null, rows = [], frameRequest = 0;

function redraw() {
	if (!frameRequest)
		frameRequest = requestAnimationFrame(() => { frameRequest = 0; draw(); });
}
/* What was zoomed to stays so in another tree: its path from the root is kept, also while it is not there. */
function pathOf(node) {
	const path = [];
	for (; node.parent; node = node.parent)
		path.unshift(node.group);
	return path;
}
function nodeOnPath(path) {
	let at = tree.root;
	for (const group of path) {
		const next = at.children.find((child) => child.group === group);
		if (!next)
			break;
		at = next;
	}
	return at;
}
function rebuild(keep) {
	tree = buildTree(state);
	state.path = keep === true ? state.path : [];
	state.zoom = nodeOnPath(state.path);
	state.past = [];
	state.focus = state.hover = null;
	hideTip();
	showLegend();
	runSearch();
	if (times)
		sayRange();
	redrawStrip();
	layOut(true);
}
function layOut(home) {
	const height = (state.zoom.depth + state.zoom.height + 1) * ROW + 4;
	room.style.height = Math.max(height, view.clientHeight) + "px";
	if (home) {   /* the frame that is zoomed to, and some of its callers */
		const past = Math.max(0, (state.zoom.depth - 3) * ROW);
		view.scrollTop = state.direction === "down" ? past : room.offsetHeight - view.clientHeight - past;
	}
	get("reset").disabled = state.zoom === tree.root;
	redraw();
}
function zoomTo(node, remember) {
	if (node === state.zoom)
		return;
	if (remember)
		state.past.push(state.zoom);
	state.zoom = node;
	state.path = pathOf(node);
	hideTip();
	layOut(true);
	say(node);
}
function zoomBack() {
	if (state.zoom !== tree.root)
		zoomTo(state.past.pop() || tree.root, false);
}
function zoomReset() {
	state.past = [];
	zoomTo(tree.root, false);
}

/* ---- colours: the kind is the hue, the file a shade of it, so that neighbours can be told apart ---- */
const colours = new Map();
function hash(text) {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return (h >>> 0) / 4294967296;
}
function colourOf(group) {
	const { kind, file, name } = groups[group];
	let colour = colours.get(group);
	if (colour)
		return colour;
	const a = hash(kind === 2 ? name : file || name), b = hash(name + file);
	const hue = [204 + 24 * a, 32 + 14 * a, 340 + 14 * a, 215][kind];
	const saturation = dark.matches ? [46, 56, 38, 10][kind] : [76, 80, 68, 12][kind];
	const light = dark.matches ? [31, 27, 34, 30][kind] + 8 * b : [76, 73, 79, 80][kind] + 7 * b;
	colour = group === data.rootGroup ? (dark.matches ? "#2b333e" : "#e1e6ec") :
		`hsl(${hue.toFixed(0)} ${saturation}% ${light.toFixed(0)}%)`;
	colours.set(group, colour);
	return colour;
}

/* ---- drawing: only what can be seen ---- */
function fit(text, px) {
	let low = 0, high, points;
	if (pen.measureText(text).width <= px)
		return text;
	points = Array.from(text.slice(0, 400));
	high = points.length;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (pen.measureText(points.slice(0, middle).join("") + "…").width <= px)
			low = middle;
		else
			high = middle - 1;
	}
	return low ? points.slice(0, low).join("") + "…" : "";
}
function yOf(depth, height) {
	return state.direction === "down" ? depth * ROW + 2 : height - (depth + 1) * ROW - 2;
}
function drawLabel(node, x, y, width, ink, soft) {
	const group = groups[node.group], left = Math.max(x, 0) + 5, px = Math.min(x + width, canvas.clientWidth) - left - 4;
	const name = px > TEXT_PX - 9 ? fit(group.name, px) : "";
	if (!name)
		return;
	pen.fillStyle = ink;
	pen.fillText(name, left, y + ROW / 2);
	const more = node === tree.root ? amountText(node) : group.place;
	if (name !== group.name || !more)
		return;
	const used = pen.measureText(name).width + 8;
	if (px - used > 30) {
		pen.fillStyle = soft;
		pen.fillText(fit(more, px - used), left + used, y + ROW / 2);
	}
}
function drawBox(node, x, width, y, look) {
	const group = groups[node.group], ancestor = node.depth < state.zoom.depth;
	const dim = look.searching && !group.match || ancestor;
	const gap = width > 3 ? 1 : 0;
	pen.globalAlpha = dim ? 0.4 : 1;
	pen.fillStyle = look.searching && group.match ? look.match : data.base ? colourOfChange(node) : colourOf(node.group);
	pen.fillRect(x, y, width - gap, ROW - 1);
	if (group.kind === 3 && node !== tree.root && width > 6)
		hatch(x, y, width - gap, look);
	if (width >= TEXT_PX) {
		pen.globalAlpha = ancestor ? 0.75 : dim ? 0.65 : 1;
		drawLabel(node, x, y, width, look.searching && group.match ? look.matchInk : look.ink, look.soft);
	}
	pen.globalAlpha = 1;
	if (node === state.focus || node === state.hover) {
		pen.strokeStyle = look.ring;
		pen.lineWidth = node === state.focus ? 2 : 1;
		pen.strokeRect(x + 0.75, y + 0.75, Math.max(width - gap - 1.5, 1), ROW - 2.5);
	}
}
function hatch(x, y, width, look) {
	pen.save();
	pen.beginPath();
	pen.rect(x, y, width, ROW - 1);
	pen.clip();
	pen.beginPath();
	for (let at = x - ROW; at < x + width; at += 7) {
		pen.moveTo(at, y + ROW);
		pen.lineTo(at + ROW, y);
	}
	pen.strokeStyle = look.hatch;
	pen.lineWidth = 1;
	pen.stroke();
	pen.restore();
}
function place(node, width) {   /* where a node is, in CSS pixels from the left */
	if (node.depth < state.zoom.depth)
		return [0, width];
	const scale = state.zoom.total ? width / state.zoom.total : 0;
	return [(node.start - state.zoom.start) * scale, node.total * scale];
}
function draw() {
	const width = view.clientWidth, height = view.clientHeight, ratio = window.devicePixelRatio || 1;
	const full = Math.max(room.offsetHeight, height), top = view.scrollTop;
	const look = { searching: state.query !== "", match: dark.matches ? "#a24de0" : "#c98bff",
		ink: dark.matches ? "#eef3f9" : "#13202f", soft: dark.matches ? "#b9c6d6b0" : "#13202f99",
		matchInk: dark.matches ? "#ffffff" : "#22063c", ring: dark.matches ? "#ffffff" : "#10213a",
		hatch: dark.matches ? "#ffffff2e" : "#0000002a" };
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	pen.clearRect(0, 0, width, height);
	pen.font = FONT;
	pen.textBaseline = "middle";
	rows = [];
	if (!tree.root.total) {
		pen.fillStyle = look.ink;
		pen.fillText("No samples", 16, 24);
		return;
	}
	const one = (node, x, w) => {
		const y = yOf(node.depth, full) - top;
		if (y > -ROW && y < height) {
			(rows[node.depth] = rows[node.depth] || []).push({ node, x, w });
			drawBox(node, x, w, y, look);
		}
	};
	for (let at = state.zoom.parent; at; at = at.parent)
		one(at, 0, width);
	const todo = [state.zoom];
	while (todo.length) {
		const node = todo.pop(), [x, w] = place(node, width);
		one(node, x, w);
		for (const at of node.children) {
			const [left, px] = place(at, width);
			if (px < LEAST_PX) {   /* the rest is smaller still: one faint box for all of it */
				drawRest(left, x + (node.total - node.self) * w / node.total, at.depth, full, top, height);
				break;
			}
			todo.push(at);
		}
	}
}
function drawRest(left, right, depth, full, top, height) {
	const y = yOf(depth, full) - top;
	if (right - left < LEAST_PX || y <= -ROW || y >= height)
		return;
	pen.globalAlpha = 0.5;
	pen.fillStyle = dark.matches ? "#3a434f" : "#cfd6de";
	pen.fillRect(left, y, right - left, ROW - 1);
	pen.globalAlpha = 1;
}

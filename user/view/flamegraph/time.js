// SPDX-License-Identifier: MIT
// time.js - the samples over time, as a strip; a range of it can be chosen, and the graph is of that.
const strip = get("strip"), band = strip.getContext("2d"), times = data.times;
const STRIP_HEIGHT = 58, AXIS = 14, CLICK_PX = 4;
const spanText = (ms) => times.slots * times.slotMs < 1000 ? ms.toFixed(0) + " ms" : (ms / 1000).toFixed(2) + " s";
let drag = null, stripRequest = 0;

const startOf = (slot) => times.beginMs + slot * times.slotMs;
/* Of each slot the samples of the chosen processes or threads. */
function slotHeights() {
	const heights = new Float64Array(times.slots), step = data.weighted ? 3 : 2;
	for (let i = 0; i < data.buckets.length; i += 5) {
		if (!isInScope(state.scope, data.buckets[i]))
			continue;
		for (let at = timesOf[i / 5]; at < timesOf[i / 5 + 1]; at += step)
			heights[times.of[at]] += times.of[at + step - 1];
	}
	return heights;
}
function tickStep(ms, width) {
	const least = ms * 90 / width, ten = 10 ** Math.floor(Math.log10(least));
	return [1, 2, 5, 10].map((n) => n * ten).find((step) => step >= least);
}
function drawAxis(width, soft) {
	const ms = times.slots * times.slotMs, step = tickStep(ms, width);
	band.fillStyle = soft;
	band.font = "10.5px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
	band.textBaseline = "bottom";
	for (let at = Math.ceil(times.beginMs / step) * step; at < times.beginMs + ms; at += step) {
		const x = (at - times.beginMs) / ms * width, text = step < 1000 ? at.toFixed(0) + " ms" : (at / 1000).toFixed(0) + " s";
		band.fillRect(x, STRIP_HEIGHT - AXIS, 1, 4);
		if (x + band.measureText(text).width + 4 < width)
			band.fillText(text, x + 3, STRIP_HEIGHT);
	}
}
function drawStrip() {
	const width = strip.parentElement.clientWidth, ratio = window.devicePixelRatio || 1, heights = slotHeights();
	const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
	const px = width / times.slots, room = STRIP_HEIGHT - AXIS - 3;
	const group = Math.max(1, Math.ceil(2 / px));   /* slots a bar: it is at least two pixels wide */
	const sumOf = (slot) => heights.subarray(slot, slot + group).reduce((a, b) => a + b, 0);
	let most = 0;
	for (let slot = 0; slot < times.slots; slot += group)
		most = Math.max(most, sumOf(slot));
	const [from, to] = state.range || [0, times.slots];
	strip.width = Math.round(width * ratio);
	strip.height = Math.round(STRIP_HEIGHT * ratio);
	strip.style.width = width + "px";
	strip.style.height = STRIP_HEIGHT + "px";
	band.setTransform(ratio, 0, 0, ratio, 0, 0);
	band.clearRect(0, 0, width, STRIP_HEIGHT);
	if (state.range) {
		band.fillStyle = colour("--accent");
		band.globalAlpha = 0.14;
		band.fillRect(from * px, 0, (to - from) * px, STRIP_HEIGHT - AXIS);
	}
	for (let slot = 0; slot < times.slots; slot += group) {   /* whole pixels: no bar is blurred */
		const left = Math.round(slot * px * ratio) / ratio, right = Math.round((slot + group) * px * ratio) / ratio;
		const height = most ? Math.ceil(sumOf(slot) / most * room) : 0, chosen = slot >= from && slot < to;
		band.globalAlpha = chosen ? 1 : 0.35;
		band.fillStyle = colour(chosen ? "--accent" : "--soft");
		band.fillRect(left, STRIP_HEIGHT - AXIS - height, right - left, height);
	}
	band.globalAlpha = 1;
	if (state.range) {
		band.fillStyle = colour("--ink");
		band.fillRect(from * px - 0.75, 0, 1.5, STRIP_HEIGHT - AXIS);
		band.fillRect(to * px - 0.75, 0, 1.5, STRIP_HEIGHT - AXIS);
	}
	drawAxis(width, colour("--soft"));
}
function redrawStrip() {
	if (times && !stripRequest)
		stripRequest = requestAnimationFrame(() => { stripRequest = 0; drawStrip(); });
}
function sayRange() {
	const all = !state.range, [from, to] = state.range || [0, times.slots];
	get("range").textContent = (all ? "all time, " : "") + spanText(startOf(from)) + " to " + spanText(startOf(to)) + ", " +
		whole.format(tree.root.samples) + " samples";
	get("alltime").disabled = all;
}
/* Slots from (included) to (not included); null: all. What was zoomed to stays so where it still is. */
function chooseRange(range) {
	state.range = range && (range[0] > 0 || range[1] < times.slots) ? range : null;
	rebuild(true);
}
function slotAt(event) {
	const box = strip.getBoundingClientRect();
	return Math.min(times.slots, Math.max(0, (event.clientX - box.left) / box.width * times.slots));
}
function dragTo(event) {
	if (!drag)
		return;
	const at = slotAt(event);
	drag.moved = drag.moved || Math.abs(event.clientX - drag.x) >= CLICK_PX;
	if (drag.moved)
		chooseRange([Math.floor(Math.min(at, drag.slot)), Math.max(Math.ceil(Math.max(at, drag.slot)), 1)]);
}
function dragEnd(event) {
	if (!drag)
		return;
	dragTo(event);
	if (!drag.moved)   /* a click: all of it again */
		chooseRange(null);
	drag = null;
}
/* Arrows move the range, with Shift its end; ten slots at once with Page Up and Page Down. */
function onStripKey(event) {
	const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -times.slots, End: times.slots };
	const step = steps[event.key], tenth = Math.max(1, Math.round(times.slots / 10));
	if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	if (event.key === "Escape" || event.key === "Delete") {
		chooseRange(null);
	} else if (step && !state.range) {
		chooseRange(step > 0 ? [0, tenth] : [times.slots - tenth, times.slots]);
	} else if (step) {
		const [from, to] = state.range, move = Math.min(Math.max(step, -from), times.slots - to);
		chooseRange(event.shiftKey ? [from, Math.min(times.slots, Math.max(from + 1, to + step))] : [from + move, to + move]);
	} else {
		return;
	}
	event.preventDefault();
	event.stopPropagation();
}
function startStrip() {
	get("time").hidden = !times;
	if (!times)
		return;
	strip.addEventListener("pointerdown", (event) => {
		if (event.button === 0)
			drag = { x: event.clientX, slot: slotAt(event), moved: false };
	});
	addEventListener("pointermove", dragTo);
	addEventListener("pointerup", dragEnd);
	addEventListener("pointercancel", () => { drag = null; });
	strip.addEventListener("keydown", onStripKey);
	get("alltime").addEventListener("click", () => { chooseRange(null); strip.focus(); });
	dark.addEventListener("change", redrawStrip);
	new ResizeObserver(redrawStrip).observe(strip.parentElement);
}

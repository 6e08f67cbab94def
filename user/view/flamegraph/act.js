// SPDX-License-Identifier: MIT
// act.js - what pointer and keys do.
/* ---- pointer and keys ---- */
function nodeAt(event) {
	const box = canvas.getBoundingClientRect(), x = event.clientX - box.left;
	const y = event.clientY - box.top + view.scrollTop, full = Math.max(room.offsetHeight, view.clientHeight);
	const depth = Math.floor(state.direction === "down" ? (y - 2) / ROW : (full - 2 - y) / ROW);
	const found = (rows[depth] || []).find((at) => x >= at.x && x < at.x + at.w);
	return found ? found.node : null;
}
function reveal(node) {
	const full = Math.max(room.offsetHeight, view.clientHeight), y = yOf(node.depth, full);
	if (y < view.scrollTop)
		view.scrollTop = y - ROW;
	else if (y + ROW > view.scrollTop + view.clientHeight)
		view.scrollTop = y + 2 * ROW - view.clientHeight;
}
function focusOn(node) {
	if (!node)
		return;
	state.focus = node;
	reveal(node);
	say(node);
	redraw();
}
function sibling(node, step) {
	const all = node.parent ? node.parent.children : [node];
	return all[all.indexOf(node) + step];
}
function moveFocus(key) {
	const node = state.focus || state.zoom;
	const inward = state.direction === "down" ? "ArrowDown" : "ArrowUp";
	if (!state.focus)
		focusOn(node);
	else if (key === "ArrowLeft" || key === "ArrowRight")
		focusOn(sibling(node, key === "ArrowLeft" ? -1 : 1));
	else
		focusOn(key === inward ? node.children[0] : node.parent);
	if (state.focus.depth < state.zoom.depth)
		zoomTo(state.focus, true);
}
function onKey(event) {
	const typing = event.target === search || event.target === get("scope");
	if (event.ctrlKey || event.metaKey || event.altKey)
		return;
	if (event.key === "Escape" && event.target === search && search.value) {
		search.value = "";
		runSearch();
	} else if (event.key === "Escape") {
		zoomBack();
		view.focus();
	} else if (event.key === "Enter" && event.target === search && state.query) {
		focusOn(largestMatch());
		view.focus();
	} else if (typing) {
		return;
	} else if (event.key === "/") {
		search.focus();
		search.select();
	} else if (event.key === "Backspace") {
		zoomBack();
	} else if (event.key === "Home") {
		zoomReset();
	} else if (event.target === view && event.key.startsWith("Arrow")) {
		moveFocus(event.key);
	} else if (event.target === view && (event.key === "Enter" || event.key === " ")) {
		zoomTo(state.focus || state.zoom, true);
	} else {
		return;
	}
	event.preventDefault();
}
function onMove(event) {
	const node = nodeAt(event);
	if (node)
		showTip(node, event.clientX, event.clientY);
	else
		hideTip();
	if (node !== state.hover) {
		state.hover = node;
		say(node || state.focus);
		redraw();
	}
	canvas.style.cursor = node ? "pointer" : "default";
}
function onLeave() {
	hideTip();
	state.hover = null;
	redraw();
}
function switchOf(id, change) {
	const buttons = get(id).querySelectorAll("button");
	for (const button of buttons)
		button.addEventListener("click", () => {
			for (const other of buttons)
				other.setAttribute("aria-pressed", String(other === button));
			change(button.dataset.value);
		});
}

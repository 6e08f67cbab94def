// SPDX-License-Identifier: MIT
// draw.js - elements, numbers as text, axes: what the parts of the page are made of.

const SVG = "http://www.w3.org/2000/svg";

function element(name, text, className) {
	const made = document.createElement(name);
	if (text !== undefined) made.textContent = text;
	if (className) made.className = className;
	return made;
}

function shape(parent, name, attributes, text) {
	const made = document.createElementNS(SVG, name);
	for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
	if (text !== undefined) made.textContent = text;
	parent.append(made);
	return made;
}

function drawing(id, width, height, label) {
	const svg = shape(document.getElementById(id), "svg",
		{ viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
	return svg;
}

function hint(parent, text) {
	shape(parent, "title", {}, text);
}

function time(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
		if (ns >= size * 0.9995) return `${(ns / size).toPrecision(3).replace(/\.?0+$/, (m) => m.startsWith(".") ? "" : m)} ${unit}`;
	return `${Math.round(ns)} ns`;
}

function count(n) {
	return n.toLocaleString("en");
}

function share(x) {
	return x === null || x === undefined ? "–" : `${(100 * x).toFixed(x > 0.9 && x < 1 ? 2 : 1)} %`;
}

// Rows of cells; a cell that is a number, or [text], goes to the right.
function table(id, heads, rows) {
	const made = element("table"), head = element("tr"), body = element("tbody"), top = element("thead");
	for (const text of heads) {
		const right = Array.isArray(text);
		head.append(element("th", right ? text[0] : text, right ? "number" : ""));
	}
	top.append(head);
	for (const cells of rows) {
		const row = element("tr");
		for (const cell of cells) {
			const right = Array.isArray(cell);
			row.append(element("td", right ? cell[0] : cell, right ? "number" : ""));
		}
		body.append(row);
	}
	made.append(top, body);
	document.getElementById(id).append(made);
}

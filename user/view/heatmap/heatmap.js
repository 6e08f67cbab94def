// SPDX-License-Identifier: MIT
// heatmap.js - the files with their lines, made when they are opened.
const data = JSON.parse(document.getElementById("data").textContent);
const get = (id) => document.getElementById(id);
const state = { heat: "self", extent: "hot", text: "" };
const AROUND = 4; /* lines shown around a hot one */
const LEAST_TOLD = 0.01; /* of all samples: an expression with less has its share in its tooltip only */
const LEAST_OF_LINE = 0.03; /* of its line: an expression with less is not told by itself */
const LEAST = 0.001; /* of all samples: a line with less is not hot enough to be shown by itself */
const whole = new Intl.NumberFormat("en-US");
const percent = (value) => data.all ? (100 * value / data.all).toFixed(1) + "%" : "–";

function element(name, className, text) {
	const made = document.createElement(name);
	if (className)
		made.className = className;
	if (text !== undefined)
		made.textContent = text;
	return made;
}
function showFacts() {
	const facts = get("facts"), command = data.command || "Sidewinder";
	const fact = (number, words) => {
		const made = element("span");
		made.append(element("b", "", number), " " + words);
		facts.append(made);
	};
	document.title = command + " — Sidewinder heat map";
	get("command").textContent = command;
	get("command").title = command;
	fact(data.event || "?", data.frequency ? "at " + whole.format(data.frequency) + " Hz" : "");
	fact((data.durationMs / 1000).toFixed(2) + " s", "recorded");
	fact(whole.format(data.samples), "samples");
	fact(whole.format(data.lost), "lost");
	if (data.startMs)
		fact(new Date(data.startMs).toISOString().slice(0, 16).replace("T", " "), "UTC");
	if (data.host)
		fact(data.host, "");
	if (data.only)
		fact("only", data.only);
	if (!data.complete)
		fact("incomplete:", "the recording did not end in order");
}

/* Lines by number: [self, total]; 0 stands for frames whose line is not known. */
function sharesOf(file) {
	const shares = new Map();
	for (let i = 0; i < file.lines.length; i += 3)
		shares.set(file.lines[i], [file.lines[i + 1], file.lines[i + 2]]);
	return shares;
}
/* Expressions by the line that they begin in: {from, to, endLine, self, total}, counted in characters from 0. */
function spansOf(file, source) {
	const byLine = new Map(), spans = file.spans || [], encoder = new TextEncoder(), decoder = new TextDecoder();
	const characters = (text, bytes) => {   /* columns are bytes of UTF-8 */
		const whole = encoder.encode(text);
		return bytes >= whole.length ? text.length : decoder.decode(whole.subarray(0, bytes)).length;
	};
	for (let i = 0; i < spans.length; i += 6) {
		const [line, column, endLine, endColumn, self, total] = spans.slice(i, i + 6), text = source[line - 1] || "";
		const from = characters(text, column - 1), to = endLine > line ? text.length : characters(text, endColumn - 1);
		if (to <= from)
			continue;
		if (!byLine.has(line))
			byLine.set(line, []);
		byLine.get(line).push({ from, to, endLine, line, self, total });
	}
	return byLine;
}
/*
 * Cuts a line where expressions begin and end; each piece has the heat of the smallest expression that it lies in,
 * behind each expression is its share. Those with next to nothing (a name that is looked up) count for the one around.
 */
function fillCode(cell, text, spans, hottest, lineHeat) {
	const heat = (span) => span[state.heat], least = Math.max(data.all * LEAST, lineHeat * LEAST_OF_LINE);
	const hot = spans.filter((span) => heat(span) >= least);
	const cuts = [...new Set([0, text.length, ...hot.flatMap((span) => [span.from, span.to])])].sort((a, b) => a - b);
	for (let i = 0; i + 1 < cuts.length; i++) {
		const [from, to] = cuts.slice(i, i + 2), around = hot.filter((span) => span.from <= from && span.to >= to);
		around.sort((a, b) => a.to - a.from - (b.to - b.from));
		const piece = element("span", around.length ? "part" : "", text.slice(from, to));
		cell.append(piece);
		if (!around.length)
			continue;
		piece.title = around.map((span) => text.slice(span.from, span.to) +
			(span.endLine > span.line ? " … to line " + span.endLine : "") + "\n    " + percent(span.self) + " self, " +
			percent(span.total) + " in all").join("\n");
		piece.style.background = "rgba(var(--heat), " + (0.1 + 0.6 * Math.sqrt(heat(around[0]) / hottest)).toFixed(3) + ")";
		for (const span of around.filter((at) => at.to === to && heat(at) >= data.all * LEAST_TOLD))
			cell.append(element("span", "told", percent(heat(span))));
	}
}
function lineRow(number, share, text, hottest, spans) {
	const row = element("tr"), code = element("td", "code", spans ? undefined : text);
	const value = share ? share[state.heat === "self" ? 0 : 1] : 0;
	if (spans)
		fillCode(code, text, spans, hottest, value);
	row.append(element("td", "number", number || "?"));
	row.append(element("td", "amount", share && share[0] ? percent(share[0]) : ""));
	row.append(element("td", "amount", share && share[1] ? percent(share[1]) : ""));
	row.append(code);
	if (share)
		row.title = whole.format(share[0]) + " self, " + whole.format(share[1]) + " in all, of " +
			whole.format(data.all) + (data.weighted ? " " + data.event : " samples");
	if (value) {
		/* by its root, so that a line with a tenth of the heat can still be told from a cold one */
		const heat = Math.sqrt(value / hottest);
		if (!spans)
			code.style.background = "rgba(var(--heat), " + (0.05 + 0.45 * heat).toFixed(3) + ")";
		code.style.borderLeftColor = "rgba(var(--heat), " + (0.3 + 0.7 * heat).toFixed(3) + ")";
	}
	return row;
}
/* Which lines are shown; hot ones, those around them, and what was asked for. */
function shown(lines, shares) {
	const show = new Uint8Array(lines + 1);
	if (state.extent === "whole")
		return show.fill(1);
	for (const [line, share] of shares) {
		if (line > lines || (line && share[1] < data.all * LEAST))
			continue;
		for (let i = Math.max(1, line - AROUND); i <= Math.min(lines, line + AROUND); i++)
			show[i] = 1;
	}
	return show;
}
function gapRow(count, open) {
	const row = element("tr", "gap"), cell = element("td", "", "⋯ " + whole.format(count) + " lines");
	cell.colSpan = 4;
	row.append(cell);
	row.addEventListener("click", open);
	return row;
}
function headRow() {
	const row = element("tr", "head");
	["line", "self", "total"].forEach((word) => row.append(element("td", "number", word)));
	row.append(element("td"));
	return row;
}
function fillTable(table, file) {
	const shares = sharesOf(file), source = (file.text || "").split("\n");
	const lines = source.length;   /* a program may give its code lines that its file has not, even the 4,000,000,000th */
	const hottest = [...shares.values()].reduce((most, share) => Math.max(most, share[state.heat === "self" ? 0 : 1]), 1);
	const show = file.text === undefined ? null : shown(lines, shares);
	const spans = file.text === undefined ? new Map() : spansOf(file, source);
	const row = (line) => lineRow(line, shares.get(line), source[line - 1] || "", hottest, spans.get(line));
	table.replaceChildren(headRow());
	if (shares.has(0))
		table.append(lineRow(0, shares.get(0), "(line not known)", hottest));
	const behind = [...shares.keys()].filter((line) => line && (!show || line > lines)).sort((a, b) => a - b);
	if (!show) {
		behind.forEach((line) => table.append(row(line)));
		return;
	}
	for (let line = 1; line <= lines; line++) {
		let end = line;
		if (show[line]) {
			table.append(row(line));
			continue;
		}
		while (end < lines && !show[end + 1])
			end++;
		const from = line, gap = gapRow(end - line + 1, () => {
			const rows = [];
			for (let i = from; i <= end; i++)
				rows.push(row(i));
			gap.replaceWith(...rows);
		});
		table.append(gap);
		line = end;
	}
	behind.forEach((line) => table.append(row(line)));
}
function fill(details, file) {
	const scroll = element("div", "scroll"), table = element("table");
	details.querySelectorAll(".scroll, .note").forEach((old) => old.remove());
	if (file.problem)
		details.append(element("div", "note", "The source is not shown: " + file.problem + "."));
	if (file.changed)
		details.append(element("div", "note", "The file was changed after the recording: its lines may not be those that ran."));
	fillTable(table, file);
	scroll.append(table);
	details.append(scroll);
}
function share(value, word) {
	const made = element("span", "share", percent(value) + " ");
	made.append(element("small", "", word));
	return made;
}
function makeFile(file, isFirst) {
	const details = element("details", "file"), summary = element("summary"), path = element("span", "path");
	path.append(element("bdi", "", file.path));
	path.title = file.path;
	summary.append(share(file.self, "self"), share(file.total, "total"), path);
	details.append(summary);
	details.addEventListener("toggle", () => {
		if (details.open && !details.querySelector(".scroll"))
			fill(details, file);
	});
	details.open = isFirst;
	return details;
}
function showFiles() {
	const words = state.text.toLowerCase();
	let matched = 0;
	files.forEach(({ file, details }) => {
		details.hidden = !file.path.toLowerCase().includes(words);
		matched += !details.hidden;
	});
	get("matched").textContent = words ? matched + " of " + files.length + " files" :
		files.length + (files.length === 1 ? " file" : " files");
}
function switchOf(id, change) {
	get(id).addEventListener("click", (event) => {
		const button = event.target.closest("button");
		if (!button)
			return;
		get(id).querySelectorAll("button").forEach((each) =>
			each.setAttribute("aria-pressed", String(each === button)));
		change(button.dataset.value);
		files.forEach(({ file, details }) => {
			details.querySelectorAll(".scroll, .note").forEach((old) => old.remove());
			if (details.open)
				fill(details, file);
		});
	});
}

showFacts();
const files = data.files.map((file, i) => ({ file, details: makeFile(file, i === 0) }));
get("files").append(...files.map(({ details }) => details));
if (!files.length)
	get("files").append(element("div", "note", "No sample has a Python function in its stack."));
showFiles();
switchOf("heat", (value) => { state.heat = value; });
switchOf("extent", (value) => { state.extent = value; });
get("search").addEventListener("input", (event) => { state.text = event.target.value; showFiles(); });

// SPDX-License-Identifier: MIT
// words.js - words about a frame: the status line, the tooltip, the search.
/* ---- words about a frame ---- */
function amountText(node) {
	const samples = whole.format(node.samples) + (node.samples === 1 ? " sample" : " samples");
	if (data.weighted)
		return whole.format(node.weight) + " " + data.event + ", " + samples;
	return isClock && node.weight ? samples + ", " + seconds(node.weight / 1e6) : samples;
}
function placeText(group) {
	if (!group.file)
		return "";
	return group.file + (group.kind === 0 && group.line > 0 ? ":" + group.line : "");
}
function describe(node) {
	const group = groups[node.group], where = placeText(group);
	if (data.base)
		return group.name + (where ? " (" + where + ")" : "") + " — " + changeText(node);
	return group.name + (where ? " (" + where + ")" : "") + " — " + amountText(node) + ", " +
		percent(node.total, tree.root.total) + " of all" +
		(node.parent ? ", " + percent(node.total, node.parent.total) + " of its caller" : "");
}
function say(node) {
	get("status").textContent = node ? describe(node) : "";
}
function tipRow(table, title, amount, share) {
	const row = table.insertRow();
	row.append(element("th", "", title), element("td", "", amount), element("td", "", share));
}
function showTip(node, x, y) {
	const group = groups[node.group], where = placeText(group), kind = element("div", "kind");
	const table = element("table"), value = (v) => whole.format(v);
	tip.replaceChildren(element("div", "name", group.name));
	if (where)
		tip.append(element("div", "file", where));
	if (node !== tree.root) {
		kind.append(element("i", KINDS[group.kind]), element("span", "", KIND_TEXT[group.kind] +
			(group.isLine ? ", this line" : group.kind === 0 ? ", first line " + group.line : "")));
		tip.append(kind);
	}
	if (data.base) {
		tipChange(table, node);
		tip.append(table);
		return placeTip(x, y);
	}
	tipRow(table, data.weighted ? data.event : "samples", value(node.total), percent(node.total, tree.root.total) + " of all");
	if (node.parent)
		tipRow(table, "of its caller", "", percent(node.total, node.parent.total));
	tipRow(table, "itself", value(node.self), percent(node.self, tree.root.total) + " of all");
	if (data.weighted)
		tipRow(table, "samples", value(node.samples), "");
	else if (isClock && node.weight)
		tipRow(table, data.event === "cpu-clock" || data.event === "task-clock" ? "CPU time" : "time",
			seconds(node.weight / 1e6), "");
	tip.append(table);
	return placeTip(x, y);
}
function placeTip(x, y) {
	const box = tip.getBoundingClientRect();
	const left = x + 14 + box.width > innerWidth - 8 ? Math.max(8, x - box.width - 14) : x + 14;
	const top = y + 18 + box.height > innerHeight - 8 ? Math.max(8, y - box.height - 12) : y + 18;
	tip.style.transform = `translate(${left}px, ${top}px)`;
	tip.style.visibility = "visible";
}
function hideTip() {
	tip.style.visibility = "hidden";
}

/* ---- search ---- */
function matcher(query) {
	const regex = query.length > 2 && query.match(/^\/(.*)\/([a-z]*)$/s);
	if (regex) {
		const compiled = new RegExp(regex[1], regex[2].replace(/[gy]/g, ""));
		return (text) => compiled.test(text);
	}
	const low = query.toLowerCase();
	return (text) => text.toLowerCase().includes(low);
}
function runSearch() {
	let test, matched = 0;
	state.query = search.value.trim();
	search.removeAttribute("aria-invalid");
	get("matched").textContent = "";
	redraw();
	if (!state.query)
		return;
	try {
		test = matcher(state.query);
	} catch (error) {
		search.setAttribute("aria-invalid", "true");
		get("matched").textContent = "not a regular expression";
		state.query = "";
		return;
	}
	for (const group of groups)
		group.match = test(group.name) || group.file !== "" && test(group.file);
	groups[data.rootGroup].match = false;
	for (const node of tree.nodes) {   /* a match inside a match counts once */
		const above = node.parent !== null && node.parent.inside;
		node.inside = above || groups[node.group].match;
		if (node.inside && !above)
			matched += node.total;
	}
	get("matched").textContent = percent(matched, tree.root.total) + " matched";
}
function largestMatch() {
	return tree.nodes.reduce((best, node) =>
		groups[node.group].match && (!best || node.total > best.total) ? node : best, null);
}

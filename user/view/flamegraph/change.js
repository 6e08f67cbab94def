// SPDX-License-Identifier: MIT
// change.js - pages of two recordings: how much a frame changed, and whether sampling alone explains it.
/* As the table of a difference has it: one hit and one miss more in each, see analyze/diff.h. */
const CONFIDENCE = 1.96, LEAST_SAMPLES = 6;
function changeOf(node) {
	const shown = { at: node, all: tree.root }, other = { at: node.other, all: tree.root.other };
	const [base, now] = state.side === "new" ? [other, shown] : [shown, other];
	const share = ({ at, all }) => all.total ? at.total / all.total : 0;
	const variance = ({ at, all }) => {
		const p = (at.samples + 1) / (all.samples + 2);
		return p * (1 - p) / (all.samples + 2);
	};
	const made = { base: share(base), now: share(now), baseSamples: base.at.samples, nowSamples: now.at.samples,
		reach: CONFIDENCE * Math.sqrt(variance(base) + variance(now)) };
	made.by = made.now - made.base;
	made.isChanged = Math.abs(made.by) > made.reach && made.baseSamples + made.nowSamples >= LEAST_SAMPLES;
	/* how many times as much, at most four; half a sample where there is none */
	const least = (all) => 0.5 / Math.max(all.samples, 1);
	const ratio = Math.log2(Math.max(made.now, least(now.all)) / Math.max(made.base, least(base.all)));
	made.strength = Math.min(1, Math.max(0.15, Math.abs(ratio) / 2));
	return made;
}
function colourOfChange(node) {
	const change = changeOf(node), t = change.strength;
	if (node === tree.root || !change.isChanged)
		return dark.matches ? "#343c47" : "#dfe3e8";
	if (dark.matches)
		return change.by > 0 ? `hsl(6 ${26 + 40 * t}% ${31 + 13 * t}%)` : `hsl(214 ${26 + 36 * t}% ${31 + 15 * t}%)`;
	return change.by > 0 ? `hsl(6 ${52 + 30 * t}% ${88 - 22 * t}%)` : `hsl(214 ${52 + 26 * t}% ${88 - 22 * t}%)`;
}
const signed = (share) => (share < 0 ? "−" : "+") + (100 * Math.abs(share)).toFixed(1);
function changeText(node) {
	const change = changeOf(node), reach = (100 * change.reach).toFixed(1);
	return "NEW " + percent(change.now, 1) + ", BASE " + percent(change.base, 1) + ": " + signed(change.by) + " ± " + reach +
		" of 100" + (change.isChanged ? "" : ", within the error of sampling");
}
function tipChange(table, node) {
	const change = changeOf(node);
	tipRow(table, "NEW", whole.format(change.nowSamples) + " samples", percent(change.now, 1));
	tipRow(table, "BASE", whole.format(change.baseSamples) + " samples", percent(change.base, 1));
	tipRow(table, change.isChanged ? "change" : "within the error", "± " + (100 * change.reach).toFixed(1),
		signed(change.by));
}
function showChangeLegend(legend) {
	for (const [name, text] of [["more", "more in NEW"], ["less", "less in NEW"], ["alike", "within the error of sampling"]]) {
		const item = element("span");
		item.append(element("i", name), text);
		legend.append(item);
	}
}

// SPDX-License-Identifier: MIT
// Runs inside the heat map page of a known profile (--heat of test_heatmap.c); gives one line a check, "ok ..." or
// "not ok ...".
async () => {
"use strict";
const lines = [], get = (id) => document.getElementById(id);
const check = (what, condition, seen) => lines.push((condition ? "ok " : "not ok ") + what + (condition ? "" : ": " + seen));
const equal = (what, seen, expected) => check(what, JSON.stringify(seen) === JSON.stringify(expected), JSON.stringify(seen));
const row = (number) => [...document.querySelectorAll("tr")].find((at) => at.cells[0].textContent === String(number));
const parts = (number) => [...row(number).querySelectorAll(".part")];
const alpha = (part) => Number((/[\d.]+\)$/.exec(getComputedStyle(part).backgroundColor) || ["0"])[0].slice(0, -1));

try {
	equal("the title names the command", document.title, "python3 app.py — Sidewinder heat map");
	equal("a line's shares are those of all its expressions", [...row(2).cells].slice(1, 3).map((at) => at.textContent),
		["81.0%", "81.0%"]);
	equal("expressions are marked, also behind letters of two bytes", parts(2).map((at) => at.textContent),
		["f(a, ", "g(b)", ")", "h(c)"]);
	equal("each has its share behind it", [...row(2).querySelectorAll(".told")].map((at) =>
		at.previousSibling.textContent + at.textContent), ["g(b)50.0%", ")20.0%", "h(c)10.0%"]);
	equal("the line is whole", parts(2)[0].parentElement.textContent.replace(/[\d.]+%/g, ""), "é = f(a, g(b)) + h(c)");
	check("the hotter it is the stronger", alpha(parts(2)[1]) > alpha(parts(2)[0]) && alpha(parts(2)[0]) > alpha(parts(2)[3]),
		parts(2).map(alpha));
	equal("a tooltip tells of it, and of those around it", parts(2)[1].title,
		"g(b)\n    50.0% self, 50.0% in all\nf(a, g(b))\n    20.0% self, 20.0% in all");
	equal("another line has its own", parts(3).map((at) => at.textContent), ["(1 "]);
	equal("a line without columns has none", parts(4).length, 0);
	equal("a line that the file has not stands behind it", [...row(4294967295).cells].slice(1).map((at) => at.textContent),
		["1.0%", "1.0%", ""]);
	get("heat").querySelector("[data-value=total]").click();
	equal("in all, too", [...row(2).querySelectorAll(".told")].length, 3);
	get("extent").querySelector("[data-value=whole]").click();
	equal("the whole file", row(1).cells[3].textContent, "# résumé");
	get("search").value = "nothing";
	get("search").dispatchEvent(new Event("input", { bubbles: true }));
	equal("files are searched", get("matched").textContent, "0 of 1 files");
	const script = document.createElement("script");
	script.textContent = "window.broken = 1";
	document.body.append(script);
	equal("no foreign script runs", window.broken, undefined);
} catch (error) {
	lines.push("not ok the checks came to their end: " + error.stack);
}
return lines;
}

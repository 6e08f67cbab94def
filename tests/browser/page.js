// SPDX-License-Identifier: MIT
// Runs inside the flame graph page, as a user would act on it. A function of the kind of page ("page", "many"
// or "change"); gives one line a check, "ok ..." or "not ok ...".
async (kind) => {
"use strict";
const lines = [], get = (id) => document.getElementById(id);
const check = (what, condition, seen) => lines.push((condition ? "ok " : "not ok ") + what + (condition ? "" : ": " + seen));
const equal = (what, seen, expected) => check(what, seen === expected, JSON.stringify(seen));
const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
const canvas = get("graph"), view = get("view"), tip = get("tip"), ROW = 20;

// at: share of the width, 0 to 1; row: from the side where the callers are
function send(type, at, row) {
	const box = canvas.getBoundingClientRect(), up = get("direction").querySelector("[data-value=up]").ariaPressed === "true";
	const y = up ? get("room").getBoundingClientRect().bottom - 2 - (row + 0.5) * ROW :
		get("room").getBoundingClientRect().top + 2 + (row + 0.5) * ROW;
	canvas.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: box.left + at * box.width, clientY: y }));
}
function nameAt(at, row) {
	send("pointermove", at, row);
	return tip.style.visibility === "visible" ? tip.querySelector(".name").textContent : null;
}
function press(target, key) {
	target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
	return frame();
}
function type(text) {
	get("search").value = text;
	get("search").dispatchEvent(new Event("input", { bubbles: true }));
	return frame();
}
async function choose(text) {
	const option = [...get("scope").options].find((at) => at.textContent.startsWith(text));
	get("scope").value = option ? option.value : "none";
	get("scope").dispatchEvent(new Event("change", { bubbles: true }));
	await frame();
	return option !== undefined;
}
function pixel(at, row) {
	const ratio = canvas.width / canvas.clientWidth;
	const data = canvas.getContext("2d").getImageData(at * canvas.width, (2 + row * ROW + 3) * ratio, 1, 1).data;
	return [...data].slice(0, 3);
}
const warm = ([r, g, b]) => r > b + 20, blue = ([r, g, b]) => b > r + 20;

async function head() {
	equal("the title names the command", document.title, "python3 app.py — Sidewinder flame graph");
	equal("event, duration, samples and lost are shown", get("facts").textContent,
		"cpu-clock at 1,000 Hz2.50 s recorded1,000 samples7 lost2023-11-14 22:13 UTChost ");
	check("what is missing is told", get("notes").textContent.includes("7 lost: the ring buffer") &&
		get("notes").textContent.includes("10: the process runs no CPython"), get("notes").textContent);
	equal("the legend has the shares of each kind", get("legend").textContent,
		"Python 89.0%native 0.0%kernel 10.0%marker 1.0%");
}
async function frames() {
	equal("the first row is everything", nameAt(0.5, 0), "all");
	equal("a caller is above what it calls", nameAt(0.5, 1), "main");
	equal("the larger callee comes first", nameAt(0.1, 2), "App.heavy");
	equal("and then the smaller one", nameAt(0.75, 2), "App.light");
	equal("the same function by two callers is two frames", nameAt(0.75, 3), "spin");
	equal("a native frame lies on its Python caller", nameAt(0.65, 3), "memcpy");
	equal("and a kernel frame on that", nameAt(0.65, 4), "copy_page");
	equal("a root of another thread", nameAt(0.95, 1), "App.heavy");
	equal("samples without a stack are a marker", nameAt(0.995, 1), "[no_python]");
	equal("where there is nothing there is no tooltip", nameAt(0.95, 3), null);
	nameAt(0.1, 2);
	const text = tip.textContent;
	for (const part of ["/srv/app.py:40", "Python, first line 40", "70070.0% of all", "of its caller75.3%",
		"itself00.0% of all", "CPU time700 ms"])
		check("the tooltip has " + part, text.includes(part), text);
	check("Python is blue", blue(pixel(0.3, 3)), pixel(0.3, 3));
	check("native is warm", warm(pixel(0.69, 3)), pixel(0.69, 3));
	check("the kernel is another colour", warm(pixel(0.69, 4)) && String(pixel(0.69, 4)) !== String(pixel(0.69, 3)),
		pixel(0.69, 4));
}
async function zoom() {
	send("click", 0.65, 3);
	await frame();
	equal("a click makes the frame as wide as the page", nameAt(0.02, 3) + nameAt(0.98, 3), "memcpymemcpy");
	equal("its callers stay above it", nameAt(0.98, 2) + nameAt(0.98, 1), "App.heavymain");
	equal("its callees grow with it", nameAt(0.98, 4), "copy_page");
	check("the zoom can be reset", !get("reset").disabled, "disabled");
	await press(view, "Escape");
	equal("Escape goes back", nameAt(0.75, 2), "App.light");
	send("click", 0.75, 2);
	await frame();
	send("click", 0.5, 3);
	await frame();
	await press(view, "Backspace");
	equal("Backspace goes back one step", nameAt(0.98, 2) + nameAt(0.98, 1), "App.lightmain");
	get("reset").click();
	await frame();
	equal("reset shows all", nameAt(0.995, 1), "[no_python]");
	check("and there is nothing more to reset", get("reset").disabled, "enabled");
}
async function search() {
	await type("spin");
	equal("the matched share counts nested matches once", get("matched").textContent, "80.0% matched");
	const [r, g, b] = pixel(0.3, 3);
	check("a match is violet", b > g + 60 && r > g + 30, [r, g, b]);
	await type("/^(App\\.)?light$/");
	equal("a regular expression", get("matched").textContent, "20.0% matched");
	await type("SRV/LIB");
	equal("files are searched, in any case", get("matched").textContent, "80.0% matched");
	await type("heavy");
	equal("matches in several places add up", get("matched").textContent, "76.0% matched");
	await type("/(/");
	equal("a wrong regular expression is told", get("matched").textContent, "not a regular expression");
	await type("nothing like it");
	equal("no match", get("matched").textContent, "0.0% matched");
	await type("App.light");
	await press(get("search"), "Enter");
	check("Enter goes to the largest match", get("status").textContent.startsWith("App.light (/srv/app.py:50)"),
		get("status").textContent);
	await type("");
	equal("an empty search matches nothing", get("matched").textContent, "");
}
async function keys() {
	get("reset").click();
	view.focus();
	await press(view, "Home");
	await choose("All");
	await press(view, "ArrowDown");   // the first key only shows where one is
	await press(view, "ArrowDown");
	await press(view, "ArrowDown");
	check("down goes to the callee", get("status").textContent.startsWith("App.heavy"), get("status").textContent);
	await press(view, "ArrowRight");
	check("right goes to the next callee", get("status").textContent.startsWith("App.light"), get("status").textContent);
	check("its share of all and of its caller is said", get("status").textContent.endsWith(
		"200 samples, 200 ms, 20.0% of all, 21.5% of its caller"), get("status").textContent);
	await press(view, "Enter");
	equal("Enter zooms", nameAt(0.98, 2), "App.light");
	await press(view, "ArrowUp");
	equal("up goes to the caller, and shows it", nameAt(0.8, 2), "App.light");
	await press(document.body, "/");
	equal("the slash goes to the search", document.activeElement, get("search"));
	await press(document.body, "Home");
}
async function switches() {
	check("there is a choice of threads", await choose("worker 13 of 12"), get("scope").textContent);
	equal("one thread: its samples only", nameAt(0.5, 1) + get("tip").querySelector("td").textContent, "App.heavy60");
	check("a process", await choose("child 20"), get("scope").textContent);
	send("pointermove", 0.5, 0);
	equal("one process: its samples only", get("tip").querySelector("td").textContent, "40");
	check("a name is text, whatever is in it", nameAt(0.3, 2).startsWith("</script><script>window.broken = 1</script>"),
		nameAt(0.3, 2));
	await choose("All");
	get("merge").querySelector("[data-value=line]").click();
	await frame();
	nameAt(0.1, 2);
	check("lines: the line that ran", tip.textContent.includes("/srv/app.py:41") &&
		tip.textContent.includes("60060.0% of all"), tip.textContent);
	nameAt(0.85, 2);
	check("lines: another line of the function is another frame", tip.textContent.includes("/srv/app.py:42") &&
		tip.textContent.includes("10010.0% of all"), tip.textContent);
	get("merge").querySelector("[data-value=function]").click();
	get("direction").querySelector("[data-value=up]").click();
	await frame();
	equal("flame: callers are at the bottom", nameAt(0.5, 0) + " " + nameAt(0.1, 2), "all App.heavy");
	get("direction").querySelector("[data-value=down]").click();
	await frame();
}
// on the strip: from and to are shares of the time
async function brush(from, to) {
	const strip = get("strip"), box = strip.getBoundingClientRect(), y = box.top + 20;
	const at = (type, share) => strip.dispatchEvent(new PointerEvent(type, { bubbles: true, button: 0,
		clientX: box.left + share * box.width, clientY: y }));
	at("pointerdown", from);
	at("pointermove", (from + to) / 2);
	at("pointermove", to);
	at("pointerup", to);
	await frame();
}
// Samples are taken at 1, 2 ... 1000 ms of 2500 ms, in 512 slots: how many are in these?
function samplesIn(from, to) {
	let count = 0;
	for (let ms = 1; ms <= 1000; ms++) {
		const slot = Math.floor(ms * 1e6 / (Math.floor(2.5e9 / 512) + 1));
		count += slot >= from && slot < to;
	}
	return count;
}
const rootSamples = () => { nameAt(0.5, 0); return tip.querySelector("td").textContent; };
function stripPixel(share, fromBottom) {
	const strip = get("strip"), ratio = strip.width / strip.clientWidth;
	return [...strip.getContext("2d").getImageData(share * strip.width, strip.height - fromBottom * ratio, 1, 1).data];
}
async function timeStrip() {
	const strip = get("strip");
	await choose("All");
	check("samples over time are shown", strip.clientHeight > 30 && strip.clientWidth > 0.5 * Math.min(innerWidth, 700),
		strip.clientWidth);
	equal("of all time at first", get("range").textContent, "all time, 0.00 s to 2.50 s, 1,000 samples");
	check("where there are samples there is a bar", stripPixel(0.2, 17)[3] === 255, stripPixel(0.2, 17));
	check("and where there are none there is none", stripPixel(0.8, 17)[3] === 0, stripPixel(0.8, 17));
	await brush(0.281, 0.358);   // slots 143 to 183: the last of memcpy, and most of App.light
	equal("a range is chosen by dragging", get("range").textContent.split(",")[0], "0.70 s to 0.90 s");
	equal("the graph is of its samples", rootSamples(), String(samplesIn(143, 184)));
	equal("what ran only then is all there is", nameAt(0.9, 2), "App.light");
	await brush(0.35, 0.29);     // slots 148 to 179
	equal("in either direction", rootSamples() + nameAt(0.5, 2), samplesIn(148, 180) + "App.light");
	send("click", 0.5, 2);
	await frame();
	await brush(0.1, 0.38);
	equal("what was zoomed to stays so", nameAt(0.5, 2), "App.light");
	await press(document.body, "Home");
	await brush(0.5, 0.9);
	equal("a range without samples is empty", get("range").textContent.split(", ")[1], "0 samples");
	await brush(0.5, 0.5);
	equal("a click shows all again", rootSamples(), "1,000");
	strip.focus();
	await press(strip, "ArrowRight");
	equal("a key chooses the first tenth", rootSamples(), String(samplesIn(0, 51)));
	await press(strip, "ArrowRight");
	await press(strip, "PageDown");
	equal("arrows and pages move it", rootSamples(), String(samplesIn(11, 62)));
	strip.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", shiftKey: true, bubbles: true, cancelable: true }));
	await frame();
	equal("with Shift its end", rootSamples(), String(samplesIn(11, 63)));
	await press(strip, "End");
	equal("to the end", get("range").textContent.split(",")[0].split(" to ")[1], "2.50 s");
	check("it can be left by a button", !get("alltime").disabled, "disabled");
	get("alltime").click();
	await frame();
	equal("which shows all", rootSamples(), "1,000");
	await press(strip, "Home");
	await press(strip, "Escape");
	equal("as Escape does", get("range").textContent, "all time, 0.00 s to 2.50 s, 1,000 samples");
	await choose("child 20");
	equal("the strip is of the chosen process", get("range").textContent.split(", ")[2], "40 samples");
	check("its bars too", stripPixel(0.2, 17)[3] === 0 && stripPixel(0.392, 17)[3] === 255, stripPixel(0.392, 17));
	await choose("All");
}
async function safety() {
	const blocked = [];
	document.addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
	equal("no name became an element", document.querySelectorAll("img, b:not(#facts b)").length, 0);
	const script = document.createElement("script");
	script.textContent = "window.broken = 3";
	document.body.append(script);
	await fetch("https://example.invalid/").catch(() => 0);
	await frame();
	equal("no foreign script ran", window.broken, undefined);
	check("the policy refuses scripts", blocked.includes("script-src-elem"), blocked);
	check("the policy refuses the network", blocked.includes("connect-src"), blocked);
}
async function many() {
	check("time is cut so that a page stays small", document.documentElement.outerHTML.length < 2e7,
		document.documentElement.outerHTML.length);
	equal("100,000 stacks are drawn", nameAt(0.001, 0) + " " + tip.querySelector("td").textContent, "all 100,000");
	check("with their frames", /^function_/.test(nameAt(0.001, 1)), nameAt(0.001, 1));
	await type("/function_1\\d*$/");
	check("and searched", /% matched$/.test(get("matched").textContent), get("matched").textContent);
	send("click", 0.001, 3);
	await frame();
	check("and zoomed", /^function_/.test(nameAt(0.99, 3)), nameAt(0.99, 3));
}
function pixelAt(name, row) {   // of the box with that name; the left edge, where no letters are
	for (let at = 0.002; at < 1; at += 0.01)
		if (nameAt(at, row) === name)
			return pixel(at, row);
	return null;
}
const strong = (rgb) => rgb && Math.max(...rgb) - Math.min(...rgb) > 40;
async function change() {
	equal("the title says what it is", document.title, "python3 app.py — Sidewinder difference");
	check("both recordings are told", /BASE.*1,000 samples.*NEW.*2,000 samples/s.test(get("facts").textContent),
		get("facts").textContent);
	check("there is nothing to choose threads of", getComputedStyle(get("scope")).display === "none" && !get("side").hidden,
		get("scope").hidden);
	equal("widths are those of NEW", nameAt(0.3, 2) + " " + nameAt(0.75, 2) + " " + nameAt(0.95, 2), "heavy light fresh");
	nameAt(0.3, 2);
	for (const part of ["NEW1,300 samples65.0%", "BASE300 samples30.0%", "change± 3.5+35.0"])
		check("the tooltip has " + part, tip.textContent.includes(part), tip.textContent);
	nameAt(0.75, 2);
	check("what chance explains is said to be so", tip.textContent.includes("within the error± 3.0+0.0"), tip.textContent);
	check("more is red", strong(pixelAt("heavy", 2)) && pixelAt("heavy", 2)[0] > pixelAt("heavy", 2)[2], pixelAt("heavy", 2));
	check("new is red", strong(pixelAt("fresh", 2)) && pixelAt("fresh", 2)[0] > pixelAt("fresh", 2)[2], pixelAt("fresh", 2));
	check("the same is neither", !strong(pixelAt("light", 2)), pixelAt("light", 2));
	view.focus();
	await press(view, "Home");
	for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"])
		await press(view, key);
	equal("the status line has both shares", get("status").textContent,
		"heavy (/srv/app.py:9) — NEW 65.0%, BASE 30.0%: +35.0 ± 3.5 of 100");
	get("side").querySelector("[data-value=base]").click();
	await frame();
	equal("widths of BASE show what is gone", nameAt(0.3, 2) + " " + nameAt(0.6, 2) + " " + nameAt(0.95, 2), "old heavy light");
	check("less is blue", strong(pixelAt("old", 2)) && pixelAt("old", 2)[2] > pixelAt("old", 2)[0], pixelAt("old", 2));
	nameAt(0.3, 2);
	check("a change is the same whatever is shown", tip.textContent.includes("NEW0 samples0.0%") &&
		tip.textContent.includes("−50.0"), tip.textContent);
	equal("the legend tells the colours", get("legend").textContent, "more in NEWless in NEWwithin the error of sampling");
	get("side").querySelector("[data-value=new]").click();
	await frame();
	equal("and back", nameAt(0.3, 2), "heavy");
}

await frame();
try {
	const parts = kind === "many" ? [many] : kind === "change" ? [change] : [head, frames, zoom, search, keys, switches, timeStrip, safety];
	for (const part of parts)
		await part();
} catch (error) {
	lines.push("not ok the checks came to their end: " + error.stack);
}
return lines;
}

// SPDX-License-Identifier: MIT
// Runs inside the page of a comparison (test_compare_report --compare); gives one line a check.
async () => {
"use strict";
const lines = [], get = (id) => document.getElementById(id);
const check = (what, condition, seen) => lines.push((condition ? "ok " : "not ok ") + what + (condition ? "" : ": " + seen));
const equal = (what, seen, expected) => check(what, seen === expected, JSON.stringify(seen));
const cells = (id) => [...get(id).querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent).join("|"));

equal("the command is named", get("command").textContent, "python3 app.py");
equal("what was compared is told", get("facts").textContent.slice(0, 37), "12 overflows of cpu-clock at 1,000 Hz");
equal("pairs come first", get("tiles").firstChild.textContent, "83.33 %paired".replace("83.33", "83.3"));
const counted = [...get("delays").querySelectorAll("rect title")].map((title) => Number(title.textContent.match(/: ([\d,]+) from/)[1]));
equal("every pair is in the histogram", counted.reduce((a, b) => a + b, 0), 10);
equal("each delivery has its line", cells("delay-table").map((row) => row.split("|").slice(0, 2).join(" ")).join(", "),
	"user mode, at once 8, after kernel mode 1, after a blocked mask 1, all 10");
equal("agreement is drawn for what was compared", get("agreement").querySelectorAll("text.value").length, 2 + 3 + 1 + 3);
equal("a name is text, whatever is in it", cells("disagreements")[0], "1|python|f (app.py:4)|</script><img src=x onerror=hacked=1> (app.py:9)");
equal("nothing in a name was run", typeof window.hacked, "undefined");
equal("no element came from a name", document.images.length, 0);
equal("why some are alone is told", cells("alone").length, 2);
equal("a sample's cost has a bar for each way", get("cost").querySelectorAll("rect").length, 3);
check("and its numbers", cells("cost-table")[2].startsWith("BPF path|1.113|1.012|1.214|13.20|32.0|"), cells("cost-table")[2]);
check("without a truth there is none", get("truth-section").hidden, "shown");
check("the page is not wider than the window", document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollWidth);
check("bars have a colour", getComputedStyle(get("cost").querySelector("rect.bpf")).fill !== "rgb(0, 0, 0)", "black");
return lines;
}

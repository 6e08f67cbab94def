# SPDX-License-Identifier: MIT
# levels.awk - repeats the lines between @EACH@ and @END@ for each of `levels` levels of a stack.
$0 == "@EACH@" { count = 0; inside = 1; next }
$0 == "@END@" {
	for (level = 1; level <= levels; level++)
		for (i = 1; i <= count; i++) {
			text = lines[i]
			gsub(/@LEVEL@/, level, text)
			print text
		}
	inside = 0
	next
}
{ gsub(/@LEVELS@/, levels) }
inside { lines[++count] = $0; next }
{ print }

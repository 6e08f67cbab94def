# SPDX-License-Identifier: MIT
# complete.bash PREFIX LINE WANTED - completes LINE in bash, as it would on Tab; WANTED: sorted, with blanks.
source "$1/share/bash-completion/completions/sidewinder"
line=$2 wanted=$3

# the words as readline breaks them
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
COMP_WORDS=() COMP_LINE=$line COMP_POINT=${#line}
rest=$line
while [[ $rest =~ ^([[:space:]]*)([=:]+|[^[:space:]=:]+)(.*)$ ]]; do
	COMP_WORDS+=("${BASH_REMATCH[2]}")
	rest=${BASH_REMATCH[3]}
done
if [[ $line == *[[:space:]] ]]; then COMP_WORDS+=(''); fi
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))

_sidewinder sidewinder "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
found=$(printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort -u | paste -sd ' ')
if [[ $found == "$wanted" ]]; then exit 0; fi
printf 'found:  %s\nwanted: %s\n' "$found" "$wanted"
exit 1

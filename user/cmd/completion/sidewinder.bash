# SPDX-License-Identifier: MIT
# Completion of sidewinder's command line in bash. Made by: sidewinder help --completion=bash
# It needs nothing but bash 4; with bash-completion also the command of `record` is completed.

# Sets words: the words before the cursor, put together where bash breaks them at = and :, and
# origins: the number of each in COMP_WORDS.
_sidewinder_split() {
	local i part glue=
	words=() origins=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		part=${COMP_WORDS[i]}
		if ((i > 0)) && [[ -n $glue || $part == [=:]* ]]; then
			words[${#words[@]} - 1]+=$part
		else
			words+=("$part")
			origins+=("$i")
		fi
		if [[ $part == *[=:] ]]; then glue=1; else glue=; fi
	done
}

# Adds those of the arguments after the first that begin with it.
_sidewinder_offer() {
	local begin=$1 word
	shift
	for word; do
		if [[ $word == "$begin"* ]]; then COMPREPLY+=("$word"); fi
	done
}

# Directories that are traces; where there is none, those that lead further.
_sidewinder_offer_traces() {
	local name names=()
	compopt -o filenames 2>/dev/null
	while IFS= read -r name; do
		names+=("$name")
		if [[ -e $name/metadata && -e $name/stream ]]; then COMPREPLY+=("$name"); fi
	done < <(compgen -d -- "$1")
	if ((${#COMPREPLY[@]} == 0)); then COMPREPLY=("${names[@]}"); fi
}

# What can stand for a value of the kind $1 that begins with $2; further arguments are the words.
_sidewinder_offer_value() {
	local kind=$1 begin=$2 name
	shift 2
	case $kind in
	words) _sidewinder_offer "$begin" "$@" ;;
	PID | EVENT | CONTAINER)
		local list=pids
		if [[ $kind == EVENT ]]; then list=events; fi
		if [[ $kind == CONTAINER ]]; then list=containers; fi
		while IFS=$'\t' read -r name _; do
			_sidewinder_offer "$begin" "$name"
		done < <("$program" help --list=$list 2>/dev/null)
		;;
	FILE | DIR)
		local action=-f
		if [[ $kind == DIR ]]; then action=-d; fi
		compopt -o filenames 2>/dev/null
		while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen $action -- "$begin")
		;;
	esac
}

# The words after the verb that are neither options nor their values: sets operands, and operand,
# the first one's number in words (0: there is none yet). pending: the option that wants a value.
_sidewinder_scan() {
	local verb=$1 i=$2 last=$((${#words[@]} - 1)) ended=
	operands=0 operand=0 pending='' after_dashes=''
	for ((; i < last; i++)); do
		if [[ -z $ended && ${words[i]} == -- ]]; then
			ended=1
		elif [[ -z $ended && ${words[i]} == -* ]]; then
			if [[ ${words[i]} != --*=* ]] && _sidewinder_values "$verb" "${words[i]}" &&
				((${#kind[@]})); then
				if ((i + 1 == last)); then pending=${words[i]}; fi
				((i++))
			fi
		else
			((operands++))
			if ((!operand)); then operand=$i; fi
			if [[ $(_sidewinder_operands "$verb") == COMMAND ]]; then break; fi
		fi
	done
	after_dashes=$ended
}

_sidewinder_operand() {
	local verb=$1 current=$2 name action=-f
	case $(_sidewinder_operands "$verb") in
	COMMAND)
		if ((operand)) && declare -F _command_offset >/dev/null; then
			_command_offset "${origins[operand]}"
			return
		fi
		if ((!operand)); then action=-c; else compopt -o filenames 2>/dev/null; fi
		while IFS= read -r name; do
			COMPREPLY+=("$name")
		done < <(compgen $action -- "$current")
		;;
	TRACE) if ((!operands)); then _sidewinder_offer_traces "$current"; fi ;;
	TRACES) if ((operands < 2)); then _sidewinder_offer_traces "$current"; fi ;;
	PIDS) _sidewinder_offer_value PID "$current" ;;
	VERB)
		# shellcheck disable=SC2046 # a word each
		if ((!operands)); then _sidewinder_offer "$current" $(_sidewinder_verbs); fi
		;;
	esac
}

# Bash replaces only what follows the last of its word breaks.
_sidewinder_unbreak() {
	local current=$1 breaks='' done_part i
	if [[ $COMP_WORDBREAKS == *=* ]]; then breaks+='='; fi
	if [[ $COMP_WORDBREAKS == *:* ]]; then breaks+=':'; fi
	if [[ -z $breaks || $current != *[$breaks]* ]]; then return; fi
	# shellcheck disable=SC2295 # a class of characters
	done_part=${current%"${current##*[$breaks]}"}
	for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$done_part"}; done
}

_sidewinder() {
	local program=$1 words origins kind=() verb='' at current option value i
	local operands operand pending after_dashes
	COMPREPLY=()
	_sidewinder_split
	current=${words[${#words[@]} - 1]}
	for ((at = 1; at < ${#words[@]} - 1; at++)); do
		if [[ ${words[at]} != -* ]]; then
			verb=${words[at]}
			break
		fi
	done
	if [[ -z $verb ]]; then
		# shellcheck disable=SC2046 # a word each
		_sidewinder_offer "$current" $(_sidewinder_verbs) $(_sidewinder_options '')
		return
	fi
	_sidewinder_scan "$verb" $((at + 1))
	if [[ $verb == record ]] && ((operand)); then
		_sidewinder_operand "$verb" "$current"
	elif [[ -n $pending ]]; then
		_sidewinder_values "$verb" "$pending"
		_sidewinder_offer_value "${kind[0]}" "$current" "${kind[@]:1}"
		_sidewinder_unbreak "$current"
	elif [[ -z $after_dashes && $current == --*=* ]]; then
		option=${current%%=*} value=${current#*=}
		if _sidewinder_values "$verb" "$option" && ((${#kind[@]})); then
			_sidewinder_offer_value "${kind[0]}" "$value" "${kind[@]:1}"
			for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=$option=${COMPREPLY[i]}; done
			_sidewinder_unbreak "$current"
		fi
	elif [[ -z $after_dashes && $current == -* ]]; then
		# shellcheck disable=SC2046 # a word each
		_sidewinder_offer "$current" $(_sidewinder_options "$verb")
	else
		_sidewinder_operand "$verb" "$current"
	fi
}
complete -F _sidewinder sidewinder


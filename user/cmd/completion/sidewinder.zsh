#compdef sidewinder
# SPDX-License-Identifier: MIT
# Completion of sidewinder's command line in zsh. Made by: sidewinder help --completion=zsh

# Offers the lines of `sidewinder help --list=$1`: a value, a tab, and what it is.
_sidewinder_list() {
	local -a lines
	lines=(${(f)"$(_call_program $1 $program help --list=$1)"})
	lines=("${(@)lines//\\/\\\\}")
	lines=("${(@)lines//:/\\:}")
	lines=("${(@)lines//$'\t'/:}")
	_describe -t $1 $1 lines
}

# Directories that are traces; where there is none, those that lead further.
_sidewinder_traces() {
	_files -g '*(-/e:"[[ -e \$REPLY/metadata && -e \$REPLY/stream ]]":)'
}

_sidewinder_main() {
	local curcontext=$curcontext program=$words[1] state state_descr line
	local -a specifications
	local -A opt_args
	_sidewinder_program # which sets specifications
	# here and not in a function of its own, at whose end $words would be whole again
	_arguments -C $specifications '1:verb:->verb' '*::argument:->rest' && return
	case $state in
	verb) _sidewinder_verbs ;;
	rest)
		curcontext=${curcontext%:*:*}:sidewinder-$words[1]:
		if (( $+functions[_sidewinder_verb_$words[1]] )); then
			_sidewinder_verb_$words[1]
		fi
		;;
	esac
}


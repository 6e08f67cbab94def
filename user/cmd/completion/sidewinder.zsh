#compdef sidewinder
# SPDX-License-Identifier: MIT
# Completion of sidewinder's command line in zsh. Made by: sidewinder help --completion=zsh

# Offers the lines of `sidewinder help --list=LIST`: a value, a tab, and what it is. LIST is the last
# argument; those before it are for compadd.
_sidewinder_list() {
	local list=$@[-1]
	local -a lines
	lines=(${(f)"$(_call_program $list $program help --list=$list)"})
	lines=("${(@)lines//\\/\\\\}")
	lines=("${(@)lines//:/\\:}")
	lines=("${(@)lines//$'\t'/:}")
	_describe -t $list $list lines "${@[1,-2]}"
}

_sidewinder_is_trace() {
	[[ -e $REPLY/metadata && -e $REPLY/stream ]]
}

# Directories that are traces; where there is none, those that lead further.
_sidewinder_traces() {
	_path_files "$@" -g '*(-/+_sidewinder_is_trace)' || _path_files "$@" -/
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


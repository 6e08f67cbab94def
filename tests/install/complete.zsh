# SPDX-License-Identifier: MIT
# complete.zsh PREFIX LINE WANTED - completes LINE in a zsh on a terminal of its own; WANTED: sorted, with blanks.
zmodload zsh/zpty
work=$(mktemp -d)

# every match that is added goes to a file; the key that completes says when it is done
cat >$work/setup <<END
fpath=(${(q)1}/share/zsh/site-functions \$fpath)
autoload -Uz compinit
compinit -u -D
compadd() {
	local -a hits
	if [[ \${@[1,(i)(-|--)]} != *-[OAD]\ * ]]; then
		builtin compadd -A hits "\$@"
		(( \$#hits )) && print -l -- \$hits >>$work/found
	fi
	builtin compadd "\$@"
}
probe() {
	_main_complete
	: >$work/done
}
zle -C probe complete-word probe
bindkey '^I' probe
: >$work/ready
END

zpty -b shell zsh -f -i
zpty -w shell "source $work/setup"
# a terminal that nobody reads from stops the shell
expect() {
	local words
	repeat 1200; do
		while zpty -rt shell words; do :; done
		[[ -e $work/$1 ]] && return
		sleep 0.05
	done
	print "nothing within a minute: $1"
	rm -rf $work
	exit 1
}
expect ready
zpty -w -n shell "$2"$'\t'
expect done
zpty -d shell
: >>$work/found
found=$(LC_ALL=C sort -u $work/found | paste -sd ' ')
rm -rf $work
if [[ $found == "$3" ]]; then exit 0; fi
print -l -- "found:  $found" "wanted: $3"
exit 1

# SPDX-License-Identifier: MIT
# Completion of sidewinder's command line in fish. Made by: sidewinder help --completion=fish

function __sidewinder_list -d 'What sidewinder offers for a value'
    set -l words (commandline -opc)
    command $words[1] help --list=$argv[1] 2>/dev/null
end

function __sidewinder_traces -d 'Directories that are traces, or those that lead further'
    set -l names (__fish_complete_directories (commandline -ct) '')
    set -l traces
    for name in $names
        set -l path (string split -f1 \t -- $name)
        test -e $path/metadata -a -e $path/stream; and set -a traces $path\tTrace
    end
    test -n "$traces"; and set names $traces
    printf '%s\n' $names
end

complete -c sidewinder -f


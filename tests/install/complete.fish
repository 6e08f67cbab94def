# SPDX-License-Identifier: MIT
# complete.fish PREFIX LINE WANTED - completes LINE in fish, as it would on Tab; WANTED: sorted, with blanks.
source $argv[1]/share/fish/vendor_completions.d/sidewinder.fish
# an option's value may come with the option before it, a folder with a slash
set -l found (complete -C $argv[2] | string replace -r '\t.*' '' | string replace -r '^--[a-z]+=' '' |
    string trim -r -c / | env LC_ALL=C sort -u)
test "$found" = "$argv[3]"; and exit 0
printf 'found:  %s\nwanted: %s\n' "$found" "$argv[3]"
exit 1

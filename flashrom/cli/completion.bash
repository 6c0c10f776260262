# SPDX-License-Identifier: GPL-2.0-or-later
# Completion for bash. It gets programmers, chips and options from the program itself.

_flashrom()
{
	local program=$1 word=$2 before=$3 IFS=$'\n'

	case $before in
	-p | --programmer)
		mapfile -t COMPREPLY < <(compgen -W "$("$program" --list-supported |
			sed -n 's/^-p \([a-z_]*\):.*/\1/p')" -- "$word")
		compopt -o nospace
		;;
	-c | --chip)
		mapfile -t COMPREPLY < <(compgen -W "$("$program" --list-supported |
			sed -n 's/^.\{19\}\(.*[^ ]\)  *[0-9][0-9]* kB .*/\1/p')" -- "$word")
		compopt -o filenames # quotes the blanks of a name
		;;
	*)
		if [[ $word == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$("$program" --help |
				grep -oE -- '--[a-z-]+')" -- "$word")
		fi
		;;
	esac
}

complete -o default -F _flashrom flashrom

"""Writes a command's completion for bash. It needs nothing but bash 4: the package bash-completion only has to find
it."""

import textwrap

TEMPLATE = """# Completion of {name} for bash, made from its own help.

{function}() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD - 1]}}
    local prefix="" command="" words="" files="" i
    # bash takes --option=value apart at the equals sign, unless that is switched off.
    if [[ $current == "=" ]]; then
        current=""
    elif [[ $option == "=" ]]; then
        option=${{COMP_WORDS[COMP_CWORD - 2]}}
    elif [[ $current == --*=* ]]; then
        option=${{current%%=*}}
        prefix=$option=
        current=${{current#*=}}
    fi
{find_command}    case $command:$option in
{values}        *)
            # No value is wanted here.
            case $command in
{words}            esac
            [[ $current != -* || $prefix ]] || files=""
            ;;
    esac
    mapfile -t COMPREPLY < <(
        compgen -W "$words" -- "$current"
        case $files in
            "") ;;
            "*") compgen -f -- "$current" ;;
            */) compgen -d -- "$current" ;;
            *) compgen -f -X "!$files" -- "$current"; compgen -d -- "$current" ;;
        esac
    )
    # Quotes names of files, and adds / to those of directories.
    [[ -z $files ]] || compopt -o filenames 2>/dev/null
    ((${{#COMPREPLY[@]}} == 0)) || COMPREPLY=("${{COMPREPLY[@]/#/$prefix}}")
}}
complete -F {function} {name}
"""

FIND_COMMAND = """    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${{COMP_WORDS[i]}} in
            {names})
                command=${{COMP_WORDS[i]}}
                break
                ;;
        esac
    done
"""


def bash_completion(command):
    parts = [("", command)] + [(inner.word, inner) for inner in command.commands]
    find_command = ""
    if command.commands:
        find_command = FIND_COMMAND.format(names=" | ".join(inner.word for inner in command.commands))
    # Equal ones together: nearly all options are those of two commands.
    cases = {}
    for word, part in parts:
        for option in part.options:
            if option.syntax is not None:
                for name in option.names:
                    cases.setdefault(_value_case(option), []).append(f"{word}:{name}")
    values = "".join(f"{_pattern(names)})\n{case}            ;;\n" for case, names in cases.items())
    words = "".join(_words_case(word, part) for word, part in parts)
    return TEMPLATE.format(name=command.name, function=f"_{command.name.replace('-', '_')}_completion",
                           find_command=find_command,
                           values=values, words=words)


def _pattern(names):
    return textwrap.fill(" | ".join(names), 100, initial_indent=" " * 8, subsequent_indent=" " * 12,
                         break_on_hyphens=False).replace(
        "\n", " \\\n")


def _assignments(words, files):
    return [f'words="{" ".join(words)}"'] * bool(words) + [f"files='{files}'"] * bool(files)


def _files(option):
    """A pattern of file names; */ are directories."""
    if option.takes_files:
        return f"*{option.file_ending}"
    return "*/" if option.takes_directories else ""


def _value_case(option):
    lines = _assignments(option.values, _files(option))
    if option.takes_a_list and option.values:
        lines += ['[[ $current != *,* ]] || prefix+=${current%,*},', "current=${current##*,}"]
    return "".join(f"            {line}\n" for line in lines)


def _words_case(word, part):
    words = [inner.word for inner in part.commands]
    files = ""
    for argument in part.arguments:
        words += argument.values
        files = files or _files(argument)
    words += [name for option in part.options for name in option.names]
    lines = "".join(f"                    {line}\n" for line in _assignments(words, files))
    return f"                {word or chr(34) * 2})\n{lines}                    ;;\n"

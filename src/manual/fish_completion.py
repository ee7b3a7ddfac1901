"""Writes a command's completion for fish."""


def fish_completion(command):
    lines = [f"# Completion of {command.name} for fish, made from its own help.", f"complete -c {command.name} -f"]
    first = "__fish_use_subcommand" if command.commands else ""
    for inner in command.commands:
        lines.append(f"complete -c {command.name} -n {first} -a {inner.word} -d {_quoted(inner.summary)}")
    lines += _part(command.name, command, first)
    for inner in command.commands:
        lines += _part(command.name, inner, f"__fish_seen_subcommand_from {inner.word}")
    return "\n".join(lines) + "\n"


def _part(name, part, condition):
    start = f"complete -c {name}" + (f" -n {_quoted(condition)}" if condition else "")
    lines = []
    for argument in part.arguments:
        lines.append(f"{start}{_values(argument)} -d {_quoted(argument.help)}")
    for option in part.options:
        line = start
        for spelling in option.names:
            line += f" -l {spelling[2:]}" if spelling.startswith("--") else f" -s {spelling[1:]}"
        if option.syntax is not None:
            # Also where a value may be left out: fish would otherwise offer it only after an equals sign.
            line += " -r" + _values(option)
        lines.append(f"{line} -d {_quoted(option.help)}")
    return lines


def _values(option):
    words = list(option.values)
    if option.takes_directories:
        words.append("(__fish_complete_directories)")
    elif option.takes_files and option.file_ending:
        # By itself the function lists all files, those with the ending first.
        words.append(f'(__fish_complete_suffix {option.file_ending} | string match -r ".*(?:[{option.file_ending[0]}]'
                     f'{option.file_ending[1:]}|/)\\$")')
    files = " -F" if option.takes_files and not option.file_ending else " -f"
    return files + (f" -a {_quoted(' '.join(words))}" if words else "")


def _quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

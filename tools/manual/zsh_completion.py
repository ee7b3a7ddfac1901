"""Writes a command's completion for zsh, in the language of its function _arguments."""

FUNCTION = """#compdef {name}
# Completion of {name} for zsh, made from its own help.

{function}() {{
    local curcontext=$curcontext state line
    typeset -A opt_args
{body}}}

{helpers}{function} "$@"
"""

WITH_COMMANDS = """    local -a commands=(
{commands}    )
    _arguments -C -A '-*'{options} \\
        '1:command:->command' '*::argument:->argument'
    case $state in
        command) _describe -t commands command commands ;;
        argument)
            curcontext="${{curcontext%:*:*}}:{name}-$line[1]:"
            case $line[1] in
{parts}            esac
            ;;
    esac
"""


def zsh_completion(command):
    function = "_" + command.name
    helpers = {}
    if not command.commands:
        body = f"    _arguments{_specifications(command, helpers, function, 8)}\n"
    else:
        commands = "".join(f"        {_quoted(_escaped(inner.word) + ':' + inner.summary)}\n"
                           for inner in command.commands)
        parts = "".join(f"                {inner.word})\n                    _arguments"
                        f"{_specifications(inner, helpers, function, 24)}\n                    ;;\n"
                        for inner in command.commands)
        body = WITH_COMMANDS.format(commands=commands, options=_specifications(command, helpers, function, 8),
                                    name=command.name, parts=parts)
    texts = "".join(f"{name}() {{\n{text}}}\n\n" for name, text in helpers.items())
    return FUNCTION.format(name=command.name, function=function, body=body, helpers=texts)


def _specifications(part, helpers, function, indentation):
    specifications = []
    for option in part.options:
        value = "" if option.syntax is None else _value(option, helpers, function)
        for name in option.names:
            others = "" if option.repeatable else f"({' '.join(option.names)})"
            equals = "=" if value and name.startswith("--") and not option.value_is_optional else ""
            specifications.append(_quoted(f"{others}{'*' if option.repeatable else ''}{name}{equals}"
                                          f"[{_escaped(option.help)}]{value}"))
    for argument in part.arguments:
        specifications.append(
            _quoted(f"{'*' if argument.syntax.endswith('...') else ''}{_value(argument, helpers, function)}"))
    separator = " \\\n" + " " * indentation
    return separator + separator.join(specifications) if specifications else ""


def _value(option, helpers, function):
    """":message:action". One that may be left out is offered all the same."""
    return f":{_escaped(option.syntax.replace('[', '').replace(']', ''))}:{_action(option, helpers, function)}"


def _action(option, helpers, function):
    files = ""
    if option.takes_files:
        files = f"_files -g '*{option.file_ending}'" if option.file_ending else "_files"
    elif option.takes_directories:
        files = "_files -/"
    words = " ".join(option.values)
    if option.takes_a_list and words:
        helper, text = f"{function}_{option.names[-1].strip('-')}", f"    _values -s , word {words}\n"
    elif files and words:
        helper = f"{function}_{option.names[-1].strip('-') if option.names else 'argument'}"
        text = f"    compadd {words}\n    {files}\n"
    elif files:
        helper, text = (f"{function}_{files.split('*')[-1].strip(chr(39)) if '*' in files else files.split()[-1]}",
                        f"    {files}\n")
        helper = helper.replace("-/", "directories").replace(".", "")
    else:
        return f"({words})" if words else " "
    helpers[helper] = text
    return helper


def _escaped(text):
    for character in "\\[]:":
        text = text.replace(character, "\\" + character)
    return text


def _quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"

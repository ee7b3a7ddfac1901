"""Writes a command's manual page, in the language of man(7)."""

import re
import textwrap

# Lines of the input, not of the page: formatters fill them anew.
WIDTH = 78


def manual_page(command, version, date, others):
    """`others`: names of the pages to be named at the end, "weir-run"."""
    lines = [f'.TH {_escaped(command.page.upper())} 1 "{date or ""}" "weir {_escaped(version)}" "User Commands"',
             ".SH NAME", f"{_escaped(command.page)} \\- {_prose(command.summary)}", ".SH SYNOPSIS"]
    for number, usage in enumerate(command.usage):
        lines += ([".br"] if number else []) + [_syntax(usage)]
    lines += [".SH DESCRIPTION"] + _text(command.description or command.summary + ".")
    if command.remarks:
        lines += [".PP"] + _text(command.remarks)
    if command.examples:
        lines += [".SH EXAMPLES"] + _text(command.examples)
    lines += _commands(command)
    lines += _arguments_and_options(command, ".SH", ".SS")
    if not command.has_pages_of_its_own:
        for inner in command.commands:
            lines += [f".SH {_quoted(inner.name.upper())}", _syntax(" ".join(inner.usage))]
            if inner.description:
                lines += [".PP"] + _text(inner.description)
            lines += _arguments_and_options(inner, ".SS", ".SS")
    if command.exit_status:
        lines += [".SH EXIT STATUS"] + _text(_sentence(command.exit_status))
    lines += [".SH SEE ALSO", ",\n".join(f".BR {_escaped(page)} (1)" for page in others).replace(",\n", " ,\n")]
    return "\n".join(line for line in lines if line) + "\n"


def _commands(command):
    lines = [".SH COMMANDS"] if command.commands else []
    for inner in command.commands:
        lines += [".TP", f"\\fB{_escaped(inner.name)}\\fR"] + _text(inner.summary + ".")
        if command.has_pages_of_its_own:
            lines += [f"See \\fB{_escaped(inner.page)}\\fR(1)."]
    return lines


def _arguments_and_options(command, section, part):
    lines = []
    if command.arguments:
        lines += [f"{section} ARGUMENTS"]
        for argument in command.arguments:
            lines += [".TP", f"\\fI{_escaped(argument.syntax)}\\fR"] + _text(argument.help)
    if command.groups:
        lines += [f"{section} OPTIONS"]
    for group in command.groups:
        if len(command.groups) > 1 and section != part:
            lines += [f"{part} {_quoted(group.title[:1].upper() + group.title[1:])}"]
        for option in group.options:
            lines += [".TP", _option(option)] + _text(_help(option))
        if group.note.strip():
            lines += [".PP"] + _text(group.note)
    return lines


def _option(option):
    names = ", ".join(f"\\fB{_escaped(name)}\\fR" for name in option.names)
    if option.syntax is None:
        return names
    return f"{names} [{_syntax(option.syntax)}]" if option.value_is_optional else f"{names} {_syntax(option.syntax)}"


def _help(option):
    text = option.help
    if option.default:
        text += f" (default: {option.default})"
    return text


def _sentence(text):
    return text[:1].upper() + text[1:]


def _syntax(text):
    """Words in capitals stand for something else, in italics; the others are typed as they are."""
    styled = [re.sub(r"[A-Za-z0-9_<>.-]*[A-Za-z0-9_<>]", lambda word: ("\\fI" if word[0][0].isupper() else "\\fB")
                     + _escaped(word[0]) + "\\fR", part) for part in text.split()]
    return _protected(" ".join(styled))


def _text(text):
    """Paragraphs are filled; lines that begin with spaces are shown as they are."""
    lines = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        # Lines of both kinds may stand together: "Or:", and then an example.
        for shown, kept in _runs(paragraph.splitlines()):
            if lines:
                lines.append(".PP")
            if shown:
                lines += [".RS 2", ".EX"] + [_protected(_escaped(line))
                                             for line in textwrap.dedent("\n".join(kept)).splitlines()]
                lines += [".EE", ".RE"]
            else:
                filled = _escaped(" ".join(" ".join(kept).split()))
                lines += [_protected(line)
                          for line in textwrap.wrap(filled, WIDTH, break_long_words=False, break_on_hyphens=False)]
    return lines


def _runs(lines):
    """Neighbouring lines of one kind: (whether they begin with spaces, lines)."""
    runs = []
    for line in lines:
        shown = line.startswith("  ")
        if not runs or runs[-1][0] != shown:
            runs.append((shown, []))
        runs[-1][1].append(line)
    return runs


def _escaped(text):
    # A minus that can be copied and searched for, and quotes that stay as they are.
    for plain, escaped in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(plain, escaped)
    return text


def _prose(text):
    """For the line that must be one: hyphens between letters are no minus."""
    return re.sub(r"(?<=[A-Za-z])\\-(?=[A-Za-z])", "-", _escaped(text))


def _quoted(text):
    return '"' + _escaped(text).replace('"', "\\(dq") + '"'


def _protected(line):
    """A line that begins with a dot or a quote would be a request."""
    return "\\&" + line if line.startswith((".", "'")) else line

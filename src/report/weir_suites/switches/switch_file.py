"""The switch file that weir-sweep switch-import prints."""

import json

from weir_runs.basics import units
from weir_runs.basics.terminal_text import shown
from weir_runs.version import VERSION

MOST_CLASSES = 8
MOST_LINES = 40


def text(configuration, port, translation, dscp):
    rate = f", {units.text(port.rate.value, 'b/s')}" if port.rate else ""
    lines = [f"Made by weir-sweep {VERSION} from {units.listed(configuration.files, most=6)} ({configuration.family}).",
             f"Port: {port.title}{rate}; data has DSCP {dscp}.",
             *_other_ports(configuration, port)]
    title = f"{configuration.model or configuration.family}, {port.names[0]}"
    made = [*map(_comment, lines), 'base = "shallow"', f"title = {json.dumps(_plain(title))}"]
    for section, keys in translation.keys.items():
        made += ["", f"[{section}]"]
        made += [f"{name} = {_value(value)}  {_comment(comment)}" for name, value, comment in keys]
    made.append("")
    if translation.left_out:
        made.append(_comment("Keys that are left out have the value of the base; set them where you know better:"))
    made += [_comment(f"not in the configuration: {place}: {why}") for place, why in translation.left_out]
    for title, of in (("remark", configuration.remarks), ("odd", configuration.odd),
                      ("not known", translation.not_known),
                      ("not modelled", [*translation.not_modelled, *configuration.not_modelled]),
                      ("not understood", configuration.not_understood)):
        made += [_comment(f"{title}: {line}") for line in of[:MOST_LINES]]
        if len(of) > MOST_LINES:
            made.append(_comment(f"{title}: {len(of) - MOST_LINES} more"))
    return "\n".join(made) + "\n"


def _other_ports(configuration, port):
    others = [each for each in configuration.ports if each is not port]
    if others:
        yield (f"Other ports differ (--port NAME takes them): "
               f"{units.listed([each.title for each in others], most=MOST_CLASSES, between='; ')}.")


def _plain(content):
    """One line, and nothing in it that a terminal obeys: names in a configuration are anybody's."""
    return shown(" ".join(str(content).split()))


def _comment(content):
    return f"# {_plain(content)}"


def _value(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.12g}"
    return json.dumps(value)

"""plotly.js with what pages draw, and without the rest: a third of its size, which is most of a page's.

Debian's plotly.js is a bundle of some thousand modules (of browserify), each with its number, its code and the numbers of the modules that
it needs. Kept are those that lines (which are in the core), bars and heat maps need. A bundle of another form stays as it is.
"""

import json
import re

TRACES = ("./bar", "./heatmap")
_FIRST = "})()({"  # what loads modules ends; the modules begin
_MODULE = re.compile(r"^(?:\},(\{[^{}\n]*\})\],)?(\d+):\[function\(_dereq_,module,exports\)\{$", re.MULTILINE)
_END = re.compile(r"^\},(\{[^{}\n]*\})\]\},\{\},\[(\d+)\]\)\(\d+\)\n\}\);\s*\Z", re.MULTILINE)
_ENTRY = re.compile(r"\s*'use strict';\s*var Plotly = _dereq_\('\./core'\);\s*Plotly\.register\(\[.*\]\);\s*module\.exports = Plotly;\s*", re.DOTALL)
_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)
_COMMENT = re.compile(r"^//(?!.*\*/).*\n", re.MULTILINE)
_NEW_ENTRY = "\nvar Plotly = _dereq_('./core');\nPlotly.register([{}]);\nmodule.exports = Plotly;\n"


def without_unused(bundle):
    """The bundle with the modules of TRACES and what they need; `bundle` itself if it is of another form."""
    begin = bundle.find(_FIRST) + len(_FIRST)
    modules = _modules(bundle, begin)
    if modules is None:
        return bundle
    modules, entry = modules
    code, needs = modules[entry]
    if not _ENTRY.fullmatch(code) or not {"./core", *TRACES} <= needs.keys():
        return bundle
    needs = {name: needs[name] for name in ("./core", *TRACES)}
    modules[entry] = _NEW_ENTRY.format(", ".join(f"_dereq_('{name}')" for name in TRACES)), needs
    kept = _needed(modules, entry)
    parts = [f"{number}:[function(_dereq_,module,exports){{{_without_indentation(modules[number][0])}}},{json.dumps(modules[number][1])}]"
             for number in kept]
    return f"{bundle[:begin]}{','.join(parts)}}},{{}},[{entry}])({entry})\n}});\n"


def _modules(bundle, begin):
    """({number: (code, {name: number of a module})}, number of the one that starts), or None."""
    end = _END.search(bundle, max(begin, len(bundle) - 10_000))
    # The first one stands on the line of the loader.
    first = re.compile(r"(\d+):\[function\(_dereq_,module,exports\)\{\n").match(bundle, begin)
    if not end or not first:
        return None
    starts = [(int(first[1]), None, first.start(), first.end())]
    starts += [(int(found[2]), found[1], found.start(), found.end()) for found in _MODULE.finditer(bundle, first.end()) if found[1]]
    needs = [needs for _, needs, _, _ in starts[1:]] + [end[1]]
    ends = [place for _, _, place, _ in starts[1:]] + [end.start()]
    try:
        modules = {number: (bundle[place:stop], json.loads(of_this)) for (number, _, _, place), of_this, stop in zip(starts, needs, ends)}
    except ValueError:
        return None
    return (modules, int(end[2])) if int(end[2]) in modules else None


def _without_indentation(code):
    """Nor lines that are comments. Code with texts of several lines stays as it is, because indentation is part of these; they begin on
    a line that is no comment."""
    shorter = _COMMENT.sub("", _INDENTATION.sub("", code))
    return code if "`" in shorter or "\\\n" in shorter else shorter


def _needed(modules, entry):
    """The numbers of the modules that `entry` needs, ascending."""
    kept, left = set(), [entry]
    while left:
        number = left.pop()
        if number not in kept:
            kept.add(number)
            left += [one for one in modules[number][1].values() if one in modules]
    return sorted(kept)

"""plotly.js on pages: what is left out of a bundle, and that bundles of other forms stay whole. That charts are drawn: test_in_browser.py."""

import pytest

from weir_report import page_parts, plotly_bundle

LOADER = "(function(){return (function(){function r(e,n,t){}return r})()({"
ENTRY = """
'use strict';

var Plotly = _dereq_('./core');

Plotly.register([
    _dereq_('./bar'),
    _dereq_('./box'),
    _dereq_('./heatmap')
]);

module.exports = Plotly;
"""
MODULES = {1: ("\n  // of bars\n  module.exports = 'bar // ';\n", {"../lib": 6}), 2: ("\nmodule.exports = 'box';\n", {"./large": 7}),
           3: ("\nmodule.exports = 'core';\n", {}), 4: ("\nmodule.exports = 'a\\\n    b';\n", {"./core": 3}),
           5: (ENTRY, {"./core": 3, "./bar": 1, "./box": 2, "./heatmap": 4}), 6: ("\n// no comment */\nmodule.exports = 1;\n", {}),
           7: ("\nmodule.exports = 'large';\n", {})}


def bundle_of(modules, entry=5):
    def needs(of):
        return "{" + ",".join(f'"{name}":{number}' for name, number in of.items()) + "}"
    parts = [f"{number}:[function(_dereq_,module,exports){{{code}\n}},{needs(of)}]" for number, (code, of) in modules.items()]
    return f"{LOADER}{','.join(parts)}}},{{}},[{entry}])({entry})\n}});\n"


def test_only_what_charts_need_is_kept():
    kept = plotly_bundle.without_unused(bundle_of(MODULES))
    for words in ("'bar // '", "'core'", "'a\\\n    b'", "no comment */", "_dereq_('./heatmap')", "},{},[5])(5)"):
        assert words in kept, words
    for words in ("'box'", "'large'", "of bars", "  module"):
        assert words not in kept, words
    assert kept.startswith(LOADER)


@pytest.mark.parametrize("bundle", ["", "!function(t){}(window)", bundle_of(MODULES).replace("[5])(5)", "[9])(9)"),
                                    bundle_of({**MODULES, 5: ("\nmodule.exports = 1;\n", MODULES[5][1])}),
                                    bundle_of({**MODULES, 5: (ENTRY, {"./core": 3})}), bundle_of(MODULES).replace("},{}", "},{x")])
def test_a_bundle_of_another_form_stays_whole(bundle):
    assert plotly_bundle.without_unused(bundle) == bundle


def test_what_is_installed_is_small_when_packed():
    packed = page_parts.packed_plotly()
    if packed is None:
        pytest.skip("plotly is not installed")
    from plotly.offline import get_plotlyjs
    # Bundles without whitespace, as from PyPI, are of another form, and small.
    assert len(packed) < (750_000 if "_dereq_" in get_plotlyjs()[:2000] else 1_700_000)

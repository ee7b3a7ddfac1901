"""The answer that everything else is evidence for: what came out, why, what to do, and how sure that is. It stands
first on terminals, pages and in JSON, as src/judge/answer.hpp has it of a run."""

import dataclasses
import textwrap

from .terminal_text import BOLD, GREEN, RESET
from .units import listed

CERTAIN, LIKELY, CANNOT_TELL = "certain", "likely", "cannot tell"
WIDTH = 110
SUBJECT_WIDTH = 21  # as at the end of a run


@dataclasses.dataclass(frozen=True)
class ShortAnswer:
    """`word` begins the verdict: "Use pfc"; `sentence` is the rest of it, of some twenty words. `because`, `do`: one
    sentence each. `certainty`: of the verdict, one of those above, on `basis`: "3 rounds". Empty: nothing to say."""

    word: str
    sentence: str
    because: str = ""
    do: str = ""
    certainty: str = ""
    basis: str = ""
    good: bool = False  # there is something to use

    @property
    def how_sure(self):
        """certain, 3 rounds"""
        return ", ".join(filter(None, (self.certainty, self.basis)))

    @property
    def verdict(self):
        return f"{self.word}: {self.sentence}"

    def record(self):
        """The fields of JSON."""
        return {"verdict": self.verdict, "because": self.because or None, "do": self.do or None,
                "certainty": self.certainty or None}

    def lines(self, colour=False):
        """For a terminal."""
        sure = f" ({self.how_sure})" if self.certainty else ""
        made = paragraph(self.word, [self.sentence + sure])
        if colour:
            made[0] = made[0].replace(self.word, f"{GREEN if self.good else BOLD}{self.word}{RESET}", 1)
        return made + paragraph("Why", [self.because]) + paragraph("Do", [self.do])


def either(names):
    """pfc or ecn; a, b or c"""
    return " or ".join(listed(names).rsplit(" and ", 1))


def paragraph(subject, sentences):
    """Sentences beside their subject, each on lines of its own; nothing without sentences."""
    made = []
    for number, sentence in enumerate(filter(None, sentences)):
        first = f"{subject if number == 0 else '':<{SUBJECT_WIDTH - 1}} "
        made += textwrap.wrap(sentence, WIDTH, initial_indent=first, break_on_hyphens=False, break_long_words=False,
                              subsequent_indent=" " * SUBJECT_WIDTH)
    return made

"""What is varied: numbers from one end to another, numbers of a list, or choices. A candidate is one value of each
axis: a number in the axis's base unit (bytes, b/s, ns, or none), or the text of a choice. The search sees places from 0
to 1; of choices, their position."""

from __future__ import annotations

import dataclasses
import math

from weir_runs.basics import quantities
from weir_runs.basics.quantities import rate_text, size_text, time_text

_TEXTS = {"B": size_text, "b/s": rate_text, "ns": time_text}
# A linear axis has so many values at least; of a logarithmic one values have two significant digits.
STEPS_LEAST = 20
# A present value beyond the ends of its axis is taken to be at most so far outside.
OUTSIDE = 0.25
# Neighbours of a value: of numbers one below and one above, of choices so many others.
CHOICES_MAX = 3
# Keys of the switch by the names that switches and papers have for them.
KNOWN_AS = {"ecn.none-below": "Kmin", "ecn.all-above": "Kmax", "ecn.probability": "Pmax",
            "switch.ingress-alpha": "alpha at ingress", "switch.egress-alpha": "alpha at egress"}


@dataclasses.dataclass(frozen=True)
class Axis:
    """`unit`: of numbers, "B", "b/s", "ns" or ""; None: choices. `values`: all that are possible, of a list, numbers in
    rising order; empty: any from `low` to `high`. `texts`: as the file has them, of `values`."""

    name: str
    unit: str | None
    values: tuple = ()
    texts: tuple = ()
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    whole: bool = False

    @property
    def is_choice(self):
        return self.unit is None

    @property
    def known_as(self):
        """ (Kmin), or nothing"""
        return f" ({KNOWN_AS[self.name]})" if self.name in KNOWN_AS else ""

    @property
    def draws_log(self):
        """Whether its values are more even on a logarithmic scale: of a list, by its distances."""
        if self.is_choice or not self.values:
            return self.log
        if self.values[0] < 0.0:
            return False
        logarithms = [math.log(max(value, self.least_drawn)) for value in self.values]
        return _evenness(logarithms) < _evenness(self.values)

    @property
    def least_drawn(self):
        """Where 0 is drawn on a logarithmic scale, which has no place for it."""
        return next((value for value in self.values if value > 0.0), self.low) / 2.0

    @property
    def count(self):
        """Of different values; infinite where it is not a list."""
        return len(self.values) or math.inf

    def value_at(self, place):
        """The value nearest to a place from 0 to 1."""
        place = min(max(place, 0.0), 1.0)
        if self.values:
            return self.values[min(int(place * len(self.values)), len(self.values) - 1)]
        if self.log:
            return self.snapped(self.low * (self.high / self.low) ** place)
        return self.snapped(self.low + (self.high - self.low) * place)

    def place_of(self, value):
        """0 to 1; of a value of a list the middle of its part, so that value_at gives it back."""
        if self.values:
            return (self._index(value) + 0.5) / len(self.values)
        if self.log:
            place = math.log(value / self.low) / math.log(self.high / self.low) if value > 0.0 else -1.0
        else:
            place = (value - self.low) / (self.high - self.low)
        return min(max(place, -OUTSIDE), 1.0 + OUTSIDE)

    def _index(self, value):
        return self.values.index(value)

    def snapped(self, value):
        """A value that reads well, in the range."""
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / STEPS_LEAST))
        if self.log:
            step = 10.0 ** (math.floor(math.log10(value)) - 1)
        if self.whole or self.unit:
            step = max(step, 1.0)
        rounded = round(value / step) * step
        return min(max(float(f"{rounded:.12g}"), self.low), self.high)

    def is_end(self, value):
        """Whether values beyond it might be better: the least or the greatest of numbers."""
        return not self.is_choice and value in ((self.values[0], self.values[-1]) if self.values
                                                else (self.low, self.high))

    def with_text(self, text):
        """(the axis, the value of `text`): a list gets the value if it lacks it. Raises ValueError with what is
        wrong."""
        if self.is_choice:
            axis = self if text in self.values else dataclasses.replace(self, values=(*self.values, text),
                                                                        texts=(*self.texts, text))
            return axis, text
        number = number_of(text)
        if number is None or number[1] != self.unit and number[0] != 0.0:
            raise ValueError(f"'{text}' is not a number "
                             f"{f'with a unit of {self.unit}' if self.unit else 'without a unit'}")
        if not self.values or number[0] in self.values:
            return self, number[0]
        if text.endswith("iB") and not any(one.endswith("iB") for one in self.texts):  # as a run has it
            text = size_text(round(number[0]))
        pairs = sorted((*zip(self.values, self.texts), (number[0], text)))
        return dataclasses.replace(self, values=tuple(value for value, _ in pairs),
                                   texts=tuple(shown for _, shown in pairs)), number[0]

    def neighbours(self, value):
        """[(words, value)]: half and twice a number, the next ones of a list, all other choices."""
        if self.is_choice:
            return [(other, other) for other in self.values if other != value]
        if self.values:
            index = self._index(value)
            near = [self.values[place] for place in (index - 1, index + 1) if 0 <= place < len(self.values)]
            return [(self.text(other), other) for other in near]
        found = []
        for words, factor in (("half", 0.5), ("twice", 2.0)):
            other = self.snapped(min(max(value * factor, self.low), self.high))
            if other != value and other not in (one for _, one in found):
                near = words if math.isclose(other, value * factor, rel_tol=0.1) else self.text(other)
                found.append(({self.low: "the least", self.high: "the most"}.get(other, near), other))
        return found

    def text(self, value):
        """As weir's command line takes it."""
        if self.is_choice:
            return value
        if value in self.values:
            return self.texts[self.values.index(value)]
        if self.unit:
            return _TEXTS[self.unit](round(value))
        return f"{value:.0f}" if self.whole or value == int(value) and abs(value) < 1e15 else f"{value:.12g}"


def _evenness(places):
    """The longest distance between neighbours as a share of the whole."""
    return max(high - low for low, high in zip(places, places[1:])) / (places[-1] - places[0])


def number_of(text):
    """(number in the base unit, unit) of 4, '0.5', '50kB', '10us'; None: it is no number."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return (float(text), "") if math.isfinite(text) else None
    found = quantities.number_of(str(text).strip())
    return found and (float(found[0]), found[1])


def of_list(name, given):
    """The Axis of a list of values as text: numbers if all are numbers of one unit, else choices."""
    texts = tuple(str(value) for value in given)
    numbers = [number_of(value) for value in given]
    if None in numbers or len({unit for _, unit in numbers}) > 1:
        return Axis(name, None, texts, texts)
    ordered = sorted(zip((number for number, _ in numbers), texts))
    return Axis(name, numbers[0][1], tuple(number for number, _ in ordered), tuple(text for _, text in ordered))


def of_range(name, low, high, log):
    """The Axis of a range. `low`, `high`: as number_of takes them; both whole numbers without a unit make whole
    numbers. Raises ValueError with what is wrong."""
    first, last = number_of(low), number_of(high)
    for given, found in ((low, first), (high, last)):
        if found is None:
            raise ValueError(f"'{given}' is not a number, alone or with a unit of sizes, rates or times, such as "
                             "\"50kB\"")
    if first[1] != last[1]:
        raise ValueError(f"'{low}' and '{high}' have different units")
    if not first[0] < last[0]:
        raise ValueError(f"from '{low}' is not below to '{high}'")
    if log and first[0] <= 0.0:
        raise ValueError(f"from '{low}' is not above 0, which a logarithmic scale needs")
    whole = isinstance(low, int) and isinstance(high, int)
    return Axis(name, first[1], low=first[0], high=last[0], log=log, whole=whole)


def around(axes, best, present):
    """[(axis, words, candidate)]: the settings that differ from `best` in one axis, by its neighbours or its present
    value."""
    found = []
    for place, axis in enumerate(axes):
        before = present[place]
        others = [("present" if value == before else words, value)
                  for words, value in axis.neighbours(best[place])[:CHOICES_MAX]]
        if before not in (best[place], *(value for _, value in others)):
            others.append(("present", before))
        found += [(axis, words, (*best[:place], value, *best[place + 1:])) for words, value in others]
    return found


def put_back(axes, best, present, names):
    """The candidate with these axes at their present value."""
    return tuple(before if axis.name in names else value for axis, value, before in zip(axes, best, present))


def texts_of(axes, candidate):
    """{axis: text}"""
    return {axis.name: axis.text(value) for axis, value in zip(axes, candidate)}


def words(axes, candidate):
    """slots=4 ecn.none-below=50kB"""
    return " ".join(f"{name}={text}" for name, text in texts_of(axes, candidate).items())

"""Tables for a terminal: cells as wide as their columns."""


def padded(rows, is_left):
    """The rows with their cells as wide as their columns. `is_left(row, column)`: whether that cell stands at the left
    of its column, else at the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [[cell.ljust(width) if is_left(number, column) else cell.rjust(width)
             for column, (cell, width) in enumerate(zip(row, widths))]
            for number, row in enumerate(rows)]


def line(cells):
    return "  ".join(cells).rstrip()


def aligned(rows, left=(0,)):
    """Lines. `left`: columns whose cells stand at the left, those of all others at the right."""
    return [line(cells) for cells in padded(rows, lambda _, column: column in left)]

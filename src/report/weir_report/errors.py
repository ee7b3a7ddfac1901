"""What can be wrong with files and options that come from outside."""


class ReportError(Exception):
    """A message for people: it names the file (and the line, where there is one), what was found, and what would be
    right. Commands print it after their name and exit with status 2."""

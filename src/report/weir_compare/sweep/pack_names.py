"""Replaces what identifies a site in the files of a campaign, everywhere by the same word: names of hosts, users,
accounts, partitions and commands, addresses, and directories.

What is replaced is collected from the places that hold such names (run.json, `weir check`, claims, the sweep file), and
by form: IP addresses, MAC addresses, GUIDs, absolute paths. Names that only people know, as that of a project or a
switch, are given by the caller. Nothing here looks at files; `Names` works on texts."""

import ipaddress
import json
import re

from weir_runs.basics import toml_file
from weir_runs.basics.errors import ReportError

# In the order in which a text that several of them match is replaced.
_MAC = r"(?<![\w:])(?:[0-9A-Fa-f]{2}:){5}(?:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:)?[0-9A-Fa-f]{2}(?![\w:])"
_GUID = r"(?<!\w)0x[0-9a-fA-F]{16}(?!\w)|(?<![\w:])(?:[0-9a-f]{4}:){3}[0-9a-f]{4}(?![\w:])"
_IPV6 = r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4})(?![\w:])"
_IPV4 = r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.-])"
_PATH = r"(?<![\w./:<>\\-])/[\w.+@~%=,-]+(?:/[\w.+@~%=,:-]+)+/?"
# Directories that every Linux has; they identify nobody.
_COMMON = re.compile(r"/(?:usr|bin|sbin|lib|lib64|etc|sys|proc|dev)(?:/|$)")
_KNOWN_ADDRESSES = {"0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1"}
_UNIDENTIFYING_USERS = {"root", "nobody", "slurm"}
# A host of that name could not be told from what weir's files call their parts.
RESERVED = frozenset("""weir producer producers consumer consumers scheduler switch switches host hosts rank ranks run
runs local slurm simulation plan name none null true false text type event events set sets data network check complete
failed""".split())


class Names:
    """Words to replace, and what for. Words are found whatever their case, and not inside of longer words."""

    def __init__(self):
        self.replacements = {}  # lower case -> (as it was found, what takes its place)
        self._counts = {}
        self._pattern = None

    def add(self, kind, name):
        """`kind`: "host", "user", ...: the replacement is "host-1", "host-2" in the order of adding."""
        name = name.strip()
        key = name.lower()
        if not name or key in self.replacements:
            return
        if kind == "user" and key in _UNIDENTIFYING_USERS:
            return
        if key in RESERVED or len(name) == 1:
            raise ReportError(f"--replace-names: the {kind} is called '{name}', which is also a word of weir's own "
                              "files, so it cannot be replaced safely; replace it by hand")
        if kind == "host" and "." in name and not _is_address(name):
            short, _, domain = name.partition(".")
            self.add(kind, short)
            self._set(name, self.replacements[short.lower()][1])
            self.add("domain", domain)
            return
        replacement = self._numbered(kind)
        self._set(name, replacement)
        escaped = json.dumps(name, ensure_ascii=False)[1:-1]
        if escaped != name:
            self._set(escaped, replacement)

    def add_prefix(self, path, replacement):
        """A directory, with all below it."""
        if path and path != "/" and path.lower() not in self.replacements:
            self._set(path, replacement)

    def _set(self, name, replacement):
        self.replacements[name.lower()] = (name, replacement)
        self._pattern = None

    def add_forms(self, text):
        """Adds the addresses and the paths in `text`."""
        for kind, pattern in (("mac", _MAC), ("guid", _GUID)):
            for match in re.finditer(pattern, text):
                self._add_address(kind, match.group())
        for pattern in (_IPV6, _IPV4):
            for match in re.finditer(pattern, text):
                if _is_address(match.group()):
                    self._add_address("ip", match.group())
        for match in re.finditer(_PATH, text):
            path = match.group().rstrip("/")
            is_known = any(path.lower().startswith(name) for name in self.replacements if name.startswith("/"))
            if not _COMMON.match(path) and not is_known:
                self.add_prefix(path, self._numbered("/path"))

    def _add_address(self, kind, text):
        if text.lower() not in self.replacements and text not in _KNOWN_ADDRESSES and text.strip("0:.x"):
            self._set(text, self._numbered(kind))

    def _numbered(self, kind):
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{kind}-{self._counts[kind]}"

    def pattern(self):
        """Matches all words, the longest first; None if there are none. Short names also match as the first part of
        long ones (eb01 in eb01.site.org), with the rest."""
        if self._pattern is None and self.replacements:
            words = sorted((name for name, _ in self.replacements.values()), key=lambda name: (-len(name), name))
            self._pattern = re.compile("|".join(_bounded(word) for word in words), re.IGNORECASE)
        return self._pattern

    def replaced(self, text):
        pattern = self.pattern()
        if pattern is None:
            return text
        hosts = _node_lists(name for name, replacement in self.replacements.values() if replacement.startswith("host-"))
        text = hosts.sub("hosts", text) if hosts else text
        return pattern.sub(lambda match: self._replacement(match.group()), text)

    def _replacement(self, found):
        exact = self.replacements.get(found.lower())
        if exact:
            return exact[1]
        # With a domain behind it.
        return self.replacements[found.lower().partition(".")[0]][1]

    def left_in(self, text):
        """The first word that is still there; None: none is."""
        pattern = self.pattern()
        match = pattern.search(text) if pattern else None
        return match.group() if match else None


def _bounded(word):
    """A path ends where a component does; another word where letters, digits and _ end."""
    if word.startswith("/"):
        return rf"(?<![\w.]){re.escape(word)}(?![\w.-])"
    domain = r"(?:\.[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)+)?" if re.fullmatch(r"[\w-]+", word) else ""
    return rf"(?<![A-Za-z0-9_]){re.escape(word)}{domain}(?![A-Za-z0-9_])"


def _node_lists(hosts):
    """SLURM writes eb[01-14,20] for eb01, eb02, ..."""
    stems = {match.group(1) for host in hosts if (match := re.fullmatch(r"(.*?[A-Za-z_-])\d+", host))}
    if not stems:
        return None
    return re.compile("|".join(rf"(?<![A-Za-z0-9_]){re.escape(stem)}\[[0-9,-]+\](?:,)?"
                               for stem in sorted(stems, key=len, reverse=True)))


def _is_address(text):
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    # "1::" and the like are times or ports far more often.
    return address.version == 4 or sum(group != "" for group in text.split(":")) >= 2 and len(text) > 6


def add_from_run(names, record):
    """`record`: a measured run.json."""
    for host in (*(record.get("ranks") or []), *(record.get("hosts") or [])):
        names.add("host", host.get("host") or "")
    environment = record.get("environment") or {}
    for key, kind in (("account", "account"), ("cluster", "cluster"), ("submitted_from", "host")):
        for word in _words((environment.get("job") or {}).get(key)):
            names.add(kind, word)
    for variable, value in (environment.get("variables") or {}).items():
        kind = _VARIABLES.get(variable)
        for word in _words(value) if kind else ():
            names.add(kind, word)


_VARIABLES = {"USER": "user", "LOGNAME": "user", "SLURM_JOB_USER": "user", "SLURM_JOB_ACCOUNT": "account",
              "SLURM_JOB_GROUP": "group", "SLURM_CLUSTER_NAME": "cluster", "SLURM_SUBMIT_HOST": "host",
              "SLURMD_NODENAME": "host"}


def without_job(record):
    """run.json without what SLURM's site calls its parts: values that are numbers stay."""
    environment = record.get("environment") or {}
    job = environment.get("job") or {}
    parts = [part for part in job.get("parts") or [] if isinstance(part, dict)]
    for table in (environment.get("variables") or {}, job, *parts):
        for key, value in table.items():
            of_site = key.startswith("SLURM") or table is not environment.get("variables") and key not in ("manager",
                                                                                                           "parts")
            if of_site and isinstance(value, str) and not re.fullmatch(r"[\d.,:x()KMGT%-]*", value):
                table[key] = "removed"
    return record


def _words(value):
    return [word for word in re.split(r"[,\s]+", value) if word and "[" not in word] if isinstance(value, str) else []


def add_from_check(names, record):
    """`record`: what `weir check --json` printed."""
    for fact in record.get("facts") or []:
        for value in fact.get("values") or []:
            for host in value.get("hosts") or []:
                names.add("host", host)


_SITE_KEYS = ("partition", "reservation", "qos", "constraint")


def add_from_sweep(names, document):
    """`document`: the parsed sweep file."""
    slurm = document.get("slurm") or {}
    for table in (slurm, *(inner for inner in slurm.values() if isinstance(inner, dict))):
        for word in _words(table.get("account")):
            names.add("account", word)
    switch = document.get("switch") or {}
    for command in (*(switch.get(key) for key in ("on-change", "read", "verify")),
                    *str(slurm.get("setup") or "").splitlines()):
        names.add("command", command or "")


def without_partitions(text):
    """A sweep file in which the keys that name parts of a site's SLURM have no value of the site's."""
    return re.sub(rf'^(\s*(?:{"|".join(_SITE_KEYS)})\s*=\s*)(["\']).*?\2', r'\1"removed"', text, flags=re.MULTILINE)


# Variables that run.json has as well (steering_variables() in host/host_facts.cpp); whatever else a site sets can be a
# secret.
_STEERING = re.compile(r"(?:UCX_|OMPI_MCA_|PMIX_MCA_|PRTE_MCA_|SLURM_|MPICH_|OMP_NUM_)(?!.*(?:KEY|TOKEN|JWT))")
_TOML_TEXT = r"""(?:\"{3}(?:\\.|[^\\])*?\"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')"""
_TOML_VALUE = rf"""(?:{_TOML_TEXT}|[^\s,{{}}\[\]#"']+)"""
# A word of a shell, which ends where the next one begins.
_SHELL_WORD = r"""(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s;&|])+"""


def without_variables(text):
    """A sweep file in which variables that could be secrets have no value. Raises ReportError if one still has."""
    if keys := {key for table in _environments(toml_file.parse("sweep.toml", text)) for key in _secret(table)}:
        key = rf"""(?<![\w-])(?P<quote>["']?)(?:{"|".join(map(re.escape, sorted(keys)))})(?P=quote)"""
        in_text = re.compile(rf"(?s)(?P<key>{key}[ \t]*=[ \t]*){_SHELL_WORD}")
        places = re.compile(rf"(?s)(?P<key>{key}\s*=\s*){_TOML_VALUE}|#[^\n]*|{_TOML_TEXT}")
        text = places.sub(lambda match: _without_value(match, in_text), text)
    for table in _environments(toml_file.parse("sweep.toml", text)):
        for key in _secret(table):
            if table[key] != "removed":
                raise ReportError(f"sweep.toml: the value of {key} cannot be removed; write {key} = \"...\" in a line "
                                  "of its own")
    return text


def _without_value(match, in_text):
    """For a variable of a sweep file, a comment, or a text, in which commands can set variables as a shell does."""
    found = match.group()
    if match["key"]:
        return match["key"] + '"removed"'
    if found.startswith("#"):
        return in_text.sub(r"\g<key>removed", found)
    text = toml_file.parse("sweep.toml", f"x = {found}")["x"]
    cleaned = in_text.sub(r"\g<key>removed", text)
    return found if cleaned == text else _toml_text(cleaned)


def _toml_text(text):
    """In as many lines as it has."""
    lines = [json.dumps(line, ensure_ascii=False)[1:-1] for line in text.split("\n")]
    return f'"{lines[0]}"' if len(lines) == 1 else '"""\n' + "\n".join(lines) + '"""'


def plan_without_variables(record):
    """The same of plan.json."""
    for table in _environments(record):
        table.update(dict.fromkeys(_secret(table), "removed"))
    return record


def _secret(table):
    return [key for key in table if not _STEERING.match(key)]


def _environments(value):
    """All tables called `environment` in `value`."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key == "environment" and isinstance(inner, dict):
            yield inner
        else:
            yield from _environments(inner)
